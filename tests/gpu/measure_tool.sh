#!/usr/bin/env bash
# Whole runs of the program on real tracks, GPU and host beside each other. From the root of the repository:
#   tests/gpu/measure_tool.sh PROGRAM INPUTS [REPEATS]
# INPUTS holds chr11.json and yeast.json (docs/examples), chr11_rows.npy and yeast_rows.npy (tests/bench/real_inputs.py
# rows), and yeast/ with the tracks and genes.bed. Long inputs are made in WORK (default /dev/shm/semicrf). Prints the
# seconds of every repeat, the last stage times of the fastest, and whether both engines write the same segments.
set -uo pipefail
program=$1 inputs=$2 repeats=${3:-3}
work=${WORK:-/dev/shm/semicrf}
mkdir -p "$work"
make_inputs() {
  [[ -e $work/chr11.npy ]] || python3 tests/bench/real_inputs.py tile "$inputs/chr11_rows.npy" 30 "$work/chr11.npy"
  [[ -e $work/yeast.npy ]] || python3 tests/bench/real_inputs.py tile "$inputs/yeast_rows.npy" 17 "$work/yeast.npy"
  [[ -e $work/chr11_scores.npy ]] ||
    python3 tests/bench/real_inputs.py scores "$work/chr11.npy" "$inputs/chr11.json" "$work/chr11_scores.npy"
  python3 - "$inputs/chr11.json" "$work/chr11_scores.json" <<'P'
import json, sys
model = json.load(open(sys.argv[1]))
for key in ("tracks", "emission", "boundary"):
    model.pop(key, None)
json.dump(model, open(sys.argv[2], "w"))
P
}
# timed NAME COMMAND...
timed() {
  local name=$1
  shift
  local line="$name"
  for ((i = 0; i < repeats; ++i)); do
    local begin=$EPOCHREALTIME
    "$@" >"$work/out.txt" 2>&1 || { echo "$name failed: $(tail -n 1 "$work/out.txt")"; return; }
    local end=$EPOCHREALTIME
    line+=" $(awk "BEGIN { printf \"%.2f\", $end - $begin }")"
  done
  echo "$line"
}
make_inputs
threads=$(nproc)
for device in cuda cpu; do
  for data in chr11 yeast chr11_scores; do
    out=$work/$data.$device
    timed "decode $data -x $device -t $threads:" "$program" decode -v -x $device -t "$threads" --score none \
      -p "$([[ $data == chr11_scores ]] && echo "$work" || echo "$inputs")/$data.json" -o "$out.bed" "$work/$data.npy"
    grep -E "seconds|stage|[0-9] s" "$work/out.txt" | tail -n 8
  done
  for data in chr11 yeast; do
    timed "posterior $data -x $device -t $threads:" "$program" posterior -x $device -t "$threads" -p "$inputs/$data.json" \
      -o "$work/$data.$device.bedgraph" "$work/$data.npy"
  done
done
for data in chr11 yeast chr11_scores; do
  cmp -s <(grep -v '^#' "$work/$data.cuda.bed") <(grep -v '^#' "$work/$data.cpu.bed") && echo "$data: same segments" ||
    echo "$data: $(diff <(grep -v '^#' "$work/$data.cuda.bed") <(grep -v '^#' "$work/$data.cpu.bed") | grep -c '^[<>]') lines differ"
done
for device in cuda cpu; do
  timed "train yeast -x $device -t $threads:" "$program" train -x $device -t "$threads" --labels "$inputs/yeast/genes.bed" \
    -b 3 --val-region III -o "$work/genes.$device.json" "$inputs"/yeast/codon_*.bw
  tail -n 2 "$work/out.txt"
done
