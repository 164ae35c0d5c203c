// SPDX-License-Identifier: MIT
//
// Linear attention's memory of the keys and values so far: of a size that does not grow with them.
// Layer 5 (attention): uses core, kernels, exact and series.
#pragma once

#include <cumulus/attention/feature_sums.hpp>
#include <cumulus/attention/linear_weights.hpp>
#include <cumulus/attention/truncation_bound.hpp>
#include <cumulus/attention/waiting_tokens.hpp>
#include <cumulus/kernels/dot_rows.hpp>
#include <memory>
#include <span>

namespace cumulus {

/// What one query reads.
template <class T>
struct linear_read {
  Eigen::Matrix<T, Eigen::Dynamic, 1> output;  ///< [e]
  T log_sum_exp;  ///< of the scaled scores, as the truncation sees it; NaN where its mass is not positive
  linear_status status;
};

/// sum_f (monomial f of k - c) (v, 1) over all keys k and values v so far, to an order: what truncated softmax attention of
/// any later query needs of them.
///
/// A monoid for tokens in their order: a += b is a's tokens, then b's; without decay, window and sinks the order is no
/// matter, and the empty state is the identity.
///
/// The newest keys wait in their own form and are met by their scores, as in the causal prefill of attention/linear.hpp,
/// which runs on this class: so a token at a time, a block at a time and any mix give the same, to rounding. The reference
/// c follows the running mean of the keys (where `centred`; else it is 0) by the exact shift
///
///     monomial of (k - c) + (c - c')  =  sum over parts of the monomial:  (part of k - c) (rest of c - c')
///
/// so that powers of scores do not cancel; the powers are then recentred for each query, in score space:
/// sum (u - h)^j / j!  =  sum_l (-h)^(j-l) / (j-l)!  sum u^l / l!.
///
/// Shape    keys [d], values [e].
/// Edges    a NaN or an infinity in a key or a value stays in the state. It reaches no query before it.
/// Error    sums are kept as a rounded number and what it lacks: no drift, u^2 a token; after 10^7 tokens measured 5e-16 in double
///          and 2e-7 in float. A read takes the rounded numbers: measured, of the output, 1e-15 and 5e-7 at orders 1 to 3 and
///          scores of standard deviation 1; tests/attention/linear_test.cpp asserts 1e-12 and 1e-5.
/// Cost     with F = feature_count(d, order): a token 2 F (e + 1) operations, a read as many, and those of up to `chunk`
///          waiting tokens, d + e each; a merge 2^order F (e + 1). read allocates its result only.
/// Threads  one state may be read from several threads at a time, but for one of linear_way::scores.
/// Source   the recurrences are those of central moments (P. Pebay, SAND2008-6212) in packed tensors; order 1: A. Kuzina,
///          P. Whatmough, B. Ehteshami Bejnordi, arXiv 2607.07706; orders 2 and more: F. Heinsen, L. Kozachkov,
///          arXiv 2602.00294 (uncentred).
template <class T>
class linear_attention_state {
  static_assert(!std::integral<T>);
  using C = compute_scalar<T>;
  using numbers = detail::aligned_vector<T>;
  static constexpr index_t tall = 24;  // queries at a time
  static constexpr index_t few = 4;    // queries whose scores are taken one by one

 public:
  using scalar = T;

  linear_attention_state(index_t d, index_t e, const linear_attention_options& o)
      : d_(d),
        e_(e),
        asked_(o.order),
        follows_(o.centred),
        grows_(o.way == linear_way::scores),
        weights_(o),
        sums_(checked(d, e, o)),
        waiting_(d, e) {
    scale_ = T(o.scale ? *o.scale : 1 / std::sqrt(double(d)));
    reference_.assign(std::size_t(d), T(0));
    chunk_ = o.chunk > 0 ? o.chunk : automatic_chunk(sums_.count());
    reserve(o.sinks + o.window + chunk_);
  }

