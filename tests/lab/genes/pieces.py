#!/usr/bin/env python3
"""Genes of a bacterium cut into pieces, as contigs of a draft assembly, beside pyrodigal where Python finds it.

    python3 tests/lab/genes/pieces.py FOLDER build/release/bin/semicrf MODEL.genes.json NAME.fa NAME.gff3

Cuts the sequences into pieces whose lengths are exponential with some means, and writes FOLDER/pieces.tsv: of the genes
of each piece, and of what the ends of the pieces left of others (30 bases at least), how many are found, and how many of
those found are right. A gene is the same where its stop codon is, or where both go beyond the same end in the same frame.
"""

import pathlib
import random
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import bacteria  # noqa: E402

SHORTEST = 30


def read_fasta(path):
    sequences, name = {}, ""
    for line in path.read_text().splitlines():
        if line.startswith(">"):
            name = line[1:].split()[0]
            sequences[name] = []
        else:
            sequences[name].append(line)
    return {name: "".join(parts) for name, parts in sequences.items()}


def key(piece, begin, end, strand, frame, length, cut_left, cut_right):
    """What tells a gene: where it stops (begin, end from 0, half-open), or in which frame it leaves its piece."""
    cut = cut_right if strand == "+" else cut_left
    return (piece, strand, "cut", frame) if cut else (piece, strand, "stop", end if strand == "+" else begin)


def cut(folder, sequences, genes, mean, numbers):
    """Pieces as FASTA; their lengths; genes by key: whether they are cut; what counts neither way."""
    truth, ignored, lengths, text = {}, set(), {}, []
    for name, bases in sequences.items():
        at = 0
        while at < len(bases):
            length = min(len(bases) - at, max(200, int(numbers.expovariate(1 / mean))))
            piece = "p%d" % len(lengths)
            lengths[piece] = length
            text.append(">%s\n%s\n" % (piece, bases[at:at + length]))
            for (begin, end, strand), row in genes.items():
                if row[0] != name or end <= at or begin - 1 >= at + length:
                    continue
                left, right = begin - 1 < at, end > at + length
                a, b = max(begin - 1, at) - at, min(end, at + length) - at
                # Where its codons begin in the piece; CDS of whole genes.
                entry = key(piece, a, b, strand, (begin - 1 - at) % 3, length, left, right)
                if b - a < SHORTEST or "Parent=broken-" in row[8] or (end - begin + 1) % 3:
                    ignored.add(entry)
                else:
                    truth[entry] = left or right
            at += length
    (folder / "pieces.fa").write_text("".join(text))
    return truth, ignored, lengths


def judge(truth, ignored, found):
    found = {one: was_cut for one, was_cut in found.items() if one not in ignored}
    row = []
    for wanted in (True, False):
        of = {one for one, is_cut in truth.items() if is_cut == wanted}
        mine = {one for one, is_cut in found.items() if is_cut == wanted}
        row += [len(of), "%.4f" % (len(of & set(found)) / max(1, len(of))), len(mine),
                "%.4f" % (len(mine & set(truth)) / max(1, len(mine)))]
    right = len(set(truth) & set(found))
    return row + ["%.4f" % (right / len(truth)), "%.4f" % (right / len(found)), "%.4f" % (2 * right / (len(truth) + len(found)))]


def semicrf_genes(path, lengths):
    found, pairs = {}, []
    for line in path.read_text().splitlines():
        part = line.split("\t")
        if len(part) < 9 or part[2] != "CDS":
            continue
        begin, end, phase = int(part[3]) - 1, int(part[4]), int(part[7])
        left, right = "start_range" in part[8], "end_range" in part[8]
        frame = (begin + phase) % 3 if part[6] == "+" else (end - phase) % 3
        one = key(part[0], begin, end, part[6], frame, lengths[part[0]], left, right)
        found[one] = left or right
        pairs.append((float(part[5]), one))
    return found, pairs


def pyrodigal_genes(fasta, closed):
    found = {}
    sequences = read_fasta(fasta)
    finder = bacteria.pyrodigal.GeneFinder(meta=False, closed=closed)
    finder.train(*sequences.values(), translation_table=11)
    for name, bases in sequences.items():
        for gene in finder.find_genes(bases):
            strand = "+" if gene.strand > 0 else "-"
            begin, end = gene.begin - 1, gene.end
            left, right = bool(gene.partial_begin), bool(gene.partial_end)
            # A gene of whole codons: those of one that is cut at both ends begin with it.
            frame = begin % 3 if not left else end % 3
            found[key(name, begin, end, strand, frame, len(bases), left, right)] = left or right
    return found


def main():
    folder, program, model = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    sequences, genes = read_fasta(pathlib.Path(sys.argv[4])), bacteria.read_genes(pathlib.Path(sys.argv[5]))
    folder.mkdir(exist_ok=True)
    with (folder / "pieces.tsv").open("w") as table:
        print("mean_length", "program", "cut", "cut_found", "told_cut", "told_cut_right", "whole", "whole_found", "told_whole", "told_whole_right",
              "sensitivity", "precision", "f1", "p_cut", "cut_exact", "error", sep="\t", file=table)
        for mean in (2000, 10000, 50000):
            truth, ignored, lengths = cut(folder, sequences, genes, mean, random.Random(1))
            for ends in ("open", "closed"):
                subprocess.run([program, "genes", "-p", model, "--ends", ends, "-o", folder / "found.gff3", folder / "pieces.fa"], check=True)
                found, pairs = semicrf_genes(folder / "found.gff3", lengths)
                of_cut = [(p, one in truth) for p, one in pairs if found[one] and one not in ignored]
                print(mean, "semicrf " + ends, *judge(truth, ignored, found), *(bacteria.calibration(of_cut) if of_cut else ["."] * 3),
                      sep="\t", file=table, flush=True)
            if bacteria.pyrodigal:
                for closed in (False, True):
                    print(mean, "pyrodigal " + ("closed" if closed else "open"), *judge(truth, ignored, pyrodigal_genes(folder / "pieces.fa", closed)),
                          ".", ".", ".", sep="\t", file=table, flush=True)


if __name__ == "__main__":
    main()
