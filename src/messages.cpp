// SPDX-License-Identifier: MIT
//
// The refusals of every call, and the text of their messages.
#include <cumulus/detail/core/require.hpp>
#include <cumulus/detail/core/require.inc>
