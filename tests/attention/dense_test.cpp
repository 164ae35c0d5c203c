// SPDX-License-Identifier: MIT
#include <cumulus/attention/dense.hpp>
#include <cumulus/attention/validate_cache.hpp>
#include <cumulus/core/isa.hpp>

#include <Eigen/Core>
#include <cmath>
#include <limits>
#include <optional>
#include <thread>
#include <vector>

#include "catch.hpp"
#include "every_isa.hpp"
#include "families.hpp"
#include "flags.hpp"
#include "refusal.hpp"
#include "worst.hpp"

using cumulus::attention;
using cumulus::attention_options;
using cumulus::attention_result;
using cumulus::index_t;
using cumulus::into;
using cumulus::isa;
using cumulus::multi_head_attention;
using cumulus::multi_head_options;
using cumulus::token_rows;
using cumulus::window;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double qnan = std::numeric_limits<double>::quiet_NaN();

template <class T>
using matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class T>
using vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;
using bool_matrix = matrix<bool>;

template <class T>
matrix<T> normal(index_t rows, index_t cols, double sigma, std::uint64_t seed) {
  families::random r(seed);
  matrix<T> x(rows, cols);
  for (index_t i = 0; i < rows; ++i) {
    for (index_t j = 0; j < cols; ++j) x(i, j) = static_cast<T>(sigma * r.normal());
  }
  return x;
}

/// A call as plain data.
struct call {
  std::optional<double> scale{}, sink{};
  bool causal = false;
  std::optional<cumulus::window> window{};
  std::optional<index_t> first_query{};
  matrix<double> bias{};
  bool_matrix mask{};
  double softcap = 0;
};

template <class T, class Function>
auto with_options(const call& c, Function f) {
  const matrix<cumulus::score_of<T>> bias = c.bias.template cast<cumulus::score_of<T>>();
  const auto run = [&](const attention_options<T>& o) { return f(o); };
  if (c.bias.rows() == 1)
    return run({.mask = c.mask.row(0),
                .scale = c.scale,
                .causal = c.causal,
                .bias = bias.row(0),
                .softcap = c.softcap});
  if (c.bias.size() > 0)
    return run({.mask = c.mask,
                .scale = c.scale,
                .causal = c.causal,
                .window = c.window,
                .first_query = c.first_query,
                .bias = bias,
                .softcap = c.softcap});
  return run({.scale = c.scale,
              .sink = c.sink,
              .causal = c.causal,
              .window = c.window,
              .first_query = c.first_query,
              .softcap = c.softcap});
}

/// By definition, in long double: for finite scores. `size`: sum p |v|; `slip`: what the rounding of scores may come to, over u.
struct exact_row {
  std::vector<long double> mean, size;
  long double log_sum = -inf, slip = 0;
};
template <class T>
exact_row exact(const matrix<T>& q, const matrix<T>& k, const matrix<T>& v, const call& c,
                index_t i) {
  const index_t n = q.rows(), m = k.rows(), d = q.cols(), e = v.cols();
  const long double scale =
      c.scale ? (long double)(*c.scale) : 1 / std::sqrt((long double)(std::max<index_t>(d, 1)));
  const index_t at = c.first_query.value_or(m - n) + i;
  std::vector<long double> score;
  std::vector<index_t> seen;
  exact_row r{std::vector<long double>(std::size_t(e)), std::vector<long double>(std::size_t(e))};
  for (index_t j = 0; j < m; ++j) {
    if (c.causal && j > at) continue;
    if (c.window && (j <= at - c.window->before || j > at + c.window->after)) continue;
    if (c.mask.size() > 0 && !c.mask(c.mask.rows() == 1 ? 0 : i, j)) continue;
    long double s = 0, size = 0;
    for (index_t x = 0; x < d; ++x) {
      s += (long double)(q(i, x)) * (long double)(k(j, x));
      size += std::abs((long double)(q(i, x)) * (long double)(k(j, x)));
    }
    long double slip = (long double)(d + 3) * std::abs(scale) * size;
    s *= scale;
    if (c.softcap > 0) s = c.softcap * std::tanh(s / c.softcap), slip += 4 * std::abs(s);
    if (c.bias.size() > 0) {
      s += c.bias(c.bias.rows() == 1 ? 0 : i, j);
      slip += std::abs(s) + std::abs((long double)(c.bias(c.bias.rows() == 1 ? 0 : i, j)));
    }
    r.slip = std::max(r.slip, slip);
    score.push_back(s);
    seen.push_back(j);
  }
  long double top = c.sink ? (long double)(*c.sink) : -(long double)(inf);
  for (const long double s : score) top = std::max(top, s);
  if (std::isinf(top)) return r;
  long double sum = c.sink ? std::exp((long double)(*c.sink) - top) : 0;
  for (const long double s : score) sum += std::exp(s - top);
  for (std::size_t j = 0; j < score.size(); ++j) {
    const long double p = std::exp(score[j] - top) / sum;
    for (index_t x = 0; x < e; ++x) {
      const long double value = v(seen[j], x);
      r.mean[std::size_t(x)] += p * value;
      r.size[std::size_t(x)] += p * std::abs(value);
    }
  }
  r.log_sum = top + std::log(sum);
  return r;
}

