# SPDX-License-Identifier: MIT
#
# The wall between what a user calls and what makes it work: fails, naming file and line, on
#   - a name in namespace cumulus that the reference's row of its header does not list, and on the reverse;
#   - a public declaration that names `detail`;
#   - an enum without a name_of.
#
#   awk -f tests/cpp.awk -f tests/wall.awk docs/pages/layers.dox $(find include/cumulus -name '*.hpp')
#   awk -v rewrite=1 ...   prints layers.dox with the names that the headers declare, to look at and keep
#
# A row is `| @ref LAYER_HEADER | what it holds | names | constants |`; names in backticks, and each of a namespace of its own
# with it: `presets::moba`. Constants are variables of a number; they are listed, not counted.
#
# Read as text, with C++'s brackets but without its types: templates' heads, requires-clauses, function bodies, initialisers,
# base-clauses, friend classes, private sections and deleted functions may name `detail`. What the text does not show is not
# seen: a type that `auto` deduces, a public member that a base class of detail brings, a macro's expansion.

FNR == 1 {
  if (file != "" && !is_list) header_ends()
  file = FILENAME
  is_list = file ~ /\.dox$/
  n = in_comment = in_directive = 0
}
is_list { list_text[++list_lines] = $0 }
is_list && /^\| @ref [a-z_0-9]+ \|/ { list_row() }
is_list { next }
{ tokens_of($0) }
END {
  if (file != "" && !is_list) header_ends()
  if (rewrite) {
    rewritten()
    exit
  }
  check_list()
  for (name in enum_at)
    if (!(name in named)) fault_at(enum_file[name], enum_at[name], "no name_of(" name ")")
  printf "%d names in cumulus, %d constants beside them, %d headers in the reference\n", count_names, count_constants, count_rows
  if (faults) {
    printf "%d faults against the wall\n", faults
    exit 1
  }
}

# --- The list -------------------------------------------------------------------------------------------------------------

function list_row(   cell, header, i, k, name, part) {
  split($0, cell, "|")
  header = cell[2]
  gsub(/@ref|[ \t]/, "", header)
  if (header in row_line) fault_at(file, FNR, header " has two rows")
  row_line[header] = FNR
  list_file = file
  ++count_rows
  for (i = 4; i <= 5; ++i) {
    k = split(cell[i], part, /[ ,]+/)
    while (k > 0) {
      name = part[k--]
      gsub(/`/, "", name)
      if (name == "" || name == "–") continue
      listed[header, name] = i == 4 ? "name" : "constant"
      if (i == 4 && !(name in counted)) ++count_names
      if (i == 4) counted[name] = 1
      if (i == 5) ++count_constants
    }
  }
}

function check_list(   key, part) {
  for (key in listed) {
    split(key, part, SUBSEP)
    if (!(key in declared)) fault_at(list_file, row_line[part[1]], part[1] " does not declare " part[2])
  }
}

# What a header declares, by the reference's name of it.
function declares(name, kind, from, to,   header, key, line) {
  line = at[from]
  if (tok[from] == "enum") {
    enum_file[name] = file
    enum_at[name] = line
  }
  if (name == "name_of")
    for (; from < to; ++from) named[tok[from]] = 1
  if (kind == "function") kind = "name"
  header = topic()
  key = header SUBSEP name
  if (rewrite && !(key in declared)) names[header, kind] = names[header, kind] (names[header, kind] == "" ? "" : ", ") "`" name "`"
  declared[key] = kind
  declaring[header] = 1
  if (rewrite) return
  if (header == "") fault_at(file, line, name " is in namespace cumulus, but not in a public header")
  else if (!(header in row_line)) fault_at(file, line, name ": the reference has no row for " header)
  else if (!(key in listed)) fault_at(file, line, name " is not in the reference's row of " header)
  else if (listed[key] == "constant" && kind != "constant") fault_at(file, line, name " is no constant, as the reference has it")
  else if (listed[key] == "name" && kind == "constant") fault_at(file, line, name " is a constant; the reference counts it as a name")
}

# The list, with what the headers declare; a header without a row gets one below those of its layer.
function rewritten(   i, cell, header, layer, other) {
  for (i = 1; i <= list_lines; ++i) {
    if (list_text[i] !~ /^\| @ref [a-z_0-9]+ \|/) {
      for (other in declaring)
        if (layer != "" && !(other in row_line) && index(other, layer "_") == 1) print row(" @ref " other " ", " ? ", other)
      layer = ""
      print list_text[i]
      continue
    }
    split(list_text[i], cell, "|")
    header = cell[2]
    gsub(/@ref|[ \t]/, "", header)
    layer = header
    sub(/_.*/, "", layer)
    if (header in declaring) print row(cell[2], cell[3], header)
    else print "no header declares what " header " lists" >"/dev/stderr"
  }
}
function row(first, second, header) {
  return "|" first "|" second "| " or_dash(names[header, "name"]) " | " or_dash(names[header, "constant"]) " |"
}
function or_dash(text) { return text == "" ? "–" : text }

function topic(   path) {
  path = file
  if (!sub(/^(.*\/)?include\/cumulus\//, "", path) || path ~ /^detail\// || path !~ /\//) return ""
  sub(/\.hpp$/, "", path)
  sub(/\//, "_", path)
  return path
}

function fault_at(where, line, text) {
  printf "%s:%d: %s\n", where, line, text
  ++faults
}

# The aliases that exist so that signatures need not name detail.
function is_vocabulary(name) { return name ~ /^(scalar_of|result_of|result_like|result_list|result_per_line|score_of|token_scalar_of|log_product_result)$/ }

# Types, parameters and results must not name detail.
function public_declaration(scope, what, from, to, class,   i, k) {
  if (scope == "cumulus" && what == "using" && is_vocabulary(tok[from + 1])) return
  for (i = from; i < to; ++i) {
    for (k = 1; k <= nholes; ++k)
      if (hole_from[k] <= i && i < hole_to[k]) break
    if (k <= nholes) continue
    if (tok[i] == "detail" && tok[i + 1] == "::") {
      if (!rewrite) fault_at(file, at[i], "a public declaration names detail::" tok[i + 2])
      return
    }
  }
}

function data_member(class, name, from, to) {}
