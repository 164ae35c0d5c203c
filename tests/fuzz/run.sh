#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# run.sh BUILD [SECONDS] [NAME...]: runs the fuzzers built in BUILD (exact, moments_series, attention_blocks, readers; or those
# named) for so many seconds each (60), two at a time. What they find is kept in BUILD/crashes, the inputs that reach new code
# in BUILD/corpus, where the next run begins. With CUMULUS_FUZZ_SEED set a first run is the same everywhere, as far as it gets.
set -uo pipefail
build=${1:?usage: run.sh BUILD [SECONDS] [NAME...]}
seconds=${2:-60}
shift $(($# < 2 ? $# : 2))
(($#)) || set -- exact moments_series attention_blocks readers
limits=(-timeout=20 -rss_limit_mb=1024 -malloc_limit_mb=64)
seed=${CUMULUS_FUZZ_SEED:+-seed=$CUMULUS_FUZZ_SEED}

fuzz() {
  local name=$1 crashes=$build/crashes/$1 corpus=$build/corpus/$1 log=$build/crashes/$1.log
  mkdir -p "$crashes" "$corpus"
  if nice -n 5 "$build/${name}_fuzz" "-max_total_time=$seconds" -max_len=512 ${seed:+"$seed"} "${limits[@]}" -print_final_stats=1 \
    "-artifact_prefix=$crashes/" "$corpus" >"$log" 2>&1; then
    printf '%-17s %s inputs, nothing found\n' "$name" "$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")"
    return 0
  fi
  printf '%-17s %s\n' "$name" "FAILED: $(grep -aEm1 'not true|runtime error|ERROR: |what\(\)' "$log" || echo "see $log")"
  local input
  input=$(sed -n 's/.*Test unit written to //p' "$log" | tail -n 1)
  [[ -z $input ]] || printf '  again: %s %s %s\n' "$build/${name}_fuzz" "${limits[*]}" "$input"
  return 1
}

names=("$@") failed=0
for name in "${names[@]}"; do
  [[ -x $build/${name}_fuzz ]] || { printf 'run.sh: no fuzzer %s\n' "$build/${name}_fuzz" >&2; exit 2; }
done
for ((i = 0; i < ${#names[@]}; i += 2)); do
  pids=()
  for name in "${names[@]:i:2}"; do
    fuzz "$name" &
    pids+=($!)
  done
  for pid in "${pids[@]}"; do wait "$pid" || failed=1; done
done
exit "$failed"
