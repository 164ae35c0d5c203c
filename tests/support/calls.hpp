// SPDX-License-Identifier: MIT
//
// A call with options as plain data, what it means by definition in 50 digits, and how to make it.
#pragma once

#include "any_options.hpp"

#include <cmath>
#include <optional>
#include <vector>

#include "wide.hpp"

template <class T>
struct call {
  std::vector<T> x;
  std::vector<T> weights{};  ///< ones where empty
  std::vector<char> mask{};  ///< all kept where empty
  double scale = 1;
  std::optional<double> sink{};
};

/// f(options) with the options of the call.
template <class T, class Function>
auto with_options(const call<T>& c, Function f) {
  any_options<T> o{.scale = c.scale, .sink = c.sink};
  if (!c.weights.empty()) o.weights.take(c.weights);
  if (!c.mask.empty()) o.mask.take(c.mask);
  return f(o);
}

namespace oracle {

/// The terms of a call of finite numbers: share[i] = w_i e^{scale x_i - shift} / total, the sink's
/// likewise. The shift serves `long double` only; by definition it does not matter.
template <class Wide = wide>
struct distribution {
  std::vector<Wide> share, exponent;  ///< exponent: scale x_i
  Wide sink_share = 0, log_sum = 0, weight = 0;

  template <class T>
  explicit distribution(const call<T>& c) : share(c.x.size()), exponent(c.x.size()) {
    using std::exp;
    using std::log;
    bool any = c.sink.has_value();
    Wide shift = any ? Wide(*c.sink) : Wide(0);
    for (std::size_t i = 0; i < c.x.size(); ++i) {
      exponent[i] = Wide(c.scale) * Wide(c.x[i]);
      if (factor(c, i) == 0) continue;
      const Wide here = exponent[i] + (c.weights.empty() ? Wide(0) : Wide(log(factor(c, i))));
      if (!any || shift < here) shift = here;
      any = true;
    }
    Wide total = 0;
    for (std::size_t i = 0; i < c.x.size(); ++i) {
      const Wide w = factor(c, i), gap = exponent[i] - shift;
      weight += w;
      share[i] = w == 0 || gap < -100000 ? Wide(0) : Wide(w * exp(gap));
      total += share[i];
    }
    if (c.sink.has_value()) {
      const Wide gap = Wide(*c.sink) - shift;
      sink_share = gap < -100000 ? Wide(0) : Wide(exp(gap));
    }
    total += sink_share;
    for (Wide& s : share) s /= total;
    sink_share /= total;
    log_sum = shift + log(total);
  }

  /// Of a share of nearly 1 by what it lacks, which 50 digits of the share itself do not hold.
  [[nodiscard]] Wide log_share(std::size_t i) const {
    using std::log;
    using std::log1p;
    if (!(share[i] > Wide(0.5))) return log(share[i]);
    Wide others = sink_share;
    for (std::size_t j = 0; j < share.size(); ++j) others += j == i ? Wide(0) : share[j];
    return log1p(-others);
  }

 private:
  template <class T>
  [[nodiscard]] static Wide factor(const call<T>& c, std::size_t i) {
    if (!c.mask.empty() && !c.mask[i]) return 0;
    return c.weights.empty() ? Wide(1) : Wide(c.weights[i]);
  }
};

}  // namespace oracle
