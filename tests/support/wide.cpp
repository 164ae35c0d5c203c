// SPDX-License-Identifier: MIT
#include "wide.hpp"

#include <vector>

#define CUMULUS_ORACLE_TEMPLATE template
#include "wide_instances.inc"
