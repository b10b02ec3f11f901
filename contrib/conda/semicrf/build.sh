#!/usr/bin/env bash
# Build of both recipes, meta.yaml and recipe.yaml. SEMICRF_CUDA: ON or OFF.
set -euo pipefail
# CMAKE_ARGS comes from the compiler packages of conda-forge; SEMICRF_CMAKE_ARGS has options for tests of the recipe.
# shellcheck disable=SC2086
cmake -S . -B build/conda -G Ninja ${CMAKE_ARGS:-} -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$PREFIX" \
  -DCMAKE_INSTALL_LIBDIR=lib -DSEMICRF_TESTS=OFF -DSEMICRF_WERROR=OFF -DSEMICRF_CUDA="${SEMICRF_CUDA:-OFF}" \
  ${SEMICRF_CMAKE_ARGS:-}
cmake --build build/conda --parallel "${CPU_COUNT:-2}"
cmake --install build/conda --strip
