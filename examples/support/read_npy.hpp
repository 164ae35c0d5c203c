// SPDX-License-Identifier: MIT
//
// Numbers from an .npy file, the format of numpy.save (NumPy Enhancement Proposal 1, versions 1-3).
#pragma once

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "support/input_error.hpp"
#include "support/source.hpp"

namespace support {

/// What the header of an .npy file says, and where its data begin.
struct npy_header {
  char order = '<';  ///< '<' little endian, '>' big endian, '|' single bytes
  char kind = 'f';   ///< f float, i signed, u unsigned, b bool
  std::size_t size = 8;
  bool fortran_order = false;
  std::vector<std::size_t> shape;
  std::size_t data = 0;
};

/// The value nearest to an IEEE half: sign, 5 bits of exponent, 10 of fraction.
inline double half_to_double(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 0x1F;
  const int fraction = bits & 0x3FF;
  double value = exponent == 31  ? (fraction != 0 ? std::nan("") : double(INFINITY))
                 : exponent == 0 ? std::ldexp(fraction, -24)
                                 : std::ldexp(1024 + fraction, exponent - 25);
  return (bits & 0x8000) != 0 ? -value : value;
}

/// The element at `bytes`. Integers beyond 2^53 round to the nearest double.
inline double npy_element(const char* bytes, const npy_header& header) {
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < header.size; ++i) {
    const std::size_t from = header.order == '>' ? i : header.size - 1 - i;
    bits = bits << 8 | static_cast<unsigned char>(bytes[from]);
  }
  if (header.kind == 'f') {
    if (header.size == 2) return half_to_double(static_cast<std::uint16_t>(bits));
    if (header.size == 4)
      return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
    return std::bit_cast<double>(bits);
  }
  if (header.kind != 'i') return static_cast<double>(bits);
  const std::size_t unused = 64 - 8 * header.size;  // shift up and down again to extend the sign
  return static_cast<double>(static_cast<std::int64_t>(bits << unused) >> unused);
}

/// Reads and checks the header of `bytes`. Throws input_error; its column counts bytes.
inline npy_header read_npy_header(std::string_view bytes, const std::string& file) {
  const auto fail = [&](std::size_t at, const std::string& wrong, const std::string& mend) {
    throw input_error(file, {1, at + 1}, wrong, mend);
  };
  const auto need = [&](std::size_t size) {
    if (bytes.size() < size)
      fail(bytes.size(), "the .npy file ends within its header", "write or copy the file again");
  };
  need(10);
  if (bytes.substr(0, 6) != "\x93NUMPY" || bytes[6] < 1 || bytes[6] > 3)
    fail(0, "an .npy file of no known version", "write it with numpy.save");
  const std::size_t start = bytes[6] == 1 ? 10 : 12;
  need(start);
  std::size_t length = 0;
  for (std::size_t i = start; i-- > 8;) length = length << 8 | static_cast<unsigned char>(bytes[i]);
  need(start + length);
  const std::string_view text = bytes.substr(start, length);

  // The text is a Python dictionary of three fixed keys: 'descr', 'fortran_order' and 'shape'.
  const auto value_of = [&](const std::string& key) {
    std::size_t at = text.find("'" + key + "'");
    if (at != std::string_view::npos) at = text.find_first_not_of(" :", at + key.size() + 2);
    if (at == std::string_view::npos)
      fail(start, "the .npy header has no " + in_quotes(key), "write the file with numpy.save");
    return text.substr(at);
  };
  npy_header header;
  header.data = start + length;

  const std::string_view descr = value_of("descr");
  const std::string_view type =
      descr[0] == '\'' ? descr.substr(1, descr.find('\'', 1) - 1) : descr.substr(0, 12);
  constexpr std::string_view readable = " f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 b1 ";
  if (type.size() != 3 || std::string_view("<>|=").find(type[0]) == std::string_view::npos ||
      readable.find(" " + std::string(type.substr(1)) + " ") == std::string_view::npos)
    fail(start + static_cast<std::size_t>(type.data() - text.data()),
         "cannot read elements of type " + in_quotes(type),
         "save x.astype('f8'), real and of plain numbers");
  header.order = type[0] == '=' && std::endian::native == std::endian::big ? '>' : type[0];
  header.kind = type[1];
  header.size = static_cast<std::size_t>(type[2] - '0');

  header.fortran_order = value_of("fortran_order").substr(0, 4) == "True";

  const std::string_view shape = value_of("shape");
  const std::size_t close = shape.find(')');
  if (shape[0] != '(' || close == std::string_view::npos)
    fail(start, "the .npy header has no shape", "write the file with numpy.save");
  for (std::size_t at = 1; (at = shape.find_first_not_of(" ,L", at)) < close;) {
    std::size_t extent = 0;
    const auto [stop, error] = std::from_chars(shape.data() + at, shape.data() + close, extent);
    if (error != std::errc{})
      fail(start, "the .npy header has a shape of no size", "write the file with numpy.save");
    header.shape.push_back(extent);
    at = static_cast<std::size_t>(stop - shape.data());
  }
  return header;
}

