// SPDX-License-Identifier: MIT
#include <cumulus/attention/linear.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "attention/naive_linear.hpp"
#include "catch.hpp"
#include "refusal.hpp"

using cumulus::form;
using cumulus::index_t;
using cumulus::linear_attention;
using cumulus::linear_attention_options;
using cumulus::linear_attention_state;
using cumulus::linear_method;
using cumulus::linear_status;
using cumulus::token_rows;
using naive::matrix;
using naive::normal;

namespace {

/// What linear_attention and the state promise under Error, at scores of standard deviation about 1.
template <class T>
constexpr double tolerance = 1e-12;
template <>
constexpr double tolerance<float> = 1e-5;

/// The largest distance of rows and log-sum-exps from the definition; rows without a positive mass must be called so.
template <class T>
double worst(const matrix<T>& q, const matrix<T>& k, const matrix<T>& v,
             const linear_attention_options& o) {
  const auto result = linear_attention(q, k, v, o);
  double largest = 0;
  for (index_t i = 0; i < q.rows(); ++i) {
    const index_t visible = o.causal ? k.rows() - q.rows() + i + 1 : k.rows();
    const naive::answer expected = naive::attend(q.row(i), k, v, visible, o);
    const bool positive = result.status(i, 0) == linear_status::positive;
    if (!positive || std::isnan(expected.log_sum)) {
      // sums of either sign cancel there: what is asked is that it is said
      if (!o.window && o.first_tokens == 0 && positive) return 1e9;
      continue;
    }
    largest = std::max({largest, naive::distance(result.output.row(i), expected.output),
                        double(std::abs(naive::real(result.logsumexp(i, 0)) - expected.log_sum))});
  }
  return largest;
}

}  // namespace

TEST_CASE("linear_attention: every option is its definition, by features and by scores",
          "[attention][value]") {
  const index_t n = 40;
  unsigned seed = 1;
  for (const int d : {1, 3, 8}) {
    for (int order = 0; order <= 4; ++order) {
      for (const int kind : {0, 1, 2, 3}) {  // taylor, moment, moment uncentred, a polynomial
        const matrix<double> q = normal<double>(n, d, ++seed),
                             k = normal<double>(n, d, ++seed, 0.5),
                             v = normal<double>(n, 5, ++seed);
        for (const auto& [window, sinks, decay] : {std::tuple(0, 0, 1.0), std::tuple(7, 0, 1.0),
                                                   std::tuple(0, 3, 0.95), std::tuple(5, 2, 0.9)}) {
          linear_attention_options o{.causal = true,
                                     .window = naive::window_of(window),
                                     .first_tokens = sinks,
                                     .order = order,
                                     .form = kind == 0 ? form::taylor : form::moment,
                                     .centred = kind != 2,
                                     .decay = decay,
                                     .chunk = 5};
          if (kind == 3)
            for (int j = 0; j <= order; ++j) o.polynomial.push_back(1.0 / (1 + j));
          INFO("d " << d << ", order " << order << ", kind " << kind << ", window " << window
                    << ", sinks " << sinks << ", decay " << decay);
          o.method = linear_method::features;
          CHECK(worst(q, k, v, o) <= tolerance<double>);
          o.method = linear_method::scores;
          CHECK(worst(q, k, v, o) <= tolerance<double>);
          if (window > 0) continue;
          o.causal = false;
          CHECK(worst(q, k, v, o) <= tolerance<double>);
          o.method = linear_method::features;
          CHECK(worst(q, k, v, o) <= tolerance<double>);
        }
      }
    }
  }
}

