// SPDX-License-Identifier: MIT
//
// One call through its door: attention(MatrixXf, ...).
#include <cumulus/attention.hpp>

Eigen::MatrixXf attention_of(const Eigen::MatrixXf& q, const Eigen::MatrixXf& k,
                             const Eigen::MatrixXf& v) {
  return cumulus::attention(q, k, v).output;
}
