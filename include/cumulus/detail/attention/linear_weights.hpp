// SPDX-License-Identifier: MIT
//
// From the scores of one query to the weights of its tokens: truncated, exact in the window and for the first tokens, aged.
// Layer 5 (attention): uses core; linear_memory.hpp builds on it.
#pragma once

#include <cumulus/attention/linear_options.hpp>
#include <cumulus/detail/attention/truncated_row.hpp>
#include <cumulus/detail/core/aligned.hpp>

namespace cumulus::detail {

/// What linear_state_options say of the weights, and a query's row of them.
///
/// The tokens that a query sees are those in the sums, then those that wait: first the first tokens of all, as many
/// as are exact, then those that are far (far_tokens.hpp), then the others up to the query's own.
template <class T>
struct linear_weights {
  using C = compute_scalar<T>;

  int order = 2;
  cumulus::form form = cumulus::form::moment;
  bool centred = true;
  double decay = 1;
  index_t window = 0, first_tokens = 0;
  std::vector<C> given{};    ///< j! times the coefficients of a polynomial
  aligned_vector<T> ages{};  ///< decay^(capacity - j), j = 0..capacity; empty without decay

  /// What becomes of a row, in nats above the score of the reference.
  struct row {
    /// In: of the sums, about the reference; out: b_0 and b_1 of all truncated.
    std::array<C, truncated_row<C>::room> b;
    std::array<C, truncated_row<C>::room> central;  ///< sum w y^j / j! of all that are truncated
    C base = C(0), mass = C(0);                     ///< of those that are truncated: mass e^base
    C cut = C(0);                                   ///< what saturation took from base
    C top = C(0), total = C(0);                     ///< of all: total e^top
    linear_status status{};

    [[nodiscard]] bool has_log() const noexcept {
      return C(0) < total && status == linear_status::positive;
    }
  };

  linear_weights() = default;
  explicit linear_weights(const linear_state_options& o)
      : order(o.order),
        form(o.form),
        centred(o.centred || o.form == cumulus::form::taylor),
        decay(o.decay),
        window(o.window ? o.window->before : 0),
        first_tokens(o.first_tokens) {
    C factorial(1);
    for (std::size_t j = 0; j < o.polynomial.size(); ++j) {
      if (j > 0) factorial *= C(int(j));
      given.push_back(C(o.polynomial[j]) * factorial);
    }
    if (order == 0 && centred) {  // order 1 knows the mean; its own term is left out
      order = 1;
      form = cumulus::form::moment;
      given = {given.empty() ? C(1) : given[0], C(0)};
    }
  }

  [[nodiscard]] static C power(double base, index_t n) {
    C value(1);
    for (C square = C(base); n > 0; n /= 2, square *= square) {
      if (n % 2 == 1) value *= square;
    }
    return value;
  }
  /// Ages up to so many tokens.
  void reserve(index_t tokens) {
    if (!(decay < 1)) return;
    ages.resize(std::size_t(tokens) + 1);
    for (index_t j = 0; j <= tokens; ++j) ages[std::size_t(j)] = T(power(decay, tokens - j));
  }
  [[nodiscard]] index_t capacity() const noexcept { return index_t(ages.size()) - 1; }
  /// decay^n for n <= capacity.
  [[nodiscard]] T aged(index_t n) const noexcept {
    return decay < 1 ? ages[std::size_t(capacity() - n)] : T(1);
  }
  /// decay^(count - 1) .. decay^0; null without decay.
  [[nodiscard]] const T* last_ages(index_t count) const noexcept {
    return decay < 1 ? ages.data() + (capacity() - (count - 1)) : nullptr;
  }

