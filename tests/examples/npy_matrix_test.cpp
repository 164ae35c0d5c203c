// SPDX-License-Identifier: MIT
#include "support/npy_matrix.hpp"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "catch.hpp"
#include "support/sample_heads.hpp"

namespace {

/// An .npy file of version 1 with this description and data.
std::string npy(const std::string& descr, const std::string& order, const std::string& shape,
                const std::string& data) {
  const std::string head =
      "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
  std::string bytes = "\x93NUMPY";
  bytes += '\1';
  bytes += '\0';
  bytes += static_cast<char>(head.size());
  bytes += '\0';
  return bytes + head + data;
}
template <class T>
std::string raw(const std::vector<T>& values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

std::string complaint(const std::string& bytes) {
  try {
    static_cast<void>(support::parse_npy_matrix(bytes, "q.npy"));
  } catch (const support::input_error& error) {
    return error.what();
  }
  return {};
}
bool complains(const std::string& bytes, const std::string& text) {
  const std::string message = complaint(bytes);
  INFO(message);
  return message.substr(0, 6) == "q.npy:" && message.find(text) != std::string::npos &&
         message.find('\n') == std::string::npos;
}

}  // namespace

TEST_CASE("npy_matrix: floats of 2, 4 and 8 bytes, a token a row", "[examples]") {
  Eigen::Matrix<float, 2, 3> expected;
  expected << 1, -2.5, 0, 0.25, 65504, -1;
  const auto same = [&](const std::string& bytes) {
    const support::token_matrix x = support::parse_npy_matrix(bytes, "q.npy");
    return x.rows() == 2 && x.cols() == 3 && x == expected;
  };
  CHECK(same(npy("<f4", "False", "(2, 3)", raw<float>({1, -2.5f, 0, 0.25f, 65504, -1}))));
  CHECK(same(npy("<f8", "False", "(2, 3)", raw<double>({1, -2.5, 0, 0.25, 65504, -1}))));
  CHECK(same(npy("<f2", "False", "(2, 3)",
                 raw<std::uint16_t>({0x3C00, 0xC100, 0, 0x3400, 0x7BFF, 0xBC00}))));
}

TEST_CASE("npy_matrix: what it cannot read is said in one line", "[examples]") {
  const std::string six = raw<float>({1, 2, 3, 4, 5, 6});
  CHECK(complains("1 2 3\n", "is no .npy file"));
  CHECK(complains(npy("<i4", "False", "(2, 3)", six), "no floats"));
  CHECK(complains(npy("<f4", "False", "(6,)", six), "1 dimensions, not 2"));
  CHECK(complains(npy("<f4", "False", "(1, 2, 3)", six), "3 dimensions, not 2"));
  CHECK(complains(npy("<f4", "True", "(2, 3)", six), "Fortran order"));
  CHECK(complains(npy("<f4", "False", "(0, 3)", ""), "no element"));
  CHECK(complains(npy("<f4", "False", "(3, 3)", six), "ends after 6 of 3 x 3"));
  CHECK(complains(npy("<f4", "False", "(2, 2)", six), "8 bytes follow"));
  CHECK(complains(npy("<f4", "False", "(2, 3)", raw<float>({1, 2, 3, 4, NAN, 6})),
                  "token 1 holds nan in column 1"));
  CHECK(complains(npy("<f8", "False", "(1, 1)", raw<double>({1e300})), "holds inf"));
  CHECK_THROWS_AS(support::read_npy_matrix("no such file.npy"), support::input_error);
}

TEST_CASE("sample_heads: a flat head and a peaked one", "[examples]") {
  const auto heads = support::sample_heads();
  REQUIRE(heads.size() == 2);
  CHECK(heads[0].name == "l0h1");
  CHECK(heads[1].name == "l2h0");
  for (const auto& head : heads) {
    for (const support::token_matrix* x : {&head.q, &head.k, &head.v}) {
      CHECK(x->rows() == 256);
      CHECK(x->cols() == 64);
      CHECK(x->cwiseAbs().maxCoeff() > 0.1f);
    }
    const Eigen::ArrayXf scores = (head.k * head.q.row(255).transpose()).array();
    const float deviation = std::sqrt((scores - scores.mean()).square().mean());
    if (head.name == "l0h1") {
      CHECK(deviation < 1);
    } else {
      CHECK(deviation > 4);
    }
  }
}
