#!/usr/bin/env bash
# 64-bit ARM: compiles with Debian's cross compiler against a Debian of that architecture, runs unit and parity tests under
# qemu-user.
#
#     tests/cross/aarch64.sh                     all unit and parity tests but the longest (below)
#     tests/cross/aarch64.sh --all               those, too
#     tests/cross/aarch64.sh test_model ...      these test programs alone
#
# Needs root (for debootstrap), debootstrap, g++-aarch64-linux-gnu and qemu-user-static; exits with 77 where they are missing.
# The first call downloads about 150 packages; everything is kept in build/aarch64 and build/aarch64-sysroot. Emulation is about
# twenty times slower than a processor, and this is no part of CI. Left out without --all: fits (test_train, test_learn), which run
# the kernels of test_engines and test_gradients over and over.
set -euo pipefail
source_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=tests/package/chroot.sh
source "$source_root/tests/package/chroot.sh"
need_chroot_tools
for tool in aarch64-linux-gnu-g++ qemu-aarch64-static; do
  command -v $tool >/dev/null || { echo "skipped: $tool is not installed (g++-aarch64-linux-gnu, qemu-user-static)"; exit 77; }
done
sysroot=$source_root/build/aarch64-sysroot
build=$source_root/build/aarch64
jobs=${JOBS:-$(nproc)}
left_out='^(train|learn|recovery)'
if [ "${1:-}" = --all ]; then
  left_out='^$'
  shift
fi

# Headers and libraries: what the build needs of apt-packages.txt, unpacked without being installed.
if [ ! -e "$sysroot/done" ]; then
  rm -rf "$sysroot"
  debootstrap --foreign --arch=arm64 --variant=minbase \
    --include=libcli11-dev,libdeflate-dev,libhts-dev,libhwy-dev,liblbfgs-dev,libspdlog-dev,nlohmann-json3-dev,catch2,libstdc++-12-dev \
    bookworm "$sysroot" "$(apt_mirror)" >"$source_root/build/aarch64-sysroot.log" 2>&1
  for package in "$sysroot"/var/cache/apt/archives/*.deb; do dpkg -x "$package" "$sysroot"; done
  # Links to /lib/... mean the sysroot's.
  find "$sysroot" -type l -lname '/*' | while read -r link; do
    ln -sfn "$(realpath -m --relative-to="$(dirname "$link")" "$sysroot$(readlink "$link")")" "$link"
  done
  touch "$sysroot/done"
fi

export AARCH64_SYSROOT=$sysroot
cmake -S "$source_root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DSEMICRF_CUDA=OFF -DSEMICRF_UNITY=ON \
  -DCMAKE_TOOLCHAIN_FILE="$source_root/tests/cross/aarch64.cmake" >"$build.log"
cmake --build "$build" --parallel "$jobs" --target "${@:-unit_tests}"
[ $# -gt 0 ] || cmake --build "$build" --parallel "$jobs"
# Which kernels there are: of every instruction set that Highway compiles for this architecture.
for set in N_NEON N_SVE N_SVE2; do
  count=$(find "$build/src/cpu" -name '*.o' -exec aarch64-linux-gnu-nm -C {} + | grep -c "$set::" || true)
  echo "$set: $count symbols of kernels"
done
if [ $# -gt 0 ]; then
  for program in "$@"; do
    file=$(find "$build/tests" -type f -name "$program" -perm -u+x)
    echo "$program under qemu:"
    qemu-aarch64-static -cpu max -L "$sysroot" "$file"
  done
else
  ctest --test-dir "$build" -L 'unit|parity' --parallel "$jobs" --output-on-failure --timeout 3600
fi
