#!/usr/bin/env bash
# The library as it is installed: the examples in docs/examples compile against it, with pkg-config and with CMake, and
# print what docs/api/library.md shows; nothing but the C interface is seen of it.
#
#     tests/package/library.sh build/release
set -euo pipefail
build=$(realpath "${1:?give the build folder}")
source_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d /tmp/semicrf-library-XXXXXX)
trap 'rm -rf "$work"' EXIT
cmake --install "$build" --component library --prefix "$work/usr" --strip >"$work/log"
cd "$work"
export PKG_CONFIG_PATH
PKG_CONFIG_PATH=$(dirname "$(find usr -name semicrf.pc)")
LD_LIBRARY_PATH=$(dirname "$(find "$PWD/usr" -name 'libsemicrf.so.*' | head -n 1)")
export LD_LIBRARY_PATH
nm -D "$LD_LIBRARY_PATH/libsemicrf.so" >symbols
grep -q __asan symbols && { echo "skipped: the library has sanitizers"; exit 77; }

# The block of the page in this language.
block() { sed -n "/^\`\`\`$1\$/,/^\`\`\`\$/p" "$source_root/docs/api/library.md" | sed '1d;$d'; }
cp "$source_root/docs/examples/library.c" example.c
cp "$source_root/docs/examples/library.cpp" example.cpp
block text >expected
warnings="-Wall -Wextra -Wpedantic -Werror"
# shellcheck disable=SC2046,SC2086  # lists of flags
cc -std=c99 $warnings example.c $(pkg-config --cflags --libs semicrf) -o example
./example >found
diff expected found || { echo "FAIL: the example prints something else"; exit 1; }
[ "$(pkg-config --modversion semicrf)" = "$(sed -n 's/^project(semicrf VERSION \([0-9.]*\).*/\1/p' "$source_root/CMakeLists.txt")" ]

cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.25)
project(example LANGUAGES CXX)
find_package(semicrf 0.2 REQUIRED)
add_executable(example_cpp example.cpp)
target_compile_features(example_cpp PRIVATE cxx_std_20)
target_link_libraries(example_cpp PRIVATE semicrf::semicrf)
END
cmake -S . -B by_cmake -DCMAKE_PREFIX_PATH="$work/usr" >>log
cmake --build by_cmake >>log
cat >params.json <<'END'
{"format": "semicrf-params", "format_version": "1.0", "labels": ["a", "b"], "max_duration": 100, "centering": "none",
 "transition": [["-inf", 0], [0, "-inf"]], "duration": {"kind": "geometric", "p": [0.1, 0.1], "tail": "continue"}}
END
by_cmake/example_cpp params.json | grep -q '^log Z [0-9.]*, [0-9]* segments$' || { echo "FAIL: the C++ example"; exit 1; }

outside=$(awk '$2 ~ /^[TDBRWViu]$/ && $3 !~ /^semicrf_.*@@SEMICRF_/' symbols)
[ -z "$outside" ] || { echo "FAIL: symbols that are not of the interface: $outside"; exit 1; }
! grep -rlF "$source_root" usr || { echo "FAIL: these files name the folder of the sources"; exit 1; }
echo "1 passed, 0 failed"
