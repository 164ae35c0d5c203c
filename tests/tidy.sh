#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# clang-tidy over every header, by way of the umbrella, with the rules of .clang-tidy; any finding fails. Skips, and says so, where
# clang-tidy is another version than 14. A quarter of a minute.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if ! clang-tidy --version 2>/dev/null | grep -q 'version 14\.'; then
  echo "skipped: the rules are those of clang-tidy 14"
  exit 0
fi
mkdir -p build/tidy
echo '#include <cumulus/cumulus.hpp>' >build/tidy/umbrella.cpp
clang-tidy --quiet --warnings-as-errors='*' build/tidy/umbrella.cpp -- -std=c++20 -Iinclude -isystem /usr/include/eigen3
