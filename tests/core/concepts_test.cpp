// SPDX-License-Identifier: MIT
#include <cumulus/core/concepts.hpp>

#include <Eigen/Core>

#include <array>
#include <complex>
#include <cstdint>
#include <deque>
#include <forward_list>
#include <list>
#include <span>
#include <string>
#include <vector>

#include "catch.hpp"
#include "wide.hpp"

using namespace cumulus;
using namespace cumulus::detail;

namespace {

using matrix = Eigen::MatrixXd;
using vector = Eigen::VectorXd;
using head = decltype(std::declval<vector&>().head(2));
using row = decltype(std::declval<matrix&>().row(0));
using const_row = decltype(std::declval<const matrix&>().row(0));
using sum = decltype(vector() + vector());
using reversed = decltype(std::declval<vector&>().reverse());
using map = Eigen::Map<vector, 0, Eigen::InnerStride<>>;
using const_map = Eigen::Map<const vector>;

}  // namespace

TEST_CASE("concepts: what is a vector, and what is not", "[core][value]") {
  static_assert(real_vector<vector> && real_vector<const vector&> &&
                real_vector<Eigen::RowVector3f>);
  static_assert(real_vector<Eigen::ArrayXi> && real_vector<Eigen::Vector2d>);
  static_assert(real_vector<head> && real_vector<row> && real_vector<sum> && real_vector<reversed>);
  static_assert(real_vector<map> && real_vector<const_map> && real_vector<Eigen::Ref<vector>>);
  static_assert(real_vector<decltype(std::declval<matrix&>().diagonal())>);
  static_assert(real_vector<Eigen::Matrix<double, 1, 1>>);
  static_assert(real_vector<std::vector<float>> && real_vector<const std::vector<int>&>);
  static_assert(real_vector<std::array<double, 3>> && real_vector<std::span<const double>>);
  static_assert(real_vector<double[3]> && real_vector<const float(&)[2]>);
  static_assert(real_vector<std::vector<oracle::wide>>);
  static_assert(real_vector<std::deque<double>> && real_vector<std::list<double>>);  // copied once
  static_assert(real_vector<std::initializer_list<double>>);
  static_assert(real_vector<std::vector<std::int8_t>> && real_vector<std::vector<unsigned char>>);
  static_assert(real_vector<Eigen::Matrix<Eigen::half, 3, 1>> &&
                real_vector<std::vector<Eigen::bfloat16>>);

  static_assert(!real_vector<matrix> && !real_vector<Eigen::ArrayXXf>);
  static_assert(!real_vector<decltype(std::declval<matrix&>().block(0, 0, 1, 1))>);
  static_assert(!real_vector<std::vector<bool>> && !real_vector<std::array<bool, 4>>);  // masks
  static_assert(!real_vector<std::string> && !real_vector<std::vector<char>> &&
                !real_vector<std::u16string>);
  static_assert(!real_vector<std::forward_list<double>>);  // its size is not known
  static_assert(!real_vector<double> && !real_vector<double*> && !real_vector<int>);
  static_assert(!real_vector<std::vector<std::string>>);
  static_assert(!real_vector<std::vector<std::vector<double>>>);
  SUCCEED();
}

TEST_CASE("concepts: what is a mask, and what is not", "[core][value]") {
  static_assert(mask_vector<std::vector<bool>> && mask_vector<std::array<bool, 3>> &&
                mask_vector<bool[2]>);
  static_assert(mask_vector<std::span<const bool>> && mask_vector<Eigen::Array<bool, 3, 1>>);
  static_assert(mask_vector<decltype(vector().array() > 0)> && mask_vector<std::deque<bool>>);
  static_assert(mask_matrix<decltype(matrix().array() > 0)> &&
                mask_matrix<Eigen::Array<bool, 3, 1>>);
  static_assert(!mask_vector<std::vector<int>> && !mask_vector<std::vector<char>> &&
                !mask_vector<vector>);
  static_assert(!mask_vector<decltype(matrix().array() > 0)> && !mask_matrix<std::vector<bool>>);
  static_assert(!mask_matrix<matrix> && !mask_vector<bool>);
  SUCCEED();
}

