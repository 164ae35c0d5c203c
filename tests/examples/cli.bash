#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# What the *_cli.sh scripts share: a folder of their own, a program's streams in .out and .err, and what a refusal looks like. Sourced
# before their programs' paths are made absolute; `enter` goes to the folder.
set -u
export LC_ALL=C
passed=0
failed=0

enter() {
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  cd "$work" || exit 1
}

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

run_program() {  # run_program PROGRAM ARGUMENT...: its streams in .out and .err; standard input passes through
  called=${1##*/}
  "$@" >"$work/.out" 2>"$work/.err"
  status=$?
}

refused() {  # refused BEGINNING: the last run failed as it must, with a line that begins so
  local line
  line=$(cat .err)
  [ "$status" -eq 2 ] && [ ! -s .out ] && [ "$(wc -l <.err)" -eq 1 ] &&
    case $line in "$called: $1"*"; "*) true ;; *) false ;; esac
}

printed() {  # printed TEXT: the last run succeeded, silent on standard error, with TEXT in its output
  [ "$status" -eq 0 ] && [ ! -s .err ] && grep -qF -- "$1" .out
}

npy() {  # npy FILE TYPE ROWS COLUMNS: an array of floats 0.5 to 1.99 that repeat every 240 bytes
  local header size=$(($3 * $4 * 4)) i
  header="{'descr': '$2', 'fortran_order': False, 'shape': ($3, $4), }"
  printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' "$header" >"$1"
  for ((i = 0; i < 60; ++i)); do
    printf "\\x00\\x00\\x$(printf %02x $((i * 37 % 256)))\\x3f"
  done >.pattern
  while (($(stat -c %s .pattern) < size)); do cat .pattern .pattern >.twice && mv .twice .pattern; done
  head -c "$size" .pattern >>"$1"
}

summary() {  # the last line of a script: its status
  echo "$passed passed, $failed failed"
  [ "$failed" -eq 0 ]
}
