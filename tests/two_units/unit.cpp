// SPDX-License-Identifier: MIT
//
// Compiled twice; CUMULUS_UNIT is the name that the functions are found under.
#include "unit.hpp"

#include <cumulus/cumulus.hpp>

#include <cmath>
#include <new>
#include <span>

namespace {

using moments = cumulus::central_moments<double, 4>;
using result = cumulus::signed_log<double>;

template <class T>
void append(std::vector<std::size_t>& layout) {
  layout.push_back(sizeof(T));
  layout.push_back(alignof(T));
}

std::vector<std::size_t> layout_of_types() {
  std::vector<std::size_t> layout;
  append<moments>(layout);
  append<cumulus::central_moments<float, 4>>(layout);
  append<cumulus::central_moments<float>>(layout);
  append<result>(layout);
  append<cumulus::estimate<double>>(layout);
  append<cumulus::estimate<float>>(layout);
  append<cumulus::detail::ball<double>>(layout);
  append<cumulus::detail::compensated<double>>(layout);
  append<cumulus::detail::strided<const float>>(layout);
  append<cumulus::detail::strided_matrix<double>>(layout);
  append<cumulus::options<float>>(layout);
  append<cumulus::matrix_options<double>>(layout);
  layout.push_back(offsetof(result, log_abs));
  layout.push_back(offsetof(result, sign));
  return layout;
}

}  // namespace

extern const unit CUMULUS_UNIT = {
    layout_of_types,
    [](const double* x, std::ptrdiff_t n) {
      return cumulus::logsumexp(std::span<const double>(x, std::size_t(n)));
    },
    [](const float* x, float* out, std::ptrdiff_t n) {
      cumulus::softmax(std::span<const float>(x, std::size_t(n)),
                       cumulus::into(std::span<float>(out, std::size_t(n))));
    },
    [](const float* x, float* out, std::ptrdiff_t rows, std::ptrdiff_t cols) {
      cumulus::softmax(Eigen::Map<const Eigen::MatrixXf>(x, rows, cols),
                       cumulus::into(Eigen::Map<Eigen::MatrixXf>(out, rows, cols)),
                       cumulus::rowwise);
    },
    [](void* to) { new (to) moments; },
    [](void* to, const double* x, std::ptrdiff_t n) {
      static_cast<moments*>(to)->add(std::span<const double>(x, std::size_t(n)));
    },
    [](void* to, const void* other) {
      *static_cast<moments*>(to) += *static_cast<const moments*>(other);
    },
    [](const void* from, int order) { return static_cast<const moments*>(from)->moment(order); },
    [](void* to, const double* x, const double* w, std::ptrdiff_t n) {
      *static_cast<result*>(to) = cumulus::logsumexp_signed(
          std::span<const double>(x, std::size_t(n)), std::span<const double>(w, std::size_t(n)));
    },
    [](const void* from) {
      const auto& r = *static_cast<const result*>(from);
      return double(r.sign) * std::exp(r.log_abs);
    },
};
