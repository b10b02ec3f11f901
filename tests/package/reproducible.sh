#!/usr/bin/env bash
# Two builds of the sources in two folders: the program, the Debian package and the archive for other distributions (make package,
# make portable) must be the same bytes.
#
#     tests/package/reproducible.sh [FOLDER]      (about two full builds; FOLDER, a new one, keeps them)
#
# It takes the sources that git has (HEAD). Without a compiler cache, which would make the second build of the first. Both builds
# put several sources together (SEMICRF_UNITY), which takes half the time, and the archive is made of the package's objects but for
# the few that are compiled in another way (cmake/portable.cmake). CMAKE_ARGS has more options of CMake, for example
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
commit=$(git -C "$source_root" rev-parse HEAD)
jobs=${JOBS:-$(nproc)}
for copy in first/semicrf second/another/folder; do
  mkdir -p "$work/$copy"
  git -C "$source_root" archive "$commit" | tar -C "$work/$copy" -xf -
  cd "$work/$copy"
  for preset in release portable; do
    # shellcheck disable=SC2086
    cmake --preset $preset -B build/both -DSEMICRF_CUDA=OFF -DSEMICRF_TESTS=OFF -DSEMICRF_UNITY=ON ${CMAKE_ARGS:-} >configure.log
    cmake --build build/both --parallel "$jobs" >build.log
    cp build/both/bin/semicrf build/both/semicrf.$preset
    (cd build/both && cpack) >cpack.log
  done
done
failed=0
first=$work/first/semicrf/build/both
for file in semicrf.release semicrf.portable $(cd "$first" && ls semicrf_*.deb semicrf-*.tar.xz); do
  if cmp "$first/$file" "$work/second/another/folder/build/both/$file"; then
    sha256sum "$first/$file" | sed "s|$work/||"
  else
    failed=1
  fi
done
[ $failed -eq 0 ] && echo "1 passed, 0 failed"
exit $failed
