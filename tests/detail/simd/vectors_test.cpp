// SPDX-License-Identifier: MIT
#include <cumulus/core/isa.hpp>
#include <cumulus/detail/rows/softmax.hpp>
#include <cumulus/detail/rows/vector_rows.hpp>
#include <cumulus/exact/log_softmax.hpp>
#include <cumulus/exact/logsumexp.hpp>
#include <cumulus/exact/softmax.hpp>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

#include "catch.hpp"
#include "families.hpp"
#include "flags.hpp"

// The vector kernels of every instruction set that this machine has: each length, each alignment, each lane. The oracle is long
// double, by the definition: 11 bits more than double, enough to tell the bounds of the rows apart from their tails.

#if CUMULUS_VECTORS

namespace kernels = cumulus::detail::kernels;
using cumulus::index_t;
using cumulus::isa;

namespace {

/// Runs `check()` with each set in turn.
template <class Check>
void on_every_set(Check check) {
  const isa before = cumulus::active_isa();
  for (const isa set : {isa::baseline, isa::avx2, isa::avx512}) {
    if (cumulus::detail::best_isa_level() < static_cast<int>(set)) continue;
    CHECK(cumulus::use_isa(set) == set);
    INFO(cumulus::name_of(set));
    check();
  }
  cumulus::use_isa(before);
}

template <class T>
kernels::terms<T> terms_of(std::span<const T> x, double scale = 1) {
  kernels::terms<T> t{{x.data(), index_t(x.size()), 1}};
  t.scaled = scale != 1;
  t.scale = scale;
  return t;
}

/// e^{s (x_i - max)} and their sum, without the largest.
struct oracle_row {
  std::vector<long double> term;
  long double top, largest, rest = 0;  // the largest x, and its exponent
};
template <class T>
oracle_row oracle_of(std::span<const T> x, double scale = 1) {
  oracle_row row;
  std::size_t top = 0;
  for (std::size_t i = 1; i < x.size(); ++i) top = x[top] < x[i] ? i : top;
  row.top = x[top];
  row.largest = row.top * (long double)(scale);
  for (std::size_t i = 0; i < x.size(); ++i) {
    row.term.push_back(
        std::exp(((long double)(x[i]) - (long double)(x[top])) * (long double)(scale)));
    if (i != top) row.rest += row.term.back();
  }
  return row;
}

/// |actual - exact| in units in the last place of T at exact, or at `least` where that is larger.
template <class T>
double ulps_of(T actual, long double exact, long double least = 0) {
  int e = 0;
  std::frexp(std::max(std::abs(exact), least), &e);
  e = std::max(e - std::numeric_limits<T>::digits,
               std::numeric_limits<T>::min_exponent - std::numeric_limits<T>::digits);
  return double(std::ldexp(std::abs((long double)(actual)-exact), -e));
}

struct errors {
  double softmax = 0, log_softmax = 0, logsumexp = 0;
};

/// The errors of a row that the kernels of this file take, but perhaps not its logarithm.
template <class T>
errors errors_of(std::span<const T> x, std::span<T> out, double scale = 1) {
  const oracle_row exact = oracle_of(x, scale);
  const auto t = terms_of(x, scale);
  const cumulus::detail::strided<T> to{out.data(), index_t(out.size()), 1};
  errors e;
  const long double log_rest = std::log1p(exact.rest);
  REQUIRE(kernels::softmax_row(t, to));
  for (std::size_t i = 0; i < x.size(); ++i)
    e.softmax = std::max(e.softmax, ulps_of(out[i], exact.term[i] / (1 + exact.rest)));
  kernels::log_softmax(t, to);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const long double log = ((long double)(x[i]) - exact.top) * (long double)(scale)-log_rest;
    e.log_softmax = std::max(e.log_softmax, ulps_of(out[i], log));
  }
  cumulus::detail::compute_scalar<T> sum(0);
  if (!kernels::logsumexp_row(t, sum)) sum = kernels::log_of(kernels::exp_sum(t), t);
  const long double least =
      std::max({1.0L, std::abs(exact.largest), std::abs(exact.largest + log_rest)});
  e.logsumexp = ulps_of(T(sum), exact.largest + log_rest, least);
  return e;
}

