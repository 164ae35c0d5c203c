# SPDX-License-Identifier: MIT
#
# Finds MPI, where it is installed, and how a test starts a program of several ranks.
find_package(MPI COMPONENTS CXX QUIET)

# The leaks that a sanitizer finds are those of MPI_Init.
set(mpi_environment "ASAN_OPTIONS=detect_leaks=0")

# mpi_launcher(OUT RANKS): what stands before the program in a command line. Open MPI wants to be told that it may run as root
# and with more ranks than cores.
function(mpi_launcher out ranks)
  execute_process(COMMAND "${MPIEXEC_EXECUTABLE}" --version OUTPUT_VARIABLE version ERROR_QUIET)
  set(flags)
  if(version MATCHES "Open MPI|OpenRTE")
    set(flags " --allow-run-as-root --oversubscribe")
  endif()
  set(${out} "${MPIEXEC_EXECUTABLE}${flags} ${MPIEXEC_NUMPROC_FLAG} ${ranks}" PARENT_SCOPE)
endfunction()
