// SPDX-License-Identifier: MIT
//
// Whole rows of float, double and the half types: logsumexp, softmax, log_softmax and their derivatives.
#include <Eigen/Core>
//
#include <cumulus/detail/rows/derivatives.hpp>
#include <cumulus/detail/rows/entropy.hpp>
#include <cumulus/detail/rows/exp_mean.hpp>
#include <cumulus/detail/rows/log_excess.hpp>
#include <cumulus/detail/rows/logsumexp.hpp>
#include <cumulus/detail/rows/running_log_sum.hpp>
#include <cumulus/detail/rows/softmax.hpp>
#include <cumulus/detail/rows/tile.hpp>

namespace cumulus::detail::kernels::inline CUMULUS_BUILD {

CUMULUS_ROW_SCALARS(CUMULUS_LOGSUMEXP_INSTANCES, )
CUMULUS_ROW_SCALARS(CUMULUS_SOFTMAX_INSTANCES, )
CUMULUS_ROW_SCALARS(CUMULUS_DERIVATIVE_INSTANCES, )
CUMULUS_ROW_SCALARS(CUMULUS_ENTROPY_INSTANCES, )
CUMULUS_ROW_SCALARS(CUMULUS_EXP_MEAN_INSTANCES, )
CUMULUS_ROW_SCALARS(CUMULUS_EXCESS_INSTANCES, )
CUMULUS_ROW_SCALARS(CUMULUS_RUNNING_INSTANCES, )

template void transpose_four(const float*, index_t, float*, index_t) noexcept;
template void transpose_four(const double*, index_t, double*, index_t) noexcept;

}  // namespace cumulus::detail::kernels::inline CUMULUS_BUILD
