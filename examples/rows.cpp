// SPDX-License-Identifier: MIT
//
// The same for every row of a matrix: attention weights from scores, a token a row.
#include <cumulus/cumulus.hpp>
#include <Eigen/Core>
#include <cstdio>

int main() {
  Eigen::MatrixXf scores(3, 4);
  scores << 0.f, 1.f, 2.f, 3.f,  //
      5.f, 5.f, 5.f, 5.f,        //
      -200.f, 0.f, 0.f, -200.f;

  const Eigen::VectorXf sums = cumulus::logsumexp(scores, cumulus::rowwise);
  const Eigen::MatrixXf weights = cumulus::softmax(scores, cumulus::rowwise);
  for (Eigen::Index row = 0; row < scores.rows(); ++row) {
    std::printf("logsumexp %.5f  softmax", static_cast<double>(sums[row]));
    for (Eigen::Index column = 0; column < scores.cols(); ++column)
      std::printf(" %.5f", static_cast<double>(weights(row, column)));
    std::printf("\n");
  }
}

// Output:
// logsumexp 3.44019  softmax 0.03206 0.08714 0.23688 0.64391
// logsumexp 6.38629  softmax 0.25000 0.25000 0.25000 0.25000
// logsumexp 0.69315  softmax 0.00000 0.50000 0.50000 0.00000
