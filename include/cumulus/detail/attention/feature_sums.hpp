// SPDX-License-Identifier: MIT
//
// Sums of the monomials of keys, alone and times their values: what a truncated softmax needs of the tokens so far.
// Layer 5 (attention): uses core; linear_memory.hpp builds on it.
#pragma once

#include <cumulus/detail/attention/taylor_features.hpp>
#include <cumulus/detail/core/aligned.hpp>
#include <cumulus/detail/simd/dot_rows.hpp>
#include <cumulus/detail/simd/matrix_product.hpp>

namespace cumulus::detail {

/// What sums of features work in: it may serve many.
template <class T>
struct feature_workspace {
  aligned_vector<T> room, tile, row;
  std::vector<compute_scalar<T>> dots;

  static void grow(aligned_vector<T>& x, index_t n) {
    if (x.size() < std::size_t(n)) x.resize(std::size_t(n));
  }
};

/// sum_i w_i phi_f(z_i) (v_i, 1) for every monomial f of d variables up to an order, F = feature_count(d, order) of them.
///
/// Each sum is kept as a number rounded to T and what it lacks, so that no count of tokens makes it drift; reads take the rounded
/// numbers alone. A shift of all z is exact:
///
///     monomial of (z + b)  =  sum over parts of the monomial:  (part, of z) (the rest, of b).
///
/// Shape    z [d], v [e].
/// Cost     fold and contract: 2 F (e + 1) operations a token or query, in panels of features, so that those of the highest
///          degree are never all there; shift: 2^order F (e + 1).
template <class T>
class feature_sums {
  using C = compute_scalar<T>;
  using numbers = aligned_vector<T>;
  static constexpr index_t panel = 128;  // features at a time

 public:
  feature_sums(index_t d, index_t e, int order) : d_(d), e_(e), layout_(d, order) {
    const std::vector<T> weights = feature_weights<T>(layout_);
    weights_.assign(weights.begin(), weights.end());
    const std::size_t F = weights.size();
    sums_.assign(F, T(0));
    sums_low_.assign(F, T(0));
    values_.assign(F * std::size_t(e), T(0));
    values_low_.assign(F * std::size_t(e), T(0));
  }

  [[nodiscard]] int order() const noexcept { return layout_.order(); }
  [[nodiscard]] index_t count() const noexcept { return layout_.count(); }
  [[nodiscard]] bool empty() const noexcept { return !(T(0) < sums_[0]) && !is_nan(sums_[0]); }
  /// sum w
  [[nodiscard]] const T& weight() const noexcept { return sums_[0]; }
  /// sum w z, of order 1 and more, and sum w v
  [[nodiscard]] const T* keys() const noexcept { return sums_.data() + 1; }
  [[nodiscard]] const T* values() const noexcept { return values_.data(); }
  /// What contract reads, and all there is.
  [[nodiscard]] std::size_t read_bytes() const noexcept {
    return sizeof(T) * (sums_.size() + values_.size());
  }
  [[nodiscard]] std::size_t bytes() const noexcept { return 2 * read_bytes(); }

  /// sums = keep sums + the features of these tokens, of such weights or of 1.
  void fold(const T* z, const T* v, index_t count, const T* weight, T keep,
            feature_workspace<T>& s) {
    const index_t most = layout_.widest(panel);
    s.grow(s.room, layout_.scratch(count, panel));
    s.grow(s.tile, std::max(most * e_, most));
    const T* values = v;
    if (weight != nullptr) {
      s.grow(s.row, count * e_);
      for (index_t t = 0; t < count; ++t)
        kernels::scale_row(v + t * e_, weight[t], s.row.data() + t * e_, e_);
      values = s.row.data();
    }
    const auto take = [&](index_t first, index_t width, const T* monomials, index_t step,
                          index_t row) {
      T* const tile = s.tile.data();
      std::fill_n(tile, width * e_, T(0));
      kernels::add_product(monomials, row, step, values, e_, tile, e_, width, count, e_);
      kernels::fold_row(tile, keep, values_.data() + first * e_, values_low_.data() + first * e_,
                        width * e_);
      std::fill_n(tile, width, T(0));
      for (index_t t = 0; t < count; ++t) {
        const T* const from = monomials + t * step;
        if (row == 0) {
          tile[0] += weight == nullptr ? T(1) : weight[t];
        } else {
          kernels::add_row(from, weight == nullptr ? T(1) : weight[t], tile, width);
        }
      }
      kernels::fold_row(tile, keep, sums_.data() + first, sums_low_.data() + first, width);
    };
    const T one(1);
    take(0, 1, &one, 0, 0);
    layout_.for_each_panel(z, d_, count, panel, s.room.data(),
                           [&](int, index_t first, index_t width, const T* monomials,
                               index_t stride) { take(first, width, monomials, stride, 1); });
  }

