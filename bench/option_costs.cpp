// SPDX-License-Identifier: MIT
//
// What every option and every relative of softmax and logsumexp costs: a table of times, each as a ratio to the plain call of the
// same scalar and size, to the loop a reader would write, and with its error.
//
//   option_costs [SIZE...]          the table, for 16, 64, 256, 4096 and 1048576 elements unless sizes are given
//   option_costs --count CELL       20 calls of one cell, float and double, 4096 elements: for callgrind
//   option_costs --cells            the names of the cells
#include <cumulus/exact.hpp>
#include <Eigen/Core>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace cumulus;

template <class T>
struct row {
  explicit row(std::size_t n) : x(n), w(n), g(n), out(n), keep_(n) {
    std::mt19937 engine(1);
    std::normal_distribution<double> normal(0, 2);
    std::uniform_real_distribution<double> uniform(0.1, 1);
    // values that float and the half types hold, so that every scalar is asked the same
    const auto held = [](double v) { return T(static_cast<float>(Eigen::bfloat16(float(v)))); };
    for (std::size_t i = 0; i < n; ++i) {
      x[i] = held(normal(engine));
      w[i] = held(uniform(engine));
      g[i] = held(normal(engine));
      keep_[i] = engine() % 8 != 0;
    }
  }
  std::span<const bool> mask() const {
    return {reinterpret_cast<const bool*>(keep_.data()), keep_.size()};
  }
  std::vector<T> x, w, g, out;
  T sum{};

 private:
  std::vector<unsigned char> keep_;
};

/// A call, and the loop a reader would write for it; each leaves its result in out, or in sum where `reduces`.
template <class T>
struct cell {
  const char* name;
  bool reduces;
  std::function<void(row<T>&)> call, loop;
};

/// exp(x - max), and their sum, with weights where there are any.
template <class T>
double shares(row<T>& r, bool weighted, bool masked, double more) {
  double top = -std::numeric_limits<double>::infinity(), sum = 0;
  for (const T& v : r.x) top = std::max(top, double(v));
  for (std::size_t i = 0; i < r.x.size(); ++i) {
    const double term = masked && !r.mask()[i]
                            ? 0.0
                            : std::exp(double(r.x[i]) - top) * (weighted ? double(r.w[i]) : 1.0);
    r.out[i] = T(term);
    sum += term;
  }
  r.sum = T(top);
  return sum + (more < std::numeric_limits<double>::infinity() ? std::exp(more - top) : 0.0);
}

