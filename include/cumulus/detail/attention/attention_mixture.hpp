// SPDX-License-Identifier: MIT
//
// A softmax average put together from parts that each know their log-mass.
// Layer 5 (attention).
#pragma once

#include <cumulus/attention/attention_result.hpp>
#include <cumulus/detail/core/sum_of_products.hpp>
#include <cmath>
#include <vector>

namespace cumulus::detail {

/// A softmax average in the making: parts of known log-mass, in any order.
class attention_mixture {
 public:
  explicit attention_mixture(index_t e) : output_(std::size_t(e), 0.0) {}

  template <class Output>
  void add(double log_mass, const Output& output) {
    mix_parts(log_mass_, output_.data(), log_mass, output.data(), index_t(output_.size()));
  }
  [[nodiscard]] double log_mass() const noexcept { return log_mass_; }
  [[nodiscard]] const std::vector<double>& output() const noexcept { return output_; }
  [[nodiscard]] double norm() const noexcept {
    return std::sqrt(sum_of_products(output_.data(), output_.data(), index_t(output_.size())));
  }
  [[nodiscard]] double distance(const std::vector<double>& other) const noexcept {
    double sum = 0;
    for (std::size_t j = 0; j < output_.size(); ++j)
      sum += (output_[j] - other[j]) * (output_[j] - other[j]);
    return std::sqrt(sum);
  }

 private:
  double log_mass_ = -infinity<double>;
  std::vector<double> output_;
};

}  // namespace cumulus::detail
