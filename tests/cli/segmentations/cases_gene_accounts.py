"""What eval-genes and the report of genes say, against accounts of a few lines (accounts.py)."""

import collections
import json
import math
import random
import re

from accounts import hold_rows, quantile, table
from cases_genes import flipped, levels, make
from harness import check

CLASSES = ("single", "initial", "internal", "terminal", "intron", "intergenic")


def random_annotation(numbers, names):
    """{(sequence, strand, exons)}: genes of several transcripts, some of which overlap the next gene."""
    found = set()
    for name in names:
        at = 100
        for _ in range(numbers.randint(5, 25)):
            strand, exons, end = numbers.choice("+-"), [], at
            for _ in range(numbers.choice([1, 1, 2, 3, 4])):
                size = numbers.randint(30, 200)
                exons.append((end, end + size))
                end += size + numbers.randint(20, 90)
            found.add((name, strand, tuple(exons)))
            for _ in range(numbers.choice([0, 0, 1, 2])):
                other = list(exons)
                kind = numbers.randrange(3)
                if kind == 0:
                    other[0] = (other[0][0] + 6, other[0][1])
                elif kind == 1 and len(other) > 2:
                    del other[numbers.randrange(1, len(other) - 1)]
                else:
                    other[-1] = (other[-1][0], other[-1][1] + numbers.choice([3, 300]))
                found.add((name, strand, tuple(other)))
            at = end + numbers.choice([0, -1, numbers.randint(-90, 150)])
    return found


def changed(numbers, transcripts):
    """Some are left out, some begin elsewhere, some lose an exon."""
    found = set()
    for name, strand, exons in sorted(transcripts):
        kind = numbers.randrange(6)
        if kind == 0:
            continue
        if kind == 1:
            exons = ((exons[0][0] + 3, exons[0][1]),) + exons[1:]
        if kind == 2 and len(exons) > 1:
            exons = exons[:-1]
        found.add((name, strand, exons))
    return found


def gff(transcripts, numbers):
    """CDS lines in any order."""
    lines = ["%s\tx\tCDS\t%d\t%d\t.\t%s\t0\tID=c%d;Parent=t%d\n" % (name, begin + 1, end, strand, number, number)
             for number, (name, strand, exons) in enumerate(sorted(transcripts)) for begin, end in exons]
    numbers.shuffle(lines)
    return "##gff-version 3\n" + "".join(lines)


def introns(exons):
    return tuple((left[1], right[0]) for left, right in zip(exons, exons[1:]))


def loci(transcripts, other):
    """How many, and how many of them have a transcript that is among the others: by joining whatever shares a base."""
    groups = []
    for name, strand, exons in transcripts:
        bases = {(name, strand, base) for begin, end in exons for base in range(begin, end)}
        members = [(name, strand, exons)]
        for group in [one for one in groups if one[0] & bases]:
            bases |= group[0]
            members += group[1]
            groups.remove(group)
        groups.append((bases, members))
    return len(groups), sum(any(one in other for one in members) for _, members in groups)


def level_account(truth, found):
    """{level: (truth, predicted, matched, matched of the predicted)}"""
    parts = {"base": lambda name, strand, exons: {(name, strand, base) for begin, end in exons for base in range(begin, end)},
             "exon": lambda name, strand, exons: {(name, strand, exon) for exon in exons},
             "intron": lambda name, strand, exons: {(name, strand, intron) for intron in introns(exons)},
             "start": lambda name, strand, exons: {(name, strand, exons[0][0] if strand == "+" else exons[-1][1])},
             "stop": lambda name, strand, exons: {(name, strand, exons[-1][1] if strand == "+" else exons[0][0])},
             "transcript": lambda *one: {one}}
    account = {}
    for level, part in parts.items():
        left, right = (set().union(*(part(*one) for one in side)) for side in (truth, found))
        account[level] = len(left), len(right), len(left & right), len(left & right)
    left, right = (collections.Counter((name, strand, introns(exons)) for name, strand, exons in side if len(exons) > 1) for side in (truth, found))
    both = sum((left & right).values())
    account["intron_chain"] = sum(left.values()), sum(right.values()), both, both
    (all_true, matched), (all_found, right) = loci(truth, found), loci(found, truth)
    account["locus"] = all_true, all_found, matched, right
    return account