/// The largest error over what the header promises: at most 1.
template <class T>
double error(const matrix<T>& q, const matrix<T>& k, const matrix<T>& v, const call& c,
             const attention_result<T>& r) {
  const long double u = cumulus::detail::unit_roundoff<T>;
  long double worst = 0;
  const auto see = [&](long double e) {
    if (!(e <= worst)) worst = std::isnan(e) ? (long double)(inf) : e;
  };
  for (index_t i = 0; i < q.rows(); ++i) {
    const exact_row x = exact(q, k, v, c, i);
    for (index_t j = 0; j < v.cols(); ++j) {
      const long double room =
          u * x.size[std::size_t(j)] * (2 * x.slip + cumulus::attention_max_roundings) +
          (long double)(std::numeric_limits<T>::denorm_min());
      const long double e = std::abs((long double)(r.output(i, j)) - x.mean[std::size_t(j)]);
      see(e <= 0 ? 0 : e / room);
    }
    if (std::isinf(x.log_sum)) {
      see((long double)(r.logsumexp[i]) == x.log_sum ? 0 : inf);
    } else {
      see(std::abs((long double)(r.logsumexp[i]) - x.log_sum) /
          (u * (x.slip + 4 * std::max(1.0L, std::abs(x.log_sum)))));
    }
  }
  return double(worst);
}

/// The same bits, NaN equal to NaN.
template <class A, class B>
bool same(const A& a, const B& b) {
  if (a.rows() != b.rows() || a.cols() != b.cols()) return false;
  for (index_t i = 0; i < a.rows(); ++i) {
    for (index_t j = 0; j < a.cols(); ++j) {
      if (!(a(i, j) == b(i, j)) && !(std::isnan(a(i, j)) && std::isnan(b(i, j)))) return false;
    }
  }
  return true;
}
template <class T>
bool same_result(const attention_result<T>& a, const attention_result<T>& b) {
  return same(a.output, b.output) && same(a.logsumexp, b.logsumexp);
}

}  // namespace

TEMPLATE_TEST_CASE("attention: within its bound at every width and number of keys",
                   "[attention][value]", float, double) {
  on_every_isa([](const char* set) {
    worst here;
    std::uint64_t seed = 0;
    for (const index_t m : {0, 1, 2, 15, 16, 17, 63, 65, 255, 256, 257, 700, 1025}) {
      for (const index_t d : {0, 1, 5, 16, 33, 64, 128}) {
        const index_t n = ++seed % 3 == 0 ? 1 : seed % 3 == 1 ? 3 : 14;
        const index_t e = d == 64 ? 64 : 1 + (d * 7) % 40;
        const double sigma = seed % 2 == 0 ? 1.0 : 4.0;
        const auto q = normal<TestType>(n, d, sigma, seed),
                   k = normal<TestType>(m, d, sigma, seed + 1),
                   v = normal<TestType>(m, e, 1, seed + 2);
        const call c{.causal = seed % 5 == 0};
        const auto r =
            with_options<TestType>(c, [&](const auto& o) { return attention(q, k, v, o); });
        here.see(error(q, k, v, c, r), set, "n", n, "m", m, "d", d, "e", e);
      }
    }
    CHECK_WORST(here, 1);
  });
}

