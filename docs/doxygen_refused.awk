# SPDX-License-Identifier: MIT
#
# A header without its refused overloads, which nobody means to call:
#
#   template <...>
#   void f(...) = delete;  // cumulus: what to write instead
/^ *template/ && !held {
  held = 1
  text = ""
}
held {
  text = text $0 "\n"
  if ($0 ~ /[;{]/) {
    if ($0 !~ /= delete;/) printf "%s", text
    held = 0
  }
  next
}
{ print }
END { if (held) printf "%s", text }
