#!/usr/bin/env bash
# Checks and measures the CUDA engine on a machine with a GPU. From the root of the repository:
#   tests/gpu/measure.sh [FOLDER] [LOGS] [steps]
# FOLDER holds test_gpu, test_train_gpu and gpu_bench (default build/cuda/tests/gpu, built here when it is not there); logs go to LOGS
# (default build/gpu-logs). Steps: parity sanitize table map large training profile; default: parity sanitize table map.
set -uo pipefail
folder=${1:-build/cuda/tests/gpu}
logs=${2:-build/gpu-logs}
steps=${3:-"parity sanitize table map"}
mkdir -p "$logs"
if [[ ! -x $folder/test_gpu ]]; then
  cmake --preset cuda && cmake --build --preset cuda --target test_gpu test_train_gpu gpu_bench || exit 1
fi
nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.mem --format=csv,noheader
status=0
for step in $steps; do
  echo "== $step"
  case $step in
    parity)
      for test in test_gpu test_train_gpu; do
        "$folder/$test" 2>&1 | tee "$logs/$test.txt" | tail -n 60 || status=1
      done ;;
    sanitize)
      for tool in memcheck racecheck initcheck synccheck; do
        echo "-- $tool"
        timeout 240 compute-sanitizer --tool $tool --error-exitcode 9 \
          "$folder/test_gpu" "*sanitizers*" >"$logs/$tool.txt" 2>&1 || { status=1; tail -n 25 "$logs/$tool.txt"; }
        tail -n 1 "$logs/$tool.txt"
      done
      # What racecheck reports of a kernel that has no race.
      nvcc -arch=native -o "$logs/racecheck_barriers" tests/gpu/racecheck_barriers.cu &&
        compute-sanitizer --tool racecheck "$logs/racecheck_barriers" 2>&1 | tail -n 1 ;;
    table | map | large | training) "$folder/gpu_bench" $step | tee "$logs/$step.jsonl" || status=1 ;;
    profile)
      ncu --clock-control none --set full -k regex:run_ -c 1 -s 1 "$folder/gpu_bench" one 20000000 100 24 f \
        >"$logs/ncu.txt" 2>&1
      grep -E "Duration|Throughput|Active Warps|Issue Slots|Executed Ipc|No Eligible|Registers|Bank|Local|Stall|Warp Cycles" \
        "$logs/ncu.txt" | head -n 60 ;;
  esac
done
exit $status