TEMPLATE_TEST_CASE("attention: the error does not grow with the number of keys",
                   "[attention][value]", float, double) {
  // Scores and values are small integers, exact in either scalar: all error is that of weights and sums.
  const index_t m = 100000, d = 4, e = 3;
  families::random random(7);
  const auto integers = [&](index_t rows, index_t cols) {
    matrix<TestType> x(rows, cols);
    for (index_t i = 0; i < rows; ++i) {
      for (index_t j = 0; j < cols; ++j) x(i, j) = TestType(index_t(random.below(5)) - 2);
    }
    return x;
  };
  const auto k = integers(m, d), v = integers(m, e);
  for (const index_t n : {1, 12}) {
    const auto q = integers(n, d);
    const auto r = attention(q, k, v, {.scale = 1.0});
    const TestType u = cumulus::detail::unit_roundoff<TestType>;
    for (index_t i = 0; i < n; ++i) {
      const exact_row x = exact(q, k, v, {.scale = 1.0}, i);
      for (index_t c = 0; c < e; ++c) {
        const auto j = std::size_t(c);
        CHECK(std::abs((long double)(r.output(i, c)) - x.mean[j]) <= 40 * u * x.size[j]);
      }
      CHECK(std::abs((long double)(r.logsumexp[i]) - x.log_sum) <= 4 * u * x.log_sum);
    }
  }
}

TEMPLATE_TEST_CASE("attention: bias, mask, cap, window, sink and positions mean what they say",
                   "[attention][value]", float, double) {
  const index_t m = 530, d = 20, e = 9;
  std::vector<call> calls;
  for (const bool causal : {false, true}) {
    calls.push_back({.scale = 0.3, .causal = causal});
    calls.push_back({.scale = -0.3, .causal = causal, .softcap = 5});
    calls.push_back({.causal = causal, .window = 1});
    calls.push_back({.causal = causal, .window = 300});
    calls.push_back({.causal = causal, .window = window(300, 299)});
    calls.push_back({.causal = causal, .window = window(40, 7)});
    calls.push_back({.causal = causal, .window = window(1, 9), .first_query = 250});
    calls.push_back({.sink = 1.5, .causal = causal});
    calls.push_back({.sink = -inf, .causal = causal});
    calls.push_back({.sink = 400.0, .causal = causal});
    calls.push_back({.causal = causal, .first_query = 250});
    calls.push_back({.sink = 2.0, .causal = causal, .window = window(7, 6), .first_query = -4});
    call both{.causal = causal, .softcap = 20};
    both.bias = normal<double>(13, m, 3, 5).cast<float>().cast<double>();
    both.mask = (normal<double>(13, m, 1, 6).array() > 0).matrix();
    both.mask.row(3).setZero();
    calls.push_back(both);
    call one = both;
    one.bias = both.bias.row(2);
    one.mask = both.mask.row(4);
    calls.push_back(one);
  }
  on_every_isa([&](const char* set) {
    worst here;
    for (std::size_t i = 0; i < calls.size(); ++i) {
      for (const index_t n : {13, 1}) {
        if (n == 1 && calls[i].bias.rows() > 1) continue;
        const auto q = normal<TestType>(n, d, 2, 1), k = normal<TestType>(m, d, 2, 2),
                   v = normal<TestType>(m, e, 1, 3);
        const auto r =
            with_options<TestType>(calls[i], [&](const auto& o) { return attention(q, k, v, o); });
        here.see(error(q, k, v, calls[i], r), set, "call", i, "n", n);
      }
    }
    CHECK_WORST(here, 1);
  });
}

