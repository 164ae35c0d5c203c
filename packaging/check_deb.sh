#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Makes the Debian package in DIRECTORY and uses it, unpacked, as a stranger would: by CMake and by pkg-config, as headers alone and
# with the static library.
#   packaging/check_deb.sh DIRECTORY
set -euo pipefail
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
mkdir -p "$1"
out=$(cd "$1" && pwd)
rm -rf "$out/unpacked" "$out/consumer" "$out"/*.deb

# The prefix decides that libraries go to lib/<triplet>, as Debian has them.
cmake -S "$source" -B "$out/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=/usr \
  -DCUMULUS_COMPILED=ON -DCUMULUS_TESTS=OFF -DCUMULUS_BENCH=OFF -DCUMULUS_EXAMPLES=OFF >/dev/null
cmake --build "$out/build"
cpack --config "$out/build/CPackConfig.cmake" -B "$out"
rm -rf "$out/_CPack_Packages"
package=$(echo "$out"/libcumulus-dev_*_"$(dpkg --print-architecture)".deb)
dpkg-deb --info "$package"
dpkg-deb --extract "$package" "$out/unpacked"

missing=$(comm -23 <(cd "$source/include" && find . -type f | sort) <(cd "$out/unpacked/usr/include" && find . -type f | sort))
[[ -z $missing ]] || { echo "not in the package: $missing" >&2; exit 1; }
library=$(find "$out/unpacked/usr/lib" -name libcumulus.a)
[[ -n $library ]] || { echo "no libcumulus.a" >&2; exit 1; }
for document in copyright changelog.gz changelog.Debian.gz; do
  [[ -s $out/unpacked/usr/share/doc/libcumulus-dev/$document ]] || { echo "no $document" >&2; exit 1; }
done

# tests/consumer builds a program with cumulus::cumulus and, where the package has it, one with cumulus::compiled.
cmake -S "$source/tests/consumer" -B "$out/consumer" -G Ninja "-DCMAKE_PREFIX_PATH=$out/unpacked/usr" >/dev/null
cmake --build "$out/consumer"
for program in "$out"/consumer/consumer*; do
  [[ ! -f $program || ! -x $program ]] || "$program"
done
export PKG_CONFIG_PATH=${library%/*}/pkgconfig
cmake "-DPREFIX=$out/unpacked/usr" "-DCXX=${CXX:-g++}" "-DOUT=$out/pkg_config" -P "$source/tests/consumer/pkg_config.cmake"
echo "$package"
