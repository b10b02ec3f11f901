#!/usr/bin/env bash
# Test of the installed package: the demonstration gives the gene that is known, posteriors have an index, a model is learned.
set -euo pipefail
semicrf --version
work=$(mktemp -d)
semicrf decode -q -p data/demo.params.json -o "$work/segments.bed" --posterior "$work/boundaries.bw" data/codon_*.bw
grep -q $'^III\t91314\t92415\tCDS+0\t' "$work/segments.bed"
semicrf posterior -q -p data/demo.params.json -o "$work/boundaries.bedgraph.gz" --write-index data/codon_*.bw
test -s "$work/boundaries.bedgraph.gz.tbi"
semicrf train -q -b 3 --max-iterations 3 --labels data/genes.bed -o "$work/model.json" data/codon_*.bw
semicrf info "$work/model.json" >/dev/null
rm -r "$work"