TEMPLATE_TEST_CASE("attention: decoding, chunks of a prefill and threads give the same",
                   "[attention][property]", float, double) {
  const index_t n = 61, m = 600, d = 24, e = 17;
  const auto q = normal<TestType>(n, d, 2, 1), k = normal<TestType>(m, d, 2, 2),
             v = normal<TestType>(m, e, 1, 3);
  const auto whole = attention(q, k, v, {.causal = true});
  CHECK(error(q, k, v, {.causal = true}, whole) <= 1);

  const auto positions = [&](index_t first) { return m - n + first; };
  index_t first = 0;
  for (const index_t count : {13, 20, 12, 16}) {  // to the last bit
    const auto part = attention(q.middleRows(first, count), k, v,
                                {.causal = true, .first_query = positions(first)});
    CHECK(same(part.output, whole.output.middleRows(first, count)));
    CHECK(same(part.logsumexp, whole.logsumexp.segment(first, count)));
    first += count;
  }
  matrix<TestType> out(n, e);
  vector<TestType> sums(n);
  for (index_t i = 0; i < n; ++i) {  // one by one, with no key after their own: to the bound
    const index_t seen = positions(i) + 1;
    attention(q.row(i), k.topRows(seen), v.topRows(seen), into(out.row(i)),
              into(sums.segment(i, 1)), {.causal = true});
  }
  CHECK(error(q, k, v, {.causal = true}, {out, sums}) <= 1);

  auto run = [](index_t count, const cumulus::part_task& task) {
    std::vector<std::thread> threads;
    for (index_t part = 0; part < count; ++part) threads.emplace_back([=] { task(part); });
    for (std::thread& t : threads) t.join();
  };
  for (const int threads : {2, 3, 100})
    CHECK(same_result(attention(q, k, v, {.causal = true, .threads = threads, .executor = run}),
                      whole));
}

TEMPLATE_TEST_CASE("attention: split ranges of keys merge to the whole", "[attention][property]",
                   float, double) {
  const index_t n = 9, m = 300, d = 8, e = 5;
  const auto q = normal<TestType>(n, d, 2, 1), k = normal<TestType>(m, d, 2, 2),
             v = normal<TestType>(m, e, 1, 3);
  const auto part = [&](index_t first, index_t count) {
    return attention(q, k.middleRows(first, count), v.middleRows(first, count));
  };
  auto merged = attention_result<TestType>::none(n, e);
  for (const auto& [first, count] : {std::pair{200, 100}, {0, 1}, {1, 199}, {7, 0}})
    merge(merged, part(first, count));
  CHECK(error(q, k, v, {}, merged) <= 1);

  const auto whole = part(0, m);
  auto garbage = attention_result<TestType>::none(n, e);
  garbage.output.setConstant(TestType(qnan));
  auto after = whole;
  CHECK(same_result(merge(after, garbage), whole));
  auto before = garbage;
  CHECK(same_result(merge(before, whole), whole));
  auto none = garbage;
  CHECK(same_result(merge(none, garbage), attention_result<TestType>::none(n, e)));
  garbage.logsumexp.setConstant(TestType(-1e30));
  after = whole;
  CHECK(same_result(merge(after, garbage), whole));

  const auto mine = attention_result<TestType>::none(1, 1);
  auto first = mine, second = mine;
  first.logsumexp[0] = second.logsumexp[0] = TestType(inf);
  merge(first, second);
  CHECK(std::isnan(first.output(0, 0)));
  CHECK(first.logsumexp[0] == TestType(inf));
  CHECK(refusal([&] { merge(before, mine); }) ==
        "cumulus: merge: output is 9 x 5, other output is 1 x 1");
}

