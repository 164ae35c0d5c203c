// SPDX-License-Identifier: MIT
//
// Linear attention a token at a time: a state of the keys and values so far, of a size that does not grow with them.
// Layer 5 (attention): uses core, exact and series.
#pragma once

#include <cumulus/core/estimate.hpp>
#include <cumulus/core/into.hpp>
#include <cumulus/core/token_rows.hpp>
#include <cumulus/detail/attention/linear_memory.hpp>
#include <cumulus/detail/attention/linear_sizes.hpp>
#include <cumulus/detail/attention/truncation_bound.hpp>
#include <cumulus/detail/simd/dot_rows.hpp>
#include <optional>
#include <span>

namespace cumulus {

namespace detail {
struct linear_prefill;
}  // namespace detail

/// sum_f (monomial f of k - c) (v, 1) over all keys k and values v so far, to an order: what truncated softmax attention of
/// any later query needs of them.
///
/// A monoid for tokens in their order: a += b is a's tokens, then b's; without decay, window and first tokens the order is no
/// matter, and the empty state is the identity.
///
/// The newest keys wait in their own form and are met by their scores, as in the causal prefill of attention/linear.hpp,
/// which runs on this class: so a token at a time, a block at a time and any mix give the same, to rounding. The reference
/// c is the median of the keys until some enter the sums. From then on it follows their mean (where `centred`; else it is 0) by
/// the exact shift
///
///     monomial of (k - c) + (c - c')  =  sum over parts of the monomial:  (part of k - c) (rest of c - c')
///
/// so that powers of scores do not cancel. Each query recentres the powers in score space:
/// sum (u - h)^j / j!  =  sum_l (-h)^(j-l) / (j-l)!  sum u^l / l!.
///
/// Up to 8 keys that lie far from all others, such as the first key of many models, stay out of the sums and are met by their
/// scores: their powers would cost the digits of the others.
///
/// Shape    keys [d], values [e].
/// Edges    a NaN or an infinity in a key or a value stays in the state. It reaches no query before it. A state of more bytes
///          than options.memory_limit is refused; the tokens that wait, which grow up to first_tokens, window and chunk, do
///          not count. A read of the empty state gives zeros with log-sum-exp -inf.
/// Error    sums are kept as a rounded number and what it lacks: no drift, u^2 a token; after 10^7 tokens measured 5e-16 in
///          double and 2e-7 in float. A read takes the rounded numbers: measured, of the output, 1e-15 and 5e-7 at orders 1
///          to 3 and scores of standard deviation 1; tests/attention/linear_test.cpp asserts 1e-12 and 1e-5. Up to
///          8 keys at any distance from the others cost no more than that.
/// Cost     with F = feature_count(d, order): a token 2 F (e + 1) operations, a read as many, and those of up to `chunk`
///          waiting tokens, d + e each; a merge 2^order F (e + 1). read allocates its result only.
/// Threads  one state may be read from several threads at a time, but for one of linear_method::scores.
/// Source   the recurrences are those of central moments (P. Pebay, SAND2008-6212) in packed tensors; order 1: A. Kuzina,
///          P. Whatmough, B. Ehteshami Bejnordi, arXiv 2607.07706; orders 2 and more: F. Heinsen, L. Kozachkov,
///          arXiv 2602.00294 (uncentred).
template <class T>
class linear_attention_state {
  static_assert(!std::integral<T>);
  using C = detail::compute_scalar<T>;
  using numbers = detail::aligned_vector<T>;
  static constexpr index_t tall = 24;  // queries at a time
  static constexpr index_t few = 4;    // queries whose scores are taken one by one

 public:
  /// The scalar of keys, values and sums.
  using scalar = T;

  /// The result of one query.
  struct reading {
    Eigen::Matrix<T, Eigen::Dynamic, 1> output;  ///< [e]
    /// The log-sum-exp of the scaled scores by the truncated series; NaN where that sum is no positive number.
    T logsumexp;
    linear_status status;  ///< whether the sum is positive
  };
  /// The result of one query whose output is written elsewhere.
  struct reading_mass {
    T logsumexp;           ///< as in reading
    linear_status status;  ///< as in reading
  };

  /// Makes the state of no tokens, of keys of d numbers and values of e. Refuses options that do not fit, by name.
  linear_attention_state(index_t d, index_t e, const linear_state_options& o = {})
      : asked_(o.order), memory_(d, e, checked(d, e, o)) {
    scale_ = T(detail::score_scale(o.scale, d));
  }

