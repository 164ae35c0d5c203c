#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The program `expand` from outside: bash expand_cli.sh PATH_TO_EXPAND
# Bad input must end with status 2, nothing on standard output, one line on standard error that names
# file, line and column, and no file left behind. Checks that need gnuplot or python3 are left out
# where those are missing, and the script says so.
# shellcheck source=cli.bash
source "$(dirname "${BASH_SOURCE[0]}")/cli.bash"
expand=$(realpath "$1")
readers=$(realpath "$(dirname "$0")/../data/readers")
"$expand" --version >/dev/null || exit 1
enter

run() { run_program "$expand" "$@"; }

bad() {  # bad CONTENT BEGINNING ARGUMENT...: a file `in` of this content is refused
  local content=$1 beginning=$2
  shift 2
  printf "$content" >in
  run in "$@"
  check "refuses '$content' $* with 'in:$beginning'" refused "in:$beginning"
}

good() {  # good CONTENT TEXT ARGUMENT...: a file `in` of this content is taken, TEXT is in the output
  local content=$1 text=$2
  shift 2
  printf "$content" >in
  run in "$@"
  check "takes '$content' $* and prints '$text'" printed "$text"
}

# Files that are not there, not files, or hold nothing.
run missing.txt
check "a missing file" refused "missing.txt:1:1: cannot be opened"
run .
check "a folder" refused ".:1:1: cannot be read"
bad '' '1:1: is empty'
bad '# nothing\n' '1:1: holds no number'
run - </dev/null
check "empty standard input" refused "<stdin>:1:1: is empty"
run ''
check "an empty name" refused "command line: "

# Text.
bad '1\nword\n2\n' "2:1: 'word' is not a number"
bad '1\n2 3\n' "2:1: '2 3' is not a number"
bad '1\n1,5\n' '2:3: fields: 2 here, 1 on line 1'
bad '1\n1e999\n' "2:1: '1e999' is not a number"
bad '1\n2\n 3x' "3:2: '3x' is not a number"
bad '1\n\0\n' "2:1: '?' is not a number"
printf '1\nword\n' >in
run - <in
check "a word in standard input" refused "<stdin>:2:1: 'word' is not a number"
mkdir 'odd
name'
printf 'x\n1\ny\n' >'odd
name/in'
run 'odd
name/in'
check "a name with a line break in it" refused "odd?name/in:3:1: 'y'"

# Tables.
bad 'a,b\n1,2\n3\n' '3:1: fields: 1 here, 2 on line 1' --column a
bad 'a,b\n1,2\n3,4,5\n' '3:5: fields: 3 here, 2 on line 1' --column a
bad 'a,b\n1,2\n' '1:1: the table has 2 columns'
bad 'a,b\n1,2\n' "1:1: the first line has no column 'c'" --column c
bad 'a,b\n1,\n' '2:3: an empty field' --column b
bad 'a,b\n"1,2\n' '2:1: this quote never closes' --column b
bad 'a,b\n' '2:1: holds a header line but no number' --column b

# .npy.
head -c 170 "$readers/table_c.npy" >cut.npy
run cut.npy --column 1
check "a truncated .npy" refused "cut.npy:1:171: the .npy file ends after 5 of 3 x 2 elements"
head -c 60 "$readers/table_c.npy" >cut.npy
run cut.npy
check "a truncated .npy header" refused "cut.npy:1:61: the .npy file ends within its header"
run "$readers/complex.npy"
check "a complex .npy" refused "$readers/complex.npy:1:22: cannot read elements"

# Weights.
printf '1\n2\n3\n' >three
printf '1\n-2\n1\n' >weights
run three --weights weights
check "a negative weight" refused "weights:2:1: -2 is not a weight"
printf '1\n2\n' >weights
run three --weights weights
check "too few weights" refused "weights:1:1: 2 weights for 3 numbers"
printf '0\n0\n0\n' >weights
run three --weights weights
check "no positive weight" refused "weights:1:1: every weight is 0"
run three --weights missing.txt
check "a missing file of weights" refused "missing.txt:1:1: cannot be opened"
run - --weights - <three
check "standard input asked for twice" refused "command line: --weights"
printf '1e308\n' >in
run in --scale 10
check "a scale that overflows" refused "in:1:1: 1e+308 times 10 does not fit"

# The command line.
for arguments in '--no-such-option' '--order' '--order -1' '--order 65' '--order 2.5' '--order x' \
  '--order 1 --order 2' '--tolerance 0' '--tolerance -1' '--tolerance nan' '--tolerance x' \
  '--bounds --format csv' '--form' '--form cubic' '--form taylor,cubic' '--scale x' '--scale nan' \
  '--format xml' 'three three' '--column 1' '--weights-column 1' '--weights'; do
  # shellcheck disable=SC2086
  run $arguments
  check "command line: $arguments" refused "command line: "
done