def test_levels_of_eval_genes(box):
    numbers = random.Random(2608)
    for _ in range(12):
        truth = random_annotation(numbers, ("s1", "s2"))
        found = changed(numbers, truth)
        box.write("t.gff3", gff(truth, numbers)), box.write("p.gff3", gff(found, numbers))
        rows = levels(box.ok(["eval-genes", "--truth", "t.gff3", "p.gff3"]).stdout)
        account = level_account(truth, found)
        check(set(rows) == set(account), str(sorted(rows)))
        for level, (all_true, all_found, matched, right) in account.items():
            row = rows[level]
            check((int(row["truth"]), int(row["predicted"]), int(row["matched"])) == (all_true, all_found, matched), "%s: %s, %s" % (level, row, account))
            for column, expected in (("sensitivity", matched / all_true), ("precision", right / all_found),
                                     ("f1", 2 * matched * right / (matched * all_found + right * all_true))):
                check(abs(float(row[column]) - expected) < 6e-5, "%s, %s: %s, expected %s" % (level, column, row[column], expected))


def test_whole_exons(box):
    """With untranslated exons before and behind the CDS, which exons join where they touch; the places of the CDS stay."""
    line = "s\tx\t%s\t%d\t%d\t.\t%s\t.\tParent=%s\n"
    coding = line % ("CDS", 31, 60, "+", "a") + line % ("CDS", 81, 110, "+", "a")
    whole = line % ("exon", 5, 10, "+", "a") + line % ("exon", 21, 60, "+", "a") + line % ("exon", 81, 120, "+", "a")
    box.write("t.gff3", coding + whole)
    box.write("p.gff3", coding + line % ("five_prime_UTR", 23, 30, "+", "a") + line % ("three_prime_UTR", 111, 120, "+", "a"))
    rows = levels(box.ok(["eval-genes", "--truth", "t.gff3", "p.gff3"]).stdout)
    check(all(row["f1"] == "1.0000" for row in rows.values()), str(rows))
    rows = levels(box.ok(["eval-genes", "--exons", "whole", "--truth", "t.gff3", "p.gff3"]).stdout)
    seen = {level: tuple(int(row[key]) for key in ("truth", "predicted", "matched")) for level, row in rows.items()}
    check(seen == {"base": (86, 78, 78), "exon": (3, 2, 1), "intron": (2, 1, 1), "start": (1, 1, 1), "stop": (1, 1, 1), "intron_chain": (1, 1, 0),
                   "transcript": (1, 1, 0), "locus": (1, 1, 0)}, str(seen))


class Found:
    """What a GFF3 file of `genes` says: genes with their exons along the sequence."""

    def __init__(self, text, lengths):
        self.lengths = lengths
        self.genes = []
        of = {}
        for line in text.splitlines():
            if line.startswith("#"):
                continue
            row = line.split("\t")
            names = dict(part.split("=") for part in row[8].split(";"))
            if row[2] == "gene":
                gene = {"id": names["ID"], "sequence": row[0], "strand": row[6], "p": float(row[5]), "start": float(names["p_start"]),
                        "stop": float(names["p_stop"]), "made": {}, "p_made": []}
                of[names["ID"]] = gene
                self.genes.append(gene)
            elif row[2] == "mRNA":
                of[names["Parent"]]["made"][names["ID"]] = []
                of[names["Parent"]]["p_made"].append(float(row[5]))
            elif row[2] == "CDS":
                score = None if row[5] == "." else float(row[5])
                of[names["Parent"].rsplit(".", 1)[0]]["made"][names["Parent"]].append((int(row[3]) - 1, int(row[4]), score))
        for gene in self.genes:
            gene["exons"] = list(gene["made"].values())[0]
            gene["coding"] = sum(end - begin for begin, end, _ in gene["exons"])

    def lengths_of(self):
        found = collections.defaultdict(list)
        reached = {}
        for gene in self.genes:
            exons = gene["exons"]
            found["gene"].append(exons[-1][1] - exons[0][0])
            found["coding"].append(gene["coding"])
            for i, (begin, end, _) in enumerate(exons):
                place = i if gene["strand"] == "+" else len(exons) - 1 - i
                kind = "single" if len(exons) == 1 else "initial" if place == 0 else "terminal" if place + 1 == len(exons) else "internal"
                found[kind].append(end - begin)
            found["intron"] += [right[0] - left[1] for left, right in zip(exons, exons[1:])]
            before = reached.get(gene["sequence"])
            if before is not None and exons[0][0] > before:
                found["intergenic"].append(exons[0][0] - before)
            reached[gene["sequence"]] = exons[-1][1]
        return found


def near(row, column, expected, slack):
    """The number of the cell where it is that close, as scores of the GFF3 file have four digits."""
    return float(row[column]) if row[column] != "." and abs(float(row[column]) - expected) <= slack else expected