  /// Bytes of the sums of a state, without the tokens that wait. The greatest std::size_t where they do not fit.
  [[nodiscard]] static constexpr std::size_t bytes(index_t d, index_t e, int order) noexcept {
    return detail::linear_state_bytes(d, e, order, sizeof(T));
  }
  /// The context from which a decode step reads fewer bytes of state than of keys and values:
  /// binomial(d + order, order) (e + 1) / (d + e).
  [[nodiscard]] static constexpr double crossover(index_t d, index_t e, int order) noexcept {
    return double(detail::feature_count(d, order)) * double(e + 1) / double(d + e);
  }

  /// The numbers of a key, d.
  [[nodiscard]] index_t width() const noexcept { return memory_.width(); }
  /// The numbers of a value, e.
  [[nodiscard]] index_t value_width() const noexcept { return memory_.value_width(); }
  /// The order that the state was made for.
  [[nodiscard]] int order() const noexcept { return asked_; }
  /// Tokens so far.
  [[nodiscard]] index_t size() const noexcept { return memory_.size(); }
  /// Whether no token was added.
  [[nodiscard]] bool empty() const noexcept { return size() == 0; }
  /// The monomials of a key that the sums hold.
  [[nodiscard]] index_t features() const noexcept { return memory_.sums().count(); }
  /// What the keys are taken relative to.
  [[nodiscard]] std::span<const T> reference() const noexcept { return memory_.reference(); }
  /// Of the sums and the tokens that wait.
  [[nodiscard]] std::size_t bytes() const noexcept { return memory_.bytes(); }
  /// Of what a read of one query takes from memory, without the tokens that wait.
  [[nodiscard]] std::size_t read_bytes() const noexcept { return memory_.sums().read_bytes(); }

  /// One token.
  template <real_vector K, real_vector V>
  void add(const K& key, const V& value) {
    const detail::operand<T> k(key), v(value);
    detail::require_same_size("linear_attention_state::add", "the state's key", width(), "key",
                              k.size());
    detail::require_same_size("linear_attention_state::add", "the state's value", value_width(),
                              "value", v.size());
    memory_.add(k.view(), v.view());
  }

  /// Tokens, a row each: keys [m, d], values [m, e].
  void add_rows(const token_rows<T>& keys, const token_rows<T>& values) {
    require_tokens("linear_attention_state::add_rows", keys, values);
    for (index_t t = 0; t < keys.size();) t += memory_.append(keys, values, t, keys.size() - t);
  }

  /// The tokens that wait, but those that are kept exact, enter the sums now: worth it before many queries.
  void fold() { memory_.fold(); }

  /// What this query reads; its score with a key is scale q k.
  template <real_vector Q>
  [[nodiscard]] reading read(const Q& query) const {
    reading result;
    result.output.resize(value_width());
    const reading_mass mass = read(query, into(result.output));
    result.logsumexp = mass.logsumexp;
    result.status = mass.status;
    return result;
  }
  /// Written to out, [e], without an allocation where query and out are contiguous and of this scalar.
  template <real_vector Q, out_vector<T> Out>
  reading_mass read(const Q& query, destination<Out> out) const {
    return read_one(query, detail::strided_view(*out), nullptr);
  }

  /// The log-sum-exp that a query reads, with a bound on its truncation from the moments and the range that the longest key
  /// allows, |u| <= scale |q| max |k - c|. +inf bounds nothing: order 0, or weights of a given polynomial.
  template <real_vector Q>
  [[nodiscard]] estimate<T> logsumexp(const Q& query) const {
    Eigen::Matrix<T, Eigen::Dynamic, 1> output(value_width());
    typename detail::linear_weights<T>::row sums;
    const T value = read_one(query, detail::strided_view(output), &sums).logsumexp;
    const int order = memory_.weights().order;
    estimate<T> out{value, detail::infinity<T>, asked_, bound_kind::none, memory_.weights().form};
    if (empty()) {
      out.bound = T(0);
      out.kind = bound_kind::exact;
      return out;
    }
    if (detail::is_nan(value)) {
      out.bound = value;
      return out;
    }
    const bool exact = !(C(0) < sums.b[0]);
    if (!exact && (!memory_.weights().given.empty() || order < 1)) return out;
    const detail::operand<T> q(query);
    C norm(0), origin(0);
    for (index_t i = 0; i < width(); ++i) {
      const C x = C(T(q.view()[i] * scale_)), c = C(memory_.reference()[std::size_t(i)]);
      norm += x * x;
      origin += c * c;
    }
    const C u = C(detail::unit_roundoff<T>), slack = C(double(width() + 16)) * u;
    const C reach = detail::square_root(C(norm * memory_.longest())) * (1 + slack);
    const C rounding = slack * (C(1) + detail::absolute(C(out.value)) + reach +
                                detail::square_root(C(norm * origin)));
    if (exact) {
      out.bound = T(rounding);
      out.kind = bound_kind::exact;
      return out;
    }
    const auto truncated = detail::truncation_bound(sums, order, memory_.weights().form, reach, u);
    out.bound = T(truncated.bound + rounding);
    out.kind = truncated.kind;
    return out;
  }

