#!/usr/bin/env bash
# Fuzzes every format for a share of SECONDS, one after the other, in turns, so that a stop leaves none out.
#
#   tests/fuzz/campaign.sh SECONDS [FOLDER] [format ...]
#
# The programs come from the preset fuzz (build/fuzz). FOLDER (build/fuzz-campaign) keeps the inputs found so
# far, which the next campaign goes on from, a log per format, and each input that fails (crash-*, timeout-*,
# oom-*). Run it on one core beside other work: nice -n 19 taskset -c 0 tests/fuzz/campaign.sh 3600
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
seconds=${1:?seconds of fuzzing, all formats together}
folder=${2:-build/fuzz-campaign}
shift $(($# > 2 ? 2 : $#))
formats=("$@")
[ ${#formats[@]} -gt 0 ] || formats=(bigwig bigbed npy npz params bed regions chrom_sizes checkpoint
  labels sample_sheet bedgraph track_text segmentations provenance count_rule cells reads annotation fasta gene_model zarr helixer chromhmm segway claims constraints command_line)
declare -A longest=([bigwig]=4096 [bigbed]=4096 [npy]=1024 [npz]=4096 [params]=4096 [bed]=1024 [regions]=512 [chrom_sizes]=512 [checkpoint]=1024
  [labels]=1024 [sample_sheet]=512 [bedgraph]=1024 [track_text]=512 [segmentations]=1024 [provenance]=512 [count_rule]=128 [cells]=512 [reads]=1024 [annotation]=512 [fasta]=512 [gene_model]=4096 [zarr]=2048 [helixer]=256 [chromhmm]=2048 [segway]=4096
  [claims]=512 [constraints]=512 [command_line]=512)

turns=$((seconds / (${#formats[@]} * 60)))
[ "$turns" -ge 1 ] || turns=1
for turn in $(seq "$turns"); do
  for format in "${formats[@]}"; do
    mkdir -p "$folder/$format" "$folder/failures"
    dictionary=()
    # The program takes SIGALRM, which the fuzzer's clock is, for a scheduler's.
    [ "$format" = command_line ] && timeout=0 || timeout=20
    [ ! -e "tests/fuzz/$format.dict" ] || dictionary=("-dict=tests/fuzz/$format.dict")
    if ! build/fuzz/tests/fuzz/fuzz_"$format" -max_total_time=$((seconds / (turns * ${#formats[@]}))) \
      -max_len="${longest[$format]}" -timeout="$timeout" -rss_limit_mb=2048 -print_final_stats=1 "${dictionary[@]}" \
      -artifact_prefix="$folder/failures/$format-" "$folder/$format" "tests/fuzz/seeds/$format" \
      >>"$folder/$format.log" 2>&1; then
      echo "$format failed: see $folder/$format.log and $folder/failures"
    fi
  done
done
for format in "${formats[@]}"; do
  awk -v format="$format" '/number_of_executed_units/ {runs += $2} END {printf "%-12s %12d executions\n", format, runs}' \
    "$folder/$format.log"
done
