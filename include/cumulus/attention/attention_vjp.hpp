// SPDX-License-Identifier: MIT
//
// Gradients of attention in queries, keys and values: exact softmax, and its truncations.
// Layer 5 (attention): uses core, exact and linear attention.
//
// With cotangents g of a query's output and b of its log-sum-exp, a_i = g v_i and u_i = scale q k_i:
//
//     dv_i += p_i g,   dq += scale sum du_i k_i,   dk_i += scale du_i q,
//
//     softmax          du_i = p_i (a_i - o + b),  o = sum p a
//     form::taylor     du_i = (1/W) [t (a_i - O(t)) e^{t y_i} / M(t) at its degrees up to P, t = 1]; O = A / M of sums A = mean
//                      a e^{ty}. So with r = 1/M, R and Q the partial sums of r and of r O:
//                      (1/W) sum_{j<P} y_i^j / j! (a_i R_{P-1-j} - Q_{P-1-j}) + b (the softmax of degree P - 1)
//     form::moment     du_i = E'(y_i) (a_i - o + b) / D, less, where centred, the same summed over W, plus b / W;
//                      E the polynomial, D = sum E(y)
//
// taylor's holds with y about any centre, since joint cumulants do not see it.
#pragma once

#include <cumulus/attention/linear.hpp>
#include <cumulus/detail/core/require_options.hpp>

namespace cumulus {

/// The gradients that attention_vjp and linear_attention_vjp return.
template <class T>
struct attention_gradient {
  /// The type of the three gradients.
  using matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  matrix queries,  ///< of the shape of the queries
      keys,        ///< of the shape of the keys
      values;      ///< of the shape of the values
};

/// Of attention_vjp.
template <class T>
struct attention_vjp_options {
  std::optional<double> scale{};  ///< of q.k, finite; 1 / sqrt(d) if not given
  bool causal = false;            ///< query i sees the keys 0 .. m - n + i
  vector_option<T> logsumexp{};   ///< [n]: the cotangent of the log-sum-exp; 0 if not given
};

namespace detail {

/// Whether a weight or a slope is 0.
template <class C>
[[nodiscard]] bool has_no_part(const C& x) noexcept {
  return !(x < C(0)) && !(C(0) < x) && !is_nan(x);
}

/// p (a - o + b), where that fits though the difference does not.
template <class C>
[[nodiscard]] C weighted_difference(const C& p, const C& a, const C& o, const C& b) noexcept {
  const C difference = a - o + b;
  if (is_finite(difference)) return p * difference;
  return C(2) * (p * (a / C(2) - o / C(2) + b / C(2)));
}

/// One query's scores u and products a: turns them into weights p and du. `visible` of both.
///
/// Edges   as softmax: a weight of 0 removes its key, whatever the products of that key are; one score of +inf takes all,
///         and its weight does not move with any score; several leave NaN at those and 0 elsewhere; a NaN leaves NaN in
///         all.
template <class C>
struct softmax_slopes {
  void operator()(C* u, C* a, index_t visible, const C& b) {
    C top = -infinity<C>, total(0), mean(0);
    bool has_nan = false;
    for (index_t i = 0; i < visible; ++i) {
      top = max_of(top, u[i]);
      has_nan = has_nan || is_nan(u[i]);
    }
    if (!has_nan && !is_finite(top)) return at_infinity(u, a, visible, top, b);
    for (index_t i = 0; i < visible; ++i) total += u[i] = exponential(C(u[i] - top));
    for (index_t i = 0; i < visible; ++i) {
      u[i] /= total;
      if (!has_no_part(u[i])) mean += u[i] * a[i];
    }
    for (index_t i = 0; i < visible; ++i) {
      a[i] = has_no_part(u[i]) ? C(0) : weighted_difference(u[i], a[i], mean, b);
    }
  }

 private:
  static void at_infinity(C* u, C* a, index_t visible, const C& top, const C& b) {
    index_t ties = 0;
    for (index_t i = 0; C(0) < top && i < visible; ++i) ties += u[i] == top ? 1 : 0;
    const C share = ties == 1 ? C(1) : quiet_nan<C>;
    for (index_t i = 0; i < visible; ++i) {
      const bool takes = ties > 0 && u[i] == top;
      u[i] = takes ? share : C(0);
      a[i] = takes ? C(share * b) : C(0);
    }
  }
};

template <class C>
class truncated_slopes {
 public:
  template <class Options>
  explicit truncated_slopes(const Options& o)
      : order_(o.order), form_(o.form), centred_(o.centred || o.form == form::taylor) {
    decay_ = C(o.decay);
    C factorial(1);
    for (int j = 0; j <= order_; ++j) {
      if (j > 0) factorial *= C(j);
      given_[std::size_t(j)] =
          o.polynomial.empty() ? C(1) : C(o.polynomial[std::size_t(j)]) * factorial;
    }
  }