TEST_CASE(
    "linear_attention: within its bound of the definition at a head's width, in float and double",
    "[attention][value]") {
  const index_t n = 230, d = 16;
  const matrix<double> q = normal<double>(n, d, 11u), k = normal<double>(n, d, 12u, 1.0),
                       v = normal<double>(n, 24, 13u);
  const matrix<float> q32 = q.cast<float>(), k32 = k.cast<float>(), v32 = v.cast<float>();
  for (const form f : {form::taylor, form::moment}) {
    for (const int order : {1, 2, 3}) {
      for (const index_t chunk : {1, 7, 64, 500}) {
        const linear_attention_options o{.causal = true,
                                         .order = order,
                                         .form = f,
                                         .method = linear_method::features,
                                         .chunk = chunk};
        INFO(cumulus::name_of(f) << ", order " << order << ", chunk " << chunk);
        CHECK(worst(q, k, v, o) <= tolerance<double>);
        CHECK(worst(q32, k32, v32, o) <= tolerance<float>);
      }
    }
  }
}

TEST_CASE("linear_attention_state: a token at a time, in blocks, merged: all the same as prefill",
          "[attention][property]") {
  const index_t n = 150, d = 6, e = 4;
  const matrix<double> q = normal<double>(n, d, 21u), k = normal<double>(n, d, 22u, 2.0),
                       v = normal<double>(n, e, 23u);
  for (const auto& [window, sinks, decay] :
       {std::tuple(0, 0, 1.0), std::tuple(9, 0, 1.0), std::tuple(4, 3, 0.97)}) {
    const linear_attention_options o{.causal = true,
                                     .window = naive::window_of(window),
                                     .first_tokens = sinks,
                                     .order = 3,
                                     .form = form::taylor,
                                     .decay = decay,
                                     .method = linear_method::features};
    const auto prefill = linear_attention(q, k, v, o);
    linear_attention_state<double> state(d, e, o.for_state());
    for (index_t i = 0; i < n; ++i) {
      state.add(k.row(i), v.row(i));
      const auto read = state.read(q.row(i));
      REQUIRE(read.status == linear_status::positive);
      REQUIRE((read.output.transpose() - prefill.output.row(i)).norm() <= 1e-12);
      REQUIRE(std::abs(read.logsumexp - prefill.logsumexp(i, 0)) <= 1e-12);
    }
    CHECK(state.size() == n);
    // parts of every length, from none to all, the first and the second by different steps
    for (const index_t cut : {0, 1, 2, 3, 8, 40, 100, 149, 150}) {
      linear_attention_state<double> a(d, e, o.for_state()), b(d, e, o.for_state());
      a.add_rows(token_rows<double>(k.topRows(cut).eval()),
                 token_rows<double>(v.topRows(cut).eval()));
      for (index_t i = cut; i < n; ++i) b.add(k.row(i), v.row(i));
      const auto sum = a + b;
      INFO("cut " << cut << ", window " << window << ", sinks " << sinks);
      CHECK(sum.size() == n);
      for (const index_t i : {index_t(0), n / 2, n - 1}) {
        const auto whole = state.read(q.row(i)), parts = sum.read(q.row(i));
        CHECK((whole.output - parts.output).norm() <= 1e-12);
        CHECK(std::abs(whole.logsumexp - parts.logsumexp) <= 1e-12);
      }
    }
  }
}

TEST_CASE("linear_attention: the graded form is the joint cumulants of value and score",
          "[attention][value]") {
  // o = v0 + C q + T[q,q] / 2 + (U[q,q,q] - 3 m_2 C q) / 6, with the joint central moments by direct sums
  const index_t n = 50, d = 5, e = 3;
  const matrix<double> q = normal<double>(4, d, 31u), k = normal<double>(n, d, 32u, 3.0),
                       v = normal<double>(n, e, 33u);
  for (index_t i = 0; i < q.rows(); ++i) {
    const auto u = naive::scores(q.row(i), k, n, 1);
    naive::real mean = 0, m2 = 0;
    for (const auto x : u) mean += x / n;
    for (const auto x : u) m2 += (x - mean) * (x - mean) / n;
    for (index_t c = 0; c < e; ++c) {
      naive::real v0 = 0, first = 0, second = 0, third = 0;
      for (index_t t = 0; t < n; ++t) v0 += naive::real(v(t, c)) / n;
      for (index_t t = 0; t < n; ++t) {
        const naive::real y = u[std::size_t(t)] - mean, w = (naive::real(v(t, c)) - v0) / n;
        first += w * y;
        second += w * y * y;
        third += w * y * y * y;
      }
      const naive::real joint[] = {v0, first, second / 2, (third - 3 * m2 * first) / 6};
      naive::real expected = 0;
      for (int order = 0; order <= 3; ++order) {
        expected += joint[order];
        const auto o = linear_attention(q, k, v,
                                        {.scale = 1.0,
                                         .order = order,
                                         .form = form::taylor,
                                         .method = linear_method::features});
        CHECK(std::abs(double(expected) - o.output(i, c)) <=
              1e-12 * double(1 + std::abs(expected)));
      }
    }
  }
}

