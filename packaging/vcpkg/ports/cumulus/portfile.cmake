# SPDX-License-Identifier: MIT
#
# The port takes the source tree that it stands in. One for vcpkg's own registry would fetch a release instead, with
# vcpkg_from_github(... REF "v${VERSION}" SHA512 ...).
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../../.." ABSOLUTE)

vcpkg_check_features(OUT_FEATURE_OPTIONS feature_options FEATURES compiled CUMULUS_COMPILED)
if("compiled" IN_LIST FEATURES)
  vcpkg_check_linkage(ONLY_STATIC_LIBRARY)
else()
  set(VCPKG_BUILD_TYPE release)  # headers only: there is nothing to debug
endif()

vcpkg_cmake_configure(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS
    ${feature_options}
    -DCUMULUS_TESTS=OFF
    -DCUMULUS_BENCH=OFF
    -DCUMULUS_EXAMPLES=OFF
    -DCUMULUS_INSTALL=ON
)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH share/cmake/cumulus)
vcpkg_fixup_pkgconfig()

file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
if(NOT "compiled" IN_LIST FEATURES)
  file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/lib" "${CURRENT_PACKAGES_DIR}/debug")
endif()
file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
