# SPDX-License-Identifier: MIT
#
# For Conan 2: conan create packaging/conan --build=missing [-o "cumulus/*:compiled=True"]
import os
import re

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load

required_conan_version = ">=2.0"


class CumulusConan(ConanFile):
    name = "cumulus"
    description = "logsumexp, softmax and their Taylor expansions to any order"
    license = "MIT"
    topics = ("logsumexp", "softmax", "cumulants", "taylor-series", "attention")
    settings = "os", "arch", "compiler", "build_type"
    # compiled: with the static library cumulus::compiled beside the headers.
    options = {"compiled": [True, False], "fPIC": [True, False]}
    default_options = {"compiled": False, "fPIC": True}
    no_copy_source = True

    def _root(self):
        return os.path.join(self.recipe_folder, "..", "..")

    def set_version(self):
        header = load(self, os.path.join(self._root(), "include", "cumulus", "core", "version.hpp"))
        self.version = ".".join(
            re.search(rf"CUMULUS_VERSION_{part} +(\d+)", header).group(1)
            for part in ("MAJOR", "MINOR", "PATCH")
        )

    # The recipe stands below what it packs.
    def export_sources(self):
        for pattern in ("LICENSE", "CMakeLists.txt", "cmake/*", "include/cumulus/*", "src/*"):
            copy(self, pattern, self._root(), self.export_sources_folder)

    def configure(self):
        if self.options.compiled:
            self.package_type = "static-library"
        else:
            self.package_type = "header-library"
            self.options.rm_safe("fPIC")

    def layout(self):
        cmake_layout(self)

    def requirements(self):
        self.requires("eigen/3.4.0", transitive_headers=True)

    def validate(self):
        check_min_cppstd(self, 20)

    def package_id(self):
        if not self.info.options.compiled:
            self.info.clear()

    def generate(self):
        if self.options.compiled:
            CMakeDeps(self).generate()
            toolchain = CMakeToolchain(self)
            for part in ("TESTS", "BENCH", "EXAMPLES", "INSTALL"):
                toolchain.cache_variables[f"CUMULUS_{part}"] = False
            toolchain.cache_variables["CUMULUS_COMPILED"] = True
            toolchain.generate()

    def build(self):
        if self.options.compiled:
            cmake = CMake(self)
            cmake.configure()
            cmake.build(target="cumulus_compiled")

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        copy(self, "include/cumulus/*", self.source_folder, self.package_folder)
        if self.options.compiled:
            lib = os.path.join(self.package_folder, "lib")
            copy(self, "*.a", self.build_folder, lib, keep_path=False)
            copy(self, "*.lib", self.build_folder, lib, keep_path=False)

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "cumulus")
        self.cpp_info.set_property("cmake_target_name", "cumulus::all")
        headers = self.cpp_info.components["headers"]
        headers.set_property("cmake_target_name", "cumulus::cumulus")
        headers.set_property("pkg_config_name", "cumulus")
        headers.requires = ["eigen::eigen"]
        headers.bindirs = []
        headers.libdirs = []
        if self.options.compiled:
            compiled = self.cpp_info.components["compiled"]
            compiled.set_property("cmake_target_name", "cumulus::compiled")
            compiled.set_property("pkg_config_name", "cumulus-compiled")
            compiled.requires = ["headers"]
            compiled.libs = ["cumulus"]
            compiled.defines = ["CUMULUS_COMPILED"]
            compiled.bindirs = []
