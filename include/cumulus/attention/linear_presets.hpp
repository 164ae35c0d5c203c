// SPDX-License-Identifier: MIT
//
// Linear attention as others have published it: their truncation, widths and defaults, as options of linear_attention, in namespace presets.
// Layer 5 (attention): uses linear attention.
//
//     preset             weight of u = scale q k              about     scale      divided by
//     going_linear()     1 + y, the graded order 1            the mean  1/sqrt(d)  n
//     based()            1 + u + u^2/2; exact in the window   0         1/sqrt(d)  sum of weights
//     sata(terms)        sum_{j < terms} u^j / j!             0         1/sqrt(d)  sum of weights
//     taylor_shift       1 + u + u^2/2, |q| = |k| = 1         0         a given t  sum of weights, times sqrt(n/d)
//     power(p)       u^p, p even                          0         1/sqrt(d)  sum of weights
//     limit_form(n)      (1 + u/n)^n                          0         1/sqrt(d)  sum of weights
#pragma once

#include <cumulus/attention/linear.hpp>

namespace cumulus::presets {

/// The first order of softmax about the mean key: o = mean v + Cov(v, k) q, without a division.
///
/// Source  A. Kuzina, P. Whatmough, B. Ehteshami Bejnordi, "The Key to Going Linear", arXiv 2607.07706, whose equations we had
///         not: this is the series that it is tied to. Its sinks are options.first_tokens; its delta rule is delta_rule.hpp.
[[nodiscard]] inline linear_attention_options going_linear() {
  return {.causal = true, .order = 1, .form = form::taylor, .centred = true};
}

/// Degree 2, uncentred, of keys 16 wide: 153 monomials where the published code has 273. All weights are 1/2 or more.
///
/// The published model has layers of this and layers of exact attention in a window of 64; here one softmax has both, as its
/// window; without it, o.window.reset(), it is the linear layer alone. {.centred = true} is closer to softmax (README).
/// Source  S. Arora et al., arXiv 2402.18668; its eps of 1e-12 in the divisor is left out, as that is n/2 or more.
[[nodiscard]] inline linear_attention_options based() {
  return {.causal = true, .window = 64, .order = 2, .form = form::moment, .centred = false};
}

/// So many terms of the exponential, uncentred: degree terms - 1. The default of 4 is an odd degree, whose mass can be 0 or
/// less: the published code replaces the NaN that comes of it by 0, here the status says so.
///
/// Edges   refused: terms outside 1 .. linear_attention_max_order + 1.
/// Source  F. Heinsen, L. Kozachkov, arXiv 2602.00294.
[[nodiscard]] inline linear_attention_options sata(std::integral auto terms) {
  detail::require_order("presets::sata", terms, 1, linear_attention_max_order + 1,
                        "terms; linear_attention_max_order + 1");
  return {.causal = true, .order = int(terms) - 1, .form = form::moment, .centred = false};
}
/// The options of sata at order 4.
[[nodiscard]] inline linear_attention_options sata() { return sata(4); }

/// An even power of the score.
///
/// Edges   refused: an odd p, whose weights have either sign, and p outside 2 .. linear_attention_max_order.
/// Source  J. Buckman, C. Gelada, S. Zhang et al., arXiv 2507.04239; its gates and its 1e-6 in the divisor are left out.
[[nodiscard]] inline linear_attention_options power(std::integral auto p) {
  detail::require_order("presets::power", p, 2, linear_attention_max_order,
                        "linear_attention_max_order");
  if (p % 2 != 0)
    detail::refuse({"presets::power: the power ", p,
                    " is odd; give an even one, whose weights are not negative"});
  linear_attention_options o{
      .causal = true, .order = int(p), .form = form::moment, .centred = false};
  o.polynomial.assign(std::size_t(p) + 1, 0.0);
  o.polynomial.back() = 1;
  return o;
}

/// (1 + u/n)^n, whose limit is e^u; of weights 0 or more for an even n. Its coefficient of u^2 is (1 - 1/n) / 2, not 1/2.
///
/// Edges   refused: n outside 1 .. linear_attention_max_order.
/// Source  J. Su, kexue.fm/archives/8601 (2021).
[[nodiscard]] inline linear_attention_options limit_form(std::integral auto n) {
  detail::require_order("presets::limit_form", n, 1, linear_attention_max_order,
                        "linear_attention_max_order");
  linear_attention_options o{
      .causal = true, .order = int(n), .form = form::moment, .centred = false};
  double coefficient = 1;  // binomial(n, j) / n^j
  for (int j = 0; j <= int(n); ++j) {
    o.polynomial.push_back(coefficient);
    coefficient *= double(int(n) - j) / double(j + 1) / double(int(n));
  }
  return o;
}

/// The options of taylor_shift.
struct taylor_shift_options {
  /// Query i sees the keys 0 .. m - n + i.
  bool causal = false;
  double temperature = 1;  ///< multiplies the cosine of query and key: finite
  linear_method method =
      linear_method::automatic;  ///< the published code changes over at n = d^2 + d + 1
};

/// Degree 2 of the cosine of query and key, the average of the values times sqrt(n / d), n the keys that a query sees.
///
/// Shape   as linear_attention, of one head.
/// Edges   a query or key of length 0 stays 0; as linear_attention else.
/// Source  T. Nauen, S. Palacio, A. Dengel, arXiv 2403.02920; its code carries the normaliser as a column sqrt(d / n) of V,
///         which gives that factor.
template <real_matrix Q, real_matrix K, real_matrix V>
[[nodiscard]] linear_attention_result<score_of<result_of<Q>>> taylor_shift(
    const Q& queries, const K& keys, const V& values, const taylor_shift_options& o = {}) {
  using T = score_of<result_of<Q>>;
  using matrix = typename linear_attention_result<T>::matrix;
  if (!detail::is_finite(o.temperature))
    detail::refuse(
        {"presets::taylor_shift: .temperature is ", o.temperature, "; give a finite number"});
  const auto unit = [](const auto& x) {
    matrix rows = x.template cast<T>();
    for (index_t i = 0; i < rows.rows(); ++i) {
      T* const row = rows.data() + i * rows.cols();
      detail::kernels::normalise_row(row, row, rows.cols());
    }
    return rows;
  };
  const matrix q = unit(queries), k = unit(keys);
  auto result = linear_attention(q, k, values,
                                 {.scale = o.temperature,
                                  .causal = o.causal,
                                  .order = 2,
                                  .form = form::moment,
                                  .centred = false,
                                  .method = o.method});
  for (index_t i = 0; i < result.output.rows(); ++i) {
    const index_t seen = std::max(o.causal ? k.rows() - q.rows() + i + 1 : k.rows(), index_t(0));
    result.output.row(i) *= T(std::sqrt(double(seen) / double(k.cols())));
  }
  return result;
}

}  // namespace cumulus::presets