TEST_CASE(
    "linear_attention: the graded form does not see the reference, the centred one not a shift",
    "[attention][property]") {
  const index_t n = 60, d = 4;
  const matrix<double> q = normal<double>(n, d, 41u), v = normal<double>(n, 3, 42u);
  matrix<double> k = normal<double>(n, d, 43u);
  const auto run = [&](int order, form f, bool centred) {
    return linear_attention(q, k, v,
                            {.causal = true,
                             .order = order,
                             .form = f,
                             .centred = centred,
                             .method = linear_method::features});
  };
  for (int order = 0; order <= 5; ++order) {
    CHECK((run(order, form::taylor, true).output - run(order, form::taylor, false).output).norm() <=
          1e-11);
    const auto before = run(order, form::moment, true);
    k.rowwise() += Eigen::RowVector4d(3, -1, 0.5, 2);
    const auto after = run(order, form::moment, true);
    CHECK((before.output - after.output).norm() <= 1e-10);
    // the log-sum-exp moves by q times the shift
    const Eigen::VectorXd moved = after.logsumexp.col(0) - before.logsumexp.col(0);
    CHECK((moved - q * Eigen::Vector4d(3, -1, 0.5, 2) / 2).norm() <= 1e-10);
  }
}

TEST_CASE("linear_attention: high orders are softmax attention", "[attention][property]") {
  const index_t n = 80, d = 2;
  const matrix<double> q = normal<double>(n, d, 51u), k = normal<double>(n, d, 52u),
                       v = normal<double>(n, 3, 53u);
  linear_attention_options o{
      .scale = 0.1, .causal = true, .order = 16, .method = linear_method::features};
  const auto high = linear_attention(q, k, v, o);
  o.window = n;
  const auto exact = linear_attention(q, k, v, o);
  CHECK((high.output - exact.output).norm() <= 1e-11);
  CHECK((high.logsumexp - exact.logsumexp).norm() <= 1e-11);
}

TEST_CASE("linear_attention: the output's error by order, on normal tokens", "[attention][value]") {
  // medians over queries of another program's sample, moment and taylor; what differs is the sample of keys
  const struct {
    int order;
    double moment, taylor;
  } rows[] = {{1, 0.47, 0.47},   {2, 0.33, 0.24},    {3, 0.17, 0.10},
              {4, 0.099, 0.039}, {6, 0.018, 0.0058}, {8, 2.2e-3, 7.9e-4}};
  const index_t n = 1024, d = 64;
  const matrix<double> q = normal<double>(40, d, 57u), k = normal<double>(n, d, 58u),
                       v = normal<double>(n, d, 59u);
  const auto exact = linear_attention(q, k, v, {.first_tokens = n});
  for (const auto& row : rows) {
    for (const form f : {form::moment, form::taylor}) {
      const auto result = linear_attention(
          q, k, v, {.order = row.order, .form = f, .method = linear_method::scores});
      std::vector<double> errors;
      for (index_t i = 0; i < q.rows(); ++i)
        errors.push_back((result.output.row(i) - exact.output.row(i)).norm() /
                         exact.output.row(i).norm());
      std::nth_element(errors.begin(), errors.begin() + 20, errors.end());
      const double ratio = errors[20] / (f == form::moment ? row.moment : row.taylor);
      INFO("order " << row.order << ", " << cumulus::name_of(f) << ", median " << errors[20]);
      CHECK(ratio > 0.6);
      CHECK(ratio < 1.7);
    }
  }
}

