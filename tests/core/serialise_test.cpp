// SPDX-License-Identifier: MIT
//
// States as bytes: every type there and back, the layout itself, and what is refused.
#include <cumulus/core/serialise.hpp>
#include <cumulus/exact/logsumexp_accumulator.hpp>
#include <cumulus/exact/softmax_mean.hpp>
#include <cumulus/moments/central_moments.hpp>
#include <cumulus/moments/comoments.hpp>
#include <cumulus/moments/moment_tensor.hpp>
#include <Eigen/Core>
#include <type_traits>

#include "catch.hpp"
#include "families.hpp"
#include "refusal.hpp"

namespace {

using cumulus::central_moments;
using cumulus::from_bytes;
using cumulus::logsumexp_accumulator;
using cumulus::softmax_mean;
using cumulus::to_bytes;
using bytes = std::vector<std::byte>;

// What fixed orders and widths promise: states that may be copied as memory.
static_assert(std::is_trivially_copyable_v<central_moments<double, 0>>);
static_assert(std::is_trivially_copyable_v<central_moments<double, 8>>);
static_assert(std::is_trivially_copyable_v<central_moments<float, 4>>);
static_assert(std::is_trivially_copyable_v<logsumexp_accumulator<double>>);
static_assert(std::is_trivially_copyable_v<logsumexp_accumulator<float>>);
static_assert(std::is_trivially_copyable_v<softmax_mean<double>>);
static_assert(std::is_trivially_copyable_v<softmax_mean<float, Eigen::Vector4f>>);
static_assert(!std::is_trivially_copyable_v<central_moments<double>>);

static_assert(cumulus::serialisable<central_moments<double>> &&
              cumulus::serialisable<central_moments<float, 3>>);
static_assert(cumulus::serialisable<softmax_mean<double, Eigen::VectorXd>>);
static_assert(!cumulus::serialisable<double> && !cumulus::serialisable<std::vector<double>>);

/// There and back is the same state, and the same bytes.
template <class State>
void check_round_trip(const State& state) {
  const bytes b = to_bytes(state);
  const State back = from_bytes<State>(b);
  CHECK(back == state);
  CHECK(to_bytes(back) == b);
}

std::string refused(const bytes& b) {
  return refusal([&] { static_cast<void>(from_bytes<central_moments<double>>(b)); });
}

/// With the check word that belongs to it: a forgery.
bytes signed_again(bytes b) {
  const std::uint32_t word =
      cumulus::detail::check_word(std::span<const std::byte>(b).first(b.size() - 4));
  cumulus::detail::write_word(b.data() + b.size() - 4, word, 4);
  return b;
}

bool says(const std::string& message, const std::string& text) {
  CAPTURE(message, text);
  CHECK(message.find("from_bytes") != std::string::npos);
  return message.find(text) != std::string::npos;
}

central_moments<double> sample(int order) {
  central_moments<double> m(order);
  m.add(families::exponential<double>(1000, 1e9, 1, 601));
  m.add(-3.5, 0.25);
  return m;
}

}  // namespace

TEST_CASE("serialise: there and back is the same state", "[moments][property]") {
  for (const int order : {0, 1, 2, 7, 12, 70}) check_round_trip(sample(order));
  check_round_trip(central_moments<double>(5));
  central_moments<double, 6> fixed;
  check_round_trip(fixed);
  fixed.add(families::normal<double>(300, -1e12, 1e-3, 602));
  check_round_trip(fixed);
  fixed -= [&] {
    auto part = fixed;
    part.add(1);
    return part;
  }();  // more than there is: NaN
  CHECK(to_bytes(from_bytes<central_moments<double, 6>>(to_bytes(fixed))) == to_bytes(fixed));
  central_moments<float, 3> single;
  single.add(families::normal<float>(300, 5, 1, 603));
  check_round_trip(single);

  logsumexp_accumulator<double> sum;
  check_round_trip(sum);
  sum.add(families::normal<double>(100, 1e6, 30, 604));
  check_round_trip(sum);
  CHECK(from_bytes<logsumexp_accumulator<double>>(to_bytes(sum)).value() == sum.value());
  sum.add(1e300);
  check_round_trip(sum);
  sum.add(std::numeric_limits<double>::infinity());
  check_round_trip(sum);

  softmax_mean<double> mean;
  for (int i = 0; i < 10; ++i) mean.add(0.3 * i, i * i);
  check_round_trip(mean);
  softmax_mean<float, Eigen::VectorXf> means(3);
  check_round_trip(means);
  means.add(2.0f, Eigen::Vector3f(1, -2, 3));
  means.add(std::numeric_limits<float>::infinity(), Eigen::Vector3f(4, 5, 6));
  check_round_trip(means);
}

