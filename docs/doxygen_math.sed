# SPDX-License-Identifier: MIT
#
# The mathematics of the lines that doxygen_structure.awk has marked: x_i, e^{-x}, <=, mu, inf.
/\/\/\/<?~/!b
/`/b unmark
# The constants that errors are stated by.
s/\b([a-z][a-z_]*_max_(ulp|roundings))\b/@ref cumulus::\1 "\1"/g
s/&lt;=/≤/g
s/&gt;=/≥/g
s/!=/≠/g
s/ \+- / ± /g
s/([^A-Za-z0-9_])-inf\b/\1−∞/g
s/\binf\b/∞/g
s/\bpi\b/π/g
s/\bmu_/μ_/g
s/\bkappa_/κ_/g
s/\bsigma\b/σ/g
s/\blambda\(/λ(/g
s/ - / − /g
s/\bsum_(\{|[a-z]\b)/Σ_\1/g
s/\bprod_(\{|[a-z]\b)/Π_\1/g
s/\bsoftmax_([a-z])\(/softmax<sub>\1<\/sub>(/g
# Indices: of one letter, or of sum, max, ...
:index
s/(^|[^A-Za-z0-9_])([A-Za-zμκΣΠσ]|max|min)_([a-z]{1,2}|order|[A-Z0-9])([^A-Za-z0-9_{]|$)/\1\2<sub>\3<\/sub>\4/
t index
s/([A-Za-zμκΣΠσ])_\{([^{}]*)\}/\1<sub>\2<\/sub>/g
# Exponents.
s/\^\{([^{}]*)\}/<sup>\1<\/sup>/g
s/\^\(([^()]*)\)/<sup>\1<\/sup>/g
s/\^([-+−]?[A-Za-z0-9]+(<sub>[^<]*<\/sub>)?)/<sup>\1<\/sup>/g
:unmark
s/(\/\/\/<?)~/\1/
s/^\/\/\/!//
