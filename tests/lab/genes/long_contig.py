#!/usr/bin/env python3
"""A long contig with a network's scores, made of a short one: what `semicrf genes` is measured with.

    long_contig.py GENOME.fa.gz GENES.gff3 BASES FOLDER [npz] [bigwig] [h5]

Writes FOLDER/short.fa and FOLDER/short.npz (the sequence once, to train on) and FOLDER/long.fa, the same sequence again and
again until it has BASES bases, with the formats that are named: long.npz; a bigWig file for each track and strand
(pyBigWig); predictions.h5 and input.h5 (h5py, eight tracks), as Helixer writes them. The scores are what the annotation says, with noise that differs
in each copy, in steps of 1/256.
"""

import gzip
import io
import os
import sys
import zipfile

import numpy

TRACKS = ["none", "utr", "cds", "intron", "phase_none", "phase_0", "phase_1", "phase_2", "start", "stop"]
PIECE = 1 << 20  # bases made at once
CHUNK = 21384  # bases of a chunk of Helixer


def truth(genes, name, length):
    """For each strand what the annotation says of every base, (bases, tracks)."""
    exons = {}
    for line in open(genes, encoding="ascii"):
        part = line.rstrip("\n").split("\t")
        if len(part) > 8 and part[0] == name and part[2] == "CDS":
            exons.setdefault((part[8].split("Parent=")[1].split(";")[0], part[6]), []).append((int(part[3]) - 1, int(part[4])))
    said = {strand: numpy.zeros((length, len(TRACKS)), numpy.float32) for strand in "+-"}
    for (_, strand), parts in exons.items():
        table, parts = said[strand], sorted(parts)
        table[parts[0][0]:parts[-1][1], TRACKS.index("intron")] = 1
        bases = numpy.concatenate([numpy.arange(*part) for part in parts])
        if strand == "-":
            bases = bases[::-1]
        table[bases, TRACKS.index("intron")] = 0
        table[bases, TRACKS.index("cds")] = 1
        for phase in range(3):
            table[bases[-phase % 3::3], TRACKS.index("phase_%d" % phase)] = 1
        table[bases[0], TRACKS.index("start")] = table[bases[-1], TRACKS.index("stop")] = 1
    for table in said.values():
        table[:, 0] = 1 - table[:, 2:4].sum(axis=1)
        table[:, 4] = 1 - table[:, 5:8].sum(axis=1)
    return said


class Scores:
    """The scores of pieces of the long contig, always the same for one piece."""

    def __init__(self, said):
        self.said, self.length = said, len(said["+"])

    def piece(self, strand, begin, end):
        noise = numpy.random.default_rng((begin, "+-".index(strand))).standard_normal((end - begin, len(TRACKS)), dtype=numpy.float32)
        values = self.said[strand][numpy.arange(begin, end) % self.length]
        values = 1 / (1 + numpy.exp(3 - 6 * values + noise))
        return (numpy.round(values * 256) / 256).astype(numpy.float32)

    def pieces(self, strand, bases):
        for begin in range(0, bases, PIECE):
            yield begin, self.piece(strand, begin, min(bases, begin + PIECE))


def write_npz(path, name, scores, bases):
    header = io.BytesIO()
    numpy.lib.format.write_array_header_1_0(header, {"descr": "<f4", "fortran_order": False, "shape": (bases, len(TRACKS))})
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
        for strand in "+-":
            with archive.open(name + strand + ".npy", "w", force_zip64=True) as out:
                out.write(header.getvalue())
                for _, values in scores.pieces(strand, bases):
                    out.write(values.tobytes())


def write_bigwigs(folder, name, scores, bases):
    import pyBigWig

    for strand in "+-":
        files = [pyBigWig.open(os.path.join(folder, track + strand + ".bw"), "w") for track in TRACKS]
        for one in files:
            one.addHeader([(name, bases)], maxZooms=0)
        for begin, values in scores.pieces(strand, bases):
            for track, one in enumerate(files):
                one.addEntries(name, begin, values=values[:, track].astype(numpy.float64), span=1, step=1)
        for one in files:
            one.close()


def write_helixer(folder, name, scores, bases):
    import h5py

    ends = [(begin, min(bases, begin + CHUNK)) for begin in range(0, bases, CHUNK)]
    ends += [(end, begin) for begin, end in reversed(ends)]
    with h5py.File(os.path.join(folder, "input.h5"), "w") as file:
        file["data/start_ends"] = numpy.array(ends, numpy.int64)
        file["data/seqids"] = numpy.array([name.encode()] * len(ends))
    with h5py.File(os.path.join(folder, "predictions.h5"), "w") as file:
        options = {"shape": (len(ends), CHUNK, 4), "dtype": "f2", "chunks": (1, CHUNK, 4), "compression": "lzf"}
        sets = [file.create_dataset(which, **options) for which in ("predictions", "predictions_phase")]
        for i, (start, end) in enumerate(ends):
            strand = "+" if start < end else "-"
            rows = scores.piece(strand, min(start, end), max(start, end))[:: 1 if start < end else -1]
            for which, columns in zip(sets, (slice(0, 4), slice(4, 8))):
                which[i, : len(rows)] = rows[:, columns]


def main(genome, genes, bases, folder, *formats):
    lines = gzip.open(genome, "rt").read().split(">")[1].splitlines()
    name, sequence, bases = lines[0].split()[0], "".join(lines[1:]), int(bases)
    os.makedirs(folder, exist_ok=True)
    scores = Scores(truth(genes, name, len(sequence)))
    write_npz(os.path.join(folder, "short.npz"), name, scores, len(sequence))
    for file, length in (("short.fa", len(sequence)), ("long.fa", bases)):
        with open(os.path.join(folder, file), "w", encoding="ascii") as out:
            out.write(">%s\n" % name)
            for begin in range(0, length, len(sequence)):
                out.write(sequence[: length - begin] + "\n")
    if "npz" in formats:
        write_npz(os.path.join(folder, "long.npz"), name, scores, bases)
    if "bigwig" in formats:
        write_bigwigs(folder, name, scores, bases)
    if "h5" in formats:
        write_helixer(folder, name, scores, bases)


if __name__ == "__main__":
    main(*sys.argv[1:])
