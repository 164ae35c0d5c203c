// SPDX-License-Identifier: MIT
//
// What the readers of `expand` take, and where and how they refuse. The .npy files are numpy's own
// (tests/data/readers/make_npy.py).
#include "support/read_numbers.hpp"

#include <cmath>
#include <cstdio>
#include <limits>
#include <string>
#include <string_view>
#include <support/catch.hpp>
#include <vector>

namespace {

using support::parse_number;
using support::place;
using values = std::vector<double>;

constexpr double inf = std::numeric_limits<double>::infinity();

values read(std::string_view text, const std::string& column = {}) {
  return support::parse_numbers(text, {.path = "x", .column = column}).values;
}

values read_file(const std::string& name, const std::string& column = {}) {
  return support::read_numbers({.path = CUMULUS_TEST_DATA "/readers/" + name, .column = column})
      .values;
}

std::string bytes_of(const std::string& name) {
  std::string bytes;
  std::FILE* const file = std::fopen((CUMULUS_TEST_DATA "/readers/" + name).c_str(), "rb");
  REQUIRE(file != nullptr);
  for (int c = 0; (c = std::fgetc(file)) != EOF;) bytes += static_cast<char>(c);
  std::fclose(file);
  return bytes;
}

/// The complaint about `text`, less the file's name: "LINE:COLUMN: what; how to mend".
std::string refusal(std::string_view text, const std::string& column = {}) {
  try {
    read(text, column);
  } catch (const support::input_error& error) {
    return std::string(error.what()).substr(2);
  }
  return "accepted";
}

bool begins(const std::string& text, std::string_view start) {
  return text.compare(0, start.size(), start) == 0;
}

}  // namespace

TEST_CASE("parse_number: reads what a double can be", "[examples][edge]") {
  const std::string seventy_zeros(70, '0');
  CHECK(parse_number("-1.25e3") == -1250.0);
  CHECK(parse_number("+2") == 2.0);
  CHECK(parse_number(".5") == 0.5);
  CHECK(parse_number("7.") == 7.0);
  CHECK(parse_number("0x1.8p3") == 12.0);
  CHECK(parse_number("-0X1p-1074") == -std::numeric_limits<double>::denorm_min());
  CHECK(parse_number("INF") == inf);
  CHECK(parse_number("-infinity") == -inf);
  CHECK(std::isnan(parse_number("NaN").value()));
  CHECK(parse_number("0." + seventy_zeros + "1e71") == 1.0);
  CHECK(parse_number("1.7976931348623157e308") == std::numeric_limits<double>::max());
  CHECK(parse_number("4.9e-324") == std::numeric_limits<double>::denorm_min());
  CHECK(parse_number("2.2250738585072011e-308").value() < std::numeric_limits<double>::min());
  CHECK(parse_number("1e-999") == 0.0);
  CHECK(std::signbit(parse_number("-1e-999").value()));
  CHECK(std::signbit(parse_number("-0").value()));
  // 2^53 + 1 is a tie; one digit 800 places on breaks it upward
  CHECK(parse_number("9007199254740993." + std::string(800, '0') + "1") == 9007199254740994.0);
}

TEST_CASE("parse_number: refuses what is no number or does not fit", "[examples][edge]") {
  const char* const text =
      GENERATE("", "-", "+", "+-1", "--1", "-+1", "1e", "1e+", "1.2.3", "1,5", "1 2", " 1", "1 ",
               "0x", "0x-1", "0xg", "0xinf", "1e999", "-1e999", "0x1p1024", "abc", "1_000", "1f",
               "NA", "infinit", "nan(", "e5", ".", "1\xC2\xA0");
  CAPTURE(text);
  CHECK_FALSE(parse_number(text).has_value());
}

TEST_CASE("read_text: one number a line in every layout", "[examples][value]") {
  const values expected = {1, -2.5, 3};
  CHECK(read("1\n-2.5\n3\n") == expected);
  CHECK(read("1\n-2.5\n3") == expected);
  CHECK(read("1\r\n-2.5\r\n3\r\n") == expected);
  CHECK(read("1\r-2.5\r3\r") == expected);
  CHECK(read("\xEF\xBB\xBF"
             "1\n-2.5\n3\n") == expected);
  CHECK(read("# title\n\n1  # one\n \t\n\t-2.5\t# two\n  # three\n3  ") == expected);
  CHECK(read("score\n1\n-2.5\n3\n") == expected);
  CHECK(read("\"score, raw\"\n\"1\"\n-2.5\n3\n") == expected);
  CHECK(read("1\n-2.5\n3\n", "1") == expected);
  const values special = read("nan\n-inf\nInfinity\n");
  CHECK((std::isnan(special[0]) && special[1] == -inf && special[2] == inf));
}

