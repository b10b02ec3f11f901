"""Genes: train-genes, genes and eval-genes on made genomes, and what they say of damaged files."""

import gzip
import json
import os
import pathlib
import random
import re
import struct
import subprocess
import sys
import zlib

import make_inputs
from harness import check

COMPLEMENT = str.maketrans("ACGT", "TGCA")
STOPS = ("TAA", "TAG", "TGA")


def flipped(text):
    return text.translate(COMPLEMENT)[::-1]


def gene(numbers, spliced, third="CCCG"):
    """The bases of a gene along its strand, and its coding exons in them."""
    coding = "ATG" + "".join(numbers.choice("GGGCA") + numbers.choice("ACGT") + numbers.choice(third)
                             for _ in range(numbers.randint(60, 200))) + numbers.choice(STOPS)
    if not spliced:
        return coding, [(0, len(coding))]
    cut = numbers.randint(20, 60)
    intron = "GTATGT" + "".join(numbers.choice("ATTC") for _ in range(numbers.randint(50, 90))) + "TACTAAC"
    intron += "".join(numbers.choice("ATTC") for _ in range(numbers.randint(15, 30))) + "TAG"
    return coding[:cut] + intron + coding[cut:], [(0, cut), (cut + len(intron), len(coding) + len(intron))]


def genome(names, genes_each, seed, introns=True, third="CCCG"):
    """FASTA and GFF3."""
    numbers = random.Random(seed)
    fasta, gff, count = [], ["##gff-version 3"], 0
    for name in names:
        bases = ""
        for _ in range(genes_each):
            bases += "".join(numbers.choice("AATTCG") for _ in range(numbers.randint(150, 500)))
            text, exons = gene(numbers, introns and numbers.random() < 0.4, third)
            strand = numbers.choice("+-")
            if strand == "-":
                exons = [(len(text) - b, len(text) - a) for a, b in reversed(exons)]
                text = flipped(text)
            count += 1
            for a, b in exons:
                gff.append("%s\tx\tCDS\t%d\t%d\t.\t%s\t0\tID=c%d;Parent=t%d" % (name, len(bases) + a + 1, len(bases) + b, strand, count, count))
            bases += text
        bases += "".join(numbers.choice("AATTCG") for _ in range(300))
        fasta.append(">%s made\n%s\n" % (name, "\n".join(bases[i:i + 70] for i in range(0, len(bases), 70))))
    return "".join(fasta), "\n".join(gff) + "\n"


def make(box, names=("a", "b"), genes_each=60, seed=1):
    fasta, gff = genome(names, genes_each, seed)
    box.write("genome.fa", fasta), box.write("genes.gff3", gff)
    box.ok(["train-genes", "--grammar", "fungus", "--order", "2", "--max-iterations", "4", "--sequences", "a", "--annotation",
            "genes.gff3", "-o", "model.json", "genome.fa"])


def levels(text):
    rows = [line.split("\t") for line in text.splitlines()]
    return {row[0]: dict(zip(rows[0], row)) for row in rows[1:]}


def test_genes_of_another_sequence_are_found(box):
    make(box)
    box.ok(["genes", "-p", "model.json", "--sequences", "b", "-o", "found.gff3", "--proteins", "p.faa", "--coding", "c.fna", "genome.fa"])
    table = levels(box.ok(["eval-genes", "--sequences", "b", "--truth", "genes.gff3", "found.gff3"]).stdout)
    check(float(table["#level" if "#level" in table else "transcript"]["f1"]) > 0.9, table["transcript"])
    check(float(table["intron"]["sensitivity"]) > 0.8, table["intron"])
    check(float(table["base"]["f1"]) > 0.98, table["base"])
    proteins = box.text("p.faa").split(">")[1:]
    coding = box.text("c.fna").split(">")[1:]
    check(len(proteins) == len(coding) == int(table["transcript"]["predicted"]), "proteins")
    for one in coding:
        bases = "".join(one.split("\n")[1:])
        check(bases.startswith("ATG") and bases[-3:] in STOPS and len(bases) % 3 == 0, one)
        check(not any(bases[i:i + 3] in STOPS for i in range(0, len(bases) - 3, 3)), one)
    for one in proteins:
        check("".join(one.split("\n")[1:]).startswith("M") and "*" not in one, one)


def test_gff_is_consistent(box):
    """Exons lie in their gene, phases fit the bases before them, probabilities of parts are not below those of the whole."""
    make(box)
    lines = box.ok(["genes", "-p", "model.json", "genome.fa"]).stdout.splitlines()
    check(lines[0] == "##gff-version 3", lines[0])
    genes, exons = {}, {}
    for line in lines:
        if line.startswith("#"):
            continue
        columns = line.split("\t")
        names = dict(part.split("=") for part in columns[8].split(";"))
        if columns[2] == "gene":
            genes[names["ID"]] = (int(columns[3]), int(columns[4]), float(columns[5]), columns[6], names)
        if columns[2] == "CDS":
            exons.setdefault(names["Parent"].rsplit(".", 1)[0], []).append((int(columns[3]), int(columns[4]), float(columns[5]), int(columns[7])))
    check(len(genes) > 80 and set(genes) == set(exons), "%d genes" % len(genes))
    for name, (begin, end, p, strand, names) in genes.items():
        parts = exons[name]
        check((parts[0][0], parts[-1][1]) == (begin, end), name)
        coding = 0
        for a, b, q, phase in parts if strand == "+" else reversed(parts):
            check(phase == (3 - coding % 3) % 3, "%s: phase" % name)
            check(q >= p - 1e-3, "%s: an exon is less sure than its gene" % name)
            coding += b - a + 1
        check(coding % 3 == 0, name)
        check(min(float(names["p_start"]), float(names["p_stop"])) >= p - 1e-3, name)


