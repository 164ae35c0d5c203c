// SPDX-License-Identifier: MIT
//
// Numbers from a file larger than memory, in pieces: what read_numbers reads, in bounded memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/byte_stream.hpp"
#include "support/input_error.hpp"
#include "support/read_npy.hpp"
#include "support/read_numbers.hpp"
#include "support/read_text.hpp"
#include "support/records.hpp"
#include "support/source.hpp"

namespace support {

/// How much of a file is held at a time, and how long a record of text may be.
struct stream_limits {
  std::size_t piece = std::size_t(1) << 20;
  std::size_t record = std::size_t(1) << 24;
};

/// Records of a text that is read piece by piece.
///
/// A record is taken once something stands behind it, since only then it is known to be whole; else
/// more is read and it is begun anew.
class record_stream {
 public:
  /// The text begins with `beginning`, read already, and goes on in `rest`.
  record_stream(std::string beginning, byte_stream& rest, std::string file, stream_limits limits)
      : buffer_(std::make_unique<std::string>(std::move(beginning))),
        rest_(&rest),
        file_(std::move(file)),
        limits_(limits),
        nothing_(buffer_->empty()),
        table_({}, file_) {
    buffer_->erase(0, buffer_->size() - records::without_mark(*buffer_).size());
    table_ = records(*buffer_, file_, nothing_);
  }

  bool next(std::vector<field>& record) {
    for (;;) {
      const std::size_t from = started_ ? table_.position() : 0;
      const place at = started_ ? table_.where() : place{};
      bool found = false;
      try {
        found = table_.next(record);
      } catch (const input_error&) {  // of a quote that may yet close
        if (ended_ || table_.position() < buffer_->size()) throw;
      }
      if (ended_ || table_.position() < buffer_->size()) {
        started_ = started_ || found;
        return found;
      }
      refill(from, at);
    }
  }

  [[nodiscard]] char separator() const noexcept { return table_.separator(); }
  [[nodiscard]] place where() const noexcept { return table_.where(); }
  [[nodiscard]] bool nothing() const noexcept { return nothing_; }

 private:
  /// Drops what was taken, reads another piece behind the rest, and goes back to `from`.
  void refill(std::size_t from, place at) {
    const char separator = table_.separator();
    buffer_->erase(0, from);
    const std::size_t held = buffer_->size();
    if (held > limits_.record)
      throw input_error(file_, at,
                        "a record of more than " + std::to_string(limits_.record) + " bytes",
                        "end its line, or close its quote");
    buffer_->resize(held + limits_.piece);
    buffer_->resize(held + rest_->read(buffer_->data() + held, limits_.piece));
    ended_ = buffer_->size() == held;
    table_ =
        started_ ? records(*buffer_, file_, at, separator) : records(*buffer_, file_, nothing_);
  }

  std::unique_ptr<std::string> buffer_;  // where table_ looks, wherever this is moved
  byte_stream* rest_;
  std::string file_;
  stream_limits limits_;
  bool nothing_ = false, started_ = false, ended_ = false;
  records table_;
};

/// A column of an .npy array, any part of it.
class npy_stream {
 public:
  /// The file begins with `beginning`, read already, and goes on in `rest`. Throws input_error.
  npy_stream(std::string beginning, byte_stream& rest, source wanted, stream_limits limits)
      : beginning_(std::move(beginning)),
        rest_(&rest),
        wanted_(std::move(wanted)),
        limits_(limits),
        header_(read_npy_header(beginning_, wanted_.name())),
        column_(find_npy_column(header_, size_of(header_, rest), wanted_)) {
    seek(0);
  }

  [[nodiscard]] std::size_t rows() const noexcept { return column_.rows; }

  /// To a row further on. Requires row <= rows().
  void seek(std::size_t row) {
    row_ = row;
    next_ = column_.first + row * column_.stride;
  }

  /// The next numbers, fewer only at the end.
  std::size_t read(std::span<double> out) {
    const std::size_t count = std::min(out.size(), column_.rows - row_);
    const std::size_t together = std::max<std::size_t>(1, limits_.piece / column_.stride);
    for (std::size_t done = 0; done < count;) {
      const std::size_t rows = std::min(together, count - done);
      const std::size_t size = (rows - 1) * column_.stride + header_.size;
      buffer_.resize(size);
      fetch(buffer_.data(), size);
      for (std::size_t i = 0; i < rows; ++i, ++done)
        out[done] = npy_number(buffer_.data() + i * column_.stride, next_ + i * column_.stride,
                               header_, wanted_);
      seek(row_ + rows);
    }
    return count;
  }

 private:
  /// The size of the file, or what its header says where that is not known.
  static std::size_t size_of(const npy_header& header, const byte_stream& file) {
    if (file.known()) return file.size();
    std::size_t size = header.size;
    for (const std::size_t extent : header.shape) size *= extent;
    return header.data + size;
  }

  /// The bytes from next_ on.
  void fetch(char* out, std::size_t size) {
    std::size_t have = 0;
    if (next_ < beginning_.size()) {
      have = std::min(size, beginning_.size() - next_);
      std::copy_n(beginning_.data() + next_, have, out);
    }
    if (have == size) return;
    rest_->skip(next_ + have - rest_->at());
    have += rest_->read(out + have, size - have);
    if (have < size)
      throw input_error(wanted_.name(), {1, rest_->at() + 1},
                        "the .npy file ends within row " +
                            std::to_string(row_ + have / column_.stride + 1) + " of " +
                            std::to_string(column_.rows),
                        "write or copy the file again");
  }

  std::string beginning_;
  byte_stream* rest_;
  source wanted_;
  stream_limits limits_;
  npy_header header_;
  npy_column column_;
  std::size_t row_ = 0, next_ = 0;
  std::vector<char> buffer_;
};

/// The numbers of a file or standard input, text or .npy, told by its bytes.
class number_stream {
 public:
  /// Throws input_error.
  explicit number_stream(const source& wanted, stream_limits limits = {})
      : file_(std::make_unique<byte_stream>(wanted)) {
    std::string beginning(limits.piece, '\0');
    beginning.resize(file_->read(beginning.data(), beginning.size()));
    require_readable(beginning, wanted);
    if (begins_as_npy(beginning)) {
      npy_.emplace(std::move(beginning), *file_, wanted, limits);
    } else {
      text_.emplace(record_stream(std::move(beginning), *file_, wanted.name(), limits), wanted);
    }
  }

  /// The next numbers, fewer only at the end. Throws input_error at the first thing that is not right.
  std::size_t read(std::span<double> out) {
    if (npy_) return npy_->read(out);
    std::size_t count = 0;
    while (count < out.size() && text_->next(out[count])) ++count;
    return count;
  }

  /// The name of the column, where a header line gives one.
  [[nodiscard]] std::string column() const { return text_ ? text_->name() : std::string(); }

  /// The rows of an .npy array, of which it can take any part: nothing where it is text.
  [[nodiscard]] npy_stream* npy() noexcept { return npy_ ? &*npy_ : nullptr; }

  /// How many bytes have been read, and of how many: byte_stream::unknown where that is not known.
  [[nodiscard]] std::size_t at() const noexcept { return file_->at(); }
  [[nodiscard]] std::size_t size() const noexcept { return file_->size(); }

 private:
  std::unique_ptr<byte_stream> file_;
  std::optional<text_column<record_stream>> text_;
  std::optional<npy_stream> npy_;
};

}  // namespace support
