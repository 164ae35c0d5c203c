// SPDX-License-Identifier: MIT
#include <cumulus/series/softmax_series.hpp>
#include <Eigen/Core>
#include <array>
#include <cmath>

#include "catch.hpp"
#include "least.hpp"
#include "names.hpp"
#include "oracle.hpp"
#include "series_samples.hpp"
#include "tables.hpp"
#include "ulp.hpp"

namespace {

using cumulus::central_moments;
using cumulus::form;
using cumulus::into;
using cumulus::softmax_series;
using oracle::wide;
using oracle::wider;

constexpr double inf = std::numeric_limits<double>::infinity();
const double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr form forms[] = {form::taylor, form::normaliser, form::moment};

/// Into a std::vector, of any scalar.
template <class T>
std::vector<T> entries(const std::vector<T>& x, const std::vector<T>& w, int order,
                       form f = form::taylor) {
  std::vector<T> out(x.size());
  if (w.empty())
    softmax_series(x, into(out), {.order = order, .form = f});
  else
    softmax_series(x, into(out), {.weights = w, .order = order, .form = f});
  return out;
}

template <class To, class T>
std::vector<To> to(const std::vector<T>& x) {
  return std::vector<To>(x.begin(), x.end());
}

template <class T>
T total(const std::vector<T>& s) {
  T sum(0);
  for (const T& v : s) sum += v;
  return sum;
}

/// What the sum of the absolute values of all products is, where entry i is sum w/W y^j/j! r_k: the scale of rounding.
/// |1/M| <= 1 / (2 - M) with the absolute moments in M.
std::vector<wide> magnitudes(const std::vector<double>& x, const std::vector<double>& w,
                             int order) {
  const auto moments = oracle::central_moments(x, std::max(order, 0), w);
  const wide mean = oracle::mean(x, w), weight = oracle::weight(x, w);
  std::vector<wide> r(moments.size(), wide(0)), excess = r;
  wide factorial = 1;
  for (std::size_t k = 1; k < moments.size(); ++k) {
    factorial *= wide(int(k));
    if (k > 1) excess[k] = moments[k].absolute_value / factorial;
  }
  r[0] = 1;
  for (std::size_t k = 1; k < r.size(); ++k)
    for (std::size_t j = 2; j <= k; ++j) r[k] += excess[j] * r[k - j];
  std::vector<wide> out(x.size(), wide(0));
  for (std::size_t i = 0; i < x.size(); ++i) {
    wide term = (w.empty() ? wide(1) : wide(w[i])) / weight;
    for (std::size_t j = 0; j < r.size(); ++j) {
      for (std::size_t k = 0; j + k < r.size(); ++k) out[i] += term * r[k];
      term *= abs(wide(x[i]) - mean) / wide(int(j) + 1);
    }
  }
  return out;
}

}  // namespace

// ---- values

TEST_CASE("softmax_series: the 43 tabulated samples", "[series][value]") {
  const auto cases = tables::series_cases();
  REQUIRE(cases.size() == 43);
  const wide u = wide(1) / wide(9007199254740992.0);
  for (const auto& c : cases) {
    CAPTURE(c.id);
    const auto s = entries(c.x, c.w, c.order);
    const auto in_wide = entries(to<wide>(c.x), to<wide>(c.w), c.order);
    central_moments<double> m(c.order), more(c.order + 5);
    if (c.w.empty())
      m.add(c.x), more.add(c.x);
    else
      m.add(c.x, c.w), more.add(c.x, c.w);
    const std::vector<double> from = softmax_series(c.x, m, c.order),
                              from_more = softmax_series(c.x, more, c.order);
    const auto scale = magnitudes(c.x, c.w, c.order);
    wide largest = 0;
    for (std::size_t i = 0; i < c.x.size(); ++i) {
      // the moments' roundings, and six in each step of the recurrence and of the polynomial
      const wide tolerance =
          scale[i] *
          (u * (cumulus::central_moments_weighted_max_roundings + 6) * (c.order + 1) + wide(1e-36));
      CHECK(abs(wide(s[i]) - c.softmax_series[i]) <= tolerance);
      CHECK(abs(in_wide[i] - c.softmax_series[i]) <= scale[i] * wide(1e-38));
      const double w = c.w.empty() ? 1 : c.w[i];  // x as of weight 1
      CHECK(abs(wide(w) * wide(from[Eigen::Index(i)]) - c.softmax_series[i]) <= tolerance);
      CHECK(abs(wide(w) * wide(from_more[Eigen::Index(i)]) - c.softmax_series[i]) <= tolerance);
      const wide error = abs(c.softmax_series[i] - c.softmax_exact[i]);
      largest = std::max(largest, error);
    }
    // every entry of the normaliser form has the one relative error expm1(K - K_P)
    const auto positive = entries(c.x, c.w, c.order, form::normaliser);
    const wide factor = exp(c.k_exact - c.k_series);
    for (std::size_t i = 0; i < c.x.size(); ++i) {
      if (abs(c.k_series) > 100) continue;  // e^355955 is no double
      const wide expected = c.softmax_exact[i] * factor;
      const wide spread = abs(wide(c.x[i]) - c.mean);
      CHECK(abs(wide(positive[i]) - expected) <=
            expected * u * (32 + 4 * spread + 64 * c.order * abs(c.k_series)) +
                expected * wide(1e-30) + (c.bound_b1 < 1 ? wide(0) : expected * wide(1e-8)));
    }
  }
}

