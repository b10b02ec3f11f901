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
longest='test_(train|learn)$'
if [ "${1:-}" = --all ]; then
  longest='^$'
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
if [ $# -gt 0 ]; then cmake --build "$build" --parallel "$jobs" --target "$@"; else cmake --build "$build" --parallel "$jobs"; fi
# Which kernels there are: of every instruction set that Highway compiles for this architecture.
for set in N_NEON N_SVE N_SVE2; do
  count=$(find "$build/src/cpu" -name '*.o' -exec aarch64-linux-gnu-nm -C {} + | grep -c "$set::" || true)
  echo "$set: $count symbols of kernels"
done
if [ $# -eq 0 ]; then
  mapfile -t programs < <(find "$build/tests/unit" "$build/tests/parity" -type f -name 'test_*' -perm -u+x | grep -vE "$longest" | sort)
else
  mapfile -t programs < <(for name in "$@"; do find "$build/tests" -type f -name "$name" -perm -u+x; done)
fi
export sysroot
# shellcheck disable=SC2016
printf '%s\0' "${programs[@]}" | xargs -0 -n 1 -P "$jobs" bash -c '
  cd "$(dirname "$1")"
  if said=$(qemu-aarch64-static -cpu max -L "$sysroot" "$1" 2>&1); then
    echo "$(basename "$1") under qemu: $(tail -n 2 <<<"$said" | head -n 1)"
  else
    echo "$said"; exit 1
  fi' run
echo "${#programs[@]} passed, 0 failed"
