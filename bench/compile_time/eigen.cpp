// SPDX-License-Identifier: MIT
//
// What the others are measured against.
#include <Eigen/Core>
