// SPDX-License-Identifier: MIT
//
// The largest error of many, and where it was: one CHECK for a sweep instead of thousands.
#pragma once

#include <sstream>
#include <string>

class worst {
 public:
  /// A NaN counts as the largest of all.
  template <class... Where>
  void see(double error, const Where&... where) {
    if (error <= value_) return;
    value_ = error;
    std::ostringstream text;
    text.precision(17);
    ((text << where << ' '), ...);
    where_ = text.str();
  }
  [[nodiscard]] double value() const { return value_; }
  [[nodiscard]] const std::string& where() const { return where_; }

 private:
  double value_ = 0;
  std::string where_ = "nowhere";
};

/// Prints the value on failure, and where it was.
#define CHECK_WORST(worst_error, tolerance)            \
  do {                                                 \
    INFO("worst at " << (worst_error).where());        \
    CHECK((worst_error).value() <= double(tolerance)); \
  } while (false)
