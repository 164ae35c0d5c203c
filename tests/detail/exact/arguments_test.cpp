// SPDX-License-Identifier: MIT
#include <cumulus/detail/exact/arguments.hpp>

#include <cumulus/exact/log_softmax.hpp>
#include <cumulus/exact/logsumexp.hpp>
#include <cumulus/exact/softmax.hpp>

#include <vector>

#include "catch.hpp"
#include "families.hpp"
#include "kinds.hpp"

using cumulus::colwise;
using cumulus::rowwise;

namespace {

using matrix = kinds::col_major<double>;

matrix numbers() {
  const auto values = families::normal<double>(7 * 5, 2.0, 3.0, 4u);
  return Eigen::Map<const matrix>(values.data(), 7, 5);
}

}  // namespace

TEST_CASE("arguments: logsumexp along every kind of matrix", "[exact][value]") {
  const matrix values = numbers();
  Eigen::VectorXd by_rows(7);
  Eigen::RowVectorXd by_cols(5);
  for (int i = 0; i < 7; ++i) by_rows[i] = cumulus::logsumexp(values.row(i));
  for (int j = 0; j < 5; ++j) by_cols[j] = cumulus::logsumexp(values.col(j));
  kinds::each_matrix<double>(values, [&](const char* kind, const auto& x) {
    CAPTURE(kind);
    CHECK(Eigen::VectorXd(cumulus::logsumexp(x, rowwise)) == by_rows);
    CHECK(Eigen::RowVectorXd(cumulus::logsumexp(x, colwise)) == by_cols);
  });
}

TEST_CASE("arguments: softmax along every kind of matrix, into a block", "[exact][value]") {
  const matrix values = numbers();
  matrix by_rows(7, 5), by_cols(7, 5);
  for (int i = 0; i < 7; ++i) by_rows.row(i) = cumulus::softmax(values.row(i));
  for (int j = 0; j < 5; ++j) by_cols.col(j) = cumulus::softmax(values.col(j));
  kinds::each_matrix<double>(values, [&](const char* kind, const auto& x) {
    CAPTURE(kind);
    CHECK(matrix(cumulus::softmax(x, rowwise)) == by_rows);
    CHECK(matrix(cumulus::softmax(x, colwise)) == by_cols);
    kinds::row_major<double> padded = kinds::row_major<double>::Constant(9, 8, 7.0);
    cumulus::softmax(x, cumulus::into(padded.block(1, 2, 7, 5)), rowwise);
    CHECK(matrix(padded.block(1, 2, 7, 5)) == by_rows);
    cumulus::softmax(x, cumulus::into(padded.block(1, 2, 7, 5)), colwise);
    CHECK(matrix(padded.block(1, 2, 7, 5)) == by_cols);
    CHECK((padded.array() == 7.0).count() == 9 * 8 - 7 * 5);
  });
}

TEST_CASE("arguments: log_softmax along rows and columns in either storage order",
          "[exact][value]") {
  const matrix values = numbers();
  const kinds::row_major<double> by_row_storage = values;
  const matrix by_rows = cumulus::log_softmax(values, rowwise);
  const matrix by_cols = cumulus::log_softmax(values, colwise);
  for (int i = 0; i < 7; ++i) CHECK(by_rows.row(i) == cumulus::log_softmax(values.row(i)));
  for (int j = 0; j < 5; ++j) CHECK(by_cols.col(j) == cumulus::log_softmax(values.col(j)));
  CHECK(matrix(cumulus::log_softmax(by_row_storage, rowwise)) == by_rows);
  CHECK(matrix(cumulus::log_softmax(by_row_storage, colwise)) == by_cols);
}