def test_same_bytes_for_any_threads_and_compression(box):
    make(box)
    one = box.ok(["genes", "-p", "model.json", "genome.fa"]).stdout
    check(box.ok(["genes", "-t", "3", "-p", "model.json", "genome.fa"]).stdout == one, "threads change the genes")
    box.path("genome.fa.gz").write_bytes(gzip.compress(box.text("genome.fa").lower().replace("\n", "\r\n").encode()))
    check(box.ok(["genes", "-p", "model.json", "genome.fa.gz"]).stdout == one, "case, line ends or compression change the genes")
    command = ["train-genes", "--grammar", "fungus", "--order", "1", "--max-iterations", "2", "--annotation", "genes.gff3"]
    box.ok(command + ["-o", "m1.json", "genome.fa"]), box.ok(command + ["-t", "4", "-o", "m4.json", "genome.fa"])
    check(box.text("m1.json") == box.text("m4.json"), "threads change the model")


def test_masked_bases_cost_coding_sequence(box):
    make(box)
    plain = box.ok(["genes", "-p", "model.json", "--sequences", "b", "genome.fa"]).stdout
    first = re.search(r"\tgene\t(\d+)\t(\d+)\t", plain)
    names, bases = box.text("genome.fa").split(">b made\n")[0], box.text("genome.fa").split(">b made\n")[1].replace("\n", "")
    begin, end = int(first.group(1)) - 1, int(first.group(2))
    box.write("masked.fa", names + ">b made\n" + bases[:begin] + bases[begin:end].lower() + bases[end:] + "\n")
    command = ["genes", "-p", "model.json", "--sequences", "b", "masked.fa", "--masked-penalty"]
    check(box.ok(command + ["0"]).stdout == plain, "lower case changes the genes without a penalty")
    masked = box.ok(command + ["2"]).stdout
    rest = plain[plain.index("\tgene\t", first.end()):]
    check(masked.count("\tgene\t") == plain.count("\tgene\t") - 1, "a masked gene is still there, or others are not")
    check(re.findall(r"\tgene\t\d+\t\d+", masked) == re.findall(r"\tgene\t\d+\t\d+", rest), "other genes changed")


def test_genes_that_the_ends_of_a_sequence_cut_off(box):
    """What is left of a gene is told as in files of NCBI, and its protein is a part of the whole one."""
    make(box)
    box.ok(["genes", "-p", "model.json", "--sequences", "b", "--proteins", "all.faa", "-o", "all.gff3", "genome.fa"])
    whole = {one.split()[0]: "".join(one.split("\n")[1:]) for one in box.text("all.faa").split(">")[1:]}
    bases = box.text("genome.fa").split(">b made\n")[1].replace("\n", "")
    cut = 0
    for line in [line.split("\t") for line in box.text("all.gff3").splitlines() if "\tCDS\t" in line][:6]:
        begin, end, name = int(line[3]) - 1, int(line[4]), line[8].split("=")[1].rsplit(".cds", 1)[0]
        at = begin + (end - begin) * 2 // 5
        box.write("part.fa", ">left\n%s\n>right\n%s\n" % (bases[:at], bases[at:]))
        command = ["genes", "-p", "model.json", "--proteins", "p.faa", "part.fa", "--ends"]
        check("partial" not in box.ok(command + ["closed"]).stdout + box.ok(command[:-1]).stdout, "genes are cut without --ends open")
        rows = [row.split("\t") for row in box.ok(command + ["open"]).stdout.splitlines() if "partial=true" in row]
        proteins = {one.split()[0]: "".join(one.split("\n")[1:]) for one in box.text("p.faa").split(">")[1:]}
        for row in rows:
            left = row[0] == "left"
            wanted = ";end_range=%d,." % at if left else ";start_range=.,1"
            check(row[8].endswith(";partial=true" + wanted) or row[2] in ("gene", "mRNA"), str(row))
            check(row[4 if left else 3] == str(at if left else 1) or "CDS" not in row[2], str(row))
            if row[2] == "gene":
                five = (row[6] == "+") != left
                check(("p_start" in row[8]) != five and ("p_stop" in row[8]) == five, str(row))
            if row[2] == "CDS":
                cut += 1
                check(proteins[row[8].split("=")[1].split(".cds")[0]] in whole[name], "%s of %s" % (row, name))
    check(cut >= 8, "%d parts" % cut)


def test_parts_of_the_grammar(box):
    """Untranslated regions of an annotation are learned, and come out as lines that fit their exons."""
    fasta, gff = genome(("a", "b"), 60, 5)
    lines = []
    for line in gff.splitlines():
        columns = line.split("\t")
        if len(columns) == 9:
            lines.append("\t".join(columns[:2] + ["exon", str(int(columns[3]) - 30), str(int(columns[4]) + 30)] + columns[5:8] +
                                   [columns[8][columns[8].index("Parent"):]]))
        lines.append(line)
    box.write("genome.fa", fasta), box.write("genes.gff3", "\n".join(lines) + "\n")
    train = ["train-genes", "--order", "1", "--max-iterations", "2", "--sequences", "a", "--annotation", "genes.gff3", "-o", "m.json", "genome.fa"]
    box.ok(train + ["--grammar", "fungus", "--with", "utr,split-stops,u12,gc-ag"])
    model = json.loads(box.text("m.json"))
    check(model["format_version"] == "1.2", model["format_version"])
    said = [line.split("\t") for line in box.ok(["genes", "-p", "m.json", "--sequences", "b", "genome.fa"]).stdout.splitlines() if line[0] != "#"]
    kinds = {line[2] for line in said}
    check(kinds == {"gene", "mRNA", "exon", "CDS", "five_prime_UTR", "three_prime_UTR"}, str(kinds))
    bases = {kind: {} for kind in kinds}
    for line in said:
        parent = line[8].split("Parent=")[-1].split(";")[0]
        bases[line[2]].setdefault(parent, set()).update(range(int(line[3]), int(line[4]) + 1))
    for name, exons in bases["exon"].items():
        parts = [bases[kind].get(name, set()) for kind in ("CDS", "five_prime_UTR", "three_prime_UTR")]
        check(exons == set.union(*parts) and len(exons) == sum(map(len, parts)), name)
    for wrong in ("utr,introns", ""):
        box.fails(train + ["--with", wrong or "utr", "--grammar", "fungus" if wrong else "prokaryote"], 2, "--with")


