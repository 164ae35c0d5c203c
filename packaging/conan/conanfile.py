# SPDX-License-Identifier: MIT
#
# For Conan 2: conan create packaging/conan --build=missing
import os
import re

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.files import copy, load
from conan.tools.layout import basic_layout

required_conan_version = ">=2.0"


class CumulusConan(ConanFile):
    name = "cumulus"
    description = "logsumexp, softmax and their Taylor expansions to any order"
    license = "MIT"
    topics = ("logsumexp", "softmax", "cumulants", "taylor-series", "attention", "header-only")
    package_type = "header-library"
    settings = "os", "arch", "compiler", "build_type"
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
        copy(self, "LICENSE", self._root(), self.export_sources_folder)
        copy(self, "include/cumulus/*", self._root(), self.export_sources_folder)

    def layout(self):
        basic_layout(self)

    def requirements(self):
        self.requires("eigen/3.4.0", transitive_headers=True)

    def validate(self):
        check_min_cppstd(self, 20)

    def package_id(self):
        self.info.clear()

    def build(self):
        pass

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        copy(self, "include/cumulus/*", self.source_folder, self.package_folder)

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "cumulus")
        self.cpp_info.set_property("cmake_target_name", "cumulus::cumulus")
        self.cpp_info.set_property("pkg_config_name", "cumulus")
        self.cpp_info.bindirs = []
        self.cpp_info.libdirs = []
