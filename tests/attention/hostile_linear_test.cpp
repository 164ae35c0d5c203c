// SPDX-License-Identifier: MIT
//
// Linear attention where nobody means to take it: of each input, what the headers promise all the same.
#include "attention/naive_linear.hpp"
#include "catch.hpp"
#include "families.hpp"
#include "flags.hpp"
#include "refusal.hpp"

#include <cumulus/attention/attention_vjp.hpp>
#include <cumulus/attention/delta_rule.hpp>
#include <cumulus/attention/linear_presets.hpp>
#include <cumulus/attention/performer.hpp>

#include <limits>

namespace {

using namespace cumulus;
using naive::matrix;
using naive::normal;
using presets::performer;
using presets::performer_options;
using presets::taylor_shift;
using rows = matrix<double>;
using vector = Eigen::VectorXd;
using state = linear_attention_state<double>;

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// log sum_i decay^(n - 1 - i) e^(scale q k_i), the log-sum-exp that nothing truncates.
naive::real exact_log_sum(const vector& q, const rows& k, const linear_state_options& o) {
  const auto u = naive::scores(q, k, k.rows(), *o.scale);
  naive::real top = -inf, sum = 0;
  const auto aged = [&](std::size_t i) {
    return u[i] + naive::real(u.size() - 1 - i) * std::log(naive::real(o.decay));
  };
  for (std::size_t i = 0; i < u.size(); ++i) top = std::max(top, aged(i));
  for (std::size_t i = 0; i < u.size(); ++i) sum += std::exp(aged(i) - top);
  return top + std::log(sum);
}

double largest_gap(const rows& a, const rows& b) { return (a - b).cwiseAbs().maxCoeff(); }

/// Whether every number is finite and the largest gap at most this.
bool near(const rows& a, const rows& b, double most) {
  return a.allFinite() && b.allFinite() && largest_gap(a, b) <= most;
}

/// The states of consecutive stretches of these tokens, merged in a random tree.
state merged(const rows& k, const rows& v, const linear_state_options& o, families::random& r) {
  std::vector<state> parts;
  for (index_t t = 0; t < k.rows();) {
    const auto count = std::min(index_t(r.below(20)), k.rows() - t);  // none, now and then
    state part(k.cols(), v.cols(), o);
    for (index_t j = 0; j < count; ++j) part.add(k.row(t + j), v.row(t + j));
    if (r.below(4) == 0) part.fold();
    parts.push_back(part);
    t += count;
  }
  while (parts.size() > 1) {
    const auto at = r.below(parts.size() - 1);
    parts[at] += parts[at + 1];
    parts.erase(parts.begin() + std::ptrdiff_t(at) + 1);
  }
  return parts.front();
}

}  // namespace

TEST_CASE("linear_attention_state: any tree of merges is the definition, and the bound holds",
          "[attention][hostile][law]") {
  families::random r(11);
  for (int round = 0; round < 400; ++round) {
    const index_t d = index_t(1 + r.below(4)), m = index_t(1 + r.below(60));
    linear_state_options o{.scale = 0.5,
                           .order = int(1 + r.below(4)),
                           .form = r.below(2) == 0 ? form::taylor : form::moment};
    o.decay = r.below(2) == 0 ? 1 : 0.9;
    o.window = naive::window_of(index_t(r.below(3) * 2));
    o.first_tokens = index_t(r.below(3));
    o.chunk = index_t(1 + r.below(8));
    rows k = normal<double>(m, d, unsigned(4 * round)),
         v = normal<double>(m, 2, unsigned(4 * round + 1));
    k.array() *= round % 3 == 0 ? 1e-3 : 1;
    k.bottomRows(m / 2).array() += double(r.below(3));
    const vector q = normal<double>(d, 1, unsigned(4 * round + 2));
    INFO("round " << round << ", order " << o.order << ", decay " << o.decay << ", window "
                  << (o.window ? o.window->before : 0) << ", sinks " << o.first_tokens << ", chunk "
                  << o.chunk << ", m " << m);
    const state all = merged(k, v, o, r);
    REQUIRE(all.size() == m);
    const naive::answer expected = naive::attend(q, k, v, m, o);
    const auto read = all.read(q);
    if (read.status != linear_status::positive) continue;
    REQUIRE(naive::distance(read.output, expected.output) < 1e-10);
    const estimate<double> sum = all.logsumexp(q);
    REQUIRE(double(std::abs(sum.value - exact_log_sum(q, k, o))) <= sum.bound);
  }
}

