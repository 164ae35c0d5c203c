// SPDX-License-Identifier: MIT
//
// A call of nearly every public function, for each kind of scalar: most warnings of a template come where it is used. Compiled
// as a stranger would who wants more warnings than we have, or neither exceptions nor RTTI; never run.
#include <cumulus/cumulus.hpp>
#include <cumulus/detail/series/uncentred.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace {

template <class T>
using vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;
template <class T>
using matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

double total = 0;  // what nothing reads a compiler may leave out

template <class... T>
void use(const T&... x) {
  ((total += static_cast<double>(x)), ...);
}

template <class T>
void exact(const vector<T>& x, const matrix<T>& X) {
  using namespace cumulus;

  const std::vector<bool> keep(std::size_t(x.size()), true);
  const vector<T> some = x.cwiseAbs();
  vector<T> out(x.size());
  matrix<T> outs(X.rows(), X.cols());
  const std::vector<int> ids(std::size_t(x.size()), 0);
  use(logsumexp(x), logsumexp(x, {.weights = some, .scale = 0.5, .sink = 0.0}));
  use(logsumexp(X, rowwise)[0], logsumexp(X, colwise, {.scale = 0.5})[0]);
  softmax(x, into(out), {.weights = some});
  softmax(X, into(outs), rowwise);
  use(softmax(x)[0], log_softmax(x, {.degenerate = degenerate::uniform})[0]);
  use(log_softmax(X, colwise)(0, 0), softmax_entropy(x), logmeanexp(x),
      logvarexp(x, {.correction = 1}));
  use(logcumsumexp(x)[0], segment_logsumexp(x, ids, 1)[0], logaddexp(x[0], x[1]));
  segment_softmax(x, ids, into(out));
  use(segment_log_softmax(x, ids)[0], segment_entropy(x, ids, 1)[0]);
  use(logsubexp(x[0], x[1]), logsumexp_signed(x, x).log_abs);
  use(logsumexp_gradient(x)[0], logsumexp_gradient_weights(x)[0], logsumexp_hvp(x, some)[0]);
  use(softmax_jvp(x, some)[0], softmax_vjp(x, some)[0], log_softmax_vjp(x, some)[0]);
  use(normalise_log_weights(x)[0], effective_sample_size(x), perplexity(x));
  use(normalise_log_weights(X, rowwise)(0, 0), effective_sample_size(X, colwise, {.scale = 0.5})[0],
      perplexity(X, rowwise)[0]);
  logsumexp_accumulator<T> sum;
  sum.add(x[0]);
  sum.add(x);
  sum += sum;
  softmax_mean<T> mean;
  mean.add(x[0], x[1]);
  mean += mean;
  use(sum.value(), mean.value());
}

template <class T>
void moments(const vector<T>& x, const matrix<T>& X) {
  using namespace cumulus;
  const vector<T> some = x.cwiseAbs();
  central_moments<T, 4> m;
  m.add(x[0], T(1));
  m.add(x);
  m.add(x, some);
  const central_moments<T, 4> part = m;
  use(k_statistic(m, 4), k_statistic_variance(m, 2), unbiased_moment(m, 2));
  use(unbiased_skewness(m), unbiased_kurtosis(m));
  m += part;
  m -= part;
  m.affine(T(2), T(1));
  central_moments<T> more(6);
  more.add(x);
  use(m.moment(4), m.standardized_moment(3), m.loss(), more.mean(), cumulants(more)[2]);
  comoments<T> products(X.cols(), 1);
  products.add_rows(X, X.leftCols(1));
  products.add_rows(X, X.leftCols(1), some);
  products += products;
  use(products.covariance()(0, 0), products.cross_covariance()(0, 0));
  comoments<T> alone(X.cols());
  alone.add_rows(X);
  use(low_rank(alone, 1).quadratic(vector<T>(X.row(0).transpose())));
  moment_tensor<T> tensor(X.cols(), 3);
  tensor.add_rows(X);
  tensor += tensor;
  use(tensor.moment({0, 0, 0}), tensor.directional(X.row(0)).moment(3));
  use(from_bytes<central_moments<T, 4>>(to_bytes(m)).mean());
}

