// SPDX-License-Identifier: MIT
//
// The version of the library, read by CMake as well.
// Layer 0 (core).
#pragma once

#define CUMULUS_VERSION_MAJOR 0
#define CUMULUS_VERSION_MINOR 2
#define CUMULUS_VERSION_PATCH 0
