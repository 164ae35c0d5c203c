// SPDX-License-Identifier: MIT
//
// softmax, its logarithm and its entropy of the elements of each segment; segments may be interleaved.
// Layer 2 (exact): uses core, loops and rows.
#pragma once

#include <cumulus/detail/exact/segment_rows.hpp>
#include <cumulus/exact/log_softmax.hpp>
#include <cumulus/exact/segment_logsumexp.hpp>
#include <cumulus/exact/softmax.hpp>
#include <cumulus/exact/softmax_entropy.hpp>

namespace cumulus {

/// The softmax of each segment: w_i e^{scale x_i} over the sum of these terms, and of e^sink, in the
/// segment of i.
///
/// Shape    x, segment_ids, out, weights, mask: [n], n >= 0, in any order. out may be x itself;
///          memory that overlaps otherwise is copied first.
/// Requires every id in 0..segment_count - 1, of masked elements too.
/// Edges    in each segment those of softmax: a NaN changes only its own segment. No result depends on
///          the threads.
/// Error    softmax_max_ulp for every entry.
/// Cost     O(n + segment_count): the softmax of each segment and two reads of the ids; where a
///          segment's ids stand in several runs, two more reads of the ids and a copy of x, weights
///          and mask. 16 bytes a segment; 24 with several runs. Threads share the segments.
template <real_vector X, segment_numbers Ids>
[[nodiscard]] result_like<X> segment_softmax(const X& x, const Ids& segment_ids,
                                             std::integral auto segment_count,
                                             const softmax_options<result_of<X>>& o = {}) {
  result_like<X> out = detail::sized_like(x);
  detail::normalised_segments("segment_softmax", x, segment_ids, segment_count, out, o,
                              detail::softmax_kernel{o.degenerate});
  return out;
}

/// Written to out, of x's size: `segment_softmax(x, ids, count, into(out))`.
template <real_vector X, segment_numbers Ids, out_vector<result_of<X>> Out>
void segment_softmax(const X& x, const Ids& segment_ids, std::integral auto segment_count,
                     destination<Out> out, const softmax_options<result_of<X>>& o = {}) {
  detail::normalised_segments("segment_softmax", x, segment_ids, segment_count, *out, o,
                              detail::softmax_kernel{o.degenerate});
}

/// The same with as many segments as the largest id asks for.
template <real_vector X, segment_numbers Ids>
[[nodiscard]] result_like<X> segment_softmax(const X& x, const Ids& segment_ids,
                                             const softmax_options<result_of<X>>& o = {}) {
  return segment_softmax(x, segment_ids, detail::segments_in("segment_softmax", segment_ids), o);
}
/// Writes them to out, with as many segments as the largest id asks for.
template <real_vector X, segment_numbers Ids, out_vector<result_of<X>> Out>
void segment_softmax(const X& x, const Ids& segment_ids, destination<Out> out,
                     const softmax_options<result_of<X>>& o = {}) {
  segment_softmax(x, segment_ids, detail::segments_in("segment_softmax", segment_ids), out, o);
}

/// The logarithm of segment_softmax.
///
/// Shape, Requires, Cost   those of segment_softmax.
/// Edges    in each segment those of log_softmax.
/// Error    log_softmax_max_ulp for every entry (weighted: where x and log w do not cancel).
template <real_vector X, segment_numbers Ids>
[[nodiscard]] result_like<X> segment_log_softmax(const X& x, const Ids& segment_ids,
                                                 std::integral auto segment_count,
                                                 const softmax_options<result_of<X>>& o = {}) {
  result_like<X> out = detail::sized_like(x);
  detail::normalised_segments("segment_log_softmax", x, segment_ids, segment_count, out, o,
                              detail::log_softmax_kernel{o.degenerate});
  return out;
}

/// Written to out, of x's size.
template <real_vector X, segment_numbers Ids, out_vector<result_of<X>> Out>
void segment_log_softmax(const X& x, const Ids& segment_ids, std::integral auto segment_count,
                         destination<Out> out, const softmax_options<result_of<X>>& o = {}) {
  detail::normalised_segments("segment_log_softmax", x, segment_ids, segment_count, *out, o,
                              detail::log_softmax_kernel{o.degenerate});
}

/// The same with as many segments as the largest id asks for.
template <real_vector X, segment_numbers Ids>
[[nodiscard]] result_like<X> segment_log_softmax(const X& x, const Ids& segment_ids,
                                                 const softmax_options<result_of<X>>& o = {}) {
  return segment_log_softmax(x, segment_ids,
                             detail::segments_in("segment_log_softmax", segment_ids), o);
}
/// Writes them to out, with as many segments as the largest id asks for.
template <real_vector X, segment_numbers Ids, out_vector<result_of<X>> Out>
void segment_log_softmax(const X& x, const Ids& segment_ids, destination<Out> out,
                         const softmax_options<result_of<X>>& o = {}) {
  segment_log_softmax(x, segment_ids, detail::segments_in("segment_log_softmax", segment_ids), out,
                      o);
}

/// The entropy of the softmax of each segment, for k = 0..segment_count - 1.
///
/// Shape    x, segment_ids, weights, mask: [n], n >= 0, in any order; result: [segment_count].
/// Units    nats.
/// Requires every id in 0..segment_count - 1, of masked elements too.
/// Edges    in each segment those of softmax_entropy: NaN for a segment of nothing.
/// Error    each as softmax_entropy of its segment.
/// Cost     O(n + segment_count), as segment_softmax, with 2n exp.
template <real_vector X, segment_numbers Ids>
[[nodiscard]] result_list<X> segment_entropy(const X& x, const Ids& segment_ids,
                                             std::integral auto segment_count,
                                             const options<result_of<X>>& o = {}) {
  return detail::reduced_segments("segment_entropy", x, segment_ids, segment_count, o,
                                  detail::entropy_kernel);
}

/// The same with as many segments as the largest id asks for.
template <real_vector X, segment_numbers Ids>
[[nodiscard]] result_list<X> segment_entropy(const X& x, const Ids& segment_ids,
                                             const options<result_of<X>>& o = {}) {
  return segment_entropy(x, segment_ids, detail::segments_in("segment_entropy", segment_ids), o);
}

// clang-format off
// Refused: each line says what to write instead.
template <detail::untagged_matrix X, class... Rest>
void segment_softmax(const X&, const Rest&...) = delete;  // cumulus: segment_softmax takes a vector: give a row or column of the matrix
template <detail::foreign_array X, class... Rest>
void segment_softmax(const X&, const Rest&...) = delete;  // cumulus: this is neither an Eigen type nor a range: give a view, such as Eigen::Map or std::span
template <detail::without_numbers X, class... Rest>
void segment_softmax(const X&, const Rest&...) = delete;  // cumulus: the first argument holds bool or characters, which are no numbers
template <real_vector X, class Ids, class... Rest>
  requires(!segment_numbers<Ids>)
void segment_softmax(const X&, const Ids&, const Rest&...) = delete;  // cumulus: segment_ids must be a vector of integers, one for each element of x
template <real_vector X, segment_numbers Ids, class Out, class... Rest>
  requires(!out_vector<Out, result_of<X>>)
void segment_softmax(const X&, const Ids&, destination<Out>, const Rest&...) = delete;  // cumulus: out must be a vector of the result's scalar: that of x, double where x holds integers
template <real_vector X, segment_numbers Ids, class Out, class... Rest>
  requires(!out_vector<Out, result_of<X>>)
void segment_softmax(const X&, const Ids&, std::integral auto, destination<Out>, const Rest&...) = delete;  // cumulus: out must be a vector of the result's scalar: that of x, double where x holds integers
template <real_vector X, segment_numbers Ids, class Y, class... Rest>
  requires(real_vector<Y> || mask_vector<Y>)
void segment_softmax(const X&, const Ids&, const Y&, const Rest&...) = delete;  // cumulus: say what the third vector is: segment_softmax(x, ids, {.weights = w}), segment_softmax(x, ids, {.mask = keep}) or segment_softmax(x, ids, into(out))
template <detail::untagged_matrix X, class... Rest>
void segment_log_softmax(const X&, const Rest&...) = delete;  // cumulus: segment_log_softmax takes a vector: give a row or column of the matrix
template <detail::foreign_array X, class... Rest>
void segment_log_softmax(const X&, const Rest&...) = delete;  // cumulus: this is neither an Eigen type nor a range: give a view, such as Eigen::Map or std::span
template <detail::without_numbers X, class... Rest>
void segment_log_softmax(const X&, const Rest&...) = delete;  // cumulus: the first argument holds bool or characters, which are no numbers
template <real_vector X, class Ids, class... Rest>
  requires(!segment_numbers<Ids>)
void segment_log_softmax(const X&, const Ids&, const Rest&...) = delete;  // cumulus: segment_ids must be a vector of integers, one for each element of x
template <real_vector X, segment_numbers Ids, class Out, class... Rest>
  requires(!out_vector<Out, result_of<X>>)
void segment_log_softmax(const X&, const Ids&, destination<Out>, const Rest&...) = delete;  // cumulus: out must be a vector of the result's scalar: that of x, double where x holds integers
template <real_vector X, segment_numbers Ids, class Out, class... Rest>
  requires(!out_vector<Out, result_of<X>>)
void segment_log_softmax(const X&, const Ids&, std::integral auto, destination<Out>, const Rest&...) = delete;  // cumulus: out must be a vector of the result's scalar: that of x, double where x holds integers
template <real_vector X, segment_numbers Ids, class Y, class... Rest>
  requires(real_vector<Y> || mask_vector<Y>)
void segment_log_softmax(const X&, const Ids&, const Y&, const Rest&...) = delete;  // cumulus: say what the third vector is: segment_log_softmax(x, ids, {.weights = w}), segment_log_softmax(x, ids, {.mask = keep}) or segment_log_softmax(x, ids, into(out))
template <detail::untagged_matrix X, class... Rest>
void segment_entropy(const X&, const Rest&...) = delete;  // cumulus: segment_entropy takes a vector: give a row or column of the matrix
template <detail::foreign_array X, class... Rest>
void segment_entropy(const X&, const Rest&...) = delete;  // cumulus: this is neither an Eigen type nor a range: give a view, such as Eigen::Map or std::span
template <detail::without_numbers X, class... Rest>
void segment_entropy(const X&, const Rest&...) = delete;  // cumulus: the first argument holds bool or characters, which are no numbers
template <real_vector X, class Ids, class... Rest>
  requires(!segment_numbers<Ids>)
void segment_entropy(const X&, const Ids&, const Rest&...) = delete;  // cumulus: segment_ids must be a vector of integers, one for each element of x
// clang-format on

}  // namespace cumulus
