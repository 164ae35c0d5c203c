#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The program `moments` from outside: bash moments_cli.sh MOMENTS
# Bad input must end with status 2, nothing on standard output and one line on standard error that names file, line and column.
# The check of its progress bar needs the command `script`, and is left out without.
# shellcheck source=cli.bash
source "$(dirname "${BASH_SOURCE[0]}")/cli.bash"
moments=$(realpath "$1")
enter

run() { run_program "$moments" "$@"; }

# Command lines.
for arguments in '--order 3' '--order 33' '--order 08x' '--form normaliser' '--format json' '--column 1' '--weights w' \
  '--weights-column 1' '- --weights -' '--save' '--nothing'; do
  # shellcheck disable=SC2086
  run $arguments </dev/null
  check "$arguments" refused "command line: "
done
run --help
check "--help" printed "Usage: moments [OPTIONS]"
check "--help: how numbers are written" grep -q '0x10 is 16' .out
printf '0x10\n0x1.8p3\n' | "$moments" - >.out 2>.err
status=$?
check "hexadecimal numbers" printed 'mean                  14'
run --version
check "--version" printed "moments, cumulus "
if [ -w /dev/full ]; then
  "$moments" >/dev/full 2>.err
  status=$?
  : >.out
  check "a full disk" refused "<stdout>:1:1: cannot be written"
fi

# 0, 0, 0, 4: mean 1, mu_2 = 3, mu_3 = 6, mu_4 = 21; g1 = 2 / sqrt 3, G1 = 2, g2 = -2/3, G2 = 4; cumulants 3, 6, 21 - 27.
printf 'x,w\n0,1\n0,1\n0,1\n4,1\n' >in.csv
run in.csv --column x
for line in 'n                     4' 'mean                  1' 'variance              3, divided by n' \
  '                      4, divided by n - 1' 'skewness              1.1547005, biased: g1' \
  '                      2, unbiased: G1' 'excess kurtosis       -0.66666667, biased: g2' \
  '                      4, unbiased: G2' 'logsumexp             4.05349044971, exact' \
  '      3               6     1.1547005         6' '      4              21     2.3333333        -6' \
  'may not converge'; do
  check "in.csv: $line" printed "$line"
done
cp .out plain
run in.csv --column x --weights in.csv --weights-column w
check "weights of 1: the total" printed 'total weight          4'
check "weights of 1: no unbiased" [ "$(grep -c unbiased .out)" -eq 0 ]
check "weights of 1: the same moments" [ "$(grep -A 9 '^moments' .out)" = "$(grep -A 9 '^moments' plain)" ]
printf '0,3\n4,1\n' | "$moments" - --column 1 --weights in.csv --weights-column w >.out 2>.err
status=$?
check "too many weights" [ "$status" -eq 2 ]
printf 'x,w\n0,3\n4,1\n9,0\n' >counts.csv
run counts.csv --column 1 --weights counts.csv --weights-column 2
check "weights that are counts" [ "$(grep -A 9 '^moments' .out)" = "$(grep -A 9 '^moments' plain)" ]
check "weights that are counts: n" printed 'n                     3'
for form in moment chebyshev enclosure; do
  run in.csv --column x --form $form
  check "--form $form" printed "logsumexp, $form"
done
run in.csv --column x --order 12 --format csv
check "csv" [ "$(wc -l <.out)" -eq 14 ]
check "csv: order 2" printed '2,3,1,3,'

# Parts that become the whole.
seq 1 100 >all
seq 1 30 >first
seq 31 100 >second
run first --save first.state
check "--save" printed 'n                     30'
run second --merge first.state
check "--merge: n" printed 'n                     100'
grep -A 20 '^variance' .out >merged
run all
check "--merge: all the rest" [ "$(cat merged)" = "$(grep -A 20 '^variance' .out)" ]
run second --merge first.state --order 6
check "--merge: another order" refused 'first.state:1:1: '
head -c 100 first.state >cut.state
run second --merge cut.state
check "--merge: cut off" refused 'cut.state:1:1: cumulus: from_bytes: '
run second --merge second
check "--merge: no state" refused 'second:1:1: cumulus: from_bytes: these 211 bytes are no state'
tr '\006' '\007' <first.state >changed.state
printf 'x' | dd of=changed.state bs=1 seek=60 conv=notrunc 2>/dev/null
run second --merge changed.state
check "--merge: changed" refused 'changed.state:1:1: cumulus: from_bytes: a check word of '
run second --save no/such/folder/state
check "--save into no folder" refused 'no/such/folder/state:1:1: cannot be written'

# Bad files.
run missing
check "a missing file" refused "missing:1:1: cannot be opened"
run .
check "a folder" refused ".:1:1: cannot be read"
printf '1\n2\nx\n' >in
run in
check "no number" refused "in:3:1: 'x' is not a number"
printf '1\n2\ninf\n' >in
run in
check "an infinite number" refused "in:3:1: inf has no moments"
run - </dev/null
check "nothing" refused "<stdin>:1:1: is empty"
printf '1\n2\n' >two
printf '1\n' >one
printf '0\n0\n' >zeros
printf '1\n-2\n' >negative
run two --weights one
check "too few weights" refused "one:1:1: 1 weights for more numbers"
run one --weights two
check "too many weights" refused "two:1:1: more weights than the 1 numbers"
run two --weights zeros
check "no weight" refused "zeros:1:1: every weight is 0"
run two --weights negative
check "a negative weight" refused "negative:2:1: -2 is not a weight"

# Longer than what is held at a time: 200000 lines, and the same through a pipe.
seq 1 200000 >long
run long --format csv
check "long" printed '2,3333333333.25,1,3333333333.25,'
cp .out by_name
run - --format csv <long
check "long, by a pipe" cmp -s .out by_name

# The progress bar: on a terminal alone.
if command -v script >/dev/null && script -qec true /dev/null >/dev/null 2>&1; then
  script -qec "$moments long --format csv >.out" .typescript >/dev/null </dev/null
  check "a terminal has a progress bar" grep -q '|----|' .typescript
  check "a terminal has all of it" grep -q '\*\*\*\*\*\*\*\*\*\*\*\*\*\*\*\*\*\*\*\*\*\*\*\*\*\*\*\*\*\*\*\*\*\*\*\*\*\*\*\*\*\*\*\*\*\*\*\*\*\*\*' .typescript
else
  echo "left out: the progress bar, for want of the command script"
fi

summary
