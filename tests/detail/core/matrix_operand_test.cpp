// SPDX-License-Identifier: MIT
#include <cumulus/detail/core/matrix_operand.hpp>

#include <array>
#include <vector>

#include "catch.hpp"
#include "kinds.hpp"
#include "refusal.hpp"

using cumulus::detail::broadcast_operand;
using cumulus::detail::line_number;
using cumulus::detail::matrix_operand;

namespace {

using matrix = kinds::col_major<double>;

matrix numbers() {
  matrix x(3, 4);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 4; ++j) x(i, j) = 10 * i + j;
  return x;
}

template <class S>
bool holds(const cumulus::detail::strided_matrix<S>& view, const matrix& expected) {
  bool result = view.rows == expected.rows() && view.cols == expected.cols();
  for (Eigen::Index i = 0; result && i < expected.rows(); ++i)
    for (Eigen::Index j = 0; result && j < expected.cols(); ++j)
      result = view.row(i)[j] == expected(i, j);
  return result;
}

}  // namespace

TEST_CASE("matrix_operand: every kind of matrix, as it lies or evaluated", "[core][value]") {
  const matrix expected = numbers();
  kinds::each_matrix<double>(expected, [&](const char* kind, const auto& x) {
    CAPTURE(kind);
    const matrix_operand<std::remove_cvref_t<decltype(x)>> held(x);
    CHECK(holds(held.view(), expected));
    CHECK(holds(held.view().transposed(), matrix(expected.transpose())));
  });
  CHECK(matrix_operand<matrix>(expected).view().data == expected.data());
  const auto block = expected.block(1, 1, 2, 3);
  CHECK(matrix_operand<std::remove_cvref_t<decltype(block)>>(block).view().data ==
        &expected.coeffRef(1, 1));
}

TEST_CASE("matrix_operand: integers become double, float stays", "[core][value]") {
  const matrix expected = numbers();
  const Eigen::MatrixXi whole = expected.cast<int>();
  const matrix_operand<Eigen::MatrixXi> held(whole);
  static_assert(std::is_same_v<decltype(held.view().data), const double*>);
  CHECK(holds(held.view(), expected));
  const Eigen::MatrixXf single = expected.cast<float>();
  CHECK(matrix_operand<Eigen::MatrixXf>(single).view().data == single.data());
}

TEST_CASE("matrix_operand: no rows or no columns", "[core][edge]") {
  const matrix none(0, 4), empty(3, 0);
  CHECK(matrix_operand<matrix>(none).view().rows == 0);
  CHECK(matrix_operand<matrix>(empty).view().cols == 0);
}

TEST_CASE("matrix_operand: an option of the matrix's shape, line by line", "[core][value]") {
  const matrix expected = numbers();
  kinds::each_matrix<double>(expected, [&](const char* kind, const auto& x) {
    CAPTURE(kind);
    const broadcast_operand<double> option(x);
    const broadcast_operand<float> converted(x);
    CHECK(option.given());
    bool all = true;
    for (Eigen::Index i = 0; i < 3; ++i)
      for (Eigen::Index j = 0; j < 4; ++j) {
        all = all && option.line(i, false)[j] == expected(i, j) &&
              option.line(j, true)[i] == expected(i, j) &&
              converted.line(i, false)[j] == float(expected(i, j));
      }
    CHECK(all);
    CHECK(option.line(0, false).size == 4);
    CHECK(option.line(0, true).size == 3);
  });
}

TEST_CASE("matrix_operand: one line serves all", "[core][value]") {
  const std::vector<double> line{1, 2, 3, 4};
  const broadcast_operand<double> option(line);
  for (const cumulus::index_t i : {0, 2, 9}) {
    CHECK(option.line(i, false).data == line.data());
    CHECK(option.line(i, true)[3] == 4);
  }
  const std::array<bool, 4> keep{true, false, true, true};
  const broadcast_operand<bool> mask(keep);
  CHECK_FALSE(mask.line(1, false)[1]);
  CHECK(mask.line(1, false)[2]);
  const broadcast_operand<double> absent;
  CHECK_FALSE(absent.given());
  CHECK(absent.line(0, false).data == nullptr);
}

TEST_CASE("matrix_operand: options that fit neither the matrix nor a line are refused",
          "[core][edge]") {
  const auto refused = [](const auto& x, bool by_columns) {
    const broadcast_operand<double> option(x);
    return refusal([&] { option.require_shape("f", "weights", 3, 4, by_columns); });
  };
  const std::vector<double> three(3), four(4);
  CHECK(refused(four, false).empty());
  CHECK(refused(three, true).empty());
  CHECK(refused(matrix(3, 4), false).empty());
  CHECK(refused(matrix(3, 4), true).empty());
  CHECK(refused(three, false) == "cumulus: f: a row of x has 4 elements, weights has 3");
  CHECK(refused(four, true) == "cumulus: f: a column of x has 3 elements, weights has 4");
  CHECK(refused(matrix(4, 3), false) == "cumulus: f: x is 3 x 4, weights is 4 x 3");
  CHECK(refused(matrix(1, 4), false) == "cumulus: f: x is 3 x 4, weights is 1 x 4");
  CHECK(refused(Eigen::RowVectorXd(4), false).empty());
  CHECK(refused(Eigen::VectorXd(4), false).empty());
  const broadcast_operand<double> absent;
  CHECK_NOTHROW(absent.require_shape("f", "weights", 3, 4, false));
}

TEST_CASE("matrix_operand: a number for all lines, or one for each", "[core][value]") {
  const line_number one(2.5), absent, each(std::array{1.0f, 2.0f, 3.0f});
  CHECK(one.given());
  CHECK(one[0] == 2.5);
  CHECK(one[7] == 2.5);
  CHECK_FALSE(absent.given());
  CHECK(each[2] == 3.0);
  CHECK_NOTHROW(one.require_count("f", "scale", 9));
  CHECK_NOTHROW(each.require_count("f", "scale", 3));
  CHECK(refusal([&] { each.require_count("f", "scale", 2); }) ==
        "cumulus: f: the result has 2 elements, scale has 3");
  const Eigen::RowVectorXi whole = Eigen::RowVectorXi::Constant(2, 4);
  CHECK(line_number(whole)[1] == 4.0);
}