template <class T>
std::vector<cell<T>> cells() {
  constexpr double none = std::numeric_limits<double>::infinity();
  const auto softmax_loop = [](bool weighted, bool masked, double more) {
    return [=](row<T>& r) {
      const double sum = shares(r, weighted, masked, more);
      for (T& v : r.out) v = T(double(v) / sum);
    };
  };
  const auto sum_loop = [](bool weighted, bool masked, double more) {
    return [=](row<T>& r) {
      const double sum = shares(r, weighted, masked, more);
      r.sum = T(double(r.sum) + std::log(sum));
    };
  };
  const auto log_loop = [](bool weighted) {
    return [=](row<T>& r) {
      const double sum = shares(r, weighted, false, none), log = double(r.sum) + std::log(sum);
      for (std::size_t i = 0; i < r.x.size(); ++i)
        r.out[i] = T(double(r.x[i]) + (weighted ? std::log(double(r.w[i])) : 0.0) - log);
    };
  };
  const auto entropy_loop = [](row<T>& r) {
    const double sum = shares(r, false, false, none), log = double(r.sum) + std::log(sum);
    double entropy = 0;
    for (std::size_t i = 0; i < r.x.size(); ++i)
      entropy += double(r.out[i]) / sum * (log - double(r.x[i]));
    r.sum = T(entropy);
  };
  return {
      {"softmax", false, [](row<T>& r) { softmax(r.x, into(r.out)); },
       softmax_loop(false, false, none)},
      {"logsumexp", true, [](row<T>& r) { r.sum = logsumexp(r.x); }, sum_loop(false, false, none)},
      {"log_softmax", false, [](row<T>& r) { log_softmax(r.x, into(r.out)); }, log_loop(false)},
      {"softmax/weights", false, [](row<T>& r) { softmax(r.x, into(r.out), {.weights = r.w}); },
       softmax_loop(true, false, none)},
      {"logsumexp/weights", true, [](row<T>& r) { r.sum = logsumexp(r.x, {.weights = r.w}); },
       sum_loop(true, false, none)},
      {"log_softmax/weights", false,
       [](row<T>& r) { log_softmax(r.x, into(r.out), {.weights = r.w}); }, log_loop(true)},
      {"softmax/mask", false, [](row<T>& r) { softmax(r.x, into(r.out), {.mask = r.mask()}); },
       softmax_loop(false, true, none)},
      {"logsumexp/mask", true, [](row<T>& r) { r.sum = logsumexp(r.x, {.mask = r.mask()}); },
       sum_loop(false, true, none)},
      {"softmax/weights+mask", false,
       [](row<T>& r) { softmax(r.x, into(r.out), {.weights = r.w, .mask = r.mask()}); },
       softmax_loop(true, true, none)},
      {"softmax/sink", false, [](row<T>& r) { softmax(r.x, into(r.out), {.sink = 0.5}); },
       softmax_loop(false, false, 0.5)},
      {"logsumexp/sink", true, [](row<T>& r) { r.sum = logsumexp(r.x, {.sink = 0.5}); },
       sum_loop(false, false, 0.5)},
      {"softmax/scale", false, [](row<T>& r) { softmax(r.x, into(r.out), {.scale = 0.7}); }, {}},
      {"softmax/scale<0", false, [](row<T>& r) { softmax(r.x, into(r.out), {.scale = -0.7}); }, {}},
      {"logmeanexp", true, [](row<T>& r) { r.sum = logmeanexp(r.x); },
       [sum_loop](row<T>& r) {
         sum_loop(false, false, none)(r);
         r.sum = T(double(r.sum) - std::log(double(r.x.size())));
       }},
      {"logmeanexp/weights",
       true,
       [](row<T>& r) { r.sum = logmeanexp(r.x, {.weights = r.w}); },
       {}},
      {"softmax_entropy", true, [](row<T>& r) { r.sum = softmax_entropy(r.x); }, entropy_loop},
      {"effective_sample_size", true, [](row<T>& r) { r.sum = effective_sample_size(r.x); }, {}},
      {"perplexity", true, [](row<T>& r) { r.sum = perplexity(r.x); }, {}},
      {"logcumsumexp", false, [](row<T>& r) { logcumsumexp(r.x, into(r.out)); },
       [](row<T>& r) {
         double sum = -std::numeric_limits<double>::infinity();
         for (std::size_t i = 0; i < r.x.size(); ++i) {
           const double v = double(r.x[i]), top = std::max(sum, v);
           sum = top + std::log1p(std::exp(std::min(sum, v) - top));
           r.out[i] = T(sum);
         }
       }},
      {"softmax_vjp", false, [](row<T>& r) { softmax_vjp(r.x, r.g, into(r.out)); },
       [](row<T>& r) {
         const double sum = shares(r, false, false, none);
         double mean = 0;
         for (std::size_t i = 0; i < r.x.size(); ++i)
           mean += double(r.out[i]) / sum * double(r.g[i]);
         for (std::size_t i = 0; i < r.x.size(); ++i)
           r.out[i] = T(double(r.out[i]) / sum * (double(r.g[i]) - mean));
       }},
      {"log_softmax_vjp", false, [](row<T>& r) { log_softmax_vjp(r.x, r.g, into(r.out)); }, {}},
      {"logsumexp_hvp", false, [](row<T>& r) { logsumexp_hvp(r.x, r.g, into(r.out)); }, {}},
  };
}

double seconds(const std::function<void()>& f, int calls) {
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < calls; ++i) f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / calls;
}