TEST_CASE("softmax_series: the terms of the table, in 50 digits", "[series][value]") {
  const auto table = tables::polynomials("softmax_terms.json", "degrees");
  families::random r(801);
  for (int shape = 0; shape < families::shape_count; ++shape) {
    const auto s = families::ranged<double>(shape, shape % 3, 9, 2, 1, r);
    const auto moments = oracle::central_moments(s.x, 8, s.w);
    std::vector<wide> mu;
    for (const auto& m : moments) mu.push_back(m.signed_value);
    const wide mean = oracle::mean(s.x, s.w), weight = oracle::weight(s.x, s.w);
    std::vector<wide> expected(s.x.size(), wide(0));
    for (int degree = 0; degree <= 8; ++degree) {
      const auto actual = entries(to<wide>(s.x), to<wide>(s.w), degree);
      for (std::size_t i = 0; i < s.x.size(); ++i) {
        expected[i] += (s.w.empty() ? wide(1) : wide(s.w[i])) / weight *
                       tables::value(table.at(degree), mu, wide(wide(s.x[i]) - mean));
        CAPTURE(s.name, degree);
        CHECK(abs(actual[i] - expected[i]) <= 1e-46);
      }
    }
  }
}

TEST_CASE("softmax_series: the moment form is E_P(y) / sum w E_P(y), P even", "[series][value]") {
  families::random r(811);
  for (int shape = 0; shape < families::shape_count; ++shape) {
    for (const double range : {0.5, 4.0, 20.0}) {
      const auto s = families::ranged<double>(shape, shape % 3, 12, range, 3, r);
      const wide mean = oracle::mean(s.x, s.w);
      for (const int order : {0, 1, 2, 3, 4, 7, 8, 13, 24}) {
        std::vector<wide> expected;
        for (std::size_t i = 0; i < s.x.size(); ++i) {
          wide term = s.w.empty() ? wide(1) : wide(s.w[i]), sum = 0;
          for (int k = 0; k <= order - order % 2; ++k) {
            sum += term;
            term *= (wide(s.x[i]) - mean) / wide(k + 1);
          }
          expected.push_back(sum);
        }
        const wide sum = total(expected);
        const auto in_wide = entries(to<wide>(s.x), to<wide>(s.w), order, form::moment);
        const auto actual = entries(s.x, s.w, order, form::moment);
        for (std::size_t i = 0; i < s.x.size(); ++i) {
          CAPTURE(s.name, range, order);
          CHECK(abs(in_wide[i] - expected[i] / sum) <= 1e-38);
          CHECK(actual[i] > 0);
          CHECK(std::abs(actual[i] - static_cast<double>(expected[i] / sum)) <= 1e-7);
        }
        CHECK(total(actual) == Approx(1).epsilon(1e-8));
      }
    }
  }
}

// ---- laws

TEST_CASE("softmax_series: every truncation sums to one", "[series][property]") {
  families::random r(821);
  double worst = 0;
  for (int shape = 0; shape < families::shape_count; ++shape) {
    for (int weighting = 0; weighting < families::weighting_count; ++weighting) {
      for (const double range : {1e-6, 0.5, 2.0, 3.0}) {
        const auto s = families::ranged<double>(shape, weighting, 20, range, 1, r);
        const auto scale = magnitudes(s.x, s.w, 24);
        for (int order = 0; order <= 24; ++order) {
          CAPTURE(s.name, range, order);
          if (order % 4 < 2) {
            const wide sum = total(entries(to<wide>(s.x), to<wide>(s.w), order));
            CHECK(abs(sum - 1) <= 1e-45 * std::max(1.0, static_cast<double>(total(scale)) / 100));
          }
          const auto out = entries(s.x, s.w, order);
          double sum = 0, size = 0;
          for (const double v : out) sum += v, size += std::abs(v);
          worst = std::max(worst, std::abs(sum - 1) / (ulp_of(1.0) * size));
        }
      }
    }
  }
  CAPTURE(worst);
  CHECK(worst <= 16);  // ulp of the sum of |entries|, 20 entries
}

