# SPDX-License-Identifier: MIT
#
# C++ headers read as text, for awk programs that follow: awk -f tests/cpp.awk -f PROGRAM FILES. Understands brackets, templates'
# heads, requires-clauses and bodies; knows no types, and expands no macro.
#
# A program calls tokens_of(line) for each line of a header, with `n = in_comment = in_directive = 0` before the first, and
# header_ends() after the last. It is called back, about the tokens tok[from] .. tok[to - 1] (of the lines at[from] ..), with
#   declares(name, kind, from, to)            a name in namespace cumulus; kind is function, constant (of a number) or name
#   public_declaration(scope, what, from, to, class)  what anybody may name, but classes and concepts; scope is cumulus or class
#   data_member(class, name, from, to)        a public one
#   fault_at(file, line, text)
# Strings are "", numbers and characters 0 in tok; literal has them as they stand.

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
    literal[n + 1] = t == "0" ? substr(text, 1, RLENGTH) : t
    text = substr(text, RLENGTH + 1)
    tok[++n] = t
    at[n] = FNR
  }
}

# --- Declarations -----------------------------------------------------------------------------------------------------------

function header_ends() {
  tok[n + 1] = tok[n + 2] = ""
  p = 1
  members("global", "", 1)
  if (p <= n) fault_at(file, at[p], "a bracket too many")
}

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
    if (kind == "cumulus") declares(prefix name, "name", first, p)
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
        if (kind == "cumulus" && name != "") declares(prefix name, "name", head, end)
        if (visible && kind != "global" && what != "enum") {
          ++p
          members("class", name, what != "class")
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
  if (visible && kind != "global" && !deleted && what != "concept" && !is_class) public_declaration(kind, what, head, end, prefix)
  if (is_class || deleted && kind == "class") return
  name = declared_name(head, end)
  if (name == "") return
  if (kind == "class" && visible && !is_function && what != "using") data_member(prefix, name, head, end)
  if (kind == "cumulus") declares(prefix name, is_function ? "function" : what != "using" && what != "concept" && is_number(head, end) ? "constant" : "name", head, end)
}

function hole(from, to) {
  hole_from[++nholes] = from
  hole_to[nholes] = to
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
