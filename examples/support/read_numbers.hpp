// SPDX-License-Identifier: MIT
//
// Numbers from a file or standard input: text (one a line, or a table) or .npy, told by its bytes.
#pragma once

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "support/input_error.hpp"
#include "support/read_npy.hpp"
#include "support/read_text.hpp"
#include "support/source.hpp"

namespace support {

/// Whether `bytes` begin as an .npy file does.
inline bool begins_as_npy(std::string_view bytes) { return bytes.substr(0, 1) == "\x93"; }

/// Throws input_error where `bytes` begin as a file that is neither text nor .npy.
inline void require_readable(std::string_view bytes, const source& wanted) {
  const auto begins = [&](std::string_view magic) {
    return bytes.substr(0, magic.size()) == magic;
  };
  const auto fail = [&](const std::string& wrong, const std::string& mend) {
    throw input_error(wanted.name(), {}, wrong, mend);
  };
  if (begins("PK\x03\x04"))
    fail("a zip archive (.npz, .xlsx)", "save .npy with numpy.save, or .csv");
  if (begins("\x1F\x8B")) fail("compressed by gzip", "decompress it: gzip -dc FILE | expand -");
  if (begins("\xFF\xFE") || begins("\xFE\xFF")) fail("text in UTF-16", "save it as UTF-8");
}

/// The numbers in `bytes`, the whole content of a file. Throws input_error.
inline numbers parse_numbers(std::string_view bytes, const source& wanted) {
  require_readable(bytes, wanted);
  return begins_as_npy(bytes) ? read_npy(bytes, wanted) : read_text(bytes, wanted);
}

/// The numbers of `wanted`. Throws input_error.
inline numbers read_numbers(const source& wanted) {
  const auto fail = [&](const char* wrong, const std::string& mend) {
    throw input_error(wanted.name(), {}, wrong + (": " + std::string(std::strerror(errno))), mend);
  };
  using file_handle = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;
  const auto leave_open = [](std::FILE*) { return 0; };
  const file_handle file = wanted.path == "-"
                               ? file_handle(stdin, leave_open)
                               : file_handle(std::fopen(wanted.path.c_str(), "rb"), std::fclose);
  if (!file) fail("cannot be opened", "check the name and the permission");
  std::string bytes;
  char buffer[1 << 16];
  while (const std::size_t count = std::fread(buffer, 1, sizeof buffer, file.get()))
    bytes.append(buffer, count);
  if (std::ferror(file.get()) != 0) fail("cannot be read", "name a file of numbers");
  return parse_numbers(bytes, wanted);
}

}  // namespace support
