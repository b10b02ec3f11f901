#!/usr/bin/env python3
"""Scores of geneML's network as `semicrf train-genes --tracks` and `genes --tracks` take them.

    network.py GENOME.fa OUTPUT.npz          (geneml 1.3.1 from PyPI must be importable; it is used as a program, GPL-3)

The archive has an array NAME+ and NAME- for each sequence, a row per base from the left, a column for each class of the
network: none, exon_start, exon_end, cds_start, cds_end, is_exon, is_intron.
"""

import sys

import numpy

CONTEXT = 800  # bases that the network sees around a base


def sequences(path):
    names, parts = [], []
    for line in open(path, encoding="ascii"):
        if line.startswith(">"):
            names.append(line[1:].split()[0])
            parts.append([])
        else:
            parts[-1].append(line.strip().upper())
    return zip(names, map("".join, parts))


def main(genome, output):
    from geneml.model_loader import DEFAULT_MODEL_PATH, get_cached_gene_ml_model
    from geneml.produce_genes import run_model

    network = get_cached_gene_ml_model(DEFAULT_MODEL_PATH, CONTEXT)
    arrays = {}
    for name, bases in sequences(genome):
        opposite = bases.translate(str.maketrans("ACGT", "TGCA"))[::-1]
        arrays[name + "+"] = numpy.ascontiguousarray(run_model(network, bases, CONTEXT).T, dtype=numpy.float32)
        arrays[name + "-"] = numpy.ascontiguousarray(run_model(network, opposite, CONTEXT).T[::-1], dtype=numpy.float32)
    numpy.savez(output, **arrays)


if __name__ == "__main__":
    main(*sys.argv[1:3])
