#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# compile_time.sh [--runs N] [--compiler CXX] [--eigen DIRECTORY]: what a call costs to compile, header-only and with
#   cumulus::compiled, as a ratio to a file that only includes Eigen/Core: user and system seconds at -O2, the least of N
#   interleaved runs (5 unless given).
# compile_time.sh --check: the preprocessed lines and the object sizes behind that table, against bench/compile_time/sizes.txt;
#   they depend on the compiler's version only, so another version than the file's is not checked.
# compile_time.sh --write: writes that file.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname "$here")
compiler=g++ runs=5 eigen=/usr/include/eigen3 mode=time
while (($#)); do
  case $1 in
    --runs) runs=$2 && shift ;;
    --compiler) compiler=$2 && shift ;;
    --eigen) eigen=$2 && shift ;;
    --check) mode=check ;;
    --write) mode=write ;;
    *) printf 'compile_time.sh: no option %s; see the first lines of the script\n' "$1" >&2 && exit 2 ;;
  esac
  shift
done
flags=(-std=c++20 -O2 -I "$root/include" -isystem "$eigen")
names=(logsumexp softmax series first attention)
titles=('`logsumexp(std::vector<double>)`' '`softmax(std::vector<float>)`' '`logsumexp_series(std::vector<double>, 4)`'
  'examples/first.cpp, logsumexp and eight series' '`attention(MatrixXf, ...)`')
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

source_of() { if [[ $1 == first ]]; then echo "$root/examples/first.cpp"; else echo "$here/compile_time/$1.cpp"; fi; }

# seconds NAME [FLAG...]: user and system seconds of one compilation.
seconds() {
  local source TIMEFORMAT='%U %S'
  source=$(source_of "$1")
  shift
  { time "$compiler" "${flags[@]}" "$@" -c "$source" -o "$out/object.o"; } 2>&1 | awk '{ print $1 + $2 }'
}

if [[ $mode == time ]]; then
  for ((run = 0; run < runs; ++run)); do
    echo "eigen $(seconds eigen)"
    for name in "${names[@]}"; do
      echo "$name/header-only $(seconds "$name")"
      echo "$name/compiled $(seconds "$name" -DCUMULUS_COMPILED)"
    done
  done >"$out/times"
  printf '%s, -O2, user + system seconds, the least of %d runs; Eigen/Core alone: %.2f s\n\n' \
    "$("$compiler" --version | head -n 1)" "$runs" "$(awk '$1 == "eigen"' "$out/times" | sort -k2 -n | head -n 1 | cut -d' ' -f2)"
  printf '| a file that calls | header-only | with cumulus::compiled |\n|---|---|---|\n'
  for i in "${!names[@]}"; do
    awk -v name="${names[i]}" -v title="${titles[i]}" '
      !($1 in least) || $2 < least[$1] { least[$1] = $2 }
      END { printf "| %s | %.2f | %.2f |\n", title, least[name "/header-only"] / least["eigen"], least[name "/compiled"] / least["eigen"] }
    ' "$out/times"
  done
  exit
fi

# Lines and bytes, one row for each program and kind.
version=$("$compiler" -dumpfullversion -dumpversion)
measure() {
  echo "# compiler $(basename "$compiler") $version"
  local name kind kind_flags
  for name in "${names[@]}"; do
    for kind in header-only compiled; do
      kind_flags=()
      [[ $kind == header-only ]] || kind_flags=(-DCUMULUS_COMPILED)
      "$compiler" "${flags[@]}" ${kind_flags[@]+"${kind_flags[@]}"} -c "$(source_of "$name")" -o "$out/$name.o"
      printf '%-10s %-12s %7d %7d\n' "$name" "$kind" \
        "$("$compiler" "${flags[@]}" ${kind_flags[@]+"${kind_flags[@]}"} -E "$(source_of "$name")" | wc -l)" "$(size "$out/$name.o" | awk 'NR == 2 { print $4 }')"
    done
  done
}
sizes=$here/compile_time/sizes.txt
if [[ $mode == write ]]; then
  { printf '# SPDX-License-Identifier: MIT\n# program, kind, preprocessed lines, bytes of the object: bench/compile_time.sh --write\n' && measure; } >"$sizes"
  exit
fi
measure >"$out/now"
if [[ $(grep '^# compiler' "$sizes") != $(head -n 1 "$out/now") ]]; then
  printf 'not checked: sizes.txt is of %s, this is %s\n' "$(sed -n 's/^# compiler //p' "$sizes")" "$(basename "$compiler") $version"
  exit
fi
# 3 % above the file's figures are let pass.
awk 'NR == FNR { if ($0 !~ /^#/) { lines[$1 $2] = $3; bytes[$1 $2] = $4 } next }
  !/^#/ {
    over = $3 > 1.03 * lines[$1 $2] || $4 > 1.03 * bytes[$1 $2]
    printf "%-10s %-12s %7d lines (%d) %7d bytes (%d)%s\n", $1, $2, $3, lines[$1 $2], $4, bytes[$1 $2], over ? "  MORE" : ""
    failed = failed || over
  }
  END { exit failed }' "$sizes" "$out/now" || { echo 'more than sizes.txt says; if it must be, bench/compile_time.sh --write'; exit 1; }