TEMPLATE_TEST_CASE("attention: what is not seen never shows", "[attention][edge]", float, double) {
  using T = TestType;
  const index_t m = 300, d = 16, e = 6;
  for (const index_t n : {2, 20}) {
    const auto q = normal<T>(n, d, 1, 1), k = normal<T>(m, d, 1, 2), v = normal<T>(m, e, 1, 3);
    auto bad_k = k, bad_v = v;
    bool_matrix mask = bool_matrix::Constant(n, m, true);
    for (const index_t j : {0, 17, 255, 256, 299}) {
      mask.col(j).setConstant(false);
      bad_k.row(j).setConstant(T(qnan));
      bad_v.row(j).setConstant(T(qnan));
      bad_k(j, 0) = T(inf);
      bad_v(j, 1) = T(-inf);
    }
    attention_result<T> r;
    CHECK(spurious_flags([&] { r = attention(q, bad_k, bad_v, {.mask = mask}); }) == 0);
    CHECK(same_result(r, attention(q, k, v, {.mask = mask})));

    auto late_k = k, late_v = v;  // keys after a query's own
    for (index_t i = 1; i < n; ++i) late_k.row(m - i).setConstant(T(qnan));
    for (index_t i = 1; i < n; ++i) late_v.row(m - i).setConstant(T(inf));
    const auto a = attention(q, late_k, late_v, {.causal = true});
    const auto b = attention(q, k, v, {.causal = true});
    CHECK(same(a.output.row(0), b.output.row(0)));
    CHECK(a.logsumexp[0] == b.logsumexp[0]);

    mask.row(1).setConstant(false);
    const auto none = attention(q, k, v, {.mask = mask});
    CHECK(none.output.row(1).isZero(0));
    CHECK(none.logsumexp[1] == T(-inf));
    CHECK(std::isfinite(none.logsumexp[0]));
  }
  CHECK(attention(normal<T>(2, 4, 1, 1), matrix<T>(0, 4), matrix<T>(0, 3)).output.isZero(0));
  CHECK(attention(matrix<T>(0, 4), normal<T>(2, 4, 1, 1), matrix<T>(2, 3)).output.rows() == 0);
}

TEMPLATE_TEST_CASE("attention: infinities and NaN have their meaning", "[attention][edge]", float,
                   double) {
  using T = TestType;
  on_every_isa([](const char* set) {
    INFO(set);
    const index_t m = 40;
    for (const index_t n : {1, 13}) {
      const matrix<T> q = matrix<T>::Ones(n, 1);
      matrix<T> k = normal<T>(m, 1, 1, 2), v = normal<T>(m, 2, 1, 3);
      const auto plain = attention(q, k, v);
      k(5, 0) = T(-inf);  // nothing, whatever it holds
      v.row(5).setConstant(T(qnan));
      bool_matrix keep = bool_matrix::Constant(1, m, true);
      keep(0, 5) = false;
      CHECK(same_result(attention(q, k, v), attention(q, k, v, {.mask = keep.row(0)})));

      auto one = k;
      one(7, 0) = T(inf);
      auto r = attention(q, one, v);
      CHECK(r.output.row(n - 1) == v.row(7));
      CHECK(r.logsumexp[n - 1] == T(inf));
      one(8, 0) = T(inf);
      r = attention(q, one, v);
      CHECK(std::isnan(r.output(0, 0)));
      CHECK(r.logsumexp[0] == T(inf));
      one(9, 0) = T(qnan);
      r = attention(q, one, v);
      CHECK(std::isnan(r.output(0, 1)));
      CHECK(std::isnan(r.logsumexp[0]));

      auto w = v;
      w(3, 0) = T(inf);
      r = attention(q, k, w);
      CHECK(r.output(0, 0) == T(inf));
      CHECK(std::isfinite(r.output(0, 1)));
      w(4, 0) = T(-inf);
      CHECK(std::isnan(attention(q, k, w).output(0, 0)));
      CHECK(std::isfinite(plain.output(0, 0)));

      auto fallen = matrix<T>(matrix<T>::Constant(m, 1, T(-inf)));
      r = attention(q, fallen, v);
      CHECK(r.output.isZero(0));
      CHECK(r.logsumexp[0] == T(-inf));
      r = attention(q, fallen, v, {.sink = 3.0});
      CHECK(r.output.isZero(0));
      CHECK(r.logsumexp[0] == T(3));
      r = attention(q, k, v, {.sink = inf});
      CHECK(r.output.isZero(0));
      CHECK(r.logsumexp[0] == T(inf));
    }
  });
}