TEST_CASE("softmax_series: is the gradient of the logsumexp series of one order more",
          "[series][property]") {
  families::random r(831);
  const wider h("1e-25");  // of an error h^2, beside a rounding of 1e-100 / h
  for (int weighting = 0; weighting < families::weighting_count; ++weighting) {
    for (const double range : {0.7, 3.0}) {
      const auto s = families::ranged<double>(weighting, weighting, 4, range, 2, r);
      const auto x = to<wider>(s.x), w = to<wider>(s.w);
      for (const int order : {0, 1, 2, 3, 4, 5, 6, 7, 11, 16, 23, 63}) {
        const auto gradient = entries(x, w, order);
        for (std::size_t i = 0; i < x.size(); ++i) {
          const auto at = [&](const wider& step) {
            auto moved = x;
            moved[i] += step;
            return w.empty()
                       ? cumulus::logsumexp_series(moved, order + 1).value
                       : cumulus::logsumexp_series(moved, {.weights = w, .order = order + 1}).value;
          };
          const wider difference = (at(h) - at(-h)) / (2 * h);
          CAPTURE(s.name, range, order, i);
          CHECK(abs(difference - gradient[i]) <= 1e-40);
        }
      }
    }
  }
}

TEST_CASE("softmax_series: the normaliser form has one relative error, expm1(K - K_P)",
          "[series][property]") {
  families::random r(841);
  for (int shape = 0; shape < families::shape_count; ++shape) {
    for (const double range : {0.3, 3.0, 8.0}) {
      const auto s = families::ranged<double>(shape, shape % 3, 10, range, 5, r);
      const auto exact = oracle::softmax(s.x, s.w);
      for (int order = 0; order <= 12; order += 1 + order % 3) {
        CAPTURE(s.name, range, order);
        const auto x = to<wide>(s.x), w = to<wide>(s.w);
        const wide k = w.empty()
                           ? cumulus::logsumexp_series(x, order).value
                           : cumulus::logsumexp_series(x, {.weights = w, .order = order}).value;
        const wide relative = exp(oracle::logsumexp(s.x, s.w) - k);
        const auto in_wide = entries(x, w, order, form::normaliser);
        const auto out = entries(s.x, s.w, order, form::normaliser);
        if (abs(k) > 300) continue;
        for (std::size_t i = 0; i < x.size(); ++i) {
          CHECK(abs(in_wide[i] / exact[i] / relative - 1) <= 1e-40);
          CHECK(out[i] > 0);
          CHECK(std::abs(out[i] / static_cast<double>(exact[i] * relative) - 1) <=
                1e-11);  // K_P itself is 1e4 at range 8
        }
      }
    }
  }
}

TEST_CASE("softmax_series: shift, permutation, scale of the weights", "[series][property]") {
  families::random r(851);
  for (int shape = 0; shape < families::shape_count; ++shape) {
    auto s = families::ranged<double>(shape, 1, 25, 2, 0, r);
    for (double& v : s.x) v = std::ldexp(std::round(std::ldexp(v, 20)), -20);  // exact shifts
    auto shifted = s.x;
    for (double& v : shifted) v -= 0x1p30;
    auto reversed_x = s.x, reversed_w = s.w;
    std::reverse(reversed_x.begin(), reversed_x.end());
    std::reverse(reversed_w.begin(), reversed_w.end());
    auto heavy = s.w;
    for (double& w : heavy) w *= 0x1p900;
    for (const form f : forms) {
      for (const int order : {0, 1, 2, 3, 6, 9}) {
        const auto a = entries(s.x, s.w, order, f), b = entries(shifted, s.w, order, f),
                   c = entries(reversed_x, reversed_w, order, f), d = entries(s.x, heavy, order, f);
        for (std::size_t i = 0; i < a.size(); ++i) {
          CAPTURE(s.name, static_cast<int>(f), order);
          CHECK(std::abs(b[i] - a[i]) <= 4e-15);
          CHECK(std::abs(c[a.size() - 1 - i] - a[i]) <= 4e-15);
          CHECK(d[i] == a[i]);
        }
      }
    }
  }
}

