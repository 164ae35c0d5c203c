// SPDX-License-Identifier: MIT
//
// A file or standard input, read forwards a piece at a time.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <system_error>

#include "support/input_error.hpp"
#include "support/source.hpp"

namespace support {

class byte_stream {
 public:
  /// Throws input_error where the file cannot be opened.
  explicit byte_stream(const source& wanted)
      : name_(wanted.name()),
        file_(wanted.path == "-" ? stdin : std::fopen(wanted.path.c_str(), "rb"),
              [](std::FILE* file) { return file == stdin ? 0 : std::fclose(file); }) {
    if (!file_) fail("cannot be opened", "check the name and the permission");
    std::error_code error;
    const std::filesystem::path path = wanted.path;
    if (wanted.path != "-" && std::filesystem::is_regular_file(path, error)) {
      const std::uintmax_t size = std::filesystem::file_size(path, error);
      if (!error) size_ = static_cast<std::size_t>(size);
    }
  }

  /// As many of the next `size` bytes as there are. Throws input_error.
  std::size_t read(char* out, std::size_t size) {
    const std::size_t count = std::fread(out, 1, size, file_.get());
    if (std::ferror(file_.get()) != 0) fail("cannot be read", "name a file of numbers");
    at_ += count;
    return count;
  }

  /// Past `size` bytes, or to the end. A seek where the file allows it.
  void skip(std::size_t size) {
    constexpr auto furthest = static_cast<std::size_t>(std::numeric_limits<long>::max());
    if (known() && size <= furthest &&
        std::fseek(file_.get(), static_cast<long>(size), SEEK_CUR) == 0) {
      at_ += size;
      return;
    }
    char buffer[1 << 14];
    while (size > 0) {
      const std::size_t count = read(buffer, std::min(size, sizeof buffer));
      if (count == 0) return;
      size -= count;
    }
  }

  /// How many bytes have been passed, of how many: size() is the largest number there is where that
  /// is not known.
  [[nodiscard]] std::size_t at() const noexcept { return at_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool known() const noexcept { return size_ != unknown; }

  static constexpr std::size_t unknown = std::numeric_limits<std::size_t>::max();

 private:
  [[noreturn]] void fail(const std::string& wrong, const std::string& mend) const {
    throw input_error(name_, {}, wrong + ": " + std::strerror(errno), mend);
  }

  std::string name_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
  std::size_t at_ = 0, size_ = unknown;
};

}  // namespace support
