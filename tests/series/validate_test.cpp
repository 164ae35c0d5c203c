// SPDX-License-Identifier: MIT
#include <cumulus/series/validate.hpp>
#include <cmath>

#include "catch.hpp"
#include "names.hpp"
#include "series_samples.hpp"

namespace {

using cumulus::find_moment_fault;
using moments = std::vector<double>;

int faulty_order(const moments& mu) {
  const auto fault = find_moment_fault(mu);
  return fault ? fault->order : -1;
}

}  // namespace

TEST_CASE("validate: moments that no sample has", "[series][value]") {
  struct row {
    moments mu;
    int order;
  };
  for (const row& c : {row{{1, 0, -1e-3}, 2}, row{{1, 0, 1, 0, -1}, 4},
                       row{{1, 0, 1, 0, 0.5}, 4},              // kurtosis below 1
                       row{{1, 0, 1, 3, 5}, 4},                // below skewness^2 + 1
                       row{{1, 0, 0, 0, 1}, 4},                // constant, and not
                       row{{1, 2, 3.9}, 2},                    // about 0: the variance is -0.1
                       row{{1, 0, 1, 0, 3, 0, 8.99}, 6},       // 9 is that of three points
                       row{{1, 0, 1, 0, 3, 0, 15, 0, 80}, 8},  // a normal law's 105 is at least 81
                       row{{0, 1}, 0}, row{{-1, 0, 1}, 0}, row{{1, 0, std::nan("")}, 2},
                       row{{1, 0, 1, INFINITY}, 3}, row{{}, 0}}) {
    CAPTURE(c.mu);
    CHECK(faulty_order(c.mu) == c.order);
    const std::string said = refusal([&] { cumulus::validate(c.mu); });
    CHECK(names(said, {"validate", "no sample has these moments"}));
    CHECK(said.find("moment " + std::to_string(c.order)) != std::string::npos);
  }
}

TEST_CASE("validate: moments that some sample has, at the border too", "[series][value]") {
  for (const moments& mu : {moments{1}, moments{1, 5}, moments{1, 0, 0}, moments{1, 0, 0, 0, 0},
                            moments{1, 0, 1, 0, 1, 0, 1},           // two points
                            moments{1, 0, 1, 0, 3, 0, 9, 0, 27},    // three points
                            moments{1, 0, 1, 0, 3, 0, 15, 0, 105},  // the normal law
                            moments{1, 0, 1, 2, 9, 44, 265},        // the exponential law
                            moments{1, 1, 1, 1, 1}, moments{4, 0, 8, 0, 48}}) {
    CAPTURE(mu);
    CHECK(faulty_order(mu) == -1);
    CHECK(refusal([&] { cumulus::validate(mu); }).empty());
  }
}

TEST_CASE("validate: no accumulated sample is called impossible", "[series][property]") {
  families::random r(961);
  for (int shape = 0; shape < families::shape_count; ++shape) {
    for (int weighting = 0; weighting < families::weighting_count; ++weighting) {
      for (const double range : {0.0, 1e-9, 1.0, 12.0, 1e6}) {
        const auto s = families::ranged<double>(shape, weighting, 2 + r.below(40), range,
                                                weighting == 2 ? 1e6 : 0, r);
        cumulus::central_moments<double> m(24), part(24);
        if (s.w.empty())
          m.add(s.x);
        else
          m.add(s.x, s.w);
        part.add(s.x[0]);
        CAPTURE(s.hex());
        CHECK(!find_moment_fault(m));
        CHECK(!find_moment_fault(m + part - part));
        CHECK(refusal([&] { cumulus::validate(m); }).empty());
        moments mu;
        for (int k = 0; k <= 24; ++k) mu.push_back(m.moment(k));
        CHECK(faulty_order(mu) == -1);
      }
    }
  }
  CHECK(!find_moment_fault(cumulus::central_moments<double>(4)));
  cumulus::central_moments<double> infinite(4);
  infinite.add(std::vector<double>{1, INFINITY});
  CHECK(names(refusal([&] { cumulus::validate(infinite); }), {"moment 0", "not finite"}));
}

TEST_CASE("validate: removing what was never added is found", "[series][edge]") {
  // what is left has a lower variance than 0
  cumulus::central_moments<double> m(4), other(4);
  m.add(std::vector<double>{0, 1, 2, 3});
  other.add(std::vector<double>{-50, 50});
  m -= other;
  const auto fault = find_moment_fault(m);
  CAPTURE(m.mean(), m.moment(2), m.min(), m.max());
  CHECK((fault || m.lossy()));
}
