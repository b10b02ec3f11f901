#!/usr/bin/env bash
# Two builds of the sources in two folders: the program, the Debian package and an archive of the same files must be the same bytes.
#
#     tests/package/reproducible.sh [FOLDER]      (about two full builds; FOLDER, a new one, keeps them)
#
# It takes the sources that git has (HEAD). Without a compiler cache, which would make the second build of the first. Both builds
# put several sources together (SEMICRF_UNITY), which takes half the time. CMAKE_ARGS has more options of CMake, for example
# '-DSEMICRF_SKIPPED_TARGETS=HWY_SSSE3|HWY_SSE4|HWY_AVX3|HWY_AVX3_DL' for fewer sets of instructions.
set -euo pipefail
source_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=${1:-}
if [ -z "$work" ]; then
  work=$(mktemp -d /tmp/semicrf-twice-XXXXXX)
  trap 'rm -rf "$work"' EXIT
fi
export CCACHE_DISABLE=1
SOURCE_DATE_EPOCH=$(git -C "$source_root" log -1 --format=%ct)
export SOURCE_DATE_EPOCH
jobs=${JOBS:-$(nproc)}
for copy in first/semicrf second/another/folder; do
  mkdir -p "$work/$copy"
  git -C "$source_root" archive HEAD | tar -C "$work/$copy" -xf -
  cd "$work/$copy"
  # shellcheck disable=SC2086
  cmake --preset release -DSEMICRF_CUDA=OFF -DSEMICRF_TESTS=OFF -DSEMICRF_UNITY=ON ${CMAKE_ARGS:-} >configure.log
  cmake --build --preset release --parallel "$jobs" >build.log
  (cd build/release && cpack && cpack -G TXZ) >cpack.log
done
failed=0
for file in bin/semicrf $(cd "$work/first/semicrf/build/release" && ls semicrf_*.deb semicrf-*.tar.xz); do
  if cmp "$work/first/semicrf/build/release/$file" "$work/second/another/folder/build/release/$file"; then
    sha256sum "$work/first/semicrf/build/release/$file" | sed "s|$work/||"
  else
    failed=1
  fi
done
[ $failed -eq 0 ] && echo "1 passed, 0 failed"
exit $failed
