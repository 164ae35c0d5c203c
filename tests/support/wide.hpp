// SPDX-License-Identifier: MIT
//
// The arithmetic of the oracles: 50 and 100 digits, and exact rationals. Headers suffice; a build that links wide.cpp
// defines CUMULUS_ORACLE_COMPILED, and its files then leave the long functions to that one.
#pragma once

#include <boost/multiprecision/cpp_bin_float.hpp>
#include <boost/multiprecision/cpp_int.hpp>
#include <boost/version.hpp>
#include <vector>

namespace oracle {

using wide = boost::multiprecision::number<boost::multiprecision::cpp_bin_float<50>,
                                           boost::multiprecision::et_off>;
using wider = boost::multiprecision::number<boost::multiprecision::cpp_bin_float<100>,
                                            boost::multiprecision::et_off>;
using rational = boost::multiprecision::number<boost::multiprecision::cpp_rational_backend,
                                               boost::multiprecision::et_off>;

}  // namespace oracle

// The list names functions that are Boost's own affair, so it is for the versions it was compiled with: 1.74 and 1.81.
#if defined(CUMULUS_ORACLE_COMPILED) && BOOST_VERSION <= 108100
#define CUMULUS_ORACLE_TEMPLATE extern template
#include "wide_instances.inc"
#undef CUMULUS_ORACLE_TEMPLATE
#endif