  /// The tokens of another after ours.
  /// Edges    refused: another width, order, form or scale, or other options, be one of them empty or not.
  linear_attention_state& operator+=(const linear_attention_state& other) {
    detail::require_same_size("linear_attention_state", "this", width(), "other", other.width());
    detail::require_same_size("linear_attention_state", "this", value_width(), "other",
                              other.value_width());
    const detail::linear_weights<T>&a = memory_.weights(), &c = other.memory_.weights();
    if (asked_ != other.asked_ || a.form != c.form || a.centred != c.centred ||
        a.window != c.window || a.first_tokens != c.first_tokens || a.decay < c.decay ||
        c.decay < a.decay || a.given != c.given || memory_.keeps_all() != other.memory_.keeps_all())
      detail::refuse({"linear_attention_state: states of order ", asked_, " and ", other.asked_,
                      ", or of other options, do not add; give both the same options"});
    if (scale_ < other.scale_ || other.scale_ < scale_)
      detail::refuse({"linear_attention_state: states of scale ", double(scale_), " and ",
                      double(other.scale_), " do not add; give both one scale"});
    if (!other.empty()) memory_.merge(other.memory_);
    return *this;
  }
  [[nodiscard]] friend linear_attention_state operator+(linear_attention_state a,
                                                        const linear_attention_state& b) {
    return a += b;
  }

 private:
  friend struct detail::linear_prefill;

  /// n queries in rows of a stride, into rows of another; logsumexp and status of query i at i line. Requires a key.
  void read_rows(const T* queries, index_t stride, index_t n, T* output, index_t output_stride,
                 T* logsumexp, linear_status* status, index_t line,
                 typename detail::linear_weights<T>::row* first_row = nullptr) const {
    transpose_keys(n);
    for (index_t i = 0; i < n; i += tall) {
      const index_t count = n - i < tall ? n - i : tall;
      evaluate(queries + i * stride, stride, count, memory_.waiting().size(), false,
               output + i * output_stride, output_stride, logsumexp + i * line, status + i * line,
               line, i == 0 ? first_row : nullptr);
    }
  }

  /// The last n tokens' own queries: each sees the tokens up to its own. Requires n <= what append took last.
  void read_causal(const T* queries, index_t stride, index_t n, T* output, index_t output_stride,
                   T* logsumexp, linear_status* status, index_t line) const {
    transpose_keys(n);
    for (index_t i = 0; i < n; i += tall) {
      const index_t count = n - i < tall ? n - i : tall;
      evaluate(queries + i * stride, stride, count, memory_.waiting().size() - (n - i - count),
               true, output + i * output_stride, output_stride, logsumexp + i * line,
               status + i * line, line, nullptr);
    }
  }

  /// One query; `sums`, if asked for, becomes what its row rests on.
  template <class Q>
  reading_mass read_one(const Q& query, const detail::strided<T>& out,
                        typename detail::linear_weights<T>::row* sums) const {
    const char* const name = "linear_attention_state::read";
    const detail::operand<T> held(query);
    const auto q = held.view();
    detail::require_same_size(name, "the state's key", width(), "query", q.size);
    detail::require_same_size(name, "the state's value", value_width(), "out", out.size);
    if (empty()) {
      for (index_t j = 0; j < out.size; ++j) out[j] = T(0);
      return {-detail::infinity<T>, linear_status::empty};
    }
    reading_mass mass{};
    Eigen::Matrix<T, Eigen::Dynamic, 1> row, output;  // where one of them is not contiguous
    const T* from = q.data;
    if (q.stride != 1) {
      row.resize(width());
      for (index_t i = 0; i < width(); ++i) row[i] = q[i];
      from = row.data();
    }
    T* to = out.data;
    if (out.stride != 1) {
      output.resize(value_width());
      to = output.data();
    }
    read_rows(from, width(), 1, to, value_width(), &mass.logsumexp, &mass.status, 1, sums);
    for (index_t j = 0; out.stride != 1 && j < out.size; ++j) out[j] = output[j];
    return mass;
  }