TEST_CASE("linear_attention: odd truncations without a positive mass are said to be so",
          "[attention][edge]") {
  matrix<double> q(2, 1), k(3, 1), v(3, 1);
  q << 1, -1;
  k << 3, 4, 5;
  v << 1, 2, 4;
  linear_attention_options o{.scale = 1.0, .order = 1, .centred = false};
  const auto odd = linear_attention(q, k, v, o);
  CHECK(odd.status(0, 0) == linear_status::positive);
  CHECK(odd.status(1, 0) == linear_status::nonpositive);  // 1 - 3 + 1 - 4 + 1 - 5
  CHECK(std::isnan(odd.logsumexp(1, 0)));
  CHECK(odd.output(1, 0) == Approx((-2 - 3 * 2 - 4 * 4) / -9.0));  // what the division gives
  CHECK(odd.without_mass() == 1);
  o.order = 2;
  CHECK(linear_attention(q, k, v, o).without_mass() == 0);
  o = {.scale = 1.0, .order = 1};  // centred, an odd order may still; here it does not
  CHECK(linear_attention(q, k, v, o).without_mass() == 0);
}

TEST_CASE("linear_attention_state: logsumexp is within its bound of the exact one",
          "[attention][property]") {
  const index_t n = 200, d = 3;
  const matrix<double> k = normal<double>(n, d, 61u, 1.0), v = normal<double>(n, 1, 62u),
                       q = normal<double>(30, d, 63u);
  int finite = 0;
  for (const form f : {form::taylor, form::moment}) {
    for (int order = 1; order <= 6; ++order) {
      for (const double scale : {0.05, 0.3, 1.0}) {
        linear_attention_state<double> state(d, 1, {.scale = scale, .order = order, .form = f});
        for (index_t i = 0; i < n; ++i) state.add(k.row(i), v.row(i));
        for (index_t i = 0; i < q.rows(); ++i) {
          const auto estimate = state.logsumexp(q.row(i));
          naive::real sum = 0;
          for (const auto u : naive::scores(q.row(i), k, n, scale)) sum += std::exp(u);
          if (std::isnan(estimate.value)) continue;  // an odd order of negative mass
          INFO("order " << order << ", scale " << scale);
          CHECK(std::abs(double(std::log(sum)) - estimate.value) <= estimate.bound);
          finite += estimate.bound < 0.1 ? 1 : 0;
        }
      }
    }
  }
  CHECK(finite > 300);  // the bounds say something
}

TEST_CASE("linear_attention: where it changes over, and what a state takes", "[attention][value]") {
  CHECK(linear_attention_state<double>::crossover(64, 64, 1) == Approx(65 * 65 / 128.0));
  CHECK(linear_attention_state<double>::crossover(16, 16, 3) == Approx(515).epsilon(0.01));
  CHECK(linear_attention_state<float>::bytes(64, 64, 1) == 2 * 4 * 65 * 65);
  CHECK(linear_attention_state<float>::bytes(100000, 64, 16) ==
        std::numeric_limits<std::size_t>::max());
  // the state's limit binds only where there is a state: at 100 tokens of width 8 the scores are fewer at order 4
  const matrix<double> q = normal<double>(100, 8, 66u), v = normal<double>(100, 2, 67u);
  const double change = cumulus::detail::switch_length(8, 2, 4, true);
  CHECK(change > 100);
  linear_attention_options o{.causal = true, .order = 4, .memory_limit = 1000};
  CHECK(linear_attention(q, q, v, o).output.rows() == 100);
  const index_t more = index_t(change) + 2;
  const matrix<double> long_q = normal<double>(more, 8, 68u), long_v = normal<double>(more, 2, 69u);
  CHECK(refusal([&] {
          static_cast<void>(linear_attention(long_q, long_q, long_v, o));
        }).find("the limit is 1000") != std::string::npos);
}

