// SPDX-License-Identifier: MIT
//
// Matrices of tokens from .npy files: [tokens, width], of floats of 2, 4 or 8 bytes.
#pragma once

#include <Eigen/Core>
#include <cerrno>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "support/input_error.hpp"
#include "support/read_npy.hpp"

namespace support {

/// Queries, keys or values: a token a row.
using token_matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// The matrix in `bytes`, the whole content of an .npy file of that name. Throws input_error: where it is no 2-D array of
/// floats in C order, ends early or late, is empty, or holds what does not fit a finite float.
[[nodiscard]] inline token_matrix parse_npy_matrix(std::string_view bytes,
                                                   const std::string& file) {
  const auto fail = [&](std::size_t at, const std::string& wrong, const std::string& mend) {
    throw input_error(file, {1, at + 1}, wrong, mend);
  };
  if (bytes.substr(0, 1) != "\x93")
    fail(0, "is no .npy file", "write it with numpy.save, a token a row");
  const npy_header header = read_npy_header(bytes, file);
  if (header.kind != 'f') fail(0, "an array of no floats", "save x.astype('f4')");
  if (header.shape.size() != 2)
    fail(0, "an array of " + std::to_string(header.shape.size()) + " dimensions, not 2",
         "save one head as [tokens, width]");
  const std::size_t rows = header.shape[0], columns = header.shape[1];
  if (rows == 0 || columns == 0) fail(0, "an array with no element", "save one token or more");
  if (header.fortran_order && rows > 1 && columns > 1)
    fail(0, "an array in Fortran order", "save numpy.ascontiguousarray(x)");

  const std::size_t held = bytes.size() - header.data;
  if (columns > held / header.size / rows)  // nothing here can overflow
    fail(bytes.size(),
         "the .npy file ends after " + std::to_string(held / header.size) + " of " +
             std::to_string(rows) + " x " + std::to_string(columns) + " elements",
         "write or copy the file again");
  const std::size_t size = rows * columns * header.size;
  if (size < held)
    fail(header.data + size, std::to_string(held - size) + " bytes follow the array",
         "save one array to a file");

  token_matrix x(static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(columns));
  for (std::size_t i = 0; i < rows * columns; ++i) {
    const std::size_t at = header.data + i * header.size;
    const float value = static_cast<float>(npy_element(bytes.data() + at, header));
    if (!std::isfinite(value))
      fail(at,
           "token " + std::to_string(i / columns) + " holds " + std::to_string(value) +
               " in column " + std::to_string(i % columns) + " (both from 0)",
           "save finite numbers");
    x.data()[i] = value;
  }
  return x;
}

/// The matrix of this file. Throws input_error.
[[nodiscard]] inline token_matrix read_npy_matrix(const std::string& path) {
  const auto fail = [&](const char* wrong) {
    throw input_error(path, {}, wrong + (": " + std::string(std::strerror(errno))),
                      "check the name and the permission");
  };
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                             std::fclose);
  if (!file) fail("cannot be opened");
  std::string bytes;
  char buffer[1 << 16];
  while (const std::size_t count = std::fread(buffer, 1, sizeof buffer, file.get()))
    bytes.append(buffer, count);
  if (std::ferror(file.get()) != 0) fail("cannot be read");
  return parse_npy_matrix(bytes, path);
}

}  // namespace support