  /// What reads and sums work in.
  struct scratch {
    numbers queries, by_degree, scores, transposed, row, ages;
    std::vector<typename detail::linear_weights<T>::row> rows;
    std::vector<C> dots;
    std::array<T, detail::truncated_row<C>::room> of_sums;
  };
  /// No part of the state: a copy has its own, empty.
  struct own_scratch {
    mutable std::optional<scratch> at;
    own_scratch() = default;
    own_scratch(const own_scratch&) {}
    own_scratch(own_scratch&&) noexcept = default;
    own_scratch& operator=(const own_scratch&) { return *this; }
    own_scratch& operator=(own_scratch&&) noexcept = default;
    ~own_scratch() = default;
  };
  /// One for all states of a thread, so that it stays in the caches; but where all keys are kept, which may take much room.
  [[nodiscard]] scratch& workspace() const {
    if (memory_.keeps_all()) {
      if (!own_.at) own_.at.emplace();
      return *own_.at;
    }
    static thread_local scratch shared;
    return shared;
  }

  [[nodiscard]] static const linear_state_options& checked(index_t d, index_t e,
                                                           const linear_state_options& o) {
    detail::require_linear_options("linear_attention_state", d, e, o, sizeof(T),
                                   o.method != linear_method::scores);
    return o;
  }
  static void grow(numbers& x, index_t n) { detail::feature_workspace<T>::grow(x, n); }

  void require_tokens(const char* function, const token_rows<T>& keys,
                      const token_rows<T>& values) const {
    detail::require_same_size(function, "a key of the state", width(), "a key", keys.width());
    detail::require_same_size(function, "a value of the state", value_width(), "a value",
                              values.width());
    detail::require_same_size(function, "keys", keys.size(), "values", values.size());
  }