TEST_CASE("serialise: comoments, there and back", "[moments][property]") {
  for (const int d : {1, 2, 7}) {
    for (const int e : {0, 3}) {
      cumulus::comoments<double> m(d, e);
      check_round_trip(m);
      for (int i = 0; i < 20; ++i) {
        const Eigen::VectorXd x = Eigen::VectorXd::LinSpaced(d, i * i, 1e9 + i);
        const Eigen::VectorXd v = Eigen::VectorXd::LinSpaced(e, i % 5, 1);
        if (e == 0) m.add(x, 0.5 + i);
        if (e > 0) m.add(x, v, 0.5 + i);
      }
      check_round_trip(m);
    }
  }
  const auto other = to_bytes(cumulus::comoments<double>(4));
  CHECK(
      says(refused(other), "a state of comoments with 2 sizes, wanted is central_moments with 1"));
}

TEST_CASE("serialise: moment_tensor, there and back", "[moments][property]") {
  for (const int d : {0, 1, 3}) {
    for (const int order : {2, 5}) {
      cumulus::moment_tensor<double> m(d, order);
      check_round_trip(m);
      for (int i = 0; i < 20; ++i)
        m.add(Eigen::VectorXd(Eigen::VectorXd::LinSpaced(d, i * i, 1e9 + i)), 0.5 + i);
      check_round_trip(m);
    }
  }
  // sizes are told apart where the numbers are as many
  const auto bytes_of = to_bytes(cumulus::moment_tensor<double>(2, 3));
  const auto back = from_bytes<cumulus::moment_tensor<double>>(bytes_of);
  CHECK((back.width() == 2 && back.order() == 3));
}

TEST_CASE("serialise: the numbers are counted without them", "[moments][law]") {
  using cumulus::index_t;
  using vectors = cumulus::comoments<double>;
  using tensor = cumulus::moment_tensor<double>;
  for (const index_t d : {0, 1, 2, 7}) {
    for (const index_t other : {0, 1, 2, 3, 6}) {
      CAPTURE(d, other);
      CHECK(vectors::number_count({d, other}) ==
            index_t(cumulus::detail::number_count(vectors(d, other))));
      CHECK(tensor::number_count({d, other}) ==
            index_t(cumulus::detail::number_count(tensor(d, other))));
    }
  }
  constexpr index_t most = std::numeric_limits<index_t>::max();
  for (const index_t large : {index_t(1) << 40, most / 8, most / 2, most}) {
    CHECK((vectors::number_count({large, 0}) == most && vectors::number_count({2, most}) == most));
    CHECK((tensor::number_count({large, 2}) == most && tensor::number_count({2, large}) == most));
  }
}

TEST_CASE("serialise: a sum goes on as if it had not been away", "[moments][property]") {
  const auto x = families::exponential<double>(2000, 1e6, 3, 605);
  central_moments<double, 8> stayed, away;
  for (std::size_t i = 0; i < x.size(); ++i) {
    stayed.add(x[i]);
    away.add(x[i]);
    if (i % 100 == 7) away = from_bytes<central_moments<double, 8>>(to_bytes(away));
  }
  CHECK(away == stayed);
}