template <class T>
void series(const vector<T>& x) {
  using namespace cumulus;
  central_moments<T> m(8);
  m.add(x);
  for (const form f : {form::taylor, form::moment, form::chebyshev, form::enclosure})
    use(logsumexp_series(m, {.order = 4, .form = f}).bound,
        logsumexp_series(x, {.order = 4, .form = f}).value);
  use(logsumexp_series(x, {.weights = x, .tolerance = 1.0}).value, softmax_series(x, 4)[0]);
  use(softmax_series(x, m, 4)[0], softmax_series_bound(x, 4).relative);
  use(convergence_radius(m).radius, detail::logsumexp_sharp_remainder(4, x[0]));
  use(logsumexp_series_gradient(x, 4)[0], softmax_series_vjp(x, x, 4)[0]);
  use(logsumexp_series_hvp(x, x, 4)[0], softmax_series_jvp(x, x, 4)[0], standard_error(x, 4));
  use(temperature_series(m, x[0], 4).value.value, tilted_moments(x, x, 4).mean());
  use(detail::logsumexp_series_uncentred(x, 4).value, logsumexp_terms(4).evaluate(m));
  validate(m);
}

template <class T>
void attend(const matrix<T>& Q) {
  using namespace cumulus;
  const auto dense = attention(Q, Q, Q, {.sink = 0.0, .causal = true, .softcap = 20});
  use(dense.output(0, 0),
      multi_head_attention(Q, Q, Q, {.heads = {.queries = 1, .keys = 1}}).output(0, 0));
  block_summaries<float> blocks({.key_width = Q.cols(),
                                 .value_width = Q.cols(),
                                 .block = 2,
                                 .covariance = covariance_kind::full,
                                 .order = 3,
                                 .box = true,
                                 .landmark = true,
                                 .value_mean = true});
  blocks.append_rows(Q, Q);
  const vector<float> q = Q.row(0).transpose().template cast<float>();
  const auto scores = block_scores(blocks, q, block_score::taylor3);
  use(select_blocks(scores, {.top = 1, .mass = 0.9})[0], exact_block_scores(Q, 2, q)[0]);
  use(certified_top(scores, 1, [](index_t) { return 0.0; }).blocks[0]);
  use(block_sparse_attention(Q, Q, Q, blocks, {.left_out = left_out::value_mean}).output(0, 0));
  use(linear_attention(Q, Q, Q, {.causal = true, .window = 2}).output(0, 0));
  const auto moba = presets::moba(2, 1);
  use(block_sparse_attention(Q, Q, Q, blocks, moba.options).output(0, 0));
}

template <class T>
void attend_and_differentiate(const matrix<T>& Q) {
  using namespace cumulus;
  use(attention_vjp(Q, Q, Q, Q).queries(0, 0), linear_attention_vjp(Q, Q, Q, Q, {}).keys(0, 0));
  linear_attention_state<T> state(Q.cols(), Q.cols(), {});
  state.add(Q.row(0), Q.row(0));
  use(state.read(Q.row(0)).output[0], state.logsumexp(Q.row(0)).bound);
  presets::delta_rule_state<T> delta(Q.cols(), Q.cols());
  delta.add(Q.row(0), Q.row(0));
  use(delta.read(Q.row(0))[0], presets::performer(Q, Q, Q).output(0, 0));
  use(presets::taylor_shift(Q, Q, Q).output(0, 0),
      cumulus::detail::taylor_features(Q.row(0), 2)[0]);
}

}  // namespace

int main() {
  const vector<double> x = vector<double>::LinSpaced(6, -1, 1);
  const matrix<double> X = x * x.transpose();
  exact<double>(x, X);
  exact<float>(x.cast<float>(), X.cast<float>());
  exact<Eigen::half>(x.cast<Eigen::half>(), X.cast<Eigen::half>());
  moments<double>(x, X);
  moments<float>(x.cast<float>(), X.cast<float>());
  series<double>(x);
  series<float>(x.cast<float>());
  attend<double>(X);
  attend<float>(X.cast<float>());
  attend<Eigen::bfloat16>(X.cast<Eigen::bfloat16>());
  attend_and_differentiate<double>(X);
  attend_and_differentiate<float>(X.cast<float>());
  const std::string text = cumulus::softmax_terms(4).latex();
  return text.empty() || total == 0 ? 1 : 0;
}