class Law:
    """Trained lengths, the stop codon with the exons that have it."""

    def __init__(self, model, name):
        law = [one for one in model["lengths"] if one["name"] == name][0]
        self.shift = 3 if name in ("single", "terminal") else 0
        score = lambda value: -math.inf if value in ("-inf", None) else float(value)
        self.weights = [math.exp(score(value)) for value in law["table"]]
        last, tail = self.weights[-1], score(law["log_tail"])
        while tail > -math.inf and len(self.weights) < 300000 and last > 0:
            last *= math.exp(tail)
            self.weights.append(last)
        self.all = math.fsum(self.weights)

    def share(self, first, last):
        return math.fsum(self.weights[max(0, first - self.shift - 1):max(0, last - self.shift)]) / self.all

    def quantile(self, share):
        total = 0
        for k, weight in enumerate(self.weights, 1):
            total += weight
            if total >= share * self.all:
                return k + self.shift


def site_rows(found, sequences):
    """{(site, place): [counts of A, C, G, T]}, and {(of, word): count}"""
    counts, words = collections.defaultdict(lambda: [0] * 4), collections.Counter()
    for gene in found.genes:
        bases = sequences[gene["sequence"]]
        exons = [(begin, end) for begin, end, _ in gene["exons"]]
        if gene["strand"] == "-":
            bases = flipped(bases)
            exons = [(len(bases) - end, len(bases) - begin) for begin, end in reversed(exons)]
        places = [("start", exons[0][0], -12, 6), ("stop", exons[-1][1] - 3, -6, 9)]
        for left, right in zip(exons, exons[1:]):
            places += [("donor", left[1], -4, 8), ("acceptor", right[0], -20, 3)]
            words["intron", bases[left[1]:left[1] + 2] + "-" + bases[right[0] - 2:right[0]]] += 1
        words["start codon", bases[exons[0][0]:exons[0][0] + 3]] += 1
        words["stop codon", bases[exons[-1][1] - 3:exons[-1][1]]] += 1
        for site, at, first, last in places:
            for offset in range(first, last):
                if 0 <= at + offset < len(bases):
                    counts[site, offset if offset < 0 else offset + 1]["ACGT".index(bases[at + offset])] += 1
    return counts, words


def least_sure(gene):
    if max(gene["start"], gene["stop"]) < 0.5:
        return "whether there is a gene", max(gene["start"], gene["stop"])
    exons = gene["exons"] if gene["strand"] == "+" else gene["exons"][::-1]
    least = min(gene["exons"], key=lambda exon: exon[2])
    number, doubt = exons.index(least), 1 - least[2]
    start = 1 - gene["start"] if number == 0 else 0
    stop = 1 - gene["stop"] if number + 1 == len(exons) else 0
    if start >= stop and start > 0 and start >= doubt / 2:
        return "start codon", gene["start"]
    if stop > 0 and stop >= doubt / 2:
        return "stop codon", gene["stop"]
    return "exon %d of %d, %s-%s" % (number + 1, len(exons), format(least[0] + 1, ","), format(least[1], ",")) if len(exons) > 1 else "the exon", least[2]


