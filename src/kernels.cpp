// SPDX-License-Identifier: MIT
//
// The vector kernels that moments, derivatives, matrices of lines and block summaries call.
#include <cumulus/detail/simd/lane_kernels.hpp>
#include <cumulus/detail/simd/matrix_kernels.hpp>
#include <cumulus/detail/simd/moment_kernels.hpp>
#include <cumulus/detail/simd/product_kernels.hpp>

namespace cumulus::detail::kernels::inline CUMULUS_BUILD::best {

#define CUMULUS_POWER_SUMS(T, P)                                                 \
  template void power_sums<T, P, false>(const T*, const T*, index_t, T, double*, \
                                        weighted_range&) noexcept;               \
  template void power_sums<T, P, true>(const T*, const T*, index_t, T, double*,  \
                                       weighted_range&) noexcept;

#define CUMULUS_KERNEL_INSTANCES(T)                                                              \
  template T row_largest(const T*, index_t) noexcept;                                            \
  template T row_smallest(const T*, index_t) noexcept;                                           \
  template index_t position_of(const T*, index_t, T) noexcept;                                   \
  template compensated<double> sum_but_largest<T, true>(const T*, const row_sums<T>&) noexcept;  \
  template compensated<double> sum_but_largest<T, false>(const T*, const row_sums<T>&) noexcept; \
  template void sum_lanes<T, true>(const T*, index_t, index_t, lane_sums<T>&) noexcept;          \
  template void sum_lanes<T, false>(const T*, index_t, index_t, lane_sums<T>&) noexcept;         \
  template void share_lanes<T, true>(const T*, index_t, T*, index_t, index_t,                    \
                                     const lane_sums<T>&) noexcept;                              \
  template void share_lanes<T, false>(const T*, index_t, T*, index_t, index_t,                   \
                                      const lane_sums<T>&) noexcept;                             \
  template void subtract_lanes(const T*, index_t, T*, index_t, index_t,                          \
                               const lane_sums<T>&) noexcept;                                    \
  template compensated<double> dot_row(const T*, const T*, index_t, T) noexcept;                 \
  template void jacobian_row(const T*, const T*, T*, index_t, T, T, T) noexcept;                 \
  template void horner_row(const T*, T*, index_t, const compensated<double>&, const double*,     \
                           int) noexcept;                                                        \
  template void add_product(const T*, index_t, index_t, const T*, index_t, T*, index_t, index_t, \
                            index_t, index_t) noexcept;                                          \
  template void dot_rows(const T*, index_t, index_t, index_t, const T*, double*) noexcept;       \
  CUMULUS_POWER_SUMS(T, 2)                                                                       \
  CUMULUS_POWER_SUMS(T, 4)                                                                       \
  CUMULUS_POWER_SUMS(T, 6)                                                                       \
  CUMULUS_POWER_SUMS(T, 8)                                                                       \
  CUMULUS_POWER_SUMS(T, 10)                                                                      \
  CUMULUS_POWER_SUMS(T, 12)

CUMULUS_KERNEL_INSTANCES(float)
CUMULUS_KERNEL_INSTANCES(double)
template void sum_row<double, true, true>(const double*, double*, index_t,
                                          row_sums<double>&) noexcept;
template void log_row<double>(const double*, index_t, double, double*) noexcept;

}  // namespace cumulus::detail::kernels::inline CUMULUS_BUILD::best