  /// n <= tall queries, of which the last sees `seen` of the tokens that wait; `causal`: each one more than that before it.
  /// `first_row`, if not null, becomes the row of the first query.
  void evaluate(const T* queries, index_t stride, index_t n, index_t seen, bool causal, T* output,
                index_t output_stride, T* logsumexp, linear_status* status, index_t line,
                typename detail::linear_weights<T>::row* first_row) const {
    scratch& s = workspace();
    const index_t d = width(), e = value_width();
    const detail::feature_sums<T>& sums = memory_.sums();
    const detail::waiting_tokens<T>& waiting = memory_.waiting();
    const auto at = [](index_t i) { return std::size_t(i); };
    const auto demand_finite = [&](index_t i, const T* x, index_t count) {
      bool finite = true;
      for (index_t c = 0; c < count; ++c) finite &= detail::is_finite(x[c]);
      if (!finite && status[i * line] == linear_status::positive)
        status[i * line] = linear_status::invalid;
    };
    const bool has_sums = !sums.empty();
    grow(s.queries, n * d);
    if (s.rows.size() < at(n)) s.rows.resize(at(n));
    if (s.dots.size() < at(std::max(n, waiting.size())))
      s.dots.resize(at(std::max(n, waiting.size())));
    for (index_t i = 0; i < n; ++i)
      detail::kernels::scale_row(queries + i * stride, scale_, s.queries.data() + i * d, d);

    // what the sums have: for each degree the sum of values times u^j / j!, and of those alone
    if (has_sums) {
      grow(s.by_degree, sums.order() * n * e);
      sums.contract(
          s.queries.data(), n, [&](index_t i) { return s.rows[at(i)].b.data(); },
          s.by_degree.data(), memory_.workspace());
    }

    // the scores of those that wait
    const index_t row_length = seen > 0 ? seen : 1;
    grow(s.scores, n * row_length);
    if (n < few) {
      for (index_t i = 0; i < n; ++i) {
        detail::kernels::dot_rows(waiting.key(0), d, d, seen, s.queries.data() + i * d,
                                  s.dots.data());
        for (index_t j = 0; j < seen; ++j) s.scores[at(i * row_length + j)] = T(s.dots[at(j)]);
      }
    } else {
      std::fill_n(s.scores.data(), n * row_length, T(0));
      detail::kernels::add_product(s.queries.data(), d, index_t(1), s.transposed.data(),
                                   waiting.capacity(), s.scores.data(), row_length, n, d, seen);
    }

    for (index_t i = 0; i < n; ++i) {
      const index_t visible = causal ? seen - (n - 1 - i) : seen;
      T* const u = s.scores.data() + i * row_length;
      typename detail::linear_weights<T>::row& row = s.rows[at(i)];
      for (const index_t j : memory_.far()) {
        if (j < visible) u[j] = T(full_score(queries + i * stride, waiting.given(j)));
      }
      const index_t last = size() - waiting.size() + visible - 1;
      const std::vector<index_t>& far = memory_.far_positions();
      if (!far.empty() && memory_.weights().decay < 1) {
        grow(s.ages, visible);
        for (std::size_t j = 0; j < far.size(); ++j)
          s.ages[j] = T(memory_.weights().power(memory_.weights().decay, last - far[j]));
      }
      memory_.weights()(u, visible, index_t(far.size()), s.ages.data(), last, has_sums, row,
                        s.of_sums.data());
      std::fill_n(u + visible, row_length - visible, T(0));
      T* const out = output + i * output_stride;
      std::fill_n(out, e, T(0));
      if (has_sums) {
        detail::kernels::add_row(sums.values(), s.of_sums[0], out, e);
        for (int j = 1; j <= sums.order(); ++j)
          detail::kernels::add_row(s.by_degree.data() + ((j - 1) * n + i) * e, s.of_sums[at(j)],
                                   out, e);
      }
      status[i * line] = row.status;
      const C origin(
          detail::kernels::dot_product(s.queries.data() + i * d, memory_.reference().data(), d));
      logsumexp[i * line] =
          row.has_log() ? T(origin + row.top + detail::logarithm(row.total)) : detail::quiet_nan<T>;
      demand_finite(i, logsumexp + i * line, 1);
    }
    if (first_row != nullptr) *first_row = s.rows[0];
    if (n == 1) {
      detail::kernels::add_product(s.scores.data(), row_length, index_t(1), waiting.value(0), e,
                                   output, output_stride, index_t(1), seen, e);
      demand_finite(0, output, e);
      return;
    }
    grow(s.row, n * e);
    std::fill_n(s.row.data(), n * e, T(0));
    detail::kernels::add_product(s.scores.data(), row_length, index_t(1), waiting.value(0), e,
                                 s.row.data(), e, n, seen, e);
    const bool all_finite = !causal || detail::is_finite(detail::kernels::dot_product(
                                           s.row.data(), s.row.data(), n * e));
    for (index_t i = 0; i < n; ++i) {
      T* const out = output + i * output_stride;
      const T* add = s.row.data() + i * e;
      if (!all_finite) {
        // a value of a later token, of weight 0, may be no number
        std::fill_n(s.row.data() + i * e, e, T(0));
        detail::kernels::add_product(s.scores.data() + i * row_length, row_length, index_t(1),
                                     waiting.value(0), e, s.row.data() + i * e, e, index_t(1),
                                     seen - (n - 1 - i), e);
      }
      detail::kernels::add_row(add, T(1), out, e);
      demand_finite(i, out, e);
    }
  }

  /// scale q (k - reference) of a far key, in C: the scores of T would lose digits in proportion to |q| |k|.
  [[nodiscard]] C full_score(const T* query, const T* key) const noexcept {
    C sum(0);
    for (index_t c = 0; c < width(); ++c)
      sum += C(query[c]) * (C(key[c]) - C(memory_.reference()[std::size_t(c)]));
    return sum * C(scale_);
  }

  /// For blocks of queries.
  void transpose_keys(index_t n) const {
    if (n >= few) memory_.waiting().transpose(workspace().transposed);
  }

  int asked_;
  T scale_;
  detail::linear_memory<T> memory_;
  own_scratch own_;
};

namespace detail {

/// The steps of linear_attention on a state: a block of tokens enters, its queries are answered, the next block enters.
struct linear_prefill {
  /// Takes in tokens t, t + 1, .. of these, at most `most`; returns how many.
  template <class T>
  static index_t append(linear_attention_state<T>& state, const token_rows<T>& keys,
                        const token_rows<T>& values, index_t t, index_t most) {
    return state.memory_.append(keys, values, t, most);
  }
  template <class T, class... Rows>
  static void read(const linear_attention_state<T>& state, bool causal, const Rows&... rows) {
    if (causal) {
      state.read_causal(rows...);
    } else {
      state.read_rows(rows...);
    }
  }
};

}  // namespace detail

}  // namespace cumulus
