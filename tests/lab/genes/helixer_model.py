#!/usr/bin/env python3
"""Writes data/helixer.genes.json: a gene model that takes its content from Helixer's predictions and is not trained.

    helixer_model.py OUTPUT

A base adds WEIGHT times P(CDS) - P(intergenic) - P(UTR) to a coding exon, the same with P(intron) to an intron, and for the
codon position that it has in an exon the probability of that phase; start and stop codons, GT or GC to AG, exons of at least three bases and introns of at least 20 are
those of the grammar. An untranslated base adds WEIGHT times P(UTR) - P(intergenic). The remaining numbers are costs of genes,
introns and untranslated regions.
"""

import json
import sys

TRACKS = ["intergenic", "utr", "cds", "intron", "phase_none", "phase_0", "phase_1", "phase_2"]
GENE, INTRON, UTR = -6, -4, -2  # log scores
WEIGHT, PHASE_WEIGHT = 2, 1


def term(track, weight):
    return {"track": track, "strand": "same", "weight": weight}


def content(name, codons, track):
    terms = [term(track, WEIGHT)] + [term(other, -WEIGHT) for other in ("intergenic", "utr") if other != track]
    if codons:
        terms.append(term(["phase_0", "phase_2", "phase_1"], PHASE_WEIGHT))
    return {"name": name, "order": 0, "codons": codons, "weight": 1, "bias": 0, "tables": [[0] * 4] * (3 if codons else 1), "tracks": terms}


def signal(name, words, at, in_frame):
    return {"name": name, "consensus": words, "consensus_at": at, "in_frame": in_frame, "weight": 1, "first": 0, "log_odds": []}


def length(name, shortest, tail=-1e-6):
    return {"name": name, "weight": 1, "log_tail": tail, "table": ["-inf"] * (shortest - 1) + ([0] * 3 if tail != "-inf" else [0])}


def state(name, frame, coding, content_name, start, end, stranded=True):
    return {"name": name, "stranded": stranded, "frame": frame, "coding": coding, "content": content_name, "start": start, "end": end, "length": name}


def untranslated(side):
    exon = {**state(f"{side} UTR", "none", False, "untranslated", None, None), "untranslated": True}
    intron = {**state(f"{side} UTR intron", "none", False, "intron", "donor", "acceptor"), "length": "intron"}
    return [exon, intron]


stops = ["TAA", "TAG", "TGA"]
exons = [("single", "start"), ("initial", "start"), ("internal", None), ("terminal", None)]
model = {
    "format": "semicrf-genes",
    "format_version": "1.2",
    "description": "predictions of Helixer, eukaryotes; not trained",
    "tracks": [{"name": name, "scale": "linear"} for name in TRACKS],
    "states": [state("intergenic", "none", False, None, None, None, stranded=False)]
    + [state(name, "coding", True, "coding", start, None) for name, start in exons]
    + [state("stop", "coding", True, None, "stop", "stop end"), state("intron", "carry", False, "intron", "donor", "acceptor")]
    + untranslated("5'")
    + untranslated("3'"),
    "transitions": [["intergenic", "single", GENE], ["intergenic", "initial", GENE], ["single", "stop", 0], ["terminal", "stop", 0],
                    ["stop", "intergenic", 0], ["initial", "intron", INTRON], ["internal", "intron", INTRON], ["intron", "internal", 0],
                    ["intron", "terminal", 0], ["intergenic", "5' UTR", UTR], ["stop", "3' UTR", UTR], ["3' UTR", "intergenic", 0],
                    ["stop", "3' UTR intron", UTR + INTRON]]
    + [[before, first, GENE] for before in ("5' UTR", "5' UTR intron") for first in ("single", "initial")]
    + [[f"{side} UTR", f"{side} UTR intron", INTRON] for side in ("5'", "3'")]
    + [[f"{side} UTR intron", f"{side} UTR", 0] for side in ("5'", "3'")],
    "contents": [content("coding", True, "cds"), content("intron", False, "intron"), content("untranslated", False, "utr")],
    "signals": [signal("start", ["ATG"], 0, True), signal("stop", stops, 0, True), signal("stop end", stops, -3, True),
                signal("donor", ["GT", "GC"], 0, False), signal("acceptor", ["AG"], -2, False)],
    "lengths": [length("intergenic", 1), *(length(name, 3) for name, _ in exons), length("stop", 3, "-inf"), length("intron", 20),
                *(length(f"{side} UTR", 1) for side in ("5'", "3'"))],
}
with open(sys.argv[1], "w", encoding="utf-8") as out:
    out.write(json.dumps(model) + "\n")
