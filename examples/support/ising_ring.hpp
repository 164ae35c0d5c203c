// SPDX-License-Identifier: MIT
//
// The energies of all states of a ring of spins, whose log Z is known in closed form.
#pragma once

#include <cmath>
#include <vector>

namespace support {

/// n spins s_i = 1 or -1 with E = -sum s_i s_{i+1} around a ring (E. Ising, Z. Phys. 31 (1925)
/// 253).
struct ising_ring {
  int spins = 12;

  [[nodiscard]] std::vector<double> energies() const {
    std::vector<double> out;
    for (unsigned state = 0; state < 1u << spins; ++state) {
      int energy = -spins;  // and 2 more for each pair of neighbours that differ
      for (int i = 0; i < spins; ++i) {
        const int next = (i + 1) % spins;
        energy += 2 * static_cast<int>((state >> i ^ state >> next) & 1u);
      }
      out.push_back(energy);
    }
    return out;
  }

  /// log(lambda_1^n + lambda_2^n), lambda = 2 cosh beta and 2 sinh beta.
  [[nodiscard]] double log_z(double beta) const {
    return spins * std::log(2 * std::cosh(beta)) + std::log1p(std::pow(std::tanh(beta), spins));
  }
};

}  // namespace support
