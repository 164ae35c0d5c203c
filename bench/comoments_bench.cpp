// SPDX-License-Identifier: MIT
//
// The covariance of rows and their third-order moments: the loop a reader would write, cumulus, Eigen's rank update with the
// machine's flags (a peer); useful operations a second, two for a product of coordinates and row.
#include <cumulus/moments/comoments.hpp>
#include <cumulus/moments/moment_tensor.hpp>

#include "peers/peer.hpp"
#include "support/enrol.hpp"
#include "support/inputs.hpp"

#include <string>
#include <vector>

namespace {

template <class T>
using rows = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class T>
using view = Eigen::Map<const rows<T>>;

template <class T>
std::vector<double> naive(const view<T>& x) {
  const std::size_t d = std::size_t(x.cols());
  std::vector<double> mean(d), sums(d * d);
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    for (std::size_t j = 0; j < d; ++j) mean[j] += double(x(i, Eigen::Index(j)));
  }
  for (double& m : mean) m /= double(x.rows());
  std::vector<double> y(d);
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    for (std::size_t j = 0; j < d; ++j) y[j] = double(x(i, Eigen::Index(j))) - mean[j];
    for (std::size_t j = 0; j < d; ++j) {
      for (std::size_t k = 0; k <= j; ++k) sums[j * d + k] += y[j] * y[k];
    }
  }
  return sums;
}

/// run(x) of n rows of d numbers; `products` a row.
template <class T, class Run>
void enrol(const std::string& path, std::int64_t n, std::int64_t d, double products, Run run) {
  const auto measure = [=](benchmark::State& state) {
    const auto values = bench::normal<T>(static_cast<std::size_t>(n * d), 0.5, 1.0);
    const view<T> x(values.data(), n, d);
    for (auto _ : state) {
      auto result = run(x);
      benchmark::DoNotOptimize(result);
    }
    bench::count(state, values.size(), sizeof(T));
    state.counters["flops"] = benchmark::Counter(
        2 * products * double(n) * double(state.iterations()), benchmark::Counter::kIsRate);
  };
  benchmark::RegisterBenchmark(
      (path + "/n:" + std::to_string(n) + "/d:" + std::to_string(d)).c_str(), measure)
      ->Unit(benchmark::kMillisecond);
}

/// Of a peer that has one.
template <class T>
void enrol_rank_update(const bench::peer& peer, std::int64_t n, std::int64_t d, double products) {
  const auto call = peer.calls<T>().rank_update;
  if (call == nullptr) return;
  enrol<T>("covariance/" + std::string(peer.name) + "/" + bench::scalar_name<T>, n, d, products,
           [call](const view<T>& x) {
             std::vector<T> out(std::size_t(x.cols() * x.cols()));
             call(x.data(), std::size_t(x.rows()), std::size_t(x.cols()), out.data());
             return out;
           });
}

template <class T>
void enrol_covariance(std::int64_t n, std::int64_t d) {
  const std::string scalar = bench::scalar_name<T>;
  const double products = double(d * (d + 1)) / 2;
  enrol<T>("covariance/naive/" + scalar, n / 10, d, products, naive<T>);
  enrol<T>("covariance/cumulus/" + scalar, n, d, products, [](const view<T>& x) {
    cumulus::comoments<T> m(x.cols());
    m.add_rows(x);
    return m.covariance(0, 0);
  });
  for (const bench::peer* peer : bench::peers()) {
    enrol_rank_update<T>(*peer, n, d, products);
  }
}

template <class T>
void enrol_tensor(std::int64_t n, std::int64_t d) {
  const double dims = double(d);
  enrol<T>("third_moments/cumulus/" + std::string(bench::scalar_name<T>), n, d,
           dims * (dims + 1) * (dims + 2) / 6, [](const view<T>& x) {
             cumulus::moment_tensor<T> m(x.cols(), 3);
             m.add_rows(x);
             return m.weight();
           });
}

[[maybe_unused]] const bool enrolled =
    (enrol_covariance<float>(1000000, 64), enrol_covariance<double>(1000000, 64),
     enrol_tensor<float>(100000, 32), enrol_tensor<double>(100000, 32),
     bench::enrol_floors<float>(), bench::enrol_floors<double>(), true);

}  // namespace