  [[nodiscard]] index_t width() const noexcept { return d_; }
  [[nodiscard]] index_t value_width() const noexcept { return e_; }
  [[nodiscard]] int order() const noexcept { return asked_; }
  /// Tokens so far.
  [[nodiscard]] index_t size() const noexcept { return seen_; }
  [[nodiscard]] bool empty() const noexcept { return seen_ == 0; }
  [[nodiscard]] index_t features() const noexcept { return sums_.count(); }
  /// What the keys are taken relative to.
  [[nodiscard]] std::span<const T> reference() const noexcept { return reference_; }
  /// Of the sums and the tokens that wait.
  [[nodiscard]] std::size_t bytes() const noexcept {
    return sums_.bytes() + waiting_.bytes() + sizeof(T) * reference_.size();
  }
  /// Of what a read of one query takes from memory, without the tokens that wait.
  [[nodiscard]] std::size_t read_bytes() const noexcept { return sums_.read_bytes(); }

  /// One token.
  template <real_vector K, real_vector V>
  void add(const K& key, const V& value) {
    const operand<T> k(key), v(value);
    require_same_size("linear_attention_state::add", "the state's key", d_, "key", k.size());
    require_same_size("linear_attention_state::add", "the state's value", e_, "value", v.size());
    make_room(1);
    T* const to = waiting_.key(waiting_.size());
    const auto a = k.view(), b = v.view();
    for (index_t i = 0; i < d_; ++i) to[i] = a[i];
    T* const value_to = waiting_.value(waiting_.size());
    for (index_t i = 0; i < e_; ++i) value_to[i] = b[i];
    settle(1);
  }

  /// Tokens, a row each: keys [m, d], values [m, e].
  void add_rows(const token_rows<T>& keys, const token_rows<T>& values) {
    require_tokens("linear_attention_state::add_rows", keys, values);
    for (index_t t = 0; t < keys.size();) t += append(keys, values, t, keys.size() - t);
  }

  /// The tokens that wait, but those that are kept exact, enter the sums now: worth it before many queries.
  void fold() {
    if (!grows_) fold_open(waiting_.size() - kept() - weights_.window);
  }

  /// What this query reads; its score with a key is scale q k.
  /// Edges    refused where there is no key.
  template <real_vector Q>
  [[nodiscard]] linear_read<T> read(const Q& query) const {
    linear_read<T> result;
    result.output.resize(e_);
    const operand<T> q(query);
    require_same_size("linear_attention_state::read", "the state's key", d_, "query", q.size());
    require_keys("linear_attention_state::read");
    const auto v = q.view();
    const auto from = [&](const T* row) {
      read_rows(row, d_, 1, result.output.data(), e_, &result.log_sum_exp, &result.status);
    };
    if (v.stride == 1) {
      from(v.data);
    } else {
      Eigen::Matrix<T, Eigen::Dynamic, 1> row(d_);
      for (index_t i = 0; i < d_; ++i) row[i] = v[i];
      from(row.data());
    }
    return result;
  }

  /// The same into the caller's memory, for n queries in rows of a stride; null log_sum_exp and status are not written.
  void read_rows(const T* queries, index_t stride, index_t n, T* output, index_t output_stride,
                 T* log_sum_exp, linear_status* status, index_t line = 1) const {
    transpose_keys(n);
    for (index_t i = 0; i < n; i += tall) {
      const index_t count = n - i < tall ? n - i : tall;
      evaluate(queries + i * stride, stride, count, waiting_.size(), false,
               output + i * output_stride, output_stride,
               log_sum_exp == nullptr ? nullptr : log_sum_exp + i * line,
               status == nullptr ? nullptr : status + i * line, line);
    }
  }

