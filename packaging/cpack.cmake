# SPDX-License-Identifier: MIT
#
# The Debian package libcumulus-dev: packaging/README.md says how it is made. With the static library it is of the machine's
# architecture, without it for all.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME libcumulus-dev)
set(CPACK_PACKAGE_VENDOR "the cumulus authors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION} (C++ headers and static library)")
set(CPACK_PACKAGE_DESCRIPTION
"cumulus is a C++20 library: logsumexp, softmax and log-softmax exact for
every input, their Taylor series to any order from mergeable moments with a
bound on every value, and attention built on both: block scores for sparse
attention, linear attention, dense attention.
.
It is used as headers alone (CMake's cumulus::cumulus, pkg-config's cumulus)
or with the static library libcumulus.a, which makes programs compile faster
(cumulus::compiled, cumulus-compiled). It needs Eigen.")
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)

set(CUMULUS_MAINTAINER "the cumulus authors <cumulus@localhost>" CACHE STRING "Who maintains the Debian package")
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "${CUMULUS_MAINTAINER}")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
if(NOT TARGET cumulus_compiled)
  set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE all)
endif()  # else that of dpkg --print-architecture, which CPack asks for
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libeigen3-dev (>= 3.4)")
set(CPACK_DEBIAN_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)  # of its lists, whoever packs it
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

# What Debian wants beside the library: the licence, and what changed, upstream and in the package.
set(documents "${PROJECT_BINARY_DIR}/packaging/${CPACK_PACKAGE_NAME}")
file(REMOVE_RECURSE "${documents}")
configure_file(LICENSE "${documents}/copyright" COPYONLY)
configure_file(README.md "${documents}/README.md" COPYONLY)
string(TIMESTAMP today "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(WRITE "${documents}.changelog" "cumulus (${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}) unstable; urgency=medium

  * As upstream, whose changes are in changelog.gz.

 -- ${CUMULUS_MAINTAINER}  ${today}
")
file(ARCHIVE_CREATE OUTPUT "${documents}/changelog.Debian.gz" PATHS "${documents}.changelog"
  FORMAT raw COMPRESSION GZip COMPRESSION_LEVEL 9)
file(ARCHIVE_CREATE OUTPUT "${documents}/changelog.gz" PATHS "${PROJECT_SOURCE_DIR}/CHANGELOG.md"
  FORMAT raw COMPRESSION GZip COMPRESSION_LEVEL 9)
set(CPACK_INSTALLED_DIRECTORIES "${documents}" "usr/share/doc/${CPACK_PACKAGE_NAME}")
include(CPack)