def test_numbers_of_the_report_of_genes(box):
    """Every table of genes --report --figures; the page has the same numbers as the tables."""
    make(box)
    model = json.loads(box.text("model.json"))
    for one in model["signals"] + model["contents"]:
        one["weight"] *= 0.08  # so that little is certain
    box.write("weak.json", json.dumps(model))
    box.ok(["genes", "-p", "weak.json", "--alternatives", "2", "-o", "f.gff3", "--report", "r.html", "--figures", "figures", "genome.fa"])
    sequences = {part.split()[0]: "".join(part.split("\n")[1:]) for part in box.text("genome.fa").split(">")[1:]}
    found = Found(box.text("f.gff3"), {name: len(bases) for name, bases in sequences.items()})
    genes, page = found.genes, box.text("r.html")
    check(len(genes) > 50 and any(len(gene["made"]) > 1 for gene in genes), "%d genes" % len(genes))
    all_lengths, laws = found.lengths_of(), {name: Law(model, name) for name in CLASSES}
    heading = {"Genes, from start to stop codon": "gene", "Coding sequences": "coding", "Single exons": "single", "First exons": "initial",
               "Inner exons": "internal", "Last exons": "terminal", "Introns": "intron", "Between genes": "intergenic"}
    those = lambda row: [gene for gene in genes if row["sequence"] in (gene["sequence"], "(all)")]
    size = lambda row: sum(n for name, n in found.lengths.items() if row["sequence"] in (name, "(all)"))
    total = lambda row, key: math.fsum(gene[key] for gene in those(row))
    exons = lambda row: sum(len(gene["exons"]) for gene in those(row))
    slack = 1e-3 * len(genes)
    number = {"sequence": lambda row: row["sequence"], "bases": lambda row: float(size(row)), "genes": lambda row: len(those(row)),
              "expected_right": lambda row: near(row, "expected_right", total(row, "p"), slack),
              "share_expected": lambda row: near(row, "share_expected", total(row, "p") / len(those(row)), 1e-3),
              "exons": exons, "introns": lambda row: exons(row) - len(those(row)), "coding_share": lambda row: total(row, "coding") / size(row)}
    single = sum(len(gene["exons"]) == 1 for gene in genes)
    plus = sum(gene["strand"] == "+" for gene in genes)
    counts = {"Genes of one exon": single, "Genes with introns": len(genes) - single, "Genes on the + strand": plus,
              "Genes on the \u2212 strand": len(genes) - plus}
    structure = {"what": lambda row: row["what"], "count": lambda row: counts[row["what"]], "share": lambda row: counts[row["what"]] / len(genes)}
    values = {"gene": [gene["p"] for gene in genes], "exon": [exon[2] for gene in genes for exon in gene["exons"]],
              "start": [gene["start"] for gene in genes], "stop": [gene["stop"] for gene in genes]}
    in_class = lambda row, p, by: float(row["from"]) - by <= p and (p < float(row["to"]) + by or float(row["to"]) == 1)

    def class_count(row):
        """That of the row where roundings can explain it."""
        of = values[row["of"]]
        low, high = (sum(in_class(row, p, by) for p in of) for by in (-6e-4, 6e-4))
        return int(row["count"]) if low <= int(row["count"]) <= high else -1

    certainty = {"of": lambda row: row["of"], "from": lambda row: float(row["from"]), "to": lambda row: float(row["to"]), "count": class_count,
                 "share": lambda row: int(row["count"]) / len(values[row["of"]]),
                 "mean": lambda row: near(row, "mean", sum(values[row["of"]]) / len(values[row["of"]]), 1e-3)}
    above = lambda row: [p for p in values["gene"] if p >= float(row["least"])]
    thresholds = {"least": lambda row: float(row["least"]), "genes": lambda row: int(near(row, "genes", len(above(row)), 1)),
                  "share": lambda row: int(row["genes"]) / len(genes), "expected_right": lambda row: near(row, "expected_right", sum(above(row)), 1 + slack),
                  "expected_precision": lambda row: float(row["expected_right"]) / int(row["genes"]) if int(row["genes"]) else None}
    of = lambda row: all_lengths[row["of"]]
    inside = lambda row: sum(int(row["from"]) <= length <= int(row["to"]) for length in of(row))
    lengths = {"of": lambda row: row["of"], "from": lambda row: int(row["from"]), "to": lambda row: int(row["to"]), "count": inside,
               "share": lambda row: inside(row) / len(of(row)),
               "training": lambda row: laws[row["of"]].share(int(row["from"]), int(row["to"])) if row["of"] in laws else None}
    kind = lambda row: heading[row["of"]]
    seen = lambda row: all_lengths[kind(row)]
    law = lambda row: laws.get(kind(row))
    share = lambda row, holds: sum(map(holds, seen(row))) / len(seen(row))
    summary = {"of": lambda row: row["of"], "count": lambda row: len(seen(row)), "shortest": lambda row: float(min(seen(row))),
               "longest": lambda row: float(max(seen(row))), "training_median": lambda row: float(law(row).quantile(0.5)) if law(row) else None,
               "unusually_short": lambda row: share(row, lambda n: n < law(row).quantile(0.01)) if law(row) else None,
               "unusually_long": lambda row: share(row, lambda n: n > law(row).quantile(0.99)) if law(row) else None}
    for name, part in (("q05", 0.05), ("median", 0.5), ("q95", 0.95)):
        summary[name] = (lambda part: lambda row: float(quantile(seen(row), part)))(part)
    places, words = site_rows(found, sequences)
    both = collections.Counter("".join(bases + flipped(bases) for bases in sequences.values()))
    background = [both[base] / sum(both.values()) for base in "ACGT"]

    def bits(row):
        here = places[row["site"], int(row["place"])]
        return max(0.0, math.fsum(n / sum(here) * math.log2(n / sum(here) / q) for n, q in zip(here, background) if n))

    sites = {"site": lambda row: row["site"], "place": lambda row: int(row["place"]), "bits": bits}
    for i, base in enumerate("acgt"):
        sites[base] = (lambda i: lambda row: places[row["site"], int(row["place"])][i])(i)
    of_kind = lambda row: sum(n for (of, _), n in words.items() if of == row["of"])
    word = {"of": lambda row: row["of"], "word": lambda row: row["word"], "count": lambda row: words[row["of"], row["word"]],
            "share": lambda row: words[row["of"], row["word"]] / of_kind(row)}
    doubt = lambda gene: math.fsum((1 - p) * (end - begin) for begin, end, p in gene["exons"])
    by_id = {gene["id"]: gene for gene in genes}
    gene_of = lambda row: by_id[row["gene"]]

    def is_tied(gene):
        """As far as the file with its four digits says."""
        sorted_p = sorted(p for _, _, p in gene["exons"])
        return len(sorted_p) > 1 and sorted_p[1] - sorted_p[0] < 2e-4

    def alternative(row):
        made = list(gene_of(row)["made"].values())
        if len(made) == 1:
            return "none"
        here, there = (introns([exon[:2] for exon in exons]) for exons in made[:2])
        text = lambda those: ("intron " if len(those) == 1 else "introns ") + ", ".join(format(a + 1, ",") + "-" + format(b, ",") for a, b in those[:3]) + (
            " and %d more" % (len(those) - 3) if len(those) > 3 else "")
        more, less = ([one for one in a if one not in b] for a, b in ((there, here), (here, there)))
        return "without " + text(less) if not more else "also " + text(more) if not less else text(more) + " instead of " + text(less)

    review = {"gene": lambda row: row["gene"], "strand": lambda row: gene_of(row)["strand"], "exons": lambda row: len(gene_of(row)["exons"]),
              "place": lambda row: "%s:%s-%s" % (gene_of(row)["sequence"], format(gene_of(row)["exons"][0][0] + 1, ","), format(gene_of(row)["exons"][-1][1], ",")),
              "coding": lambda row: float(gene_of(row)["coding"]), "p": lambda row: near(row, "p", gene_of(row)["p"], 1e-4),
              "bases_in_doubt": lambda row: near(row, "bases_in_doubt", doubt(gene_of(row)), 1e-4 * gene_of(row)["coding"] + 1e-4),
              "least_sure": lambda row: row["least_sure"] if is_tied(gene_of(row)) else least_sure(gene_of(row))[0],
              "p_least_sure": lambda row: near(row, "p_least_sure", least_sure(gene_of(row))[1], 1e-4), "alternative": alternative,
              "p_alternative": lambda row: near(row, "p_alternative", gene_of(row)["p_made"][1], 1e-4) if len(gene_of(row)["p_made"]) > 1 else None}
    accounts = {"sequences": number, "structure": structure, "certainty": certainty, "thresholds": thresholds, "lengths": lengths,
                "length-summary": summary, "sites": sites, "words": word, "review": review,
                "origin": {"what": lambda row: row["what"], "value": lambda row: row["value"]}}
    tables = {path.stem: path.read_text() for path in box.path("figures").glob("*.tsv")}
    check(set(tables) == set(accounts), "tables %s" % sorted(tables))
    pictures = {"certainty", "lengths", "sites"}
    check({path.stem for path in box.path("figures").glob("*.svg")} == pictures, "pictures")
    for name, text in tables.items():
        columns, rows = table(text)
        check(rows, name)
        hold_rows(name, columns, rows, accounts[name], 1e-5)
        if name in pictures:
            check('id="figure-%s"' % name in page, name)
        elif name != "origin":
            for row in rows:
                for cell in row.values():
                    check(cell == "." or 'value="%s"' % cell in page or cell.replace("\u2212", "-") in page.replace("\u2212", "-"), "%s: %s is not on the page" % (name, cell))
    listed = [row["gene"] for row in table(tables["review"])[1]]
    order = sorted(genes, key=doubt, reverse=True)
    check(len(listed) == 50 and set(listed[:40]) <= {gene["id"] for gene in order[:50]}, "the 50 genes")
    check(re.search(r"<dd>%s</dd>" % format(round(sum(values["gene"])), ","), page), "expected genes")
    one = box.text("r.html")
    box.ok(["genes", "-t", "3", "-p", "weak.json", "--alternatives", "2", "-o", "f.gff3", "--report", "r.html", "genome.fa"])
    check(box.text("r.html") == one, "threads change the page")


def test_report_without_genes(box):
    make(box, genes_each=12)
    box.write("none.fa", ">unknown\n%s\n>empty\n" % ("N" * 500))
    box.ok(["genes", "-p", "model.json", "-o", "f.gff3", "--report", "r.html", "--figures", "figures", "none.fa"])
    check("No gene was found." in box.text("r.html"), "the notice")
