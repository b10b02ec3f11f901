#!/usr/bin/env bash
# Figure 2 E and G on a GPU: the product's forward pass beside flash-semicrf's kernel on the same shapes (float32, forward,
# measured on one H200 before; the kernel is not part of this repository).
#
#   tests/lab/gpu.sh [build/cuda/tests/gpu/gpu_bench] [FOLDER]
#
# gpu_bench comes with the preset cuda. Writes FOLDER/gpu.tsv (default build/paper).
set -euo pipefail
bench=${1:-build/cuda/tests/gpu/gpu_bench}
folder=${2:-build/paper}
if [[ ! -x $bench ]]; then
  echo "gpu.sh: error: $bench: is not there; build it: cmake --preset cuda && cmake --build --preset cuda --target gpu_bench" >&2
  exit 4
fi
mkdir -p "$folder"
{
  "$bench" one 100000 100 24 f
  "$bench" one 1000000 200 6 f
  "$bench" batches
} >"$folder/gpu.jsonl"
python3 - "$folder" <<'PYTHON'
import json, pathlib, sys

folder = pathlib.Path(sys.argv[1])
# (batch, T, K, C): positions per second of flash-semicrf's kernel; None: not measured (out of memory or time).
THEIRS = {(1, 100000, 100, 24): 20.6e3, (1, 1000000, 200, 6): 15.5e3, (2, 100000, 1000, 24): 2.9e3,
          (32, 50000, 2000, 6): 49.5e3, (32, 50000, 8000, 6): None, (32, 300, 30, 39): 1.14e6}
lines = ["B\tT\tK\tC\tours_positions_per_s\tflash_semicrf_positions_per_s\tratio"]
for text in (folder / "gpu.jsonl").read_text().splitlines():
    row = json.loads(text)
    key = (max(1, row["batch"]), row["T"], row["K"], row["C"])
    if row["op"] == "forward" and key in THEIRS:
        ours, theirs = row["Mpos_per_s"] * 1e6, THEIRS[key]
        lines.append("\t".join(map(str, key)) + "\t%.4g\t%s\t%s" % (ours, "%g" % theirs if theirs else "-", "%.0f" % (ours / theirs) if theirs else "-"))
part = folder / "gpu.tsv.part"
part.write_text("\n".join(lines) + "\n")
part.rename(folder / "gpu.tsv")
print("\n".join(lines))
PYTHON
