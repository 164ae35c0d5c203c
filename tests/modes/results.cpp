// SPDX-License-Identifier: MIT
//
// One file that is compiled header-only and with CUMULUS_COMPILED: CUMULUS_UNIT names its function, which lists the bits of
// many results.
#include "results.hpp"

#include <cumulus/attention.hpp>
#include <cumulus/exact.hpp>
#include <cumulus/moments.hpp>
#include <cumulus/series.hpp>
#include <bit>
#include <cmath>
#include <limits>

namespace {

class bit_list {
 public:
  void add(double x) { bits_.push_back(std::bit_cast<std::uint64_t>(x)); }
  void add(float x) { bits_.push_back(std::bit_cast<std::uint32_t>(x)); }
  template <class Range>
    requires requires(const Range& range) { range.begin(); }
  void add(const Range& range) {
    for (const auto& x : range) add(x);
  }
  [[nodiscard]] std::vector<std::uint64_t> take() { return std::move(bits_); }

 private:
  std::vector<std::uint64_t> bits_;
};

/// Numbers without a pattern, from a generator of our own, so that every build has the same.
template <class T>
std::vector<T> numbers(std::size_t n, double spread) {
  std::vector<T> x(n);
  std::uint64_t state = 0x9e3779b97f4a7c15u + n;
  for (T& value : x) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    value = T(spread * (double(state >> 11) * 0x1p-53 - 0.5));
  }
  return x;
}

template <class T>
void list_exact(bit_list& out) {
  for (const std::size_t n : {0, 1, 2, 7, 16, 33, 100, 1000}) {
    for (const double spread : {0.0, 1e-3, 5.0, 200.0, 1e9}) {
      const auto x = numbers<T>(n, spread), w = numbers<T>(n, 1.0);
      std::vector<T> positive(n);
      std::vector<bool> keep(n);
      for (std::size_t i = 0; i < n; ++i) positive[i] = std::abs(w[i]), keep[i] = i % 3 != 1;
      out.add(cumulus::logsumexp(x));
      out.add(
          cumulus::logsumexp(x, {.weights = positive, .mask = keep, .scale = 0.7, .sink = 1.0}));
      out.add(cumulus::softmax(x));
      out.add(cumulus::softmax(x, {.weights = positive}));
      out.add(cumulus::softmax(x, {.mask = keep, .scale = -0.5}));
      out.add(cumulus::log_softmax(x));
      out.add(cumulus::log_softmax(x, {.weights = positive, .sink = 0.5}));
      out.add(cumulus::logmeanexp(x));
      out.add(cumulus::softmax_entropy(x));
      out.add(cumulus::logcumsumexp(x));
      out.add(cumulus::softmax_vjp(x, w));
      out.add(cumulus::logsumexp_gradient(x));
    }
  }
  auto far = numbers<T>(50, 3.0);
  far[7] = std::numeric_limits<T>::infinity();
  out.add(cumulus::softmax(far));
  far[8] = std::numeric_limits<T>::quiet_NaN();
  out.add(cumulus::logsumexp(far));
}

template <class T>
void list_moments_and_series(bit_list& out) {
  for (const std::size_t n : {1, 3, 64, 1000}) {
    for (const double spread : {0.0, 0.5, 4.0}) {
      const auto x = numbers<T>(n, spread), w = numbers<T>(n, 1.0);
      cumulus::central_moments<T> m(8);
      m.add(x);
      for (int k = 0; k <= 8; ++k) out.add(m.moment(k));
      for (const auto f : {cumulus::form::taylor, cumulus::form::moment, cumulus::form::chebyshev,
                           cumulus::form::enclosure}) {
        const auto e = cumulus::logsumexp_series(x, {.order = 6, .form = f});
        out.add(e.value);
        out.add(e.bound);
      }
      out.add(cumulus::softmax_series(x, 4));
    }
  }
}

template <class T>
void list_attention(bit_list& out) {
  using matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const auto values = numbers<T>(200 * 24, 4.0);
  const Eigen::Map<const matrix> all(values.data(), 200, 24);
  const matrix q = all.topRows(9), k = all, v = all.rowwise().reverse();
  const auto a = cumulus::attention(q, k, v);
  out.add(a.output.reshaped());
  const auto causal = cumulus::attention(q, k, v, {.sink = 0.3, .causal = true});
  out.add(causal.output.reshaped());
  const auto linear = cumulus::linear_attention(q, k, v, {.order = 2});
  out.add(linear.output.reshaped());
  out.add(cumulus::softmax(k, cumulus::rowwise).reshaped());
  out.add(cumulus::softmax(k, cumulus::colwise).reshaped());
  out.add(cumulus::logsumexp(k, cumulus::colwise).reshaped());
}

}  // namespace

std::vector<std::uint64_t> CUMULUS_UNIT() {
  bit_list out;
  list_exact<float>(out);
  list_exact<double>(out);
  list_moments_and_series<float>(out);
  list_moments_and_series<double>(out);
  list_attention<float>(out);
  list_attention<double>(out);
  return out.take();
}