def test_gtf_and_gff3_say_the_same(box):
    make(box)
    gtf = re.sub(r"ID=c\d+;Parent=(t\d+)", r'gene_id "g_\1"; transcript_id "\1";', box.text("genes.gff3")).replace("##gff-version 3\n", "")
    box.write("genes.gtf", gtf)
    table = levels(box.ok(["eval-genes", "--truth", "genes.gff3", "genes.gtf"]).stdout)
    check(all(row["f1"] == "1.0000" for row in table.values()), str(table))


def test_numbers_of_the_table(box):
    """Counted by hand: one gene the same, one with another start, one missed, one too many."""
    head = "s\tx\tCDS\t%d\t%d\t.\t+\t0\tID=%s\n"
    box.write("t.gff3", head % (1, 30, "a") + head % (41, 60, "a") + head % (101, 130, "b") + head % (201, 230, "c"))
    box.write("p.gff3", head % (1, 30, "a") + head % (41, 60, "a") + head % (107, 130, "b") + head % (301, 330, "d"))
    rows = box.ok(["eval-genes", "--truth", "t.gff3", "p.gff3"]).stdout.splitlines()
    check(rows[1:] == ["base\t110\t104\t74\t0.6727\t0.7115\t0.6916", "exon\t4\t4\t2\t0.5000\t0.5000\t0.5000",
                       "intron\t1\t1\t1\t1.0000\t1.0000\t1.0000", "start\t3\t3\t1\t0.3333\t0.3333\t0.3333",
                       "stop\t3\t3\t2\t0.6667\t0.6667\t0.6667", "intron_chain\t1\t1\t1\t1.0000\t1.0000\t1.0000",
                       "transcript\t3\t3\t1\t0.3333\t0.3333\t0.3333", "locus\t3\t3\t1\t0.3333\t0.3333\t0.3333"], "\n".join(rows))


def test_bacteria_have_no_introns(box):
    fasta, gff = genome(("a",), 40, 3, introns=False)
    box.write("genome.fa", fasta), box.write("genes.gff3", gff)
    box.ok(["train-genes", "--grammar", "prokaryote", "--order", "2", "--max-iterations", "3", "--annotation", "genes.gff3", "-o", "m.json", "genome.fa"])
    box.ok(["genes", "-p", "m.json", "-o", "f.gff3", "genome.fa"])
    table = levels(box.ok(["eval-genes", "--truth", "genes.gff3", "f.gff3"]).stdout)
    check(float(table["transcript"]["f1"]) > 0.9 and table["intron"]["predicted"] == "0", str(table))
    check("intron" not in [state["name"] for state in json.loads(box.text("m.json"))["states"]], "introns")


def test_a_model_fits_itself_to_a_genome_without_annotation(box):
    """Genes with other third bases of codons than those that were learned from: more are found after some rounds."""
    for name, count, seed, third in (("a", 60, 3, "CCCGGAT"), ("b", 120, 4, "AATTTCG")):
        fasta, gff = genome((name,), count, seed, introns=False, third=third)
        box.write(name + ".fa", fasta), box.write(name + ".gff3", gff)
    box.ok(["train-genes", "--grammar", "prokaryote", "--order", "2", "--max-iterations", "3", "--annotation", "a.gff3", "-o", "a.json", "a.fa"])
    said = box.ok(["train-genes", "--from", "a.json", "--rounds", "3", "-o", "b.json", "b.fa"]).stderr
    check(said.count("info: round") == 3 and "certain" in said, said)
    box.ok(["train-genes", "--from", "a.json", "--rounds", "3", "-t", "3", "-o", "b3.json", "b.fa"])
    check(box.text("b.json") == box.text("b3.json"), "another number of threads, another model")
    found = {}
    for model in ("a.json", "b.json"):
        box.ok(["genes", "-p", model, "-o", "f.gff3", "b.fa"])
        found[model] = levels(box.ok(["eval-genes", "--truth", "b.gff3", "f.gff3"]).stdout)
    before, after = float(found["a.json"]["transcript"]["f1"]), float(found["b.json"]["transcript"]["f1"])
    check(after > before + 0.02 and after > 0.97, "%s %s" % (before, after))
    box.fails(["train-genes", "--from", "a.json", "--annotation", "a.gff3", "-o", "m.json", "b.fa"], 2, "--annotation")
    box.fails(["train-genes", "-o", "m.json", "b.fa"], 2, "--annotation", "--from")
    box.fails(["train-genes", "--rounds", "2", "--annotation", "a.gff3", "-o", "m.json", "a.fa"], 2, "--from")
    box.write("none.fa", ">n\n" + "AATTC" * 500 + "\n")
    box.fails(["train-genes", "--from", "a.json", "-o", "m.json", "none.fa"], 3, "none.fa", "genes")
    box.write("named.json", box.text("a.json").replace('"description":"prokaryote"', '"description":"mine"'))
    box.fails(["train-genes", "--from", "named.json", "-o", "m.json", "b.fa"], 3, "named.json", "--grammar prokaryote")