TEST_CASE("read_text: a column of a table by name or number", "[examples][value]") {
  const values expected = {1, 2};
  CHECK(read("a,b\n1,10\n2,20\n", "a") == expected);
  CHECK(read("a,b\n10,1\n20,2\n", "2") == expected);
  CHECK(read("x,1\ny,2\n", "2") == expected);  // no header: the first row holds a number
  CHECK(read("a;b\n1;0,5\n2;0,7\n", "a") == expected);
  CHECK(read("a\tb\n\t1\n\t2\n", "b") == expected);
  CHECK(read("a\tb\n1\t#5\n2\t#6\n", "a") == expected);
  CHECK(read("name,\"the \"\"b\"\"\"\n\"x, y\",1\n\"two\nlines\", 2 \n", "the \"b\"") == expected);
  CHECK(read("a,b\n1,\n2,\n", "a") == expected);
  CHECK(read("a,2019\n1,10\n2,20\n", "a") == expected);
  CHECK(read("#a,2019\n10,1\n20,2\n", "2") == expected);
  CHECK(support::parse_numbers("a,b\n1,2\n", {.path = "x", .column = "b"}).column == "b");
}

TEST_CASE("read_text: says where and what is wrong", "[examples][edge]") {
  CHECK(begins(refusal(""), "1:1: is empty; "));
  CHECK(begins(refusal("\xEF\xBB\xBF"), "1:1: holds no number; "));
  CHECK(begins(refusal("# only\n\n"), "1:1: holds no number; "));
  CHECK(begins(refusal("score\n"), "2:1: holds a header line but no number; "));
  CHECK(begins(refusal("1\n2\n  word\n"), "3:3: 'word' is not a number; "));
  CHECK(begins(refusal("1\r\n2x\r\n"), "2:1: '2x' is not a number; "));
  CHECK(begins(refusal("1\r2\r\rx"), "4:1: 'x' is not a number; "));
  CHECK(begins(refusal("a\tb\n1\t#5\n", "b"), "2:3: '#5' is not a number; "));
  CHECK(begins(refusal("1\n1e999\n"), "2:1: '1e999' is not a number; "));
  CHECK(begins(refusal("1.O\n2\n"), "1:1: '1.O' is not a number; "));  // no header by a slip
  CHECK(begins(refusal("1 2 3\n"), "1:1: '1 2 3' is not a number; put one number on a line"));
  CHECK(begins(refusal("1\n1,5\n"), "2:3: fields: 2 here, 1 on line 1; "));
  CHECK(begins(refusal("1,5\n2,5\n"), "1:1: the table has 2 columns; "));
  CHECK(begins(refusal("a;b\n1,5;2\n", "a"), "2:1: '1,5' is not a number; write a decimal point"));
  CHECK(begins(refusal("a,b\n1,2\n3\n", "a"), "3:1: fields: 1 here, 2 on line 1; "));
  CHECK(begins(refusal("a,b\n1,2\n\n\n3,4,5\n", "a"), "5:5: fields: 3 here, 2 on line 1; "));
  CHECK(begins(refusal("a,b\n1,2\n\"x\ny\",oh\n", "b"), "4:4: 'oh' is not a number; "));
  CHECK(begins(refusal("a,b\n1,\n", "b"), "2:3: an empty field; write nan"));
  CHECK(begins(refusal("a,b\n\"1,2\n", "b"), "2:1: this quote never closes; "));
  CHECK(begins(refusal("a,b\n\"1\"2,3\n", "b"), "2:4: text after a closing quote; "));
  CHECK(begins(refusal("a,b\n1,2\n", "c"), "1:1: the first line has no column 'c' but 'a', 'b'; "));
  CHECK(begins(refusal("a,b\n1,2\n", "3"), "1:1: the first line has no column '3' but "));
  CHECK(begins(refusal("a,b\n1,2\n", "0"), "1:1: the first line has no column '0' but "));
  CHECK(begins(refusal("2019,a\n1,2\n", "1"), "1:6: cannot tell a header line from numbers: "));
  CHECK(begins(refusal("a,a\n1,2\n", "a"), "1:1: two columns are named 'a'; "));
  CHECK(begins(refusal("1\n\xE2\x88\x92"
                       "5\n"),
               "2:1: '\xE2\x88\x92"
               "5' is not a number; write an"));
  CHECK(begins(refusal("n,x\n\xC3\xA9\xC3\xA9,oh\n", "x"), "2:4: 'oh'"));  // columns in characters
  CHECK(begins(refusal(std::string(1000, '7') + "x"), "1:1: '" + std::string(40, '7') + "...' is"));
  CHECK(begins(refusal(std::string_view("1\n\0\n", 4)), "2:1: '?' is not a number; "));
  CHECK(begins(refusal("\xFF\xFE"
                       "1"),
               "1:1: text in UTF-16; "));
  CHECK(begins(refusal("PK\x03\x04"), "1:1: a zip archive"));
  CHECK(begins(refusal("\x1F\x8B"), "1:1: compressed by gzip; "));
}

