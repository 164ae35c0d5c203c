// SPDX-License-Identifier: MIT
//
// Which blocks of a KV cache a query should read: by their mean keys, or by mean and spread; and what the rest can still hold.
#include <cumulus/attention.hpp>
#include <cumulus/blocks.hpp>
#include <cmath>
#include <cstdio>

using matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

int main() {
  const int d = 32, b = 64, tokens = 64 * b;  // 64 blocks of 64 keys
  matrix K(tokens, d), V(tokens, d), Q = matrix::Ones(1, d);
  for (int t = 0; t < tokens; ++t) {
    const int block = t / b;
    float topic = block % 8 == 3 ? 0.4f : 0.0f;  // 3, 11, ... 59 suit the query a little
    if (block == 20)
      topic = t % 2 == 0 ? 1.0f : -1.0f;  // half of 20 suits it well, half not at all
    for (int i = 0; i < d; ++i) {
      K(t, i) = topic + 0.3f * std::sin(static_cast<float>(7 * t * t % 1009 + 131 * i * (t % 97)));
      V(t, i) = std::cos(0.01f * static_cast<float>(t) + static_cast<float>(i));
    }
  }
  cumulus::block_summaries<float> blocks({.key_width = d,
                                          .value_width = d,
                                          .block = b,
                                          .covariance = cumulus::covariance_kind::low_rank,
                                          .value_mean = true});
  blocks.append_rows(K, V);

  const auto exact = cumulus::attention(Q, K, V);
  const auto print_error = [&](const auto& sparse) {
    std::printf("  relative error %.4f, known to be below %.2f\n",
                double((sparse.output - exact.output).norm() / exact.output.norm()),
                sparse.error_bound(0, 0) / double(exact.output.norm()));
  };
  for (const auto score : {cumulus::block_score::mean, cumulus::block_score::smooth2}) {
    const auto sparse =
        cumulus::block_sparse_attention(Q, K, V, blocks, {.score = score, .top = 10});
    std::printf("by %s:", cumulus::name_of(score));
    for (const auto B : sparse.selected[0]) std::printf(" %d", int(B));
    std::printf("\n  share of attention %.3f, known to be in [%.2f, %.2f]\n",
                std::exp(double(sparse.logsumexp(0, 0) - exact.logsumexp[0])),
                sparse.kept_low(0, 0), sparse.kept_high(0, 0));
    print_error(sparse);
  }
  std::printf("by smooth2, the other blocks by their mean values:\n");
  print_error(cumulus::block_sparse_attention(
      Q, K, V, blocks, {.top = 10, .left_out = cumulus::left_out::value_mean}));
}

// Output:
// by mean: 3 11 19 22 27 35 43 51 59
//   share of attention 0.269, known to be in [0.11, 0.43]
//   relative error 0.7629, known to be below 1.86
// by smooth2: 3 11 19 20 27 35 43 51 59
//   share of attention 0.816, known to be in [0.80, 0.82]
//   relative error 0.2227, known to be below 0.59
// by smooth2, the other blocks by their mean values:
//   relative error 0.0009, known to be below 0.37