void check(const errors& e) {
  CHECK(e.softmax <= cumulus::softmax_max_ulp);
  CHECK(e.log_softmax <= cumulus::log_softmax_max_ulp);
  CHECK(e.logsumexp <= cumulus::logsumexp_max_ulp);
}

void raise(errors& worst, const errors& e) {
  worst.softmax = std::max(worst.softmax, e.softmax);
  worst.log_softmax = std::max(worst.log_softmax, e.log_softmax);
  worst.logsumexp = std::max(worst.logsumexp, e.logsumexp);
}

/// Memory whose last byte lies before a page that nothing may touch.
template <class T>
class guarded {
 public:
  explicit guarded(std::size_t n) {
    const std::size_t page = std::size_t(sysconf(_SC_PAGESIZE));
    size_ = (n * sizeof(T) / page + 2) * page;
    base_ = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(base_ != MAP_FAILED);
    char* const end = static_cast<char*>(base_) + size_ - page;
    REQUIRE(mprotect(end, page, PROT_NONE) == 0);
    end_ = reinterpret_cast<T*>(end);
  }
  guarded(const guarded&) = delete;
  guarded& operator=(const guarded&) = delete;
  ~guarded() { munmap(base_, size_); }
  [[nodiscard]] std::span<T> last(std::size_t n) const { return {end_ - n, n}; }

 private:
  void* base_;
  std::size_t size_;
  T* end_;
};

template <class T>
bool same_bits(std::span<const T> a, std::span<const T> b) {
  return std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

}  // namespace

TEMPLATE_TEST_CASE("vectors: every length up to 300, up to the end of a page", "[kernels][value]",
                   float, double) {
  using T = TestType;
  const guarded<T> in(300), out(300);
  on_every_set([&] {
    errors worst;
    for (std::size_t n = 1; n <= 300; ++n) {
      const auto x = in.last(n), y = out.last(n);
      const auto values = families::normal<T>(n, 1.0, 5.0, n);
      std::copy(values.begin(), values.end(), x.begin());
      raise(worst, errors_of<T>(x, y));
    }
    check(worst);
  });
}

TEMPLATE_TEST_CASE("vectors: every alignment gives the same, and writes nothing beside",
                   "[kernels][property]", float, double) {
  using T = TestType;
  constexpr std::size_t room = 64 / sizeof(T);
  on_every_set([&] {
    for (const std::size_t n : {1u, 3u, 15u, 16u, 17u, 63u, 129u, 300u}) {
      const auto values = families::normal<T>(n, 1.0, 5.0, n);
      std::vector<T> expected(n);
      REQUIRE(kernels::softmax_row(terms_of<T>(values), {expected.data(), index_t(n), 1}));
      bool same = true, clean = true;
      for (std::size_t shift = 0; shift < room; ++shift) {
        std::vector<T> x(n + 2 * room), y(n + 2 * room, T(7));
        std::copy(values.begin(), values.end(), x.begin() + std::ptrdiff_t(shift));
        const std::span<T> to(y.data() + (room - shift), n);
        REQUIRE(kernels::softmax_row(terms_of<T>(std::span<const T>(x.data() + shift, n)),
                                     {to.data(), index_t(n), 1}));
        same = same && same_bits<T>(to, expected);
        for (std::size_t i = 0; i < y.size(); ++i) {
          const bool inside = i >= room - shift && i < room - shift + n;
          clean = clean && (inside || y[i] == T(7));
        }
      }
      CHECK(same);
      CHECK(clean);
    }
  });
}

