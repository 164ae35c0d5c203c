// SPDX-License-Identifier: MIT
//
// Which calls compile, and which are refused. The sentences of the refusals are those of the programs in compile_fail.
#include <cumulus/exact/log_softmax.hpp>
#include <cumulus/exact/log_weights.hpp>
#include <cumulus/exact/logcumsumexp.hpp>
#include <cumulus/exact/logmeanexp.hpp>
#include <cumulus/exact/logsumexp.hpp>
#include <cumulus/exact/logsumexp_gradient.hpp>
#include <cumulus/exact/logsumexp_signed.hpp>
#include <cumulus/exact/segment_logsumexp.hpp>
#include <cumulus/exact/segment_softmax.hpp>
#include <cumulus/exact/softmax.hpp>
#include <cumulus/exact/softmax_derivatives.hpp>
#include <cumulus/exact/softmax_entropy.hpp>

#include <Eigen/Core>

#include <array>
#include <cmath>
#include <cstdint>
#include <deque>
#include <forward_list>
#include <list>
#include <span>
#include <string>
#include <vector>

#include "catch.hpp"
#include "takes.hpp"

using cumulus::colwise;
using cumulus::into;
using cumulus::rowwise;

namespace {

/// A matrix of another library, by each of the ways in which such a type says how large it is.
struct numbers {
  const double* begin() const;
  const double* end() const;
  std::size_t size() const;
};
struct with_rows : numbers {
  int rows() const;
  int cols() const;
};
struct with_count : numbers {
  int n_rows;
};
struct with_shape : numbers {
  std::array<int, 2> shape() const;
};
struct with_dimensions : numbers {
  std::array<int, 2> dimensions() const;
};

using matrix = Eigen::MatrixXd;
using vector = Eigen::VectorXd;
using list = std::vector<double>;
using mask_array = Eigen::Array<bool, 3, 1>;
using mask_list = std::array<bool, 3>;
template <class X>
using expression = std::remove_cvref_t<X>;
using matrix_sum = expression<decltype(matrix() + matrix())>;
using transposed = expression<decltype(std::declval<matrix&>().transpose())>;
using columns = expression<decltype(std::declval<matrix&>().leftCols(1))>;
using row = expression<decltype(std::declval<const matrix&>().row(0))>;
using column = expression<decltype(std::declval<matrix&>().col(0))>;
using vector_sum = expression<decltype(vector() + vector())>;
using map = Eigen::Map<const vector, 0, Eigen::InnerStride<>>;

}  // namespace

// Of one argument: vectors are taken, everything else is not.
#define CUMULUS_CHECK_VECTOR(...)                                        \
  static_assert(CUMULUS_TAKES(vector, __VA_ARGS__));                     \
  static_assert(CUMULUS_TAKES(row, __VA_ARGS__));                        \
  static_assert(CUMULUS_TAKES(column, __VA_ARGS__));                     \
  static_assert(CUMULUS_TAKES(vector_sum, __VA_ARGS__));                 \
  static_assert(CUMULUS_TAKES(map, __VA_ARGS__));                        \
  static_assert(CUMULUS_TAKES(Eigen::RowVector3f, __VA_ARGS__));         \
  static_assert(CUMULUS_TAKES(Eigen::ArrayXi, __VA_ARGS__));             \
  static_assert(CUMULUS_TAKES(list, __VA_ARGS__));                       \
  static_assert(CUMULUS_TAKES(std::deque<float>, __VA_ARGS__));          \
  static_assert(CUMULUS_TAKES(std::list<int>, __VA_ARGS__));             \
  static_assert(CUMULUS_TAKES(std::vector<std::int8_t>, __VA_ARGS__));   \
  static_assert(CUMULUS_TAKES(std::span<const double>, __VA_ARGS__));    \
  static_assert(CUMULUS_TAKES(double[3], __VA_ARGS__));                  \
  static_assert(CUMULUS_TAKES(numbers, __VA_ARGS__));                    \
  static_assert(!CUMULUS_TAKES(matrix, __VA_ARGS__));                    \
  static_assert(!CUMULUS_TAKES(Eigen::ArrayXXf, __VA_ARGS__));           \
  static_assert(!CUMULUS_TAKES(matrix_sum, __VA_ARGS__));                \
  static_assert(!CUMULUS_TAKES(transposed, __VA_ARGS__));                \
  static_assert(!CUMULUS_TAKES(columns, __VA_ARGS__));                   \
  static_assert(!CUMULUS_TAKES(std::vector<bool>, __VA_ARGS__));         \
  static_assert(!CUMULUS_TAKES(mask_array, __VA_ARGS__));                \
  static_assert(!CUMULUS_TAKES(mask_list, __VA_ARGS__));                 \
  static_assert(!CUMULUS_TAKES(std::vector<char>, __VA_ARGS__));         \
  static_assert(!CUMULUS_TAKES(std::string, __VA_ARGS__));               \
  static_assert(!CUMULUS_TAKES(std::forward_list<double>, __VA_ARGS__)); \
  static_assert(!CUMULUS_TAKES(with_rows, __VA_ARGS__));                 \
  static_assert(!CUMULUS_TAKES(with_count, __VA_ARGS__));                \
  static_assert(!CUMULUS_TAKES(with_shape, __VA_ARGS__));                \
  static_assert(!CUMULUS_TAKES(with_dimensions, __VA_ARGS__));           \
  static_assert(!CUMULUS_TAKES(double, __VA_ARGS__))

