#!/usr/bin/env bash
# gather.sh OUT INDEX PART...
#
# Joins the BED or bedGraph files of a sample's chromosomes, in the order given, into OUT (bgzip) with its index (tbi or
# csi). The header is that of the first part without the region, which is what a run over all chromosomes writes.
set -euo pipefail
out=$1 index=$2
shift 2
unfinished=$(dirname "$out")/.$(basename "$out").unfinished.gz
trap 'rm -f "$unfinished" "$unfinished.tbi" "$unfinished.csi"' EXIT
{
  gzip -dc "$1" | grep '^#' | grep -v '^#option region='
  for part in "$@"; do
    gzip -dc "$part" | { grep -v '^#' || [ $? -eq 1 ]; }
  done
} | bgzip -c > "$unfinished"
case $index in
  tbi) tabix -f -p bed "$unfinished" ;;
  csi) tabix -f -C -p bed "$unfinished" ;;
esac
mv "$unfinished.$index" "$out.$index"
mv "$unfinished" "$out"
