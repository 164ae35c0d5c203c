// SPDX-License-Identifier: MIT
//
// The monomials of a vector up to an order, each once, and the weights that make their inner product a truncated
// exponential.
// Layer 5 (attention): uses core and moments; linear attention builds on it.
//
//     sum_{j<=P} (q k)^j / j!  =  sum_f  w_f phi_f(q) phi_f(k)
//
// phi: 1; x_i; x_i x_j, i <= j; x_i x_j x_l, i <= j <= l; .. in that order, a degree after the other, and w_f = 1 / (the
// product of the factorials of the multiplicities in f): j! / (that product) orderings of a monomial, over j!.
#pragma once

#include <cumulus/attention/linear_options.hpp>
#include <cumulus/core/results.hpp>
#include <cumulus/detail/core/require.hpp>
#include <cumulus/detail/core/view.hpp>
#include <cumulus/detail/moments/packed_symmetric.hpp>
#include <cumulus/detail/simd/features.hpp>
#include <Eigen/Core>
#include <algorithm>
#include <vector>

namespace cumulus::detail {

/// The highest order of the features.
inline constexpr int max_feature_order = linear_attention_max_order;

/// How many monomials d variables have up to this order: binomial(d + order, order); the greatest index_t where that does not
/// fit.
[[nodiscard]] constexpr index_t feature_count(index_t d, int order) noexcept {
  if (d == std::numeric_limits<index_t>::max()) return order > 0 ? d : 1;
  return packed_count(d + 1, order);  // a variable more, which is 1
}

/// Where the monomials of d variables up to an order stand.
class feature_layout {
 public:
  feature_layout(index_t d, int order) : d_(d), order_(order) {
    const auto stride = std::size_t(d + 1);
    starts_.assign(std::size_t(order + 1) * stride, 0);
    first_.assign(std::size_t(order) + 2, 0);
    first_[1] = 1;
    for (int p = 1; p <= order; ++p) {
      // led by x_i: as many as monomials of one degree less led by x_i or later
      index_t at = 0;
      for (index_t i = 0; i < d; ++i) {
        starts_[std::size_t(p) * stride + std::size_t(i)] = at;
        at += p == 1 ? 1 : size(p - 1) - start(p - 1, i);
      }
      starts_[std::size_t(p) * stride + std::size_t(d)] = at;
      first_[std::size_t(p) + 1] = first_[std::size_t(p)] + at;
    }
  }

  [[nodiscard]] index_t width() const noexcept { return d_; }
  [[nodiscard]] int order() const noexcept { return order_; }
  [[nodiscard]] index_t count() const noexcept { return first_[std::size_t(order_) + 1]; }
  /// The first feature of a degree, and how many there are.
  [[nodiscard]] index_t first(int degree) const noexcept { return first_[std::size_t(degree)]; }
  [[nodiscard]] index_t size(int degree) const noexcept {
    return first_[std::size_t(degree) + 1] - first_[std::size_t(degree)];
  }
  /// Within a degree of 1 or more, the first feature led by x_i; i = d: their number.
  [[nodiscard]] index_t start(int degree, index_t i) const noexcept { return starts(degree)[i]; }
  [[nodiscard]] const index_t* starts(int degree) const noexcept {
    return starts_.data() + degree * (d_ + 1);
  }

  /// The feature of x_{i_1} .. x_{i_p}, p >= 1. Requires i ascending.
  [[nodiscard]] index_t position(const index_t* i, int degree) const noexcept {
    index_t at = 0;
    for (int p = degree; p >= 1; --p, ++i) at += start(p, *i) - (p > 1 ? start(p - 1, *i) : 0);
    return first(degree) + at;
  }

  /// f(feature, i, degree) for every feature of degree 1 and more, i its variables, ascending.
  template <class Function>
  void for_each(const Function& f) const {
    index_t feature = 1;
    for (int p = 1; p <= order_ && d_ > 0; ++p) {
      std::vector<index_t> i(std::size_t(p), 0);
      for (;;) {
        f(feature++, i.data(), p);
        int last = p - 1;
        while (last >= 0 && i[std::size_t(last)] == d_ - 1) --last;
        if (last < 0) break;
        const index_t next = i[std::size_t(last)] + 1;
        for (int k = last; k < p; ++k) i[std::size_t(k)] = next;
      }
    }
  }

