#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The programs `terms`, `free_energy` and `temperature` from outside: bash programs_cli.sh TERMS FREE_ENERGY TEMPERATURE
# Bad input must end with status 2, nothing on standard output, one line on standard error that names
# file, line and column, and no file left behind. What terms prints as C++ is compiled by $CXX or c++. Checks that need gnuplot or
# a compiler are left out where those are missing, and the script says so.
# shellcheck source=cli.bash
source "$(dirname "${BASH_SOURCE[0]}")/cli.bash"
terms=$(realpath "$1")
free_energy=$(realpath "$2")
temperature=$(realpath "$3")
enter

# Command lines.
for arguments in '--order 41' '--order -1' '--order x' '--function softmin' '--format html' '--moments k' 'file'; do
  # shellcheck disable=SC2086
  run_program "$terms" $arguments
  check "terms $arguments" refused "command line: "
done
for arguments in '--kT 0' '--kT -1' '--kT nan' '--sign 2' '--inefficiency 0' '--order 0' '--order 33' '--column 1' '--format json'; do
  # shellcheck disable=SC2086
  run_program "$free_energy" $arguments
  check "free_energy $arguments" refused "command line: "
done
for arguments in '--from inf' '--to x' '--steps 0' '--order 65' '--column 1' '--weights w' '--weights-column 1'; do
  # shellcheck disable=SC2086
  run_program "$temperature" $arguments
  check "temperature $arguments" refused "command line: "
done
for program in "$terms" "$free_energy" "$temperature"; do
  run_program "$program" --help
  check "$program --help" printed "Usage: $called [OPTIONS]"
  run_program "$program" --version
  check "$program --version" printed "$called, cumulus "
  if [ -w /dev/full ]; then
    "$program" >/dev/full 2>.err
    status=$?
    : >.out
    check "$called: a full disk" refused "<stdout>:1:1: cannot be written"
  fi
done

# Files.
for program in "$free_energy" "$temperature"; do
  run_program "$program" missing.txt
  check "$called: a missing file" refused "missing.txt:1:1: cannot be opened"
  printf '1\n2 3\n' >in
  run_program "$program" in
  check "$called: two numbers on a line" refused "in:2:1: '2 3' is not a number"
  printf 'a,b\n1,2\n3,inf\n' >in
  run_program "$program" in --column b
  if [[ $called == free_energy ]]; then
    check "$called: an infinite number" printed 'No expansion: 1 of 2 work values are infinite'
    printf 'a,b\n1,2\n3,nan\n' >in
    run_program "$program" in --column b
    check "$called: a NaN" refused "in:3:3: nan is not a work value"
  else
    check "$called: an infinite number" refused "in:3:3: inf is not a"
  fi
  run_program "$program" - </dev/null
  check "$called: nothing" refused "<stdin>:1:1: is empty"
done
printf '0\n1e17\n1e17\n' >in
run_program "$free_energy" in --order 1
check "free_energy: one sample carries all" printed 'Poor overlap: 1.0 effective samples'
printf '0\ninf\ninf\n' >in
run_program "$free_energy" in
check "free_energy: clashes" printed 'Poor overlap: 1.0 effective samples'
printf '0\n-inf\n' >in
run_program "$free_energy" in
check "free_energy: a work of -inf" refused "in:1:1: a work of -inf"
printf '1\n1e300\n' >in
run_program "$free_energy" in --kT 1e-20
check "free_energy: a quotient that overflows" refused "in:1:1: 1e+300 over 1e-20 does not fit"
printf '1\n2\n' >in
printf '1\n' >one
printf '0\n0\n' >zeros
printf '1\n-2\n' >negative
run_program "$temperature" in --weights one
check "temperature: too few weights" refused "one:1:1: 1 weights for 2 energies"
run_program "$temperature" in --weights zeros
check "temperature: no weight" refused "zeros:1:1: every weight is 0"
run_program "$temperature" in --weights negative
check "temperature: a negative weight" refused "negative:2:1: -2 is not a weight"

