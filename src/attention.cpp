// SPDX-License-Identifier: MIT
//
// Dense attention of float, double and the half types, and the vector kernels of linear attention.
#include <cumulus/detail/attention/attend.hpp>
#include <cumulus/detail/simd/attention_kernels.hpp>
#include <cumulus/detail/simd/features.hpp>

namespace cumulus::detail::kernels::inline CUMULUS_BUILD {

namespace best {

/// Of scores of T, and tokens kept as E.
#define CUMULUS_TOKEN_INSTANCES(T, E)                                                           \
  template void score_rows(const T*, index_t, index_t, const E*, index_t, index_t, index_t, T*, \
                           index_t) noexcept;                                                   \
  template void add_values(const T*, index_t, index_t, const E*, index_t, index_t, index_t, T*, \
                           index_t) noexcept;                                                   \
  template void add_kept_values(const T*, const E*, index_t, index_t, index_t, T*) noexcept;
#define CUMULUS_ATTENTION_INSTANCES(T)                                                \
  CUMULUS_TOKEN_INSTANCES(T, T)                                                       \
  template void pack_keys(const T*, index_t, index_t, index_t, T*, index_t) noexcept; \
  template void adjust_scores(T*, index_t, T, const T*, const bool*) noexcept;        \
  template bool weigh_row(T*, index_t, attention_row<T>&, double*, index_t) noexcept; \
  template bool fold_row(const T*, index_t, double*) noexcept;

CUMULUS_ATTENTION_INSTANCES(float)
CUMULUS_ATTENTION_INSTANCES(double)
#define CUMULUS_NARROW_INSTANCES(E) \
  CUMULUS_TOKEN_INSTANCES(float, E) \
  template void convert(const E*, index_t, float*) noexcept;
CUMULUS_NARROW_INSTANCES(brain_bits)
CUMULUS_NARROW_INSTANCES(half_bits)
CUMULUS_NARROW_INSTANCES(std::int8_t)

}  // namespace best

CUMULUS_FEATURE_INSTANCES(, float)
CUMULUS_FEATURE_INSTANCES(, double)

}  // namespace cumulus::detail::kernels::inline CUMULUS_BUILD

namespace cumulus::detail {

CUMULUS_ROW_SCALARS(CUMULUS_ATTEND_INSTANCES, )
CUMULUS_CACHE_INSTANCES()

}  // namespace cumulus::detail