  /// Turns the scores u of the `visible` tokens that wait into their weights, which with those of the sums, of_sums[j] for
  /// the degree j, add up to one. `last` is the position of the last token, `far` the number of far ones, which with decay
  /// have the ages `far_ages`, with room for those of the other tokens that wait.
  void operator()(T* u, index_t visible, index_t far, T* far_ages, index_t last, bool has_sums,
                  row& sums, T* of_sums) const noexcept {
    const index_t first = visible < first_tokens ? visible : first_tokens;
    const index_t newer = visible - first - far;  // than the sums
    const index_t recent = newer < window ? newer : window;
    const index_t linear = visible - first - recent;  // tokens from `first` on
    const T* weight = decay < 1 ? ages.data() + (capacity() - newer + 1) : nullptr;
    if (decay < 1 && far > 0) {
      std::copy_n(weight, linear - far, far_ages + far);
      weight = far_ages;
    }

    // divided power sums about the reference, then about the mean
    const C age = has_sums ? C(aged(newer)) : C(0);
    if (has_sums) {
      if (decay < 1) {
        for (int j = 0; j <= order; ++j) sums.b[std::size_t(j)] *= age;
      }
    } else {
      for (int j = 0; j <= order; ++j) sums.b[std::size_t(j)] = C(0);
    }
    C mean(0);
    std::array<C, truncated_row<C>::room> open{};
    const bool recentres = centred && order > 0;
    if (linear > 0)
      kernels::divided_power_sums(u + first, weight, linear, T(0), recentres ? 1 : order,
                                  open.data());
    truncated_row<C> truncated;
    const C held = sums.b[0] + open[0];
    const bool has_linear =
        (has_sums || linear > 0) && (C(0) < held || is_nan(held));  // else decayed below any number
    if (recentres && has_linear) {
      const C total = sums.b[0] + open[0];
      mean = C(T((sums.b[1] + open[1]) / total));
      if (order > 1 && linear > 0) {
        for (int j = 0; j <= order; ++j) open[std::size_t(j)] = C(0);
        kernels::divided_power_sums(u + first, weight, linear, T(mean), order, open.data());
      }
      for (int j = 0; j <= order; ++j) {
        C shifted(0), factor(1);
        for (int l = j; l >= 0; --l) {
          shifted += factor * sums.b[std::size_t(l)];
          factor *= -mean / C(j - l + 1);
        }
        sums.central[std::size_t(j)] = shifted + open[std::size_t(j)];
      }
      if (order == 1) sums.central[1] = C(0);
      sums.b[1] += open[1];
    } else {
      for (int j = 0; j <= order; ++j)
        sums.central[std::size_t(j)] = sums.b[std::size_t(j)] + open[std::size_t(j)];
    }
    if (recentres) {
      sums.b[0] = sums.central[0];
      sums.b[1] = mean * sums.central[0];
    } else {
      for (int j = 0; j <= order; ++j) sums.b[std::size_t(j)] = sums.central[std::size_t(j)];
    }
    truncated.base = -infinity<C>;
    truncated.a.fill(C(0));
    if (has_linear)
      truncated.take(sums.central.data(), order, form, mean, given.empty() ? nullptr : given.data(),
                     first + recent > 0);

    // the exact ones, and all of them over one total
    C top = has_linear ? truncated.base : -infinity<C>;
    const auto exact = [&](const auto& f) {
      for (index_t j = 0; j < first; ++j) f(j);
      for (index_t j = first + linear; j < visible; ++j) f(j);
    };
    if (first + recent > 0) {
      if (decay < 1) {
        const C log_decay = logarithm(C(decay));
        exact([&](index_t j) {
          const index_t age_of = j < first ? last - j : visible - 1 - j;
          u[j] += T(log_decay * C(double(age_of)));
        });
      }
      exact([&](index_t j) { top = max_of(top, C(u[j])); });
    }
    C total(0);
    exact([&](index_t j) {
      const C term = exponential(C(C(u[j]) - top));
      u[j] = T(term);
      total += term;
    });
    const bool alone = first + recent == 0;  // then top is the base
    const C lift = alone ? C(1) : has_linear ? exponential(C(truncated.base - top)) : C(0);
    total += lift * truncated.mass;
    const C share = lift / total;
    exact([&](index_t j) { u[j] = T(C(u[j]) / total); });
    std::array<C, truncated_row<C>::room> a;
    if (has_linear) {
      C factorial(1);
      for (int j = 0; j <= order; ++j) {
        if (j > 0) factorial *= C(j);
        a[std::size_t(j)] = truncated.a[std::size_t(j)] / factorial * share;
      }
      to_polynomial(u + first, weight, linear, mean, a);
    }
    if (!has_linear) {
      for (index_t j = first; j < first + linear; ++j) u[j] = T(0);
      for (int l = 0; l <= order; ++l) of_sums[l] = T(0);
    } else if (has_sums) {
      // sum_j a_j (u - mean)^j / j! as a polynomial in u
      for (int l = 0; l <= order; ++l) {
        C g(0), factor(1);
        for (int j = l; j <= order; ++j) {
          g += truncated.a[std::size_t(j)] * factor;
          factor *= -mean / C(j - l + 1);
        }
        of_sums[l] = T(g * share * age);
      }
    }
    sums.base = truncated.base;
    sums.mass = truncated.mass;
    sums.cut = has_linear ? truncated.cut : C(0);
    sums.top = top;
    sums.total = total;
    sums.status = !is_finite(total) || !is_finite(top)   ? linear_status::invalid
                  : C(0) < truncated.mass || !has_linear ? linear_status::positive
                                                         : linear_status::nonpositive;
  }

 private:
  /// u_i = w_i sum_j a_j (u_i - mean)^j, j = 0..order; w null for ones. In C where a coefficient is too small for T and the
  /// power of a large score makes up for it.
  void to_polynomial(T* u, const T* w, index_t n, const C& mean,
                     const std::array<C, truncated_row<C>::room>& a) const noexcept {
    std::array<T, truncated_row<C>::room> rounded;
    bool small = false;
    for (std::size_t j = 0; j <= std::size_t(order); ++j) {
      rounded[j] = T(a[j]);
      const C size = absolute(a[j]);
      small = small || (C(0) < size && size < C(std::numeric_limits<T>::min()));
    }
    if (!std::same_as<T, C> && small) {
      C reach(0), lost(0), power(1);
      for (index_t i = 0; i < n; ++i) reach = max_of(reach, absolute(C(C(u[i]) - mean)));
      for (std::size_t j = 0; j <= std::size_t(order); ++j, power *= reach)
        lost += absolute(C(a[j] - C(rounded[j]))) * power;
      if (C(unit_roundoff<T>) < C(double(n)) * lost) {
        for (index_t i = 0; i < n; ++i) {
          C p(0);
          for (int j = order; j >= 0; --j) p = p * (C(u[i]) - mean) + a[std::size_t(j)];
          u[i] = T(w == nullptr ? p : C(p * C(w[i])));
        }
        return;
      }
    }
    kernels::polynomial_row(u, w, n, T(mean), rounded.data(), order, u);
  }
};

}  // namespace cumulus::detail