TEMPLATE_TEST_CASE("attention: scores and values of any size", "[attention][edge]", float, double) {
  using T = TestType;
  const index_t m = 700, e = 3;
  for (const index_t n : {1, 12}) {
    const matrix<T> q = matrix<T>::Ones(n, 1), v = normal<T>(m, e, 1, 3);
    matrix<T> k = normal<T>(m, 1, 30, 4);
    for (const double offset : {0.0, 3e4, -3e4, 1e6, -1e6}) {  // exact sums in float: quarters
      matrix<T> moved = (k.array() * T(4)).round() / T(4) + T(offset);
      CHECK(error(q, moved, v, {}, attention(q, moved, v)) <= 1);
    }
    for (index_t j = 0; j < m; ++j) k(j, 0) = T(j);  // a maximum that rises all the way, and falls
    CHECK(error(q, k, v, {}, attention(q, k, v)) <= 1);
    k = -k;
    CHECK(error(q, k, v, {}, attention(q, k, v)) <= 1);

    // so large that their little weight beside a later maximum is most of the mean
    matrix<T> late = matrix<T>::Zero(1500, 1), uneven = matrix<T>::Ones(1500, 1);
    late(1400, 0) = T(sizeof(T) > 4 ? 500 : 40);
    uneven.topRows(1000).setConstant(std::exp(late(1400, 0)));
    CHECK(error(q, late, uneven, {}, attention(q, late, uneven)) <= 1);
    late(1400, 0) = T(4000);
    uneven(3, 0) = T(inf);
    CHECK(!std::isnan(attention(q, late, uneven).output(0, 0)));

    // 2^-890 where there is room below, since term by term 2^128 times the least number counts
    const T low = sizeof(T) > 4 ? T(0x1p-890) : std::numeric_limits<T>::min() * T(16384);
    k = normal<T>(m, 1, 1, 5);
    for (const T size : {std::numeric_limits<T>::max() / 16, low}) {
      const matrix<T> values = v * size;
      INFO(size);
      CHECK(error(q, k, values, {}, attention(q, k, values)) <= 1);
    }
  }
}

TEST_CASE("attention: heads share keys, and each is a call of its own", "[attention][property]") {
  const index_t n = 5, m = 300, d = 12, e = 7;
  for (const cumulus::heads heads : {cumulus::heads{1, 1}, {4, 4}, {4, 2}, {6, 1}, {16, 2}}) {
    const auto q = normal<float>(n, heads.queries * d, 2, 1),
               k = normal<float>(m, heads.keys * d, 2, 2),
               v = normal<float>(m, heads.keys * e, 1, 3);
    const auto sinks = normal<double>(heads.queries, 1, 1, 4);
    const auto r =
        multi_head_attention(q, k, v, {.sink = sinks.col(0), .heads = heads, .causal = true});
    REQUIRE(r.output.cols() == heads.queries * e);
    for (index_t h = 0; h < heads.queries; ++h) {
      const index_t shared = h / (heads.queries / heads.keys);
      const matrix<float> own_q = q.middleCols(h * d, d), own_k = k.middleCols(shared * d, d),
                          own_v = v.middleCols(shared * e, e);
      const attention_result<float> mine{r.output.middleCols(h * e, e), r.logsumexp.col(h)};
      CHECK(error(own_q, own_k, own_v, {.sink = sinks(h, 0), .causal = true}, mine) <= 1);
    }
    CHECK(same(multi_head_attention(q, k, v, {.heads = heads, .threads = 3}).output,
               multi_head_attention(q, k, v, {.heads = heads}).output));
  }
}

TEST_CASE("attention: strides give the same to the last bit, pages to the bound",
          "[attention][property]") {
  const index_t m = 333, d = 20, e = 12, page = 16, pages = 21;
  for (const index_t n : {1, 3, 12}) {
    const auto q = normal<float>(n, d, 2, 1), k = normal<float>(m, d, 2, 2),
               v = normal<float>(m, e, 1, 3);
    const auto plain = attention(q, k, v, {.causal = true});
    const Eigen::MatrixXf by_columns = k;
    CHECK(same_result(attention(q, by_columns, v, {.causal = true}), plain));

    matrix<float> beside(m, d + e + 3);
    beside << k, v, matrix<float>::Constant(m, 3, std::nanf(""));
    CHECK(same_result(attention(q, beside.leftCols(d), beside.middleCols(d, e), {.causal = true}),
                      plain));

    std::vector<index_t> table(pages);
    matrix<float> key_pool = matrix<float>::Constant(pages * page, d, std::nanf("")),
                  value_pool = matrix<float>::Constant(pages * page, e, std::nanf(""));
    for (index_t b = 0; b < pages; ++b) table[std::size_t(b)] = (b * 8 + 3) % pages;
    for (index_t t = 0; t < m; ++t) {
      key_pool.row(table[std::size_t(t / page)] * page + t % page) = k.row(t);
      value_pool.row(table[std::size_t(t / page)] * page + t % page) = v.row(t);
    }
    const token_rows<float> keys(key_pool.data(), page, table, m, d, d),
        values(value_pool.data(), page, table, m, e, e);
    const auto paged = attention(q, keys, values, {.causal = true});
    CHECK(error(q, k, v, {.causal = true}, paged) <= 1);

    Eigen::MatrixXf out(2 * n, e);
    Eigen::Matrix<float, 1, Eigen::Dynamic> sums(n);
    attention(q, keys, values, into(out.topRows(n)), into(sums), {.causal = true});
    CHECK(same(out.topRows(n), paged.output));
    CHECK(same(sums.transpose(), paged.logsumexp));
  }
}