CUMULUS_CHECK_VECTOR(cumulus::logsumexp(x));
CUMULUS_CHECK_VECTOR(cumulus::softmax(x));
CUMULUS_CHECK_VECTOR(cumulus::log_softmax(x));
CUMULUS_CHECK_VECTOR(cumulus::logcumsumexp(x));
CUMULUS_CHECK_VECTOR(cumulus::logmeanexp(x));
CUMULUS_CHECK_VECTOR(cumulus::logvarexp(x));
CUMULUS_CHECK_VECTOR(cumulus::softmax_entropy(x));
CUMULUS_CHECK_VECTOR(cumulus::logsumexp_gradient(x));
CUMULUS_CHECK_VECTOR(cumulus::logsumexp_gradient_weights(x));
CUMULUS_CHECK_VECTOR(cumulus::normalise_log_weights(x));
CUMULUS_CHECK_VECTOR(cumulus::effective_sample_size(x));
CUMULUS_CHECK_VECTOR(cumulus::perplexity(x));
CUMULUS_CHECK_VECTOR(cumulus::logsumexp_signed(x, x));
CUMULUS_CHECK_VECTOR(cumulus::segment_logsumexp(x, std::vector<int>()));
CUMULUS_CHECK_VECTOR(cumulus::segment_softmax(x, std::vector<int>()));
CUMULUS_CHECK_VECTOR(cumulus::segment_log_softmax(x, std::vector<int>()));
CUMULUS_CHECK_VECTOR(cumulus::segment_entropy(x, std::vector<int>()));
CUMULUS_CHECK_VECTOR(cumulus::softmax_jvp(x, x));
CUMULUS_CHECK_VECTOR(cumulus::softmax_vjp(x, x));
CUMULUS_CHECK_VECTOR(cumulus::log_softmax_vjp(x, x));
CUMULUS_CHECK_VECTOR(cumulus::logsumexp_hvp(x, x));

