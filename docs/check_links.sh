#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# docs/check_links.sh [FILE.md...]: every relative link, image and anchor of the documents leads somewhere, and so does each path that
# stands as code (`docs/edges.md`, `build/release/examples/expand`, which is examples/expand.cpp); names the others, and fails.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
shopt -s globstar nullglob
files=("$@")
((${#files[@]})) || files=(README.md CONTRIBUTING.md CHANGELOG.md docs/**/*.md packaging/**/*.md tests/**/*.md bench/**/*.md examples/**/*.md)
failed=0 checked=0

broken() { # FILE LINE WHAT
  printf '%s:%s: %s\n' "$1" "$2" "$3"
  failed=1
}

# The anchors of a page, as GitHub makes them of its headings, and those that headings name by {#name}.
anchors() {
  sed '/^ *```/,/^ *```/d' "$1" | grep -E '^#{1,6} ' | sed -E 's/^#+ +//; s/.*\{#([A-Za-z0-9_-]+)\} *$/\1/; s/\[([^]]*)\]\([^)]*\)/\1/g; s/[`*]//g' |
    tr '[:upper:]' '[:lower:]' | sed -E 's/[^[:alnum:] _-]//g; s/ /-/g'
}

# Does the path, or what it is built from, exist?
exists() {
  local path=$1 name
  [[ -e $path ]] && return 0
  case $path in
    *\** | */X.* | */X_* | */NAME* | */LAYER* | *\<* | *…*) # a pattern or a placeholder; a pattern must match something
      [[ $path == *\** ]] || return 0
      compgen -G "$path" >/dev/null
      return
      ;;
    build/release/*)
      name=${path#build/release/}
      [[ -e $name.cpp ]] && return 0
      name=${name##*/}
      sed 's/#.*//' {examples,tests,bench}/CMakeLists.txt | grep -qE "\b$name\b"
      return
      ;;
    docs/* | examples/* | tests/* | bench/*)
      # A program is named as its source is, a header without its ending.
      [[ -e $path.cpp || -e $path.hpp || -e $path.sh ]] && return 0
      ;;
  esac
  return 1
}

for file in "${files[@]}"; do
  [[ -e $file ]] || { broken "$file" 0 'no such document'; continue; }
  here=$(dirname "$file")

  # Outside of code blocks, with their numbers: [text](target), ![text](target).
  prose=$(awk '/^ *```/ { code = !code; next } !code { print FNR ":" $0 }' "$file")
  while IFS=: read -r line target; do
    [[ -n $line ]] || continue
    ((++checked))
    target=${target#*](}
    target=${target%)}
    target=${target%% *}
    case $target in
      http://* | https://* | mailto:* | @ref*) continue ;;
    esac
    path=${target%%#*} anchor=
    [[ $target == *#* ]] && anchor=${target#*#}
    if [[ -z $path ]]; then
      path=$file
    elif [[ $file == docs/pages/* && -e docs/$path ]]; then
      path=docs/$path # Doxygen looks for images there
    else
      path=$here/$path
    fi
    if [[ ! -e $path ]]; then
      broken "$file" "$line" "no $target"
    elif [[ -n $anchor && $path == *.md ]] && ! grep -qxF -- "$anchor" <<<"$(anchors "$path")"; then
      broken "$file" "$line" "no heading for #$anchor in $path"
    fi
  done < <(sed -E 's/`[^`]*`//g' <<<"$prose" | grep -E '\]\(' | while IFS=: read -r n text; do
    grep -oE '\]\([^)]*\)' <<<"$text" | sed "s/^/$n:/"
  done)

  # Paths as code: the first word of a span; options and arguments may follow.
  while IFS=: read -r line path; do
    [[ -n $line ]] || continue
    ((++checked))
    path=${path#\`} path=${path#./}
    path=${path%%[\` ,;:]*} path=${path%.}
    exists "$path" || broken "$file" "$line" "no $path"
  done < <(grep -nE '`' "$file" | grep -vE '^[0-9]+: *```' | while IFS=: read -r n text; do
    grep -oE '`(\./)?(docs|examples|tests|include|bench|cmake|packaging|build/release/(examples|tests|bench))/[^`]*`' <<<"$text" | sed "s/^/$n:/"
  done)
done

# Commands in blocks of code: the programs they run.
while IFS=: read -r file line path; do
  [[ -n $path ]] || continue
  ((++checked))
  exists "$path" || broken "$file" "$line" "no source of $path"
done < <(grep -noHE 'build/release/examples/[a-z_]+' "${files[@]}" 2>/dev/null)

((failed)) || echo "$checked links and paths of ${#files[@]} documents lead somewhere"
exit "$failed"