TEMPLATE_TEST_CASE("attention: half types are computed in float and rounded once",
                   "[attention][value]", Eigen::half, Eigen::bfloat16) {
  for (const index_t n : {2, 13}) {
    const auto q = normal<TestType>(n, 20, 1.5, 1), k = normal<TestType>(1100, 20, 1.5, 2),
               v = normal<TestType>(1100, 9, 1, 3);
    const matrix<float> q1 = q.template cast<float>(), k1 = k.template cast<float>(),
                        v1 = v.template cast<float>();
    const auto narrow = attention(q, k, v, {.causal = true, .window = 500});
    const auto wide = attention(q1, k1, v1, {.causal = true, .window = 500});
    CHECK(same(narrow.output.template cast<float>().eval(),
               wide.output.template cast<TestType>().template cast<float>().eval()));
    CHECK(same(narrow.logsumexp.template cast<float>().eval(),
               wide.logsumexp.template cast<TestType>().template cast<float>().eval()));
  }
}

TEMPLATE_TEST_CASE("attention: every number of 16 bits is read as what it is", "[attention][value]",
                   Eigen::half, Eigen::bfloat16) {
  // One key: its value is the result.
  matrix<TestType> values(1, 65536);
  for (std::uint32_t i = 0; i < 65536; ++i)
    values(0, i) = Eigen::numext::bit_cast<TestType>(static_cast<std::uint16_t>(i));
  const matrix<TestType> one = matrix<TestType>::Ones(1, 1);
  on_every_isa([&](const char* set) {
    INFO(set);
    CHECK(same(attention(one, one, values).output.template cast<float>().eval(),
               values.template cast<float>().eval()));
  });
}

TEST_CASE("attention: any scalar", "[attention][value]") {
  const auto q = normal<double>(3, 5, 2, 1), k = normal<double>(50, 5, 2, 2),
             v = normal<double>(50, 4, 1, 3);
  const auto wide = attention(q.cast<long double>().eval(), k.cast<long double>().eval(),
                              v.cast<long double>().eval(), {.causal = true, .softcap = 6});
  const auto narrow = attention(q, k, v, {.causal = true, .softcap = 6});
  CHECK((wide.output - narrow.output.cast<long double>()).cwiseAbs().maxCoeff() < 1e-14L);
  CHECK((wide.logsumexp - narrow.logsumexp.cast<long double>()).cwiseAbs().maxCoeff() < 1e-13L);
  const Eigen::MatrixXi integers = Eigen::MatrixXi::Ones(2, 2);
  CHECK(attention(integers, integers, integers).output.isOnes(1e-15));
}

