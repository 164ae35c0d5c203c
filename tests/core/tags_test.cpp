// SPDX-License-Identifier: MIT
#include <cumulus/core/tags.hpp>

#include <string>
#include <type_traits>

#include "catch.hpp"

namespace {

enum class chosen { options, by_rows };
struct some_options {
  int weights = 0;
};
chosen call(const some_options&) { return chosen::options; }
chosen call(cumulus::rowwise_t) { return chosen::by_rows; }

}  // namespace

TEST_CASE("tags: {} is no direction, so that it can mean no options", "[core][edge]") {
  CHECK(call({}) == chosen::options);
  CHECK(call(cumulus::rowwise) == chosen::by_rows);
  static_assert(!std::is_default_constructible_v<cumulus::rowwise_t>);
  static_assert(!std::is_default_constructible_v<cumulus::colwise_t>);
  static_assert(!std::is_convertible_v<int, cumulus::colwise_t>);
  static_assert(!std::is_same_v<cumulus::rowwise_t, cumulus::colwise_t>);
  static_assert(cumulus::dynamic < 0);  // no order
}

TEST_CASE("tags: every policy has a name", "[core][value]") {
  using cumulus::degenerate;
  CHECK(std::string(name_of(degenerate::limit)) == "limit");
  CHECK(std::string(name_of(degenerate::zero)) == "zero");
  CHECK(std::string(name_of(degenerate::uniform)) == "uniform");
  CHECK(std::string(name_of(degenerate::ieee)) == "ieee");
}
