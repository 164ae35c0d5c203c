// SPDX-License-Identifier: MIT
//
// log_product beside the loop over logsumexp, a shift by maxima with Eigen's product, and the product of plain exponentials; as
// ratios within one run.
#include <cumulus/exact.hpp>

#include <Eigen/Core>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>

namespace {

template <class Function>
double milliseconds(Function f) {
  double best = 1e300;
  for (int run = 0; run < 3; ++run) {
    const auto start = std::chrono::steady_clock::now();
    f();
    const std::chrono::duration<double, std::milli> t = std::chrono::steady_clock::now() - start;
    best = std::min(best, t.count());
  }
  return best;
}

template <class T>
void compare(const char* scalar, int n, double spread) {
  using matrix = Eigen::Matrix<T, -1, -1>;
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> u(-spread / 2, spread / 2);
  const matrix a = matrix::NullaryExpr(n, n, [&] { return T(u(random)); }),
               b = matrix::NullaryExpr(n, n, [&] { return T(u(random)); });
  matrix c(n, n), loop(n, n), shifted(n, n), plain(n, n);

  const double ours = milliseconds([&] { cumulus::log_product(a, b, cumulus::into(c)); });
  const double by_loop = milliseconds([&] {
    const Eigen::Matrix<T, -1, -1, Eigen::RowMajor> rows = a;
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < n; ++i)
        loop(i, j) = cumulus::logsumexp(rows.row(i).transpose() + b.col(j));
    }
  });
  const double by_shift = milliseconds([&] {
    const Eigen::Matrix<T, -1, 1> left = a.rowwise().maxCoeff();
    const Eigen::Matrix<T, 1, -1> right = b.colwise().maxCoeff();
    const matrix product =
        (a.colwise() - left).array().exp().matrix() * (b.rowwise() - right).array().exp().matrix();
    shifted = ((product.array().log().matrix().colwise() + left).rowwise() + right);
  });
  const double by_exp = milliseconds([&] {
    const matrix product = a.array().exp().matrix() * b.array().exp().matrix();
    plain = product.array().log().matrix();
  });
  const matrix x = a.array().exp().matrix(), y = b.array().exp().matrix();
  matrix z(n, n);
  const double eigen = milliseconds([&] { z.noalias() = x * y; });
  const auto wrong = [&](const matrix& m) {
    Eigen::Index count = 0;
    for (Eigen::Index i = 0; i < m.size(); ++i) {
      const double expected = double(loop.data()[i]), size = std::max(1.0, std::abs(expected));
      if (!(std::abs(double(m.data()[i]) - expected) < 1e-3 * size)) ++count;
    }
    return 100.0 * double(count) / double(m.size());
  };
  std::printf(
      "%-6s %4d %7g | ours %8.2f ms %6.1f GFLOP/s, loop %6.2f, shift %5.2f, exp %5.2f, product "
      "alone %5.2f"
      " | wrong: ours %.1f %%, shift %.1f %%, exp %.1f %%\n",
      scalar, n, spread, ours, 2e-6 * n * double(n) * n / ours, by_loop / ours, by_shift / ours,
      by_exp / ours, eigen / ours, wrong(c), wrong(shifted), wrong(plain));
}

}  // namespace

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 512;
  for (const double spread : {1.0, 30.0, 1e3, 4e3, 1e6}) {
    compare<double>("double", n, spread);
    compare<float>("float", n, spread);
  }
}
