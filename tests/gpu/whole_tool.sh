#!/usr/bin/env bash
# The program on a machine with a GPU: same results as on the processor, errors and their exit codes, and how far a
# whole run is from its input. From the root of the repository:
#   tests/gpu/whole_tool.sh [PROGRAM] [SCRATCH] [steps]
# PROGRAM: semicrf (default build/cuda/bin/semicrf). SCRATCH: a folder that holds 6 GB (default /tmp/semicrf-gpu).
# Steps: same short errors long devices; default: same short errors long. `long` needs python3 with numpy, `devices` two GPUs.
set -uo pipefail
program=${1:-build/cuda/bin/semicrf}
scratch=${2:-/tmp/semicrf-gpu}
steps=${3:-"same short errors long"}
threads=$(nproc)
mkdir -p "$scratch"
status=0

fail() {
  echo "FAILED: $*"
  status=1
}
# Bytes without the header lines, which name command and options.
body() { grep -v '^#' "$1"; }
compare() {  # NAME FILE FILE
  if cmp -s <(body "$2") <(body "$3"); then echo "same: $1 ($(body "$2" | wc -l) lines)"; else fail "$1 differs"; fi
}
expect() {  # CODE ARGUMENTS...
  local code=$1 found
  shift
  "$program" "$@" >/dev/null 2>"$scratch/error.txt"
  found=$?
  [[ $found == "$code" ]] || fail "exit $found instead of $code: $*"
  echo "exit $found: $(tail -n 1 "$scratch/error.txt")"
}

