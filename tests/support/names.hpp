// SPDX-License-Identifier: MIT
//
// Whether a refusal says what it refuses.
#pragma once

#include <initializer_list>
#include <string>

#include "refusal.hpp"

/// Whether the message names all of these.
[[nodiscard]] inline bool names(const std::string& message,
                                std::initializer_list<const char*> parts) {
  for (const char* part : parts)
    if (message.find(part) == std::string::npos) return false;
  return true;
}
