// SPDX-License-Identifier: MIT
//
// What comes from files: numbers as text and .npy, at once and in pieces, and states of the library as bytes. Whatever the bytes
// are, they are read or refused, in memory that is in proportion to them.
#include "bytes.hpp"

#include <cumulus/core/serialise.hpp>
#include <cumulus/exact/logsumexp_accumulator.hpp>
#include <cumulus/exact/softmax_mean.hpp>
#include <cumulus/moments/central_moments.hpp>
#include <cumulus/moments/comoments.hpp>
#include <cumulus/moments/moment_tensor.hpp>

#include <span>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>

#include "support/npy_matrix.hpp"
#include "support/read_numbers.hpp"
#include "support/stream_numbers.hpp"

namespace {

using namespace cumulus;
using namespace fuzz;

/// A file in memory that holds these bytes.
class memory_file {
 public:
  explicit memory_file(std::string_view content) : file_(memfd_create("fuzz", 0)) {
    expect(file_ >= 0 && write(file_, content.data(), content.size()) == ssize_t(content.size()),
           "a file in memory can be written");
  }
  memory_file(const memory_file&) = delete;
  memory_file& operator=(const memory_file&) = delete;
  ~memory_file() { close(file_); }
  [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(file_); }

 private:
  int file_;
};

/// What reading gave: the numbers, and the complaint after them, if any, without the file's name.
struct reading {
  std::vector<double> values;
  std::string column, complaint;
  std::size_t line = 0, at = 0;
};

template <class Read>
reading attempt(Read read) {
  reading out;
  try {
    read(out);
  } catch (const support::input_error& error) {
    const std::string what = error.what();
    expect(what.find('\n') == std::string::npos, "a complaint is one line");
    out.line = error.where().line;
    out.at = error.where().column;
    expect(out.line >= 1 && out.at >= 1, "a place is counted from 1", out.line, out.at);
    out.complaint = what.substr(what.find(": ") + 2);
    expect(!out.complaint.empty(), "a complaint says something");
  }
  return out;
}

/// A column asked for by name, by number, or not.
std::string draw_column(bytes& in) {
  const char* const names[] = {"", "", "1", "2", "x", "a b", "999999999", "18446744073709551617"};
  return names[in.below(8)];
}

/// Whether the first piece of a text surely holds the end of its first record, from which the separator is known: of a longer
/// one a stream can complain elsewhere than a file.
bool holds_first_record(std::string_view content, std::size_t piece) {
  if (content.size() <= piece) return true;
  const std::string_view first = support::records::without_mark(content.substr(0, piece - 1));
  bool quoted = false;
  for (const char c : first) {
    if (c == '"') quoted = !quoted;
    if (c == '#') return false;
    if (!quoted && (c == '\n' || c == '\r')) return first[0] != '\n' && first[0] != '\r';
  }
  return false;
}

void check_numbers(bytes& in) {
  const support::source wanted{"-", draw_column(in),
                               in.flag() ? support::weight : support::any_number};
  const support::stream_limits limits{.piece = std::size_t(4 + in.below(61)),
                                      .record = std::size_t(1) << 20};
  const std::string_view content(reinterpret_cast<const char*>(in.rest()), in.left());

  const reading whole = attempt([&](reading& r) {
    const support::numbers numbers = support::parse_numbers(content, wanted);
    r.values = numbers.values;
    r.column = numbers.column;
  });
  expect(whole.values.size() <= content.size(), "no more numbers than bytes", whole.values.size());
  expect(whole.complaint.empty() != whole.values.empty(), "numbers or a complaint");

  // .npy headers are read from one piece
  const bool npy = support::begins_as_npy(content);
  const memory_file file(content);
  support::source from = wanted;
  from.path = file.path();
  std::vector<double> streamed;
  const reading pieces = attempt([&](reading& r) {
    support::number_stream stream(from, npy ? support::stream_limits{} : limits);
    double some[7];
    while (const std::size_t count = stream.read(some)) {
      streamed.insert(streamed.end(), some, some + count);
      if (count < 7) break;
    }
    r.column = stream.column();
  });
  if (npy) {
    // In order of the file the reading of a stream stops at the first number that is not welcome.
    expect(pieces.complaint.empty() == whole.complaint.empty(),
           "a stream and a file agree on an array");
  } else {
    if (!holds_first_record(content, limits.piece)) return;
    expect(
        pieces.complaint == whole.complaint && pieces.line == whole.line && pieces.at == whole.at,
        "a stream and a file complain alike", pieces.line, pieces.at, whole.line, whole.at);
  }
  if (!whole.complaint.empty()) return;
  expect(all_same(streamed, whole.values), "a stream and a file hold the same numbers",
         streamed.size(), whole.values.size());
  expect(pieces.column == whole.column, "a stream and a file have the same column");

  // what is read can be written and read again
  if (npy || whole.values.size() > 40) return;
  std::string again;
  for (const double x : whole.values) {
    char text[40];
    std::snprintf(text, sizeof text, "%.17g\n", x);
    again += text;
  }
  const support::numbers back = support::parse_numbers(again, support::source{"-"});
  expect(all_same(back.values, whole.values), "numbers survive printing", back.values.size());
}

void check_matrix(bytes& in) {
  const std::string_view content(reinterpret_cast<const char*>(in.rest()), in.left());
  const reading read = attempt([&](reading& r) {
    const support::token_matrix x = support::parse_npy_matrix(content, "q.npy");
    expect(x.rows() > 0 && x.cols() > 0 && std::size_t(x.size()) <= content.size(),
           "a matrix is within its file", x.rows(), x.cols());
    for (index_t i = 0; i < x.size(); ++i)
      expect(std::isfinite(x.data()[i]), "tokens are finite", x.data()[i]);
    r.values.push_back(1);
  });
  expect(read.complaint.empty() != read.values.empty(), "a matrix or a complaint");
}

/// An array as numpy.save writes it, of drawn shape, type and content.
std::string draw_npy(bytes& in) {
  const char* const types[] = {"f2", "f4", "f8", "i1", "i2", "i4",
                               "i8", "u1", "u2", "u4", "u8", "b1"};
  const std::string type = types[in.below(12)];
  const index_t rows = in.below(6), cols = in.below(5), rank = in.below(4);
  std::string shape = "(";
  for (index_t i = 0; i < rank; ++i)
    shape += std::to_string(i == 0 ? rows : i == 1 ? cols : 1) + ",";
  std::string header = std::string("{'descr': '") + (in.flag() ? ">" : "<") + type +
                       "', 'fortran_order': " + (in.flag() ? "True" : "False") +
                       ", 'shape': " + shape + "), }\n";
  std::string out = "\x93NUMPY";
  out += char(1);
  out += char(0);
  out += char(header.size());
  out += char(0);
  out += header;
  const index_t count = (rank > 0 ? rows : 1) * (rank > 1 ? cols : 1) * (type[1] - '0');
  for (index_t i = 0; i < count; ++i) out += char(in.byte());
  return out;
}

void check_arrays(bytes& in) {
  std::string content = draw_npy(in);
  const index_t changes = in.below(3);
  for (index_t i = 0; i < changes; ++i)
    content[std::size_t(in.raw<std::uint16_t>()) % content.size()] = char(in.byte());
  if (in.below(4) == 0) content.resize(std::size_t(in.byte()) % (content.size() + 1));
  std::vector<std::uint8_t> input;
  for (int i = 0; i < 3; ++i) input.push_back(in.byte());
  input.insert(input.end(), content.begin(), content.end());
  bytes numbers(input.data(), input.size()), matrix(input.data() + 3, input.size() - 3);
  check_numbers(numbers);
  check_matrix(matrix);
}

/// A state comes back from its bytes to the last bit; from bytes that are changed or cut it is refused.
template <class State>
void check_state(bytes& in, const State& state) {
  std::vector<std::byte> saved = to_bytes(state);
  const State back = from_bytes<State>(saved);
  expect(to_bytes(back) == saved, "a state comes back to the bit");
  State sum = back;
  if (in.flag()) {  // and behaves as it did
    State twin = state;
    sum += back;
    twin += state;
    expect(to_bytes(sum) == to_bytes(twin), "a state that came back merges as before");
  }
  const std::size_t at = in.raw<std::uint16_t>() % saved.size();
  const auto bit = std::byte(1u << in.below(8));
  saved[at] ^= bit;
  expect(refused([&] { static_cast<void>(from_bytes<State>(saved)); }), "a changed bit is found",
         at);
  saved[at] ^= bit;
  expect(refused([&] { static_cast<void>(from_bytes<State>(std::span(saved).first(at))); }),
         "cut bytes are refused", at);
  saved.push_back(std::byte(0));
  expect(refused([&] { static_cast<void>(from_bytes<State>(saved)); }),
         "a byte too many is refused");
}

/// Arbitrary content under a right check word: a state or a refusal, and a state that can be used.
template <class State, class Use>
void check_forged(bytes& in, const State& like, Use use) {
  std::vector<std::byte> forged = to_bytes(like);
  const index_t kind = in.below(4), changes = 1 + in.below(8);
  if (kind == 0) {
    forged.resize(std::max<std::size_t>(forged.size() + std::size_t(8 * in.below(4)) - 8, 44));
    detail::write_word(forged.data() + 32, (forged.size() - 44) / 8);
  }
  for (index_t i = 0; i < changes; ++i) {
    const std::size_t word =
        kind == 1 ? std::size_t(in.below(8)) : in.raw<std::uint16_t>() % (forged.size() / 8);
    if (8 * word + 8 > forged.size() - 4) continue;
    detail::write_word(forged.data() + 8 * word,
                       kind == 2 ? std::uint64_t(in.byte()) : in.raw<std::uint64_t>());
  }
  const std::span<const std::byte> checked(forged.data(), forged.size() - 4);
  detail::write_word(forged.data() + checked.size(), detail::check_word(checked), 4);
  static_cast<void>(refused([&] {
    State state = from_bytes<State>(forged);
    expect(to_bytes(state).size() == forged.size(), "a state has the size of its bytes");
    use(state);
    state += like;  // or refuses the other sizes
  }));
}

void check_states(bytes& in) {
  const family f = draw_family(in);
  const index_t n = in.below(6), d = in.below(4), e = in.below(3), order = in.below(6);
  const auto both = [&](const auto& state, auto use) {
    if (in.flag())
      check_state(in, state);
    else
      check_forged(in, state, use);
  };
  switch (in.below(6)) {
    case 0: {
      logsumexp_accumulator<double> s;
      for (index_t i = 0; i < n; ++i) s.add(draw<double>(in, f), draw<double>(in, family::small));
      return both(s, [](auto& t) {
        t.add(0.5);
        static_cast<void>(t.value() + t.max());
      });
    }
    case 1: {
      softmax_mean<double, Eigen::VectorXd> s(d);
      for (index_t i = 0; i < n; ++i)
        s.add(draw<double>(in, f), Eigen::VectorXd::Constant(d, draw<double>(in, f)).eval());
      return both(s, [](auto& t) {
        t.add(0.5, Eigen::VectorXd::Ones(t.width()).eval());
        static_cast<void>(t.value());
      });
    }
    case 2: {
      central_moments<double> s(order);
      for (index_t i = 0; i < n; ++i) s.add(draw<double>(in, f), draw<double>(in, family::small));
      return both(s, [](auto& t) {
        t.add(0.5);
        if (t.order() > 0) static_cast<void>(t.moment(t.order()));
        static_cast<void>(t.mean() + t.loss());
      });
    }
    case 3: {
      comoments<double> s(d, e);
      for (index_t i = 0; i < n; ++i)
        s.add(Eigen::VectorXd::Constant(d, draw<double>(in, f)).eval(),
              Eigen::VectorXd::Constant(e, draw<double>(in, f)).eval());
      return both(s, [](auto& t) {
        t.add(Eigen::VectorXd::Ones(t.width()).eval(),
              Eigen::VectorXd::Ones(t.second_width()).eval());
        static_cast<void>(t.covariance());
      });
    }
    case 4: {
      moment_tensor<double> s(d, order);
      for (index_t i = 0; i < n; ++i)
        s.add(Eigen::VectorXd::Constant(d, draw<double>(in, f)).eval());
      return both(s, [](auto& t) {
        t.add(Eigen::VectorXd::Ones(t.width()).eval());
        static_cast<void>(t.packed(t.order()));
      });
    }
    default: {  // any bytes
      const auto content = std::as_bytes(std::span(in.rest(), in.left()));
      static_cast<void>(
          refused([&] { static_cast<void>(from_bytes<central_moments<double>>(content)); }));
      static_cast<void>(
          refused([&] { static_cast<void>(from_bytes<comoments<double>>(content)); }));
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  bytes in(data, size);
  switch (in.below(5)) {
    case 0:
    case 1:
      check_numbers(in);
      break;
    case 2:
      check_arrays(in);
      break;
    case 3:
      check_matrix(in);
      break;
    default:
      check_states(in);
      break;
  }
  return 0;
}
