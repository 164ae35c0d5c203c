// SPDX-License-Identifier: MIT
//
// Scalars of many digits, with and without expression templates: every function keeps their digits.
#include <cumulus/exact/log_weights.hpp>
#include <cumulus/exact/logmeanexp.hpp>
#include <cumulus/exact/logsumexp.hpp>
#include <cumulus/exact/softmax.hpp>
#include <cumulus/exact/softmax_derivatives.hpp>

#include <boost/multiprecision/cpp_dec_float.hpp>

#include <limits>
#include <vector>

#include "any_options.hpp"
#include "catch.hpp"
#include "wide.hpp"
#include "worst.hpp"

namespace {

using binary = oracle::wide;                              // 50 digits, no expression templates
using decimal = boost::multiprecision::cpp_dec_float_50;  // with them

using exact = oracle::wider;

template <class S>
exact lift(const S& x) {
  return exact(x.str(0, std::ios_base::scientific));
}

/// In units of the last of 50 digits: the scalar's own exp and log cost a few.
template <class S>
double units(const S& actual, const exact& expected, const exact& size) {
  return double(abs(lift(actual) - expected) / size /
                exact(std::numeric_limits<S>::epsilon().str()));
}

template <class S>
std::vector<S> numbers(int n) {
  std::vector<S> x;
  for (int i = 0; i < n; ++i) x.push_back(S(i * i % 17) / 7 - S(i) / 3);
  return x;
}

}  // namespace

TEMPLATE_TEST_CASE("multiprecision: every function keeps 50 digits", "[exact][value]", binary,
                   decimal) {
  using S = TestType;
  const std::vector<S> x = numbers<S>(12), v = numbers<S>(12);
  std::vector<S> w;
  for (int i = 0; i < 12; ++i) w.push_back(S(i % 5) / 4);
  exact total = 0, weight = 0, mean = 0, entropy = 0, squares = 0, plain = 0;
  std::vector<exact> p;
  for (std::size_t i = 0; i < x.size(); ++i) {
    p.push_back(lift(w[i]) * exp(lift(x[i])));
    total += p[i];
    weight += lift(w[i]);
    plain += exp(lift(x[i]));
    squares += exp(2 * lift(x[i]));
  }
  for (std::size_t i = 0; i < x.size(); ++i) {
    p[i] /= total;
    mean += p[i] * lift(v[i]);
    if (p[i] > 0) entropy -= p[i] * log(p[i]);
  }
  worst error;
  const any_options<S> o{.weights = w};
  error.see(units(cumulus::logsumexp(x, o), exact(log(total)), exact(6)), "logsumexp");
  error.see(units(cumulus::logmeanexp(x, o), exact(log(total / weight)), exact(6)), "logmeanexp");
  error.see(units(cumulus::softmax_entropy(x, o), entropy, entropy), "entropy");
  error.see(units(cumulus::effective_sample_size(x), exact(plain * plain / squares), exact(10)),
            "sample size");
  const auto shares = cumulus::softmax(x, o), logs = cumulus::log_softmax(x, o),
             jvp = cumulus::softmax_jvp(x, v, o), gradient = cumulus::logsumexp_gradient(x, o),
             in_weights = cumulus::logsumexp_gradient_weights(x, o);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto k = Eigen::Index(i);
    error.see(
        units(S(in_weights[k]), exact(exp(lift(x[i])) / total), exact(exp(lift(x[i])) / total)),
        "in weights", i);
    if (p[i] == 0) {
      CHECK(shares[k] == 0);
      CHECK(jvp[k] == 0);
      CHECK(logs[k] < std::numeric_limits<double>::lowest());
      continue;
    }
    error.see(units(S(shares[k]), p[i], p[i]), "softmax", i);
    error.see(units(S(gradient[k]), p[i], p[i]), "gradient", i);
    error.see(units(S(logs[k]), exact(log(p[i])), exact(6)), "log_softmax", i);
    error.see(units(S(jvp[k]), exact(p[i] * (lift(v[i]) - mean)), exact(6 * p[i])), "jvp", i);
  }
  CHECK_WORST(error, 40);
}

TEMPLATE_TEST_CASE("multiprecision: a mean near 0, a tail, and edges", "[exact][edge]", binary,
                   decimal) {
  using S = TestType;
  const S tiny("1e-40");
  const std::vector<S> opposite{tiny, -tiny};  // log cosh
  CHECK(units(cumulus::logmeanexp(opposite), exact("5e-81"), exact("1e-40")) <= 4);
  const std::vector<S> tail{S(0), S(-120)};
  const exact expected = log1p(exact(exp(exact(-120))));
  CHECK(units(cumulus::logsumexp(tail), expected, expected) <= 300);  // exp(-120) itself: 120 u
  const S infinity = std::numeric_limits<S>::infinity();
  const std::vector<S> none, below{S(-infinity), S(-infinity)}, top{infinity, S(1)};
  CHECK(cumulus::logsumexp(none) == -infinity);
  CHECK(cumulus::logsumexp(below) == -infinity);
  CHECK(cumulus::logsumexp(top) == infinity);
  CHECK(cumulus::softmax(top)[0] == 1);
  const S nan = std::numeric_limits<S>::quiet_NaN();
  const S bad = cumulus::logsumexp(std::vector<S>{S(1), nan});
  CHECK(bad != bad);
  CHECK(cumulus::softmax(std::vector<S>{S(5), S(7)}, {.scale = 0})[0] == S(1) / 2);
}

TEMPLATE_TEST_CASE("multiprecision: rows of a matrix, and results in place", "[exact][value]",
                   binary, decimal) {
  using S = TestType;
  Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic> a(2, 3);
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j) a(i, j) = S(i + j) / 3;
  const Eigen::Matrix<S, Eigen::Dynamic, 1> row = a.row(1).transpose();
  CHECK(cumulus::logsumexp(a, cumulus::rowwise)[1] == cumulus::logsumexp(row));
  const S second = cumulus::softmax(row)[2];
  cumulus::softmax(a, cumulus::into(a), cumulus::rowwise);
  CHECK(a(1, 2) == second);
}
