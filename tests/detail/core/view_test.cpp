// SPDX-License-Identifier: MIT
#include <cumulus/detail/core/view.hpp>

#include <Eigen/Core>

#include <array>
#include <span>
#include <vector>

#include "catch.hpp"
#include "kinds.hpp"

using cumulus::detail::operand;
using cumulus::detail::overlaps;
using cumulus::detail::strided;
using cumulus::detail::strided_matrix;
using cumulus::detail::strided_matrix_view;
using cumulus::detail::strided_view;

TEST_CASE("view: an operand reads every kind of vector", "[core][value]") {
  std::vector<double> values(kinds::size);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = double(i * i) - 3;
  kinds::each_vector(values, [&](const char* kind, const auto& x) {
    CAPTURE(kind);
    const operand<double> same(x);
    const operand<float> converted(x);
    CHECK(same.given());
    REQUIRE(same.size() == cumulus::index_t(kinds::size));
    bool all = true;
    for (cumulus::index_t i = 0; i < same.size(); ++i) {
      all = all && same.view()[i] == values[std::size_t(i)];
      all = all && converted.view()[i] == float(values[std::size_t(i)]);
    }
    CHECK(all);
  });
}

TEST_CASE("view: an operand reads memory where it lies and copies the rest", "[core][value]") {
  const std::vector<double> x{1, 2, 3};
  CHECK(operand<double>(x).view().data == x.data());
  CHECK(operand<double>(std::span<const double>(x)).view().data == x.data());
  Eigen::MatrixXd a = Eigen::MatrixXd::Zero(3, 4);
  const operand<double> row(a.row(1));
  CHECK(row.view().data == a.data() + 1);
  CHECK(row.view().stride == 3);
  CHECK(operand<float>(x).view().data != nullptr);
  const Eigen::VectorXd doubled = a.col(0) * 2;
  CHECK(operand<double>(doubled + doubled).view().data != doubled.data());

  operand<double> own(x);
  own.own();
  CHECK(own.view().data != x.data());
  CHECK(own.view()[2] == 3);
  operand<double> reversed(
      kinds::strided_map<const Eigen::VectorXd>(x.data() + 2, 3, Eigen::InnerStride<>(-1)));
  reversed.own();
  CHECK(reversed.view().stride == 1);
  CHECK(reversed.view()[0] == 3);

  CHECK_FALSE(operand<double>().given());
  CHECK(operand<double>(std::vector<double>{}).given());
}

TEST_CASE("view: a mask may be an expression, an array or std::vector<bool>", "[core][value]") {
  const Eigen::Array4d x(1, -1, 0, 2);
  const operand<bool> positive(x > 0);
  CHECK(positive.view()[0]);
  CHECK_FALSE(positive.view()[1]);
  CHECK_FALSE(positive.view()[2]);
  const std::array flags{false, true, true};
  CHECK(operand<bool>(flags).view().data == flags.data());
  const operand<bool> bits(std::vector<bool>{false, true, true});
  CHECK_FALSE(bits.view()[0]);
  CHECK(bits.view()[2]);
  static_assert(
      !std::is_constructible_v<operand<bool>, std::array<int, 3>>);  // integers are no mask
  static_assert(!std::is_constructible_v<operand<bool>, Eigen::ArrayXd> &&
                !std::is_constructible_v<operand<double>, std::array<bool, 3>>);
}

TEST_CASE("view: strides of any sign, and segments of them", "[core][value]") {
  const int numbers[]{0, 1, 2, 3, 4, 5, 6, 7};
  const strided<const int> odd{numbers + 1, 4, 2}, backwards{numbers + 7, 8, -1},
      same{numbers, 5, 0};
  CHECK(odd[3] == 7);
  CHECK(backwards[7] == 0);
  CHECK(same[4] == 0);
  CHECK(odd.segment(1, 2)[1] == 5);
  CHECK(odd.segment(1, 2).size == 2);
  CHECK(backwards.segment(2, 3)[0] == 5);
}

