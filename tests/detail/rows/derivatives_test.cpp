// SPDX-License-Identifier: MIT
#include <cumulus/detail/rows/derivatives.hpp>

#include <cmath>
#include <limits>
#include <vector>

#include "catch.hpp"

namespace kernels = cumulus::detail::kernels;
using cumulus::degenerate;
using cumulus::detail::strided;
using kernels::terms;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double qnan = std::numeric_limits<double>::quiet_NaN();

strided<const double> view(const std::vector<double>& x) {
  return {x.data(), cumulus::index_t(x.size()), 1};
}

strided<double> place(std::vector<double>& x) { return {x.data(), cumulus::index_t(x.size()), 1}; }

bool same(const std::vector<double>& a, const std::vector<double>& b) {
  bool result = a.size() == b.size();
  for (std::size_t i = 0; result && i < a.size(); ++i)
    result = a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]));
  return result;
}

}  // namespace

TEST_CASE("derivatives: the Jacobian times a direction, by strides and in place",
          "[kernels][value]") {
  const std::vector<double> x{0, 0, -inf, 0, 0}, v{4, 0, 9, 0, 0};
  std::vector<double> out(5);
  kernels::softmax_jacobian_product(terms<double>{view(x)}, view(v), place(out), degenerate::limit,
                                    1.0, false);
  CHECK(same(out, {0.75, -0.25, 0, -0.25, -0.25}));
  // Every second, backwards, written over x.
  std::vector<double> memory{0, 7, 0, 7, 0};
  const strided<double> backwards{memory.data() + 4, 3, -2};
  const std::vector<double> w{3, 0, 0};
  kernels::softmax_jacobian_product(terms<double>{{memory.data() + 4, 3, -2}}, view(w), backwards,
                                    degenerate::limit, 1.0, false);
  CHECK(memory[4] == Approx(2.0 / 3).epsilon(1e-15));
  CHECK(memory[2] == Approx(-1.0 / 3).epsilon(1e-15));
  CHECK(memory[0] == memory[2]);
  CHECK(memory[1] == 7);
}

TEST_CASE("derivatives: a sink is an outcome with direction 0", "[kernels][value]") {
  const std::vector<double> x{1}, v{8};
  std::vector<double> out(1);
  terms<double> t{view(x)};
  t.has_sink = true;
  t.sink = 1;
  kernels::softmax_jacobian_product(t, view(v), place(out), degenerate::limit, 1.0, false);
  CHECK(out[0] == 2);  // p (v - p v) with p = 1/2
  kernels::log_softmax_transposed_product(t, view(v), place(out), degenerate::limit, 1.0);
  CHECK(out[0] == 4);  // g - p g
  kernels::logsumexp_weight_gradient(t, place(out));
  CHECK(out[0] == 0.5);
}

TEST_CASE("derivatives: the transposed product of log_softmax leaves the masked out",
          "[kernels][value]") {
  const std::vector<double> x{0, qnan, 0, -inf}, g{1, qnan, 0, 5};
  const bool mask[]{true, false, true, true};
  std::vector<double> out(4);
  kernels::log_softmax_transposed_product(terms<double>{view(x), {}, {mask, 4, 1}}, view(g),
                                          place(out), degenerate::limit, 1.0);
  CHECK(same(out, {-2, 0, -3, 5}));
}

TEST_CASE("derivatives: at a dominated maximum the small differences survive", "[kernels][value]") {
  // p = (1 - e, e): g - p sum g at the maximum is e g_0 - (1 - e) g_1, not 1 - (1 - e) with its
  // digits lost.
  const std::vector<double> x{0, -40}, g{1, 0};
  std::vector<double> out(2);
  kernels::log_softmax_transposed_product(terms<double>{view(x)}, view(g), place(out),
                                          degenerate::limit, 1.0);
  CHECK(out[0] == Approx(std::exp(-40.0)).epsilon(1e-15));
  CHECK(out[1] == Approx(-std::exp(-40.0)).epsilon(1e-15));
}

TEST_CASE("derivatives: weights of 0 have a slope in the weight", "[kernels][edge]") {
  const std::vector<double> x{2, 2, qnan, -inf}, w{0, 4, 0, 1};
  std::vector<double> out(4);
  kernels::logsumexp_weight_gradient(terms<double>{view(x), view(w)}, place(out));
  CHECK(same(out, {0.25, 0.25, qnan, 0}));
}
