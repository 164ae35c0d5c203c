// SPDX-License-Identifier: MIT
//
// All vector kernels, once for each instruction set, and the choice among them.
// Layer 1 (simd).
//
// A function can be compiled for a set that the rest of a program is not (`target`), but only if all that it
// calls is compiled so as well. So pack_*.inc say what one vector is and does, the other .inc files are written once
// over `pack`, and each_isa.inc includes them into a namespace of its own for each set.
#pragma once

#include <cumulus/detail/simd/attention_kernels.hpp>
#include <cumulus/detail/simd/lane_kernels.hpp>
#include <cumulus/detail/simd/matrix_kernels.hpp>
#include <cumulus/detail/simd/moment_kernels.hpp>
#include <cumulus/detail/simd/product_kernels.hpp>
#include <cumulus/detail/simd/row_kernels.hpp>