TEST_CASE("read_text: weights are finite and not negative", "[examples][edge]") {
  const char* const bad = GENERATE("-1", "inf", "nan");
  CAPTURE(bad);
  try {
    support::parse_numbers("1\n0\n" + std::string(bad) + "\n",
                           {.path = "w", .judge = support::weight});
    FAIL("accepted");
  } catch (const support::input_error& error) {
    CHECK(error.where() == place{3, 1});
    CHECK(begins(error.what(), "w:3:1: " + std::string(bad) + " is not a weight; "));
  }
}

TEST_CASE("read_npy: what numpy wrote", "[examples][value]") {
  const values x = {-1.5, 0.25, 3, 65504, std::ldexp(1.0, -24)};
  for (const char* const name : {"little_f2.npy", "big_f2.npy", "little_f4.npy", "big_f8.npy",
                                 "version2.npy", "version3.npy"}) {
    CAPTURE(name);
    CHECK(read_file(name) == x);
  }
  const values special = read_file("not_finite_f2.npy");
  CHECK((special[0] == inf && special[1] == -inf && std::isnan(special[2])));
  CHECK(read_file("i1.npy") == values{-128, 127});
  CHECK(read_file("big_i8.npy") == values{-std::ldexp(1.0, 62), std::ldexp(1.0, 62)});
  CHECK(read_file("u8.npy") == values{0, std::ldexp(1.0, 63)});
  CHECK(read_file("bool.npy") == values{1, 0, 1});
  CHECK(read_file("scalar.npy") == values{2.5});
  for (const char* const name : {"table_c.npy", "table_fortran.npy"}) {
    CAPTURE(name);
    CHECK(read_file(name, "1") == values{1, 2, 3});
    CHECK(read_file(name, "2") == values{10, 20, 30});
  }
}

TEST_CASE("read_npy: says what is wrong", "[examples][edge]") {
  const auto refuses = [](const std::string& name, const std::string& column = {}) {
    return refusal(bytes_of(name), column);
  };
  CHECK(begins(refuses("complex.npy"), "1:22: cannot read elements of type '<c16'; "));
  CHECK(begins(refuses("text.npy"), "1:22: cannot read elements of type '<U4'; "));
  CHECK(begins(refuses("cube.npy"), "1:1: an array of 3 dimensions; "));
  CHECK(begins(refuses("empty.npy"), "1:1: an array with no element; "));
  CHECK(begins(refuses("table_c.npy"), "1:1: the array has 2 columns; "));
  CHECK(begins(refuses("table_c.npy", "3"), "1:1: the array has no column '3'; "));
  CHECK(begins(refuses("table_c.npy", "a"), "1:1: the array has no column 'a'; "));
  CHECK(begins(refusal(bytes_of("i1.npy") + "!"), "1:131: 1 bytes follow the array; "));

  const std::string whole = bytes_of("table_c.npy");
  CHECK(begins(refusal(whole.substr(0, 175)), "1:176: the .npy file ends after 5 of 3 x 2 elem"));
  for (std::size_t size = 1; size < whole.size(); ++size) {  // cut off anywhere
    CAPTURE(size);
    CHECK(begins(refusal(whole.substr(0, size), "1"), "1:" + std::to_string(size + 1) + ": "));
  }
  for (std::size_t at = 0; at < 128; ++at) {  // any byte of the header changed: no crash
    for (const char byte : {'\0', '9', '\'', '(', ' ', '\xFF'}) {
      std::string changed = whole;
      changed[at] = byte;
      CAPTURE(at, byte);
      CHECK_NOTHROW(refusal(changed, "1"));
    }
  }
}
