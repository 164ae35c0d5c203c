// SPDX-License-Identifier: MIT
//
// log-sum-exp of the elements of each segment, in one pass; segments may be interleaved.
// Layer 2 (exact): uses core, loops and rows.
#pragma once

#include <cumulus/detail/exact/segments.hpp>
#include <cumulus/detail/loops/running_exp_sum.hpp>
#include <cumulus/exact/logsumexp.hpp>
#include <vector>

namespace cumulus {

/// A vector of segment numbers: any integers.
template <class X>
concept segment_numbers = real_vector<X> && std::integral<scalar_of<X>>;

namespace detail {

/// More segments than this have no addresses.
template <class T>
inline constexpr index_t most_segments =
    std::numeric_limits<std::ptrdiff_t>::max() /
    index_t(sizeof(kernels::running_log_sum<compute_scalar<T>>));

template <class X, class T, class Id>
[[nodiscard]] result_list<X> segment_sums(const kernels::terms<T>& t, const strided<const Id>& ids,
                                          index_t count, const options<T>& o) {
  using C = compute_scalar<T>;
  kernels::running_log_sum<C> start;
  if (o.sink) start.add({C(*o.sink), C(0)}, C(1));
  std::vector<kernels::running_log_sum<C>> sums(static_cast<std::size_t>(count), start);
  for (index_t i = 0; i < t.size(); ++i)
    kernels::add_term(sums[static_cast<std::size_t>(ids[i])], t, i, C(o.scale));
  result_list<X> out(static_cast<std::size_t>(count));
  index_t k = 0;
  for (T& value : out) value = T(sums[static_cast<std::size_t>(k++)].log_sum());
  return out;
}

}  // namespace detail

/// log of the sum of w_i e^{scale x_i} over the i of segment k, and of e^sink in every one, for k =
/// 0..segment_count - 1.
///
/// Shape    x, segment_ids, weights, mask: [n], n >= 0, in any order; result: [segment_count].
/// Requires every id in 0..segment_count - 1, of masked elements too.
/// Edges    a segment of nothing, or nothing kept, gives -inf (or the sink); in each, what
///          logsumexp gives, but NaN for a negative weight.
/// Error    each as logsumexp of its segment: logsumexp_max_ulp and logsumexp_tail_max_ulp.
/// Cost     one read of x, two of the ids, n exp; 64 bytes a segment in double.
/// Source   detail/loops/running_exp_sum.hpp
template <real_vector X, segment_numbers Ids>
[[nodiscard]] result_list<X> segment_logsumexp(const X& x, const Ids& segment_ids,
                                               std::integral auto segment_count,
                                               const options<result_of<X>>& o = {}) {
  using T = result_of<X>;
  const detail::operand<T> values(x);
  const detail::operand<scalar_of<Ids>> numbers(segment_ids);
  const auto ids = numbers.view();
  detail::require_same_size("segment_logsumexp", "x", values.size(), "segment_ids", ids.size);
  detail::require_options("segment_logsumexp", values.size(), o);
  detail::require_segments("segment_logsumexp", ids, segment_count, detail::most_segments<T>);
  return detail::segment_sums<X>(
      detail::kernels::terms<T>{values.view(), o.weights.view(), o.mask.view()}, ids,
      static_cast<index_t>(segment_count), o);
}

/// The call without a count: there are as many segments as the largest id requires, and no segments
/// where x is empty.
template <real_vector X, segment_numbers Ids>
[[nodiscard]] result_list<X> segment_logsumexp(const X& x, const Ids& segment_ids,
                                               const options<result_of<X>>& o = {}) {
  const detail::operand<scalar_of<Ids>> numbers(segment_ids);
  const index_t count = detail::least_segment_count("segment_logsumexp", numbers.view(),
                                                    detail::most_segments<result_of<X>>);
  return segment_logsumexp(x, segment_ids, count, o);
}

// clang-format off
// Refused: each line says what to write instead.
template <detail::untagged_matrix X, class... Rest>
void segment_logsumexp(const X&, const Rest&...) = delete;  // cumulus: segment_logsumexp takes a vector: give a row or column of the matrix
template <detail::foreign_array X, class... Rest>
void segment_logsumexp(const X&, const Rest&...) = delete;  // cumulus: this is neither an Eigen type nor a range: give a view, such as Eigen::Map or std::span
template <detail::without_numbers X, class... Rest>
void segment_logsumexp(const X&, const Rest&...) = delete;  // cumulus: the first argument holds bool or characters, which are no numbers
template <real_vector X, class Ids, class... Rest>
  requires(!segment_numbers<Ids>)
void segment_logsumexp(const X&, const Ids&, const Rest&...) = delete;  // cumulus: segment_ids must be a vector of integers, one for each element of x
// clang-format on

}  // namespace cumulus
