// SPDX-License-Identifier: MIT
//
// The arithmetic of the oracles: 50 and 100 digits, and exact rationals.
#pragma once

#include <boost/multiprecision/cpp_bin_float.hpp>
#include <boost/multiprecision/cpp_int.hpp>

namespace oracle {

using wide = boost::multiprecision::number<boost::multiprecision::cpp_bin_float<50>,
                                           boost::multiprecision::et_off>;
using wider = boost::multiprecision::number<boost::multiprecision::cpp_bin_float<100>,
                                            boost::multiprecision::et_off>;
using rational = boost::multiprecision::number<boost::multiprecision::cpp_rational_backend,
                                               boost::multiprecision::et_off>;

}  // namespace oracle