// With options, and a direction where there are two. `...` stands for what is between x and the options.
#define CUMULUS_CHECK_OPTIONS(function, ...)                                                       \
  static_assert(CUMULUS_TAKES(vector, cumulus::function(x __VA_ARGS__, {.scale = 2})));            \
  static_assert(CUMULUS_TAKES(vector, cumulus::function(x __VA_ARGS__, {})));                      \
  static_assert(CUMULUS_TAKES(list, cumulus::function(x __VA_ARGS__, {.weights = x})));            \
  static_assert(                                                                                   \
      CUMULUS_TAKES(list, cumulus::function(x __VA_ARGS__, {.mask = std::vector<bool>()})));       \
  static_assert(CUMULUS_TAKES(vector, cumulus::function(x __VA_ARGS__, {.mask = x.array() > 0}))); \
  static_assert(CUMULUS_TAKES(                                                                     \
      vector, cumulus::function(x __VA_ARGS__, {.mask = {true, false}, .threads = 2})));           \
  static_assert(CUMULUS_TAKES(vector, cumulus::function(x __VA_ARGS__, rowwise)));                 \
  static_assert(CUMULUS_TAKES(matrix, cumulus::function(x __VA_ARGS__, rowwise)));                 \
  static_assert(CUMULUS_TAKES(matrix, cumulus::function(x __VA_ARGS__, colwise)));                 \
  static_assert(CUMULUS_TAKES(Eigen::ArrayXXf, cumulus::function(x __VA_ARGS__, rowwise)));        \
  static_assert(CUMULUS_TAKES(matrix, cumulus::function(x __VA_ARGS__, rowwise, {.scale = 2})));   \
  static_assert(                                                                                   \
      CUMULUS_TAKES(matrix, cumulus::function(x __VA_ARGS__, rowwise, {.mask = x.array() > 0})));  \
  static_assert(                                                                                   \
      CUMULUS_TAKES(matrix, cumulus::function(x __VA_ARGS__, colwise, {.scale = list()})));        \
  static_assert(!CUMULUS_TAKES(matrix, cumulus::function(x __VA_ARGS__, {.scale = 2})));           \
  static_assert(!CUMULUS_TAKES(list, cumulus::function(x __VA_ARGS__, rowwise)));                  \
  static_assert(!CUMULUS_TAKES(list, cumulus::function(x __VA_ARGS__, {.mask = x})));              \
  static_assert(                                                                                   \
      !CUMULUS_TAKES(list, cumulus::function(x __VA_ARGS__, {.mask = std::vector<int>()})));       \
  static_assert(                                                                                   \
      !CUMULUS_TAKES(list, cumulus::function(x __VA_ARGS__, {.mask = std::vector<char>()})));      \
  static_assert(                                                                                   \
      !CUMULUS_TAKES(list, cumulus::function(x __VA_ARGS__, {.weights = std::vector<bool>()})));   \
  static_assert(!CUMULUS_TAKES(list, cumulus::function(x __VA_ARGS__, {.weights = matrix()})));    \
  static_assert(!CUMULUS_TAKES(matrix, cumulus::function(x __VA_ARGS__, rowwise, {.mask = x})));   \
  static_assert(!CUMULUS_TAKES(                                                                    \
      matrix, cumulus::function(x __VA_ARGS__, rowwise, {.mask = std::vector<int>()})));           \
  static_assert(!CUMULUS_TAKES(list, cumulus::function(x __VA_ARGS__, x)));                        \
  static_assert(!CUMULUS_TAKES(list, cumulus::function(x __VA_ARGS__, x, {.scale = 2})));          \
  static_assert(!CUMULUS_TAKES(list, cumulus::function(x __VA_ARGS__, std::vector<bool>())))

#define CUMULUS_AND ,
CUMULUS_CHECK_OPTIONS(logsumexp);
CUMULUS_CHECK_OPTIONS(softmax);
CUMULUS_CHECK_OPTIONS(log_softmax);
CUMULUS_CHECK_OPTIONS(logcumsumexp);
CUMULUS_CHECK_OPTIONS(logmeanexp);
CUMULUS_CHECK_OPTIONS(logvarexp);
CUMULUS_CHECK_OPTIONS(softmax_entropy);
CUMULUS_CHECK_OPTIONS(effective_sample_size);
CUMULUS_CHECK_OPTIONS(perplexity);
CUMULUS_CHECK_OPTIONS(normalise_log_weights);
CUMULUS_CHECK_OPTIONS(logsumexp_gradient);
CUMULUS_CHECK_OPTIONS(logsumexp_gradient_weights);
CUMULUS_CHECK_OPTIONS(softmax_jvp, CUMULUS_AND x);
CUMULUS_CHECK_OPTIONS(softmax_vjp, CUMULUS_AND x);
CUMULUS_CHECK_OPTIONS(log_softmax_vjp, CUMULUS_AND x);
CUMULUS_CHECK_OPTIONS(logsumexp_hvp, CUMULUS_AND x);

// Written to a place of the caller's.
#define CUMULUS_CHECK_INTO(function, ...)                                                          \
  static_assert(CUMULUS_TAKES(list, cumulus::function(x __VA_ARGS__, into(mutable_x))));           \
  static_assert(                                                                                   \
      CUMULUS_TAKES(list, cumulus::function(x __VA_ARGS__, into(std::span(mutable_x)))));          \
  static_assert(CUMULUS_TAKES(vector, cumulus::function(x __VA_ARGS__, into(mutable_x.head(3))))); \
  static_assert(                                                                                   \
      CUMULUS_TAKES(vector, cumulus::function(mutable_x __VA_ARGS__, into(mutable_x.array()))));   \
  static_assert(CUMULUS_TAKES(double[3], cumulus::function(x __VA_ARGS__, into(mutable_x))));      \
  static_assert(                                                                                   \
      CUMULUS_TAKES(numbers, cumulus::function(x __VA_ARGS__, into(std::span<double>()))));        \
  static_assert(!CUMULUS_TAKES(list, cumulus::function(x __VA_ARGS__, mutable_x)));                \
  static_assert(!CUMULUS_TAKES(list, cumulus::function(x __VA_ARGS__, into(x))));                  \
  static_assert(!CUMULUS_TAKES(list, cumulus::function(x __VA_ARGS__, into(std::span(x)))));       \
  static_assert(!CUMULUS_TAKES(vector, cumulus::function(x __VA_ARGS__, into(x.head(3)))));        \
  static_assert(                                                                                   \
      !CUMULUS_TAKES(vector, cumulus::function(x __VA_ARGS__, into(mutable_x + mutable_x))));      \
  static_assert(                                                                                   \
      !CUMULUS_TAKES(vector, cumulus::function(x __VA_ARGS__, into(mutable_x.reverse()))));        \
  static_assert(                                                                                   \
      !CUMULUS_TAKES(std::vector<float>, cumulus::function(list() __VA_ARGS__, into(mutable_x)))); \
  static_assert(                                                                                   \
      !CUMULUS_TAKES(std::vector<int>, cumulus::function(x __VA_ARGS__, into(mutable_x))));        \
  static_assert(                                                                                   \
      !CUMULUS_TAKES(std::vector<bool>, cumulus::function(list() __VA_ARGS__, into(mutable_x))));  \
  static_assert(                                                                                   \
      !CUMULUS_TAKES(std::deque<double>, cumulus::function(list() __VA_ARGS__, into(mutable_x))))