  /// The log-sum-exp that a query reads, with a bound on its truncation from the moments and the range that the longest key
  /// allows, |u| <= scale |q| max |k - c|. +inf bounds nothing: an order of form::moment that is odd, or weights of a given
  /// polynomial.
  template <real_vector Q>
  [[nodiscard]] estimate<T> log_sum_exp(const Q& query) const {
    const linear_read<T> result = read(query);
    const int order = weights_.order;
    estimate<T> out{result.log_sum_exp, infinity<T>, asked_, bound_kind::none, weights_.form};
    if (is_nan(result.log_sum_exp)) return out.bound = result.log_sum_exp, out;
    const scratch& room = workspace();
    const typename linear_weights<T>::row& sums = room.rows[0];
    const bool exact = !(C(0) < sums.b[0]);
    if (!exact && (!weights_.given.empty() || order < 1)) return out;
    C norm(0), origin(0);
    for (index_t i = 0; i < d_; ++i) {
      const C q(room.queries[std::size_t(i)]), c(reference_[std::size_t(i)]);
      norm += q * q;
      origin += c * c;
    }
    const C u = unit_roundoff<T>, slack = C(double(d_ + 16)) * u;
    const C reach = square_root(C(norm * longest_)) * (1 + slack);
    const T rounding =
        T(slack * (C(1) + absolute(C(out.value)) + reach + square_root(C(norm * origin))));
    if (exact) return out.bound = rounding, out.kind = bound_kind::exact, out;
    const auto truncated = truncation_bound(sums, order, weights_.form, reach, u);
    out.bound = T(truncated.bound +
                  slack * (C(1) + absolute(C(out.value)) + reach + square_root(C(norm * origin))));
    out.kind = truncated.kind;
    return out;
  }

  /// The tokens of another after ours. Requires one width, order, form and options.
  linear_attention_state& operator+=(const linear_attention_state& other) {
    require_same_size("linear_attention_state", "this", d_, "other", other.d_);
    require_same_size("linear_attention_state", "this", e_, "other", other.e_);
    const linear_weights<T>&a = weights_, &c = other.weights_;
    if (asked_ != other.asked_ || a.form != c.form || a.centred != c.centred ||
        a.window != c.window || a.sinks != c.sinks || a.decay < c.decay || c.decay < a.decay ||
        a.given != c.given || grows_ != other.grows_)
      refuse("linear_attention_state: states of order " + std::to_string(asked_) + " and " +
             std::to_string(other.asked_) + ", or of other options, do not add");
    if (other.empty()) return *this;
    if (empty()) return *this = other;
    linear_attention_state b = other;
    b.move_to(reference_);
    const index_t kept = b.kept();  // b's first tokens, where they are kept apart
    const index_t folded = b.seen_ - b.waiting_.size();
    index_t taken = 0;  // of b's first, to fill our own
    while (folded > 0 && waiting_.size() == seen_ && seen_ < weights_.sinks && taken < kept) {
      append_relative(b, taken++);
    }
    if (folded == 0) {
      for (index_t j = 0; j < b.waiting_.size(); ++j) append_relative(b, j);
      return *this;
    }
    fold_open(waiting_.size() - this->kept());
    b.move_to(reference_);              // ours may have moved on
    const index_t end = folded + kept;  // of b's tokens that are older than those that wait
    const T age = T(linear_weights<T>::power(weights_.decay, end - taken));
    sums_.merge(b.sums_, age);
    squares_ = squares_ * C(age) + b.squares_;
    for (index_t j = taken; j < kept; ++j) {
      const T weight = T(linear_weights<T>::power(weights_.decay, end - 1 - j));
      squares_ += C(weight) * b.waiting_.square(j);
      sums_.fold(b.waiting_.key(j), b.waiting_.value(j), 1, &weight, T(1), workspace().features);
    }
    seen_ += end - taken;
    longest_ = max_of(longest_, b.longest_);
    for (index_t j = kept; j < b.waiting_.size(); ++j) append_relative(b, j);
    return *this;
  }
  [[nodiscard]] friend linear_attention_state operator+(linear_attention_state a,
                                                        const linear_attention_state& b) {
    return a += b;
  }

  // For attention/linear.hpp: a block of tokens enters, its queries are answered, the next one enters.

  /// How many tokens can enter before older ones leave for the sums.
  [[nodiscard]] index_t room() const noexcept { return waiting_.room(); }

  /// Takes in tokens t, t + 1, .. of these, at most `most`; returns how many.
  index_t append(const token_rows<T>& keys, const token_rows<T>& values, index_t t, index_t most) {
    make_room(most);
    const index_t count = most < room() ? most : room();
    for (index_t j = 0; j < count; ++j) {
      std::copy_n(keys.row(t + j), d_, waiting_.key(waiting_.size() + j));
      std::copy_n(values.row(t + j), e_, waiting_.value(waiting_.size() + j));
    }
    settle(count);
    return count;
  }