/// The largest error, in ulp of T of max(1, |value|) for what reduces and for logarithms, of the value for shares.
template <class T>
double error_of(const cell<T>& c, const cell<long double>& exact, std::size_t n) {
  row<T> r(n);
  row<long double> e(n);
  c.call(r);
  exact.call(e);
  constexpr int digits = std::is_same_v<T, double>        ? 53
                         : std::is_same_v<T, float>       ? 24
                         : std::is_same_v<T, Eigen::half> ? 11
                                                          : 8;
  const auto ulps = [](double value, long double right) {
    const double size = std::max(1e-300, std::abs(double(right)));
    return std::abs(double(value - right)) / std::ldexp(1.0, std::ilogb(size) + 1 - digits);
  };
  if (c.reduces) return ulps(double(r.sum), e.sum);
  double worst = 0, top = 0;
  for (std::size_t i = 0; i < n; ++i) top = std::max(top, std::abs(double(e.out[i])));
  for (std::size_t i = 0; i < n; ++i) {
    // an entry of a gradient is a difference of larger numbers: of the largest entry
    const double size = std::string_view(c.name).find("vp") != std::string_view::npos
                            ? top
                            : std::abs(double(e.out[i]));
    const double smallest = std::is_same_v<T, Eigen::half> ? 0x1p-14 : 1e-300;
    worst = std::max(worst, std::abs(double(double(r.out[i]) - e.out[i])) /
                                std::ldexp(1.0, std::ilogb(std::max(size, smallest)) + 1 - digits));
  }
  return worst;
}

template <class T>
void table(const char* scalar, std::size_t n) {
  constexpr int rounds = 9;
  const auto all = cells<T>();
  const auto exact = cells<long double>();
  row<T> r(n);
  std::vector<std::vector<double>> calls(all.size()), loops(all.size());
  for (int round = 0; round < rounds; ++round) {  // interleaved
    for (std::size_t i = 0; i < all.size(); ++i) {
      const double one = seconds([&] { all[i].call(r); }, 1);
      const int times = std::max(1, int(std::min(1e5, 1e-3 / std::max(one, 1e-8))));
      calls[i].push_back(seconds([&] { all[i].call(r); }, times));
      if (all[i].loop) loops[i].push_back(seconds([&] { all[i].loop(r); }, std::max(1, times / 8)));
    }
  }
  const auto median = [](std::vector<double>& t) {
    std::sort(t.begin(), t.end());
    return t[t.size() / 2];
  };
  std::vector<double> at(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) at[i] = median(calls[i]);
  for (std::size_t i = 0; i < all.size(); ++i) {
    char loop[32] = "-";
    if (all[i].loop) std::snprintf(loop, sizeof loop, "%.2f", at[i] / median(loops[i]));
    const double error = n > 100000 ? -1 : error_of(all[i], exact[i], n);
    char errors[32] = "-";
    if (error >= 0) std::snprintf(errors, sizeof errors, "%.2f", error);
    std::printf("| %s | %s | %zu | %.3f | %.2f | %s | %s |\n", all[i].name, scalar, n,
                at[i] / double(n) * 1e9, at[i] / at[all[i].reduces ? 1 : 0], loop, errors);
  }
}

template <class T>
bool count(std::string_view name) {
  row<T> r(4096);
  for (const auto& c : cells<T>()) {
    if (c.name != name) continue;
    for (int i = 0; i < 20; ++i) c.call(r);
    return true;
  }
  return name == "none";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::string_view(argv[1]) == "--count")
    return count<float>(argv[2]) && count<double>(argv[2]) ? 0 : 2;
  if (argc == 2 && std::string_view(argv[1]) == "--cells") {
    for (const auto& c : cells<float>()) std::puts(c.name);
    return 0;
  }
  std::vector<std::size_t> sizes;
  for (int i = 1; i < argc; ++i) {
    char* end = nullptr;
    const unsigned long long n = std::strtoull(argv[i], &end, 10);
    if (*end != '\0' || n == 0) {
      std::fprintf(stderr, "option_costs: %s is no size; give numbers of elements\n", argv[i]);
      return 2;
    }
    sizes.push_back(std::size_t(n));
  }
  if (sizes.empty()) sizes = {16, 64, 256, 4096, 1048576};
  std::printf("instruction set: %s; ratios of medians of 9 interleaved runs\n\n",
              cumulus::name_of(cumulus::active_isa()));
  std::printf(
      "| call | scalar | n | ns an element | of the plain call | of the loop | error, ulp |\n"
      "|---|---|---|---|---|---|---|\n");
  for (const std::size_t n : sizes) {
    table<float>("float", n);
    table<double>("double", n);
    table<Eigen::half>("half", n);
    table<Eigen::bfloat16>("bfloat16", n);
  }
}
