#!/usr/bin/env bash
# Other programs and the product on the same problems on a GPU, in one run: the rows "on a card" of docs/paper.md.
#
#   tests/lab/gpu.sh [build/cuda/tests/gpu/gpu_bench] [FOLDER] [WHEELS]
#
# gpu_bench comes with the preset cuda. Peers are flash-semicrf 0.2.0 and pytorch-struct 0.5 of PyPI beside PyTorch and Triton; where
# they are not installed, WHEELS is a folder with their wheels (both are pure Python). Writes FOLDER/peers_cuda.tsv row by row
# (default build/paper) and FOLDER/card.tsv, the card.
# Three to four minutes; after 285 seconds (SECONDS_AT_MOST) it stops, and what is measured stays.
set -euo pipefail
bench=${1:-build/cuda/tests/gpu/gpu_bench}
folder=${2:-build/paper}
wheels=${3:-}
if [[ ! -x $bench ]]; then
  echo "gpu.sh: error: $bench: is not there; build it: cmake --preset cuda && cmake --build --preset cuda --target gpu_bench" >&2
  exit 4
fi
here=$(dirname "${BASH_SOURCE[0]}")
mkdir -p "$folder"
if [[ -n $wheels ]]; then
  packages=$(mktemp -d)
  trap 'rm -rf "$packages"' EXIT
  for wheel in "$wheels"/*.whl; do python3 -m zipfile -e "$wheel" "$packages"; done
  export PYTHONPATH=$packages${PYTHONPATH:+:$PYTHONPATH}
fi
{
  printf 'card\tdriver\ttorch\ttriton\n'
  nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | head -1 | sed 's/, */\t/' | tr -d '\n'
  python3 -c 'import torch, triton; print("", torch.__version__, triton.__version__, sep="\t")'
} >"$folder/card.tsv"
cat "$folder/card.tsv"
timeout -k 5 "${SECONDS_AT_MOST:-285}" python3 -B "$here/peers/peers.py" "$folder" --device cuda --bench "$bench" --full
