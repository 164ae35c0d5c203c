// SPDX-License-Identifier: MIT
//
// The options types of the library, compared from their source: one order of members, one type and one default for each name.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "catch.hpp"

namespace {

/// Of types of one kind, members of one name have one type and one default.
enum class kind { vector, matrix };

struct options_type {
  const char* header;  ///< below include/cumulus
  const char* name;
  kind of;
};

/// All of them, a line each: a type of a scanned folder that is not here fails the last test.
const std::vector<options_type> all{
    {"core/options.hpp", "options", kind::vector},
    {"core/options.hpp", "matrix_options", kind::matrix},
    {"core/options.hpp", "softmax_options", kind::vector},
    {"core/options.hpp", "softmax_matrix_options", kind::matrix},
    {"core/options.hpp", "mean_options", kind::vector},
    {"core/options.hpp", "mean_matrix_options", kind::matrix},
    {"core/options.hpp", "variance_options", kind::vector},
    {"core/options.hpp", "variance_matrix_options", kind::matrix},
    {"exact/logsumexp_signed.hpp", "signed_options", kind::vector},
    {"exact/cross_entropy.hpp", "cross_entropy_options", kind::vector},
    {"core/scaled_rows.hpp", "scaled_rows_options", kind::vector},
    {"exact/log_product.hpp", "log_product_options", kind::vector},
};
const std::vector<std::string> scanned_folders{"core", "exact"};

/// The names that have a place, in their order; what a type has of its own stands where "" does.
const std::vector<std::string> order{"weights",    "mask", "scale",   "sink",
                                     "degenerate", "",     "threads", "executor"};

struct member {
  std::string type, name, initialiser, comment;
};

const std::filesystem::path headers =
    std::filesystem::path(CUMULUS_TEST_DATA) / "../../include/cumulus";

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// The members of a flat aggregate, one a line; none where the header has no such type, or gives it a base.
std::vector<member> members_of(const options_type& type) {
  const std::string text = text_of(headers / type.header);
  const std::string head = std::string("struct ") + type.name + " {\n";
  const auto begin = text.find(head);
  if (begin == std::string::npos) return {};
  const auto end = text.find("\n};", begin);
  const std::string body = text.substr(begin + head.size(), end + 1 - begin - head.size());
  static const std::regex line(R"(^  ([\w:<>]+) (\w+)( ?= ?[^;]*|\{[^;]*\})?; *///< (.+)$)");
  std::vector<member> result;
  std::size_t at = 0;
  while (at < body.size()) {
    const auto stop = body.find('\n', at);
    const std::string one = body.substr(at, stop - at);
    at = stop + 1;
    std::smatch part;
    INFO(type.name << " has a line that is no member with its comment:\n" << one);
    const bool is_member = std::regex_match(one, part, line);
    REQUIRE(is_member);
    result.push_back({part[1], part[2], part[3], part[4]});
  }
  return result;
}

std::size_t place_of(const std::string& name) {
  const auto own = std::find(order.begin(), order.end(), "");
  const auto found = std::find(order.begin(), order.end(), name);
  return std::size_t((found == order.end() ? own : found) - order.begin());
}

}  // namespace

TEST_CASE("options: each type is a flat aggregate whose members stand in the one order",
          "[core][property]") {
  for (const options_type& type : all) {
    CAPTURE(type.name);
    const auto members = members_of(type);
    REQUIRE(!members.empty());
    std::size_t before = 0;
    for (const member& m : members) {
      CAPTURE(m.name);
      CHECK(before <= place_of(m.name));
      before = place_of(m.name);
      CHECK(!m.initialiser.empty());
    }
  }
}

TEST_CASE("options: members of one name have one type and one default", "[core][property]") {
  std::map<std::pair<kind, std::string>, std::pair<std::string, const char*>> known;
  for (const options_type& type : all) {
    for (const member& m : members_of(type)) {
      const auto [first, is_new] =
          known.insert({{type.of, m.name}, {m.type + " " + m.initialiser, type.name}});
      CAPTURE(type.name, first->second.second, m.name);
      CHECK(first->second.first == m.type + " " + m.initialiser);
    }
  }
}

TEST_CASE("options: a type for matrices has the members of that for vectors", "[core][property]") {
  const auto names_of = [](const options_type& type) {
    std::vector<std::string> names;
    for (const member& m : members_of(type)) names.push_back(m.name);
    return names;
  };
  for (std::size_t i = 0; i + 1 < all.size(); ++i) {
    if (all[i].of != kind::vector || all[i + 1].of != kind::matrix) continue;
    CAPTURE(all[i].name, all[i + 1].name);
    CHECK(names_of(all[i]) == names_of(all[i + 1]));
  }
}

TEST_CASE("options: no type is missing here", "[core][property]") {
  static const std::regex head(R"(struct (\w*options)\b)");
  for (const std::string& folder : scanned_folders) {
    for (const auto& file : std::filesystem::directory_iterator(headers / folder)) {
      const std::string text = text_of(file.path());
      for (std::sregex_iterator found(text.begin(), text.end(), head), end; found != end; ++found) {
        const std::string name = (*found)[1];
        CAPTURE(file.path().filename().string(), name);
        CHECK(std::any_of(all.begin(), all.end(),
                          [&](const options_type& t) { return t.name == name; }));
      }
    }
  }
}
