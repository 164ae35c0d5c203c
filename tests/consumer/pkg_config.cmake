# SPDX-License-Identifier: MIT
#
# A stranger's program by pkg-config and the compiler alone, against what install.cmake installed, away from where it was
# configured for:
#   cmake -DPREFIX=... -DLIBDIR=lib -DCXX=g++ -DOUT=DIRECTORY -DMODULE=cumulus -P pkg_config.cmake
cmake_minimum_required(VERSION 3.25)

find_program(pkg_config pkg-config)
if(NOT pkg_config)
  message("SKIPPED: no pkg-config here (apt-get install pkg-config)")
  return()
endif()
execute_process(COMMAND "${pkg_config}" --exists "eigen3 >= 3.4" RESULT_VARIABLE missing)
if(missing)
  message("SKIPPED: pkg-config does not know Eigen 3.4 (no eigen3.pc)")
  return()
endif()

set(ENV{PKG_CONFIG_PATH} "${PREFIX}/${LIBDIR}/pkgconfig:$ENV{PKG_CONFIG_PATH}")
execute_process(COMMAND "${pkg_config}" --cflags --libs --print-errors ${MODULE}
  OUTPUT_VARIABLE flags OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
string(FIND "${flags}" "-I${PREFIX}/" at)
if(at EQUAL -1)
  message(FATAL_ERROR "not of ${PREFIX}: ${flags}")
endif()
separate_arguments(flags UNIX_COMMAND "${flags}")
file(MAKE_DIRECTORY "${OUT}")
execute_process(COMMAND "${CXX}" -std=c++20 "${CMAKE_CURRENT_LIST_DIR}/main.cpp" "${CMAKE_CURRENT_LIST_DIR}/softmax.cpp"
  ${flags} -o "${OUT}/consumer" COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${OUT}/consumer" COMMAND_ERROR_IS_FATAL ANY)
