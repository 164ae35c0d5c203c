// SPDX-License-Identifier: MIT
// Ours before Eigen: a result type is spelled without its headers.
#include <cumulus/core/results.hpp>

#include <Eigen/Core>

#include <array>
#include <deque>
#include <initializer_list>
#include <list>
#include <span>
#include <type_traits>
#include <vector>

#include "catch.hpp"

using cumulus::colwise_t;
using cumulus::result_like;
using cumulus::result_list;
using cumulus::result_per_line;
using cumulus::rowwise_t;

namespace {

template <class X, class Expected>
constexpr bool gives = std::is_same_v<result_like<X>, Expected>;

}  // namespace

TEST_CASE("results: a range gives a std::vector, an array an array", "[core][value]") {
  static_assert(gives<std::vector<float>, std::vector<float>>);
  static_assert(gives<const std::vector<int>&, std::vector<double>>);
  static_assert(gives<std::span<const double>, std::vector<double>>);
  static_assert(gives<std::span<float, 4>, std::vector<float>>);
  static_assert(gives<std::deque<long>, std::vector<double>>);
  static_assert(gives<std::list<float>, std::vector<float>>);
  static_assert(gives<std::initializer_list<int>, std::vector<double>>);
  static_assert(gives<std::array<int, 3>, std::array<double, 3>>);
  static_assert(gives<const std::array<float, 3>&, std::array<float, 3>>);
  static_assert(gives<double[4], std::array<double, 4>>);
  static_assert(gives<const short(&)[4], std::array<double, 4>>);
  static_assert(gives<std::vector<Eigen::half>, std::vector<Eigen::half>>);
  static_assert(gives<std::array<Eigen::bfloat16, 2>, std::array<Eigen::bfloat16, 2>>);
  static_assert(gives<std::vector<long double>, std::vector<long double>>);
  SUCCEED();
}

TEST_CASE("results: an Eigen type keeps its shape, storage order and kind", "[core][value]") {
  using Eigen::Dynamic;
  static_assert(gives<Eigen::VectorXi, Eigen::VectorXd>);
  static_assert(gives<Eigen::ArrayXf, Eigen::ArrayXf>);
  static_assert(gives<Eigen::ArrayXi, Eigen::ArrayXd>);
  static_assert(gives<Eigen::Matrix<float, 3, 1>, Eigen::Vector3f>);
  static_assert(gives<const Eigen::Vector4i&, Eigen::Vector4d>);
  static_assert(gives<Eigen::RowVector3f, Eigen::RowVector3f>);
  static_assert(gives<Eigen::ArrayXXf, Eigen::ArrayXXf>);
  static_assert(
      gives<Eigen::Matrix<Eigen::half, Dynamic, 1>, Eigen::Matrix<Eigen::half, Dynamic, 1>>);
  static_assert(gives<Eigen::Array<Eigen::bfloat16, 2, 2>, Eigen::Array<Eigen::bfloat16, 2, 2>>);
  using by_rows = Eigen::Matrix<float, Dynamic, Dynamic, Eigen::RowMajor>;
  static_assert(gives<by_rows, by_rows> && gives<Eigen::Block<by_rows>, by_rows>);
  static_assert(gives<Eigen::Map<const Eigen::VectorXd>, Eigen::VectorXd>);
  static_assert(gives<Eigen::Map<Eigen::ArrayXi, 0, Eigen::InnerStride<>>, Eigen::ArrayXd>);
  static_assert(gives<Eigen::Ref<const Eigen::MatrixXi>, Eigen::MatrixXd>);
  using bounded = Eigen::Matrix<int, Dynamic, 1, 0, 16, 1>;
  static_assert(gives<bounded, Eigen::Matrix<double, Dynamic, 1, 0, 16, 1>>);

  Eigen::MatrixXi a(2, 3);
  a.setZero();
  static_assert(gives<decltype(a.row(0)), Eigen::RowVectorXd>);
  static_assert(gives<decltype(a.col(0)), Eigen::VectorXd>);
  static_assert(gives<decltype(a.col(0).head(2)), Eigen::VectorXd>);
  static_assert(gives<decltype(a.array().col(0)), Eigen::ArrayXd>);
  static_assert(gives<decltype(a + a), Eigen::MatrixXd>);
  static_assert(
      gives<decltype(a.transpose()), Eigen::Matrix<double, Dynamic, Dynamic, Eigen::RowMajor>>);
  const result_like<decltype(a.row(0))> row = a.row(0).cast<double>();
  CHECK(row.size() == 3);
}

TEST_CASE("results: one result a row is a column, one a column is a row", "[core][value]") {
  static_assert(std::is_same_v<result_per_line<Eigen::MatrixXf, rowwise_t>, Eigen::VectorXf>);
  static_assert(std::is_same_v<result_per_line<Eigen::MatrixXf, colwise_t>, Eigen::RowVectorXf>);
  static_assert(std::is_same_v<result_per_line<Eigen::ArrayXXi, rowwise_t>, Eigen::VectorXd>);
  static_assert(
      std::is_same_v<result_per_line<const Eigen::ArrayXXd&, colwise_t>, Eigen::RowVectorXd>);
  static_assert(
      std::is_same_v<result_per_line<Eigen::Matrix<int, 2, 3>, rowwise_t>, Eigen::Vector2d>);
  static_assert(
      std::is_same_v<result_per_line<Eigen::Matrix<int, 2, 3>, colwise_t>, Eigen::RowVector3d>);
  static_assert(std::is_same_v<result_per_line<Eigen::VectorXf, rowwise_t>, Eigen::VectorXf>);
  static_assert(
      std::is_same_v<result_per_line<Eigen::VectorXf, colwise_t>, Eigen::Matrix<float, 1, 1>>);
  using by_rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  static_assert(std::is_same_v<result_per_line<by_rows, rowwise_t>, Eigen::VectorXd>);
  static_assert(std::is_same_v<result_per_line<by_rows, colwise_t>, Eigen::RowVectorXd>);
  SUCCEED();
}

TEST_CASE("results: a list of another size is a column or a std::vector", "[core][value]") {
  static_assert(std::is_same_v<result_list<Eigen::RowVectorXi>, Eigen::VectorXd>);
  static_assert(std::is_same_v<result_list<Eigen::ArrayXf>, Eigen::VectorXf>);
  static_assert(std::is_same_v<result_list<std::array<int, 3>>, std::vector<double>>);
  static_assert(std::is_same_v<result_list<float[3]>, std::vector<float>>);
  SUCCEED();
}

TEST_CASE("results: an owning object has the size and the kind of its model", "[core][value]") {
  CHECK(cumulus::detail::sized_like(std::deque<int>(3)).size() == 3);
  CHECK(cumulus::detail::sized_like(Eigen::MatrixXi(2, 5)).cols() == 5);
  CHECK(cumulus::detail::sized_like(std::array<float, 2>()) == std::array{0.0f, 0.0f});
  CHECK(cumulus::detail::sized_like(Eigen::RowVectorXf(4)).size() == 4);
}
