// SPDX-License-Identifier: MIT
#include <cumulus/core/plain.hpp>

#include <array>
#include <span>
#include <type_traits>
#include <vector>

#include "catch.hpp"

using cumulus::plain_of;

TEST_CASE("plain: results keep the shape, storage order and kind of their argument",
          "[core][value]") {
  using Eigen::Dynamic;
  static_assert(std::is_same_v<plain_of<std::vector<float>>, Eigen::VectorXf>);
  static_assert(std::is_same_v<plain_of<std::array<int, 3>>, Eigen::VectorXd>);
  static_assert(std::is_same_v<plain_of<std::span<const double>>, Eigen::VectorXd>);
  static_assert(std::is_same_v<plain_of<const double(&)[4]>, Eigen::VectorXd>);
  static_assert(std::is_same_v<plain_of<Eigen::RowVector3f>, Eigen::RowVector3f>);
  static_assert(std::is_same_v<plain_of<const Eigen::Vector4i&>, Eigen::Vector4d>);
  static_assert(std::is_same_v<plain_of<Eigen::ArrayXXf>, Eigen::ArrayXXf>);
  static_assert(std::is_same_v<plain_of<Eigen::ArrayXi>, Eigen::ArrayXd>);
  using by_rows = Eigen::Matrix<float, Dynamic, Dynamic, Eigen::RowMajor>;
  static_assert(std::is_same_v<plain_of<by_rows>, by_rows>);
  static_assert(std::is_same_v<plain_of<Eigen::Block<by_rows>>, by_rows>);
  static_assert(std::is_same_v<plain_of<Eigen::Map<const Eigen::VectorXd>>, Eigen::VectorXd>);

  Eigen::MatrixXi a(2, 3);
  a.setZero();
  static_assert(std::is_same_v<plain_of<decltype(a.row(0))>, Eigen::RowVectorXd>);
  static_assert(std::is_same_v<plain_of<decltype(a.col(0))>, Eigen::VectorXd>);
  static_assert(std::is_same_v<plain_of<decltype(a + a)>, Eigen::MatrixXd>);
  const plain_of<decltype(a.row(0))> row = a.row(0).cast<double>();
  CHECK(row.size() == 3);
}

TEST_CASE("plain: one result a row is a column, one a column is a row", "[core][value]") {
  static_assert(
      std::is_same_v<cumulus::per_line<Eigen::MatrixXf, cumulus::rowwise_t>, Eigen::VectorXf>);
  static_assert(
      std::is_same_v<cumulus::per_line<Eigen::MatrixXf, cumulus::colwise_t>, Eigen::RowVectorXf>);
  static_assert(std::is_same_v<cumulus::per_line<Eigen::Matrix<int, 2, 3>, cumulus::rowwise_t>,
                               Eigen::Vector2d>);
  static_assert(std::is_same_v<cumulus::per_line<Eigen::Matrix<int, 2, 3>, cumulus::colwise_t>,
                               Eigen::RowVector3d>);
  SUCCEED();
}
