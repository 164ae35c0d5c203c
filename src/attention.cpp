// SPDX-License-Identifier: MIT
//
// Dense attention of float, double and the half types, and the vector kernels of linear attention.
#include <cumulus/detail/attention/attend.hpp>
#include <cumulus/detail/simd/attention_kernels.hpp>
#include <cumulus/detail/simd/features.hpp>

namespace cumulus::detail::kernels::inline CUMULUS_BUILD {

namespace best {

#define CUMULUS_ATTENTION_INSTANCES(T)                                                          \
  template void score_rows(const T*, index_t, index_t, const T*, index_t, index_t, index_t, T*, \
                           index_t) noexcept;                                                   \
  template void add_values(const T*, index_t, index_t, const T*, index_t, index_t, index_t, T*, \
                           index_t) noexcept;                                                   \
  template void add_kept_values(const T*, const T*, index_t, index_t, index_t, T*) noexcept;    \
  template void pack_keys(const T*, index_t, index_t, index_t, T*, index_t) noexcept;           \
  template void adjust_scores(T*, index_t, T, const T*, const bool*) noexcept;                  \
  template bool weigh_row(T*, index_t, attention_row<T>&, double*, index_t) noexcept;           \
  template bool fold_row(const T*, index_t, double*) noexcept;

CUMULUS_ATTENTION_INSTANCES(float)
CUMULUS_ATTENTION_INSTANCES(double)
template void widen<true>(const void*, index_t, float*) noexcept;
template void widen<false>(const void*, index_t, float*) noexcept;

}  // namespace best

CUMULUS_FEATURE_INSTANCES(, float)
CUMULUS_FEATURE_INSTANCES(, double)

}  // namespace cumulus::detail::kernels::inline CUMULUS_BUILD

namespace cumulus::detail {

CUMULUS_ROW_SCALARS(CUMULUS_ATTEND_INSTANCES, )

}  // namespace cumulus::detail
