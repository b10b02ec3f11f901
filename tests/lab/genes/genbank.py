#!/usr/bin/env python3
"""GenBank files to FASTA and GFF3 of their coding genes:

    python3 tests/lab/genes/genbank.py OUT NC_000913.gbk.gz ...

Writes OUT.fa and OUT.gff3. Pseudogenes and genes that are cut or joined (frameshifts, the origin), that read stop
codons as amino acids or have another genetic code than most are lines of kind CDS whose Parent begins with "broken-": train-genes
leaves them out with the sequence around them, where they are no genes. Standard library only.
"""

import collections
import gzip
import pathlib
import re
import sys

PLACE = re.compile(r"(complement\()?<?(\d+)\.\.>?(\d+)\)?$")


def read_text(path):
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt") as file:
        return file.read()


def genetic_code(text):
    """The number that most genes have."""
    return collections.Counter(re.findall(r"/transl_table=(\d+)", text)).most_common(1)[0][0]


def records(text):
    """Name, bases, and (begin, end, strand, locus) of each coding gene."""
    table = genetic_code(text)
    for record in text.split("\n//"):
        version = re.search(r"^VERSION +(\S+)", record, re.M)
        if not version:
            continue
        head, _, origin = record.partition("\nORIGIN")
        bases = re.sub(r"[^a-z]", "", origin.partition("\n")[2]).upper()
        genes = []
        for feature in re.split(r"\n {5}(?=\S)", head.partition("\nFEATURES")[2]):
            lines = feature.split("\n")
            if not lines[0].startswith("CDS"):
                continue
            place = feature.split("/")[0].split(None, 1)[1]
            ends = [int(number) for number in re.findall(r"\d+", place)]
            broken = not PLACE.match(place.strip()) or re.search(r"[<>]|/pseudo\b|/transl_except", feature.split("/translation")[0]) \
                or "/transl_table=%s\n" % table not in feature
            locus = re.search(r'/locus_tag="([^"]+)"', feature)
            name = ("broken-" if broken else "") + (locus[1] if locus else str(len(genes)))
            genes.append((min(ends), max(ends), "-" if "complement" in place else "+", name))
        yield version[1], bases, genes


def convert(out, sources):
    with open("%s.fa" % out, "w") as fasta, open("%s.gff3" % out, "w") as gff:
        print("##gff-version 3", file=gff)
        for source in sources:
            for name, bases, genes in records(read_text(source)):
                print(">" + name, file=fasta)
                for i in range(0, len(bases), 80):
                    print(bases[i:i + 80], file=fasta)
                for begin, end, strand, locus in sorted(genes):
                    print(name, "x", "CDS", begin, end, ".", strand, 0, "ID=cds-%s;Parent=%s" % (locus, locus), sep="\t", file=gff)


if __name__ == "__main__":
    convert(sys.argv[1], map(pathlib.Path, sys.argv[2:]))