def crowded(name, genes, seed):
    """FASTA and GFF3 of genes of which the next begins with the last bases (ATGA) of the one before, on both strands."""
    numbers = random.Random(seed)
    bases, gff, count = "", [], 0
    while count < genes:
        bases += "".join(numbers.choice("AATTCG") for _ in range(numbers.randint(150, 500)))
        text, places = "", []
        for _ in range(2):
            codons = "".join(numbers.choice("GGGCA") + numbers.choice("ACGT") + numbers.choice("CCCG") for _ in range(numbers.randint(60, 200)))
            begin = max(0, len(text) - 4)
            text += ("ATG" if not places else "CC") + codons + ("GCATGA" if not places else "TAA")
            places.append((begin, len(text)))
        strand = numbers.choice("+-")
        if strand == "-":
            text, places = flipped(text), [(len(text) - b, len(text) - a) for a, b in places]
        for a, b in places:
            count += 1
            gff.append("%s\tx\tCDS\t%d\t%d\t.\t%s\t0\tID=c%d;Parent=t%d" % (name, len(bases) + a + 1, len(bases) + b, strand, count, count))
        bases += text
    bases += "".join(numbers.choice("AATTCG") for _ in range(300))
    return ">%s\n%s\n" % (name, bases), "\n".join(gff) + "\n"


def test_a_grammar_without_training(box):
    """It is a model file: genes are found with it, and a bacterium's fits itself to a genome."""
    fasta, gff = genome(("a", "b"), 60, 9, introns=False, third="ACGT")
    box.write("genome.fa", fasta), box.write("genes.gff3", gff)
    for grammar in ("prokaryote", "fungus", "eukaryote"):
        box.ok(["train-genes", "--grammar", grammar, "-o", grammar + ".json"])
        box.ok(["genes", "-p", grammar + ".json", "-o", "found.gff3", "genome.fa"])
        table = levels(box.ok(["eval-genes", "--truth", "genes.gff3", "found.gff3"]).stdout)
        check(float(table["base"]["precision"]) > 0.6, "%s: %s" % (grammar, table["base"]))
    box.ok(["train-genes", "--from", "prokaryote.json", "-o", "own.json", "genome.fa"])
    box.ok(["genes", "-p", "own.json", "-o", "found.gff3", "genome.fa"])
    table = levels(box.ok(["eval-genes", "--truth", "genes.gff3", "found.gff3"]).stdout)
    check(float(table["stop"]["f1"]) > 0.95, str(table["stop"]))
    box.ok(["train-genes", "--grammar", "fungus", "--with", "utr,split-stops,u12", "--table", "12", "-o", "parts.json"])
    model = json.loads(box.text("parts.json"))
    check(model["genetic_code"] == 12 and any(one["name"] == "5' UTR" for one in model["states"]), str(model["states"]))
    box.ok(["genes", "-p", "parts.json", "genome.fa"])
    for more in (["--annotation", "genes.gff3"], ["--from", "own.json"]):
        box.fails(["train-genes", "-o", "x.json", *more], 2, "FASTA is required")


def test_another_genetic_code(box):
    """With code 4 TGA is tryptophan: in training, in genes, in a model fitted to a genome, in proteins."""
    fasta, gff = genome(("a", "b"), 60, 8, introns=False)
    text = "".join(fasta.split(">b made")[0].split("\n")[1:]), "".join(fasta.split(">b made")[1].split("\n"))
    changed = [list(one) for one in text]
    for line in gff.splitlines()[1:]:
        part = line.split("\t")
        bases, begin, end = changed["ab".index(part[0])], int(part[3]) - 1, int(part[4])
        coding = "".join(bases[begin:end]) if part[6] == "+" else flipped("".join(bases[begin:end]))
        coding = coding[:30] + "TGA" + coding[33:60] + "TGA" + coding[63:-3] + "TAA"
        bases[begin:end] = coding if part[6] == "+" else flipped(coding)
    box.write("genome.fa", "".join(">%s\n%s\n" % (name, "".join(bases)) for name, bases in zip("ab", changed))), box.write("genes.gff3", gff)
    train = ["train-genes", "--grammar", "prokaryote", "--order", "2", "--max-iterations", "3", "--annotation", "genes.gff3", "genome.fa", "-o"]
    box.ok(train + ["code4.json", "--table", "4"])
    check(json.loads(box.text("code4.json"))["genetic_code"] == 4, "the model file has another code")
    box.fails(train + ["x.json"], 3, "genes that can be learned from")
    box.fails(train + ["x.json", "--table", "2"], 2, "--table: 2 is none of 1, 4, 6")
    def found(model):
        lines = box.ok(["genes", "-p", model, "--proteins", "p.faa", "-o", "f.gff3", "genome.fa"])
        table = levels(box.ok(["eval-genes", "--truth", "genes.gff3", "f.gff3"]).stdout)
        check(float(table["transcript"]["f1"]) > 0.9, "%s: %s" % (model, table["transcript"]))
        check(";transl_table=4\n" in box.text("f.gff3"), "no transl_table")
        proteins = ["".join(one.split("\n")[1:]) for one in box.text("p.faa").split(">")[1:]]
        check(all(one[0] == "M" and "*" not in one for one in proteins), "proteins")
        check(sum(len(one) > 20 and one[10] == "W" and one[20] == "W" for one in proteins) > 0.9 * len(proteins), "no W")
        return lines
    found("code4.json")
    box.ok(["train-genes", "--from", "code4.json", "-o", "own.json", "genome.fa"])
    found("own.json")
    box.write("standard.fa", fasta)
    box.ok(train[:-2] + ["standard.fa", "-o", "code1.json"])
    check("genetic_code" not in json.loads(box.text("code1.json")), "the standard code is told")
    box.ok(["train-genes", "--from", "code1.json", "--table", "4", "-o", "other.json", "genome.fa"])
    found("other.json")


