// SPDX-License-Identifier: MIT
//
// Header-only or compiled: where the bodies of the kernels, of whole rows and of the refusals are.
// Layer 0 (core).
//
// Header-only is the default: every body is in a header, and a program compiles what it calls. With CUMULUS_COMPILED, which the
// CMake target cumulus::compiled defines, the headers only declare them, and the static library holds them for float, double
// and the half types. CUMULUS_SOURCE marks the library's own sources, which see the bodies.
//
// Files of both kinds link into one program: their kernels are in inline namespaces of different names, so that no function of
// one kind stands for a function of the other.
#pragma once

#if defined(CUMULUS_COMPILED)
#define CUMULUS_BUILD compiled
#else
#define CUMULUS_BUILD header_only
#endif

#if !defined(CUMULUS_COMPILED) || defined(CUMULUS_SOURCE)
#define CUMULUS_BODIES 1
#else
#define CUMULUS_BODIES 0
#endif

/// Before a function template: `inline` where the body follows, nothing where the library holds it.
#if CUMULUS_BODIES
#define CUMULUS_INLINE inline
#else
#define CUMULUS_INLINE
#endif

/// Before a function that is no template: `inline` in a header-only program, nothing where the library holds it.
#if defined(CUMULUS_COMPILED)
#define CUMULUS_FUNCTION
#else
#define CUMULUS_FUNCTION inline
#endif

#if defined(CUMULUS_COMPILED) && defined(CUMULUS_VECTORS) && !CUMULUS_VECTORS
#error "cumulus::compiled holds the vector kernels: build with CUMULUS_VECTORS=0 header-only"
#endif

/// Instances(Word, S) for each scalar whose whole rows cumulus::compiled holds. Word is `extern` where the headers declare the
/// instances, and nothing where src/ defines them.
#define CUMULUS_ROW_SCALARS(Instances, Word)                                  \
  Instances(Word, float) Instances(Word, double) Instances(Word, Eigen::half) \
      Instances(Word, Eigen::bfloat16)