TEST_CASE("softmax_series: never negative up to the tabulated range, negative a little beyond",
          "[series][property]") {
  const double non_negative[] = {1.0000, 2.0000, 1.5961, 2.0245, 2.1806, 2.3607, 2.3979, 2.4598,
                                 2.5466, 2.6225, 2.6191, 2.6454, 2.6927, 2.7413, 2.7357, 2.7506};
  families::random r(861);
  for (int order = 1; order <= 16; ++order) {
    const double limit = non_negative[order - 1];
    // extremal are two points, of any shares, and the entry of a third of no weight between them
    const auto least = [&](double range) {
      double out = 1;
      for (int share = 1; share < 400; ++share) {
        central_moments<double> m(order);
        m.add(0, share / 400.0);
        m.add(range, 1 - share / 400.0);
        m += central_moments<double>(order);
        std::vector<double> between;
        for (int i = 0; i <= 60; ++i) between.push_back(range * i / 60);
        out = std::min(out, least_of(softmax_series(between, m, order)));
      }
      for (const double share : {1e-3, 1e-5, 1e-8}) {
        for (const double q : {share, 1 - share}) {
          central_moments<double> m(order);
          m.add(0, q);
          m.add(range, 1 - q);
          out = std::min(out, least_of(softmax_series(std::vector<double>{0, range}, m, order)));
        }
      }
      return out;
    };
    CAPTURE(order, limit);
    CHECK(least(limit - 1e-4) >= 0);
    CHECK(least(limit * 1.01) < 0);
    for (int shape = 0; shape < families::shape_count; ++shape) {
      for (int weighting = 0; weighting < families::weighting_count; ++weighting) {
        const auto s =
            families::ranged<double>(shape, weighting, 2 + r.below(20), limit - 1e-4, 0, r);
        for (const double entry : entries(s.x, s.w, order)) CHECK(entry >= 0);
      }
    }
  }
}

TEST_CASE("softmax_series: reaches the exact softmax below pi", "[series][property]") {
  families::random r(871);
  for (int shape = 0; shape < families::shape_count; ++shape) {
    const auto s = families::ranged<double>(shape, shape % 3, 30, 1.2, 1e3, r);
    const auto exact = oracle::softmax(s.x, s.w);
    for (const form f : forms) {
      const auto out = entries(s.x, s.w, 64, f);
      for (std::size_t i = 0; i < out.size(); ++i) {
        CAPTURE(s.name, static_cast<int>(f));
        CHECK(ulps(out[i], exact[i]) <= 64);
      }
    }
  }
}

TEST_CASE("softmax_series: a template argument and moments give the same", "[series][property]") {
  families::random r(881);
  const auto s = families::ranged<double>(1, 0, 33, 2, 7, r);
  const auto check = [&](auto order) {
    constexpr int P = decltype(order)::value;
    central_moments<double> m(std::max(P, 2)), more(P <= 12 ? 12 : 64);  // one kernel to order 12
    m.add(s.x), more.add(s.x);
    for (const form f : forms) {
      CAPTURE(P, static_cast<int>(f));
      const std::vector<double> run_time = softmax_series(s.x, {.order = P, .form = f});
      CHECK(softmax_series<P>(s.x, f) == run_time);
      CHECK(softmax_series(s.x, m, {.order = P, .form = f}) == run_time);
      CHECK(softmax_series(s.x, more, {.order = P, .form = f}) == run_time);
    }
  };
  [&]<int... P>(std::integer_sequence<int, P...>) {
    (check(std::integral_constant<int, P>()), ...);
    check(std::integral_constant<int, 64>());
  }(std::make_integer_sequence<int, 17>());
}

// ---- edges

TEST_CASE("softmax_series: infinite and NaN input give the exact softmax", "[series][edge]") {
  const auto same = [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); };
  struct edge {
    std::vector<double> x, out;
  };
  for (const edge& c : {edge{{}, {}},
                        {{1, inf}, {0, 1}},
                        {{inf, inf, 0}, {not_a_number, not_a_number, 0}},
                        {{-inf, 5}, {0, 1}},
                        {{-inf, 5, 5}, {0, 0.5, 0.5}},
                        {{-inf, -inf}, {not_a_number, not_a_number}},
                        {{1, not_a_number}, {not_a_number, not_a_number}}}) {
    for (const form f : forms) {
      for (const int order : {0, 1, 4, 64}) {
        const auto out = entries(c.x, {}, order, f);
        CAPTURE(c.x, order);
        for (std::size_t i = 0; i < out.size(); ++i) CHECK(same(out[i], c.out[i]));
      }
    }
  }
}