TEMPLATE_TEST_CASE("vectors: in place, at a stride, negated, masked: the same bits",
                   "[kernels][property]", float, double) {
  using T = TestType;
  on_every_set([&] {
    for (const std::size_t n : {1u, 5u, 64u, 300u, 5000u, 9000u}) {
      CAPTURE(n);
      auto x = families::normal<T>(n, 1.0, 20.0, n);
      std::vector<T> expected(n), y(2 * n), kept(2 * n, T(9));
      REQUIRE(kernels::softmax_row(terms_of<T>(x), {expected.data(), index_t(n), 1}));
      std::vector<char> mask_bytes(2 * n);
      for (std::size_t i = 0; i < n; ++i) {
        y[2 * i] = -x[n - 1 - i];
        kept[2 * i + 1] = x[i];
        mask_bytes[2 * i + 1] = 1;
      }
      std::vector<T> out(n);
      kernels::terms<T> t{{y.data() + 2 * (n - 1), index_t(n), -2}};
      t.negative = true;
      REQUIRE(kernels::softmax_row(t, {out.data(), index_t(n), 1}));
      CHECK(same_bits<T>(out, expected));

      std::vector<T> spread(2 * n, T(3));
      kernels::terms<T> masked = terms_of<T>(kept);
      masked.mask = {reinterpret_cast<const bool*>(mask_bytes.data()), index_t(2 * n), 1};
      REQUIRE(kernels::softmax_row(masked, {spread.data(), index_t(2 * n), 1}));
      bool same = true;
      for (std::size_t i = 0; i < n; ++i)
        same = same && spread[2 * i] == T(0) && spread[2 * i + 1] == expected[i];
      CHECK(same);

      REQUIRE(kernels::softmax_row(terms_of<T>(x), {x.data(), index_t(n), 1}));
      CHECK(same_bits<T>(x, expected));
    }
  });
}

TEMPLATE_TEST_CASE("vectors: a maximum that rises anywhere, and far", "[kernels][value]", float,
                   double) {
  using T = TestType;
  const double step = std::same_as<T, float> ? 60 : 800;
  on_every_set([&] {
    errors worst;
    std::vector<T> out(20000);
    for (const std::size_t n : {67u, 300u}) {
      for (std::size_t at = 0; at < n; ++at) {
        auto x = families::normal<T>(n, 0.0, 3.0, n + at);
        x[at] += T(step);
        raise(worst, errors_of<T>(x, std::span(out).first(n)));
      }
    }
    for (const double slope : {1e-3, 0.02, 0.5, -0.5}) {  // stretches of several powers, some gone
      auto x = families::normal<T>(20000, 0.0, 3.0, 3u);
      for (std::size_t i = 0; i < x.size(); ++i) x[i] += T(slope * double(i));
      raise(worst, errors_of<T>(x, std::span(out)));
    }
    auto x = families::normal<T>(20000, 0.0, 3.0, 4u);
    for (std::size_t i = 0; i < x.size(); ++i)
      x[i] += T(step * double(std::min<std::size_t>(i / 4096, 4 - i / 4096)));
    raise(worst, errors_of<T>(x, std::span(out)));
    check(worst);
  });
}

TEMPLATE_TEST_CASE("vectors: offsets, spreads and scales", "[kernels][value]", float, double) {
  using T = TestType;
  const bool is_float = std::same_as<T, float>;
  on_every_set([&] {
    errors worst;
    std::vector<T> out(500);
    for (const double offset : {0.0, -90.0, 1e4, -3e5, is_float ? 1e7 : 1e13}) {
      for (const double spread : {0.0, 1e-3, 1.0, 30.0, 300.0}) {
        for (const double scale : {1.0, 0.125, 0.3, 7.0}) {
          if (scale != 1 && scale != 0.125 && cumulus::active_isa() == isa::baseline) continue;
          auto x = families::normal<T>(500, offset, spread, 9u);
          raise(worst, errors_of<T>(x, std::span(out), scale));
        }
      }
    }
    check(worst);
  });
}

