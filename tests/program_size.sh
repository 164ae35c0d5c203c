#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# program_size.sh COMPILER EIGEN OUT: examples/first.cpp program, compiled at -O2 as a user would, has at most 200,000 bytes.
set -euo pipefail
compiler=$1 eigen=$2 out=$3
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
start=$EPOCHREALTIME
"$compiler" -std=c++20 -O2 -I "$root/include" -isystem "${eigen%%:*}" "$root/examples/first.cpp" -o "$out"
bytes=$(stat -c %s "$out")
awk -v a="$start" -v b="$EPOCHREALTIME" -v bytes="$bytes" 'BEGIN { printf "%d bytes, compiled in %.1f s\n", bytes, b - a }'
((bytes <= 200000)) || { echo "more than 200000 bytes"; exit 1; }
