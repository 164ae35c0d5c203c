// SPDX-License-Identifier: MIT
//
// Derivatives of the truncated logsumexp and softmax in x, without forming a matrix.
// Layer 3 (series): uses core, kernels, exact, moments and series.
//
// All are of the truncation itself, not truncations of the exact derivatives (moving_polynomial.hpp
// derives them).
#pragma once

#include <cumulus/detail/series/moving_polynomial.hpp>
#include <cumulus/exact/softmax_derivatives.hpp>
#include <cumulus/series/softmax_series.hpp>

namespace cumulus {

namespace detail {

/// The options of a call that gives the order alone.
template <class T, std::integral I>
[[nodiscard]] series_options<T> series_call(const char* function, I order) {
  return {.order = series_order(function, order)};
}

/// A call with x, perhaps a direction, and weights: `on_moments(place, direction, out)`, or where
/// the moments say nothing, `exactly(x, options)`, the derivative of the exact function.
template <real_vector X, class V, template <class> class ExactOptions = options, class OnMoments,
          class Exactly>
[[nodiscard]] result_like<X> differentiated(const char* function, const X& x, const V* v,
                                            const char* name, const series_options<result_of<X>>& o,
                                            OnMoments on_moments, Exactly exactly) {
  using T = result_of<X>;
  using S = compute_scalar<T>;
  require_series_order(function, o.order);
  require_smooth_form(function, o.form, "derivative here");
  const operand<T> values(x);
  operand<T> direction;
  if constexpr (!std::same_as<V, void>) {
    direction.take(*v);
    require_same_size(function, "x", values.size(), name, direction.size());
  }
  require_weights(function, values.size(), o.weights);
  const auto m = detail::wide(moments_of<dynamic>(values.view(), o.weights.view(), o.order));
  result_like<X> out = sized_like(x);
  if (m.empty() || (!is_finite(m.mean()) && !is_nan(m.weight()))) {
    if (o.weights.given()) {
      const array_of<T> w = copied(o.weights.view());
      exactly(ExactOptions<T>{.weights = w}, out);
    } else {
      exactly(ExactOptions<T>{}, out);
    }
    return out;
  }
  const series_place<T> at({values.view(), o.weights.view()}, m, o.order);
  std::vector<S> step(std::size_t(direction.size()));
  S centre(0);
  if (!step.empty())
    centre = at.expectation([&](index_t i, const S&) { return S(direction.view()[i]); });
  for (std::size_t i = 0; i < step.size(); ++i) step[i] = S(direction.view()[index_t(i)]) - centre;
  const auto result = strided_view(out);
  for (index_t i = 0; i < result.size; ++i) result[i] = T(0);
  on_moments(at, step, centre, result);
  return out;
}

}  // namespace detail

/// The gradient of logsumexp_series in x: w_i/W times the truncated softmax of one degree less, or
/// what form::moment's value has.
///
/// Shape    x, weights: [n]; order: 0..max_series_order (order 0 is order 1: the gradient of the
///          mean).
/// Edges    infinite or NaN entries: logsumexp_gradient's, as the value is the exact one there.
/// Error    that of order + 2 multiplications and of the moments.
/// Cost     three reads of x; about 5 order + 20 operations an element.
/// Source   derived here, above; the same for each function below.
template <real_vector X>
[[nodiscard]] result_like<X> logsumexp_series_gradient(const X& x,
                                                       const series_options<result_of<X>>& o) {
  using T = result_of<X>;
  using S = detail::compute_scalar<T>;
  return detail::differentiated<X, void>(
      "logsumexp_series_gradient", x, nullptr, "", o,
      [&](const auto& at, const auto&, const S&, detail::strided<T> out) {
        const auto p =
            detail::gradient_factor(at, detail::evaluated_order(o.order, o.form), o.form, nullptr);
        at.each([&](index_t i, const S& w, const S& y) { out[i] = T(w * p(y)); });
      },
      [&](const options<T>& exact, auto& out) { out = logsumexp_gradient(x, exact); });
}

/// The Hessian of logsumexp_series in x, times v.
///
/// Shape    x, v, weights: [n].
/// Cost     five reads; about 8 order + 30 operations an element.
template <real_vector X, real_vector V>
[[nodiscard]] result_like<X> logsumexp_series_hvp(const X& x, const V& v,
                                                  const series_options<result_of<X>>& o) {
  using T = result_of<X>;
  using S = detail::compute_scalar<T>;
  return detail::differentiated(
      "logsumexp_series_hvp", x, &v, "v", o,
      [&](const auto& at, const auto& step, const S&, detail::strided<T> out) {
        const int terms = detail::evaluated_order(o.order, o.form);
        const auto n = at.cross_moments(step, terms);
        const auto p = detail::gradient_factor(at, terms, o.form, &n);
        at.each([&](index_t i, const S& w, const S& y) {
          out[i] = T(w * p.change(y, step[std::size_t(i)]));
        });
      },
      [&](const options<T>& exact, auto& out) { out = logsumexp_hvp(x, v, exact); });
}

/// The change of softmax_series along v.
///
/// Shape    x, v, weights: [n]; order: the softmax's degree.
/// Cost     five reads; about 8 order + 30 operations an element, normaliser n exp.
template <real_vector X, real_vector V>
[[nodiscard]] result_like<X> softmax_series_jvp(const X& x, const V& v,
                                                const series_options<result_of<X>>& o) {
  using T = result_of<X>;
  using S = detail::compute_scalar<T>;
  return detail::differentiated<X, V, softmax_options>(
      "softmax_series_jvp", x, &v, "v", o,
      [&](const auto& at, const auto& step, const S&, detail::strided<T> out) {
        const int terms = detail::evaluated_order(o.order, o.form);
        if (o.form == form::normaliser) {
          const auto p = detail::gradient_factor(at, terms, form::taylor, nullptr);
          const S change =
              at.expectation([&](index_t i, const S& y) { return S(p(y) * step[std::size_t(i)]); });
          const S k = detail::normaliser_of(at, terms);
          at.each([&](index_t i, const S& w, const S& y) {
            out[i] = T(w * detail::kernels::exponential(detail::two_sum(y, S(-k))) *
                       (step[std::size_t(i)] - change));
          });
          return;
        }
        const auto n = at.cross_moments(step, terms);
        const auto p = o.form == form::taylor ? detail::taylor_factor(at, terms, &n)
                                              : detail::moment_factor(at, terms, n);
        at.each([&](index_t i, const S& w, const S& y) {
          out[i] = T(w * p.change(y, step[std::size_t(i)]));
        });
      },
      [&](const softmax_options<T>& exact, auto& out) { out = softmax_jvp(x, v, exact); });
}

/// The gradient in x of sum_i g_i softmax_series(x)_i; for form::taylor the same as the jvp.
///
/// Shape    x, g, weights: [n].
template <real_vector X, real_vector G>
[[nodiscard]] result_like<X> softmax_series_vjp(const X& x, const G& g,
                                                const series_options<result_of<X>>& o) {
  using T = result_of<X>;
  using S = detail::compute_scalar<T>;
  return detail::differentiated<X, G, softmax_options>(
      "softmax_series_vjp", x, &g, "g", o,
      [&](const auto& at, const auto& step, const S& centre, detail::strided<T> out) {
        const int terms = detail::evaluated_order(o.order, o.form);
        if (o.form == form::taylor) {
          const auto n = at.cross_moments(step, terms);
          const auto p = detail::taylor_factor(at, terms, &n);
          at.each([&](index_t i, const S& w, const S& y) {
            out[i] = T(w * p.change(y, step[std::size_t(i)]));
          });
          return;
        }
        const auto weighed = [&](index_t i) { return S(step[std::size_t(i)] + centre); };
        if (o.form == form::normaliser) {
          const auto p = detail::gradient_factor(at, terms, form::taylor, nullptr);
          const S k = detail::normaliser_of(at, terms);
          const auto share = [&](const S& y) {
            return detail::kernels::exponential(detail::two_sum(y, S(-k)));
          };
          const S sum =
              at.expectation([&](index_t i, const S& y) { return S(weighed(i) * share(y)); });
          at.each([&](index_t i, const S& w, const S& y) {
            out[i] = T(w * (weighed(i) * share(y) - sum * p(y)));
          });
          return;
        }
        // g_l E'(y_l) - E g E', less E g E_P (E_{P-1}(y_l) - M_{P-1}) / M_P; E' = E_{P-1}
        if (terms == 0) return;
        auto a = detail::zeros<S>();
        for (std::size_t j = 0; j <= std::size_t(terms); ++j) a[j] = S(1) / at.factorial[j];
        const auto e = [&](int order, const S& y) {
          return detail::kernels::horner(a.data(), order, y);
        };
        const S total = at.total(terms), below = at.total(terms - 1);
        const S slope =
            at.expectation([&](index_t i, const S& y) { return S(weighed(i) * e(terms - 1, y)); });
        const S value = at.expectation([&](index_t i, const S& y) {
          return S(weighed(i) * e(terms, y));
        }) / total;
        at.each([&](index_t i, const S& w, const S& y) {
          const S lower = e(terms - 1, y);
          out[i] = T(w * ((weighed(i) - value) * lower - (slope - value * below)) / total);
        });
      },
      [&](const softmax_options<T>& exact, auto& out) { out = softmax_vjp(x, g, exact); });
}

/// The call with form::taylor, by the order alone.
template <real_vector X>
[[nodiscard]] result_like<X> logsumexp_series_gradient(const X& x, std::integral auto order) {
  return logsumexp_series_gradient(
      x, detail::series_call<result_of<X>>("logsumexp_series_gradient", order));
}
/// The call with form::taylor, by the order alone.
template <real_vector X, real_vector V>
[[nodiscard]] result_like<X> logsumexp_series_hvp(const X& x, const V& v,
                                                  std::integral auto order) {
  return logsumexp_series_hvp(x, v,
                              detail::series_call<result_of<X>>("logsumexp_series_hvp", order));
}
/// The call with form::taylor, by the order alone.
template <real_vector X, real_vector V>
[[nodiscard]] result_like<X> softmax_series_jvp(const X& x, const V& v, std::integral auto order) {
  return softmax_series_jvp(x, v, detail::series_call<result_of<X>>("softmax_series_jvp", order));
}
/// The call with form::taylor, by the order alone.
template <real_vector X, real_vector G>
[[nodiscard]] result_like<X> softmax_series_vjp(const X& x, const G& g, std::integral auto order) {
  return softmax_series_vjp(x, g, detail::series_call<result_of<X>>("softmax_series_vjp", order));
}

// clang-format off
// Refused: each line says what to write instead.
template <real_vector X>
void logsumexp_series_gradient(const X&, std::integral auto, form) = delete;  // cumulus: write logsumexp_series_gradient(x, {.order = 4, .form = form::moment})
template <real_vector X, real_vector V>
void logsumexp_series_hvp(const X&, const V&, std::integral auto, form) = delete;  // cumulus: write logsumexp_series_hvp(x, v, {.order = 4, .form = form::moment})
template <real_vector X, real_vector V>
void softmax_series_jvp(const X&, const V&, std::integral auto, form) = delete;  // cumulus: write softmax_series_jvp(x, v, {.order = 4, .form = form::moment})
template <real_vector X, real_vector G>
void softmax_series_vjp(const X&, const G&, std::integral auto, form) = delete;  // cumulus: write softmax_series_vjp(x, g, {.order = 4, .form = form::moment})
// clang-format on

}  // namespace cumulus
