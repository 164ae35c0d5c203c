#!/bin/sh
# SPDX-License-Identifier: MIT
#
# docs/doxygen_filter.sh HEADER: a header as Doxygen is to read it. awk leaves out refused overloads and makes the structure (each
# header a topic of its layer, the labels Shape, Edges, ... paragraphs, namespace detail left out), sed the mathematics of the prose.
here=$(dirname "$0")
awk -f "$here/doxygen_refused.awk" "$1" | awk -v "path=$1" -f "$here/doxygen_structure.awk" | LC_ALL=C.UTF-8 sed -E -f "$here/doxygen_math.sed"
