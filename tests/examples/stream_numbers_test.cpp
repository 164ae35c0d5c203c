// SPDX-License-Identifier: MIT
//
// Reading in pieces gives what reading at once gives, wherever the pieces end: numbers and complaints alike.
#include "support/stream_numbers.hpp"

#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "support/read_numbers.hpp"

namespace {

/// A file of these bytes, removed at the end.
class temporary_file {
 public:
  explicit temporary_file(const std::string& bytes) {
    const std::string name = "cumulus_stream_" + std::to_string(std::random_device{}());
    path_ = (std::filesystem::temp_directory_path() / name).string();
    std::ofstream(path_, std::ios::binary) << bytes;
  }
  temporary_file(const temporary_file&) = delete;
  temporary_file& operator=(const temporary_file&) = delete;
  ~temporary_file() { std::filesystem::remove(path_); }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// The numbers as text, then the complaint if there is one.
template <class Read>
std::string outcome(Read read) {
  std::string out;
  try {
    for (const double value : read()) out += std::to_string(value) + " ";
  } catch (const support::input_error& error) {
    out = error.what();
  }
  return out;
}

/// What comes in blocks of 3, with pieces of `piece` bytes.
std::string streamed(const support::source& wanted, std::size_t piece) {
  return outcome([&] {
    support::number_stream stream(wanted, {.piece = piece, .record = 1000});
    std::vector<double> all, block(3);
    for (std::size_t count = 0; (count = stream.read(block)) > 0;) {
      all.insert(all.end(), block.begin(), block.begin() + std::ptrdiff_t(count));
      if (count < block.size()) break;
    }
    return all;
  });
}

std::string at_once(const support::source& wanted) {
  return outcome([&] { return support::read_numbers(wanted).values; });
}

}  // namespace

TEST_CASE("stream_numbers: text in pieces of any size is the text", "[examples][property]") {
  const std::vector<std::pair<std::string, std::string>> texts = {
      // and the column
      {"1\n2\n3\n4\n", ""},
      {"1\r\n2\r\n3.25e2\r\n", ""},
      {"1\r2\r3", ""},
      {"\xEF\xBB\xBF\xEF\xBB\xBF", ""},  // a mark is no text behind another
      {"\xEF\xBB\xBF\xEF\xBB\xBF\n7\n8\n", ""},
      {"\xEF\xBB\xBF# words\n\n 1 \n# more, of them\n2 # here\n\n", ""},
      {"# \xC3\xA9t\xC3\xA9\na;b\n1;2\n3;4\n5;6", "b"},
      {"\"the, first\",b\n1,\"2\"\n3,\"4\"\n", "2"},
      {"\"a\nb\",c\n1,\"-2\"\r\n3,4\n", "a\nb"},
      {"\"say \"\"x\"\"\"\n7\n8\n", ""},
      {"n\tx\n1\t2\n3\t4\n", "x"},
      {"n,x\n1,2\n3\n", "x"},   // too few fields
      {"1\n2\n3x\n4\n", ""},    // no number
      {"1\n2\n\"3\n4\n", ""},   // a quote that never closes
      {"1\n\"2\" 3\n4\n", ""},  // text after a quote
      {"n,x\n", "x"},           // no number at all
      {"1,2\n3,4\n", ""},       // no column chosen
      {"a,1\n2,3\n", "2"},      // header or not?
      {"", ""},
      {"\n# nothing\n", ""},
      {"PK\x03\x04 zip", ""}};
  for (const auto& [text, column] : texts) {
    const temporary_file file(text);
    const support::source wanted{.path = file.path(), .column = column};
    const std::string expected = at_once(wanted);
    for (std::size_t piece = 4; piece <= text.size() + 5; ++piece) {
      CAPTURE(text, column, piece);
      CHECK(streamed(wanted, piece) == expected);
    }
  }
}

TEST_CASE("stream_numbers: arrays that numpy wrote, in pieces", "[examples][property]") {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(CUMULUS_TEST_DATA "/readers")) {
    if (entry.path().extension() != ".npy") continue;
    ++files;
    for (const char* column : {"", "1", "2", "3", "9"}) {
      const support::source wanted{.path = entry.path().string(), .column = column};
      const std::string expected = at_once(wanted);
      for (const std::size_t piece : {200u, 256u, 1000u, 1u << 20}) {
        CAPTURE(entry.path().string(), column, piece);
        CHECK(streamed(wanted, piece) == expected);
      }
    }
  }
  CHECK(files > 5);
}

TEST_CASE("stream_numbers: any part of an array", "[examples][property]") {
  const std::string path = CUMULUS_TEST_DATA "/readers/table_fortran.npy";
  REQUIRE(std::filesystem::exists(path));
  const support::source wanted{.path = path, .column = "2"};
  const auto all = support::read_numbers(wanted).values;
  for (std::size_t first = 0; first <= all.size(); ++first) {
    support::number_stream stream(wanted);
    REQUIRE(stream.npy() != nullptr);
    CHECK(stream.npy()->rows() == all.size());
    stream.npy()->seek(first);
    std::vector<double> rest(all.size() + 1);
    rest.resize(stream.read(rest));
    CHECK(rest == std::vector<double>(all.begin() + std::ptrdiff_t(first), all.end()));
  }
}

TEST_CASE("stream_numbers: a record that does not end is refused, not held", "[examples][edge]") {
  const temporary_file file("1\n\"" + std::string(5000, '2'));
  const std::string said = streamed({.path = file.path()}, 100);
  CHECK(said.find(":2:1: a record of more than 1000 bytes; ") != std::string::npos);
}