def test_genes_of_bacteria_overlap(box):
    """Learned from one sequence and found on another: exactly the genes that share four bases with the next."""
    for name, seed in (("a", 5), ("b", 6)):
        fasta, gff = crowded(name, 60, seed)
        box.write(name + ".fa", fasta), box.write(name + ".gff3", gff)
    said = box.ok(["train-genes", "--grammar", "prokaryote", "--order", "2", "--max-iterations", "3", "--annotation", "a.gff3", "-o", "m.json", "a.fa"]).stderr
    check("60 genes" in said and "overlap" not in said, said)
    box.ok(["genes", "-p", "m.json", "-o", "f.gff3", "b.fa"])
    table = levels(box.ok(["eval-genes", "--truth", "b.gff3", "f.gff3"]).stdout)
    check(float(table["transcript"]["sensitivity"]) > 0.95, str(table["transcript"]))
    shared = [line.split("\t") for line in box.text("f.gff3").splitlines() if "\tgene\t" in line]
    check(sum(int(a[4]) - int(b[3]) == 3 for a, b in zip(shared, shared[1:])) > 25, "overlaps of four bases")


def test_strands_apart(box):
    """Two genes on opposite strands that share more bases than the grammar allows: both are found apart, one of them joint."""
    fasta, gff = genome(("a",), 40, 3, introns=False)
    box.write("genome.fa", fasta), box.write("genes.gff3", gff)
    box.ok(["train-genes", "--grammar", "prokaryote", "--order", "1", "--max-iterations", "2", "--annotation", "genes.gff3", "-o", "m.json", "genome.fa"])
    numbers = random.Random(9)
    codons = ["".join(numbers.choice("GGGCA") + numbers.choice("ACGT") + numbers.choice("CCCG") for _ in range(count)) for count in (100, 80, 100)]
    around = "".join(numbers.choice("AATTCG") for _ in range(400))
    box.write("one.fa", ">s\n%s\n" % (around + "ATG" + codons[0] + "TTA" + codons[1] + "TAA" + codons[2] + "CAT" + around))
    genes = {}
    for strands in ("joint", "apart"):
        lines = [line.split("\t") for line in box.ok(["genes", "-p", "m.json", "--strands", strands, "one.fa"]).stdout.splitlines()]
        genes[strands] = [(int(one[3]), int(one[4]), one[6]) for one in lines if len(one) > 2 and one[2] == "gene"]
    both = [(401, 949, "+"), (704, 1252, "-")]
    check(set(both) <= set(genes["apart"]) and genes["apart"] == sorted(genes["apart"]), str(genes))
    check(not set(both) <= set(genes["joint"]), str(genes))


def test_cost_of_a_missed_gene(box):
    box.ok(["train-genes", "--grammar", "prokaryote", "-o", "bare.json"])
    box.write("random.fa", ">r\n%s\n" % "".join(random.Random(1).choices("ACGT", k=30000)))
    command = ["genes", "-p", "bare.json", "random.fa"]
    plain = box.ok(command).stdout
    fewer, same, more = (box.ok(command + ["--missed-cost", cost]).stdout for cost in ("1e-6", "1", "1e3"))
    check(same == plain, "a cost of 1 changes the genes")
    count = [text.count("\tgene\t") for text in (fewer, plain, more)]
    check(count[0] < count[1] < count[2], str(count))


def test_alternatives(box):
    """Further mRNAs: other exons between the same ends, by falling probability, all of one gene no more probable than its ends."""
    make(box)
    model = json.loads(box.text("model.json"))
    for one in model["signals"] + model["contents"]:
        one["weight"] *= 0.1  # so that little is certain
    box.write("weak.json", json.dumps(model))
    box.ok(["genes", "-p", "weak.json", "-o", "one.gff3", "genome.fa"])
    box.ok(["genes", "-p", "weak.json", "--alternatives", "3", "--proteins", "p.faa", "-o", "all.gff3", "genome.fa"])
    lines = [line.split("\t") for line in box.text("all.gff3").splitlines() if not line.startswith("#")]
    attributes = [dict(part.split("=") for part in line[8].split(";")) for line in lines]
    further = [bool(re.search(r"\.t[2-9]\d*$", names.get("Parent", "")) or re.search(r"\.t[2-9]\d*$", names["ID"])) for names in attributes]
    kept = ["\t".join(line) for line, more in zip(lines, further) if not more]
    check(kept == [line for line in box.text("one.gff3").splitlines() if not line.startswith("#")], "the best segmentation changes")
    check(sum(further) > 20, "%d lines of further mRNAs" % sum(further))
    genes = {}
    for line, names in zip(lines, attributes):
        if line[2] == "gene":
            genes[names["ID"]] = {"ends": line[3:5], "most": min(float(names["p_start"]), float(names["p_stop"])), "mrna": {}}
        elif line[2] == "mRNA":
            check(line[3:5] == genes[names["Parent"]]["ends"], names["ID"])
            genes[names["Parent"]]["mrna"][names["ID"]] = (float(line[5]), [])
        elif line[2] == "CDS":
            genes[names["Parent"].rsplit(".", 1)[0]]["mrna"][names["Parent"]][1].append((line[3], line[4]))
    for name, one in genes.items():
        made = list(one["mrna"].values())
        check(len({tuple(exons) for _, exons in made}) == len(made) <= 4, name)
        check(sum(p for p, _ in made) <= one["most"] + 1e-3, name)
        check([p for p, _ in made[1:]] == sorted((p for p, _ in made[1:]), reverse=True) and all(p >= 1e-3 for p, _ in made[1:]), name)
    check(box.text("p.faa").count(">") == sum(len(one["mrna"]) for one in genes.values()), "proteins")