TEST_CASE("concepts: a matrix of another library is neither vector nor matrix", "[core][value]") {
  struct
      dense {  // as in Armadillo, xtensor, Blaze, NumCpp: any of their ways to say how large it is
    const double* begin() const;
    const double* end() const;
    std::size_t size() const;
  };
  struct with_rows : dense {
    int rows() const;
    int cols() const;
  };
  struct with_count : dense {
    int n_rows;
  };
  struct with_shape : dense {
    std::array<int, 2> shape() const;
  };
  struct with_dimensions : dense {
    std::array<int, 2> dimensions() const;
  };
  static_assert(real_vector<dense>);
  static_assert(!real_vector<with_rows> && !real_vector<with_count> && !real_vector<with_shape>);
  static_assert(!real_vector<with_dimensions> && !real_matrix<with_rows> &&
                !mask_vector<with_shape>);
  static_assert(foreign_array<with_rows> && foreign_array<with_count> && foreign_array<with_shape>);
  static_assert(foreign_array<with_dimensions> && !foreign_array<dense> && !foreign_array<matrix>);
  SUCCEED();
}

TEST_CASE("concepts: what is a matrix, and what lies in memory", "[core][value]") {
  static_assert(real_matrix<matrix> && real_matrix<vector> && real_matrix<row>);
  static_assert(real_matrix<decltype(matrix() * 2.0)>);
  static_assert(!real_matrix<std::vector<double>> && !real_matrix<double>);
  static_assert(strided_dense<matrix> && strided_dense<row> && strided_dense<head>);
  static_assert(strided_dense<map> && strided_dense<Eigen::Ref<matrix>>);
  static_assert(strided_dense<decltype(std::declval<matrix&>().transpose())>);
  static_assert(!strided_dense<sum> && !strided_dense<reversed>);
  static_assert(!strided_dense<std::vector<double>>);
  SUCCEED();
}

TEST_CASE("concepts: a real scalar is known by its order, complex numbers have none",
          "[core][edge]") {
  using wide_vector = Eigen::Matrix<oracle::wide, Eigen::Dynamic, 1>;
  static_assert(real_vector<wide_vector> && real_matrix<wide_vector>);
  static_assert(!real_vector<Eigen::VectorXcd> && !real_matrix<Eigen::MatrixXcd>);
  static_assert(!real_vector<std::vector<std::complex<double>>>);
  SUCCEED();
}

TEST_CASE("concepts: elements and results", "[core][value]") {
  static_assert(std::is_same_v<scalar_of<const std::vector<int>&>, int>);
  static_assert(std::is_same_v<scalar_of<std::span<const float>>, float>);
  static_assert(std::is_same_v<scalar_of<const double(&)[3]>, double>);
  static_assert(std::is_same_v<scalar_of<row>, double>);
  static_assert(std::is_same_v<result_of<std::vector<int>>, double>);
  static_assert(std::is_same_v<result_of<Eigen::VectorXf>, float>);
  SUCCEED();
}

TEST_CASE("concepts: where results can be written", "[core][value]") {
  static_assert(out_vector<vector&, double> && out_vector<std::vector<double>&, double>);
  static_assert(out_vector<std::span<double>, double> && out_vector<double(&)[3], double>);
  static_assert(
      out_vector<const std::span<double>&, double>);  // the span is const, not the numbers
  static_assert(out_vector<head, double> && out_vector<row, double> && out_vector<map, double>);
  static_assert(out_matrix<matrix&, double>);
  static_assert(out_matrix<decltype(std::declval<matrix&>().transpose()), double>);

  static_assert(!out_vector<const vector&, double> && !out_vector<const_map, double>);
  static_assert(!out_vector<const std::vector<double>&, double>);
  static_assert(!out_vector<std::span<const double>, double>);
  static_assert(!out_vector<const_row, double>);
  static_assert(!out_vector<sum, double> && !out_vector<reversed, double>);
  static_assert(!out_vector<vector&, float> && !out_vector<std::vector<int>&, double>);
  static_assert(!out_vector<matrix&, double> && !out_matrix<const matrix&, double>);
  SUCCEED();
}