  /// The last n tokens' own queries: each sees the tokens up to its own. Requires n <= what append took last.
  void read_causal(const T* queries, index_t stride, index_t n, T* output, index_t output_stride,
                   T* log_sum_exp, linear_status* status, index_t line) const {
    transpose_keys(n);
    for (index_t i = 0; i < n; i += tall) {
      const index_t count = n - i < tall ? n - i : tall;
      evaluate(queries + i * stride, stride, count, waiting_.size() - (n - i - count), true,
               output + i * output_stride, output_stride, log_sum_exp + i * line, status + i * line,
               line);
    }
  }

 private:
  /// What reads and sums work in.
  struct scratch {
    feature_workspace<T> features;
    numbers queries, by_degree, scores, transposed, row;
    std::vector<typename linear_weights<T>::row> rows;
    std::vector<C> dots;
    std::array<T, truncated_row<C>::room> of_sums;
  };
  /// No part of the state: a copy has its own, empty.
  struct own_scratch {
    mutable std::unique_ptr<scratch> at;
    own_scratch() = default;
    own_scratch(const own_scratch&) {}
    own_scratch(own_scratch&&) noexcept = default;
    own_scratch& operator=(const own_scratch&) { return *this; }
    own_scratch& operator=(own_scratch&&) noexcept = default;
    ~own_scratch() = default;
  };
  /// One for all states of a thread, so that it stays in the caches; but where all keys are kept, which may take much room.
  [[nodiscard]] scratch& workspace() const {
    if (grows_) {
      if (own_.at == nullptr) own_.at = std::make_unique<scratch>();
      return *own_.at;
    }
    static thread_local scratch shared;
    return shared;
  }

  [[nodiscard]] static index_t automatic_chunk(index_t features) noexcept {
    return features < 128 ? 8 : features < 512 ? 16 : features < 2048 ? 64 : 128;
  }
  /// The order of the sums, once the options are checked.
  [[nodiscard]] static feature_sums<T> checked(index_t d, index_t e,
                                               const linear_attention_options& o) {
    const bool grows = o.way == linear_way::scores;
    detail::require_linear_options("linear_attention_state", d, e, o, sizeof(T), !grows);
    return {d, e, grows ? 0 : linear_weights<T>(o).order};
  }
  static void grow(numbers& x, index_t n) { feature_workspace<T>::grow(x, n); }

  void reserve(index_t tokens) {
    waiting_.reserve(tokens);
    weights_.reserve(tokens);
  }
  /// First tokens that are kept.
  [[nodiscard]] index_t kept() const noexcept { return std::min(waiting_.size(), weights_.sinks); }

  void require_tokens(const char* function, const token_rows<T>& keys,
                      const token_rows<T>& values) const {
    require_same_size(function, "a key of the state", d_, "a key", keys.width());
    require_same_size(function, "a value of the state", e_, "a value", values.width());
    require_same_size(function, "keys", keys.size(), "values", values.size());
  }
  void require_keys(const char* function) const {
    if (empty()) refuse(std::string(function) + ": a query, but 0 keys");
  }

  /// Room for one token at least, for `wanted` as far as that is worth it.
  void make_room(index_t wanted) {
    if (room() >= wanted || (!grows_ && room() >= chunk_)) return;
    if (grows_) {
      reserve(std::max(waiting_.size() + wanted, 2 * waiting_.capacity()));
    } else {
      fold_open(waiting_.size() - kept() - weights_.window);
    }
  }

  /// `count` tokens, as they are, have come to the end of those that wait.
  void settle(index_t count) {
    T* const z = waiting_.key(waiting_.size());
    if (seen_ == 0 && follows_) {
      for (index_t i = 0; i < d_ && count > 0; ++i)
        reference_[std::size_t(i)] = is_finite(z[i]) ? z[i] : T(0);
    }
    if (follows_) {
      for (index_t j = 0; j < count; ++j)
        kernels::subtract_rows(z + j * d_, reference_.data(), z + j * d_, d_);
    }
    take_in(count);
  }

