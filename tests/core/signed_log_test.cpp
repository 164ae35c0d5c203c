// SPDX-License-Identifier: MIT
#include <cumulus/core/signed_log.hpp>

#include "catch.hpp"

using cumulus::signed_log;

TEST_CASE("signed_log: equal where size and sign are", "[core][edge]") {
  CHECK(signed_log<double>{1, 1} == signed_log<double>{1, 1});
  CHECK(signed_log<double>{1, 1} != signed_log<double>{1, -1});
  CHECK(signed_log<double>{1, 1} != signed_log<double>{2, 1});
}
