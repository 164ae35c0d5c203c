// SPDX-License-Identifier: MIT
//
// Few queries over many keys, whose parts are summed apart: for any number of threads the same bits.
#include "catch.hpp"
#include "families.hpp"

#include <cumulus/attention/attention_result.hpp>
#include <cumulus/attention/dense.hpp>
#include <cmath>
#include <limits>

namespace {

using namespace cumulus;
template <class T>
using rows = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

template <class T>
rows<T> drawn(index_t n, index_t d, std::uint64_t seed) {
  families::random r(seed);
  rows<T> x(n, d);
  for (index_t i = 0; i < x.size(); ++i) x.data()[i] = T(r.normal());
  return x;
}

/// Parts in reverse.
struct backwards {
  void operator()(index_t count, part_task task) const {
    for (index_t i = count; i-- > 0;) task(i);
  }
};

template <class A, class B>
bool same(const A& a, const B& b) {
  for (index_t i = 0; i < a.size(); ++i) {
    if (!(a.data()[i] == b.data()[i] || (std::isnan(a.data()[i]) && std::isnan(b.data()[i]))))
      return false;
  }
  return a.size() == b.size();
}

constexpr index_t many = 20000;  // three parts of 8192

}  // namespace

TEMPLATE_TEST_CASE("attention in parts: the bits do not depend on threads", "[attention][property]",
                   float, double) {
  const backwards run;
  const auto q = drawn<TestType>(3, 2 * 8, 1), k = drawn<TestType>(many, 8, 2),
             v = drawn<TestType>(many, 5, 3);
  const auto with = [&](int threads) {
    return multi_head_attention(q, k, v,
                                {.sink = 0.5,
                                 .heads = {.queries = 2},
                                 .causal = true,
                                 .threads = threads,
                                 .executor = run});
  };
  const auto one = with(1);
  for (const int threads : {2, 3, 7}) {
    const auto more = with(threads);
    CHECK(more.output == one.output);
    CHECK(more.logsumexp == one.logsumexp);
  }
}

TEST_CASE("attention in parts: within rounding of the merged parts", "[attention][value]") {
  const auto q = drawn<double>(2, 8, 4), v = drawn<double>(many, 5, 6);
  auto k = drawn<double>(many, 8, 5);
  k.bottomRows(300) *= 30;  // the last part outweighs the others
  const auto all = attention(q, k, v);
  const auto wide = attention(q.cast<long double>().eval(), k.cast<long double>().eval(),
                              v.cast<long double>().eval());
  CHECK((all.output.cast<long double>() - wide.output).cwiseAbs().maxCoeff() < 1e-13L);
  CHECK((all.logsumexp.cast<long double>() - wide.logsumexp).cwiseAbs().maxCoeff() < 1e-12L);
  // a window that lies in one part, and one across two
  for (const index_t first : {index_t(5000), index_t(8200)}) {
    const auto near = attention(q, k, v, {.window = 100, .first_query = first});
    const auto alone = attention(q, k.middleRows(first - 99, 101), v.middleRows(first - 99, 101),
                                 {.window = 100, .first_query = 99});
    CHECK((near.output - alone.output).cwiseAbs().maxCoeff() < 1e-13);
    CHECK((near.logsumexp - alone.logsumexp).cwiseAbs().maxCoeff() < 1e-13);
  }
  const auto unseen = attention(q, k, v, {.causal = true, .first_query = -5});
  CHECK(unseen.output.isZero());
  CHECK(unseen.logsumexp[0] == -std::numeric_limits<double>::infinity());
}

TEMPLATE_TEST_CASE("attention in parts: special values show as in one part", "[attention][edge]",
                   float, double) {
  using limits = std::numeric_limits<TestType>;
  const TestType inf = limits::infinity(), nan = limits::quiet_NaN();
  rows<TestType> q(1, 1);
  q << 1;
  const rows<TestType> k = rows<TestType>::Zero(many, 1), v = rows<TestType>::Ones(many, 1);
  // of a few keys with the same special ones among them
  for (const TestType special : {inf, -inf, nan, limits::max(), limits::lowest()}) {
    for (const index_t at : {index_t(0), index_t(9000), many - 1}) {
      CAPTURE(special, at);
      rows<TestType> keys = k, values = v, few = k.topRows(3), few_values = v.topRows(3);
      values(at, 0) = 2;
      few_values(1, 0) = 2;
      keys(at, 0) = few(1, 0) = special;
      const auto all = attention(q, keys, values), small = attention(q, few, few_values);
      if (special < 0) {
        CHECK(all.output(0, 0) == 1);
      } else {
        CHECK(same(all.output, small.output));
        CHECK(same(all.logsumexp, small.logsumexp));
      }
      values(at, 0) = special;
      const auto marked = attention(q, k, values);
      if (!std::isfinite(special))
        CHECK((marked.output(0, 0) == special ||
               (std::isnan(special) && std::isnan(marked.output(0, 0)))));
    }
  }
}
