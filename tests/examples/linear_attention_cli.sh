#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The program `linear_attention` from outside: bash linear_attention_cli.sh LINEAR_ATTENTION
# Bad input must end with status 2, nothing on standard output, one line on standard error, and no file left behind. The check of
# the plot is left out where gnuplot is missing, and the script says so.
# shellcheck source=cli.bash
source "$(dirname "${BASH_SOURCE[0]}")/cli.bash"
program=$(realpath "$1")
enter

run() { run_program "$program" "$@"; }

printed() {  # printed TEXT: the last run succeeded, silent on standard error, with TEXT in its output
  [ "$status" -eq 0 ] && [ ! -s .err ] && grep -qE -- "$1" .out
}

npy k.npy '<f4' 200 6
npy v.npy '<f4' 200 5
npy short.npy '<f4' 40 6
npy long.npy '<f4' 300 6
npy wide.npy '<f4' 200 7
echo "1 2 3" >text.npy
files=(--k k.npy --v v.npy)

run --orders 1,2 --form taylor
check "the embedded heads" printed "^  taylor   mean      2 "
run --q short.npy "${files[@]}" --orders 2
check "files" printed "^40 queries, 200 keys of width 6;"
run --q k.npy "${files[@]}" --causal --window 300 --orders 1 --form moment
check "a window of all keys is exact" printed "^  moment   mean      1  [0-9.]+e-1[0-9] "
run --q k.npy "${files[@]}" --orders 0 --format csv
check "csv" printed "^head,form,about,order,error,"
run --help
check "help" printed "crossover"

run --q k.npy
check "one file" refused "command line: "
run --q wide.npy "${files[@]}"
check "widths" refused "wide.npy:1:1: 7 numbers a token"
run --q k.npy --k k.npy --v short.npy
check "tokens" refused "short.npy:1:1: 40 tokens"
run --q long.npy "${files[@]}" --causal
check "more causal queries than keys" refused "long.npy:1:1: 300 causal queries of 200 keys"
run --q text.npy "${files[@]}"
check "no .npy" refused "text.npy:1:1: is no .npy file"
run --q none.npy "${files[@]}"
check "no file" refused "none.npy:1:1: cannot be opened"
run --orders 17
check "order" refused "command line: --orders"
run --q k.npy "${files[@]}" --window 3
check "a window that is not causal" refused "command line: --window"
run --plot plot.txt
check "plot" refused "plot.txt:1:1: "
if command -v gnuplot >/dev/null; then
  run --orders 1,2 --plot errors.svg
  check "the plot" grep -q "</svg>" errors.svg
else
  echo "gnuplot is missing: the plot is not checked"
fi
check "nothing left behind" [ -z "$(ls | grep -vE '^(k|v|short|long|wide|text)\.npy$|^errors\.svg$')" ]

summary
