// SPDX-License-Identifier: MIT
//
// logsumexp, softmax mean and moments of more numbers than one machine counts: each rank takes a part, MPI merges the states.
//
//   mpirun -np 4 mpi_logsumexp                    four million numbers by formula
//   mpirun -np 64 mpi_logsumexp huge.npy --column 2 --digits 17
//   mpi_logsumexp --help
#include <cumulus/exact.hpp>
#include <cumulus/interop/mpi.hpp>
#include <cumulus/moments.hpp>
#include <cumulus/series.hpp>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include "support/program.hpp"
#include "support/shared_options.hpp"
#include "support/stream_numbers.hpp"

namespace {

constexpr const char* help_head =
    R"(Computes log sum e^x of the numbers x in an .npy file, each rank of an MPI program reading a part of
it; and the mean of x under softmax(x), and the expansion of both from the moments of x. Without FILE
it takes numbers by a formula, whose plain sum of e^x overflows.)";

constexpr const char* help_foot =
    R"(FILE is a 1-D or 2-D array of floats, integers or bools, as numpy.save writes it, that every rank can
open. The result does not depend on the number of ranks: logsumexp not at all, the others but for
roundings.

Examples
  mpirun -np 4 mpi_logsumexp --count 1e8
  mpirun -np 64 mpi_logsumexp huge.npy)";

struct settings {
  support::source numbers;  ///< path empty: by formula
  double count = 4e6;
  int order = 8, digits = 12;
};

support::options command_line(settings& s) {
  support::options o("mpi_logsumexp", help_head, help_foot);
  o.file("FILE", s.numbers.path, "An .npy file");
  o.text("--column", s.numbers.column, "N", "Column of a 2-D array, from 1");
  o.positive("--count", s.count, "N", "How many numbers by formula");
  o.whole("--order", s.order, 1, 12, "N", "Order of the expansion");
  o.whole("--digits", s.digits, 1, 17, "N", "Digits to print");
  support::needs_file(o, "--column", s.numbers.column, s.numbers);
  o.check("--count", [&s] {
    const bool whole = s.count < 0x1p53 && s.count == std::floor(s.count);
    return std::string(whole ? "" : "must be a whole number below 2^53");
  });
  o.check("FILE", [&s] {
    return std::string(s.numbers.path == "-" ? "standard input has no parts for ranks" : "");
  });
  return o;
}

/// What each rank keeps of its part.
struct state {
  cumulus::logsumexp_accumulator<double> exp_sum;
  cumulus::softmax_mean<double> tilted;  // the mean of x under softmax(x)
  cumulus::central_moments<double> moments{14};

  void add(const std::vector<double>& x) {
    exp_sum.add(x);
    tilted.add(x, x);
    moments.add(x);
  }
};

/// 1000 + 3 f, f the fractional part of i times the golden ratio: e^x alone overflows.
double term(std::uint64_t i) {
  return 1000 + 3 * (static_cast<double>((i * 0x9E3779B97F4A7C15u) >> 11) * 0x1p-53);
}

/// The rows of part `rank` of `ranks` equal ones are `first` and those up to `last`.
struct part {
  part(std::uint64_t rows, int rank, int ranks)
      : first(rows / std::uint64_t(ranks) * std::uint64_t(rank) +
              std::min(rows % std::uint64_t(ranks), std::uint64_t(rank))),
        last(first + rows / std::uint64_t(ranks) +
             (std::uint64_t(rank) < rows % std::uint64_t(ranks) ? 1 : 0)) {}
  std::uint64_t first, last;
};

constexpr std::uint64_t block = 1 << 16;

/// This rank's part of the numbers. Throws input_error.
state count_part(const settings& s, int rank, int ranks) {
  state result;
  std::vector<double> x;
  if (s.numbers.path.empty()) {
    const part mine(static_cast<std::uint64_t>(s.count), rank, ranks);
    for (std::uint64_t i = mine.first; i < mine.last;) {
      for (x.clear(); x.size() < block && i < mine.last; ++i) x.push_back(term(i + 1));
      result.add(x);
    }
    return result;
  }
  support::number_stream numbers(s.numbers);
  if (numbers.npy() == nullptr)
    throw support::input_error(s.numbers.name(), {}, "is text, which has no parts for ranks",
                               "write it with numpy.save");
  const part mine(numbers.npy()->rows(), rank, ranks);
  numbers.npy()->seek(mine.first);
  for (std::uint64_t row = mine.first; row < mine.last; row += x.size()) {
    x.resize(std::min(block, mine.last - row));
    numbers.read(x);
    result.add(x);
  }
  return result;
}

std::string report(const settings& s, const state& whole) {
  const auto& m = whole.moments;
  std::string out = s.numbers.path.empty()
                        ? "1000 + 3 f, f the fractional part of i times the golden ratio"
                        : support::one_line(s.numbers.name());
  out += "\n\n";
  // what is not defined, as the range of numbers that are all -inf, is "none", unless a number is itself nan
  const double lse = whole.exp_sum.value(), none = std::numeric_limits<double>::quiet_NaN();
  const auto line = [&](std::string name, double value) {
    name.resize(22, ' ');
    char text[40];
    std::snprintf(text, sizeof text, "%.*g", s.digits, value);
    out += name + (!std::isnan(value) ? text : std::isnan(lse) ? "nan" : "none") + "\n";
  };
  line("n", m.weight());
  line("logsumexp", lse);
  line("softmax mean of x",
       lse < std::numeric_limits<double>::lowest() ? none : whole.tilted.value());
  line("mean of x", m.mean());
  line("standard deviation", std::sqrt(m.moment(2)));
  line("range", m.max() - m.min());
  const auto sum = cumulus::logsumexp_series(m, s.order);
  line("order " + std::to_string(s.order), sum.value);
  line("its bound", sum.bound);
  return out;
}

/// A collective call: every rank learns whether one has failed, and the first that has says so.
int run(const settings& s) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  state mine;
  std::string error;
  try {
    mine = count_part(s, rank, ranks);
  } catch (const std::exception& caught) {
    error = caught.what();
  }
  int first_failed = error.empty() ? ranks : rank;
  MPI_Allreduce(MPI_IN_PLACE, &first_failed, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (first_failed < ranks) {
    if (first_failed == rank)
      std::fprintf(stderr, "mpi_logsumexp: %s\n", support::one_line(error).c_str());
    return 2;
  }
  state whole;
  whole.exp_sum = cumulus::mpi::reduce(MPI_COMM_WORLD, mine.exp_sum);
  whole.tilted = cumulus::mpi::reduce(MPI_COMM_WORLD, mine.tilted);
  whole.moments = cumulus::mpi::reduce(MPI_COMM_WORLD, mine.moments);
  return rank == 0 ? support::finish("mpi_logsumexp", [&] { return report(s, whole); }) : 0;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, status = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  try {
    settings s;
    const std::string answer = command_line(s).parse(argc, argv);
    if (answer.empty()) {
      status = run(s);
    } else if (rank == 0) {
      support::print(answer);
    }
  } catch (const std::exception& error) {
    if (rank == 0)
      std::fprintf(stderr, "mpi_logsumexp: %s\n", support::one_line(error.what()).c_str());
    status = 2;
  }
  MPI_Finalize();
  return status;
}

// Output:
// 1000 + 3 f, f the fractional part of i times the golden ratio
//
// n                     4000000
// logsumexp             1017.05212352
// softmax mean of x     1002.15718713
// mean of x             1001.5000001
// standard deviation    0.866025381125
// range                 2.99999900344
// order 8               1017.05201984
// its bound             0.000103686741981