TEST_CASE("serialise: float and double, fixed and dynamic read one another",
          "[moments][property]") {
  const auto m = sample(4);
  const auto fixed = from_bytes<central_moments<double, 4>>(to_bytes(m));
  CHECK(fixed.moment(4) == m.moment(4));
  CHECK(to_bytes(fixed) == to_bytes(m));
  CHECK(cumulus::detail::wide(from_bytes<central_moments<float>>(to_bytes(m))) == m);
}

TEST_CASE("serialise: the layout, byte by byte", "[moments][value]") {
  // the check word of "123456789" that every description of CRC-32 gives
  const char digits[] = "123456789";
  CHECK(cumulus::detail::check_word(std::as_bytes(std::span<const char>(digits, 9))) ==
        0xCBF43926u);

  central_moments<double, 1> m;
  m.add(-2.0, 3.0);
  m.add(-2.0, 1.0);
  const bytes b = to_bytes(m);
  const std::vector<int> expected = {
      'c', 'u', 'm', 'u', 'l', 'u', 's',  0,  // magic
      2,   0,   0,   0,   1,   0,   0,    0,  // version, sizes
      'c', 'e', 'n', 't', 'r', 'a', 'l',  '_',  'm', 'o', 'm', 'e', 'n', 't', 's', 0,  // name
      13,  0,   0,   0,   0,   0,   0,    0,                                           // numbers
      1,   0,   0,   0,   0,   0,   0,    0,                                           // the order
      2,   0,   0,   0,   0,   0,   0,    0,                                           // the count
      0,   0,   0,   0,   0,   0,   0x10, 0x40,                                        // weight 4
      0,   0,   0,   0,   0,   0,   0,    0,  // and its low part
      0,   0,   0,   0,   0,   0,   0,    0,    0,   0,   0,   0,   0,   0,   0,   0,  // M_1
      0,   0,   0,   0,   0,   0,   0,    0xC0,                                        // anchor -2
      0,   0,   0,   0,   0,   0,   0,    0,    0,   0,   0,   0,   0,   0,   0,   0,  // offset
      0,   0,   0,   0,   0,   0,   0,    0,                                           // exponent
      0,   0,   0,   0,   0,   0,   0,    0xC0,                                        // min
      0,   0,   0,   0,   0,   0,   0,    0xC0,                                        // max
      0,   0,   0,   0,   0,   0,   0xF0, 0x3F,                                        // loss 1
      1,   0,   0,   0,   0,   0,   0,    0};                                          // finite
  REQUIRE(b.size() == expected.size() + 4);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CAPTURE(i);
    CHECK(std::to_integer<int>(b[i]) == expected[i]);
  }
  CHECK(cumulus::detail::number_count(m) == 13);
  CHECK(cumulus::detail::state_bytes(m) == 8 * 14);
  CHECK(to_bytes(logsumexp_accumulator<double>()).size() == 40 + 8 * 8 + 4);
}

TEST_CASE("serialise: cut off, lengthened or with any bit changed it is refused",
          "[moments][edge]") {
  const bytes whole = to_bytes(sample(3));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    CAPTURE(size);
    CHECK(!refused(bytes(whole.begin(), whole.begin() + std::ptrdiff_t(size))).empty());
  }
  bytes longer = whole;
  longer.push_back(std::byte(0));
  CHECK(says(refused(longer), "bytes for 1 sizes and 17 numbers of 8"));
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      bytes changed = whole;
      changed[i] ^= std::byte(1 << bit);
      CAPTURE(i, bit);
      CHECK(!refused(changed).empty());
    }
  }
  bytes changed = whole;
  changed[60] ^= std::byte(4);
  CHECK(says(refused(changed), "a check word of "));
}

