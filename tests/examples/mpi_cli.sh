#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# mpi_logsumexp with several numbers of ranks: bash mpi_cli.sh PROGRAM "LAUNCHER", which has the word RANKS for their number.
# Neither their number nor the storage order of the file changes a digit of logsumexp, or the first 14 of the rest.
# shellcheck source=cli.bash
source "$(dirname "${BASH_SOURCE[0]}")/cli.bash"
program=$(realpath "$1")
launcher=$2
enter

run() {  # run RANKS ARGUMENT...: streams in .out and .err
  local ranks=$1
  shift
  # shellcheck disable=SC2086
  run_program ${launcher/RANKS/$ranks} "$program" "$@"
}

said_once() {  # said_once TEXT: the last run failed as it must, and one rank alone has said so; the launcher adds lines of its own
  [ "$status" -eq 2 ] && [ ! -s .out ] && [ "$(grep -c '^mpi_logsumexp: ' .err)" -eq 1 ] && grep -qF -- "mpi_logsumexp: $1" .err
}

# 1000 rows of i and i^2 mod 97 as doubles, in both storage orders: a header as numpy.save writes it, and the numbers by awk.
header() { printf "\223NUMPY\1\0\166\0%-117s\n" "{'descr': '<f8', 'fortran_order': $1, 'shape': (1000, 2), }"; }
doubles() {  # whole numbers below 2^20 as little-endian doubles, one a line to bytes
  awk '{ v = $1; if (v == 0) { e = 0; f = 0 } else { e = 0; while (2 ^ (e + 1) <= v) ++e; f = v / 2 ^ e - 1; e += 1023 }
         high = e * 1048576 + int(f * 1048576)
         printf "\\0\\0\\0\\0"
         for (i = 0; i < 4; ++i) { printf "\\%o", high % 256; high = int(high / 256) } }' | xargs -0 -n 1 printf '%b'
}
numbers() { awk -v order="$1" 'BEGIN { if (order == "c") for (i = 0; i < 1000; ++i) print i "\n" i * i % 97
  else { for (i = 0; i < 1000; ++i) print i; for (i = 0; i < 1000; ++i) print i * i % 97 } }'; }
{ header False; numbers c | doubles; } >rows.npy
{ header True; numbers fortran | doubles; } >columns.npy
check "the file is of its size" [ "$(wc -c <rows.npy)" -eq 16128 ]

run 1 --digits 17 --count 1e5
check "one rank" [ "$status" -eq 0 ]
cp .out one
for ranks in 2 4; do
  run $ranks --digits 17 --count 1e5
  check "$ranks ranks: logsumexp, to the last digit" [ "$(grep logsumexp .out)" = "$(grep logsumexp one)" ]
  # the bound is a difference of what agrees to the last digits
  check "$ranks ranks: the rest, to 1e-14" awk 'NR == FNR { value[FNR] = $NF; next }
    FNR > 2 && !/bound/ { d = $NF / value[FNR] - 1; if (d > 1e-14 || d < -1e-14) exit 1; ++seen } END { exit seen != 7 }' one .out
done
run 3 rows.npy --column 2 --digits 14
check "an array by rows: n" grep -q '^n                     1000$' .out
check "an array by rows: range" grep -q '^range                 96$' .out
sed 1d .out >rows
run 4 columns.npy --column 2 --digits 14
sed 1d .out >columns
check "an array by columns is the same" cmp -s rows columns
run 4 --count 2
check "more ranks than numbers" grep -q '^n                     2$' .out

run 3 missing.npy
check "a missing file" said_once "missing.npy:1:1: cannot be opened"
seq 1 10 >text
run 2 text
check "text" said_once "text:1:1: is text"
run 2 --order 0
check "a command line" said_once "command line: "
run 2 --count 2.5
check "a count that is none" said_once "command line: --count: must be a whole number"
# numbers whose sum of e^x is 0, and of which one is nan
column() { printf "\223NUMPY\1\0\166\0%-117s\n" "{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }"; }
{ column; for i in 1 2; do printf '\0\0\0\0\0\0\360\377'; done; } >none.npy
run 2 none.npy
check "all -inf: logsumexp" grep -q '^logsumexp  *-inf$' .out
check "all -inf: no softmax mean" grep -q '^softmax mean of x  *none$' .out
check "all -inf: no range" grep -q '^range  *none$' .out
check "all -inf: no nan" [ "$status$(grep -c nan .out)" = 00 ]
{ column; printf '\0\0\0\0\0\0\360\077\0\0\0\0\0\0\370\377'; } >nan.npy
run 2 nan.npy
check "a nan: logsumexp" grep -q '^logsumexp  *nan$' .out
check "a nan: neither -nan nor none" [ "$status$(grep -c 'none\|-nan' .out)" = 00 ]
run 2 --help
check "help: printed once" [ "$(grep -c '^Usage: mpi_logsumexp' .out)" -eq 1 ]

summary
