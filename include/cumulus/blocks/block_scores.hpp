// SPDX-License-Identifier: MIT
//
// How much of a query's attention each block holds, from the summaries of the blocks.
// Layer 4 (blocks): uses core; select_blocks takes the result.
#pragma once

#include <cumulus/core/into.hpp>
#include <cumulus/detail/blocks/score_scale.hpp>
#include <cumulus/detail/blocks/scored_query.hpp>
#include <cumulus/detail/blocks/two_point_bounds.hpp>

namespace cumulus {

namespace detail {

/// The interval of the log-mass of a run of blocks, from all that their summaries keep but tensors.
///
/// With R = log E e^y the log-mass is log b + m + R. Jensen: R >= 0; the two-point laws of two_point_bounds.hpp
/// bound R by the variance and the ends of y. Of y: |y| <= |q| radius; the box; sigma sqrt(b - 1) (P. A. Samuelson,
/// J. Amer. Statist. Assoc. 63 (1968) 1522-1525); and v <= (-min y) (max y) (R. Bhatia, C. Davis, Amer. Math. Monthly
/// 107 (2000) 353-357). The submeans and the landmark are lower ends (Jensen in each run; the tangent of a convex function).
template <class T>
void log_mass_intervals(const summary_rows<T>& rows, const scored_query<T>& query, index_t first,
                        index_t count, const double* m, const double* v, scored_block<T>* out) {
  constexpr double u = 0x1p-53;
  using buffer = typename scored_query<T>::buffer;
  buffer box_low, box_high, tangent, parts;
  const bool box = rows.kept.box, landmark = rows.kept.landmark, runs = rows.kept.submeans > 0;
  if (box) query.box_ends(first, count, box_low.data(), box_high.data());
  if (landmark) query.landmarks(first, count, tangent.data());
  if (runs) query.submeans(first, count, parts.data());
  const double norm = std::sqrt(query.norm2()) * (1 + double(rows.width) * u);
  const double root_d = std::sqrt(double(rows.width));
  const double roundings = double(kernels::dot_rows_max_roundings(2 * rows.width) + 4);
  for (index_t i = 0; i < count; ++i) {
    const std::size_t k = std::size_t(i), B = std::size_t(first + i);
    const double n = double(rows.count[B]), log_n = std::log(n);
    const double reach = double(rows.reach[B]);
    // of the mean in double, of its rounding to T, of the product and of the scaled query; of the last three as well what
    // they lose below the least normal number
    const double slip = norm * reach * (roundings * double(unit_roundoff<T>) + (n + 8) * u) +
                        lost_below_normal<T> * root_d * (norm + reach + 2 * root_d);
    if (!is_finite(m[k])) {  // a product overflowed, or a key or the query is no number
      const double most = norm * reach * (1 + 8 * u) + slip + log_n * 4 * u;
      const bool known = is_finite(norm) && is_finite(reach);
      out[i].lower = known ? rounded_down<T>(log_n - most) : quiet_nan<T>;
      out[i].upper = known ? rounded_up<T>(log_n + most) : quiet_nan<T>;
      continue;
    }
    const double lost = (n + 8) * u * reach;  // of a key's deviation
    const double ball = norm * double(rows.radius[B]);
    double low, high;
    rows.covariance.variance_range(first + i, v[k], query.norm2() * (1 + double(rows.width) * u),
                                   norm * norm * lost * (4 * double(rows.radius[B]) + lost), low,
                                   high);
    const double samuelson = n > 1 ? std::sqrt(high * (n - 1)) * (1 + 8 * u) : 0.0;
    double above = min_of(ball, samuelson), below = above;
    if (box) {
      // twice the reach: the box's corner is no key
      const double corner = slip * root_d;
      above = min_of(above, max_of(0.0, box_high[k] - m[k] + corner + slip));
      below = min_of(below, max_of(0.0, m[k] - box_low[k] + corner + slip));
    }
    high = min_of(high, above * below);
    low = min_of(low, high);
    double most = largest_log_mean_exp(high, above), least = least_log_mean_exp(low, below);
    const double middle = log_n + m[k];
    const double rest = slip + 32 * u * (1 + absolute(middle) + above + below + log_n);
    double lower = middle + least - rest, upper = middle + most + rest;
    if (landmark && is_finite(tangent[k]))
      lower = max_of(lower, tangent[k] - 2 * rest - double(unit_roundoff<T>) * log_n);
    if (runs && is_finite(parts[k])) lower = max_of(lower, parts[k] - 2 * rest);
    if (is_nan(lower) || is_nan(upper)) lower = upper = quiet_nan<double>;
    out[i].lower = rounded_down<T>(lower);
    out[i].upper = rounded_up<T>(upper);
  }
}

template <class T, class Q, class Put>
void score_blocks(const block_summaries<T>& blocks, const Q& q, const block_score_options& options,
                  bool intervals, Put put) {
  const char* const name = "block_scores";
  require_score(name, options.score, blocks.options());
  require_same_size(name, "a key", blocks.width(), "q", size_of(q));
  require_scale(name, options.scale);
  const operand<scalar_of<Q>> held(q);
  const scored_query<T> query(rows_of(blocks), held.view(), options.score,
                              score_scale(options.scale, blocks.width()), intervals);
  typename scored_query<T>::buffer m, v;
  const bool second = intervals || needs_of(options.score).variance;
  const bool mean = second || needs_of(options.score).mean;
  for (index_t first = 0; first < blocks.blocks(); first += query.run) {
    const index_t count = std::min(query.run, blocks.blocks() - first);
    if (mean) query.means(first, count, m.data());
    if (second) query.variances(first, count, v.data());
    put(query, first, count, m.data(), v.data());
  }
}

}  // namespace detail

/// The score of every summarised block, with an interval that contains its log-mass log sum_{t in B} e^(scale q . k_t).
///
/// Shape    q: [d]; the result: [blocks.blocks()].
/// Requires the parts that the score needs, and a finite scale: else std::invalid_argument.
/// Edges    NaN for a block with a NaN key, in the interval also for one with an infinite key; everywhere where q has one.
///          A score whose powers overflow in T (of float second orders from |q| |k| about 1e19 on) is infinite or NaN, its
///          interval then holds all the same.
/// Error    the interval holds whatever the score is, rounding included; the score itself is within a few roundings of its
///          formula on the parts as kept.
/// Cost     one read of the parts that the interval rests on (all but tensors) and about 4 exponentials a block.
template <class T, real_vector Q>
[[nodiscard]] std::vector<scored_block<T>> block_scores(const block_summaries<T>& blocks,
                                                        const Q& q,
                                                        const block_score_options& options = {}) {
  std::vector<scored_block<T>> out(std::size_t(blocks.blocks()));
  detail::score_blocks(
      blocks, q, options, true,
      [&](const auto& query, index_t first, index_t count, const double* m, const double* v) {
        scored_block<T>* const to = out.data() + first;
        detail::log_mass_intervals(detail::rows_of(blocks), query, first, count, m, v, to);
        query.scores(first, count, m, v, [to](index_t i, double x) { to[i].value = T(x); });
      });
  return out;
}
/// The scores of all blocks by `score`; the other options keep their defaults.
template <class T, real_vector Q>
[[nodiscard]] std::vector<scored_block<T>> block_scores(const block_summaries<T>& blocks,
                                                        const Q& q, block_score score) {
  return block_scores(blocks, q, block_score_options{.score = score});
}

/// The scores alone, written to out: [blocks.blocks()].
///
/// Cost    one read of the parts that the score needs; smooth2 an exponential and a logarithm a block more. Allocates a few
///         vectors of the query's size.
template <class T, real_vector Q, out_vector<T> Out>
void block_scores(const block_summaries<T>& blocks, const Q& q, destination<Out> out,
                  const block_score_options& options = {}) {
  const auto to = detail::strided_view(*out);
  detail::require_same_size("block_scores", "the result", blocks.blocks(), "out", to.size);
  detail::score_blocks(
      blocks, q, options, false,
      [&](const auto& query, index_t first, index_t count, const double* m, const double* v) {
        T* const at = to.data + first * to.stride;
        if (to.stride == 1) {
          query.scores(first, count, m, v, [at](index_t i, double x) { at[i] = T(x); });
        } else {
          const index_t stride = to.stride;
          query.scores(first, count, m, v,
                       [at, stride](index_t i, double x) { at[i * stride] = T(x); });
        }
      });
}

// clang-format off
// Refused: each line says what to write instead.
template <class T, real_vector Q, class Out, class... Rest>
  requires(real_vector<Out> || real_matrix<Out>)
void block_scores(const block_summaries<T>&, const Q&, const Out&, const Rest&...) = delete;  // cumulus: mark where the scores are written: block_scores(blocks, q, into(out))
template <class T, real_vector Q, class Out, class... Rest>
  requires(!out_vector<Out, T>)
void block_scores(const block_summaries<T>&, const Q&, destination<Out>, const Rest&...) = delete;  // cumulus: out must be a vector of the summaries' scalar, float or double
// clang-format on

}  // namespace cumulus
