"""semicrf learn --preset copy-number: from tracks to labels of copies, purity and ploidy."""

import gzip
import json
import math
import pathlib
import random
import re

from cases_learn import near, stats
from harness import HERE, check
from make_inputs import npy, track_parameters

STATES = ((1, 1), (1, 0), (1, 1), (2, 1), (2, 0), (1, 1), (2, 2), (1, 1))  # of 120 bins each
PURITY, PLOIDY = 0.7, 2.2


def log_ratio(purity, ploidy, saturation, copies):
    return saturation * math.log2((purity * copies + 2 * (1 - purity)) / (purity * ploidy + 2 * (1 - purity)))


def share(purity, one, other):
    return (purity * one + 1 - purity) / (purity * (one + other) + 2 * (1 - purity))


def profile(rng, alleles="baf"):
    rows = []
    for one, other in STATES:
        for _ in range(120):
            row = [log_ratio(PURITY, PLOIDY, 1, one + other) + 0.12 * rng.gauss(0, 1)]
            p = share(PURITY, *((one, other) if rng.random() < 0.5 else (other, one)))
            if alleles == "baf":
                row.append(p + 0.04 * rng.gauss(0, 1) if rng.random() < 0.4 else float("nan"))
            elif alleles == "reads":
                depth = rng.randint(20, 60) if rng.random() < 0.4 else 0
                row += [sum(rng.random() < p for _ in range(depth)), depth]
            rows.append(row)
    return rows


def starts(box, name):
    return [(int(cells[1]), cells[3]) for cells in (line.split("\t") for line in box.text(name).splitlines()) if not cells[0].startswith("#")]


def test_purity_ploidy_and_copies(box):
    """From arrays with allele fractions and with reads of alleles; means of the file are those of the formula."""
    rng = random.Random(4)
    for alleles, names in (("baf", "log2,baf"), ("reads", "log2,alt,depth")):
        box.write("a.npy", npy(profile(rng, alleles)))
        box.ok("learn --preset copy-number:4 --precision double --track-names %s --stats s.json --solutions grid.tsv -o m.json a.npy" % names)
        model = json.loads(box.text("m.json"))
        found = model["training"]["copy_number"]
        near(found["purity"], PURITY, 0.05, "purity")
        near(found["ploidy"], PLOIDY, 0.06, "ploidy")
        near(found["mean_copies"], sum(a + b for a, b in STATES) / len(STATES), 0.05, "copies")
        check([label["name"] for label in model["labels"]] == ["0+0", "1+0", "1+1", "2+0", "2+1", "3+0", "2+2", "3+1", "4+0"], "%r" % model["labels"])
        means = {track["name"]: track["mean"] for track in model["tracks"] if "mean" in track}
        for copies in range(5):
            near(means["log2 of %d" % copies], log_ratio(found["purity"], found["ploidy"], found["saturation"], copies), 1e-12, "mean of %d copies" % copies)
        track, expected = ("baf of 3+1", 2 * share(found["purity"], 3, 1) - 1) if alleles == "baf" else ("alt of 3+1", share(found["purity"], 3, 1))
        near(means[track], expected, 1e-12, track)
        check(len({track["scale"] for track in model["tracks"] if track.get("density_of") == "log2"}) == 1, "scales are tied")
        check(len(set(model["duration"]["tail"])) == 1, "durations are tied")
        # The file is what the log likelihood is said of, by the reference engine too.
        box.ok("posterior -q -p m.json -x reference --precision double --stats z.json -o z.bg a.npy")
        slopes = math.log(2) * sum(1 for row in profile_rows(box) if not math.isnan(row[1])) if alleles == "baf" else 0.0
        near(stats(box, "z.json")["sequences"][0]["log_partition"] + slopes, model["training"]["log_likelihood"][-1], 1e-8, "ln P(tracks)")
        box.ok("decode -q -p m.json --score none -o d.bed a.npy")
        segments = starts(box, "d.bed")
        check([label for _, label in segments] == ["%d+%d" % state for state in STATES], "%r" % segments)
        check(all(abs(begin - 120 * i) <= 4 for i, (begin, _) in enumerate(segments)), "%r" % segments)
        grid = [line.split("\t") for line in box.text("grid.tsv").splitlines()]
        check(grid[0] == ["purity", "ploidy", "saturation", "copies_of_median", "log_likelihood", "probability"], "%r" % grid[0])
        values = [float(row[4]) for row in grid[1:]]
        check(values == sorted(values, reverse=True) and grid[1][0] in ("0.6", "0.7", "0.8"), "%r" % grid[:3])
        near(sum(float(row[5]) for row in grid[1:]), 1, 1e-5, "probabilities")
        most = max(values)
        near(float(grid[1][5]), 1 / sum(math.exp(value - most) for value in values), 1e-5, "probability of the first")
    # What is known stays; the grid is over the other number.
    box.ok("learn -q --preset copy-number:4 --purity 0.8 --track-names log2,alt,depth --solutions grid.tsv -o p.json a.npy")
    known = json.loads(box.text("p.json"))["training"]
    check(known["copy_number"]["purity"] == 0.8 and known["options"]["purity"] == "0.8", "%r" % known)
    check({line.split("\t")[0] for line in box.text("grid.tsv").splitlines()[1:]} == {"0.8"}, box.text("grid.tsv"))
    box.ok("learn -q --preset copy-number:4 --ploidy 2.2 --track-names log2,alt,depth -o p.json a.npy")
    known = json.loads(box.text("p.json"))["training"]["copy_number"]
    check(known["ploidy"] == PLOIDY, "%r" % known)
    near(known["purity"], PURITY, 0.03, "purity where the ploidy is known")
    box.ok("learn -q --preset copy-number:4 --precision double --track-names log2,alt,depth -t 3 -o t.json a.npy")
    check(box.text("t.json") == box.text("m.json"), "other bytes from three threads")