def hints_of(gff, sequence):
    """Lines of the introns, CDS, start and stop codons of the genes of a sequence."""
    genes = {}
    for line in gff.splitlines():
        if line.startswith(sequence + "\t"):
            part = line.split("\t")
            genes.setdefault(line.rsplit("Parent=", 1)[1], []).append((int(part[3]), int(part[4]), part[6]))
    lines = {"intron": [], "CDS": [], "start_codon": [], "stop_codon": []}
    for exons in genes.values():
        exons.sort()
        strand = exons[0][2]
        lines["CDS"] += [(a, b, strand) for a, b, _ in exons]
        lines["intron"] += [(left[1] + 1, right[0] - 1, strand) for left, right in zip(exons, exons[1:])]
        first, last = (exons[0][0], exons[0][0] + 2), (exons[-1][1] - 2, exons[-1][1])
        lines["start_codon"].append((first if strand == "+" else last) + (strand,))
        lines["stop_codon"].append((last if strand == "+" else first) + (strand,))
    return {kind: ["%s\tx\t%s\t%d\t%d\t.\t%s\t.\t.\n" % ((sequence, kind) + place) for place in places] for kind, places in lines.items()}


def test_hints(box):
    """A model to which signals say little: hints as weights find more of what they name, as constraints all of it."""
    make(box)
    model = json.loads(box.text("model.json"))
    for one in model["signals"] + model["contents"]:
        one["weight"] *= 0.1
    box.write("weak.json", json.dumps(model))
    hints = hints_of(box.text("genes.gff3"), "b")

    def found(level, *options):
        box.ok(["genes", "-p", "weak.json", "--sequences", "b", "-o", "f.gff3"] + list(options) + ["genome.fa"])
        return float(levels(box.ok(["eval-genes", "--sequences", "b", "--truth", "genes.gff3", "f.gff3"]).stdout)[level]["sensitivity"])

    gains = []
    for kind, level in (("intron", "intron"), ("start_codon", "start"), ("stop_codon", "stop"), ("CDS", "base")):
        box.write("h.gff3", "##gff-version 3\n" + "".join(hints[kind]))
        without, weighed, certain = found(level), found(level, "--hints", "h.gff3"), found(level, "--hints", "h.gff3", "--hints-as", "constraints")
        check(without <= weighed <= certain and certain > 0.9999, "%s: %s" % (kind, (without, weighed, certain)))
        gains.append(weighed - without)
    check(max(gains) > 0, str(gains))
    apart = found("base", "--hints", "h.gff3", "--hints-as", "constraints", "--strands", "apart")
    check(apart > 0.9999, "apart: %s" % apart)
    box.write("h.gff3", "".join(sum(hints.values(), [])))
    check(found("transcript", "--hints", "h.gff3", "--hints-as", "constraints") == 1, "all hints")

    def refused(text, *said):
        box.write("bad.gff3", text)
        box.fails(["genes", "-p", "weak.json", "--hints", "bad.gff3", "--hints-as", "constraints", "genome.fa"], 3, "bad.gff3", *said)

    refused("b\tx\texon\t1\t9\t.\t+\t.\t.\n", "no hints in it")
    refused(hints["intron"][0] + "b\tx\tintron\t11\t40\t.\t+\t.\t.\n", "line 2", "nothing of this kind can stand at base")
    refused(hints["intron"][0].replace("\tb\t", "\t") + "b\tx\tintron\t1\t999999999\t.\t+\t.\t.\n", "line 2", "ends at base")
    refused("b\tx\tstart_codon\t1\t9\t.\t+\t.\t.\n", "line 1", "codons have three")
    refused("b\tx\tintron\t1\t9\t.\t.\t.\t.\n", "line 1", "strand")
    refused(hints["CDS"][0] + hints["CDS"][0].replace("\t+\t", "\t?\t").replace("\t-\t", "\t+\t").replace("\t?\t", "\t-\t"), "no genes agree with all hints")


def test_sequences_without_genes(box):
    """No bases, few, none known: no genes and no error."""
    make(box)
    box.write("odd.fa", ">empty\n>one\nA\n>unknown\n%s\n>short\nATG\n" % ("N" * 500))
    lines = box.ok(["genes", "-p", "model.json", "odd.fa"]).stdout.splitlines()
    check([line for line in lines if not line.startswith("#")] == [], "\n".join(lines))
    check("##sequence-region unknown 1 500" in lines, "\n".join(lines))


