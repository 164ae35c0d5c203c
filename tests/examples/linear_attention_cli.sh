#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The program `linear_attention` from outside: bash linear_attention_cli.sh LINEAR_ATTENTION
# Bad input must end with status 2, nothing on standard output, one line on standard error, and no file left behind. The check of
# the plot is left out where gnuplot is missing, and the script says so.
set -u
export LC_ALL=C
program=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
passed=0
failed=0

check() {  # check NAME COMMAND...: counts whether the command succeeds
  local name=$1
  shift
  if "$@"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED: $name"
    sed 's/^/    stderr: /' "$work/.err"
  fi
}

run() {  # run ARGUMENT...: the program's streams in .out and .err
  "$program" "$@" >"$work/.out" 2>"$work/.err"
  status=$?
}

refused() {  # refused BEGINNING: the last run failed as it must, with a line that begins so
  [ "$status" -eq 2 ] && [ ! -s .out ] && [ "$(wc -l <.err)" -eq 1 ] &&
    case $(cat .err) in "linear_attention: $1"*"; "*) true ;; *) false ;; esac
}

printed() {  # printed TEXT: the last run succeeded, silent on standard error, with TEXT in its output
  [ "$status" -eq 0 ] && [ ! -s .err ] && grep -qE -- "$1" .out
}

npy() {  # npy FILE ROWS COLUMNS: an array of floats 0.5 to 1.99 that repeat every 240 bytes
  local header i
  header="{'descr': '<f4', 'fortran_order': False, 'shape': ($2, $3), }"
  printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' "$header" >"$1"
  for ((i = 0; i < 60; ++i)); do
    printf "\\x00\\x00\\x$(printf %02x $((i * 37 % 256)))\\x3f"
  done >.pattern
  while (($(stat -c %s .pattern) < $2 * $3 * 4)); do cat .pattern .pattern >.twice && mv .twice .pattern; done
  head -c $(($2 * $3 * 4)) .pattern >>"$1"
}

npy k.npy 200 6
npy v.npy 200 5
npy short.npy 40 6
npy long.npy 300 6
npy wide.npy 200 7
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

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