  void operator()(C* u, C* a, index_t visible, const C& b) {
    weights_.resize(std::size_t(visible));
    C total(0), mean(0), age(1);
    for (index_t i = visible; i-- > 0; age *= decay_) {
      weights_[std::size_t(i)] = age;
      total += age;
      mean += age * u[i];
    }
    mean /= total;
    if (centred_) {
      for (index_t i = 0; i < visible; ++i) u[i] -= mean;
    }
    if (form_ == form::taylor) {
      graded(u, a, visible, b, total);
    } else {
      ratio(u, a, visible, b, total);
    }
  }

 private:
  using series = std::array<C, truncated_row<C>::room>;

  /// sum_j x_j y^j / j!, j = 0..order
  [[nodiscard]] static C sum_of(const series& x, int order, const C& y) {
    C sum(0);
    for (int j = order; j >= 0; --j) sum = sum * y / C(j + 1) + x[std::size_t(j)];
    return sum;
  }

  void graded(C* u, C* a, index_t visible, const C& b, const C& total) const {
    const auto P = std::size_t(order_);
    series m{}, joint{}, r{}, o{}, q{};
    for (index_t i = 0; i < visible; ++i) {
      C power = weights_[std::size_t(i)] / total;
      for (std::size_t j = 0; j <= P; ++j) {
        if (j > 0) power *= u[i] / C(int(j));
        m[j] += power;
        joint[j] += power * a[i];
      }
    }
    for (std::size_t k = 0; k <= P; ++k) {
      r[k] = C(k == 0 ? 1 : 0);
      for (std::size_t j = 1; j <= k; ++j) r[k] -= m[j] * r[k - j];
      for (std::size_t j = 0; j <= k; ++j) o[k] += joint[j] * r[k - j];
    }
    for (std::size_t k = 0; k <= P; ++k) {
      for (std::size_t j = 0; j <= k; ++j) q[k] += o[j] * r[k - j];
    }
    // partial sums, from the degree that is left
    series of_p{}, of_slope{}, of_mean{};
    C sum_r(0), sum_q(0);
    for (std::size_t k = 0; k <= P; ++k) {
      of_p[P - k] = sum_r += r[k];
      if (k < P) {
        of_slope[P - 1 - k] = sum_r;
        of_mean[P - 1 - k] = sum_q += q[k];
      }
    }
    if (P == 0) of_slope[0] = C(1);  // of the log-sum-exp, which has the mean at order 0
    const int below = order_ > 0 ? order_ - 1 : 0;
    for (index_t i = 0; i < visible; ++i) {
      const C share = weights_[std::size_t(i)] / total;
      const C slope = sum_of(of_slope, below, u[i]);
      a[i] = P == 0 ? C(share * b * slope)
                    : weighted_difference(share, C(a[i] * slope), sum_of(of_mean, below, u[i]),
                                          C(b * slope));
      u[i] = share * sum_of(of_p, order_, u[i]);
    }
  }

  void ratio(C* u, C* a, index_t visible, const C& b, const C& total) {
    terms_.resize(std::size_t(visible));
    series slope{};
    for (int j = 0; j < order_; ++j) slope[std::size_t(j)] = given_[std::size_t(j) + 1];
    C mass(0), o(0), moved(0);
    for (index_t i = 0; i < visible; ++i)
      mass += terms_[std::size_t(i)] = weights_[std::size_t(i)] * sum_of(given_, order_, u[i]);
    for (index_t i = 0; i < visible; ++i) o += terms_[std::size_t(i)] / mass * a[i];
    for (index_t i = 0; i < visible; ++i) {
      const C d =
          order_ > 0 ? C(weights_[std::size_t(i)] * sum_of(slope, order_ - 1, u[i]) / mass) : C(0);
      u[i] = terms_[std::size_t(i)] / mass;
      a[i] = weighted_difference(d, a[i], o, b);
      moved += a[i];
    }
    if (!centred_) return;
    for (index_t i = 0; i < visible; ++i) a[i] += weights_[std::size_t(i)] / total * (b - moved);
  }