def test_damaged_files(box):
    make(box)
    good = "a\tx\tCDS\t1\t9\t.\t+\t0\tID=c;Parent=t\n"
    for text, said in ((good.replace("\t9\t", "\tx\t"), ("line 1", "the end is")), (good.replace("\t9\t", "\t0\t"), ("line 1",)),
                       (good.replace("\t1\t9\t", "\t9\t1\t"), ("line 1", "before it begins")),
                       (good.replace("+", "."), ("line 1", "strand")), ("a\tx\tCDS\t1\n", ("line 1", "4 columns")),
                       (good + good.replace("+", "-"), ("line 2", "another sequence or strand")), (good + good, ("overlap",)),
                       (good.replace("ID=c;Parent=t", "x"), ("line 1", "without Parent")), ("##gff-version 3\n", ("no CDS",))):
        box.write("bad.gff3", text)
        box.fails(["eval-genes", "--truth", "genes.gff3", "bad.gff3"], 3, "bad.gff3", *said)
    for text, said in (("ACGT\n", ("line 1", "no name")), (">a\nAC1T\n", ("line 2", "no base")), (">a\nA\n>a\nC\n", ("line 3", "a second sequence")),
                       ("", ("no sequence",)), (">\nACGT\n", ("line 1",))):
        box.write("bad.fa", text)
        box.fails(["genes", "-p", "model.json", "bad.fa"], 3, "bad.fa", *said)
    box.fails(["genes", "-p", "model.json", "--sequences", "c", "genome.fa"], 3, "no sequence c")
    box.fails(["eval-genes", "--truth", "genes.gff3", "--sequences", "a,c", "genes.gff3"], 3, "genes.gff3", "no sequence c")
    box.fails(["train-genes", "--annotation", "genes.gff3", "--sequences", "x", "-o", "m.json", "genome.fa"], 3, "no sequence x")
    box.write("few.gff3", "".join(box.text("genes.gff3").splitlines(True)[:5]))
    box.fails(["train-genes", "--annotation", "few.gff3", "-o", "m.json", "genome.fa"], 3, "few.gff3", "genes that can be learned from")
    box.write("beyond.gff3", good.replace("\t9\t", "\t99999999\t"))
    box.fails(["train-genes", "--annotation", "beyond.gff3", "-o", "m.json", "genome.fa"], 3, "beyond.gff3", "ends at base")
    box.write("model2.json", box.text("model.json").replace('"weight":', '"weights":', 1))
    box.fails(["genes", "-p", "model2.json", "genome.fa"], 3, "model2.json", "weights")
    box.fails(["genes", "-p", "genes.gff3", "genome.fa"], 3, "genes.gff3")
    box.fails(["genes", "-p", "model.json", "no.fa"], 4, "no.fa")


def test_partial_annotation(box):
    """Of each three genes two are missing: learned with --partial, all genes of another sequence are found, and no fewer than without."""
    make(box)
    kept = [line for line in box.text("genes.gff3").splitlines(True) if line.startswith("#") or int(re.search(r"Parent=t(\d+)", line)[1]) % 3 == 0]
    box.write("some.gff3", "".join(kept))
    command = ["train-genes", "--grammar", "fungus", "--order", "2", "--max-iterations", "6", "--sequences", "a", "--annotation", "some.gff3"]
    found = {}
    for name, options in (("whole", []), ("partial", ["--partial"])):
        box.ok(command + options + ["-o", name + ".json", "genome.fa"])
        box.ok(["genes", "-p", name + ".json", "--sequences", "b", "-o", "f.gff3", "genome.fa"])
        found[name] = float(levels(box.ok(["eval-genes", "--sequences", "b", "--truth", "genes.gff3", "f.gff3"]).stdout)["transcript"]["sensitivity"])
    check(found["partial"] > 0.8 and found["partial"] >= found["whole"], str(found))
    check(box.text("whole.json") != box.text("partial.json"), "the same model")


def test_impossible_genes_are_named(box):
    make(box)
    lines = box.text("genes.gff3").splitlines(True)
    box.write("shifted.gff3", "".join(lines + ["a\tx\tCDS\t20\t100\t.\t+\t0\tID=c;Parent=wrong\n"]))
    warned = box.ok(["train-genes", "--grammar", "fungus", "--order", "1", "--max-iterations", "1", "--annotation", "shifted.gff3", "-o", "m.json", "genome.fa"]).stderr
    check("[impossible-genes]" in warned and "wrong" in warned, warned)


def zarr_arrays(box, folder, arrays, rows_each):
    """Arrays (lists of rows) as a Zarr store of version 2, in chunks of so many rows, zlib."""
    for name, rows in arrays:
        columns = len(rows[0])
        box.write(os.path.join(folder, name, ".zarray"), json.dumps({
            "zarr_format": 2, "shape": [len(rows), columns], "chunks": [rows_each, columns], "dtype": "<f4", "order": "C", "filters": None,
            "compressor": {"id": "zlib", "level": 1}, "fill_value": 0}))
        for chunk, begin in enumerate(range(0, len(rows), rows_each)):
            values = [value for row in rows[begin:begin + rows_each] for value in row]
            values += [0.0] * (rows_each * columns - len(values))
            box.write(os.path.join(folder, name, "%d.0" % chunk), zlib.compress(struct.pack("<%df" % len(values), *values)))


def scores_of_genes(box):
    """A network's scores for made genomes: P(coding) and P(start) of every base on each strand, as NPZ, Zarr and bigWig."""
    numbers = random.Random(3)
    lengths = {part.split()[0]: len("".join(part.split("\n")[1:])) for part in box.text("genome.fa").split(">")[1:]}
    values = {(name, strand): [[0.1 * numbers.random() + 0.01, 0.001] for _ in range(length)]
              for name, length in lengths.items() for strand in "+-"}
    first = {}
    for line in box.text("genes.gff3").splitlines()[1:]:
        part = line.split("\t")
        rows, begin, end = values[part[0], part[6]], int(part[3]) - 1, int(part[4])
        for t in range(begin, end):
            rows[t][0] = 0.9
        name = part[8].split("Parent=")[1]
        if part[6] == "-" or name not in first:
            first[name] = (part[0], part[6], begin if part[6] == "+" else end - 1)
    for name, strand, t in first.values():
        values[name, strand][t][1] = 0.8
    make_inputs.npz(box.path("scores.npz"), [(name + strand + ".npy", make_inputs.npy(rows)) for (name, strand), rows in values.items()])
    zarr_arrays(box, "scores.zarr", [(name + strand, rows) for (name, strand), rows in values.items()], 1000)
    for i, track in enumerate(("coding", "start")):
        for strand in "+-":
            make_inputs.bigwig_track(box, "%s%s.bw" % (track, strand), lengths, [
                section for name in lengths for section in make_inputs.bigwig.fixed_step(name, 0, 1, [row[i] for row in values[name, strand]])])
    return ["--track=%s%s=%s%s.bw" % (track, strand, track, strand) for track in ("coding", "start") for strand in "+-"]