TEST_CASE("linear_attention_state: a merge moves the reference of both", "[attention][hostile]") {
  // the first token is far from the others: as room is made for b, a's reference moves on
  const linear_state_options o{.scale = 1, .order = 2, .chunk = 8};
  state a(1, 1, o), b(1, 1, o), all(1, 1, o);
  const auto put = [&](state& to, double x) {
    const vector one = vector::Constant(1, x);
    to.add(one, one);
    all.add(one, one);
  };
  put(a, 0);
  for (int i = 0; i < 6; ++i) put(a, 10 + i % 2);
  for (int i = 0; i < 12; ++i) put(b, 9 + i % 3);
  a += b;
  const vector q = vector::Constant(1, 0.5);
  CHECK(std::abs(a.read(q).output[0] - all.read(q).output[0]) < 1e-12);
  CHECK(std::abs(a.read(q).logsumexp - all.read(q).logsumexp) < 1e-12);
}

TEST_CASE("linear_attention_state: the bound holds about 0 too", "[attention][hostile][law]") {
  families::random r(13);
  for (int round = 0; round < 500; ++round) {
    const linear_state_options o{
        .scale = 1, .order = int(2 * (1 + r.below(3))), .form = form::moment, .centred = false};
    rows k(index_t(2 + r.below(4)), 1);
    state all(1, 1, o);
    for (index_t t = 0; t < k.rows(); ++t) {
      k(t, 0) = double(r.below(9)) - 4;
      all.add(k.row(t), k.row(t));
    }
    const vector q = vector::Ones(1);
    const estimate<double> sum = all.logsumexp(q);
    INFO("round " << round << ", order " << o.order << ", keys " << k.transpose() << ", bound "
                  << sum.bound);
    REQUIRE(double(std::abs(sum.value - exact_log_sum(q, k, o))) <= sum.bound);
  }
}

TEST_CASE("linear_attention_state: where all tokens are exact, the bound is that of rounding",
          "[attention][hostile]") {
  int beyond = 0;
  for (int seed = 0; seed < 20; ++seed) {
    const linear_state_options o{.scale = 1, .first_tokens = 64, .order = 2};
    const rows k = normal<double>(30, 3, unsigned(seed)), v = normal<double>(30, 1, 99);
    state all(3, 1, o);
    for (index_t t = 0; t < k.rows(); ++t) all.add(k.row(t), v.row(t));
    const vector q = normal<double>(3, 1, unsigned(1000 + seed));
    const estimate<double> sum = all.logsumexp(q);
    beyond += double(std::abs(sum.value - exact_log_sum(q, k, o))) <= sum.bound ? 0 : 1;
    CHECK(sum.bound < 1e-12);
  }
  CHECK(beyond == 0);
}

TEST_CASE("linear_attention: finite rows raise no flag, whatever is exact",
          "[attention][hostile]") {
  const rows q = normal<double>(20, 2, 1), k = normal<double>(20, 2, 2),
             v = normal<double>(20, 1, 3);
  for (const form f : {form::taylor, form::moment}) {
    for (const linear_method method : {linear_method::features, linear_method::scores}) {
      for (const index_t sinks : {0, 2, 40}) {
        linear_attention_options o{.causal = true,
                                   .window = naive::window_of(sinks / 2),
                                   .first_tokens = sinks,
                                   .order = 3,
                                   .form = f,
                                   .method = method};
        INFO("form " << name_of(f) << ", method " << int(method) << ", " << sinks << " sinks");
        CHECK(spurious_flags([&] {
                volatile double read = linear_attention(q, k, v, o).output(0, 0);
                (void)read;
              }) == 0);
      }
    }
  }
}

