// SPDX-License-Identifier: MIT
//
// The definitions themselves, in 50 digits: no shift, no recurrence, nothing the library does.
#pragma once

#include <vector>

#include "wide.hpp"

namespace oracle {

/// W = sum w; ones where there are no weights.
template <class T>
[[nodiscard]] wide weight(const std::vector<T>& x, const std::vector<T>& w = {}) {
  if (w.empty()) return wide(x.size());
  wide sum = 0;
  for (const T& v : w) sum += wide(v);
  return sum;
}

/// sum w e^x, unshifted: the exponent range of `wide` holds any double.
template <class T>
[[nodiscard]] wide exp_sum(const std::vector<T>& x, const std::vector<T>& w = {}) {
  wide sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    sum += (w.empty() ? wide(1) : wide(w[i])) * exp(wide(x[i]));
  return sum;
}

template <class T>
[[nodiscard]] wide logsumexp(const std::vector<T>& x, const std::vector<T>& w = {}) {
  return log(exp_sum(x, w));
}

template <class T>
[[nodiscard]] std::vector<wide> softmax(const std::vector<T>& x, const std::vector<T>& w = {}) {
  const wide sum = exp_sum(x, w);
  std::vector<wide> out(x.size());
  for (std::size_t i = 0; i < x.size(); ++i)
    out[i] = (w.empty() ? wide(1) : wide(w[i])) * exp(wide(x[i])) / sum;
  return out;
}

template <class T>
[[nodiscard]] wide mean(const std::vector<T>& x, const std::vector<T>& w = {}) {
  wide sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += (w.empty() ? wide(1) : wide(w[i])) * wide(x[i]);
  return sum / weight(x, w);
}

/// The central moment of order p, and the same of |y|: what errors are measured against.
struct moment_pair {
  wide signed_value, absolute_value;
};

/// Orders 0..order.
template <class T>
[[nodiscard]] std::vector<moment_pair> central_moments(const std::vector<T>& x, int order,
                                                       const std::vector<T>& w = {}) {
  const wide centre = mean(x, w), total = weight(x, w);
  std::vector<moment_pair> out(static_cast<std::size_t>(order) + 1);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const wide y = wide(x[i]) - centre;
    wide power = w.empty() ? wide(1) : wide(w[i]);
    for (moment_pair& m : out) {
      m.signed_value += power;
      m.absolute_value += abs(power);
      power *= y;
    }
  }
  for (moment_pair& m : out) m.signed_value /= total, m.absolute_value /= total;
  return out;
}

}  // namespace oracle