TEST_CASE("linear_attention: heads side by side, key heads shared, pages and a projection",
          "[attention][value]") {
  const index_t n = 70, d = 4, e = 3;
  const matrix<double> q = normal<double>(n, 4 * d, 71u), k = normal<double>(n, 2 * d, 72u),
                       v = normal<double>(n, 2 * e, 73u);
  const linear_attention_options o{.heads = {4, 2}, .causal = true, .window = 5, .order = 2};
  const auto all = linear_attention(q, k, v, o);
  for (index_t h = 0; h < 4; ++h) {
    linear_attention_options one = o;
    one.heads = {};
    const auto head = linear_attention(q.middleCols(h * d, d), k.middleCols(h / 2 * d, d),
                                       v.middleCols(h / 2 * e, e), one);
    CHECK((all.output.middleCols(h * e, e) - head.output).norm() <= 1e-13);
    CHECK((all.logsumexp.col(h) - head.logsumexp).norm() <= 1e-13);
  }
  // fewer queries than keys: the last ones
  const auto last = linear_attention(q.bottomRows(9), k, v, o);
  CHECK((last.output - all.output.bottomRows(9)).norm() <= 1e-13);

  // keys in pages of 16 tokens, out of order
  const std::vector<index_t> table = {3, 0, 4, 1, 2};
  matrix<double> pool = matrix<double>::Zero(80, 2 * d);
  for (index_t t = 0; t < n; ++t) pool.row(table[std::size_t(t / 16)] * 16 + t % 16) = k.row(t);
  const token_rows<double> pages(pool.data(), 16, table, n, 2 * d, 2 * d);
  const auto paged = linear_attention(token_rows<double>(q), pages, token_rows<double>(v), o);
  CHECK(paged.output == all.output);

  // scores through two directions are those of the projected tokens
  const matrix<double> r = normal<double>(d, 2, 74u);
  const matrix<double> q1 = q.leftCols(d), k1 = k.leftCols(d), v1 = v.leftCols(e);
  const auto projected = linear_attention(q1, k1, v1, {.order = 3, .projection = r});
  const auto narrow =
      linear_attention((q1 * r).eval(), (k1 * r).eval(), v1, {.scale = 0.5, .order = 3});
  CHECK((projected.output - narrow.output).norm() <= 1e-12);
}

TEST_CASE("linear_attention: half types are read as float", "[attention][value]") {
  const auto q = normal<Eigen::half>(20, 4, 75u), k = normal<Eigen::half>(20, 4, 76u),
             v = normal<Eigen::half>(20, 3, 77u);
  const auto halves = linear_attention(q, k, v, {.causal = true});
  const auto floats = linear_attention(q.cast<float>().eval(), k.cast<float>().eval(),
                                       v.cast<float>().eval(), {.causal = true});
  CHECK(halves.output == floats.output);
}

TEST_CASE("linear_attention: a NaN reaches the queries that see it, and no other",
          "[attention][edge]") {
  const index_t n = 60, d = 3, at = 31;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const auto& [in_key, centred] :
       {std::pair(true, true), std::pair(true, false), std::pair(false, true)}) {
    for (const linear_method method : {linear_method::features, linear_method::scores}) {
      const matrix<double> q = normal<double>(n, d, 81u);
      matrix<double> k = normal<double>(n, d, 82u), v = normal<double>(n, 2, 83u);
      const linear_attention_options o{
          .causal = true, .order = 2, .centred = centred, .method = method, .chunk = 48};
      const auto clean = linear_attention(q, k, v, o);
      (in_key ? k : v)(at, 1) = nan;
      const auto dirty = linear_attention(q, k, v, o);
      CHECK((dirty.output.topRows(at) - clean.output.topRows(at)).norm() <= 1e-13);
      bool all = true;
      for (index_t i = at; i < n; ++i) all = all && std::isnan(dirty.output(i, 1));
      CHECK(all);
      CHECK(dirty.status(at - 1, 0) == linear_status::positive);
      CHECK(dirty.status(n - 1, 0) == linear_status::invalid);
    }
  }
}