TEST_CASE("linear_attention: weights that decay below the least number leave the window",
          "[attention][hostile]") {
  const index_t n = 1400;
  const matrix<float> q = normal<float>(n, 2, 1), k = normal<float>(n, 2, 2),
                      v = normal<float>(n, 1, 3);
  for (const linear_method method : {linear_method::features, linear_method::scores}) {
    const auto result = linear_attention(
        q, k, v, {.causal = true, .window = 1024, .order = 2, .decay = 0.9, .method = method});
    CHECK(result.output.allFinite());
    CHECK(result.without_mass() == 0);
  }
}

TEST_CASE("linear_attention: what a query does not see has no say", "[attention][hostile][law]") {
  const index_t n = 40, last = 21;
  const rows q = normal<double>(n, 3, 1), k = normal<double>(n, 3, 2), v = normal<double>(n, 2, 3);
  for (const linear_method method : {linear_method::features, linear_method::scores}) {
    for (const index_t chunk : {1, 7, 64}) {
      const linear_attention_options o{
          .causal = true, .order = 2, .method = method, .chunk = chunk};
      const rows before = linear_attention(q, k, v, o).output.topRows(last);
      for (const double hostile : {not_a_number, inf, -inf, 1e8, 1e16, 1e100, 1e308}) {
        INFO("chunk " << chunk << ", a number of " << hostile << ", method " << int(method));
        rows key = k, value = v;
        key(last, 1) = value(last, 1) = hostile;
        CHECK(near(linear_attention(q, k, value, o).output.topRows(last), before, 1e-12));
        CHECK(near(linear_attention(q, key, v, o).output.topRows(last), before, 1e-12));
      }
    }
  }
}

TEST_CASE("linear_attention: no finite answer, and the status says so", "[attention][hostile]") {
  const rows k = normal<double>(30, 2, 1), v = normal<double>(30, 1, 2);
  for (const form f : {form::taylor, form::moment}) {
    for (const linear_method method : {linear_method::features, linear_method::scores}) {
      for (const double hostile : {not_a_number, inf}) {
        rows q = normal<double>(3, 2, 3);
        q(1, 0) = hostile;
        const auto result = linear_attention(q, k, v, {.order = 2, .form = f, .method = method});
        INFO("form " << name_of(f) << ", method " << int(method) << ", " << hostile);
        CHECK(result.status(1, 0) == linear_status::invalid);
        CHECK(result.without_mass() == 1);
        CHECK((result.output.row(0).allFinite() && result.output.row(2).allFinite()));
      }
    }
  }
}

TEST_CASE("linear_attention: powers beyond float are said, or not needed", "[attention][hostile]") {
  // 16 powers of a score of 1000: their quotient is a number near 2, (1 + 3) / 2 of the outer keys
  matrix<float> q(1, 1), k(3, 1), v(3, 1);
  q << 1000;
  k << -1, 0, 1;
  v << 1, 2, 3;
  for (const linear_method method : {linear_method::features, linear_method::scores}) {
    const auto result = linear_attention(q, k, v, {.scale = 1, .order = 16, .method = method});
    const bool right = std::abs(result.output(0, 0) - 2.016f) < 0.01f;
    CHECK((right || result.status(0, 0) != linear_status::positive));
  }
}

