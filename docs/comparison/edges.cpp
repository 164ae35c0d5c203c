// SPDX-License-Identifier: MIT
//
// The cells of docs/comparison.md that C++ libraries give: g++ -std=c++20 -O2 -DCUMULUS|BOOST|STAN|EIGEN edges.cpp
#include <cmath>
#include <cstdio>
#include <exception>
#include <limits>
#include <string>
#include <vector>

using numbers = std::vector<double>;

#if defined(CUMULUS)
#include <cumulus/cumulus.hpp>
template <class X>
auto logsumexp(const X& x) {
  return cumulus::logsumexp(x);
}
double logaddexp(double a, double b) { return cumulus::logaddexp(a, b); }
auto softmax(const numbers& x) { return cumulus::softmax(x); }
auto log_softmax(const numbers& x) { return cumulus::log_softmax(x); }
auto gradient(const numbers& x) { return cumulus::logsumexp_gradient(x); }
#elif defined(BOOST)
#include <boost/math/special_functions/logsumexp.hpp>
#include <boost/version.hpp>
template <class X>
auto logsumexp(const X& x) {
  return boost::math::logsumexp(x);
}
double logaddexp(double a, double b) { return boost::math::logaddexp(a, b); }
#elif defined(STAN)
#include <stan/math.hpp>
template <class T>
using vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;
template <class T>
vector<T> of(const std::vector<T>& x) {
  return Eigen::Map<const vector<T>>(x.data(), Eigen::Index(x.size()));
}
auto logsumexp(const numbers& x) { return stan::math::log_sum_exp(of(x)); }
double logaddexp(double a, double b) { return stan::math::log_sum_exp(a, b); }
auto softmax(const numbers& x) { return vector<double>(stan::math::softmax(of(x))); }
auto log_softmax(const numbers& x) { return vector<double>(stan::math::log_softmax(of(x))); }
auto gradient(const numbers& x) {
  double value;
  vector<double> g;
  stan::math::gradient([](const auto& y) { return stan::math::log_sum_exp(y); }, of(x), value, g);
  return g;
}
#else  // the expressions that one writes with Eigen
#include <Eigen/Core>
template <class T>
using vector = Eigen::Array<T, Eigen::Dynamic, 1>;
template <class T>
vector<T> of(const std::vector<T>& x) {
  return Eigen::Map<const vector<T>>(x.data(), Eigen::Index(x.size()));
}
template <class T>
auto logsumexp(const std::vector<T>& x) {
  const vector<T> y = of(x);
  const T m = y.maxCoeff();
  return m + std::log((y - m).exp().sum());
}
auto softmax(const numbers& x) {
  const vector<double> y = of(x), e = (y - y.maxCoeff()).exp();
  return vector<double>(e / e.sum());
}
auto log_softmax(const numbers& x) { return vector<double>(of(x) - logsumexp(x)); }
#endif

std::string text(double x) {
  char s[40];
  std::snprintf(s, sizeof s, "%.17g", x);
  return s;
}
template <class X>
std::string text(const X& x) {
  std::string s;
  for (int i = 0; i < int(x.size()); ++i) s += (i ? " " : "") + text(double(x[i]));
  return "[" + s + "]";
}
template <class F>
void show(const std::string& name, F f) {
  std::string result;
  try {
    result = text(f());
  } catch (const std::exception& e) {
    result = std::string("refused: ") + e.what();
  }
  std::printf("%-42s %s\n", name.c_str(), result.c_str());
}

int main() {
  constexpr double inf = std::numeric_limits<double>::infinity(),
                   nan = std::numeric_limits<double>::quiet_NaN(),
                   most = std::numeric_limits<double>::max();
#if defined(BOOST)
  std::printf("boost %s\n", BOOST_LIB_VERSION);
#elif defined(STAN)
  std::printf("stan math %s.%s\n", stan::math::MAJOR_VERSION.c_str(),
              stan::math::MINOR_VERSION.c_str());
#elif !defined(CUMULUS)
  std::printf("eigen %d.%d.%d\n", EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION);
#endif
#if defined(CUMULUS) || defined(STAN)  // Boost and Eigen read what is not there
  show("logsumexp []", [&] { return logsumexp(numbers{}); });
  show("softmax []", [&] { return softmax(numbers{}); });
#endif
  for (const numbers& x :
       {numbers{-inf, -inf}, {inf, 1}, {inf, inf}, {nan, 1}, {inf, nan}, {0, -40}, {most, most}})
    show("logsumexp " + text(x), [&] { return logsumexp(x); });
#if !defined(STAN)  // its result is double
  show("logsumexp of 2^25 zeros, float",
       [&] { return double(logsumexp(std::vector<float>(1 << 25))); });
#endif
#if !defined(BOOST)
  for (const numbers& x : {numbers{-inf, -inf}, {inf, 1}, {inf, inf, 0}, {nan, 1}, {most, -most}})
    show("softmax " + text(x), [&] { return softmax(x); });
  show("softmax of nine -inf", [&] { return softmax(numbers(9, -inf)); });
  show("softmax 0 and eight -inf", [&] {
    numbers x(9, -inf);
    x[0] = 0;
    return softmax(x);
  });
  for (const numbers& x : {numbers{inf, 1}, {0, -40}, {1e16, 1e16}})
    show("log_softmax " + text(x), [&] { return log_softmax(x); });
  for (const int spread : {1, 30, 700}) {
    numbers x(1000);
    for (int i = 0; i < 1000; ++i)
      x[std::size_t(i)] = (0.37 - (i * 7919) % 10007 / 10007.0) * spread;
    long double sum = 0;
    for (const double v : x) sum += std::exp((long double)v);
    const auto p = softmax(x);
    long double worst = 0;
    for (int i = 0; i < 1000; ++i) {
      const long double exact = std::exp((long double)x[std::size_t(i)]) / sum;
      worst = std::max(worst, std::fabs(p[i] - exact) / exact);
    }
    show("softmax error, spread " + std::to_string(spread),
         [&] { return double(std::round(std::ldexp(worst, 53) * 10) / 10); });
  }
#endif
#if defined(CUMULUS) || defined(BOOST) || defined(STAN)
  for (const auto& [a, b] :
       {std::pair{-inf, 5.0}, {5.0, -inf}, {-inf, -inf}, {inf, inf}, {inf, nan}, {0.0, -40.0}})
    show("logaddexp " + text(a) + " " + text(b), [&] { return logaddexp(a, b); });
#endif
#if defined(CUMULUS) || defined(STAN)
  for (const numbers& x : {numbers{1e16, 1e16}, {-inf, -inf}, {inf, 1}})
    show("gradient " + text(x), [&] { return gradient(x); });
#endif
#if defined(CUMULUS)
  const auto pair = [](const auto& s) { return numbers{s.log_abs, s.sign}; };
  show("signed inf 1, 0 1", [&] {
    return pair(cumulus::logsumexp_signed(numbers{inf, 1}, numbers{0, 1}));
  });
  show("signed 1 1, 1 -1", [&] {
    return pair(cumulus::logsumexp_signed(numbers{1, 1}, numbers{1, -1}));
  });
  show("signed", [&] { return pair(cumulus::logsumexp_signed(numbers{}, numbers{})); });
  show("signed 1000 1000 1, 1 -1 1", [&] {
    return pair(cumulus::logsumexp_signed(numbers{1000, 1000, 1}, numbers{1, -1, 1}));
  });
  show("signed 0 -800, 1e-300 1e300", [&] {
    return pair(cumulus::logsumexp_signed(numbers{0, -800}, numbers{1e-300, 1e300}));
  });
#endif
}