TEST_CASE("view: matrices in either storage order, transposed and in part", "[core][value]") {
  kinds::col_major<double> a(3, 4);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 4; ++j) a(i, j) = 10 * i + j;
  const kinds::row_major<double> b = a;
  const auto holds = [](const auto& view, const auto& x) {
    bool all = view.rows == x.rows() && view.cols == x.cols();
    for (int i = 0; all && i < x.rows(); ++i)
      for (int j = 0; all && j < x.cols(); ++j) all = view.row(i)[j] == x(i, j);
    return all;
  };
  CHECK(holds(strided_matrix_view(a), a));
  CHECK(holds(strided_matrix_view(b), a));
  CHECK(holds(strided_matrix_view(a.transpose()), a.transpose()));
  CHECK(holds(strided_matrix_view(b).transposed(), a.transpose()));
  CHECK(holds(strided_matrix_view(a.block(1, 1, 2, 3)), a.block(1, 1, 2, 3)));
  CHECK(holds(strided_matrix_view(b.block(1, 1, 2, 3)), a.block(1, 1, 2, 3)));
  CHECK(holds(strided_matrix_view(a.row(1)), a.row(1)));
  CHECK(holds(strided_matrix_view(b.col(2)), b.col(2)));
  const Eigen::Map<kinds::col_major<double>, 0, Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>>
      every_second(a.data(), 3, 2, {6, 1});
  CHECK(holds(strided_matrix_view(every_second), every_second));
}

TEST_CASE("view: memory overlaps unless apart or the same in the same places", "[core][edge]") {
  double m[20] = {};
  struct row {
    strided<double> in, out;
    bool expected;
  };
  const row table[]{
      {{m, 5, 1}, {m, 5, 1}, false},            // in place
      {{m, 5, 2}, {m, 5, 2}, false},            //
      {{m, 5, 1}, {m + 5, 5, 1}, false},        // side by side
      {{m + 5, 5, 1}, {m, 5, 1}, false},        //
      {{m, 5, 1}, {m + 4, 5, 1}, true},         // by one element
      {{m + 4, 5, 1}, {m, 5, 1}, true},         //
      {{m, 5, 1}, {m, 5, 2}, true},             // same begin, other stride
      {{m, 5, 1}, {m + 4, 5, -1}, true},        // backwards
      {{m + 4, 5, -1}, {m + 4, 5, -1}, false},  // backwards in place
      {{m + 4, 5, -1}, {m + 5, 5, 1}, false},   // backwards beside
      {{m + 4, 5, -1}, {m + 4, 5, 1}, true},    //
      {{m + 3, 5, 0}, {m, 5, 1}, true},         // one element for all
      {{m, 5, 0}, {m, 5, 0}, true},             //
      {{m + 5, 5, 0}, {m, 5, 1}, false},        //
      {{m, 0, 1}, {m, 0, 1}, false},            // nothing
      {{nullptr, 0, 1}, {nullptr, 0, 1}, false},
  };
  int number = 0;
  for (const row& r : table) {
    CAPTURE(number++);
    CHECK(overlaps(r.in, r.out) == r.expected);
  }
}

TEST_CASE("view: matrices overlap unless apart or the same in the same places", "[core][edge]") {
  double m[40] = {};
  struct row {
    strided_matrix<double> in, out;
    bool expected;
  };
  const row table[]{
      {{m, 3, 4, 1, 3}, {m, 3, 4, 1, 3}, false},            // in place
      {{m, 3, 3, 1, 3}, {m, 3, 3, 3, 1}, true},             // onto its transpose
      {{m, 3, 4, 1, 3}, {m + 12, 3, 4, 1, 3}, false},       // side by side
      {{m, 3, 4, 1, 3}, {m + 11, 3, 4, 1, 3}, true},        // by one element
      {{m + 12, 3, 4, 1, 3}, {m, 3, 4, 1, 3}, false},       //
      {{m, 2, 2, 1, 6}, {m + 2, 2, 2, 1, 6}, true},         // blocks of one matrix: by extent
      {{m + 2, 3, 4, -1, 3}, {m + 12, 3, 4, 1, 3}, false},  // rows upwards
      {{m + 2, 3, 4, -1, 3}, {m, 3, 4, 1, 3}, true},        //
      {{m, 0, 4, 1, 3}, {m, 0, 4, 3, 1}, false},            // nothing
      {{m, 4, 0, 1, 3}, {m, 4, 0, 3, 1}, false},            //
  };
  int number = 0;
  for (const row& r : table) {
    CAPTURE(number++);
    CHECK(overlaps(r.in, r.out) == r.expected);
  }
}

TEST_CASE("view: a row of no columns lies where the matrix does, which may be nowhere",
          "[core][edge]") {
  const strided_matrix<double> none{nullptr, 3, 0, 5, 1};
  CHECK(none.row(2).data == nullptr);
  CHECK(none.row(2).size == 0);
}