  /// The same of keys that are relative to the reference.
  void take_in(index_t count) {
    for (index_t j = waiting_.size(); j < waiting_.size() + count; ++j)
      longest_ = max_of(longest_, waiting_.square(j));
    waiting_.push(count);
    seen_ += count;
  }

  /// A token that waits in another state of the same reference.
  void append_relative(const linear_attention_state& b, index_t j) {
    make_room(1);
    std::vector<T> key(b.waiting_.key(j), b.waiting_.key(j + 1));
    if (reference_ != b.reference_) {  // ours moved on as room was made
      for (index_t i = 0; i < d_; ++i)
        key[std::size_t(i)] += b.reference_[std::size_t(i)] - reference_[std::size_t(i)];
    }
    std::copy_n(key.data(), d_, waiting_.key(waiting_.size()));
    std::copy_n(b.waiting_.value(j), e_, waiting_.value(waiting_.size()));
    take_in(1);
  }

  /// The oldest `count` tokens that wait, after the first ones, leave for the sums.
  void fold_open(index_t count) {
    if (count <= 0) return;
    const index_t first = kept();
    if (follows_) follow(first, count);
    const T keep = T(linear_weights<T>::power(weights_.decay, count));
    squares_ = squares_ * C(keep) + waiting_.square(first, count);
    sums_.fold(waiting_.key(first), waiting_.value(first), count, weights_.last_ages(count), keep,
               workspace().features);
    waiting_.drop(first, count);
  }

  /// Moves the reference to the mean of the keys where that lies beyond two of their standard deviations.
  void follow(index_t first, index_t count) {
    if (sums_.order() == 0) return;
    C total = sums_.weight();
    std::vector<T> sum(sums_.keys(), sums_.keys() + d_);
    for (index_t j = 0; j < count; ++j)
      kernels::add_row(waiting_.key(first + j), T(1), sum.data(), d_);
    std::vector<C> mean(sum.begin(), sum.end());
    total += C(double(count));
    C square(0);
    for (C& x : mean) {
      x /= total;
      square += x * x;
    }
    const C spread = (squares_ + waiting_.square(first, count)) / total - square;
    if (!(square * C(double(d_)) > C(4) * spread) || !is_finite(square)) return;
    std::vector<T> to(reference_);
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = T(C(to[i]) + mean[i]);
    move_to(to);
  }

  /// Makes `to` the reference: exact but for rounding.
  void move_to(const std::vector<T>& to) {
    if (reference_ == to) return;
    std::vector<C> by(to.size());  // what keys gain
    C length(0), along(0);
    for (std::size_t i = 0; i < to.size(); ++i) {
      by[i] = C(reference_[i]) - C(to[i]);
      length += by[i] * by[i];
      if (sums_.order() > 0) along += by[i] * C(sums_.keys()[i]);
    }
    squares_ += C(2) * along + C(sums_.weight()) * length;
    reference_ = to;
    sums_.shift(by);
    const C before = square_root(longest_);
    longest_ = waiting_.shift(by);
    if (seen_ > waiting_.size()) {  // keys that the sums have taken in may be that much farther
      const C farthest = before + square_root(length);
      longest_ = max_of(longest_, C(farthest * farthest));
    }
  }