TEST_CASE("linear_attention: what it cannot take is refused, naming both values",
          "[attention][edge]") {
  const matrix<double> q = normal<double>(3, 4, 91u), k = normal<double>(5, 4, 92u),
                       v = normal<double>(5, 2, 93u);
  const auto says = [&](const linear_attention_options& o, const std::string& text) {
    const std::string message = refusal([&] { static_cast<void>(linear_attention(q, k, v, o)); });
    INFO(message);
    CHECK(message.find(text) != std::string::npos);
  };
  says({.order = 17}, "order 17");
  says({.form = form::chebyshev}, "chebyshev");
  says({.decay = 0}, "decay is 0");
  says({.decay = 1.5}, "decay is 1.5");
  says({.window = 2}, "window of 2");
  says({.causal = true, .window = -1}, "window of -1");
  says({.causal = true, .window = 0}, "window of 0");
  says({.causal = true, .window = cumulus::window(4, 1)}, "ends 1 keys after");
  says({.first_tokens = -1}, "first_tokens is -1");
  says({.order = 2, .method = linear_method::features, .memory_limit = 700},
       "720 bytes, the limit is 700");
  says({.order = 2, .polynomial = {1.0, 2.0}}, "3 elements, polynomial has 2");
  says({.heads = {.queries = 3}}, "width 4 can't be split into 3 heads");
  says({.heads = {2, 4}}, "2 heads of queries can't share 4 heads of keys");
  CHECK(refusal([&] {
          static_cast<void>(linear_attention(q, k.leftCols(3), v, {}));
        }).find("4 elements, a key has 3") != std::string::npos);
  CHECK(refusal([&] {
          static_cast<void>(linear_attention(q, k, v.topRows(4), {}));
        }).find("K has 5") != std::string::npos);
  linear_attention_state<double> state(4, 2, {});
  CHECK(refusal([&] { state.add(q.row(0).head(3), v.row(0)); }).find("key has 3") !=
        std::string::npos);
  linear_attention_state<double> other(4, 2, {.order = 3});
  other.add(k.row(0), v.row(0));
  CHECK(refusal([&] { state += other; }).find("order 2 and 3") != std::string::npos);
  CHECK(linear_attention(q.topRows(0), k, v, {}).output.rows() == 0);
}

TEST_CASE("linear_attention: a query that sees no key is zeros, of log-sum-exp -inf",
          "[attention][edge]") {
  const matrix<double> q = normal<double>(5, 4, 91u), k = normal<double>(3, 4, 92u),
                       v = normal<double>(3, 2, 93u);
  for (const linear_method method :
       {linear_method::features, linear_method::scores, linear_method::automatic}) {
    for (const index_t chunk : {0, 1, 2}) {
      const linear_attention_options o{.causal = true, .method = method, .chunk = chunk};
      const auto late = linear_attention(q, k, v, o),
                 seeing = linear_attention(q.bottomRows(3), k, v, o);
      CHECK(late.output.topRows(2).isZero(0));
      CHECK((late.logsumexp.topRows(2).array() == -HUGE_VAL).all());
      CHECK(late.status(0, 0) == linear_status::empty);
      CHECK(late.status(1, 0) == linear_status::empty);
      CHECK(late.without_mass() == 2);
      CHECK(late.output.bottomRows(3) == seeing.output);
      CHECK(late.logsumexp.bottomRows(3) == seeing.logsumexp);
    }
    const auto nothing = linear_attention(q, k.topRows(0), v.topRows(0), {.method = method});
    CHECK(nothing.output.isZero(0));
    CHECK(nothing.output.cols() == 2);
    CHECK((nothing.logsumexp.array() == -HUGE_VAL).all());
    CHECK(nothing.without_mass() == 5);
  }
  const linear_attention_state<double> state(4, 2);
  const auto read = state.read(q.row(0));
  CHECK(read.output.isZero(0));
  CHECK(read.logsumexp == -HUGE_VAL);
  CHECK(read.status == linear_status::empty);
  const auto sum = state.logsumexp(q.row(0));
  CHECK(sum.value == -HUGE_VAL);
  CHECK(sum.bound == 0);
  CHECK(std::string(name_of(linear_status::empty)) == "empty");
  CHECK(std::string(name_of(linear_method::scores)) == "scores");
}

