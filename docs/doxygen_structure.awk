# SPDX-License-Identifier: MIT
#
# The structure of the header `path` for Doxygen, public headers only. Prose is marked by "///~", for doxygen_math.sed.
#
#   // first lines          the topic of the header, in that of its layer
#   /// Shape   text        a paragraph with that title
#   ///     a = b           a block as it stands
#   namespace detail        left out

BEGIN {
  label = "(Shape|Units|Requires|Edges|Error|Cost|Source|Status|Threads)"
  labels = "^" label "(, " label ")* "
}

FNR == 1 {
  n = split(path, part, "/")
  layer = part[n - 1]
  name = part[n]
  sub(/\.hpp$/, "", name)
  topic = layer "_" name
  heading = 1
}

# The comment at the top.
heading && /^\/\// {
  text = substr($0, 4)
  if (text !~ /^SPDX/) about = about "\n" text
  next
}
heading {
  heading = 0
  print "/** @defgroup " topic " " layer "/" name ".hpp"
  print "@ingroup " layer
  in_code = 0
  count = split(about, line, "\n")
  started = 0
  for (i = 1; i <= count; ++i) {
    if (line[i] ~ /^    /) {
      if (!in_code) print "@code{.unparsed}"
      in_code = 1
      print line[i]
      continue
    }
    if (in_code) print "@endcode"
    in_code = 0
    if (line[i] ~ /^Layer [0-9]/) print ""
    if (line[i] != "") print "///~!" (started ? "" : "@brief ") prose(line[i])
    else print ""
    if (line[i] != "") started = 1
  }
  if (in_code) print "@endcode"
  print ""
  print "@code{.cpp}"
  if (layer ~ /^(exact|moments|series|blocks|attention)$/) print "#include <cumulus/" layer ".hpp>  // or alone: <cumulus/" layer "/" name ".hpp>"
  else print "#include <cumulus/" layer "/" name ".hpp>"
  print "@endcode"
  print "*/"
}

# Internals.
/^namespace [a-z:]*detail \{/ {
  if ($0 !~ /\}/) hidden = 1
  next
}
hidden && /^\}.*namespace [a-z:]*detail/ {
  hidden = 0
  next
}
hidden { next }

/^namespace [a-z:]+ \{$/ && !grouped {
  print
  print "/// @addtogroup " topic
  print "/// @{"
  grouped = 1
  next
}
/^\}.*namespace cumulus/ && grouped == 1 {
  print "/// @}"
  grouped = 2
}

# Doxygen 1.9.4 takes a clause at the end of a declaration for its name.
{ gsub(/ requires\([^()]*\) = default;/, " = default;") }

/^ *\/\/\/( |$)/ {
  indent = $0
  sub(/\/\/\/.*/, "", indent)
  text = $0
  sub(/^ *\/\/\/ ?/, "", text)
  if (text ~ labels) {
    close_block()
    title = text
    match(title, labels)
    rest = substr(title, RLENGTH + 1)
    title = substr(title, 1, RLENGTH - 1)
    sub(/^ +/, "", rest)
    print indent "///"
    print indent "/// @par " title
    print indent "///~ " prose(rest)
    labelled = 1
    next
  }
  if (text == "") {
    close_block()
    labelled = 0
    print
    next
  }
  if (!labelled && text ~ /^    /) {
    if (!block) print indent "/// @code{.unparsed}"
    block = 1
    print indent "/// " text
    next
  }
  close_block()
  sub(/^ +/, "", text)
  print indent "///~ " prose(text)
  next
}
{
  close_block()
  labelled = 0
  if ($0 ~ /\/\/\/</) {
    at = index($0, "///<")
    print substr($0, 1, at + 3) "~" prose(substr($0, at + 4))
  } else {
    print
  }
}
END { close_block() }

function close_block() {
  if (block) print indent "/// @endcode"
  block = 0
}

# What Markdown, HTML and the end of a brief would take for theirs; not within backticks.
function prose(text, pieces, k, i, out) {
  k = split(text, pieces, "`")
  if (k % 2 == 0) return text
  for (i = 1; i <= k; i += 2) {
    gsub(/&/, "\\&amp;", pieces[i])
    gsub(/</, "\\&lt;", pieces[i])
    gsub(/>/, "\\&gt;", pieces[i])
    gsub(/\*/, "\\\\*", pieces[i])
    gsub(/#/, "\\#", pieces[i])
    gsub(/@/, "\\@", pieces[i])
    gsub(/\.\.\.?/, "…", pieces[i])
    gsub(/ \. /, " · ", pieces[i])
  }
  out = pieces[1]
  for (i = 2; i <= k; ++i) out = out "`" pieces[i]
  return out
}
