// SPDX-License-Identifier: MIT
//
// What a call says as it refuses its arguments.
#pragma once

#include <stdexcept>
#include <string>

/// The message of the std::invalid_argument that f throws; empty if it throws none.
template <class Function>
[[nodiscard]] std::string refusal(Function f) {
  try {
    f();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return {};
}
