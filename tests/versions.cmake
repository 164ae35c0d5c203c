# SPDX-License-Identifier: MIT
#
# What names a version names that of core/version.hpp:
#   cmake -DROOT=. -P tests/versions.cmake
cmake_minimum_required(VERSION 3.25)

file(READ "${ROOT}/include/cumulus/core/version.hpp" header)
set(parts)
foreach(part IN ITEMS MAJOR MINOR PATCH)
  if(NOT header MATCHES "CUMULUS_VERSION_${part} +([0-9]+)")
    message(FATAL_ERROR "version.hpp has no CUMULUS_VERSION_${part}")
  endif()
  list(APPEND parts "${CMAKE_MATCH_1}")
endforeach()
list(JOIN parts . version)

# names(FILE REGEX): the first match of the regular expression, whose group is the version.
function(names file regex)
  file(READ "${ROOT}/${file}" text)
  if(NOT text MATCHES "${regex}")
    message(SEND_ERROR "${file}: no version, by ${regex}")
  elseif(NOT CMAKE_MATCH_1 STREQUAL version)
    message(SEND_ERROR "${file} says ${CMAKE_MATCH_1}, core/version.hpp ${version}")
  endif()
endfunction()
set(number "([0-9]+[.][0-9]+[.][0-9]+)")
names(CITATION.cff "\nversion: ${number}\n")
names(CHANGELOG.md "\n## \\[${number}\\]")
names(packaging/vcpkg/ports/cumulus/vcpkg.json "\"version-semver\": \"${number}\"")
names(packaging/vcpkg/versions/baseline.json "\"baseline\": \"${number}\"")
names(packaging/vcpkg/versions/c-/cumulus.json "\"version-semver\": \"${number}\"")