# Plots and output that cannot be written.
run --plot plot.pdf
check "a plot of unknown kind" refused "plot.pdf:1:1: a plot is neither .svg nor .png"
run --plot no/such/folder/plot.svg
check "a plot into no folder" refused "no/such/folder/plot.svg:1:1: cannot be written"
mkdir folder.svg
run --plot folder.svg
check "a plot named as a folder" refused "folder.svg:1:1: is a directory"
PATH=$work/nowhere run --plot plot.svg
check "a plot without gnuplot" refused "plot.svg:1:1: gnuplot is not installed"
mkdir fake
printf '#!/bin/sh\nprintf "<svg half"\nexit 1\n' >fake/gnuplot
chmod +x fake/gnuplot
PATH=$work/fake:$PATH run --plot plot.svg
check "a gnuplot that fails" refused "plot.svg:1:1: gnuplot could not draw it"
printf '#!/bin/sh\nprintf "<svg half"\n' >fake/gnuplot
PATH=$work/fake:$PATH run --plot plot.svg
check "a gnuplot that writes half" refused "plot.svg:1:1: gnuplot could not draw it"
printf 'older' >kept.svg
PATH=$work/fake:$PATH run three --plot kept.svg
check "a failed plot keeps the older one" grep -qx older kept.svg
run missing.txt --plot plot.svg
check "no plot of no input" refused "missing.txt:1:1: "
leftovers=$(find . -name 'plot*' -o -name '*.tmp')
check "no half-written file is left: $leftovers" [ -z "$leftovers" ]
if [ -w /dev/full ]; then
  "$expand" >/dev/full 2>.err
  status=$?
  : >.out
  check "a full disk behind standard output" refused "<stdout>:1:1: cannot be written"
  "$expand" --help >/dev/full 2>.err
  status=$?
  check "a full disk behind the help" refused "<stdout>:1:1: cannot be written"
fi

# What is taken. logsumexp of 0, log 2, log 3 is log 6 = 1.79175946923.
log_2=0.6931471805599453
log_3=1.0986122886681098
good "0\n$log_2\n$log_3\n" 'logsumexp             1.79175946923, exact'
good "0\r\n$log_2\r\n$log_3" 'logsumexp             1.79175946923, exact'
good "\xef\xbb\xbfx\n0\n\n$log_2 # two\n$log_3" "in, column 'x'"
good "a;b\n0;1\n$log_2;1\n$log_3;1\n" 'logsumexp             1.79175946923, exact' --column a
good '0\n0\n0\n' 'converges: the range is below pi'
good '0\n4\n' 'may not converge: the range is not below pi'
good '1\ninf\n' 'logsumexp             inf, exact'
good '1\nnan\n' 'logsumexp             nan, exact'
good '1\n-inf\n' 'Taylor series         none: a number is not finite'
good '0\n1\n' 'mean                  -0.25' --scale -.5 --order 0
printf "x,w\n0,1\n$log_2,0\n$log_3,1\n" >table.csv
run table.csv --column x --weights table.csv --weights-column w
check "weights from the same table" printed 'logsumexp             1.38629436112, exact'
run - --column 2 <"$readers/table_fortran.npy"
check "a column of .npy from standard input" printed 'range                 20, from 10 to 30'
printf '5\n' >./-5
run -- -5
check "a name that begins with a dash" printed 'logsumexp             5, exact'
run --order 4 --form all --format csv
check "csv: 5 + 5 + 3 + 5 + 5 rows and a header" [ "$(wc -l <.out)" -eq 24 ]
head -6 .out >first
run --order 8 --form taylor --format csv
check "csv: a row does not depend on the highest order" [ "$(head -6 .out)" = "$(cat first)" ]
run --order 64 --form all
check "order 64" printed '     64  6.0023026044'
run --form automatic,taylor --order 4 --tolerance 1e-8 --bounds
check "automatic" printed '      4  6.00244130125'
check "a tolerance adds what reaches it" printed '     10  6.00230260441'
check "the bounds by kind" printed '  chebyshev      4  2.30e-03  economised'
printf '0\n700\n' >wide
run wide --order 1 --tolerance 1e-9 --bounds
check "a tolerance that cuts the sample" printed 'groups'
run --tolerance 1e-300 --order 0
check "a tolerance out of reach still answers" printed 'adaptive'
run --help
check "help" printed 'Usage: expand [OPTIONS] [FILE]'
run --version
check "version" printed 'expand, cumulus '
if python3 -c '' 2>/dev/null; then
  printf '1\ninf\nnan\n' >in
  for arguments in '--form all' 'in --form all' 'three --order 0 --tolerance 1e-6'; do
    # shellcheck disable=SC2086
    run $arguments --format json
    check "json: $arguments" python3 -c '
import json, sys
def refuse(name): raise ValueError(name)
report = json.load(open(".out"), parse_constant=refuse)
for expansion in report["expansions"]:
    for row in expansion["orders"]:
        assert set(row) == {"order", "partial_sum", "error", "bound", "softmax_error"}
'
  done
else
  echo "left out: json, for want of python3"
fi
if command -v gnuplot >/dev/null; then
  run --form all --plot "it's a \"plot\" \$HOME.svg"
  check "a plot under an odd name" grep -q '</svg>' "it's a \"plot\" \$HOME.svg"
  run --plot plot.png
  check "a png" [ "$(head -c 4 plot.png | tail -c 3)" = PNG ]
  good '2\n2\n' 'order' --plot constant.svg
  check "a plot of constant data" [ -s constant.svg ]
else
  echo "left out: plots, for want of gnuplot"
fi

summary
