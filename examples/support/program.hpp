// SPDX-License-Identifier: MIT
//
// How a program ends: its text printed, or one line that says what is wrong.
#pragma once

#include <functional>
#include <string>

#include "support/options.hpp"

namespace support {

/// `text` to standard output, all of it. Throws input_error where it cannot go there.
void print(const std::string& text);

/// Prints what run() returns; at an error one line to standard error. Returns the status: 0, or 2.
int finish(const std::string& name, const std::function<std::string()>& run);

/// The same of a program with options: run() is called once they are read, unless they ask for the
/// help or the version.
int finish(const options& command_line, int argc, const char* const* argv,
           const std::function<std::string()>& run);

}  // namespace support
