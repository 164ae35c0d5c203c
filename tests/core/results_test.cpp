// SPDX-License-Identifier: MIT
#include <cumulus/core/results.hpp>

#include <array>
#include <span>
#include <type_traits>
#include <vector>

#include "catch.hpp"

using cumulus::result_like;

TEST_CASE("plain: results keep the shape, storage order and kind of their argument",
          "[core][value]") {
  using Eigen::Dynamic;
  static_assert(std::is_same_v<result_like<std::vector<float>>, Eigen::VectorXf>);
  static_assert(std::is_same_v<result_like<std::array<int, 3>>, Eigen::VectorXd>);
  static_assert(std::is_same_v<result_like<std::span<const double>>, Eigen::VectorXd>);
  static_assert(std::is_same_v<result_like<const double(&)[4]>, Eigen::VectorXd>);
  static_assert(std::is_same_v<result_like<Eigen::RowVector3f>, Eigen::RowVector3f>);
  static_assert(std::is_same_v<result_like<const Eigen::Vector4i&>, Eigen::Vector4d>);
  static_assert(std::is_same_v<result_like<Eigen::ArrayXXf>, Eigen::ArrayXXf>);
  static_assert(std::is_same_v<result_like<Eigen::ArrayXi>, Eigen::ArrayXd>);
  using by_rows = Eigen::Matrix<float, Dynamic, Dynamic, Eigen::RowMajor>;
  static_assert(std::is_same_v<result_like<by_rows>, by_rows>);
  static_assert(std::is_same_v<result_like<Eigen::Block<by_rows>>, by_rows>);
  static_assert(std::is_same_v<result_like<Eigen::Map<const Eigen::VectorXd>>, Eigen::VectorXd>);

  Eigen::MatrixXi a(2, 3);
  a.setZero();
  static_assert(std::is_same_v<result_like<decltype(a.row(0))>, Eigen::RowVectorXd>);
  static_assert(std::is_same_v<result_like<decltype(a.col(0))>, Eigen::VectorXd>);
  static_assert(std::is_same_v<result_like<decltype(a + a)>, Eigen::MatrixXd>);
  const result_like<decltype(a.row(0))> row = a.row(0).cast<double>();
  CHECK(row.size() == 3);
}

TEST_CASE("plain: one result a row is a column, one a column is a row", "[core][value]") {
  static_assert(
      std::is_same_v<cumulus::result_per_line<Eigen::MatrixXf, cumulus::rowwise_t>, Eigen::VectorXf>);
  static_assert(
      std::is_same_v<cumulus::result_per_line<Eigen::MatrixXf, cumulus::colwise_t>, Eigen::RowVectorXf>);
  static_assert(std::is_same_v<cumulus::result_per_line<Eigen::Matrix<int, 2, 3>, cumulus::rowwise_t>,
                               Eigen::Vector2d>);
  static_assert(std::is_same_v<cumulus::result_per_line<Eigen::Matrix<int, 2, 3>, cumulus::colwise_t>,
                               Eigen::RowVector3d>);
  SUCCEED();
}
