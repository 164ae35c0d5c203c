// SPDX-License-Identifier: MIT
//
// The definitions about a constant c, in any arithmetic: for values whose exponential leaves even `wide`, and in
// long double where 50 digits take too long. Wide holds every difference of two values here exactly.
#pragma once

#include <cmath>
#include <vector>

#include "wide.hpp"

namespace oracle {

/// The largest element that is not infinite, 0 if there is none: a good c.
template <class T>
[[nodiscard]] T centre(const std::vector<T>& x) {
  T c = 0;
  bool found = false;
  for (const T& v : x) {
    if (v - v == 0 && (!found || v > c)) c = v, found = true;
  }
  return c;
}

/// e^{x_i - c} w_i; 0 for x_i = -inf.
template <class Wide = wide, class T>
[[nodiscard]] std::vector<Wide> exp_terms(const std::vector<T>& x, const T& c,
                                          const std::vector<T>& w = {}) {
  using std::exp;
  std::vector<Wide> terms(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const Wide factor = w.empty() ? Wide(1) : Wide(w[i]);
    terms[i] = x[i] - x[i] == 0 ? Wide(factor * exp(Wide(x[i]) - Wide(c))) : Wide(0);
  }
  return terms;
}

template <class Wide>
[[nodiscard]] Wide total(const std::vector<Wide>& terms) {
  Wide sum = 0;
  for (const Wide& v : terms) sum += v;
  return sum;
}

template <class Wide = wide, class T>
[[nodiscard]] Wide shifted_logsumexp(const std::vector<T>& x, const std::vector<T>& w = {}) {
  using std::log;
  const T c = centre(x);
  return Wide(c) + log(total(exp_terms<Wide>(x, c, w)));
}

template <class Wide = wide, class T>
[[nodiscard]] std::vector<Wide> shifted_softmax(const std::vector<T>& x,
                                                const std::vector<T>& w = {}) {
  std::vector<Wide> out = exp_terms<Wide>(x, centre(x), w);
  const Wide sum = total(out);
  for (Wide& v : out) v /= sum;
  return out;
}

}  // namespace oracle
