#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The vector kernels as another machine has them: their tests compiled for aarch64 and run by qemu. Skips, and says so, where the
# packages cannot be installed. Half a minute.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

skip() { printf 'skipped: %s\n' "$*"; exit 0; }

(./run need g++-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user catch2 libeigen3-dev) ||
  skip 'no compiler for aarch64, or no qemu'
catch=
for directory in /usr/include /usr/local/include; do
  [[ ! -e $directory/catch2/catch.hpp ]] || catch=$directory/catch2
done
[[ -n $catch ]] || skip 'no Catch2 version 2, whose one header needs no library of that machine'

out=build/aarch64
mkdir -p "$out/include"
ln -sfn "$catch" "$out/include/catch2" # alone, without the rest of that folder
aarch64-linux-gnu-g++ -std=c++20 -O1 -static -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -DCATCH_CONFIG_MAIN \
  -Iinclude -Itests -Itests/support -isystem "$out/include" -isystem /usr/include/eigen3 \
  tests/detail/simd/vectors_test.cpp -o "$out/vectors_test"
qemu-aarch64 "$out/vectors_test"
