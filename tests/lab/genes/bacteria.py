#!/usr/bin/env python3
"""Genes of bacteria: a model of one genome on others, beside pyrodigal where Python finds it.

    python3 tests/lab/genes/bacteria.py FOLDER build/release/bin/semicrf NC_000913.gbk.gz NC_002695.gbk.gz ...

Learns from the first GenBank file and writes FOLDER/NAME.genes.json (as data/ecoli.genes.json from NC_000913.3) and
FOLDER/bacteria.tsv: for every genome and program how many genes the annotation has and the program finds, how many stop
codons and whole genes are the same, and mean probability, share that is right and calibration error. Genomes with
another genetic code than the first are judged with models of their own (train-genes --from) alone. What lies on
annotated pseudogenes and broken genes counts neither as found nor as wrong.
"""

import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import genbank  # noqa: E402

try:
    import pyrodigal
except ImportError:
    pyrodigal = None

LONGEST_BROKEN = 20000  # longer ones go around the origin


def read_genes(path):
    """(begin, end, strand): attributes, of the CDS lines."""
    rows = (line.rstrip("\n").split("\t") for line in path.read_text().splitlines() if not line.startswith("#"))
    return {(int(row[3]), int(row[4]), row[6]): row for row in rows if row[2] == "CDS"}


def stop_of(gene):
    return gene[2], gene[1] if gene[2] == "+" else gene[0]


def calibration(pairs):
    """Mean probability, share that is right, and the mean difference of both over ten classes."""
    classes = {}
    for p, right in pairs:
        entry = classes.setdefault(min(9, int(10 * p)), [0, 0])
        entry[0] += p
        entry[1] += right
    count = len(pairs)
    return ["%.4f" % (sum(p for p, _ in pairs) / count), "%.4f" % (sum(right for _, right in pairs) / count),
            "%.4f" % (sum(abs(a - b) for a, b in classes.values()) / count)]


def judge(truth_path, found_path):
    truth = read_genes(truth_path)
    broken = [gene for gene, row in truth.items() if "Parent=broken-" in row[8] and gene[1] - gene[0] < LONGEST_BROKEN]
    truth = {gene for gene, row in truth.items() if "Parent=broken-" not in row[8]}
    stops = {stop_of(gene) for gene in truth}
    found = {gene: row for gene, row in read_genes(found_path).items()
             if stop_of(gene) in stops or all(gene[1] < other[0] or other[1] < gene[0] for other in broken)}
    same_stop = sum(stop_of(gene) in stops for gene in found)
    same = sum(gene in truth for gene in found)
    row = [len(truth), len(found), same_stop, same]
    for part in (same_stop, same):
        row += ["%.4f" % (part / len(truth)), "%.4f" % (part / len(found)), "%.4f" % (2 * part / (len(truth) + len(found)))]
    p_stop = {}
    for line in found_path.read_text().splitlines():
        if "\tgene\t" in line and "p_stop" in line:
            part = line.split("\t")
            p_stop[(int(part[3]), int(part[4]), part[6])] = float(line.rsplit("p_stop=", 1)[1].split(";")[0])
    if not p_stop:
        return row + ["."] * 6
    return row + calibration([(p_stop[gene], stop_of(gene) in stops) for gene in found if gene in p_stop]) + \
        calibration([(float(line[5]), gene in truth) for gene, line in found.items()])


def run_pyrodigal(fasta, out, table):
    sequences, name = {}, ""
    for line in fasta.read_text().splitlines():
        if line.startswith(">"):
            name = line[1:].split()[0]
            sequences[name] = []
        else:
            sequences[name].append(line)
    sequences = {name: "".join(parts) for name, parts in sequences.items()}
    finder = pyrodigal.GeneFinder(meta=False, closed=True)
    finder.train(*sequences.values(), translation_table=int(table))
    with out.open("w") as file:
        for name, bases in sequences.items():
            for number, gene in enumerate(finder.find_genes(bases)):
                print(name, "pyrodigal", "CDS", gene.begin, gene.end, ".", "+" if gene.strand > 0 else "-", 0,
                      "ID=c%d;Parent=t%d" % (number, number), sep="\t", file=file)


def main():
    folder, program, sources = pathlib.Path(sys.argv[1]), sys.argv[2], [pathlib.Path(path) for path in sys.argv[3:]]
    names = [source.name.split(".")[0] for source in sources]
    tables = {name: genbank.genetic_code(genbank.read_text(source)) for name, source in zip(names, sources)}
    for name, source in zip(names, sources):
        genbank.convert(folder / name, [source])
    model = folder / (names[0] + ".genes.json")
    subprocess.run([program, "train-genes", "-t", "2", "--grammar", "prokaryote", "--order", "2", "--annotation",
                    folder / (names[0] + ".gff3"), "-o", model, folder / (names[0] + ".fa")], check=True)
    with (folder / "bacteria.tsv").open("w") as table:
        print("genome", "program", "truth", "found", "same_stop", "same", "stop_sensitivity", "stop_precision", "stop_f1", "gene_sensitivity",
              "gene_precision", "gene_f1", "p_stop", "stop_right", "stop_error", "p_gene", "gene_right", "gene_error", sep="\t", file=table)
        for name in names:
            fasta, truth, found = (folder / (name + end) for end in (".fa", ".gff3", ".semicrf.gff3"))
            if tables[name] == tables[names[0]]:
                subprocess.run([program, "genes", "-p", model, "-o", found, fasta], check=True)
                print(name, "semicrf", *judge(truth, found), sep="\t", file=table)
            if name != names[0]:
                own, found = folder / (name + ".own.json"), folder / (name + ".own.gff3")
                subprocess.run([program, "train-genes", "--from", model, "--table", tables[name], "-o", own, fasta], check=True)
                for cost in ("1", "4", "10"):
                    subprocess.run([program, "genes", "--missed-cost", cost, "-p", own, "-o", found, fasta], check=True)
                    print(name, "semicrf --from, missed cost " + cost, *judge(truth, found), sep="\t", file=table)
            if pyrodigal:
                run_pyrodigal(fasta, folder / (name + ".pyrodigal.gff3"), tables[name])
                print(name, "pyrodigal", *judge(truth, folder / (name + ".pyrodigal.gff3")), sep="\t", file=table)


if __name__ == "__main__":
    main()
