// SPDX-License-Identifier: MIT
//
// Attention three ways: exact, over the best blocks of the cache, and from a state of fixed size.
#include <cumulus/attention.hpp>
#include <cumulus/blocks.hpp>
#include <cmath>
#include <cstdio>

using matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// 512 tokens of `width` smooth waves: what is near in time is alike.
matrix waves(int width, float speed, float size) {
  matrix x(512, width);
  for (int t = 0; t < x.rows(); ++t) {
    for (int i = 0; i < width; ++i)
      x(t, i) = size *
                std::sin(speed * static_cast<float>((t + 1) * (i % 5 + 1)) + static_cast<float>(i));
  }
  return x;
}

int main() {
  const int d = 16, e = 8;
  const matrix Q = waves(d, 0.01f, 0.5f), K = waves(d, 0.013f, 1.5f), V = waves(e, 0.02f, 1);

  const auto dense = cumulus::attention(Q, K, V, {.causal = true});

  cumulus::block_summaries<float> blocks({.key_width = d,
                                          .value_width = e,
                                          .block = 64,
                                          .covariance = cumulus::covariance_kind::low_rank,
                                          .value_mean = true});
  blocks.append_rows(K, V);
  const auto sparse = cumulus::block_sparse_attention(
      Q, K, V, blocks, {.top = 4, .left_out = cumulus::left_out::value_mean});

  const auto linear = cumulus::linear_attention(Q, K, V, {.causal = true, .order = 2});

  const auto last = dense.output.rows() - 1;
  const auto error = [&](const auto& result) {
    return double((result.output.row(last) - dense.output.row(last)).norm() /
                  dense.output.row(last).norm());
  };
  std::printf("log-sum-exp of the last query  %.4f\n", double(dense.logsumexp[last]));
  std::printf("its past blocks that were read ");
  for (const auto B : sparse.selected[std::size_t(last)]) std::printf(" %d", int(B));
  std::printf("\nshare of its attention on them  %.3f to %.3f\n", sparse.kept_low(last, 0),
              sparse.kept_high(last, 0));
  std::printf("error, 4 of 8 blocks, the rest by their means  %.1e\n", error(sparse));
  std::printf("error, order 2                                 %.1e\n", error(linear));
}

// Output:
// log-sum-exp of the last query  6.4648
// its past blocks that were read  0 5 6
// share of its attention on them  0.678 to 0.679
// error, 4 of 8 blocks, the rest by their means  3.2e-02
// error, order 2                                 1.6e-01