TEST_CASE("attention: refuses what does not fit, before any work", "[attention][edge]") {
  const auto x = [](index_t rows, index_t cols) {
    return matrix<float>(matrix<float>::Zero(rows, cols));
  };
  const auto says = [](auto f) { return refusal([&] { static_cast<void>(f()); }); };
  CHECK(says([&] { return attention(x(2, 3), x(4, 5), x(4, 3)); }) ==
        "cumulus: attention: a query has width 3, a key 5; give both one width");
  CHECK(says([&] { return attention(x(2, 3), x(4, 3), x(5, 3)); }) ==
        "cumulus: attention: K has 4 elements, V has 5");
  const auto many = [&](index_t width, const multi_head_options<float>& o) {
    return says([&] { return multi_head_attention(x(2, width), x(4, 4), x(4, 4), o); });
  };
  CHECK(many(6, {.heads = {3, 2}}) ==
        "cumulus: multi_head_attention: 3 heads of queries can't share 2 heads of keys; give "
        ".heads.queries as a multiple of .heads.keys");
  CHECK(many(6, {.heads = {0, 0}}) ==
        "cumulus: multi_head_attention: 0 heads of queries can't share 0 heads of keys; give "
        ".heads.queries as a multiple of .heads.keys");
  CHECK(many(7, {.heads = {4, 2}}) ==
        "cumulus: multi_head_attention: queries of width 7 can't be split into 4 heads; give a "
        "multiple of the heads");
  CHECK(many(8, {.sink = std::array{1.0, 2.0}, .heads = {4, 2}}) ==
        "cumulus: multi_head_attention: the result has 4 elements, sink has 2");
  const matrix<float> q = x(2, 3), k = x(4, 3);
  CHECK(says([&] { return attention(q, k, k, {.bias = x(3, 4)}); }) ==
        "cumulus: attention: x is 2 x 4, bias is 3 x 4");
  CHECK(says([&] { return attention(q, k, k, {.mask = std::array<bool, 3>{}}); }) ==
        "cumulus: attention: a row of x has 4 elements, mask has 3");
  CHECK(says([&] { return attention(q, k, k, {.window = 0}); }) ==
        "cumulus: attention: a window of 0 keys; give 1 or more: the query's own position counts");
  CHECK(says([&] { return attention(q, k, k, {.window = window(3, -1)}); }) ==
        "cumulus: attention: a window that ends -1 keys after the query; give 0 or more");
  CHECK(says([&] { return attention(q, k, k, {.softcap = -1}); }) ==
        "cumulus: attention: .softcap is -1; give 0 or more");
  CHECK(says([&] { return attention(q, k, k, {.threads = 0}); }) ==
        "cumulus: attention: .threads is 0; give 1 or more");
  for (const double scale : {qnan, inf, -inf}) {
    CHECK(says([&] {
            return attention(q, k, k, {.scale = scale});
          }).find("attention: .scale is ") != std::string::npos);
    CHECK(says([&] {
            return multi_head_attention(q, k, k, {.scale = scale});
          }).find("multi_head_attention: .scale is ") != std::string::npos);
  }
  matrix<float> out(3, 3);
  vector<float> sums(2);
  CHECK(says([&] {
          attention(q, k, k, into(out), into(sums));
          return 0;
        }) == "cumulus: attention: the result is 2 x 3, out is 3 x 3");
}

TEST_CASE("attention: a call that can't mean anything does not compile", "[attention][edge]") {
  const auto takes = []<class Q, class K>(Q, K) {
    return requires(const Q& q, const K& k) { attention(q, k, k); };
  };
  CHECK(takes(matrix<float>(), matrix<float>()));
  CHECK(takes(matrix<float>(), Eigen::MatrixXf()));
  CHECK_FALSE(takes(matrix<float>(), matrix<double>()));
  const auto writes = []<class Out>(Out) {
    return requires(const matrix<float>& q, Out& out, vector<float>& sums) {
      attention(q, q, q, into(out), into(sums));
    };
  };
  CHECK(writes(matrix<float>()));
  CHECK_FALSE(writes(matrix<double>()));
  const auto bare = []<class Out>(Out) {
    return requires(const matrix<float>& q, Out& out, vector<float>& sums) {
      attention(q, q, q, out, sums);
    };
  };
  CHECK_FALSE(bare(matrix<float>()));
}

TEST_CASE("validate: names the token that holds a NaN", "[attention][edge]") {
  matrix<double> k = normal<double>(20, 3, 1, 1), v = normal<double>(20, 2, 1, 2);
  k(4, 1) = inf;  // no NaN
  CHECK(refusal([&] { cumulus::validate(k, v); }).empty());
  v(11, 0) = qnan;
  CHECK(refusal([&] { cumulus::validate(k, v); }) ==
        "cumulus: validate: the value of token 11 has a NaN at 0");
  k(17, 2) = qnan;
  CHECK(refusal([&] { cumulus::validate(k, v); }) ==
        "cumulus: validate: the key of token 17 has a NaN at 2");
}
