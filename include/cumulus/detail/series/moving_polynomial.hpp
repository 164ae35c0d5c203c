// SPDX-License-Identifier: MIT
//
// The factor that a weight has in a truncated softmax or gradient, and how it changes as x moves.
// Layer 3 (series): uses core, loops, moments and series; series_derivatives builds on it.
//
// The factor is a polynomial in y whose coefficients depend on the moments. As x moves along v, y_i
// moves by v_i - v', v' the mean of v, and m_k = E y^k/k! by
//
//     n_{k-1} = E (y^{k-1}/(k-1)!) (v - v'),
//
// so that p(y_i) moves by p'(y_i) (v_i - v') + q(y_i), q having the changes of the coefficients.
//
//     taylor, degree D     a_j = (r_0 + .. + r_{D-j}) / j!; r = 1/m changes by -r r n (a product of
//                          series). It is the gradient of logsumexp's order D + 1.
//     moment, gradient     of mean + log M_P: 1 + (E_{P-1}(y) - M_{P-1}) / M_P, E_P the truncated
//                          exponential and M_P its mean
//     moment, softmax      E_P(y) / M_P: another function
#pragma once

#include <cumulus/detail/rows/horner.hpp>
#include <cumulus/detail/series/power_series.hpp>
#include <cumulus/moments/central_moments.hpp>
#include <cumulus/series/form.hpp>
#include <array>

namespace cumulus::detail {

template <class S>
using order_numbers = std::array<S, max_series_order + 2>;

/// Zeros by name: S() of an autodiff scalar is not set.
template <class S>
[[nodiscard]] order_numbers<S> zeros() {
  order_numbers<S> out;
  out.fill(S(0));
  return out;
}

/// A vector, its weights and its moments: what the derivatives are made of.
template <class T>
struct series_place {
  using S = compute_scalar<T>;
  using numbers = order_numbers<S>;

  kernels::terms<T> t;
  S weight;
  compensated<S> mean;
  numbers m = zeros<S>(), factorial = zeros<S>();

  template <class M>
  series_place(const kernels::terms<T>& terms, const M& moments, int order)
      : t(terms), weight(moments.weight()), mean(mean_pair(moments)) {
    m[0] = factorial[0] = factorial[1] = S(1);
    for (int k = 2; k <= order + 1; ++k)
      factorial[std::size_t(k)] = factorial[std::size_t(k) - 1] * S(k);
    for (int k = 2; k <= order; ++k)
      m[std::size_t(k)] = moments.moment(k) / factorial[std::size_t(k)];
  }

  /// sum_i (w_i/W) f(i, y_i)
  template <class Function>
  [[nodiscard]] S expectation(Function f) const {
    compensated<S> sum;
    each([&](index_t i, const S& w, const S& y) { sum += S(w * f(i, y)); });
    return sum.value();
  }

  /// visit(i, w_i/W, y_i) of every element that takes part.
  template <class Visit>
  void each(Visit visit) const {
    for (index_t i = 0; i < t.size(); ++i) {
      if (t.takes_part(i))
        visit(i, S(t.weight(i) / weight), S((t.exponent(i) - mean.high) - mean.low));
    }
  }

  /// n_0..n_highest; v holds v - v'.
  [[nodiscard]] numbers cross_moments(const std::vector<S>& v, int highest) const {
    std::array<compensated<S>, max_series_order + 2> sums{};
    each([&](index_t i, const S& w, const S& y) {
      S power = w * v[std::size_t(i)];
      for (int k = 1; k <= highest; ++k) sums[std::size_t(k)] += power *= y / S(k);
    });
    numbers n = zeros<S>();
    for (int k = 1; k <= highest; ++k) n[std::size_t(k)] = sums[std::size_t(k)].value();
    return n;
  }

  /// sum_{k <= order} of the m_k.
  [[nodiscard]] S total(int order) const {
    S sum(0);
    for (int k = order; k >= 0; --k) sum += m[std::size_t(k)];
    return sum;
  }
};

/// A polynomial in y and how its coefficients change along v.
template <class S>
struct moving_polynomial {
  order_numbers<S> a = zeros<S>(), rate = zeros<S>();
  int order = 0;

