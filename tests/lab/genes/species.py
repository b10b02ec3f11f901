#!/usr/bin/env python3
"""Genes of a species: a model of one stretch of a chromosome on another stretch that it has not seen, beside AUGUSTUS where it is installed.

    species.py FOLDER build/release/bin/semicrf GENOME.fa.gz GENES.gff.gz --learn NC_003070.9:1-6000000 \
        --judge NC_003070.9:24000001-27000000 --grammar eukaryote --augustus arabidopsis [-t 2]

Writes to FOLDER the sequences `learn` and `judge` with their genes (those that a stretch has whole; alternative
transcripts too), model.json, report.html, the genes that each program finds, and species.tsv: eval-genes of each, a line per program and
level, and the seconds of processor time. Gives AUGUSTUS the same sequence without hints, lower case as any other.
"""

import argparse
import gzip
import pathlib
import resource
import shutil
import subprocess


def opened(path):
    return gzip.open(path, "rt") if str(path).endswith(".gz") else open(path, encoding="utf-8")


def bases_of(path, name):
    found, parts = False, []
    with opened(path) as lines:
        for line in lines:
            if line.startswith(">"):
                found = line[1:].split()[0] == name
            elif found:
                parts.append(line.strip())
    return "".join(parts)


def attributes_of(row):
    return dict(part.split("=", 1) for part in row[8].split(";") if "=" in part)


def cut(folder, label, place, genome, annotation):
    """The stretch as a sequence of its own, with its mRNA, exon and CDS lines."""
    name, ends = place.rsplit(":", 1)
    first, last = (int(number) for number in ends.split("-"))
    bases = bases_of(genome, name)[first - 1:last]
    (folder / (label + ".fa")).write_text(">%s\n%s\n" % (label, "\n".join(bases[i:i + 60] for i in range(0, len(bases), 60))))
    rows, kept = [], set()
    with opened(annotation) as lines:
        for line in lines:
            row = line.rstrip("\n").split("\t")
            if len(row) == 9 and row[0] == name and row[2] in ("gene", "mRNA", "exon", "CDS") and int(row[3]) >= first and int(row[4]) <= last:
                rows.append(row)
                if row[2] == "mRNA":
                    kept.add(attributes_of(row)["ID"])
    with (folder / (label + ".gff3")).open("w") as out:
        print("##gff-version 3", file=out)
        genes = {attributes_of(row)["Parent"] for row in rows if row[2] == "mRNA"}
        for row in rows:
            names = attributes_of(row)
            if names["ID"] in genes | kept or names.get("Parent") in kept:
                short = ";".join(key + "=" + names[key] for key in ("ID", "Parent") if key in names)
                print(label, *row[1:3], int(row[3]) - first + 1, int(row[4]) - first + 1, *row[5:8], short, sep="\t", file=out)


def run(command, out=None):
    """Seconds of processor time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with (open(out, "w") if out else open("/dev/null", "w")) as file:
        subprocess.run([str(one) for one in command], check=True, stdout=file)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    parser = argparse.ArgumentParser()
    for name in ("folder", "program", "genome", "annotation", "--learn", "--judge", "--grammar", "--augustus"):
        parser.add_argument(name)
    parser.add_argument("-t", default="1")
    given = parser.parse_args()
    folder = pathlib.Path(given.folder)
    folder.mkdir(parents=True, exist_ok=True)
    for label in ("learn", "judge"):
        cut(folder, label, getattr(given, label), given.genome, given.annotation)
    model, found, judge = folder / "model.json", {}, folder / "judge.fa"
    learning = run([given.program, "train-genes", "-t", given.t, "--grammar", given.grammar or "eukaryote", "--annotation", folder / "learn.gff3",
                    "-o", model, folder / "learn.fa"])
    print("learning: %.1f s of processor time" % learning)
    found["semicrf"] = run([given.program, "genes", "-p", model, "--report", folder / "report.html", "-o", folder / "semicrf.gff3", judge])
    if given.augustus and shutil.which("augustus"):
        found["augustus"] = run(["augustus", "--species=" + given.augustus, "--gff3=on", "--softmasking=off", judge], folder / "augustus.gff3")
    with (folder / "species.tsv").open("w") as table:
        for number, (name, seconds) in enumerate(found.items()):
            run([given.program, "eval-genes", "--truth", folder / "judge.gff3", "-o", folder / "levels.tsv", folder / (name + ".gff3")])
            head, *lines = (folder / "levels.tsv").read_text().splitlines()
            if number == 0:
                print("program", "seconds", head.lstrip("#"), sep="\t", file=table)
            for line in lines:
                print(name, "%.1f" % seconds, line, sep="\t", file=table)
    print((folder / "species.tsv").read_text())


if __name__ == "__main__":
    main()
