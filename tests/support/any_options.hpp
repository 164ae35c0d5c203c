// SPDX-License-Identifier: MIT
//
// One set of options for all exact functions: it converts to the options type of whichever function it is given to.
#pragma once

#include <cumulus/core/options.hpp>

#include <Eigen/Core>

#include <optional>
#include <stdexcept>

namespace any_options_detail {

/// The option again, read in place.
template <class S>
[[nodiscard]] cumulus::vector_option<S> same(const cumulus::vector_option<S>& option) {
  using map = Eigen::Map<const Eigen::Array<S, Eigen::Dynamic, 1>, 0, Eigen::InnerStride<>>;
  const auto v = option.view();
  if (!option.given()) return {};
  return map(v.data, Eigen::Index(v.size), Eigen::InnerStride<>(Eigen::Index(v.stride)));
}

}  // namespace any_options_detail

/// Members as in cumulus::softmax_options. A function without a sink refuses one.
template <class T>
struct any_options {
  cumulus::vector_option<T> weights{};
  cumulus::vector_option<bool> mask{};
  double scale = 1;
  std::optional<double> sink{};
  cumulus::degenerate degenerate = cumulus::degenerate::limit;
  int threads = 1;
  cumulus::executor executor{};

  operator cumulus::options<T>() const {
    using any_options_detail::same;
    return {.weights = same(weights), .mask = same(mask), .scale = scale, .sink = sink,
            .threads = threads, .executor = executor};
  }
  operator cumulus::softmax_options<T>() const {
    using any_options_detail::same;
    return {.weights = same(weights), .mask = same(mask), .scale = scale, .sink = sink,
            .degenerate = degenerate, .threads = threads, .executor = executor};
  }
  operator cumulus::mean_options<T>() const {
    using any_options_detail::same;
    if (sink) throw std::logic_error("any_options: a mean has no sink");
    return {.weights = same(weights), .mask = same(mask), .scale = scale, .threads = threads, .executor = executor};
  }
  operator cumulus::variance_options<T>() const {
    using any_options_detail::same;
    if (sink) throw std::logic_error("any_options: a variance has no sink");
    return {.weights = same(weights), .mask = same(mask), .scale = scale, .threads = threads, .executor = executor};
  }
};