def test_scores_of_a_network(box):
    """Weights learned for tracks find genes; arrays, Zarr and bigWig files say the same, as do any number of threads."""
    make(box, genes_each=16)
    bigwigs = scores_of_genes(box)
    train = ["train-genes", "--grammar", "fungus", "--order", "0", "--max-iterations", "12", "--sequences", "a", "--annotation", "genes.gff3"]
    box.ok(train + ["--tracks", "scores.npz", "--track-names", "coding,start", "-o", "m1.json", "genome.fa"])
    box.ok(train + bigwigs + ["-t", "3", "-o", "m2.json", "genome.fa"])
    check(box.text("m1.json") == box.text("m2.json"), "arrays and bigWig files give two models")
    model = json.loads(box.text("m1.json"))
    check([one["name"] for one in model["tracks"]] == ["coding", "start"], str(model["tracks"]))
    check(any(one["weight"] > 0 for one in model["contents"][0]["tracks"]), str(model["contents"][0]["tracks"]))
    find = ["genes", "-p", "m1.json", "--sequences", "b"]
    box.ok(find + ["--tracks", "scores.npz", "-o", "f1.gff3", "genome.fa"])
    box.ok(find + bigwigs + ["-t", "2", "-o", "f2.gff3", "genome.fa"])
    check(box.text("f1.gff3") == box.text("f2.gff3"), "arrays and bigWig files give two results")
    for threads in ("1", "2"):
        box.ok(find + ["--tracks", "scores.zarr", "-t", threads, "-o", "f3.gff3", "genome.fa"])
        check(box.text("f1.gff3") == box.text("f3.gff3"), "NPZ and Zarr give two results")
    box.ok(train + ["-o", "m0.json", "genome.fa"])
    box.ok(["genes", "-p", "m0.json", "--sequences", "b", "-o", "f0.gff3", "genome.fa"])
    with_scores, without = (levels(box.ok(["eval-genes", "--sequences", "b", "--truth", "genes.gff3", name]).stdout)["transcript"]["f1"]
                            for name in ("f1.gff3", "f0.gff3"))
    check(float(with_scores) > 0.9 and float(with_scores) >= float(without), "%s and %s" % (with_scores, without))


def test_wrong_scores_of_a_network(box):
    make(box, genes_each=12)
    bigwigs = scores_of_genes(box)
    train = ["train-genes", "--order", "0", "--max-iterations", "1", "--sequences", "a", "--annotation", "genes.gff3", "-o", "m.json", "genome.fa"]
    box.fails(train + ["--tracks", "scores.npz", "--track-names", "one"], 2, "--track-names has 1 name", "2 tracks")
    box.fails(train + bigwigs[:3], 2, "--track start: no file for strand -")
    box.fails(train + bigwigs[:1] + bigwigs[:1], 2, "--track coding: given twice")
    box.fails(train + ["--track", "coding+"], 2, "expected NAME=FILE")
    box.fails(train + ["--tracks", "genes.gff3"], 3, "genes.gff3")
    os.mkdir(box.path("empty"))
    box.fails(train + ["--tracks", "empty"], 3, "empty: no Zarr arrays of tracks in it")
    box.write("scores.zarr/a+/1.0", b"damaged")
    box.fails(train + ["--tracks", "scores.zarr"], 3, "scores.zarr/a+/1.0: does not unpack to the 8000 bytes of a chunk")
    box.fails(train + ["--helixer", "scores.npz", "scores.npz"], 3, "scores.npz")
    make_inputs.npz(box.path("short.npz"), [("a+.npy", make_inputs.npy([[0.5], [0.5]])), ("a-.npy", make_inputs.npy([[0.5], [0.5]]))])
    box.fails(train + ["--tracks", "short.npz"], 3, "short.npz:a+", "shape (2, 1)")
    box.ok(train + ["--tracks", "scores.npz"])
    box.fails(["genes", "-p", "m.json", "genome.fa"], 2, "the model wants 2 tracks")
    box.fails(["genes", "-p", "m.json", "--tracks", "short.npz", "genome.fa"], 3, "short.npz", "1 track")
    box.fails(["genes", "-p", "m.json", *bigwigs, "genome.fa"], 3, "coding, start", "track1, track2")
    rows = [[-0.5, 0.5]] * 4000
    box.write("n.fa", ">a\n" + "ACGT" * 1000 + "\n")
    make_inputs.npz(box.path("n.npz"), [("a%s.npy" % strand, make_inputs.npy(rows)) for strand in "+-"])
    box.fails(["genes", "-p", "m.json", "--tracks", "n.npz", "n.fa"], 3, "n.npz:a:base 1, strand +", "negative")


def test_the_model_for_helixer_is_made_by_its_script(box):
    """And `genes` takes it: with tracks of other names it says which ones it wants."""
    script = pathlib.Path(__file__).parents[3] / "tests/lab/genes/helixer_model.py"
    subprocess.run([sys.executable, "-B", script, box.path("made.json")], check=True)
    check(box.text("made.json") == box.text("helixer.genes.json"), "data/helixer.genes.json is another one")
    box.write("n.fa", ">a\n" + "ACGT" * 10 + "\n")
    box.fails(["genes", "-p", "helixer.genes.json", "n.fa"], 2, "the model wants 8 tracks (intergenic, utr, cds, intron")
    make_inputs.npz(box.path("n.npz"), [("a%s.npy" % strand, make_inputs.npy([[1, 0, 0, 0, 1, 0, 0, 0]] * 40)) for strand in "+-"])
    found = box.ok(["genes", "-p", "helixer.genes.json", "--tracks", "n.npz", "n.fa"]).stdout
    check("\tgene\t" not in found, found)