TEST_CASE("linear_attention_state: a read into memory of the caller's, of any stride",
          "[attention][property]") {
  const matrix<double> q = normal<double>(1, 4, 91u), k = normal<double>(9, 4, 92u),
                       v = normal<double>(9, 3, 93u);
  linear_attention_state<double> state(4, 3);
  state.add_rows(token_rows<double>(k), token_rows<double>(v));
  const auto read = state.read(q.row(0));
  matrix<double> out = matrix<double>::Constant(3, 2, 7);
  const auto mass = state.read(q.row(0), cumulus::into(out.col(1)));
  CHECK(out.col(1) == read.output);
  CHECK(out.col(0) == Eigen::Vector3d::Constant(7));
  CHECK(mass.logsumexp == read.logsumexp);
  CHECK(mass.status == read.status);
  std::vector<double> row(3);
  state.read(q.row(0), cumulus::into(row));
  CHECK(Eigen::Map<const Eigen::VectorXd>(row.data(), 3) == read.output);
  std::vector<double> small(2);
  CHECK(refusal([&] { state.read(q.row(0), cumulus::into(small)); }).find("out has 2") !=
        std::string::npos);
}

TEST_CASE("linear_attention_state: no drift over many tokens", "[attention][value]") {
  // keys and values that repeat every 64 tokens, which the direct sum over one period knows
  const index_t d = 3, e = 2, period = 64, periods = 3000;
  const matrix<double> k = normal<double>(period, d, 95u, 1.0), v = normal<double>(period, e, 96u),
                       q = normal<double>(1, d, 97u);
  const cumulus::linear_state_options o{.order = 3};
  linear_attention_state<double> wide(d, e, o);
  linear_attention_state<float> narrow(d, e, o);
  const matrix<float> k32 = k.cast<float>(), v32 = v.cast<float>();
  const token_rows<double> keys(k), values(v);
  const token_rows<float> keys32(k32), values32(v32);
  for (index_t i = 0; i < periods; ++i) {
    wide.add_rows(keys, values);
    narrow.add_rows(keys32, values32);
  }
  const auto expected = naive::attend(q.row(0), k, v, period, o);
  CHECK(naive::distance(wide.read(q.row(0)).output, expected.output) <= 1e-13);
  CHECK(naive::distance(narrow.read(q.row(0)).output, expected.output) <= 2e-6);
  const double log_sum = double(expected.log_sum) + std::log(double(periods));
  CHECK(std::abs(wide.read(q.row(0)).logsumexp - log_sum) <= 1e-12);
}

namespace {

/// What a first key far from all others may cost, of any size: about as much as none.
template <class T>
constexpr double far_tolerance = 2e-14;
template <>
constexpr double far_tolerance<float> = 6e-6;

}  // namespace

