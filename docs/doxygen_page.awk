# SPDX-License-Identifier: MIT
#
# A page as Doxygen is to read it: its title gets a name, that of the file, so that @ref finds it: edges.md is @ref edges.
FNR == 1 && /^# / && !/\{#/ {
  name = tolower(FILENAME)
  sub(/.*\//, "", name)
  sub(/\.md$/, "", name)
  $0 = $0 " {#" name "}"
}
{ print }