#define CUMULUS_CHECK_INTO_MATRIX(function, ...)                                               \
  static_assert(                                                                               \
      CUMULUS_TAKES(matrix, cumulus::function(x __VA_ARGS__, into(mutable_x), rowwise)));      \
  static_assert(CUMULUS_TAKES(                                                                 \
      matrix, cumulus::function(x __VA_ARGS__, into(mutable_x.transpose()), colwise)));        \
  static_assert(CUMULUS_TAKES(                                                                 \
      matrix, cumulus::function(x __VA_ARGS__, into(mutable_x), rowwise, {.scale = 2})));      \
  static_assert(!CUMULUS_TAKES(matrix, cumulus::function(x __VA_ARGS__, into(mutable_x))));    \
  static_assert(!CUMULUS_TAKES(matrix, cumulus::function(x __VA_ARGS__, mutable_x)));          \
  static_assert(!CUMULUS_TAKES(matrix, cumulus::function(x __VA_ARGS__, mutable_x, rowwise))); \
  static_assert(!CUMULUS_TAKES(matrix, cumulus::function(x __VA_ARGS__, into(x), rowwise)));   \
  static_assert(                                                                               \
      !CUMULUS_TAKES(Eigen::MatrixXi, cumulus::function(x __VA_ARGS__, into(mutable_x), rowwise)))

CUMULUS_CHECK_INTO(softmax);
CUMULUS_CHECK_INTO(log_softmax);
CUMULUS_CHECK_INTO(logcumsumexp);
CUMULUS_CHECK_INTO(logsumexp_gradient);
CUMULUS_CHECK_INTO(logsumexp_gradient_weights);
CUMULUS_CHECK_INTO(normalise_log_weights);
CUMULUS_CHECK_INTO(segment_softmax, CUMULUS_AND std::vector<int>());
CUMULUS_CHECK_INTO(segment_softmax, CUMULUS_AND std::vector<int>() CUMULUS_AND 3);
CUMULUS_CHECK_INTO(segment_log_softmax, CUMULUS_AND std::vector<int>());
CUMULUS_CHECK_INTO(segment_log_softmax, CUMULUS_AND std::vector<int>() CUMULUS_AND 3);
CUMULUS_CHECK_INTO_MATRIX(softmax);
CUMULUS_CHECK_INTO_MATRIX(log_softmax);
CUMULUS_CHECK_INTO_MATRIX(normalise_log_weights);
CUMULUS_CHECK_INTO_MATRIX(logcumsumexp);
CUMULUS_CHECK_INTO_MATRIX(logsumexp_gradient);
CUMULUS_CHECK_INTO_MATRIX(logsumexp_gradient_weights);
CUMULUS_CHECK_INTO_MATRIX(softmax_jvp, CUMULUS_AND x);
CUMULUS_CHECK_INTO_MATRIX(softmax_vjp, CUMULUS_AND x);
CUMULUS_CHECK_INTO_MATRIX(log_softmax_vjp, CUMULUS_AND x);
CUMULUS_CHECK_INTO_MATRIX(logsumexp_hvp, CUMULUS_AND x);
static_assert(CUMULUS_TAKES(list, cumulus::softmax_jvp(x, x, into(mutable_x), {.scale = 2})));
static_assert(CUMULUS_TAKES(list, cumulus::logsumexp_hvp(x, std::vector<int>(), into(mutable_x))));
static_assert(!CUMULUS_TAKES(list, cumulus::softmax_vjp(x, x, into(x))));
static_assert(!CUMULUS_TAKES(std::vector<float>,
                             cumulus::log_softmax_vjp(list(), x, into(mutable_x))));
