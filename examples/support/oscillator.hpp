// SPDX-License-Identifier: MIT
//
// The work that it takes to change a harmonic oscillator at once, in units of kT: a sample with a
// known free energy.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

namespace support {

/// From U0 = x^2/2 to U1 = k (x - shift)^2/2 at kT = 1. The free energy difference is log(k)/2
/// wherever the minimum goes, since the integral of e^-U1 is sqrt(2 pi / k).
struct oscillator {
  double stiffness = 1.5;
  double shift = 0.5;

  [[nodiscard]] double free_energy() const { return std::log(stiffness) / 2; }

  /// W = U1 - U0 at positions drawn from e^-U0; the same on every machine (splitmix64 and Box and
  /// Muller's method, rounded to 12 binary places so that no library's last digit shows).
  [[nodiscard]] std::vector<double> work(int count, std::uint64_t seed) const {
    const auto uniform = [&seed] {
      std::uint64_t z = (seed += 0x9E3779B97F4A7C15u);
      z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
      z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
      return (static_cast<double>((z ^ (z >> 31)) >> 11) + 0.5) * 0x1p-53;
    };
    std::vector<double> out;
    for (int i = 0; i < count; ++i) {
      const double radius = std::sqrt(-2 * std::log(uniform()));
      const double x = std::round(radius * std::cos(6.283185307179586 * uniform()) * 4096) / 4096;
      out.push_back((stiffness * (x - shift) * (x - shift) - x * x) / 2);
    }
    return out;
  }
};

}  // namespace support
