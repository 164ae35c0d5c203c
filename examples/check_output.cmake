# SPDX-License-Identifier: MIT
#
# Runs an example and compares what it prints with the `// Output:` comment of its source. Times, a number before ns, us, ms, s, x or
# tokens/s, may differ:
#   cmake -DPROGRAM=build/release/examples/NAME -DSOURCE=examples/NAME.cpp [-DLAUNCHER="mpiexec -n 4"] -P check_output.cmake
cmake_minimum_required(VERSION 3.25)

file(READ "${SOURCE}" text)
if(NOT "${text}\n" MATCHES "\n// Output:\n((//[^\n]*\n)+)")
  message(FATAL_ERROR "${SOURCE}: no comment block that begins with the line '// Output:'")
endif()
string(REGEX REPLACE "(^|\n)// ?" "\\1" expected "${CMAKE_MATCH_1}")

set(ENV{LC_ALL} C)
separate_arguments(launcher UNIX_COMMAND "${LAUNCHER}")
execute_process(COMMAND ${launcher} "${PROGRAM}" RESULT_VARIABLE status OUTPUT_VARIABLE actual)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${PROGRAM} ended with status ${status}")
endif()
set(time " +[0-9.]+(e[+-]?[0-9]+)? (ns|us|ms|s|tokens/s|x)([ \n])")
if(expected MATCHES "${time}")  # then the widths of columns may differ too
  foreach(text IN ITEMS expected actual)
    string(REGEX REPLACE "${time}" " # \\2\\3" ${text} "${${text}}")
    string(REGEX REPLACE " +" " " ${text} "${${text}}")
  endforeach()
endif()
if(NOT actual STREQUAL expected)
  message("--- ${SOURCE} says\n${expected}--- the program prints\n${actual}---")
  message(FATAL_ERROR "the output differs from the source's comment")
endif()