# terms.
run_program "$terms" --order 4 --moments mu
check "terms: mu" printed 'c_4 = 1/24 mu4 - 1/8 mu2^2'
run_program "$terms" --order 2 --raw
check "terms: raw" printed "c_2 = m2' - 1/2 m1'^2"
run_program "$terms" --order 3 --function softmax
check "terms: softmax" printed 's_3 = 1/6 y^3 - y m2 - m3'
run_program "$terms" --order 8 --format latex
check "terms: latex" printed 'c_{4} &= m_{4} - \frac{1}{2} m_{2}^{2} \\'
run_program "$terms" --order 4 --format markdown
check "terms: markdown" printed '| 3 | *m*<sub>3</sub> |'
run_program "$terms" --order 40
check "terms: order 40" [ "$(wc -l <.out)" -eq 42 ]
run_program "$terms" --order 1
check "terms: order 1" printed 'logsumexp(x) = log W'
compiler=${CXX:-c++}
if command -v "$compiler" >/dev/null; then
  for arguments in '' '--moments mu --order 12' '--order 1' '--raw --function softmax' '--function softmax --order 0'; do
    # shellcheck disable=SC2086
    run_program "$terms" --format cpp $arguments
    cp .out printed.hpp
    printf '#include "printed.hpp"\nint main() { return 0; }\n' >main.cpp
    check "terms: C++ compiles: $arguments" \
      "$compiler" -std=c++20 -Wall -Wextra -Werror -fsyntax-only main.cpp
  done
else
  echo "left out: the C++ of terms, for want of a compiler"
fi

# free_energy. Two work values, 0 and log 4: -log((1 + 1/4) / 2) = 0.470003629.
printf '0\n1.3862943611198906\n' >in
run_program "$free_energy" in
check "free_energy: the average" printed '  average   0.47000363'
check "free_energy: a poor overlap" printed 'Poor overlap: 1.5 effective samples'
printf '0\n-2.7725887222397811\n' >in
run_program "$free_energy" in --sign -1 --kT 2
check "free_energy: --sign and --kT" printed '  average   0.94000726'
run_program "$free_energy"
check "free_energy: the known answer" printed '    known   0.20273255'
check "free_energy: a good overlap" printed 'Good overlap: '
run_program "$free_energy" --inefficiency 100
check "free_energy: an inefficiency" printed 'The expansion stops paying at order 3'
run_program "$free_energy" --order 3 --format csv
check "free_energy: csv" [ "$(wc -l <.out)" -eq 5 ]
head -3 .out >first
run_program "$free_energy" --order 9 --format csv
check "free_energy: a row does not depend on the highest order" [ "$(head -3 .out)" = "$(cat first)" ]

# temperature. Energies 0 and 1 with degeneracies 1 and 3, at beta 0 and 1: log 4 and log(1 + 3/e).
printf 'energy,degeneracy\n0,1\n1,3\n' >levels.csv
run_program "$temperature" levels.csv --column energy --weights levels.csv --weights-column degeneracy --to 1 --steps 1 --order 30
check "temperature: log 4" printed '  1.386294  <1e-12  <1e-12  0.7500000'
check "temperature: log(1 + 3/e)" printed '  0.7436684  <1e-12  <1e-12  0.5246331'
run_program "$temperature" --from -0.1 --to 0.1 --steps 2 --format csv
check "temperature: csv" [ "$(wc -l <.out)" -eq 4 ]
run_program "$temperature" --plot plot.pdf
check "temperature: a plot of unknown kind" refused "plot.pdf:1:1: a plot is neither .svg nor .png"
run_program "$temperature" --plot no/such/folder/plot.svg
check "temperature: a plot into no folder" refused "no/such/folder/plot.svg:1:1: cannot be written"
PATH=$work/nowhere run_program "$temperature" --plot plot.svg
check "temperature: a plot without gnuplot" refused "plot.svg:1:1: gnuplot is not installed"
leftovers=$(find . -name 'plot*' -o -name '*.tmp')
check "no half-written file is left: $leftovers" [ -z "$leftovers" ]
if command -v gnuplot >/dev/null; then
  run_program "$temperature" --plot "it's a plot.svg"
  check "temperature: a plot" grep -q '</svg>' "it's a plot.svg"
else
  echo "left out: plots, for want of gnuplot"
fi

summary
