#!/bin/sh
# SPDX-License-Identifier: MIT
#
# docs/doxygen_filter.sh HEADER: a header as Doxygen is to read it. awk makes the structure (each header a topic of its layer, the
# labels Shape, Edges, ... paragraphs, namespaces of internals left out), sed the mathematics of the prose.
here=$(dirname "$0")
awk -f "$here/doxygen_structure.awk" "$1" | LC_ALL=C.UTF-8 sed -E -f "$here/doxygen_math.sed"
