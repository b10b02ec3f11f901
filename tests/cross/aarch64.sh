#!/usr/bin/env bash
# 64-bit ARM: compiles with Debian's cross compiler against a Debian of that architecture, runs unit and parity tests under
# qemu-user, on an emulated processor with SVE vectors of 256 bits, where the engines have kernels for NEON and for SVE.
#
#     tests/cross/aarch64.sh                          all unit and parity tests
#     tests/cross/aarch64.sh test_model ...           these test programs alone
#     SVE_BITS=128 tests/cross/aarch64.sh test_engines   kernels for SVE2 with 128 bits in place of the 256, in a folder of their own
#
# Needs root (for debootstrap), debootstrap, g++-aarch64-linux-gnu and qemu-user-static; exits with 77 where they are missing.
# The first call downloads about 150 packages; everything is kept in build/aarch64 and build/aarch64-sysroot. Emulation is about
# twenty times slower than a processor, so that long tests are shorter (tests/support/slow_build.h), and this is no part of CI.
# Programs run one after the other, JOBS of them (1) at a time; each says how long it took.
set -euo pipefail
source_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=tests/package/chroot.sh
source "$source_root/tests/package/chroot.sh"
need_chroot_tools
for tool in aarch64-linux-gnu-g++ qemu-aarch64-static; do
  command -v $tool >/dev/null || { echo "skipped: $tool is not installed (g++-aarch64-linux-gnu, qemu-user-static)"; exit 77; }
done
sysroot=$source_root/build/aarch64-sysroot
bits=${SVE_BITS:-256}
build=$source_root/build/aarch64
[ "$bits" = 256 ] || build=$build-$bits
emulator="qemu-aarch64-static -cpu max,sve-max-vq=$((bits / 128)) -L $sysroot"

# Headers and libraries: what the build needs of apt-packages.txt, unpacked without being installed.
if [ ! -e "$sysroot/done" ]; then
  rm -rf "$sysroot"
  debootstrap --foreign --arch=arm64 --variant=minbase \
    --include=libcli11-dev,libdeflate-dev,libhts-dev,libhwy-dev,libeigen3-dev,liblbfgspp-dev,libfmt-dev,libspdlog-dev,nlohmann-json3-dev,catch2,libstdc++-12-dev \
    bookworm "$sysroot" "$(apt_mirror)" >"$source_root/build/aarch64-sysroot.log" 2>&1
  for package in "$sysroot"/var/cache/apt/archives/*.deb; do dpkg -x "$package" "$sysroot"; done
  # Links to /lib/... mean the sysroot's.
  find "$sysroot" -type l -lname '/*' | while read -r link; do
    ln -sfn "$(realpath -m --relative-to="$(dirname "$link")" "$sysroot$(readlink "$link")")" "$link"
  done
  touch "$sysroot/done"
fi

export AARCH64_SYSROOT=$sysroot
cmake -S "$source_root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE='-O2 -DNDEBUG' -DSEMICRF_CUDA=OFF \
  -DSEMICRF_UNITY=ON -DSEMICRF_SVE_BITS="$bits" -DCMAKE_TOOLCHAIN_FILE="$source_root/tests/cross/aarch64.cmake" >"$build.log"
if [ $# -gt 0 ]; then targets=("$@"); else targets=(unit_tests parity_tests); fi
cmake --build "$build" --parallel "$(nproc)" --target "${targets[@]}"
# Which kernels there are, of every instruction set that Highway knows for this architecture.
for set in N_NEON N_SVE_256 N_SVE2_128; do
  count=$(find "$build/src/cpu" -name '*.o' -exec aarch64-linux-gnu-nm -C {} + | grep -c "$set::" || true)
  echo "$set: $count symbols of kernels"
done
if [ $# -eq 0 ]; then
  mapfile -t programs < <(find "$build/tests/unit" "$build/tests/parity" -type f -name 'test_*' -perm -u+x | sort)
else
  mapfile -t programs < <(for name in "$@"; do find "$build/tests" -type f -name "$name" -perm -u+x; done)
fi
export emulator
# shellcheck disable=SC2016
printf '%s\0' "${programs[@]}" | xargs -0 -n 1 -P "${JOBS:-1}" bash -c '
  cd "$(dirname "$1")"
  TIMEFORMAT="%1U s of processor time, %1R s"
  # shellcheck disable=SC2086
  if took=$({ time $emulator "$1" >"$1.said" 2>&1; } 2>&1); then
    echo "$(basename "$1"): $(tail -n 2 "$1.said" | head -n 1) ($took)"
  else
    cat "$1.said"; echo "$(basename "$1"): failed ($took)"; exit 1
  fi' run
echo "${#programs[@]} passed, 0 failed"
