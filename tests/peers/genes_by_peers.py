#!/usr/bin/env python3
"""Genes and what is said of them, read by other programs of the field.

usage: genes_by_peers.py --program SEMICRF --packages FOLDER

gt gff3validator (genometools) and gffread accept the GFF3 of `genes`, with further mRNAs, too; what gffread makes of it and of the
sequence are the files of --coding and --proteins. gffcompare gives the sensitivity and precision of `eval-genes`, to its last digit,
on genes of yeast and on made-up ones: of several transcripts, with single exons, on both strands, with loci that overlap. A program
that is not there is left out; without any the test is skipped (exit code 77).
"""

import argparse
import gzip
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "cli"), str(HERE.parent / "cli/segmentations")]
import cases_gene_accounts as made  # noqa: E402
import packages  # noqa: E402
from cases_genes import levels  # noqa: E402

DATA = HERE.parents[1] / "data"
LEVELS = ("base", "exon", "intron", "intron_chain", "transcript", "locus")


def check(condition, message):
    if not condition:
        sys.exit("FAILED: " + message)


def run(*command):
    return subprocess.run([str(one) for one in command], check=True, capture_output=True, text=True).stdout


def records(text):
    """Name: sequence; gffread writes points for stop codons."""
    parts = (part.split("\n") for part in text.split(">")[1:])
    return {lines[0].split()[0]: "".join(lines[1:]).rstrip(".*").replace("*", ".") for lines in parts}


def validate(program, folder):
    (folder / "yeast.fa").write_bytes(gzip.open(DATA / "yeast.fa.gz").read())
    model = DATA / "yeast.genes.json"
    for alternatives in ("0", "3"):
        run(program, "genes", "-p", model, "--alternatives", alternatives, "--coding", folder / "c.fna", "--proteins", folder / "p.faa",
            "-o", folder / "f.gff3", folder / "yeast.fa")
        if shutil.which("gt"):
            said = run("gt", "gff3validator", folder / "f.gff3")
            check("input is valid GFF3" in said, said)
        if shutil.which("gffread"):
            run("gffread", "-E", "-x", folder / "x.fna", "-y", folder / "y.faa", "-g", folder / "yeast.fa", folder / "f.gff3")
            for ours, theirs in (("c.fna", "x.fna"), ("p.faa", "y.faa")):
                check(records((folder / ours).read_text()) == records((folder / theirs).read_text()), "%s and gffread's %s" % (ours, theirs))
    return folder / "f.gff3"


def compared(folder, truth, found, *options):
    """{level: (sensitivity, precision)} in percent as gffcompare writes them."""
    run("gffcompare", "-r", truth, "-T", "-e", "0", "--no-merge", "-o", folder / "gc", *options, found)
    lines = re.findall(r"^\s*(\w[\w ]*\w) level:\s*(\S+)\s*\|\s*(\S+)", (folder / "gc.stats").read_text(), re.MULTILINE)
    return {name.lower().replace(" ", "_"): numbers for name, *numbers in lines}


def compare(program, folder, truth, found):
    """Of intron chains without --strict-match, which wants the ends of transcripts as well."""
    theirs = compared(folder, truth, found, "--strict-match")
    theirs["intron_chain"] = compared(folder, truth, found).get("intron_chain")
    ours = levels(run(program, "eval-genes", "--truth", truth, found))
    for level in LEVELS:
        if not theirs.get(level):  # no introns in the truth
            check(ours[level]["truth"] == "0", level)
            continue
        for column, number in zip(("sensitivity", "precision"), theirs[level]):
            if ours[level][column] != ".":
                check(abs(100 * float(ours[level][column]) - float(number)) < 0.056, "%s, %s: %s, gffcompare %s" % (level, column, ours[level], theirs[level]))


def without_like_introns(transcripts):
    """Of overlapping transcripts with the same introns one: gffcompare leaves the shorter ones of the truth out."""
    kept = []
    for name, strand, exons in sorted(transcripts):
        overlaps = lambda other: other[-1][1] > exons[0][0] and exons[-1][1] > other[0][0]
        if not any(one[:2] == (name, strand) and made.introns(one[2]) == made.introns(exons) and overlaps(one[2]) for one in kept):
            kept.append((name, strand, exons))
    return set(kept)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--packages")
    program = parser.parse_args().program
    there = [name for name in ("gt", "gffread", "gffcompare") if shutil.which(name)]
    if not there:
        packages.skip("gt, gffread and gffcompare are not installed")
    with tempfile.TemporaryDirectory(prefix="semicrf-genes-") as scratch:
        folder = pathlib.Path(scratch)
        found = validate(program, folder)
        if "gffcompare" in there:
            compare(program, folder, DATA / "yeast.genes.gff3", found)
            numbers = random.Random(4612)
            for _ in range(40):
                truth = without_like_introns(made.random_annotation(numbers, ("s1", "s2")))
                (folder / "t.gff3").write_text(made.gff(truth, numbers))
                (folder / "p.gff3").write_text(made.gff(made.changed(numbers, truth), numbers))
                compare(program, folder, folder / "t.gff3", folder / "p.gff3")
    print("read by %s" % ", ".join(there))


if __name__ == "__main__":
    main()