TEST_CASE("softmax_series: weights of 0, and weights that are none", "[series][edge]") {
  for (const form f : forms) {
    const auto out = entries(std::vector<double>{1, not_a_number, 2, inf}, {1, 0, 3, 0}, 4, f),
               kept = entries(std::vector<double>{1, 2}, {1, 3}, 4, f);
    CHECK(out == std::vector<double>{kept[0], 0, kept[1], 0});
    for (const double bad : {-1.0, not_a_number})
      for (const double v : entries(std::vector<double>{1, 2, 3}, {1, bad, 1}, 4, f))
        CHECK(std::isnan(v));
  }
}

TEST_CASE("softmax_series: constant data share equally", "[series][edge]") {
  for (const form f : forms) {
    for (const int order : {0, 1, 5, 64}) {
      for (const double v : entries(std::vector<double>(4, 1e8), {}, order, f)) CHECK(v == 0.25);
      CHECK(entries(std::vector<double>{-3}, {}, order, f)[0] == 1);
    }
  }
}

TEST_CASE("softmax_series: in place, strided, overlapping, returned", "[series][property]") {
  families::random r(891);
  const auto s = families::ranged<double>(0, 0, 12, 2, 1, r);
  const auto expected = entries(s.x, {}, 5);
  auto x = s.x;
  softmax_series(x, into(x), 5);
  CHECK(x == expected);
  const Eigen::Map<const Eigen::VectorXd> dense(s.x.data(), 12), result(expected.data(), 12);
  Eigen::MatrixXd matrix = Eigen::MatrixXd::Constant(3, 12, 7);
  softmax_series(dense.transpose(), into(matrix.row(1)), 5);
  CHECK(matrix.row(1) == result.transpose());
  CHECK(matrix.row(0).minCoeff() == 7);
  Eigen::VectorXd buffer(13);
  buffer.head(12) = dense;
  softmax_series(buffer.head(12), into(buffer.tail(12)), 5);
  CHECK(buffer.tail(12) == result);
  CHECK(softmax_series(dense, 5) == result);
  CHECK(softmax_series(dense, {.order = 5}) == result);
  const Eigen::RowVectorXd row = softmax_series(dense.transpose(), 5u);
  CHECK(row == result.transpose());
  CHECK((softmax_series(dense.array() + 0, 5).matrix() == result));

  const std::vector<int> integers{1, 2, 2};
  const std::vector<double> of_integers = softmax_series(integers, 3);
  const std::array<double, 3> of_array = softmax_series(std::array{1.0, 2.0, 2.0}, 3);
  CHECK(std::equal(of_integers.begin(), of_integers.end(), of_array.begin(), of_array.end()));
  // float is computed in double and rounded once
  const auto single = to<float>(s.x);
  const auto as_double = to<double>(single);
  for (const form f : forms) {
    const auto narrow = entries(single, {}, 5, f);
    const auto broad = entries(as_double, {}, 5, f);
    for (std::size_t i = 0; i < narrow.size(); ++i)
      CHECK(narrow[i] == static_cast<float>(broad[i]));
  }
}

TEST_CASE("softmax_series: orders and sizes are refused by both values", "[series][edge]") {
  const std::vector<double> x{1, 2, 3}, w{1, 2};
  std::vector<double> out(3, 9), small(2);
  central_moments<double> m(4);
  m.add(x);
  CHECK(names(refusal([&] { softmax_series(x, into(out), -1); }),
              {"softmax_series", "order -1", "0..64"}));
  CHECK(names(refusal([&] { softmax_series(x, into(out), 65); }), {"order 65", "0..64"}));
  CHECK(
      names(refusal([&] { softmax_series(x, into(out), {.order = 65}); }), {"order 65", "0..64"}));
  CHECK(names(refusal([&] { softmax_series(x, into(small), 3); }), {"x has 3", "out has 2"}));
  CHECK(names(refusal([&] { softmax_series(x, into(out), {.weights = w}); }),
              {"x has 3", "weights has 2"}));
  CHECK(names(refusal([&] { static_cast<void>(softmax_series(x, m, 5)); }), {"order 5", "0..4"}));
  CHECK(out == std::vector<double>(3, 9));  // before any work
}
