#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# instruction_counts.sh PROGRAM [--write]: the instructions of 20 calls of some cells of option_costs (float and double, 4096 elements,
#   AVX2), by callgrind, against bench/instruction_counts.txt; 5 % above the file's counts are let pass. They depend on the compiler's
#   version, so another than the file's is not checked, and on AVX2, so a machine without it is not either.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
program=$1
file=$here/instruction_counts.txt
cells=(softmax logsumexp log_softmax softmax/weights logsumexp/weights log_softmax/weights softmax/mask softmax/sink logmeanexp
  softmax_entropy effective_sample_size logcumsumexp softmax_vjp log_softmax_vjp)
command -v valgrind >/dev/null || { echo 'not checked: no valgrind'; exit; }
grep -qw avx2 /proc/cpuinfo || { echo 'not checked: no AVX2'; exit; }
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

count() {
  CUMULUS_ISA=avx2 valgrind --tool=callgrind --callgrind-out-file="$out/callgrind" "$program" --count "$1" 2>&1 |
    sed -n 's/.*Collected : //p'
}
measure() {
  echo "# compiler $(g++ -dumpfullversion -dumpversion)"
  local none
  none=$(count none)
  for cell in "${cells[@]}"; do printf '%-24s %10d\n' "$cell" $(($(count "$cell") - none)); done
}
if [[ ${2-} == --write ]]; then
  { printf '# SPDX-License-Identifier: MIT\n# cell, instructions of 40 calls: bench/instruction_counts.sh PROGRAM --write\n' && measure; } >"$file"
  exit
fi
measure >"$out/now"
if [[ $(grep '^# compiler' "$file") != $(head -n 1 "$out/now") ]]; then
  printf 'not checked: the file is of %s, this is %s\n' "$(grep '^# compiler' "$file")" "$(head -n 1 "$out/now")"
  exit
fi
awk 'NR == FNR { if ($0 !~ /^#/) before[$1] = $2; next }
  !/^#/ {
    over = $2 > 1.05 * before[$1]
    printf "%-24s %10d (%d)%s\n", $1, $2, before[$1], over ? "  MORE" : ""
    failed = failed || over
  }
  END { exit failed }' "$file" "$out/now" || { echo 'more than the file says; if it must be, write it anew: --write'; exit 1; }
