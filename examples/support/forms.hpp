// SPDX-License-Identifier: MIT
//
// The forms of the series by name.
#pragma once

#include <cumulus/series.hpp>
#include <string>
#include <utility>
#include <vector>

namespace support {

/// The forms by name, in the order in which they are reported.
inline const std::vector<std::pair<std::string, cumulus::form>>& forms() {
  static const std::vector<std::pair<std::string, cumulus::form>> all = {
      {"taylor", cumulus::form::taylor},       {"normaliser", cumulus::form::normaliser},
      {"moment", cumulus::form::moment},       {"chebyshev", cumulus::form::chebyshev},
      {"enclosure", cumulus::form::enclosure}, {"automatic", cumulus::form::automatic}};
  return all;
}

}  // namespace support
