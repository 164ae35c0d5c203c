// SPDX-License-Identifier: MIT
//
// A bias, a mask or sinks that lie in the memory of the result.
#include <cumulus/attention.hpp>
#include <cmath>

#include "catch.hpp"

using namespace cumulus;

namespace {

using rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

rows numbers(Eigen::Index n, Eigen::Index m, double by) {
  rows x(n, m);
  for (Eigen::Index i = 0; i < n; ++i) {
    for (Eigen::Index j = 0; j < m; ++j) x(i, j) = std::sin(by * double(i * m + j));
  }
  return x;
}

}  // namespace

TEST_CASE("attention: a bias may lie in the result", "[attention][edge]") {
  for (const Eigen::Index n : {4, 40, 600}) {
    const rows q = numbers(n, 4, 0.7), k = numbers(n, 4, 1.3), v = numbers(n, n, 0.3);
    rows apart(n, n), out = numbers(n, n, 2.1);
    Eigen::VectorXd sums(n), inside = numbers(n, 1, 3.7);
    CAPTURE(n);
    {  // of all queries, in the log-sum-exps
      const Eigen::VectorXd bias = inside;
      Eigen::VectorXd log_sums(n);
      attention(q, k, v, into(apart), into(log_sums), {.bias = bias});
      rows to(n, n);
      attention(q, k, v, into(to), into(inside), {.bias = inside});
      CHECK((to.array() == apart.array()).all());
      CHECK((inside.array() == log_sums.array()).all());
    }
    {  // a row of the output, and all of it
      const Eigen::RowVectorXd bias = out.row(0);
      attention(q, k, v, into(apart), into(sums), {.bias = bias});
      rows to = out;
      attention(q, k, v, into(to), into(sums), {.bias = to.row(0)});
      CHECK((to.array() == apart.array()).all());
      const rows whole = out;
      attention(q, k, v, into(apart), into(sums), {.bias = whole});
      to = out;
      attention(q, k, v, into(to), into(sums), {.bias = to});
      CHECK((to.array() == apart.array()).all());
    }
  }
}

TEST_CASE("multi_head_attention: sinks may lie in the result", "[attention][edge]") {
  for (const Eigen::Index n : {4, 40, 600}) {
    const rows q = numbers(n, 8, 0.7), k = numbers(n, 8, 1.3), v = numbers(n, 6, 0.3);
    rows apart(n, 6), out(n, 6), sums(n, 2), inside = numbers(n, 2, 2.9);
    const Eigen::RowVectorXd sink = inside.row(0);
    CAPTURE(n);
    multi_head_attention(q, k, v, into(apart), into(sums),
                         {.sink = sink, .heads = {.queries = 2, .keys = 2}});
    multi_head_attention(q, k, v, into(out), into(inside),
                         {.sink = inside.row(0), .heads = {.queries = 2, .keys = 2}});
    CHECK((out.array() == apart.array()).all());
    CHECK((inside.array() == sums.array()).all());
  }
}
