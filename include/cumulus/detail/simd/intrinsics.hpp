// SPDX-License-Identifier: MIT
//
// The intrinsics of AVX2 and AVX-512 F and DQ, which the packs use.
// Layer 1 (simd).
//
// <immintrin.h> of g++ 12 is 39,600 lines, 0.43 of the time that Eigen/Core takes to compile; the files here are 17,900 and
// 0.17. Each asks that it be included through <immintrin.h>, whose guard is therefore set while they are, so that a later
// <immintrin.h> brings the rest.
#pragma once

#if defined(__GNUC__) && !defined(__clang__) && !defined(_IMMINTRIN_H_INCLUDED) && \
    __has_include(<avx512fintrin.h>) && __has_include(<avx512dqintrin.h>)
#include <smmintrin.h>
#define _IMMINTRIN_H_INCLUDED
#include <avxintrin.h>
//
#include <avx2intrin.h>
#include <avx512fintrin.h>
#include <fmaintrin.h>
//
#include <avx512dqintrin.h>
#undef _IMMINTRIN_H_INCLUDED
#else
#include <immintrin.h>
#endif