TEMPLATE_TEST_CASE("linear_attention: a far first key costs no digits, by any path",
                   "[attention][value]", float, double) {
  using T = TestType;
  const index_t m = 200, d = 16, e = 3;
  const matrix<T> q = normal<T>(m, d, 101u), v = normal<T>(m, e, 103u);
  struct variant {
    index_t window, first_tokens;
    double decay;
    bool centred;
  };
  for (const double far : {300.0, -3000.0, 1e6}) {
    matrix<T> k = normal<T>(m, d, 102u);
    for (const index_t t : {0, 90}) {  // and one in the middle
      k(t, 3) += T(far);
      k(t, 7) += T(t == 0 ? far : -far);
    }
    for (const int order : {1, 2, 3}) {
      for (const auto& [window, first_tokens, decay, centred] :
           {variant{0, 0, 1, true}, variant{0, 0, 1, false}, variant{0, 0, 0.97, true},
            variant{5, 2, 0.97, true}, variant{5, 0, 1, true}}) {
        if (order % 2 == 1 && !centred) continue;  // without a positive mass
        linear_attention_options o{.causal = true,
                                   .window = naive::window_of(window),
                                   .first_tokens = first_tokens,
                                   .order = order,
                                   .centred = centred,
                                   .decay = decay};
        INFO("far " << far << ", order " << order << ", window " << window << ", first tokens "
                    << first_tokens << ", decay " << decay << ", centred " << centred);
        const auto close = [&](index_t i, const auto& output, linear_status status) {
          const naive::answer expected = naive::attend(q.row(i), k, v, i + 1, o);
          if (std::isnan(expected.log_sum)) return true;
          naive::real top = 0, total = 0, size = 0;  // an odd order may cancel
          for (const naive::real w :
               naive::weights(naive::scores(q.row(i), k, i + 1, naive::real(0.25)), o, &top)) {
            total += w;
            size += std::abs(w);
          }
          return status == linear_status::positive ? naive::distance(output, expected.output) <=
                                                         far_tolerance<T> * double(size / total)
                                                   : o.order % 2 == 1;
        };
        for (const linear_method method : {linear_method::features, linear_method::scores}) {
          o.method = method;
          const auto whole = linear_attention(q, k, v, o);
          bool right = true;
          for (index_t i = 20; i < m; i += 7)
            right = right && close(i, whole.output.row(i), whole.status(i, 0));
          CHECK(right);
        }
        o.method = linear_method::features;
        for (const index_t chunk : {0, 1, 5, 32}) {
          cumulus::linear_state_options for_state = o.for_state();
          for_state.chunk = chunk;
          linear_attention_state<T> state(d, e, for_state), a(state), b(state);
          bool right = true;
          for (index_t i = 0; i < m; ++i) {
            state.add(k.row(i), v.row(i));
            const auto read = state.read(q.row(i));
            if (i % 7 == 6) right = right && close(i, read.output, read.status);
            (i < 1 + 37 * chunk ? a : b).add(k.row(i), v.row(i));
          }
          CHECK(right);
          if (chunk == 32) continue;  // all of them in a
          a += b;                     // of one token, of 38 and of most
          const auto read = a.read(q.row(m - 1));
          CHECK(close(m - 1, read.output, read.status));
        }
      }
    }
  }
}

TEST_CASE("linear_attention: beside exact keys no order of the far part swallows them",
          "[attention][value]") {
  // scores 6 and -6 of value 0, then one of 12 and value 1: exact .8897
  const index_t m = 101;
  matrix<double> k(m, 1), v = matrix<double>::Zero(m, 1);
  const matrix<double> q = matrix<double>::Ones(1, 1);
  for (const double spread : {1.0, 3.0, 6.0, 40.0}) {
    for (const bool first : {false, true}) {  // the exact key is a first token, or in the window
      for (index_t i = 0; i < m; ++i) k(i, 0) = i % 2 == 0 ? spread : -spread;
      const index_t own = first ? 0 : m - 1;
      k(own, 0) = 2 * spread;
      v.setZero();
      v(own, 0) = 1;
      const linear_attention_options all{.scale = 1, .first_tokens = m};
      const auto exact = double(naive::attend(q.row(0), k, v, m, all).output[0]);
      const auto error = [&](int order, form f, linear_method method) {
        const auto result = linear_attention(q, k, v,
                                             {.scale = 1,
                                              .causal = true,
                                              .window = naive::window_of(first ? 0 : 1),
                                              .first_tokens = first ? 1 : 0,
                                              .order = order,
                                              .form = f,
                                              .method = method});
        REQUIRE(result.status(0, 0) == linear_status::positive);
        return std::abs(result.output(0, 0) - exact);
      };
      for (const int order : {2, 3, 4, 5, 6, 9, 16}) {
        for (const linear_method method : {linear_method::features, linear_method::scores}) {
          INFO("spread " << spread << ", order " << order << ", " << name_of(method) << ", exact "
                         << exact << ", error " << error(order, form::taylor, method));
          CHECK(error(order, form::taylor, method) <= 1.5 * error(1, form::taylor, method) + 1e-12);
        }
      }
    }
  }
}