def profile_rows(box):
    import struct

    data = box.path("a.npy").read_bytes()
    header = 10 + struct.unpack("<H", data[8:10])[0]
    values = struct.unpack("<%df" % ((len(data) - header) // 4), data[header:])
    return [values[i:i + 2] for i in range(0, len(values), 2)]


def test_segments_for_other_programs(box):
    """SEG and CNS: means of log ratios over the segments, copies of the labels, their probabilities."""
    rows = profile(random.Random(8))
    rows[130][0] = float("nan")
    box.write("a.npy", npy(rows))
    box.ok("learn -q --preset copy-number:4 --track-names log2,baf -o m.json a.npy")
    box.ok("decode -q -p m.json --table t.tsv -o s.cns a.npy")
    box.ok("decode -q -p m.json --score none -o tumour.seg a.npy")
    truth = [line.split("\t") for line in box.text("t.tsv").splitlines() if not line.startswith("#")]
    cns = [line.split("\t") for line in box.text("s.cns").splitlines()]
    seg = [line.split("\t") for line in box.text("tumour.seg").splitlines()]
    check(cns[0] == ["chromosome", "start", "end", "gene", "log2", "probes", "cn", "cn1", "cn2", "p_label"], "%r" % cns[0])
    check(seg[0] == ["ID", "chrom", "loc.start", "loc.end", "num.mark", "seg.mean"], "%r" % seg[0])
    check(len(truth) == len(cns) - 1 == len(seg) - 1 == len(STATES), "%d, %d, %d lines" % (len(truth), len(cns), len(seg)))
    for one, c, s in zip(truth, cns[1:], seg[1:]):
        begin, end = int(one[1]), int(one[2])
        values = [row[0] for row in rows[begin:end] if not math.isnan(row[0])]
        major, minor = one[3].split("+")
        check(c[:4] + c[5:] == ["a", one[1], one[2], "-", str(len(values)), str(int(major) + int(minor)), major, minor, one[4]], "%r, %r" % (c, one))
        check(s[:5] == ["tumour", "a", str(begin + 1), one[2], str(len(values))], "%r, %r" % (s, one))
        near(float(c[4]), sum(values) / len(values), 1e-5, "mean of CNS")
        near(float(s[5]), sum(values) / len(values), 1e-5, "mean of SEG")
    check(any(int(line[5]) != int(line[2]) - int(line[1]) for line in cns[1:]), "a bin without a value")
    # VCF: the segments that are not 1+1, with the same numbers; its index is one of VCF.
    box.ok("decode -q -p m.json --write-index -o t.vcf.gz a.npy")
    vcf = gzip.decompress(box.path("t.vcf.gz").read_bytes()).decode().splitlines()
    check(vcf[0] == "##fileformat=VCFv4.3" and "##contig=<ID=a,length=%d>" % len(rows) in vcf, "%r" % vcf[:20])
    records = [line.split("\t") for line in vcf if not line.startswith("##")]
    check(records[0][9] == "t", "%r" % records[0])
    changed = [c for c in cns[1:] if c[7:9] != ["1", "1"]]
    check(len(records) - 1 == len(changed) == 4, "%r" % records)
    kinds = {"1+0": ("<DEL>", "0/1"), "2+1": ("<DUP>", "0/1"), "2+0": ("<CNV>", "1/1"), "2+2": ("<DUP>", "1/1")}
    for record, c in zip(records[1:], changed):
        kind, genotype = kinds[c[7] + "+" + c[8]]
        info = dict(one.split("=") for one in record[7].split(";"))
        check([record[0], record[1], record[3], record[4]] == ["a", c[1], "N", kind], "%r, %r" % (record, c))
        length = (int(c[2]) - int(c[1])) * (-1 if kind == "<DEL>" else 1)
        check(info == {"SVTYPE": kind[1:4], "END": c[2], "SVLEN": str(length), "LOG2": c[4], "BINS": c[5]}, "%r, %r" % (info, c))
        check(record[8:] == ["GT:CN:MCN:CNP", ":".join([genotype, c[6], c[8], c[9]])], "%r, %r" % (record, c))
        complement = 10 ** (-float(record[5]) / 10)
        check(abs(1 - complement - float(c[9])) < 1e-6 + 1e-3 * complement, "quality: %r, %r" % (record, c))
    check(gzip.decompress(box.path("t.vcf.gz.tbi").read_bytes())[8:12] == b"\x02\0\0\0", "not an index of VCF")
    box.fails("decode -q -p m.json --best 2 -o s.seg a.npy", (2,), ".seg")
    track_parameters(box, "track.json", tracks=("a",))
    box.write("one.npy", npy([[1.0]] * 20))
    box.fails("decode -q -p track.json -o s.vcf one.npy", (2,), "labels are none")
    track_parameters(box, "numbers.json", tracks=("a",), labels=("1", "2"))  # names as learn gives them
    box.fails("decode -q -p numbers.json -o s.vcf one.npy", (2,), "labels are none")
    box.ok("decode -q -p numbers.json -o s.cns one.npy")
    check([line.split("\t")[6] for line in box.text("s.cns").splitlines()[1:]] == [""], box.text("s.cns"))
    box.write("calls.bcf", gzip.compress(b"BCF\x02\x02" + bytes(99)))
    box.fails("info calls.bcf", (3,), "this is BCF")


def test_reads_of_alleles_from_vcf(box):
    """Log ratios of a table beside the alleles of a caller's VCF file, of the tumour where the normal is heterozygous."""
    rng = random.Random(9)
    table, records, base = ["chromosome\tstart\tend\tlog2"], [], 0
    for row, (one, other) in zip(profile(rng, "reads"), (state for state in STATES for _ in range(120))):
        table.append("chr1\t%d\t%d\t%.4f" % (base, base + 1000, row[0]))
        fields = "chr1\t%d\t.\tA\tG\t.\tPASS\t.\tGT:AD\t%s\t%s"
        if row[2] > 0:  # a deep one, and a shallow one that is passed over
            records.append(fields % (base + 200, "0/1:20,21", "0/1:%d,%d" % (row[2] - row[1], row[1])))
            records.append(fields % (base + 300, "0/1:20,21", "0/1:0,3"))
        records.append(fields % (base + 700, "1/1:0,40", "0/1:99,99"))  # not heterozygous in the normal sample
        base += 1000
    header = "##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\tblood\ttumour\n"
    box.write("t.cnr", "\n".join(table) + "\n")
    box.write("calls.vcf.gz", gzip.compress((header + "\n".join(records) + "\n").encode()))
    box.fails("learn --preset copy-number:4 -b 1000 -o m.json t.cnr calls.vcf.gz", (2,), "the samples blood, tumour")
    box.fails("learn --preset copy-number:4 -b 1000 -o m.json t.cnr calls.vcf.gz?sample=x", (2,), "?sample=x is none of them")
    box.fails("learn --preset copy-number:4 -b 1000 -o m.json t.cnr calls.vcf.gz?sample=tumour&normal=x", (2,), "?normal=x is none of them")
    inputs = "t.cnr calls.vcf.gz?sample=tumour&normal=blood"
    box.ok("learn -q --preset copy-number:4 -b 1000 -o m.json %s" % inputs)
    near(json.loads(box.text("m.json"))["training"]["copy_number"]["purity"], PURITY, 0.05, "purity")
    box.ok("decode -q -p m.json --score none -o d.bed %s" % inputs)
    check([label for _, label in starts(box, "d.bed")] == ["%d+%d" % state for state in STATES], "%r" % starts(box, "d.bed"))
    check("VCF, columns alt, depth; samples blood, tumour" in box.ok("info calls.vcf.gz").stdout, "info")
    # A row for each position with --sites.
    box.ok("learn -q --sites --labels 2 --emission alt/depth=beta-binomial --max-iterations 3 --stats s.json -o n.json calls.vcf.gz?sample=tumour&normal=blood")
    check(json.loads(box.text("n.json"))["training"]["positions"] == sum(1 for record in records if "0/1:20" in record), "positions")


def test_log_ratios_alone(box):
    """A table as CNVkit writes it, bins of unequal sizes; without alleles labels are numbers of copies."""
    rng = random.Random(5)
    lines, base = ["chromosome\tstart\tend\tgene\tlog2\tdepth\tweight"], 0
    for one, other in STATES:
        for _ in range(60):
            length = rng.choice((400, 1000))
            lines.append("chr1\t%d\t%d\tG\t%.4f\t50\t0.9" % (base, base + length, log_ratio(PURITY, PLOIDY, 1, one + other) + 0.1 * rng.gauss(0, 1)))
            base += length + rng.choice((0, 200))
    box.write("t.cnr", "\n".join(lines) + "\n")
    box.ok("learn -q --preset copy-number:4 -b 1000 -o m.json t.cnr?column=log2")
    model = json.loads(box.text("m.json"))
    check([label["name"] for label in model["labels"]] == ["0", "1", "2", "3", "4"], "%r" % model["labels"])
    check(model["training"]["copy_number"]["saturation"] == 1 and model["training"]["options"]["preset"] == "copy-number:4", "%r" % model["training"])
    box.ok("decode -q -p m.json --score none -o d.bed t.cnr?column=log2")
    check([label for _, label in starts(box, "d.bed")] == ["2", "1", "2", "3", "2", "4", "2"], "%r" % starts(box, "d.bed"))


def test_the_page(box):
    """The commands of docs/copy-number.md on the data of the clone, and what the page says of them."""
    data = pathlib.Path(__file__).resolve().parents[3] / "data" / "copy_number" / "tumour.cnr"
    box.ok("learn -q --preset copy-number -b 100000 --solutions solutions.tsv -o model.json %s" % data)
    box.ok("decode -q -p model.json -o tumour.cns %s" % data)
    found = json.loads(box.text("model.json"))["training"]["copy_number"]
    near(found["purity"], 0.58, 0.01, "purity")
    near(found["ploidy"], 2.32, 0.01, "ploidy")
    segments = [line.split("\t") for line in box.text("tumour.cns").splitlines()[1:]]
    check([(one[5], one[7] + "+" + one[8]) for one in segments] ==
          [("90", "1+1"), ("58", "2+1"), ("52", "1+1"), ("70", "1+0"), ("30", "2+0"), ("100", "1+1"), ("65", "2+2"), ("20", "3+1"), ("65", "1+1"), ("40", "2+1")], "%r" % segments)


def test_wishes_of_the_preset(box):
    box.write("a.npy", npy(profile(random.Random(6))))
    for words, what in (("--preset copies", "is no preset"), ("--preset copy-number:1", "is no preset"), ("--preset copy-number", "cannot take the tracks"),
                        ("--preset copy-number --labels 3", "--labels"), ("--preset copy-number --track-names log2,baf --checkpoint c", "keeps no checkpoint"),
                        ("--labels 3 --solutions s.tsv", "--preset"), ("--labels 3 --purity 0.5", "belong to --preset copy-number"),
                        ("--preset copy-number --purity 1", "--purity")):
        box.fails("learn -q -o n.json %s a.npy" % words, (2,), what)


def test_every_ending_of_segments_and_compression(box):
    """Every ending of the table of formats of decode -o, in any case: alone, as .gz and as .bgz, where text has the same bytes and a binary format is refused."""
    table = (HERE.parents[1] / "src/outputs/formats.cpp").read_text().partition("kSegmentFormats =")[2].partition("});")[0]
    endings = re.findall(r'\{"([^"]*)", make_\w+_sink', table)
    check(len(endings) > 7 and endings[-1] == "", "%s" % endings)
    box.write("a.npy", npy(profile(random.Random(8))))
    box.ok("learn -q --preset copy-number:4 --track-names log2,baf -o m.json a.npy")
    firsts = set()
    for ending in endings[:-1] + [".bed", ".SEG", ".tsv", ""]:
        line = "decode -q -p m.json --rate 1 --only 1+0,2+1 --no-header-comments -o %s a.npy"
        box.ok(line % ("x" + ending))
        plain = box.path("x" + ending).read_bytes()
        firsts.add(plain.splitlines()[0])
        for compression in (".gz", ".bgz", ".GZ"):
            name = "x" + ending + compression
            if ending in (".bb", ".bigbed", ".textgrid"):
                box.fails(line % name, 2, name + ": segments are written as", "compressed")
                check(not box.path(name).exists(), name)
                continue
            box.ok(line % name)
            check(gzip.decompress(box.path(name).read_bytes()) == plain, "%s is not what x%s is" % (name, ending))
    check(len(firsts) == 7, "formats: %s" % firsts)