  /// sums = keep sums + those of another.
  void merge(const feature_sums& b, T keep) {
    const auto both = [&](numbers& high, numbers& low, const numbers& x, const numbers& x_low) {
      const index_t n = index_t(high.size());
      kernels::fold_row(x_low.data(), keep, high.data(), low.data(), n);
      kernels::fold_row(x.data(), T(1), high.data(), low.data(), n);
    };
    both(sums_, sums_low_, b.sums_, b.sums_low_);
    both(values_, values_low_, b.values_, b.values_low_);
  }

  /// The sums of monomials of z + by, from those of z: the highest degree first, in place.
  void shift(const std::vector<C>& by) {
    std::vector<C> gain(std::size_t(e_) + 1);
    std::vector<T> rounded(std::size_t(e_) + 1);
    for (int degree = layout_.order(); degree >= 1; --degree) {
      layout_.for_each([&](index_t f, const index_t* variable, int p) {
        if (p != degree) return;
        std::fill(gain.begin(), gain.end(), C(0));
        index_t part[max_feature_order];
        for (unsigned chosen = 0; chosen + 1 < (1u << p); ++chosen) {
          C factor(1);
          int size = 0;
          for (int k = 0; k < p; ++k) {
            if ((chosen >> k & 1u) != 0) {
              part[size++] = variable[k];
            } else {
              factor *= by[std::size_t(variable[k])];
            }
          }
          const auto from = std::size_t(size == 0 ? 0 : layout_.position(part, size));
          gain[std::size_t(e_)] += factor * (C(sums_[from]) + C(sums_low_[from]));
          for (std::size_t j = 0; j < std::size_t(e_); ++j) {
            const std::size_t at = from * std::size_t(e_) + j;
            gain[j] += factor * (C(values_[at]) + C(values_low_[at]));
          }
        }
        const auto fold_gain = [&](const C* x, T* high, T* low, index_t n) {
          for (index_t j = 0; j < n; ++j) rounded[std::size_t(j)] = T(x[j]);
          kernels::fold_row(rounded.data(), T(1), high, low, n);
          for (index_t j = 0; j < n; ++j)
            rounded[std::size_t(j)] = T(x[j] - C(rounded[std::size_t(j)]));
          kernels::fold_row(rounded.data(), T(1), high, low, n);
        };
        fold_gain(gain.data(), values_.data() + f * e_, values_low_.data() + f * e_, e_);
        fold_gain(gain.data() + e_, sums_.data() + f, sums_low_.data() + f, 1);
      });
    }
  }

  /// For n queries: powers(i)[j] = sum w (q_i z)^j / j!, j = 0..order, and by_degree[((j - 1) n + i) e ..] the same times v,
  /// j >= 1; for j = 0 that is values().
  template <class Powers>
  void contract(const T* q, index_t n, const Powers& powers, T* by_degree,
                feature_workspace<T>& s) const {
    std::fill_n(by_degree, order() * n * e_, T(0));
    for (index_t i = 0; i < n; ++i) {
      powers(i)[0] = C(sums_[0]);
      for (int j = 1; j <= order(); ++j) powers(i)[j] = C(0);
    }
    const index_t most = layout_.widest(panel);
    s.grow(s.room, layout_.scratch(n, panel));
    s.grow(s.tile, n * most);
    if (s.dots.size() < std::size_t(n)) s.dots.resize(std::size_t(n));
    layout_.for_each_panel(
        q, d_, n, panel, s.room.data(),
        [&](int degree, index_t first, index_t width, const T* monomials, index_t step) {
          if (degree > 1) {
            for (index_t i = 0; i < n; ++i)
              kernels::multiply_row(monomials + i * step, weights_.data() + first,
                                    s.tile.data() + i * width, width);
            monomials = s.tile.data();
            step = width;
          }
          kernels::dot_rows(monomials, step, width, n, sums_.data() + first, s.dots.data());
          for (index_t i = 0; i < n; ++i) powers(i)[degree] += s.dots[std::size_t(i)];
          kernels::add_product(monomials, step, index_t(1), values_.data() + first * e_, e_,
                               by_degree + (degree - 1) * n * e_, e_, n, width, e_);
        });
  }

 private:
  index_t d_, e_;
  feature_layout layout_;
  numbers weights_;
  numbers sums_, sums_low_;      // [F]
  numbers values_, values_low_;  // [F, e]
};

}  // namespace cumulus::detail