TEST_CASE("serialise: what is foreign is named", "[moments][edge]") {
  CHECK(says(refused({}), "cut off at 0 bytes, the least state has 44"));
  CHECK(says(refused(bytes(20, std::byte('x'))), "these 20 bytes are no state"));
  CHECK(says(refused(to_bytes(logsumexp_accumulator<double>())),
             "a state of logsumexp with 0 sizes, wanted is central_moments"));
  CHECK(says(refused(to_bytes(softmax_mean<double>())), "a state of softmax_mean"));
  bytes later = to_bytes(sample(3));
  later[8] = std::byte(3);
  CHECK(says(refused(signed_again(later)), "layout 3, this version of cumulus reads 2"));
  later[8] = std::byte(1);  // without the count
  CHECK(says(refused(signed_again(later)), "layout 1, this version of cumulus reads 2"));
  bytes far =
      to_bytes(sample(3));  // the exponent, before the ends, the loss, a flag and the check word
  cumulus::detail::write_word(far.data() + far.size() - 44, 2013914664, 8);
  CHECK(says(refused(signed_again(far)), "the integer 2013914664"));

  using order_4 = central_moments<double, 4>;
  const std::string other_order =
      refusal([] { static_cast<void>(from_bytes<order_4>(to_bytes(sample(3)))); });
  CHECK(other_order.find("order 3 is outside 4..4") != std::string::npos);
  using triple = softmax_mean<double, Eigen::Vector3d>;
  const auto pair = to_bytes(softmax_mean<double, Eigen::Vector2d>());
  const std::string other_width = refusal([&] { static_cast<void>(from_bytes<triple>(pair)); });
  CHECK(other_width.find("the mean has 3 elements, its bytes has 2") != std::string::npos);
}

TEST_CASE("serialise: sizes that are not those of the numbers are refused before they are believed",
          "[moments][edge]") {
  const bytes whole = to_bytes(sample(3));
  for (const std::int64_t order :
       {std::int64_t(-1), std::int64_t(2), std::int64_t(4), std::int64_t(1) << 40,
        std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()}) {
    bytes other = whole;
    cumulus::detail::write_word(other.data() + 40, static_cast<std::uint64_t>(order));
    CAPTURE(order);
    CHECK(says(refused(signed_again(other)), "numbers"));
  }
  for (const std::uint64_t count :
       {std::uint64_t(0), std::uint64_t(15), ~std::uint64_t(0), std::uint64_t(1) << 61}) {
    bytes other = whole;
    cumulus::detail::write_word(other.data() + 32, count);
    CAPTURE(count);
    CHECK(says(refused(signed_again(other)), "sizes and"));
  }
  // nor is any memory taken: these would be terabytes
  using vectors = cumulus::comoments<double>;
  using tensor = cumulus::moment_tensor<double>;
  const auto forged = [](bytes message, std::int64_t first, std::int64_t second) {
    cumulus::detail::write_word(message.data() + 40, static_cast<std::uint64_t>(first));
    cumulus::detail::write_word(message.data() + 48, static_cast<std::uint64_t>(second));
    return signed_again(std::move(message));
  };
  const bytes wide = to_bytes(tensor(2000, 1));
  for (const auto& [first, second] : {std::pair(2000, 3), std::pair(9000, 3), std::pair(1000, 999),
                                      std::pair(3, 2000), std::pair(10000, 10000)}) {
    CAPTURE(first, second);
    const bytes other = forged(wide, first, second);
    CHECK(says(refusal([&] { static_cast<void>(from_bytes<tensor>(other)); }),
               "10005 numbers, those sizes have "));
  }
  const bytes flat = to_bytes(vectors(0, 1000000));
  for (const auto& [first, second] :
       {std::pair(1000000, 0), std::pair(1000000, 1000000), std::pair(2, 1000000)}) {
    CAPTURE(first, second);
    const bytes other = forged(flat, first, second);
    CHECK(says(refusal([&] { static_cast<void>(from_bytes<vectors>(other)); }),
               "3000005 numbers, those sizes have "));
  }
  bytes other = whole;  // the last number, a truth value
  cumulus::detail::write_word(other.data() + other.size() - 12, 2);
  CHECK(says(refused(signed_again(other)), "the integer 2 in a place for 8 bits"));
}
