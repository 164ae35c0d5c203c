// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

std::vector<std::uint64_t> header_only_results();
std::vector<std::uint64_t> compiled_results();
