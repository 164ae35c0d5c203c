// SPDX-License-Identifier: MIT
#include <cumulus/detail/exact/refusals.hpp>

#include <cumulus/exact/log_softmax.hpp>
#include <cumulus/exact/log_weights.hpp>
#include <cumulus/exact/logmeanexp.hpp>
#include <cumulus/exact/logsumexp.hpp>
#include <cumulus/exact/logsumexp_gradient.hpp>
#include <cumulus/exact/softmax.hpp>
#include <cumulus/exact/softmax_entropy.hpp>

#include <array>
#include <cmath>
#include <span>
#include <vector>

#include "catch.hpp"

// A refused call is one that compiles no further than its message: it returns nothing, which an
// unevaluated operand tells. The messages themselves are those of the programs in compile_fail.
#define CUMULUS_REFUSES(...) static_assert(std::is_void_v<decltype(__VA_ARGS__)>)
#define CUMULUS_TAKES(...) static_assert(!std::is_void_v<decltype(__VA_ARGS__)>)

using cumulus::colwise;
using cumulus::rowwise;

namespace {

const Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(2, 3);
const Eigen::ArrayXXf array = Eigen::ArrayXXf::Zero(2, 3);
const Eigen::VectorXd vector = Eigen::VectorXd::Zero(3);
const std::vector<double> sequence(3);
const std::vector<bool> bits(3);
Eigen::VectorXd out(3);

}  // namespace

#define CUMULUS_CHECK_ALL(function)                                    \
  CUMULUS_REFUSES(cumulus::function(matrix));                          \
  CUMULUS_REFUSES(cumulus::function(array));                           \
  CUMULUS_REFUSES(cumulus::function(matrix + matrix));                 \
  CUMULUS_REFUSES(cumulus::function(matrix.transpose()));              \
  CUMULUS_REFUSES(cumulus::function(matrix.leftCols(1)));              \
  CUMULUS_TAKES(cumulus::function(vector));                            \
  CUMULUS_TAKES(cumulus::function(matrix.row(0)));                     \
  CUMULUS_TAKES(cumulus::function(matrix.col(0)));                     \
  CUMULUS_TAKES(cumulus::function(vector + vector));                   \
  CUMULUS_TAKES(cumulus::function(sequence));                          \
  CUMULUS_TAKES(cumulus::function(std::array{1.0, 2.0}));              \
  CUMULUS_TAKES(cumulus::function(std::span<const double>(sequence))); \
  CUMULUS_TAKES(cumulus::function(Eigen::Matrix<double, 1, 3>(vector.transpose())))

#define CUMULUS_CHECK_OPTIONS(function)                              \
  CUMULUS_REFUSES(cumulus::function(matrix, {.scale = 2}));          \
  CUMULUS_TAKES(cumulus::function(matrix, rowwise));                 \
  CUMULUS_TAKES(cumulus::function(matrix, colwise));                 \
  CUMULUS_TAKES(cumulus::function(array, rowwise));                  \
  CUMULUS_TAKES(cumulus::function(matrix, rowwise, {.scale = 2}));   \
  CUMULUS_TAKES(cumulus::function(vector, {.scale = 2}));            \
  CUMULUS_TAKES(cumulus::function(vector, {}));                      \
  CUMULUS_TAKES(cumulus::function(sequence, {.weights = sequence})); \
  CUMULUS_TAKES(cumulus::function(vector, rowwise))

CUMULUS_CHECK_ALL(logsumexp);
CUMULUS_CHECK_ALL(softmax);
CUMULUS_CHECK_ALL(log_softmax);
CUMULUS_CHECK_ALL(logmeanexp);
CUMULUS_CHECK_ALL(logvarexp);
CUMULUS_CHECK_ALL(softmax_entropy);
CUMULUS_CHECK_ALL(logsumexp_gradient);
CUMULUS_CHECK_ALL(logsumexp_gradient_weights);
CUMULUS_CHECK_ALL(normalise_log_weights);
CUMULUS_CHECK_ALL(effective_sample_size);
CUMULUS_CHECK_ALL(perplexity);

CUMULUS_CHECK_OPTIONS(logsumexp);
CUMULUS_CHECK_OPTIONS(softmax);
CUMULUS_CHECK_OPTIONS(log_softmax);
CUMULUS_CHECK_OPTIONS(logmeanexp);
CUMULUS_CHECK_OPTIONS(softmax_entropy);
CUMULUS_CHECK_OPTIONS(logsumexp_gradient);
CUMULUS_CHECK_OPTIONS(logsumexp_gradient_weights);

CUMULUS_REFUSES(cumulus::logsumexp(bits));
CUMULUS_REFUSES(cumulus::logmeanexp(bits));
CUMULUS_REFUSES(cumulus::logvarexp(bits));
CUMULUS_REFUSES(cumulus::softmax_entropy(bits));
CUMULUS_REFUSES(cumulus::effective_sample_size(bits));
CUMULUS_REFUSES(cumulus::perplexity(bits));
CUMULUS_REFUSES(cumulus::softmax(bits));
CUMULUS_REFUSES(cumulus::log_softmax(bits));
CUMULUS_REFUSES(cumulus::logsumexp_gradient(bits));
CUMULUS_REFUSES(cumulus::logsumexp_gradient_weights(bits));
CUMULUS_REFUSES(cumulus::normalise_log_weights(bits));
CUMULUS_REFUSES(cumulus::softmax(matrix, cumulus::into(matrix)));
CUMULUS_REFUSES(cumulus::logvarexp(matrix, 1.0));
CUMULUS_TAKES(cumulus::logvarexp(matrix, rowwise, 1));

TEST_CASE("refusals: calls that mean something are not caught by them", "[exact][edge]") {
  Eigen::MatrixXd results(2, 3);
  cumulus::softmax(vector, cumulus::into(out));
  CHECK(out[0] == 1.0 / 3);
  cumulus::log_softmax(sequence, cumulus::into(out), {.scale = 2});
  CHECK(out[0] == Approx(-std::log(3.0)).epsilon(1e-15));
  cumulus::softmax(matrix, cumulus::into(results), rowwise);
  CHECK(results(1, 2) == 1.0 / 3);
  cumulus::softmax(matrix, cumulus::into(results), colwise, {.scale = 2});
  CHECK(results(1, 2) == 0.5);
  cumulus::logsumexp_gradient(vector, cumulus::into(out.segment(0, 3)));
  CHECK(out[2] == 1.0 / 3);
  CHECK(cumulus::logsumexp(matrix, rowwise)[1] == Approx(std::log(3.0)).epsilon(1e-15));
}
