// SPDX-License-Identifier: MIT
//
// A progress bar on standard error, by Boost.Timer: silent where that is not a terminal.
#pragma once

#include <boost/timer/progress_display.hpp>
#include <cstddef>
#include <iostream>
#include <optional>
#include <unistd.h>

namespace support {

class progress {
 public:
  /// Of a job of so many steps; silent for 0, where their number is not known.
  explicit progress(std::size_t steps) {
    if (steps > 0 && isatty(STDERR_FILENO) == 1) bar_.emplace(steps, std::cerr, "");
  }
  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;
  ~progress() {
    if (bar_ && bar_->count() < bar_->expected_count())
      std::cerr << std::endl;  // what follows has a line of its own
  }

  /// So many are done.
  void show(std::size_t done) {
    if (bar_ && bar_->count() < done && done <= bar_->expected_count())
      *bar_ += done - bar_->count();
  }

 private:
  std::optional<boost::timer::progress_display> bar_;
};

}  // namespace support