TEST_CASE("linear_attention: a positive status is a promise of numbers",
          "[attention][hostile][law]") {
  const rows k = normal<double>(30, 2, 1), v = normal<double>(30, 1, 2);
  const auto kept = [](const auto& result) {
    for (index_t i = 0; i < result.status.size(); ++i) {
      if (result.status(i, 0) != linear_status::positive) continue;
      if (!result.output.row(i).allFinite() || !std::isfinite(result.logsumexp(i, 0))) return false;
    }
    return true;
  };
  for (const form f : {form::taylor, form::moment}) {
    for (const linear_method method : {linear_method::features, linear_method::scores}) {
      for (const int order : {1, 2, 5}) {
        for (const double factor : {1e10, 1e18, 1e35, 1e100, 1e200, 1e300}) {
          INFO("form " << name_of(f) << ", method " << int(method) << ", order " << order
                       << ", queries " << factor << " times as long");
          const linear_attention_options o{
              .causal = true, .window = 2, .order = order, .form = f, .method = method};
          CHECK(kept(linear_attention(rows(k * factor), k, v, o)));
          CHECK(kept(linear_attention(k, k, rows(v * factor), o)));
          if (factor < 1e38) {
            const matrix<float> near_k = k.cast<float>(), far_v = (v * factor).cast<float>();
            CHECK(kept(
                linear_attention(matrix<float>((k * factor).cast<float>()), near_k, far_v, o)));
          }
        }
      }
    }
  }
  // features that all underflow
  const auto none = performer(k, rows(k.array() + 1e3), v, {.scale = 1.0});
  CHECK(none.status(0, 0) == linear_status::nonpositive);
  CHECK(std::isnan(none.logsumexp(0, 0)));
  // an exact score of -inf has weight 0
  rows q(1, 1), few(3, 1), values(3, 1);
  q << 1;
  few << 1, -inf, 1;
  values << 2, 3, 4;
  const auto far = linear_attention(q, few, values, {.first_tokens = 3});
  CHECK(far.status(0, 0) == linear_status::positive);
  CHECK(far.output(0, 0) == 3);
}

TEST_CASE("linear_attention_state: a wait longer than memory takes what its tokens take",
          "[attention][hostile]") {
  const index_t much = index_t(1) << 40, most = std::numeric_limits<index_t>::max();
  const rows k = normal<double>(600, 2, 1), v = normal<double>(600, 1, 2);
  const vector q = normal<double>(2, 1, 3);
  for (const double decay : {1.0, 0.99}) {
    linear_state_options o{.scale = 1, .order = 2, .decay = decay};
    o.first_tokens = 600;
    state expected(2, 1, o);
    expected.add_rows(token_rows<double>(k), token_rows<double>(v));
    for (const auto& [window, sinks, chunk] :
         {std::tuple(much, index_t(0), index_t(0)), std::tuple(most, most, most)}) {
      o.window = window;
      o.first_tokens = sinks;
      o.chunk = chunk;
      state exact(2, 1, o);
      for (index_t t = 0; t < k.rows(); ++t) exact.add(k.row(t), v.row(t));
      CHECK(exact.bytes() < 200000);
      CHECK(std::abs(exact.read(q).output[0] - expected.read(q).output[0]) < 1e-12);
    }
  }
  const rows all =
      linear_attention(k, k, v, {.method = linear_method::features, .chunk = 600}).output;
  CHECK(linear_attention(k, k, v, {.method = linear_method::features, .chunk = much}).output ==
        all);
}

TEST_CASE("linear_attention: heads in groups are each one's own, on any number of threads",
          "[attention][hostile][law]") {
  const rows q = normal<double>(40, 8 * 3, 1), k = normal<double>(50, 2 * 3, 2),
             v = normal<double>(50, 2 * 2, 3);
  linear_attention_options o{.causal = true,
                             .window = 4,
                             .first_tokens = 1,
                             .order = 2,
                             .method = linear_method::features,
                             .chunk = 7};
  rows each(40, 8 * 2);
  for (index_t h = 0; h < 8; ++h) {
    const index_t g = h / 4;
    each.middleCols(2 * h, 2) =
        linear_attention(rows(q.middleCols(3 * h, 3)), rows(k.middleCols(3 * g, 3)),
                         rows(v.middleCols(2 * g, 2)), o)
            .output;
  }
  o.heads = {.queries = 8, .keys = 2};
  for (const int threads : {1, 2, 5}) {
    o.threads = threads;
    CHECK(linear_attention(q, k, v, o).output == each);
  }
}

TEST_CASE("performer and taylor_shift: a query that sees no key is zeros", "[attention][hostile]") {
  const rows q = normal<double>(5, 3, 1), k = normal<double>(2, 3, 2), v = normal<double>(2, 2, 3);
  const auto check = [](const auto& late, const auto& seeing) {
    CHECK(late.output.topRows(3).isZero(0));
    CHECK((late.logsumexp.topRows(3).array() == -inf).all());
    CHECK(late.without_mass() == 3);
    CHECK(late.output.bottomRows(2) == seeing.output);
  };
  check(performer(q, k, v, {.causal = true}), performer(q.bottomRows(2), k, v, {.causal = true}));
  check(taylor_shift(q, k, v, {.causal = true}),
        taylor_shift(q.bottomRows(2), k, v, {.causal = true}));
  CHECK(performer(q, k.topRows(0), v.topRows(0)).output.isZero(0));
  CHECK(taylor_shift(q, k.topRows(0), v.topRows(0)).without_mass() == 5);
}

