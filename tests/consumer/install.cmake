# SPDX-License-Identifier: MIT
#
# Installs a build tree to an empty prefix and checks that every header arrived:
#   cmake -DBUILD=build/release -DSOURCE=. -DPREFIX=... -P install.cmake
cmake_minimum_required(VERSION 3.25)

file(REMOVE_RECURSE "${PREFIX}")
execute_process(COMMAND "${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${PREFIX}" COMMAND_ERROR_IS_FATAL ANY)
file(GLOB_RECURSE expected RELATIVE "${SOURCE}/include" "${SOURCE}/include/*")
file(GLOB_RECURSE installed RELATIVE "${PREFIX}/include" "${PREFIX}/include/*")
list(REMOVE_ITEM expected ${installed})
if(expected)
  message(FATAL_ERROR "not installed: ${expected}")
endif()