static_assert(!CUMULUS_TAKES(list, cumulus::softmax_jvp(x, std::vector<bool>())));
static_assert(!CUMULUS_TAKES(list, cumulus::softmax_jvp(x, with_rows())));

// Lists of numbers.
static_assert(CUMULUS_TAKES(list, cumulus::softmax({1.0, 2.0}, {.scale = 2})));
static_assert(CUMULUS_TAKES(list, cumulus::logsumexp({1, 2, 3})));
static_assert(CUMULUS_TAKES(list, cumulus::logvarexp({1, 2, 3}, {.correction = 1})));
static_assert(!CUMULUS_TAKES(list, cumulus::logsumexp({x[0] > 0, x[0] < 0})));
static_assert(!CUMULUS_TAKES(std::string, cumulus::logsumexp({x[0], x[1]})));

// A number or a vector where it has no meaning.
static_assert(!CUMULUS_TAKES(list, cumulus::logvarexp(x, 1.0)));
static_assert(!CUMULUS_TAKES(matrix, cumulus::logvarexp(x, 1.0)));
static_assert(!CUMULUS_TAKES(matrix, cumulus::logvarexp(x, rowwise, 1)));
static_assert(CUMULUS_TAKES(matrix, cumulus::logvarexp(x, rowwise, {.correction = 1})));
static_assert(!CUMULUS_TAKES(list, cumulus::logsumexp(x, into(mutable_x))));
static_assert(!CUMULUS_TAKES(list, cumulus::effective_sample_size(x, x)));
static_assert(!CUMULUS_TAKES(list, cumulus::segment_logsumexp(x, x)));
static_assert(!CUMULUS_TAKES(list, cumulus::segment_logsumexp(x, std::vector<bool>())));
static_assert(!CUMULUS_TAKES(list, cumulus::segment_logsumexp(x, std::vector<char>())));
static_assert(CUMULUS_TAKES(list, cumulus::segment_logsumexp(x, std::vector<unsigned char>(), 3)));
static_assert(!CUMULUS_TAKES(list, cumulus::segment_softmax(x, x)));
static_assert(!CUMULUS_TAKES(list, cumulus::segment_entropy(x, std::vector<bool>(), 3)));
static_assert(!CUMULUS_TAKES(list, cumulus::segment_softmax(x, std::vector<int>(), x)));
static_assert(!CUMULUS_TAKES(list, cumulus::segment_softmax(x, std::vector<int>(), 3, x)));
static_assert(CUMULUS_TAKES(list, cumulus::segment_softmax(x, std::vector<int>(), {.weights = x})));
static_assert(!CUMULUS_TAKES(list, cumulus::logsumexp_signed(x, std::vector<bool>())));
static_assert(!CUMULUS_TAKES(list, cumulus::logsumexp_signed(x, x, {.weights = x})));

// Options that a function does not honour.
static_assert(!CUMULUS_TAKES(list,
                             cumulus::logsumexp(x, {.degenerate = cumulus::degenerate::zero})));
static_assert(!CUMULUS_TAKES(
    list, cumulus::logsumexp_gradient(x, {.degenerate = cumulus::degenerate::zero})));
static_assert(!CUMULUS_TAKES(list, cumulus::logmeanexp(x, {.sink = 0})));
static_assert(!CUMULUS_TAKES(list, cumulus::softmax(x, {.correction = 1})));

TEST_CASE("refusals: calls that mean something are not caught by them", "[exact][edge]") {
  const Eigen::MatrixXd zeros = Eigen::MatrixXd::Zero(2, 3);
  const Eigen::VectorXd three = Eigen::VectorXd::Zero(3);
  const std::vector<double> sequence(3);
  Eigen::MatrixXd results(2, 3);
  Eigen::VectorXd out(3);
  cumulus::softmax(three, into(out));
  CHECK(out[0] == 1.0 / 3);
  cumulus::log_softmax(sequence, into(out), {.scale = 2});
  CHECK(out[0] == Approx(-std::log(3.0)).epsilon(1e-15));
  cumulus::softmax(zeros, into(results), rowwise);
  CHECK(results(1, 2) == 1.0 / 3);
  cumulus::softmax(zeros, into(results), colwise, {.scale = 2});
  CHECK(results(1, 2) == 0.5);
  cumulus::logsumexp_gradient(three, into(out.segment(0, 3)));
  CHECK(out[2] == 1.0 / 3);
  CHECK(cumulus::logsumexp(zeros, rowwise)[1] == Approx(std::log(3.0)).epsilon(1e-15));
}
