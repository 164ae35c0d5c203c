// SPDX-License-Identifier: MIT
#include <cumulus/detail/exact/normalised.hpp>

#include <cumulus/exact/log_softmax.hpp>
#include <cumulus/exact/softmax.hpp>

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <vector>

#include "catch.hpp"
#include "families.hpp"
#include "kinds.hpp"
#include "refusal.hpp"

using cumulus::colwise;
using cumulus::into;
using cumulus::log_softmax;
using cumulus::rowwise;
using cumulus::softmax;

namespace {

template <class A, class B>
bool all_same(const A& a, const B& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

}  // namespace

TEST_CASE("normalised: an owning vector has the size and the kind of its model", "[exact][value]") {
  const Eigen::RowVectorXf row(4);
  const auto like_row = cumulus::detail::sized_like(row);
  static_assert(std::is_same_v<decltype(cumulus::detail::sized_like(row)), Eigen::RowVectorXf>);
  CHECK(like_row.size() == 4);
  CHECK(cumulus::detail::sized_like(std::vector<int>(3)).size() == 3);
  static_assert(std::is_same_v<decltype(cumulus::detail::sized_like(std::array<int, 3>())),
                               std::array<double, 3>>);
  static_assert(std::is_same_v<decltype(cumulus::detail::sized_like(std::vector<int>(3))),
                               std::vector<double>>);
}

TEST_CASE("normalised: in place and overlapping memory", "[exact][edge]") {
  const auto x = families::normal<double>(kinds::size, 0.0, 3.0, 9u);
  const std::vector<double> expected = softmax(x);
  const auto n = Eigen::Index(kinds::size);
  const Eigen::Map<const Eigen::VectorXd> values(x.data(), n);

  std::vector<double> memory = x;
  softmax(memory, into(memory));
  CHECK(memory == expected);
  kinds::each_out<double>([&](const char* kind, auto&& out, const auto& read) {
    CAPTURE(kind);
    std::copy(x.begin(), x.end(), std::begin(out));
    softmax(out, into(out));
    CHECK(read() == expected);
  });

  for (const Eigen::Index shift : {1, 2, 5, 12}) {
    CAPTURE(shift);
    Eigen::VectorXd longer(n + shift);
    longer.head(n) = values;
    softmax(longer.head(n), into(longer.tail(n)));
    CHECK(all_same(longer.tail(n), expected));
    longer.tail(n) = values;
    softmax(longer.tail(n), into(longer.head(n)));
    CHECK(all_same(longer.head(n), expected));
  }

  // Onto itself backwards, and from every element to every second.
  Eigen::VectorXd itself = values;
  kinds::strided_map<Eigen::VectorXd> backwards(itself.data() + n - 1, n, Eigen::InnerStride<>(-1));
  softmax(itself, into(backwards));
  CHECK(all_same(itself.reverse(), expected));
  itself = values;
  softmax(itself.reverse(), into(itself));
  CHECK(all_same(itself.reverse(), expected));
  Eigen::VectorXd twice(2 * n);
  twice.head(n) = values;
  kinds::strided_map<Eigen::VectorXd> every_second(twice.data(), n, Eigen::InnerStride<>(2));
  softmax(twice.head(n), into(every_second));
  CHECK(all_same(every_second, expected));
}

TEST_CASE("normalised: the weights may be where the result goes", "[exact][edge]") {
  const auto x = families::normal<double>(kinds::size, 0.0, 3.0, 9u);
  const auto w = families::wild_weights<double>(kinds::size, 2.0, 10u);
  const std::vector<double> expected = softmax(x, {.weights = w});
  std::vector<double> out = w;
  softmax(x, into(out), {.weights = out});
  CHECK(out == expected);
}

TEST_CASE("normalised: matrices in place and overlapping", "[exact][edge]") {
  const auto numbers = families::normal<double>(36, 0.0, 3.0, 5u);
  const Eigen::MatrixXd x = Eigen::Map<const Eigen::MatrixXd>(numbers.data(), 6, 6);
  const Eigen::MatrixXd by_rows = softmax(x, rowwise), by_cols = softmax(x, colwise);
  Eigen::MatrixXd a = x;
  softmax(a, into(a), rowwise);
  CHECK(a == by_rows);
  a = x;
  softmax(a, into(a), colwise);
  CHECK(a == by_cols);
  a = x;
  softmax(a.transpose(), into(a.transpose()), colwise);
  CHECK(a == by_rows);
  a = x;
  softmax(a, into(a.transpose()), rowwise);
  CHECK(a.transpose() == by_rows);
  a = x;
  softmax(a.transpose(), into(a), colwise);
  CHECK(a.transpose() == by_rows);

  Eigen::MatrixXd wide(8, 9);
  wide.topLeftCorner(6, 6) = x;
  softmax(wide.topLeftCorner(6, 6), into(wide.block(1, 2, 6, 6)), rowwise);
  CHECK(wide.block(1, 2, 6, 6) == by_rows);
  wide.block(1, 2, 6, 6) = x;
  softmax(wide.block(1, 2, 6, 6), into(wide.block(0, 1, 6, 6)), colwise);
  CHECK(wide.block(0, 1, 6, 6) == by_cols);
  a = x;
  softmax(a.rowwise().reverse(), into(a), rowwise);
  CHECK(a.rowwise().reverse() == by_rows);
}

TEST_CASE("normalised: sizes and shapes that differ are refused with both", "[exact][edge]") {
  const std::vector<double> x(5, 0.0);
  std::vector<double> out(4, 7.0), right(5);
  CHECK(refusal([&] { softmax(x, into(out)); }) == "cumulus: softmax: x has 5 elements, out has 4");
  CHECK(out == std::vector<double>(4, 7.0));
  CHECK(refusal([&] { softmax(x, into(right), {.weights = out}); }) ==
        "cumulus: softmax: x has 5 elements, weights has 4");
  CHECK(refusal([&] { softmax(x, into(right), {.mask = std::array{true}}); }) ==
        "cumulus: softmax: x has 5 elements, mask has 1");
  const Eigen::MatrixXd a = Eigen::MatrixXd::Zero(3, 4);
  Eigen::MatrixXd b = Eigen::MatrixXd::Constant(4, 3, 7.0);
  CHECK(refusal([&] { softmax(a, into(b), rowwise); }) ==
        "cumulus: softmax: x is 3 x 4, out is 4 x 3");
  CHECK(b == Eigen::MatrixXd::Constant(4, 3, 7.0));
  const std::string by_columns = refusal([&] { softmax(a, into(b), colwise); });
  CHECK(by_columns.find("3 x 4") != std::string::npos);
  CHECK(by_columns.find("4 x 3") != std::string::npos);
}

TEST_CASE("normalised: log_softmax takes the same places as softmax", "[exact][edge]") {
  const auto x = families::normal<double>(kinds::size, 0.0, 3.0, 9u);
  const std::vector<double> expected = log_softmax(x);
  Eigen::VectorXd longer(kinds::size + 3);
  longer.head(kinds::size) = Eigen::Map<const Eigen::VectorXd>(x.data(), kinds::size);
  log_softmax(longer.head(kinds::size), into(longer.tail(kinds::size)));
  CHECK(all_same(longer.tail(kinds::size), expected));
  std::vector<double> in_place = x;
  log_softmax(in_place, into(in_place));
  CHECK(all_same(expected, in_place));
  Eigen::MatrixXd a = Eigen::MatrixXd::Random(4, 4);
  const Eigen::MatrixXd by_rows = log_softmax(a, rowwise);
  log_softmax(a, into(a.transpose()), rowwise);
  CHECK(a.transpose() == by_rows);
  Eigen::VectorXd out(4);
  CHECK(refusal([&] { log_softmax(x, into(out)); }) ==
        "cumulus: log_softmax: x has 13 elements, out has 4");
  CHECK(refusal([&] { log_softmax(a, into(out), rowwise); }) ==
        "cumulus: log_softmax: x is 4 x 4, out is 4 x 1");
}
