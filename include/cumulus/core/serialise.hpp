// SPDX-License-Identifier: MIT
//
// Writes states as bytes and reads them: for files, networks and machines of any byte order.
// Layer 0 (core): a state gives its name, its sizes and its numbers; this header names no state
// type.
#pragma once

#include <cumulus/detail/core/compensated.hpp>
#include <cumulus/detail/core/require.hpp>
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

namespace cumulus {

namespace detail {

struct number_taker {
  template <class N>
  void operator()(N&) const {}
};

}  // namespace detail

/// A state that can be written as bytes. It has four members: state_name (at most 15 letters);
/// sizes(), an array of index_t that decides the count of the numbers; of_sizes(sizes), which makes
/// an empty state or refuses the sizes; and for_each_number(f), which calls f on every double and
/// integer in a fixed order. A state whose count of numbers is more than a few times its sizes also
/// has a static number_count(sizes), which gives the count without building the state, so that
/// forged sizes take no memory.
template <class State>
concept serialisable = requires(State& state, const State& constant) {
  { std::string_view(State::state_name) };
  { State::of_sizes(constant.sizes()) } -> std::same_as<State>;
  state.for_each_number(detail::number_taker{});
  constant.for_each_number(detail::number_taker{});
};

namespace detail {

/// The version of the layout that to_bytes writes, the only one that from_bytes reads.
inline constexpr std::uint32_t serialised_version = 2;

inline void write_word(std::byte* out, std::uint64_t word, int bytes = 8) noexcept {
  for (int i = 0; i < bytes; ++i) out[i] = static_cast<std::byte>(word >> (8 * i));
}
[[nodiscard]] inline std::uint64_t read_word(const std::byte* in, int bytes = 8) noexcept {
  std::uint64_t word = 0;
  for (int i = 0; i < bytes; ++i) word |= std::to_integer<std::uint64_t>(in[i]) << (8 * i);
  return word;
}

template <class N>
inline constexpr bool is_number = (std::same_as<N, double> && std::numeric_limits<N>::is_iec559) ||
                                  (std::integral<N> && sizeof(N) <= 8);

struct number_counter {
  std::size_t& count;
  template <class N>
  void operator()(const N&) const noexcept {
    ++count;
  }
};

/// Writes each number as 8 bytes.
struct number_writer {
  std::byte*& out;
  template <class N>
  void operator()(const N& number) const noexcept {
    static_assert(is_number<N>,
                  "cumulus: only states of double are serialised; those of float are such");
    if constexpr (std::same_as<N, double>) {
      write_word(out, std::bit_cast<std::uint64_t>(number));
    } else {
      write_word(out, static_cast<std::uint64_t>(static_cast<std::int64_t>(number)));
    }
    out += 8;
  }
};

/// Reads numbers; refuses an integer that does not fit.
struct number_reader {
  const std::byte*& in;
  template <class N>
  void operator()(N& number) const {
    static_assert(is_number<N>,
                  "cumulus: only states of double are serialised; those of float are such");
    const std::uint64_t word = read_word(in);
    in += 8;
    if constexpr (std::same_as<N, double>) {
      number = std::bit_cast<double>(word);
    } else {
      const auto value = static_cast<std::int64_t>(word);
      // An int is the exponent of a power of two, or less: a product with an order stays one.
      constexpr std::int64_t most = 1 << 16;
      number = static_cast<N>(value);
      if (static_cast<std::int64_t>(number) != value ||
          (std::same_as<N, int> && (value < -most || most < value)))
        refuse({"from_bytes: the integer ", value, " in a place for ", 8 * sizeof(N), " bits"});
    }
  }
};

/// CRC-32 as Ethernet, gzip and PNG use it (polynomial 0x04C11DB7, reflected).
[[nodiscard]] inline std::uint32_t check_word(std::span<const std::byte> bytes) noexcept {
  static constexpr auto table = [] {
    std::array<std::uint32_t, 256> entries{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      std::uint32_t word = i;
      for (int bit = 0; bit < 8; ++bit) word = (word >> 1) ^ ((word & 1u) != 0 ? 0xEDB88320u : 0u);
      entries[i] = word;
    }
    return entries;
  }();
  std::uint32_t word = 0xFFFFFFFFu;
  for (const std::byte b : bytes)
    word = (word >> 8) ^ table[(word ^ std::to_integer<std::uint32_t>(b)) & 0xFFu];
  return ~word;
}

inline constexpr char serialised_magic[] = "cumulus";  // with its 0, 8 bytes
inline constexpr std::size_t serialised_name_size = 16, serialised_sizes_at = 32;

template <class State>
inline constexpr std::size_t size_count =
    std::tuple_size_v<decltype(std::declval<const State&>().sizes())>;

/// How many numbers a state of these sizes holds, by building one only where that is as small as its sizes.
template <class State, class Sizes>
[[nodiscard]] std::size_t number_count_of(const Sizes& sizes) {
  if constexpr (requires { State::number_count(sizes); }) {
    return static_cast<std::size_t>(State::number_count(sizes));
  } else {
    std::size_t count = 0;
    State::of_sizes(sizes).for_each_number(number_counter{count});
    return count;
  }
}

/// How many numbers a state holds.
template <serialisable State>
[[nodiscard]] std::size_t number_count(const State& state) {
  std::size_t count = 0;
  state.for_each_number(number_counter{count});
  return count;
}

/// The number of bytes that write_state writes: 8 for each size and each number.
template <serialisable State>
[[nodiscard]] std::size_t state_bytes(const State& state) {
  return 8 * (size_count<State> + number_count(state));
}

/// Writes the sizes and the numbers alone, little-endian, for messages within one program. Requires
/// a buffer of state_bytes(state) bytes.
template <serialisable State>
void write_state(const State& state, std::byte* out) {
  for (const index_t size : state.sizes()) number_writer{out}(size);
  state.for_each_number(number_writer{out});
}

/// Reads the state that write_state wrote, from a buffer that holds all of its bytes.
template <serialisable State>
[[nodiscard]] State read_state(const std::byte* in) {
  decltype(std::declval<const State&>().sizes()) sizes{};
  for (index_t& size : sizes) number_reader{in}(size);
  State state = State::of_sizes(sizes);
  state.for_each_number(number_reader{in});
  return state;
}

}  // namespace detail

/// A state as bytes, which are equal on every machine. The order of the fields, little-endian:
/// "cumulus" and a 0; the version and the number of sizes, 4 bytes each; the name in 16 bytes,
/// padded with 0; the count of numbers, the sizes and the numbers (IEEE double or integer), 8 bytes
/// each; and 4 bytes of CRC-32 over all bytes before.
///
/// A state of float holds doubles, and a fixed order is written as a dynamic order, so that
/// from_bytes may read either type.
template <serialisable State>
[[nodiscard]] std::vector<std::byte> to_bytes(const State& state) {
  constexpr std::string_view name = State::state_name;
  static_assert(name.size() < detail::serialised_name_size,
                "cumulus: a state_name of 16 letters or more");
  const std::size_t body = detail::serialised_sizes_at + 8;
  std::vector<std::byte> bytes(body + detail::state_bytes(state) + 4);
  std::memcpy(bytes.data(), detail::serialised_magic, 8);
  detail::write_word(bytes.data() + 8, detail::serialised_version, 4);
  detail::write_word(bytes.data() + 12, detail::size_count<State>, 4);
  std::memcpy(bytes.data() + 16, name.data(), name.size());
  detail::write_word(bytes.data() + detail::serialised_sizes_at, detail::number_count(state));
  detail::write_state(state, bytes.data() + body);
  const std::span<const std::byte> checked(bytes.data(), bytes.size() - 4);
  detail::write_word(bytes.data() + checked.size(), detail::check_word(checked), 4);
  return bytes;
}

/// The state that to_bytes wrote, to the last bit.
///
/// Edges   refused with std::invalid_argument: bytes that are not a state, are cut off or changed,
///         or are followed by other bytes; a state of another type, of another layout, or of sizes
///         that State does not have. The refusal comes before the call allocates more than a few
///         times the memory of the bytes. The CRC finds accidents, not forgery.
template <serialisable State>
[[nodiscard]] State from_bytes(std::span<const std::byte> bytes) {
  constexpr std::string_view wanted = State::state_name;
  constexpr std::size_t body = detail::serialised_sizes_at + 8, sizes = detail::size_count<State>;
  const auto word = [&](std::size_t at, int size) {
    return detail::read_word(bytes.data() + at, size);
  };
  const std::size_t size = bytes.size();
  if (size > 0 &&
      std::memcmp(bytes.data(), detail::serialised_magic, std::min<std::size_t>(size, 8)) != 0)
    detail::refuse(
        {"from_bytes: these ", size, " bytes are no state: a state begins with \"cumulus\""});
  if (size < body + 4)
    detail::refuse({"from_bytes: cut off at ", size, " bytes, the least state has ", body + 4});
  if (word(8, 4) != detail::serialised_version)
    detail::refuse({"from_bytes: layout ", word(8, 4), ", this version of cumulus reads ",
                    detail::serialised_version});

  // The length is of the state's own words, so that it is known before they are trusted.
  const std::uint64_t words = word(12, 4), numbers = word(detail::serialised_sizes_at, 8),
                      held = size - body - 4;
  if (words > held / 8 || numbers > held / 8 - words || held != 8 * (words + numbers))
    detail::refuse(
        {"from_bytes: ", held, " bytes for ", words, " sizes and ", numbers, " numbers of 8"});
  const std::uint32_t given = static_cast<std::uint32_t>(word(size - 4, 4)),
                      found = detail::check_word(bytes.first(size - 4));
  if (given != found)
    detail::refuse({"from_bytes: a check word of ", given, ", the bytes give ", found});
  char name[detail::serialised_name_size + 1] = {};
  std::memcpy(name, bytes.data() + 16, detail::serialised_name_size);
  if (name != wanted || words != sizes)
    detail::refuse({"from_bytes: a state of ", name, " with ", words, " sizes, wanted is ",
                    State::state_name, " with ", sizes});
  for (std::size_t i = 0; i < sizes; ++i) {
    const auto extent = static_cast<std::int64_t>(word(body + 8 * i, 8));
    // where no number_count tells, a state as large as its sizes is built to be counted
    constexpr bool built = !requires(std::array<index_t, sizes> a) { State::number_count(a); };
    if (extent < 0 || (built && static_cast<std::uint64_t>(extent) > numbers))
      detail::refuse({"from_bytes: a size of ", extent, " for ", numbers, " numbers"});
  }
  {
    decltype(std::declval<const State&>().sizes()) extents{};
    const std::byte* at = bytes.data() + body;
    for (index_t& extent : extents) detail::number_reader{at}(extent);
    const std::size_t own = detail::number_count_of<State>(extents);
    if (own != numbers)
      detail::refuse({"from_bytes: ", numbers, " numbers, those sizes have ", own});
  }
  return detail::read_state<State>(bytes.data() + body);
}

}  // namespace cumulus