  /// visit(degree, first feature, how many, monomials, stride) for all features of degree 1 and more of n rows of x, in panels
  /// of about `panel` features of one degree: row t's monomials begin at monomials[t stride].
  /// Requires room for scratch(n, panel) numbers.
  template <class T, class Visit>
  void for_each_panel(const T* x, index_t x_stride, index_t n, index_t panel, T* room,
                      const Visit& visit) const noexcept {
    if (order_ < 1 || d_ < 1) return;
    visit(1, index_t(1), d_, x, x_stride);
    const index_t lower = order_ > 2 ? first(order_) - first(2) : 0;  // degrees 2 .. order - 1
    const T* previous = x;
    index_t previous_stride = x_stride;
    for (int p = 2; p <= order_; ++p) {
      const bool kept = p < order_;
      T* const out = room + (kept ? first(p) - first(2) : n * lower);
      const index_t stride = kept ? lower : panel + size(p - 1);
      const index_t* const from = starts(p - 1);
      for (index_t i = 0; i < d_;) {
        index_t end = i + 1;
        while (end < d_ && start(p, end) - start(p, i) < panel) ++end;
        T* const at = kept ? out + start(p, i) : out;
        for (index_t t = 0; t < n; ++t)
          kernels::monomials(x + t * x_stride, previous + t * previous_stride, size(p - 1), from, i,
                             end, at + t * stride);
        visit(p, first(p) + start(p, i), start(p, end) - start(p, i), static_cast<const T*>(at),
              stride);
        i = end;
      }
      previous = out;
      previous_stride = stride;
    }
  }
  [[nodiscard]] index_t scratch(index_t n, index_t panel) const noexcept {
    if (order_ < 2) return 0;
    return n * ((order_ > 2 ? first(order_) - first(2) : 0) + panel + size(order_ - 1));
  }
  /// The most features that a panel can have.
  [[nodiscard]] index_t widest(index_t panel) const noexcept {
    index_t most = d_;
    if (order_ > 1) most = std::max(most, panel + size(order_ - 1));
    return most;
  }

 private:
  index_t d_;
  int order_;
  std::vector<index_t> starts_, first_;
};

/// The weights w_f of the features of d variables.
///
/// Shape   [feature_count(d, order)]; order 0..max_feature_order.
template <class T>
[[nodiscard]] std::vector<T> feature_weights(const feature_layout& layout) {
  std::vector<T> w(std::size_t(layout.count()), T(1));
  layout.for_each([&](index_t f, const index_t* i, int degree) {
    T weight(1);
    int run = 1;
    for (int k = 1; k < degree; ++k) {
      run = i[k] == i[k - 1] ? run + 1 : 1;
      if (run > 1) weight /= T(run);
    }
    w[std::size_t(f)] = weight;
  });
  return w;
}
template <class T>
[[nodiscard]] std::vector<T> feature_weights(index_t d, std::integral auto order) {
  require_order("feature_weights", order, 0, max_feature_order, "linear_attention_max_order");
  return feature_weights<T>(feature_layout(d, int(order)));
}

/// The monomials of a vector up to an order.
///
/// Shape   x: [d], d >= 0; the result [feature_count(d, order)], order 0..max_feature_order.
/// Units   that of x to the degree.
/// Error   degree - 1 roundings.
/// Cost    one multiplication a monomial, from the tail of those of one degree less.
template <real_vector X>
[[nodiscard]] Eigen::Matrix<result_of<X>, Eigen::Dynamic, 1> taylor_features(
    const X& x, std::integral auto order) {
  using T = result_of<X>;
  require_order("taylor_features", order, 0, max_feature_order, "linear_attention_max_order");
  const index_t d = size_of(x);
  const feature_layout layout(d, int(order));
  Eigen::Matrix<T, Eigen::Dynamic, 1> values(d), out(layout.count());
  const operand<scalar_of<X>> given(x);
  for (index_t i = 0; i < d; ++i) values[i] = T(given.view()[i]);
  out[0] = T(1);
  constexpr index_t panel = 64;
  std::vector<T> room(std::size_t(layout.scratch(1, panel)));
  layout.for_each_panel(values.data(), d, 1, panel, room.data(),
                        [&](int, index_t first, index_t count, const T* monomials, index_t) {
                          for (index_t f = 0; f < count; ++f) out[first + f] = monomials[f];
                        });
  return out;
}

}  // namespace cumulus::detail
