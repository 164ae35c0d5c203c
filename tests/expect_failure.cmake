# SPDX-License-Identifier: MIT
#
# Passes only where a command fails and says why:
#   cmake -DEXPECT=REGEX      -P expect_failure.cmake -- COMMAND...
#   cmake -DEXPECT_IN=SOURCE  -P expect_failure.cmake -- COMMAND...   REGEX from SOURCE's first line, // expect: REGEX
cmake_minimum_required(VERSION 3.25)

if(DEFINED EXPECT_IN)
  file(STRINGS "${EXPECT_IN}" first LIMIT_COUNT 1)
  if(NOT first MATCHES "^// expect: *([^ ].*)$")
    message(FATAL_ERROR "${EXPECT_IN}:1: the first line must be '// expect: REGEX'")
  endif()
  set(EXPECT "${CMAKE_MATCH_1}")
endif()

set(command)
set(after_dashes FALSE)
math(EXPR last "${CMAKE_ARGC} - 1")
foreach(i RANGE ${last})
  if(after_dashes)
    list(APPEND command "${CMAKE_ARGV${i}}")
  elseif(CMAKE_ARGV${i} STREQUAL "--")
    set(after_dashes TRUE)
  endif()
endforeach()

set(ENV{LC_ALL} C)  # plain quotes and English in a compiler's messages
execute_process(COMMAND ${command} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(status EQUAL 0)
  message("${output}")
  message(FATAL_ERROR "this succeeded, and should not: ${command}")
elseif(NOT output MATCHES "${EXPECT}")
  message("${output}")
  message(FATAL_ERROR "failed as it should, but its message does not match: ${EXPECT}")
endif()