  int order_;
  form form_;
  bool centred_;
  C decay_;
  series given_{};
  std::vector<C> weights_, terms_;
};

template <class T, class Slopes>
[[nodiscard]] attention_gradient<T> attention_pullback(
    const char* name, const token_rows<T>& q, const token_rows<T>& k, const token_rows<T>& v,
    const token_rows<T>& g, const operand<T>& log_sum, bool causal,
    const std::optional<double>& given_scale, Slopes slopes) {
  using C = compute_scalar<T>;
  const index_t n = q.size(), m = k.size(), d = q.width(), e = v.width();
  require_same_size(name, "a query", d, "a key", k.width());
  require_same_size(name, "K", m, "V", v.size());
  require_same_shape(name, "the output", n, e, "its cotangent", g.size(), g.width());
  if (log_sum.given())
    require_same_size(name, "the log-sum-exps", n, "their cotangent", log_sum.size());
  require_scale(name, given_scale);
  const double scale = score_scale(given_scale, d);
  attention_gradient<T> out;
  using matrix = typename attention_gradient<T>::matrix;
  Eigen::Matrix<C, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> dk(m, d), dv(m, e);
  dk.setZero();
  dv.setZero();
  out.queries = matrix::Zero(n, d);
  std::vector<C> u(static_cast<std::size_t>(m)), a(u), row(static_cast<std::size_t>(d));
  for (index_t i = 0; i < n; ++i) {
    const index_t visible = causal ? m - n + i + 1 : m;
    if (visible <= 0) continue;  // no key to see: no slope
    for (index_t j = 0; j < visible; ++j) {
      C score(0), product(0);
      for (index_t c = 0; c < d; ++c) score += C(q.row(i)[c]) * C(k.row(j)[c]);
      for (index_t c = 0; c < e; ++c) product += C(g.row(i)[c]) * C(v.row(j)[c]);
      u[std::size_t(j)] = score * C(scale);
      a[std::size_t(j)] = product;
    }
    slopes(u.data(), a.data(), visible, log_sum.given() ? C(log_sum.view()[i]) : C(0));
    std::fill(row.begin(), row.end(), C(0));
    for (index_t j = 0; j < visible; ++j) {
      const C p = u[std::size_t(j)], slope = a[std::size_t(j)] * C(scale);
      // what has no part is skipped: its key or value may be infinite
      for (index_t c = 0; !has_no_part(slope) && c < d; ++c) {
        row[std::size_t(c)] += slope * C(k.row(j)[c]);
        dk(j, c) += slope * C(q.row(i)[c]);
      }
      for (index_t c = 0; !has_no_part(p) && c < e; ++c) dv(j, c) += p * C(g.row(i)[c]);
    }
    for (index_t c = 0; c < d; ++c) out.queries(i, c) = T(row[std::size_t(c)]);
  }
  out.keys = dk.template cast<T>();
  out.values = dv.template cast<T>();
  return out;
}

}  // namespace detail

/// The gradient of sum_i g_i o_i + b_i L_i in queries, keys and values: o the output of softmax attention, L its log-sum-exps.
///
/// Shape   queries [n, d], keys [m, d], values [m, e], g [n, e], options.logsumexp b [n]: one head.
/// Edges   a query that sees no key has a gradient of 0. Refused: shapes that do not fit. NaN stays.
/// Error   (m + d + e) u of the sums of absolute terms, in double for float.
/// Cost    n m (3 d + 2 e) multiply-adds and n m exp.
template <real_matrix Q, real_matrix K, real_matrix V, real_matrix G>
[[nodiscard]] attention_gradient<result_of<Q>> attention_vjp(
    const Q& queries, const K& keys, const V& values, const G& g,
    const attention_vjp_options<result_of<Q>>& o = {}) {
  using T = result_of<Q>;
  const token_rows<T> q(queries), k(keys), v(values), cotangent(g);
  return detail::attention_pullback<T>("attention_vjp", q, k, v, cotangent, o.logsumexp, o.causal,
                                       o.scale,
                                       detail::softmax_slopes<detail::compute_scalar<T>>{});
}

/// The same of linear_attention.
///
/// Cost    n m (3 d + 2 e + 3 order) multiply-adds: by scores.
template <real_matrix Q, real_matrix K, real_matrix V, real_matrix G>
[[nodiscard]] attention_gradient<result_of<Q>> linear_attention_vjp(
    const Q& queries, const K& keys, const V& values, const G& g,
    const linear_attention_vjp_options<result_of<Q>>& o = {}) {
  using T = result_of<Q>;
  const char* const name = "linear_attention_vjp";
  const token_rows<T> q(queries), k(keys), v(values), cotangent(g);
  detail::require_linear_options(name, q.width(), v.width(),
                                 {.scale = o.scale,
                                  .order = o.order,
                                  .form = o.form,
                                  .centred = o.centred,
                                  .polynomial = o.polynomial,
                                  .decay = o.decay},
                                 sizeof(T), false);
  return detail::attention_pullback<T>(name, q, k, v, cotangent, o.logsumexp, o.causal, o.scale,
                                       detail::truncated_slopes<detail::compute_scalar<T>>(o));
}

}  // namespace cumulus