TEST_CASE("linear_attention: what is refused, and the limit to the byte", "[attention][hostile]") {
  const rows x = normal<double>(5, 3, 1), v = normal<double>(5, 2, 2), none(0, 3);
  const auto said = [&](const rows& q, const rows& k, const linear_attention_options& o) {
    return refusal([&] { (void)linear_attention(q, k, k.rows() == 0 ? rows(0, 2) : v, o); });
  };
  CHECK(said(none, none, {}).empty());
  CHECK(said(none, x, {.causal = true}).empty());
  CHECK(said(x, none, {}).empty());
  for (const double decay : {0.0, -1.0, 1.5, inf, not_a_number})
    CHECK(!said(x, x, {.decay = decay}).empty());
  for (const double scale : {inf, not_a_number}) CHECK(!said(x, x, {.scale = scale}).empty());
  CHECK(!said(x, x, {.order = -1}).empty());
  CHECK(!said(x, x, {.order = linear_attention_max_order + 1}).empty());
  const std::size_t bytes = state::bytes(3, 2, 2);
  const linear_attention_options exact{.method = linear_method::features, .memory_limit = bytes},
      less{.method = linear_method::features, .memory_limit = bytes - 1};
  CHECK(said(x, x, exact).empty());
  CHECK(said(x, x, less).find(std::to_string(bytes)) != std::string::npos);
  for (const performer_options& o :
       {performer_options{.features = -5}, performer_options{.scale = -1.0},
        performer_options{.scale = not_a_number}})
    CHECK(!refusal([&] { (void)performer(x, x, v, o); }).empty());
  CHECK(!refusal([&] { (void)performer(rows(5, 0), rows(5, 0), v); }).empty());
  linear_attention_options narrow{.order = 1};
  narrow.projection.resize(3, 0);
  CHECK(said(x, x, narrow).find("3 x 0") != std::string::npos);
  CHECK(refusal([&] { (void)linear_attention_vjp(x, x, v, v, {.order = -1}); }).find("-1") !=
        std::string::npos);
  const std::size_t any = std::numeric_limits<std::size_t>::max();
  CHECK(!refusal([&] { (void)state(100000, 2, {.order = 16, .memory_limit = any}); }).empty());
  CHECK(!refusal([&] { (void)state(100, 2, {.order = 0, .memory_limit = 1000}); }).empty());
  CHECK(!refusal([&] {
           (void)state(1, std::numeric_limits<index_t>::max(), {.memory_limit = any});
         }).empty());
  CHECK(!refusal([&] {
           (void)state(std::numeric_limits<index_t>::max(), 1, {.memory_limit = any});
         }).empty());
  // the sums may be of any scale, what reads them not
  state one(3, 2, {.scale = 1.0}), two(3, 2, {.scale = 2.0});
  two.add(x.row(0), v.row(0));
  CHECK(!refusal([&] { one += two; }).empty());
}

TEST_CASE("taylor_shift and the delta rule: a length beyond what its square can hold",
          "[attention][hostile]") {
  const rows q = normal<double>(4, 3, 1), k = normal<double>(4, 3, 2), v = normal<double>(4, 2, 3);
  const rows plain = taylor_shift(q, k, v).output;
  for (const double factor : {1e200, 1e-200}) {
    INFO("keys times " << factor);
    CHECK(near(taylor_shift(q, rows(k * factor), v).output, plain, 1e-12));
    presets::delta_rule_state<double> learnt(3, 2);
    learnt.add(k.row(0) * factor, v.row(0));
    const vector unit = k.row(0).transpose().normalized();
    CHECK(near(learnt.read(unit).transpose(), v.row(0), 1e-12));
  }
}
