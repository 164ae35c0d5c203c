# SPDX-License-Identifier: MIT
#
# The wall between what a user calls and what makes it work: fails, naming file and line, on
#   - a name in namespace cumulus that the reference's row of its header does not list, and on the reverse;
#   - a public declaration that names `detail`.
#
#   awk -f tests/wall.awk docs/pages/layers.dox $(find include/cumulus -name '*.hpp')
#   awk -v rewrite=1 -f tests/wall.awk ...   prints layers.dox with the names that the headers declare, to look at and keep
#
# A row is `| @ref LAYER_HEADER | what it holds | names | constants |`; names in backticks, and each of a namespace of its own
# with it: `presets::moba`. Constants are variables of a number; they are listed, not counted.
#
# Read as text, with C++'s brackets but without its types: templates' heads, requires-clauses, function bodies, initialisers,
# base-clauses, friend classes, private sections and deleted functions may name `detail`. What the text does not show is not
# seen: a type that `auto` deduces, a public member that a base class of detail brings, a macro's expansion.

FNR == 1 {
  if (file != "") header_ends()
  file = FILENAME
  is_list = file ~ /\.dox$/
  n = in_comment = in_directive = 0
}
is_list { list_text[++list_lines] = $0 }
is_list && /^\| @ref [a-z_0-9]+ \|/ { list_row() }
is_list { next }
{ tokens_of($0) }
END {
  if (file != "") header_ends()
  if (rewrite) {
    rewritten()
    exit
  }
  check_list()
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
function declares(name, kind, line,   header, key) {
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

# --- The text as tokens: no comments, strings or directives -----------------------------------------------------------------

function tokens_of(text,   t) {
  while (text != "") {
    if (in_comment) {
      if (!match(text, /\*\//)) return
      text = substr(text, RSTART + 2)
      in_comment = 0
    }
    if (in_directive || text ~ /^[ \t]*#/) {
      in_directive = text ~ /\\$/
      return
    }
    sub(/^[ \t]+/, "", text)
    if (text == "" || text ~ /^\/\//) return
    if (text ~ /^\/\*/) {
      in_comment = 1
      text = substr(text, 3)
      continue
    }
    if (match(text, /^"([^"\\]|\\.)*"/)) t = "\"\""
    else if (match(text, /^[A-Za-z_][A-Za-z_0-9]*/)) t = substr(text, 1, RLENGTH)
    else if (match(text, /^[0-9][0-9A-Za-z_.']*/)) t = "0"
    else if (match(text, /^'([^'\\]|\\.[0-9a-f]*)'/)) t = "0"
    else if (match(text, /^(::|->|[-=!<>+*\/%&|^]=|&&|\|\|)/)) t = substr(text, 1, RLENGTH)
    else { RLENGTH = 1; t = substr(text, 1, 1) }
    text = substr(text, RLENGTH + 1)
    tok[++n] = t
    at[n] = FNR
  }
}

# --- Declarations -----------------------------------------------------------------------------------------------------------

function header_ends() {
  if (is_list_file(file)) return
  tok[n + 1] = tok[n + 2] = ""
  p = 1
  members("global", "", 1)
  if (p <= n) fault_at(file, at[p], "a bracket too many")
}
function is_list_file(name) { return name ~ /\.dox$/ }

# The declarations of a namespace or class, up to its closing bracket.
function members(kind, prefix, visible) {
  while (p <= n && tok[p] != "}") {
    if (tok[p] == ";") ++p
    else if (kind == "class" && tok[p] ~ /^(public|private|protected)$/ && tok[p + 1] == ":") {
      visible = tok[p] == "public"
      p += 2
    } else if (tok[p] == "namespace" || tok[p] == "inline" && tok[p + 1] == "namespace") a_namespace(kind, prefix)
    else declaration(kind, prefix, visible)
  }
}

function a_namespace(kind, prefix,   name, first) {
  if (tok[p] == "inline") ++p
  first = ++p
  while (tok[p] != "{" && tok[p] != "=" && tok[p] != ";") name = name tok[p++]
  if (tok[p] != "{") {  # an alias
    if (kind == "cumulus") declares(prefix name, "name", at[first])
    while (tok[p] != ";") ++p
    return
  }
  if (kind == "global" && name !~ /^cumulus(::|$)/ || name ~ /(^|::)detail(::|$)/) {
    skip()
    return
  }
  sub(/^cumulus(::)?/, "", name)
  if (name != "") prefix = prefix name "::"
  ++p
  members("cumulus", prefix, 1)
  if (tok[p] == "}") ++p
}

# One declaration, with its body.
function declaration(kind, prefix, visible,   first, head, end, is_class, is_function, init_list, base, equals, deleted, friendly, i, name, what) {
  first = p
  # Constraints may name detail; so only what follows them is the head.
  while (tok[p] == "template" || tok[p] == "requires" || tok[p] == "[" && tok[p + 1] == "[") {
    if (tok[p] == "requires") constraint()
    else if (tok[p] == "[") skip()
    else {
      ++p
      if (tok[p] == "<") skip_angles()
      else {  # an explicit instantiation declares nothing
        while (p <= n && tok[p] != ";") ++p
        return
      }
    }
  }
  head = p
  while (tok[p] ~ /^(inline|constexpr|static|extern|friend|explicit|consteval|constinit|virtual)$/) {
    if (tok[p] == "friend") friendly = 1
    ++p
  }
  what = tok[p]
  is_class = what ~ /^(class|struct|union|enum)$/
  if (what == "static_assert" || what == "using" && tok[p + 1] == "namespace" || is_class && friendly) {
    while (p <= n && tok[p] != ";") ++p
    return
  }
  end = 0  # of what is checked for detail
  nholes = 0
  for (; p <= n; ++p) {
    if (tok[p] == ";") break
    if (tok[p] == "}") {
      fault_at(file, at[p], "a declaration without its end")
      break
    }
    if (tok[p] == "(" || tok[p] == "[") {
      if (tok[p] == "(" && tok[p - 1] != "decltype" && tok[p - 1] != "alignas") is_function = is_function || !equals && !is_class
      i = p
      skip()
      if (tok[i - 1] == "noexcept") hole(i, p)
      --p
    } else if (tok[p] == "requires" && !equals) {
      i = p
      constraint()
      hole(i, p)
      --p
    } else if (tok[p] == "=" && tok[p - 1] != "operator" && !equals) {
      equals = p
      if (what != "using" && !end) end = p
      if (tok[p + 1] == "delete") deleted = 1
    } else if (tok[p] == ":" && !equals && (is_class || is_function) && !init_list) {
      init_list = 1
      if (!end) end = p
    } else if (tok[p] == "{") {
      if (is_class) {
        if (!end) end = p
        name = class_name(head)
        if (kind == "cumulus" && name != "") declares(prefix name, "name", at[head])
        if (visible && kind != "global" && what != "enum") {
          ++p
          members("class", "", what != "class")
          if (tok[p] == "}") ++p
        } else skip()
        while (p <= n && tok[p] != ";") ++p
        return
      }
      i = p
      skip()
      if (is_function && !equals && !(init_list && tok[i - 1] ~ /^([A-Za-z_].*|>)$/)) {
        if (!end) end = i
        break
      }
      if (!end) end = i
      --p
    }
  }
  if (!end) end = p
  if (visible && kind != "global" && !deleted && what != "concept" && !is_class) no_detail(head, end, kind == "cumulus" ? what : "")
  if (kind != "cumulus" || is_class) return
  name = declared_name(head, end)
  if (name == "") return
  declares(prefix name, !is_function && what != "using" && what != "concept" && is_number(head, end) ? "constant" : "name", at[head])
}

function hole(from, to) {
  hole_from[++nholes] = from
  hole_to[nholes] = to
}

# The aliases that exist so that signatures need not name detail.
function is_vocabulary(name) { return name ~ /^(scalar_of|result_of|result_like|result_list|result_per_line)$/ }

function no_detail(from, to, what,   i, k) {
  if (what == "using" && is_vocabulary(tok[from + 1])) return
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

function class_name(from,   i) {
  for (i = from; tok[i] ~ /^(class|struct|union|enum|inline|constexpr)$/; ++i) {}
  while (tok[i] == "[") i = after_bracket(i)
  if (tok[i + 1] == "<" || tok[i + 1] == "::") return ""  # a specialisation, or defined elsewhere
  return tok[i]
}

# The name that a function, variable, alias or concept declares; none for an operator or what was declared before.
function declared_name(from, to,   i) {
  for (i = from; tok[i] ~ /^(inline|constexpr|static|extern|consteval|constinit)$/; ++i) {}
  if (tok[i] == "concept") return tok[i + 1]
  if (tok[i] == "using") {
    if (tok[i + 2] == "=" || tok[i + 2] == "[") return tok[i + 1]
    while (i + 1 <= n && tok[i + 1] != ";") ++i
    return tok[i]
  }
  for (; i < to; ++i) {
    if (tok[i] == "operator") return ""
    if (tok[i] == "[" && tok[i + 1] == "[" || tok[i - 1] == "decltype" || tok[i - 1] == "alignas") i = after_bracket(i) - 1
    else if (tok[i] == "<") i = after_angles(i) - 1
    else if (tok[i] == "(") break
  }
  return tok[i - 1] ~ /^[A-Za-z_]/ && tok[i - 2] != "::" ? tok[i - 1] : ""
}

# A variable whose type is a number's.
function is_number(from, to,   i, text) {
  for (i = from; i < to - 1; ++i) text = text " " tok[i]
  return text ~ / (int|double|float|bool|index_t|size_t|uint[0-9]+_t|int[0-9]+_t|long|unsigned)$/ && text ~ / constexpr /
}

# --- Brackets ---------------------------------------------------------------------------------------------------------------

function after_bracket(i,   depth) {
  for (; i <= n; ++i) {
    if (tok[i] ~ /^[({[]$/) ++depth
    else if (tok[i] ~ /^[])}]$/ && --depth == 0) return i + 1
  }
  return i
}
function after_angles(i,   depth) {
  for (; i <= n; ++i) {
    if (tok[i] ~ /^[({[]$/) i = after_bracket(i) - 1
    else if (tok[i] == "<") ++depth
    else if (tok[i] == ">" && --depth == 0) return i + 1
    else if (tok[i] == ">=" && --depth == 0) {  # of `class = std::enable_if_t<...>=`: the sign begins what follows
      return i
    }
  }
  return i
}
function skip() { p = after_bracket(p) }
function skip_angles() { p = after_angles(p) }

# requires C<X> && (D<X> || E<X>), up to what it constrains.
function constraint() {
  ++p
  do {
    if (tok[p] == "&&" || tok[p] == "||") ++p
    if (tok[p] == "requires") {
      ++p
      if (tok[p] == "(") skip()
      skip()
    } else if (tok[p] == "(") skip()
    else
      while (tok[p] ~ /^([A-Za-z_].*|::|<)$/) {
        if (tok[p] == "<") skip_angles()
        else ++p
        if (tok[p] != "::" && tok[p] != "<" && tok[p - 1] != "::") break
      }
  } while (tok[p] == "&&" || tok[p] == "||")
}
