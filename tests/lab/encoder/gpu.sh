#!/usr/bin/env bash
# Both experiments of tests/lab/encoder on a GPU, as far as they get in nine minutes (on an H100: one seed of speech).
#
#   tests/lab/encoder/gpu.sh [FOLDER] [PARTS]
#
# Writes tables into FOLDER (default build/encoder) row by row. Where the package is not installed, PARTS is a folder with lib
# (libsemicrf.so.* with CUDA and what it needs), nanobind (its sources), wheels (of the peers), and where espeak-ng or the data of
# yeast are missing, corpus.npz and yeast. Seconds at most: GENOME (130) and SPEECH (380); SEEDS says how many seeds (3).
set -euo pipefail
folder=${1:-build/encoder}
parts=${2:-}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../../.." && pwd)
python=${PYTHON:-python3}
export PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
mkdir -p "$folder"
speech=() genome=()
if [[ -n $parts ]]; then
  parts=$(cd "$parts" && pwd)
  made=$(mktemp -d)
  trap 'rm -rf "$made"' EXIT
  for wheel in "$parts"/wheels/*.whl; do "$python" -m zipfile -e "$wheel" "$made"; done
  cp -r "$root/python/semicrf" "$made"
  library=$(find "$parts/lib" -name 'libsemicrf.so*' -type f | head -1)
  mkdir "$made/lib"
  cp "$parts"/lib/* "$made/lib"
  name=$(readelf -d "$library" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')
  cp -f "$library" "$made/lib/$name.new" && mv -f "$made/lib/$name.new" "$made/lib/$name"
  export LD_LIBRARY_PATH=$made/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} PYTHONPATH=$made${PYTHONPATH:+:$PYTHONPATH}
  g++ -O2 -std=c++20 -shared -fPIC -fvisibility=hidden -DNDEBUG -I"$parts/nanobind/include" \
    -I"$parts/nanobind/ext/robin_map/include" -I"$root/src/library" \
    -I"$("$python" -c 'import sysconfig; print(sysconfig.get_paths()["include"])')" "$root/python/module.cpp" \
    "$parts/nanobind/src/nb_combined.cpp" -o "$made/semicrf/_core.so" -Wl,--allow-shlib-undefined "$made/lib/$name"
  if [[ -e $parts/corpus.npz ]]; then speech+=(--corpus "$parts/corpus.npz"); fi
  if [[ -e $parts/yeast ]]; then genome+=(--data "$parts/yeast"); fi
fi
"$python" -c 'import semicrf.torch, torch; print("torch", torch.__version__, torch.cuda.get_device_name() if torch.cuda.is_available() else "")'
run() { # limit, script, arguments
  timeout -k 5 "$(($1 + 20))" "$python" "$here/$2" --out "$folder" --seconds "$1" "${@:3}" ${SMALL:+--small} ||
    echo "gpu.sh: $2 ended with exit code $?" >&2
}
run "${GENOME:-130}" genome.py --seeds "${SEEDS:-3}" "${genome[@]}"
run "${SPEECH:-380}" run.py --seeds "${SEEDS:-3}" "${speech[@]}"
ls -l "$folder"
