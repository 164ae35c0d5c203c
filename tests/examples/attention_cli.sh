#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The programs `block_scores` and `sparse_decode` from outside: bash attention_cli.sh BLOCK_SCORES SPARSE_DECODE
# Bad input must end with status 2, nothing on standard output, one line on standard error that names file, line and column, and
# no file left behind. The check of the plot is left out where gnuplot is missing, and the script says so.
# shellcheck source=cli.bash
source "$(dirname "${BASH_SOURCE[0]}")/cli.bash"
block_scores=$(realpath "$1")
sparse_decode=$(realpath "$2")
enter

npy k.npy '<f4' 200 6
npy v.npy '<f4' 200 5
npy short.npy '<f4' 40 6
npy wide.npy '<f4' 200 7
npy kind.npy '<i4' 200 6
(head -c 128 k.npy; printf '\0\0\xc0\x7f'; tail -c +133 k.npy) >nan.npy
head -c 1000 k.npy >cut.npy
echo text >text.npy

# Command lines.
for arguments in '--q k.npy' '--q k.npy --k k.npy' '--block 0' '--top 0' '--block x' '--queries 0' '--format json' '--block 64' \
  '--top 16' '--q k.npy --k k.npy --v v.npy --score mean' 'file'; do
  # shellcheck disable=SC2086
  run_program "$block_scores" $arguments
  check "block_scores $arguments" refused "command line: "
done
for arguments in '--tokens 10' '--width 0' '--error 0' '--error nan' '--score softmax' '--rank 65' '--queries 0' 'file'; do
  # shellcheck disable=SC2086
  run_program "$sparse_decode" $arguments
  check "sparse_decode $arguments" refused "command line: "
done
for program in "$block_scores" "$sparse_decode"; do
  run_program "$program" --help
  check "${program##*/} --help" printed "Usage: ${program##*/} [OPTIONS]"
  run_program "$program" --version
  check "${program##*/} --version" printed "${program##*/}, cumulus "
done

# Files.
heads() {  # heads Q K V ARGUMENT...
  run_program "$block_scores" --q "$1" --k "$2" --v "$3" --block 8 --top 2 "${@:4}"
}
heads k.npy k.npy v.npy --causal
check "a head" printed "104 queries from token 96 on, 200 keys of width 6, 25 blocks of 8"
heads k.npy k.npy v.npy --queries 7
check "all keys for every query" printed "7 queries, 200 keys of width 6"
heads k.npy k.npy v.npy --format csv
check "csv" printed 'head,score,summary,bytes_per_block,recall,mass,output_error,microseconds'
heads none.npy k.npy v.npy
check "a file that is not there" refused "none.npy:1:1: cannot be opened"
heads k.npy wide.npy v.npy
check "widths that differ" refused "wide.npy:1:1: keys of width 7 for queries of width 6"
heads k.npy k.npy short.npy
check "values of another length" refused "short.npy:1:1: 40 values for 200 keys"
heads k.npy short.npy short.npy --causal
check "more causal queries than keys" refused "k.npy:1:1: 200 causal queries for 40 keys"
heads short.npy short.npy short.npy --causal
check "too few tokens" refused "short.npy:1:1: 40 queries of 40 keys are too few"
heads k.npy nan.npy v.npy
check "a NaN" refused "nan.npy:1:129: token 0 holds nan in column 0"
heads cut.npy k.npy v.npy
check "a file cut short" refused "cut.npy:1:1001: the .npy file ends after"
heads kind.npy k.npy v.npy
check "integers" refused "kind.npy:1:1: an array of no floats"
heads text.npy k.npy v.npy
check "text" refused "text.npy:1:1: is no .npy file"

# Plots.
heads k.npy k.npy v.npy --plot mass.pdf
check "a plot of another kind" refused "mass.pdf:1:1: a plot is neither .svg nor .png"
if command -v gnuplot >/dev/null; then
  heads k.npy k.npy v.npy --plot mass.svg
  check "a plot" grep -q '</svg>' mass.svg
else
  echo "left out: the plot, as gnuplot is not installed"
fi
heads k.npy k.npy v.npy --plot nowhere/mass.svg
check "a folder that is not there" refused "nowhere/mass.svg:1:1: "
rm -f mass.svg
check "nothing left behind" [ "$(find . -newer text.npy -type f ! -name '.*' ! -name text.npy | wc -l)" -eq 0 ]

# Decoding.
run_program "$sparse_decode" --tokens 1500 --width 8 --block 16 --queries 2 --score mean
check "decoding" printed "A cache of keys and values of width 8 in blocks of 16, chosen by mean"

summary