for step in $steps; do
  echo "== $step"
  case $step in
    same)
      python3 tests/gpu/make_long_scores.py "$scratch/small" 3000000 5
      for device in cpu cuda:0 auto; do
        out="$scratch/small/$device"
        "$program" decode -q --score none -t "$threads" -x $device -p data/scores.params.json data/scores.npy -o "$out.scores.bed" || fail $device
        "$program" decode -q --score none -t "$threads" -x $device -p data/demo.params.json data/codon_*.bw -o "$out.demo.bed" || fail $device
        "$program" posterior -q -t "$threads" -x $device -p data/demo.params.json data/codon_*.bw --digits 3 \
          -o "$out.demo.bedgraph" || fail $device
        for memory in 8G 300M; do
          for what in exact none mean; do
            "$program" decode -q --score none -t "$threads" -x $device --max-memory $memory -p "$scratch/small/$what.json" \
              "$scratch/small/scores.npy" -o "$out.$what.$memory.bed" --stats "$out.stats.json" || fail "$device $what"
            echo "$device $what $memory: $(grep -h viterbi_score "$out.stats.json")"
            grep -h -A 6 baseline "$out.stats.json" >"$out.$what.$memory.baseline"
          done
        done
      done
      # The mean that the device adds up is the host's to the last digit, and so is what both say of a bad score.
      for memory in 8G 300M; do
        compare "mean $memory" "$scratch/small/cpu.mean.$memory.baseline" "$scratch/small/cuda:0.mean.$memory.baseline"
      done
      python3 -c 'import numpy, sys; x = numpy.load(sys.argv[1]); x[2345678, 3] = x[2345679, 0] = numpy.nan; numpy.save(sys.argv[2], x)' \
        "$scratch/small/scores.npy" "$scratch/small/bad.npy"
      for what in none mean; do
        for device in cpu cuda:0; do
          "$program" decode -q --score none -t "$threads" -x $device -p "$scratch/small/$what.json" "$scratch/small/bad.npy" -o "$scratch/bad.bed" \
            2>"$scratch/small/$device.$what.error"
        done
        compare "error under $what" "$scratch/small/cpu.$what.error" "$scratch/small/cuda:0.$what.error"
        grep -q 'row 2345678, column 3' "$scratch/small/cuda:0.$what.error" || fail "error under $what"
      done
      # Where segmentations are nearly equal, windows of one device must still agree.
      declare -A like=([scores]=cpu.scores [demo]=cpu.demo [exact.8G]=cpu.exact.8G [exact.300M]=cpu.exact.8G
        [none.300M]=cuda:0.none.8G [mean.300M]=cuda:0.mean.8G)
      for device in cuda:0 auto; do
        for what in scores demo exact.8G exact.300M none.300M mean.300M; do
          compare "$device $what" "$scratch/small/${like[$what]}.bed" "$scratch/small/$device.$what.bed"
        done
        # Rounded values may differ in the last digit.
        echo "posteriors that differ in the third digit: $(diff <(body "$scratch/small/cpu.demo.bedgraph") \
          <(body "$scratch/small/$device.demo.bedgraph") | grep -c '^>')"
      done
      "$program" simulate -q -x cuda -p data/scores.params.json data/scores.npy --seed 3 -o "$scratch/draw.cuda.bed" || fail simulate
      "$program" simulate -q -x cpu -p data/scores.params.json data/scores.npy --seed 3 -o "$scratch/draw.cpu.bed"
      compare simulate "$scratch/draw.cpu.bed" "$scratch/draw.cuda.bed"
      for device in cpu cuda; do
        "$program" eval -q -x $device -p data/demo.params.json --truth data/genes.bed "$scratch/small/cpu.demo.bed" data/codon_*.bw \
          2>&1 | tail -n 4
      done
      ;;
    short)
      # Together, and one by one for want of memory.
      python3 tests/gpu/make_long_scores.py "$scratch/short" 1750 5 1000
      for model in exact none mean; do
        for run in "cpu 8G" "cuda:0 8G" "cuda:0 64M"; do
          read -r device memory <<<"$run"
          out="$scratch/short/$device.$memory"
          for what in "-o $out.bed" "-o $out.both.bed --posterior $out.bedgraph"; do
            begin=$(date +%s%N)
            # shellcheck disable=SC2086
            "$program" decode -q -x $device -t 1 --max-memory $memory -p "$scratch/short/$model.json" "$scratch"/short/scores_*.npy $what ||
              fail "$run"
            echo "$model $run ${what##* }: $((($(date +%s%N) - begin) / 1000000)) ms"
          done
        done
        for file in bed both.bed bedgraph; do
          compare "short pieces, $model, $file" "$scratch/short/cuda:0.64M.$file" "$scratch/short/cuda:0.8G.$file"
        done
        [[ $model == exact ]] && compare "short pieces, cpu" "$scratch/short/cpu.8G.bed" "$scratch/short/cuda:0.8G.bed"
      done
      ;;
    errors)
      expect 7 decode -x cuda:7 -p data/scores.params.json data/scores.npy
      expect 2 decode -x cuda:a -p data/scores.params.json data/scores.npy
      CUDA_VISIBLE_DEVICES="" expect 7 decode -x cuda -p data/scores.params.json data/scores.npy
      CUDA_VISIBLE_DEVICES="" expect 0 decode -x auto -p data/scores.params.json data/scores.npy
      expect 6 decode -x cuda --max-memory 60M -p data/scores.params.json data/scores.npy
      ;;
    long)
      python3 tests/gpu/make_long_scores.py "$scratch/long" 250000000 5
      ls -l "$scratch/long"
      for centring in none mean; do
        "$program" decode -v --score none -x cuda -t "$threads" -p "$scratch/long/$centring.json" "$scratch/long/scores.npy" \
          -o "$scratch/long/first.bed" 2>&1 | grep debug
        "$program" bench --io-only -x cuda -t "$threads" -p "$scratch/long/$centring.json" "$scratch/long/scores.npy" \
          -o "$scratch/long/out.bed" &
        job=$! host=0 device=0
        while kill -0 $job 2>/dev/null; do
          now=$(awk '/RssAnon/{print $2}' /proc/$job/status 2>/dev/null)
          ((${now:-0} > host)) && host=$now
          now=$(nvidia-smi --query-gpu=memory.used --format=csv,noheader,nounits -i 0)
          ((${now:-0} > device)) && device=$now
          sleep 0.1
        done
        wait $job || fail "bench --io-only"
        echo "$centring: host $((host / 1024)) MiB anonymous, device $device MiB, $(body "$scratch/long/out.bed" | wc -l) segments"
      done
      ;;
    devices)
      python3 tests/gpu/make_long_scores.py "$scratch/small" 3000000 5
      python3 tests/gpu/make_long_scores.py "$scratch/parts" 10000000 5 24
      for model in none long; do
        for devices in cuda:0 cuda:0,1 cuda:0 cuda:0,1; do
          echo "$model $devices: $("$program" bench --io-only -x $devices -t "$threads" -p "$scratch/parts/$model.json" \
            "$scratch"/parts/scores_*.npy -o "$scratch/parts/$devices.bed" 2>"$scratch/error.txt" | tail -n 1)"
        done
        compare "two GPUs, $model" "$scratch/parts/cuda:0.bed" "$scratch/parts/cuda:0,1.bed"
      done
      # One sequence: its windows are shared.
      python3 tests/gpu/make_long_scores.py "$scratch/one" 60000000 5
      for model in none long; do
        for devices in cuda:0 cuda:0,1 cuda:0 cuda:0,1; do
          echo "one sequence, $model $devices: $("$program" bench --io-only -x $devices -t "$threads" -p "$scratch/one/$model.json" \
            "$scratch/one/scores.npy" -o "$scratch/one/$devices.bed" 2>"$scratch/error.txt" | tail -n 1)"
        done
        compare "one sequence on two GPUs, $model" "$scratch/one/cuda:0.bed" "$scratch/one/cuda:0,1.bed"
      done
      for devices in cuda:0 cuda:0,1; do
        "$program" posterior -q -x $devices -t "$threads" -p "$scratch/small/none.json" "$scratch/small/scores.npy" --digits 4 \
          -o "$scratch/small/$devices.bedgraph" || fail "posterior $devices"
      done
      compare "posteriors on two GPUs" "$scratch/small/cuda:0.bedgraph" "$scratch/small/cuda:0,1.bedgraph"
      ;;
  esac
done
exit $status
