# SPDX-License-Identifier: MIT
#
# The tables of docs/options.md, from the headers: a row for each function, a column for each option, in the cell its default.
#   awk -f tests/cpp.awk -f docs/options.awk docs/options.md $(find include/cumulus -name '*.hpp') > new.md
#   awk -v check=1 ...    fails where the page is not what it would be, or where options types differ in order, type or default
#
# A table stands below a heading `## LAYER`; the rest of the page is copied.
BEGIN { for (i = split("weights mask scale sink degenerate", word, " "); i > 0; --i) place[word[i]] = i }
FNR == 1 {
  if (file != "" && !is_page) header_ends()
  file = FILENAME
  is_page = file ~ /\.md$/
  layer = file
  sub(/^.*include\/cumulus\//, "", layer)
  sub(/\/.*/, "", layer)
  n = in_comment = in_directive = 0
}
is_page {
  page[++page_lines] = $0
  page_file = file
  next
}
{ tokens_of($0) }
END {
  if (file != "" && !is_page) header_ends()
  for (i = 1; i <= page_lines; ++i) {
    if (page[i] ~ /^## /) heading = substr(page[i], 4)
    if (page[i] ~ /^\|/) {
      if (page[i - 1] !~ /^\|/) table_of(heading)
    } else written[++written_lines] = page[i]
  }
  compare_types()
  if (check) {
    for (i = 1; i <= page_lines || i <= written_lines; ++i)
      if (page[i] != written[i]) fault_at(page_file, i, "should be: " written[i])
  } else {
    for (i = 1; i <= written_lines; ++i) print written[i]
  }
  exit faults > 0
}

function fault_at(where, line, text) {
  printf "%s:%d: %s\n", where, line, text >"/dev/stderr"
  ++faults
}

# --- What the headers say ---------------------------------------------------------------------------------------------------

function is_options(name) { return name ~ /(^|_)options$/ }

# The options among a function's parameters; one may be named so.
function takes(name, from, to,   i) {
  while (from < to && tok[from] != "(") ++from
  for (i = from; i < to; ++i)
    if (is_options(tok[i]) && tok[i + 1] ~ /^([<&>]|[a-z_]+)$/ && !taken[name, tok[i]]++) {
      row_layer[++rows] = layer
      row_name[rows] = name
      row_type[rows] = tok[i]
    }
}

function declares(name, kind, from, to) {
  if (kind == "function") takes("`" name "`", from, to)
}

# A constructor, or a member function.
function public_declaration(scope, what, from, to, class,   name) {
  if (scope != "class" || is_options(class)) return
  name = declared_name(from, to)
  if (name == class) takes("`" class "`, made", from, to)
  else if (name != "") takes("`" class "::" name "`", from, to)
}

function data_member(class, name, from, to,   i, type, value, k) {
  if (!is_options(class)) return
  for (i = from; tok[i + 1] != "=" && tok[i + 1] != "{" && tok[i + 1] != ";"; ++i) type = type (type ~ /[A-Za-z0-9]$/ && tok[i] ~ /^[A-Za-z0-9]/ ? " " : "") tok[i]
  if (tok[i + 1] == "=") {
    for (i += 2; tok[i] != ";"; ++i) value = value (value ~ /[A-Za-z0-9]$/ && tok[i] ~ /^[A-Za-z0-9]/ ? " " : "") literal[i]
  } else if (tok[i + 1] == "{") {
    for (i += 2; tok[i] != "}"; ++i) value = value literal[i]
    if (value == "") value = "–"
  }
  k = ++members_of[class]
  member_name[class, k] = name
  member_at[class, k] = at[from]
  member_file[class, k] = file
  member_type[class, name] = type
  member_value[class, name] = value
}

# A default as a reader says it.
function said(value) {
  if (value == "1.0") return "1"
  if (value == "nullptr") return "–"
  if (value ~ /^std::numeric_limits<[a-z]+>::infinity\(\)$/) return "∞"
  if (value ~ /^-std::numeric_limits<[a-z]+>::infinity\(\)$/) return "−∞"
  if (value ~ /^std::numeric_limits<[a-z_]+>::max\(\)$/) return "all"
  sub(/^std::size_t\(1\)<<30$/, "1 GiB", value)
  sub(/^([a-z_0-9]+::)+/, "", value)
  return value
}

# --- The page -----------------------------------------------------------------------------------------------------------------

# The one order of the members: what is given with x, what only some types have, how it runs.
function rank(name) {
  if (name == "threads") return 7
  if (name == "executor") return 8
  return index(" weights mask scale sink degenerate ", " " name " ") ? place[name] : 6
}

function table_of(heading,   r, k, c, name, type, count, column, has, line, rule) {
  for (r = 1; r <= rows; ++r) {
    if (row_layer[r] != heading) continue
    type = row_type[r]
    for (k = 1; k <= members_of[type]; ++k) has[member_name[type, k]] = 1
  }
  for (c = 1; c <= 8; ++c)  # by rank; within one, as they first occur
    for (r = 1; r <= rows; ++r) {
      if (row_layer[r] != heading) continue
      for (k = 1; k <= members_of[row_type[r]]; ++k) {
        name = member_name[row_type[r], k]
        if (rank(name) == c && has[name]) {
          column[++count] = name
          has[name] = 0
        }
      }
    }
  line = "| function | options |"
  rule = "|---|---|"
  for (c = 1; c <= count; ++c) {
    line = line " `." column[c] "` |"
    rule = rule "---|"
  }
  written[++written_lines] = line
  written[++written_lines] = rule
  for (r = 1; r <= rows; ++r) {
    if (row_layer[r] != heading) continue
    type = row_type[r]
    line = "| " row_name[r] " | `" type "` |"
    for (c = 1; c <= count; ++c) line = line " " ((type, column[c]) in member_value ? said(member_value[type, column[c]]) : "") " |"
    written[++written_lines] = line
  }
}

# One order of members in all options types, and one type for a name: a matrix's options may have a value for each element or line
# where a vector's have one, and what need not be given is optional.
function compare_types(   type, k, name, kind) {
  for (type in members_of)
    for (k = 1; k <= members_of[type]; ++k) {
      name = member_name[type, k]
      if (k > 1 && rank(name) < rank(member_name[type, k - 1]))
        fault_at(member_file[type, k], member_at[type, k], type " has " name " after " member_name[type, k - 1])
      kind = member_type[type, name]
      sub(/^(cumulus::)?(vector|matrix)_option</, "option<", kind)
      sub(/^(line_option|std::optional<double>)$/, "double", kind)
      sub(/^std::optional<(cumulus::)?window>$/, "window", kind)
      if (name == "bias" || name == "logsumexp") kind = ""
      if (name in kind_of && kind_of[name] != kind)
        fault_at(member_file[type, k], member_at[type, k], type "::" name " is of another type than in " kind_from[name])
      kind_of[name] = kind
      kind_from[name] = type
    }
}