  /// n <= tall queries, of which the last sees `seen` of the tokens that wait; `causal`: each one more than that before it.
  void evaluate(const T* queries, index_t stride, index_t n, index_t seen, bool causal, T* output,
                index_t output_stride, T* log_sum_exp, linear_status* status, index_t line) const {
    scratch& s = workspace();
    const auto at = [](index_t i) { return std::size_t(i); };
    const bool has_sums = !sums_.empty();
    grow(s.queries, n * d_);
    if (s.rows.size() < at(n)) s.rows.resize(at(n));
    if (s.dots.size() < at(std::max(n, waiting_.size())))
      s.dots.resize(at(std::max(n, waiting_.size())));
    for (index_t i = 0; i < n; ++i)
      kernels::scale_row(queries + i * stride, scale_, s.queries.data() + i * d_, d_);

    // what the sums have: for each degree the sum of values times u^j / j!, and of those alone
    if (has_sums) {
      grow(s.by_degree, sums_.order() * n * e_);
      sums_.contract(
          s.queries.data(), n, [&](index_t i) { return s.rows[at(i)].b.data(); },
          s.by_degree.data(), s.features);
    }

    // the scores of those that wait
    const index_t row_length = seen > 0 ? seen : 1;
    grow(s.scores, n * row_length);
    if (n < few) {
      for (index_t i = 0; i < n; ++i) {
        kernels::dot_rows(waiting_.key(0), d_, d_, seen, s.queries.data() + i * d_, s.dots.data());
        for (index_t j = 0; j < seen; ++j) s.scores[at(i * row_length + j)] = T(s.dots[at(j)]);
      }
    } else {
      std::fill_n(s.scores.data(), n * row_length, T(0));
      kernels::add_product(s.queries.data(), d_, index_t(1), s.transposed.data(),
                           waiting_.capacity(), s.scores.data(), row_length, n, d_, seen);
    }

    for (index_t i = 0; i < n; ++i) {
      const index_t visible = causal ? seen - (n - 1 - i) : seen;
      T* const u = s.scores.data() + i * row_length;
      typename linear_weights<T>::row& row = s.rows[at(i)];
      weights_(u, visible, seen_ - waiting_.size() + visible - 1, has_sums, row, s.of_sums.data());
      std::fill_n(u + visible, row_length - visible, T(0));
      T* const out = output + i * output_stride;
      std::fill_n(out, e_, T(0));
      if (has_sums) {
        kernels::add_row(sums_.values(), s.of_sums[0], out, e_);
        for (int j = 1; j <= sums_.order(); ++j)
          kernels::add_row(s.by_degree.data() + ((j - 1) * n + i) * e_, s.of_sums[at(j)], out, e_);
      }
      if (status != nullptr) status[i * line] = row.status;
      if (log_sum_exp != nullptr) {
        const C origin(kernels::dot_product(s.queries.data() + i * d_, reference_.data(), d_));
        log_sum_exp[i * line] =
            row.has_log() ? T(origin + row.top + logarithm(row.total)) : quiet_nan<T>;
      }
    }
    if (n == 1) {
      kernels::add_product(s.scores.data(), row_length, index_t(1), waiting_.value(0), e_, output,
                           output_stride, index_t(1), seen, e_);
      return;
    }
    grow(s.row, n * e_);
    std::fill_n(s.row.data(), n * e_, T(0));
    kernels::add_product(s.scores.data(), row_length, index_t(1), waiting_.value(0), e_,
                         s.row.data(), e_, n, seen, e_);
    const bool all_finite =
        !causal || is_finite(kernels::dot_product(s.row.data(), s.row.data(), n * e_));
    for (index_t i = 0; i < n; ++i) {
      T* const out = output + i * output_stride;
      const T* add = s.row.data() + i * e_;
      if (!all_finite) {
        // a value of a later token, of weight 0, may be no number
        std::fill_n(s.row.data() + i * e_, e_, T(0));
        kernels::add_product(s.scores.data() + i * row_length, row_length, index_t(1),
                             waiting_.value(0), e_, s.row.data() + i * e_, e_, index_t(1),
                             seen - (n - 1 - i), e_);
      }
      kernels::add_row(add, T(1), out, e_);
    }
  }

  /// For blocks of queries.
  void transpose_keys(index_t n) const {
    if (n >= few) waiting_.transpose(workspace().transposed);
  }

  index_t d_, e_;
  int asked_;
  bool follows_, grows_;
  index_t chunk_ = 0;
  T scale_ = T(1);
  linear_weights<T> weights_;
  feature_sums<T> sums_;

  index_t seen_ = 0;
  std::vector<T> reference_;
  C squares_ = C(0);  // sum |k - c|^2 of what is in the sums
  C longest_ = C(0);  // at least max |k - c|^2

  waiting_tokens<T> waiting_;  // the first ones, then the newest; keys less the reference

  own_scratch own_;
};

}  // namespace cumulus
