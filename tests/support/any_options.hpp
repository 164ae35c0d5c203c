// SPDX-License-Identifier: MIT
//
// One set of options for all exact functions: it converts to the options type of whichever function it is given to.
#pragma once

#include <cumulus/core/options.hpp>

#include <Eigen/Core>

#include <optional>
#include <stdexcept>

namespace any_options_detail {

template <class S>
[[nodiscard]] auto map_of(const cumulus::vector_option<S>& option) {
  const auto v = option.view();
  return Eigen::Map<const Eigen::Array<S, Eigen::Dynamic, 1>, 0, Eigen::InnerStride<>>(
      v.data, Eigen::Index(v.size), Eigen::InnerStride<>(Eigen::Index(v.stride)));
}

/// The option again, read in place.
template <class S>
[[nodiscard]] cumulus::vector_option<S> same(const cumulus::vector_option<S>& option) {
  if (!option.given()) return {};
  return map_of(option);
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
    return {.weights = same(weights),
            .mask = same(mask),
            .scale = scale,
            .sink = sink,
            .threads = threads,
            .executor = executor};
  }
  operator cumulus::softmax_options<T>() const {
    using any_options_detail::same;
    return {.weights = same(weights),
            .mask = same(mask),
            .scale = scale,
            .sink = sink,
            .degenerate = degenerate,
            .threads = threads,
            .executor = executor};
  }
  operator cumulus::mean_options<T>() const {
    using any_options_detail::same;
    if (sink) throw std::logic_error("any_options: a mean has no sink");
    return {.weights = same(weights),
            .mask = same(mask),
            .scale = scale,
            .threads = threads,
            .executor = executor};
  }
  operator cumulus::variance_options<T>() const {
    using any_options_detail::same;
    if (sink) throw std::logic_error("any_options: a variance has no sink");
    return {.weights = same(weights),
            .mask = same(mask),
            .scale = scale,
            .threads = threads,
            .executor = executor};
  }

  // Of a matrix: the same for each of its lines.
  operator cumulus::matrix_options<T>() const {
    return {.weights = for_lines(weights),
            .mask = for_lines(mask),
            .scale = scale,
            .sink = sink_of_lines(),
            .threads = threads,
            .executor = executor};
  }
  operator cumulus::softmax_matrix_options<T>() const {
    return {.weights = for_lines(weights),
            .mask = for_lines(mask),
            .scale = scale,
            .sink = sink_of_lines(),
            .degenerate = degenerate,
            .threads = threads,
            .executor = executor};
  }

  template <class S>
  [[nodiscard]] static cumulus::matrix_option<S> for_lines(
      const cumulus::vector_option<S>& option) {
    if (!option.given()) return {};
    return any_options_detail::map_of(option);
  }
  [[nodiscard]] cumulus::line_option sink_of_lines() const {
    if (!sink) return {};
    return *sink;
  }
};
