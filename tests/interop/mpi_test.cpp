// SPDX-License-Identifier: MIT
//
// States merged by MPI: mpirun -np N mpi_test, any N. Prints what failed; its status is that of MPI_Abort or 1 then.
#include <cumulus/exact/logsumexp_accumulator.hpp>
#include <cumulus/exact/softmax_mean.hpp>
#include <cumulus/interop/mpi.hpp>
#include <cumulus/moments/central_moments.hpp>
#include <cumulus/moments/comoments.hpp>
#include <cumulus/moments/moment_tensor.hpp>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <type_traits>

#include "families.hpp"
#include "merge_tree.hpp"

namespace {

namespace mpi = cumulus::mpi;

static_assert(
    !std::is_copy_constructible_v<mpi::reduction<cumulus::logsumexp_accumulator<double>>>);

int rank = 0, ranks = 1, checks = 0, failures = 0;

void check(const char* claim, bool holds) {
  ++checks;
  if (holds) return;
  ++failures;
  std::printf("FAILED on rank %d of %d: %s\n", rank, ranks, claim);
}

/// Whether moments agree to the error of merged ones, in units of the even moment above.
template <class Moments>
bool close(const Moments& a, const Moments& b) {
  bool all = a.weight() == b.weight() && a.min() == b.min() && a.max() == b.max() &&
             std::abs(a.mean() - b.mean()) <= 1e-15 * std::abs(b.mean());
  const double sigma = std::sqrt(b.moment(2));
  for (int p = 2; p <= b.order(); ++p) {
    const double size = p % 2 == 0 ? b.moment(p) : b.moment(p - 1) * sigma;
    all = all && std::abs(a.moment(p) - b.moment(p)) <=
                     2 * cumulus::central_moments_streaming_error * size;
  }
  return all;
}

/// Term i of n goes to the rank deal[i] % ranks.
template <class State, class Add>
State part(State state, const std::vector<std::size_t>& deal, Add add) {
  for (std::size_t i = 0; i < deal.size(); ++i) {
    if (deal[i] % std::size_t(ranks) == std::size_t(rank)) add(state, i);
  }
  return state;
}
template <class State, class Add>
State whole(State state, std::size_t n, Add add) {
  for (std::size_t i = 0; i < n; ++i) add(state, i);
  return state;
}

void every_deal_gives_the_whole() {
  const std::size_t n = 1000;
  const auto x = families::normal<double>(n, 700, 20, 701);
  const auto v = families::normal<double>(n, 3, 1, 702);
  const auto deal = permutation(n, 703);
  const auto log_term = [&](auto& state, std::size_t i) { state.add(x[i]); };
  const auto mean_term = [&](auto& state, std::size_t i) { state.add(x[i], v[i]); };
  const auto vector_term = [&](auto& state, std::size_t i) {
    state.add(x[i], Eigen::Vector2d(v[i], 1));
  };
  const auto value = [&](auto& state, std::size_t i) { state.add(1e9 + v[i]); };

  using logs = cumulus::logsumexp_accumulator<double>;
  const logs log_sum = whole(logs(), n, log_term);
  check("logsumexp_accumulator, to the last bit",
        mpi::all_reduce(MPI_COMM_WORLD, part(logs(), deal, log_term)).value() == log_sum.value());

  using mean = cumulus::softmax_mean<double>;
  const mean average = mpi::all_reduce(MPI_COMM_WORLD, part(mean(), deal, mean_term));
  const mean expected = whole(mean(), n, mean_term);
  check("softmax_mean: its log-sum", average.logsumexp() == expected.logsumexp());
  check("softmax_mean: its mean", std::abs(average.value() - expected.value()) <= 1e-15 * 4);
  using means = cumulus::softmax_mean<double, Eigen::VectorXd>;
  const means averages = mpi::all_reduce(MPI_COMM_WORLD, part(means(2), deal, vector_term));
  check("softmax_mean of vectors",
        averages.value()[0] == average.value() && averages.value()[1] == 1);

  using fixed = cumulus::central_moments<double, 8>;
  const fixed moments = whole(fixed(), n, value);
  check("central_moments of fixed order",
        close(mpi::all_reduce(MPI_COMM_WORLD, part(fixed(), deal, value)), moments));
  using any_order = cumulus::central_moments<double>;
  using vectors = cumulus::comoments<double>;
  const auto pair = [&](auto& state, std::size_t i) {
    state.add(Eigen::Vector2d(x[i], 1e9 + v[i]), Eigen::Vector3d(v[i], x[i] * v[i], 1));
  };
  const vectors together = mpi::all_reduce(MPI_COMM_WORLD, part(vectors(2, 3), deal, pair)),
                one_by_one = whole(vectors(2, 3), n, pair);
  check("comoments: covariance", together.weight() == double(n) &&
                                     (together.covariance() - one_by_one.covariance()).norm() <=
                                         1e-13 * one_by_one.covariance().norm());
  check("comoments: cross-covariance",
        (together.cross_covariance() - one_by_one.cross_covariance()).norm() <=
            1e-13 * one_by_one.cross_covariance().norm());
  using tensors = cumulus::moment_tensor<double>;
  const auto triple = [&](auto& state, std::size_t i) {
    state.add(Eigen::Vector3d(x[i], 1e9 + v[i], x[i] * v[i]));
  };
  const tensors merged = mpi::all_reduce(MPI_COMM_WORLD, part(tensors(3, 4), deal, triple)),
                direct = whole(tensors(3, 4), n, triple);
  check("moment_tensor",
        merged.weight() == double(n) &&
            (merged.packed(4) - direct.packed(4)).norm() <=
                2 * cumulus::moment_tensor_streaming_error * direct.packed(4).norm());
  check("central_moments of dynamic order",
        close(mpi::all_reduce(MPI_COMM_WORLD, part(any_order(5), deal, value)),
              whole(any_order(5), n, value)));
}

void all_ranks_have_the_same() {
  // as the MPI standard advises, and Open MPI and MPICH do: ranks may branch on what they all have
  cumulus::central_moments<double, 4> m;
  m.add(
      families::exponential<double>(100 + 17 * std::size_t(rank), 5, 1, 710 + std::uint64_t(rank)));
  const auto sum = mpi::all_reduce(MPI_COMM_WORLD, m);
  std::vector<std::byte> mine(cumulus::detail::state_bytes(sum)), first;
  cumulus::detail::write_state(sum, mine.data());
  first = mine;
  MPI_Bcast(first.data(), int(first.size()), MPI_BYTE, 0, MPI_COMM_WORLD);
  check("every rank has the same bits", first == mine);
  check("counts add up", sum.weight() == 100 * ranks + 17 * ranks * (ranks - 1) / 2);
}

void empty_ranks_and_roots() {
  cumulus::central_moments<double> m(3);
  check("all empty", mpi::all_reduce(MPI_COMM_WORLD, m).empty());
  const int last = ranks - 1;
  if (rank == last) m.add(2.5, 3.0);
  check("one rank has data", mpi::all_reduce(MPI_COMM_WORLD, m).mean() == 2.5);
  cumulus::logsumexp_accumulator<float> one;
  one.add(0);
  const auto at_root = mpi::reduce(MPI_COMM_WORLD, one, last);
  check("reduce: the root has the sum, others their own",
        rank == last ? std::abs(at_root.value() - std::log(float(ranks))) < 1e-6f : at_root == one);
}

void several_at_once() {
  // the handles with a call of MPI's own: three states in one message, summed over the ranks up to this one
  using state = cumulus::logsumexp_accumulator<double>;
  const mpi::reduction<state> r;
  std::vector<std::byte> message;
  for (int k = 0; k < 3; ++k) {
    state s;
    s.add(k);
    const auto packed = r.pack(s);
    message.insert(message.end(), packed.begin(), packed.end());
  }
  MPI_Scan(MPI_IN_PLACE, message.data(), 3, r.datatype(), r.operation(), MPI_COMM_WORLD);
  for (int k = 0; k < 3; ++k) {
    const auto sum =
        cumulus::detail::read_state<state>(message.data() + std::size_t(k) * message.size() / 3);
    check("MPI_Scan", std::abs(sum.value() - (k + std::log(double(rank + 1)))) < 1e-15 * 8);
  }
}

template <class Call>
bool refuses(Call call, const std::string& text) {
  try {
    call();
  } catch (const std::invalid_argument& error) {
    return std::string(error.what()).find(text) != std::string::npos;
  }
  return false;
}

void unequal_sizes_are_refused() {
  if (ranks > 1) {
    const cumulus::central_moments<double> m(rank == 1 ? 3 : 2);
    check("orders that differ between ranks, on every rank",
          refuses([&] { static_cast<void>(mpi::all_reduce(MPI_COMM_WORLD, m)); },
                  "a state of size 2 on one rank, of 3 on another"));
  }
  const mpi::reduction<cumulus::central_moments<double>> r(cumulus::central_moments<double>(4));
  check("pack: another order",
        refuses([&] { static_cast<void>(r.pack(cumulus::central_moments<double>(5))); },
                "made for a size of 4, the state has 5"));
  MPI_Comm returning;  // a communicator that returns errors instead of ending the program
  MPI_Comm_dup(MPI_COMM_WORLD, &returning);
  MPI_Comm_set_errhandler(returning, MPI_ERRORS_RETURN);
  check("an error of MPI is told",
        refuses(
            [&] {
              static_cast<void>(
                  mpi::reduce(returning, cumulus::logsumexp_accumulator<double>(), ranks));
            },
            "MPI_Reduce: "));
  MPI_Comm_free(&returning);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  every_deal_gives_the_whole();
  all_ranks_have_the_same();
  empty_ranks_and_roots();
  several_at_once();
  unequal_sizes_are_refused();
  int total = 0;
  MPI_Allreduce(&failures, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) std::printf("%d checks on each of %d ranks, %d failed\n", checks, ranks, total);
  MPI_Finalize();
  return total == 0 ? 0 : 1;
}
