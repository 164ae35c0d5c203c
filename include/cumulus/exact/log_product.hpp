// SPDX-License-Identifier: MIT
//
// The product of two matrices that are given by their logarithms.
// Layer 2 (exact): uses core, loops, rows and simd; does not include Eigen.
#pragma once

#include <cumulus/core/into.hpp>
#include <cumulus/detail/core/matrix_operand.hpp>
#include <cumulus/detail/core/require_options.hpp>
#include <cumulus/detail/exact/log_product.hpp>

namespace cumulus {

/// The options of log_product.
///
/// Threads  results do not depend on the number of threads; without OpenMP and without an executor the parts run one after another.
struct log_product_options {
  int threads = 1;               ///< the most threads for the rows: needs OpenMP or the executor
  cumulus::executor executor{};  ///< runs the parts, if given
};

/// The error that log_product's test asserts of entries that are summed one by one, in ulp.
inline constexpr int log_product_max_ulp = 4;

/// The error that log_product's test asserts of every entry of double, in ulp: a blocked sum adds (min(K, 256) + K / 256) / 2 ulp, K
/// the inner size.
[[nodiscard]] constexpr double log_product_max_ulp_of(index_t inner) noexcept {
  return 16 + (double(inner < 256 ? inner : 256) + double(inner) / 256) / 2;
}

/// The Eigen type of a product: a's rows, b's columns, a's storage order where both are many.
template <real_matrix A, real_matrix B>
using log_product_result = Eigen::Matrix<result_of<A>, A::RowsAtCompileTime, B::ColsAtCompileTime,
                                         A::RowsAtCompileTime == 1 && B::ColsAtCompileTime != 1 ? 1
                                         : B::ColsAtCompileTime == 1 && A::RowsAtCompileTime != 1
                                             ? 0
                                             : int(bool(A::IsRowMajor)),
                                         A::MaxRowsAtCompileTime, B::MaxColsAtCompileTime>;

/// C_ij = log sum_k e^{A_ik + B_kj}, written to out: `log_product(a, b, into(c))`.
///
/// Shape    a: [n, K], b: [K, m], out: [n, m], of any storage order; each of n, K, m >= 0. A vector counts as a matrix of one row or
///          column. out may overlap a and b.
/// Edges    -inf in a or b removes the term, whatever stands beside; else as logsumexp of the terms: an entry without terms is
///          -inf, a term of NaN gives NaN, one of +inf gives +inf.
/// Error    float and half types: 1 ulp of max(1, |C_ij|). double: where n, m or K is below 4, or an entry's blocked sum may have lost
///          terms, log_product_max_ulp of max(1, |A_ik| + |B_kj| at the largest term, |C_ij|); else log_product_max_ulp_of(K) ulp of
///          max(1, |C_ij|).
/// Cost     K (n + m) exp, n m log and n m K multiply-adds; n m K exp where rows and columns are too wide for a blocked sum.
///          Memory for copies of a and b in double and for their exponentials.
/// Source   each row of A and column of B is raised to e^x 2^-p, p from its maximum; the product of these is blocked by 256. An entry
///          of at least 2^-1000 of the largest possible term has lost at most K 2^-220 of itself to underflow. Others are summed
///          one by one, without the terms below the largest - 50 - log K.
template <real_matrix A, real_matrix B, out_matrix<result_of<A>> Out>
  requires std::same_as<result_of<A>, result_of<B>>
void log_product(const A& a, const B& b, destination<Out> out, const log_product_options& o = {}) {
  const index_t rows = index_t(a.rows()), inner = index_t(a.cols()), cols = index_t(b.cols());
  if (index_t(b.rows()) != inner) {
    detail::refuse({"log_product: a has ", inner, " columns, b has ", index_t(b.rows()),
                    " rows; give matrices whose inner sizes agree"});
  }
  const auto to = detail::strided_matrix_view(*out);
  detail::require_same_shape("log_product", "the product", rows, cols, "out", to.rows, to.cols);
  detail::require_threads("log_product", o.threads);
  const detail::matrix_operand<A> left(a);
  const detail::matrix_operand<B> right(b);
  detail::log_product_into(left.view(), right.view(), to, o.threads, o.executor);
}

/// Returns the product.
template <real_matrix A, real_matrix B>
  requires std::same_as<result_of<A>, result_of<B>>
[[nodiscard]] log_product_result<A, B> log_product(const A& a, const B& b,
                                                   const log_product_options& o = {}) {
  log_product_result<A, B> out;
  out.resize(a.rows(), b.cols());
  log_product(a, b, destination<log_product_result<A, B>>(out), o);
  return out;
}

// clang-format off
// Refused: each line says what to write instead.
template <real_matrix A, real_matrix B, class... Rest>
  requires(!std::same_as<result_of<A>, result_of<B>>)
void log_product(const A&, const B&, const Rest&...) = delete;  // cumulus: a and b must have one scalar: write a.cast<double>()
template <real_matrix A, real_matrix B, class Out, class... Rest>
  requires(std::same_as<result_of<A>, result_of<B>> && !out_matrix<Out, result_of<A>>)
void log_product(const A&, const B&, destination<Out>, const Rest&...) = delete;  // cumulus: out must be a matrix of the result's scalar: that of a, double where a holds integers
template <real_matrix A, real_matrix B, real_matrix Out, class... Rest>
void log_product(const A&, const B&, const Out&, const Rest&...) = delete;  // cumulus: say that the result goes there: log_product(a, b, into(out))
// clang-format on

}  // namespace cumulus
