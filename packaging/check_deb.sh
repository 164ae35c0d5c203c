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
  -DCUMULUS_TESTS=OFF -DCUMULUS_BENCH=OFF -DCUMULUS_EXAMPLES=OFF >/dev/null
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

for target in cumulus compiled mixed; do
  cmake -S "$source/tests/consumer" -B "$out/consumer/$target" -G Ninja "-DCMAKE_PREFIX_PATH=$out/unpacked/usr" \
    -DTARGET_NAME=$target >/dev/null
  cmake --build "$out/consumer/$target"
  "$out/consumer/$target/consumer"
done
libdir=${library#"$out/unpacked/usr/"}
for module in cumulus cumulus-compiled; do
  cmake "-DPREFIX=$out/unpacked/usr" "-DLIBDIR=${libdir%/*}" "-DMODULE=$module" "-DCXX=${CXX:-g++}" "-DOUT=$out/pkg_config" \
    -P "$source/tests/consumer/pkg_config.cmake"
done
echo "$package"
