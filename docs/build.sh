#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# docs/build.sh: the reference in build/docs/html, by Doxygen; fails at a warning. With Debian's libjs-mathjax, of which a
# few files are copied beside the pages, they need no network; without it the formulas do.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

number() { sed -n "s/^#define CUMULUS_VERSION_$1 *\([0-9]*\)$/\1/p" include/cumulus/core/version.hpp; }
CUMULUS_VERSION=$(number MAJOR).$(number MINOR).$(number PATCH)
export CUMULUS_VERSION CUMULUS_MATHJAX=mathjax

mathjax=/usr/share/javascript/mathjax
if [[ ! -e $mathjax/MathJax.js ]]; then
  CUMULUS_MATHJAX=https://cdn.jsdelivr.net/npm/mathjax@2
  echo "no $mathjax (Debian: libjs-mathjax): the formulas of the pages will be drawn by $CUMULUS_MATHJAX" >&2
fi

rm -rf build/docs
mkdir -p build/docs
doxygen docs/Doxyfile
if [[ $CUMULUS_MATHJAX == mathjax ]]; then
  to=build/docs/html/mathjax
  mkdir -p "$to/jax/input" "$to/jax/output" "$to/jax/element"
  cp -rL "$mathjax/MathJax.js" "$mathjax/extensions" "$to/"
  cp -rL "$mathjax/jax/input/TeX" "$to/jax/input/"
  cp -rL "$mathjax/jax/element/mml" "$to/jax/element/"
  mkdir -p "$to/jax/output/SVG/fonts"
  cp -L "$mathjax"/jax/output/SVG/*.js "$to/jax/output/SVG/"
  cp -rL "$mathjax/jax/output/SVG/autoload" "$to/jax/output/SVG/"
  cp -rL "$mathjax/jax/output/SVG/fonts/TeX" "$to/jax/output/SVG/fonts/"
fi