TEMPLATE_TEST_CASE("vectors: NaN and infinities in each lane and each tail", "[kernels][edge]",
                   float, double) {
  using T = TestType;
  const T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  on_every_set([&] {
    bool right = true, quiet = true;
    for (const std::size_t n : {1u, 2u, 9u, 35u, 150u}) {
      const auto plain = families::normal<T>(n, 0.0, 3.0, n);
      for (std::size_t at = 0; at < n; ++at) {
        for (const T special : {nan, inf, -inf}) {
          for (const bool in_place : {false, true}) {
            auto x = plain;
            x[at] = special;
            std::vector<T> y = in_place ? x : std::vector<T>(n);
            const std::span<const T> from =
                in_place ? std::span<const T>(y) : std::span<const T>(x);
            quiet = quiet && spurious_flags([&] {
                               kernels::softmax(terms_of<T>(from), {y.data(), index_t(n), 1});
                             }) == 0;
            for (std::size_t i = 0; i < n; ++i) {
              const bool nothing = special == -inf && n == 1;
              right = right && (std::isnan(special) || nothing ? std::isnan(y[i])
                                : special == inf               ? y[i] == T(i == at ? 1 : 0)
                                                               : (y[i] == 0) == (i == at));
            }
          }
        }
      }
    }
    CHECK(right);
    CHECK(quiet);
  });
}

TEMPLATE_TEST_CASE("vectors: subnormal shares and arguments, and zeros of either sign",
                   "[kernels][edge]", float, double) {
  using T = TestType;
  const double log_least = std::log(double(std::numeric_limits<T>::denorm_min()));
  on_every_set([&] {
    double worst = 0;
    std::vector<T> x, y(200);
    for (int i = 0; i < 200; ++i) x.push_back(T(log_least + 0.1 * i));  // from the least number up
    x[150] = T(0);
    const oracle_row exact = oracle_of<T>(x);
    REQUIRE(kernels::softmax_row(terms_of<T>(x), {y.data(), 200, 1}));
    for (std::size_t i = 0; i < y.size(); ++i)
      worst = std::max(worst, ulps_of(y[i], exact.term[i] / (1 + exact.rest)));
    CHECK(worst <= 4);
    CHECK(y[1] > 0);

    std::vector<T> tiny(40, std::numeric_limits<T>::denorm_min()), out(40);
    for (std::size_t i = 0; i < tiny.size(); i += 2) tiny[i] = -T(0);
    REQUIRE(kernels::softmax_row(terms_of<T>(tiny), {out.data(), 40, 1}));
    CHECK(out == std::vector<T>(40, T(1) / T(40)));
    cumulus::detail::compute_scalar<T> sum(0);
    REQUIRE(kernels::logsumexp_row(terms_of<T>(tiny), sum));
    CHECK(ulps_of(T(sum), std::log(40.0L)) <= 1);
  });
}

TEMPLATE_TEST_CASE("vectors: a dominated row keeps the digits of its tail", "[kernels][value]",
                   float, double) {
  using T = TestType;
  on_every_set([&] {
    for (const std::size_t n : {2u, 5u, 40u, 5000u}) {
      for (const double gap : {0.5, 3.0, 40.0}) {
        std::vector<T> x(n, T(-gap)), out(n);
        x[n / 2] = T(0);
        const long double exact = std::log1p((long double)(n - 1) * std::exp(-(long double)(gap)));
        cumulus::detail::compute_scalar<T> sum(0);
        REQUIRE(kernels::logsumexp_row(terms_of<T>(x), sum));
        CAPTURE(n, gap);
        CHECK(ulps_of(T(sum), exact, exact < 0.7L ? exact : 1.0L) <= 3);
        REQUIRE(kernels::log_softmax_row(terms_of<T>(x), {out.data(), index_t(n), 1}));
        CHECK(ulps_of(out[n / 2], -exact) <= 3);
      }
    }
  });
}

TEST_CASE("vectors: a set above the machine's is lowered", "[kernels][edge]") {
  const isa before = cumulus::active_isa();
  CHECK(cumulus::use_isa(isa::avx512) == static_cast<isa>(cumulus::detail::best_isa_level()));
  CHECK(cumulus::use_isa(isa::baseline) == isa::baseline);
  CHECK(cumulus::active_isa() == isa::baseline);
  CHECK(cumulus::use_isa(before) == before);
}

#endif