  [[nodiscard]] S operator()(const S& y) const { return kernels::horner(a.data(), order, y); }
  /// p'(y) step + q(y)
  [[nodiscard]] S change(const S& y, const S& step) const {
    S slope(0);
    for (int j = order; j > 0; --j) slope = slope * y + S(j) * a[std::size_t(j)];
    return slope * step + kernels::horner(rate.data(), order, y);
  }
};

/// The truncated softmax of this degree; `n` is null where no direction is asked for.
template <class T, class S = compute_scalar<T>>
[[nodiscard]] moving_polynomial<S> taylor_factor(const series_place<T>& at, int degree,
                                                 const typename series_place<T>::numbers* n) {
  moving_polynomial<S> p;
  p.order = degree;
  const std::size_t size = std::size_t(degree) + 1;
  auto r = zeros<S>(), square = r, change = r, product = r;
  const auto head = [&](auto& a) { return std::span(a).first(size); };
  series_reciprocal(head(at.m), head(r));
  if (n != nullptr) {
    series_product(head(r), head(r), head(square));
    for (std::size_t k = 2; k < size; ++k) change[k] = (*n)[k - 1];
    series_product(head(square), head(change), head(product));
  }
  S total(0), rate(0);
  for (std::size_t j = size; j-- > 0;) {
    total += r[size - 1 - j];
    rate -= product[size - 1 - j];
    p.a[j] = total / at.factorial[j];
    p.rate[j] = rate / at.factorial[j];
  }
  return p;
}

/// E_P(y) / M_P.
template <class T, class S = compute_scalar<T>>
[[nodiscard]] moving_polynomial<S> moment_factor(const series_place<T>& at, int order,
                                                 const typename series_place<T>::numbers& n) {
  moving_polynomial<S> p;
  p.order = order;
  const S total = at.total(order);
  S change(0);
  for (int k = 2; k <= order; ++k) change += n[std::size_t(k) - 1];
  for (std::size_t j = 0; j <= std::size_t(order); ++j) {
    p.a[j] = S(1) / (total * at.factorial[j]);
    p.rate[j] = -change / total * p.a[j];
  }
  return p;
}

/// The factor of the gradient of the value, of form::moment or of the two others. Requires the
/// order that the form evaluates.
template <class T, class S = compute_scalar<T>>
[[nodiscard]] moving_polynomial<S> gradient_factor(const series_place<T>& at, int terms, form f,
                                                   const typename series_place<T>::numbers* n) {
  moving_polynomial<S> p;
  if (terms < 2) {
    p.a[0] = S(1);  // of the mean
    return p;
  }
  if (f != form::moment) return taylor_factor(at, terms - 1, n);
  p.order = terms - 1;
  const S total = at.total(terms), top = at.m[std::size_t(terms)];
  S change(0);
  for (int k = 2; n != nullptr && k <= terms; ++k) change += (*n)[std::size_t(k) - 1];
  const S rate = -change / (total * total);
  for (int j = 0; j <= p.order; ++j) {
    p.a[std::size_t(j)] = (j == 0 ? S(1) + top : S(1)) / (total * at.factorial[std::size_t(j)]);
    p.rate[std::size_t(j)] = (j == 0 ? S(1) + top : S(1)) * rate / at.factorial[std::size_t(j)];
  }
  if (n != nullptr) p.rate[0] += (*n)[std::size_t(terms) - 1] / total;
  return p;
}

/// K_P = sum_{2 <= k <= order} c_k.
template <class T, class S = compute_scalar<T>>
[[nodiscard]] S normaliser_of(const series_place<T>& at, int order) {
  const std::size_t size = std::size_t(order) + 1;
  auto c = zeros<S>();
  series_logarithm(std::span(at.m).first(size), std::span(c).first(size));
  S sum(0);
  for (std::size_t k = 2; k < size; ++k) sum += c[k];
  return sum;
}

}  // namespace cumulus::detail