/// Where the numbers of a column lie: `rows` of them, the first at byte `first` of the file, `stride`
/// apart.
struct npy_column {
  std::size_t rows = 0, first = 0, stride = 0;
};

/// That of a 1-D array or of one column of a 2-D one, in either storage order, in a file of `size`
/// bytes. Throws input_error.
inline npy_column find_npy_column(const npy_header& header, std::size_t size,
                                  const source& wanted) {
  const auto fail = [&](std::size_t at, const std::string& wrong, const std::string& mend) {
    throw input_error(wanted.name(), {1, at + 1}, wrong, mend);
  };
  if (header.shape.size() > 2)
    fail(0, "an array of " + std::to_string(header.shape.size()) + " dimensions",
         "save x.reshape(-1), or a 2-D array to choose a column of");
  const std::size_t rows = header.shape.empty() ? 1 : header.shape[0];
  const std::size_t columns = header.shape.size() < 2 ? 1 : header.shape[1];
  if (rows == 0 || columns == 0) fail(0, "an array with no element", "save one number or more");

  const std::size_t held = size - header.data;
  if (columns > held / header.size / rows)  // nothing here can overflow
    fail(size,
         "the .npy file ends after " + std::to_string(held / header.size) + " of " +
             std::to_string(rows) + " x " + std::to_string(columns) + " elements",
         "write or copy the file again");
  const std::size_t array = rows * columns * header.size;
  if (array < held)
    fail(header.data + array, std::to_string(held - array) + " bytes follow the array",
         "save one array to a file");

  if (wanted.column.empty() && columns > 1)
    fail(0, "the array has " + std::to_string(columns) + " columns",
         "choose one by its number, 1 to " + std::to_string(columns) + ", or save x.reshape(-1)");
  if (!wanted.column.empty() && (wanted.position() < 1 || wanted.position() > columns))
    fail(0, "the array has no column " + in_quotes(wanted.column),
         "choose a number, 1 to " + std::to_string(columns));
  const std::size_t column = wanted.column.empty() ? 0 : wanted.position() - 1;
  if (header.fortran_order) return {rows, header.data + column * rows * header.size, header.size};
  return {rows, header.data + column * header.size, columns * header.size};
}

/// The element at `bytes`, which is byte `at` of the file, as `wanted` may take it. Throws
/// input_error.
inline double npy_number(const char* bytes, std::size_t at, const npy_header& header,
                         const source& wanted) {
  const double value = npy_element(bytes, header);
  if (const auto [wrong, mend] = wanted.judge(value); !wrong.empty())
    throw input_error(wanted.name(), {1, at + 1}, std::to_string(value) + " " + std::string(wrong),
                      mend);
  return value;
}

/// The numbers of a 1-D array or of one column of a 2-D one, in either storage order.
inline numbers read_npy(std::string_view bytes, const source& wanted) {
  const npy_header header = read_npy_header(bytes, wanted.name());
  const npy_column column = find_npy_column(header, bytes.size(), wanted);
  numbers result;
  result.values.reserve(column.rows);
  for (std::size_t row = 0; row < column.rows; ++row) {
    const std::size_t at = column.first + row * column.stride;
    result.values.push_back(npy_number(bytes.data() + at, at, header, wanted));
  }
  return result;
}

}  // namespace support
