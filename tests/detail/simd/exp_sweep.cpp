// SPDX-License-Identifier: MIT
//
// The largest error of the vector exponential, of every instruction set that this machine has: over all floats that the kernel
// takes, one by one, and over random doubles. Minutes long, so no test; data/exp_sweep.txt keeps what it printed.
//   exp_sweep [millions of doubles, 100 if not given]
// Far floats are those whose exponential is no float, but has a share in a sum of its like.
#include <cumulus/detail/simd/vectors.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <vector>

#include "families.hpp"

#if CUMULUS_VECTORS

namespace kernels = cumulus::detail::kernels;
using cumulus::index_t;
using cumulus::isa;

namespace {

/// In ulp, and where.
struct worst_error {
  double ulps = 0, x = 0;
  double tested = 0;
  void take(double u, double at) {
    tested += 1;
    if (u <= ulps) return;
    ulps = u;
    x = at;
  }
};

/// The distance of term from e^x 2^-power in ulp of T. e^x is 2^k e^t: k times the first part of log 2 is exact, so t is as good as
/// the wider type, and so is its library's e^t: to 2^-50 for floats.
template <class T, class Wide>
double ulps_of(T term, index_t power, Wide x) {
  constexpr Wide log_two = Wide(0x1.62e42fep-1L), rest = Wide(0xf.a39ef35793c7673007e5ep-33L);
  const Wide k = std::nearbyint(x / (log_two + rest));
  const Wide exact = std::exp((x - k * log_two) - k * rest);
  const Wide apart = std::abs(std::ldexp(Wide(term), int(power - index_t(k))) - exact);
  return double(std::ldexp(apart, std::numeric_limits<T>::digits - (exact < 1 ? 0 : 1)));
}

/// The kernel on a block of x whose terms share a power.
template <class T, class Wide>
void test(const std::vector<T>& x, worst_error& worst) {
  std::vector<T> term(x.size());
  kernels::row_sums<T> row;
  row.known = *std::max_element(x.begin(), x.end());
  row.has_fma = cumulus::active_isa() != isa::baseline;
  kernels::best::sum_row<T, true, true>(x.data(), term.data(), index_t(x.size()), row);
  if (!row.usable || row.stretch_count != 1) std::abort();
  for (std::size_t i = 0; i < x.size(); ++i)
    worst.take(ulps_of<T, Wide>(term[i], row.power, Wide(x[i])), double(x[i]));
}

/// The largest |x| that the kernel takes at a scale of 1, but for roundings.
template <class T>
double reach() {
  using C = kernels::exp_constants<T>;
  return (cumulus::active_isa() == isa::baseline ? C::reach_without_fma : C::reach) * C::log_two *
         0.9999;
}

/// All floats of a size from `least` on and below `end`, of either sign.
void sweep_floats(float least, float end, worst_error& worst) {
  const auto last = std::bit_cast<std::uint32_t>(end);
  for (const std::uint32_t sign : {0u, 0x80000000u}) {
    auto bits = std::bit_cast<std::uint32_t>(least);
    while (bits < last) {
      std::vector<float> x;
      for (; bits < last && x.size() < 4096; ++bits) x.push_back(std::bit_cast<float>(bits | sign));
      test<float, double>(x, worst);
    }
  }
}

/// Doubles, a third each: even over what has a normal exponential, even over what the kernel takes, even on a logarithmic scale.
void draw_doubles(int millions, worst_error& worst) {
  families::random r(1);
  for (int block = 0; block < 500 * millions; ++block) {
    const double sign = r.below(2) == 0 ? 1 : -1;
    const double centre = block % 3 == 0   ? r.uniform(-708, 709)
                          : block % 3 == 1 ? sign * r.uniform(0, reach<double>() - 1)
                                           : sign * std::exp2(r.uniform(-60, 9));
    std::vector<double> x;
    for (int i = 0; i < 2000; ++i)
      x.push_back(centre + std::min(0.5, std::abs(centre)) * r.uniform(-1, 1));
    test<double, long double>(x, worst);
  }
}

void print(isa set, const char* what, const worst_error& worst) {
  std::printf("%-8s  %-12s  %.4f ulp at %a (%.9g), of %.0f\n", cumulus::name_of(set), what,
              worst.ulps, worst.x, worst.x, worst.tested);
  std::fflush(stdout);
}

}  // namespace

int main(int count, char** arguments) {
  const int millions = count > 1 ? std::atoi(arguments[1]) : 100;
  constexpr float normal = 88.72284f;  // the first whose exponential is no float
  bool good = true;
  for (const isa set : {isa::baseline, isa::avx2, isa::avx512}) {
    if (cumulus::detail::best_isa_level() < static_cast<int>(set)) continue;
    cumulus::use_isa(set);
    worst_error of_float, of_far_float, of_double;
    sweep_floats(0.0f, normal, of_float);
    print(set, "float", of_float);
    sweep_floats(normal, float(reach<float>()), of_far_float);
    print(set, "float, far", of_far_float);
    draw_doubles(millions, of_double);
    print(set, "double", of_double);
    good = good && of_float.ulps <= 1 && of_far_float.ulps <= 1.01 && of_double.ulps <= 1.25;
  }
  return good ? 0 : 1;
}

#else
int main() { std::puts("this compiler has no vector extensions"); }
#endif
