"""Tracks as text: the same bytes as the same values in bigWig files, and one clear line for what is damaged."""

import gzip
import json
import random
import subprocess

from bbi_files import bigwig_intervals
from harness import check

TRACKS = ["codon_%s%d" % (strand, frame) for strand in ("fwd", "rev") for frame in range(3)]
SIZES = "III\t316620\n"
BIN = 3  # of demo.params.json


def intervals_of(box, track):
    return bigwig_intervals(box.path(track + ".bw").read_bytes())[0]


def data_of(text):
    """The lines that are no header: those name the inputs."""
    return [line for line in text.splitlines() if not line.startswith("#")]


def decoded(box, inputs, *options):
    """Segments and posteriors, without headers."""
    box.ok(["decode", "-p", "demo.params.json", "-o", "out.bed", "--posterior", "out.bedgraph", *options, *inputs])
    return data_of(box.text("out.bed")) + data_of(box.text("out.bedgraph"))


def of_bigwig(box, *options):
    return decoded(box, [track + ".bw" for track in TRACKS], *options)


def bedgraph(intervals):
    return "".join("%s\t%d\t%d\t%.9g\n" % one for one in intervals)


def bins_of(box, track):
    return [(chromosome, at, value) for chromosome, begin, end, value in intervals_of(box, track) for at in range(begin, end, BIN)]


def bgzip(text):
    """A block of BGZF for each part of the text, and the one that ends a file."""
    content = text.encode()
    whole = b""
    for at in range(0, len(content), 20000):
        block = gzip.compress(content[at:at + 20000], mtime=0)
        extra = b"BC\2\0" + (len(block) + 8 - 1).to_bytes(2, "little")
        whole += block[:3] + b"\4" + block[4:10] + len(extra).to_bytes(2, "little") + extra + block[10:]
    return whole + bytes.fromhex("1f8b08040000000000ff0600424302001b0003000000000000000000")


def test_bedgraph_has_the_bytes_of_bigwig(box):
    """Plain, gzip, bgzip, with headers, CRLF and a byte order mark, from pipes; some tracks as bigWig."""
    box.write("sizes.txt", SIZES)
    wanted = of_bigwig(box, "-g", "sizes.txt")
    for i, track in enumerate(TRACKS):
        text = bedgraph(intervals_of(box, track))
        forms = [text, "track type=bedGraph name=x\n# note\n" + text.replace("\t", " "), "\ufeff" + text.replace("\n", "\r\n")]
        box.write(track + ".bedGraph", forms[i % 3])
        box.write(track + ".bdg.gz", gzip.compress(text.encode()) if i % 2 else bgzip(text))
    for ending in ("bedGraph", "bdg.gz"):
        for threads in (1, 2):
            check(decoded(box, ["%s.%s" % (track, ending) for track in TRACKS], "-g", "sizes.txt", "-t", threads) == wanted, "%s, %d threads" % (ending, threads))
    mixed = ["%s.%s" % (track, "bedGraph" if i % 2 else "bw") for i, track in enumerate(TRACKS)]
    check(decoded(box, mixed) == of_bigwig(box), "bigWig and bedGraph together: lengths are those of bigWig")
    first, rest = TRACKS[0], ["%s.bw" % track for track in TRACKS[1:]]
    for given in ("%s=-" % first, "%s=/dev/stdin" % first):
        with open(box.path(first + ".bdg.gz"), "rb") as file:
            packed = file.read()
        done = subprocess.run([box.program, "decode", "-p", "demo.params.json", "-o", "piped.bed", given, *rest], cwd=box.folder, input=packed,
                              capture_output=True, check=False)
        check(done.returncode == 0, "%s: %s" % (given, done.stderr))
        box.ok(["decode", "-p", "demo.params.json", "-o", "out.bed", *[track + ".bw" for track in TRACKS]])
        check(data_of(box.text("piped.bed")) == data_of(box.text("out.bed")), "from " + given)


def test_without_lengths_chromosomes_end_with_their_values(box):
    for track in TRACKS:
        box.write(track + ".bedGraph", bedgraph(intervals_of(box, track)))
    result = box.ok(["decode", "-p", "demo.params.json", "-o", "out.bed", *[track + ".bedGraph" for track in TRACKS]])
    end = max(end for track in TRACKS for _, _, end, _ in intervals_of(box, track))
    check("-g FILE says lengths" in result.stderr, "no note\n%s" % result)
    check(int(data_of(box.text("out.bed"))[-1].split("\t")[2]) == end, "the last segment")


def test_wig_has_the_bytes_of_bigwig(box):
    box.write("sizes.txt", SIZES)
    for i, track in enumerate(TRACKS):
        lines, last = ["track type=wiggle_0"], None
        for chromosome, at, value in bins_of(box, track):
            if i % 2:
                if last is None:
                    lines.append("variableStep chrom=%s span=%d" % (chromosome, BIN))
                lines.append("%d %.9g" % (at + 1, value))
            else:
                if last != at:
                    lines.append("fixedStep chrom=%s start=%d step=%d span=%d" % (chromosome, at + 1, BIN, BIN))
                lines.append("%.9g" % value)
            last = at + BIN
        text = "\n".join(lines) + "\n"
        box.write(track + ".wig", text if i % 4 < 2 else gzip.compress(text.encode()))
    check(decoded(box, [track + ".wig" for track in TRACKS], "-g", "sizes.txt") == of_bigwig(box), "wig")


def test_tables_have_the_bytes_of_bigwig(box):
    """Columns by names, with and without end; a track of a column, or of each; columns by numbers."""
    box.write("sizes.txt", SIZES)
    values = {track: {at: value for _, at, value in bins_of(box, track)} for track in TRACKS}
    starts = sorted(set().union(*values.values()))
    wanted = of_bigwig(box)

    def table(header, row, missing="NA"):
        lines = [header] if header else []
        for at in starts:
            lines.append(row % {"begin": at, "end": at + BIN} + "".join("\t%.9g" % values[track][at] if at in values[track] else "\t" + missing for track in TRACKS))
        return "\n".join(lines) + "\n"

    names = "\t".join(TRACKS)
    box.write("all.tsv", table("chrom\tstart\tend\tname\t" + names, "III\t%(begin)d\t%(end)d\tx"))
    box.write("bins.tsv", table("name\tchr\tstart\t" + names, "x\tIII\t%(begin)d", "nan"))
    box.write("comment.tsv", table("#'chrom'\t'start'\t'end'\t" + names.replace("codon", "'codon").replace("\t'", "'\t'") + "'", "III\t%(begin)d\t%(end)d", "."))
    box.write("numbers.bed.gz", gzip.compress(table("", "III\t%(begin)d\t%(end)d\tx").encode()))
    for name in ("all.tsv", "bins.tsv", "comment.tsv"):
        check(decoded(box, [name], "-g", "sizes.txt") == wanted, name)
    check(decoded(box, ["%s=all.tsv" % track for track in TRACKS], "-g", "sizes.txt") == wanted, "NAME=PATH takes the column of that name")
    mixed = ["%s=all.tsv?column=%s" % (track, track) if i < 3 else track + ".bw" for i, track in enumerate(TRACKS)]
    check(decoded(box, mixed) == wanted, "?column=")
    numbered = ["%s=numbers.bed.gz?column=%d" % (track, 5 + i) for i, track in enumerate(TRACKS)]
    check(decoded(box, numbered, "-g", "sizes.txt") == wanted, "columns by numbers")
    check(decoded(box, ["-g", "sizes.txt", "--sample", "S=all.tsv"]) == wanted, "--sample SAMPLE=FILE")
    box.fails(["decode", "-p", "demo.params.json", "-o", "x.bed", "numbers.bed.gz"], 2, "no names of columns", "?column=NUMBER")
    box.fails(["decode", "-p", "demo.params.json", "-o", "x.bed", "other=all.tsv"], 2, "has no column \"other\"", "codon_fwd0")
    box.fails(["decode", "-p", "demo.params.json", "-o", "x.bed", "a=all.tsv?row=3"], 2, "'row=3'", "column=NAME")


def binarised(box, seed, cells=("K562",), missing=False):
    """A folder of ChromHMM's text, and the same as bigWig files and as an array by count of reads."""
    rng, marks, lengths = random.Random(seed), ["K4", "K27", "CTCF"], {"chr2": 150, "chr10": 90, "chrX": 40}
    rows = {}
    for cell in cells:
        for chromosome, bins in lengths.items():
            state, lines = 0, []
            for _ in range(bins):
                if rng.random() < 0.08:
                    state = rng.randrange(3)
                lines.append([2 if missing and rng.random() < 0.05 else int(rng.random() < (0.8 if i == state else 0.05)) for i in range(3)])
            rows[cell, chromosome] = lines
            text = "%s\t%s\n%s\n" % (cell, chromosome, "\t".join(marks)) + "".join("\t".join(map(str, line)) + "\n" for line in lines)
            name = "binarised/%s_%s_binary.txt" % (cell, chromosome)
            box.write(name + ".gz", gzip.compress(text.encode())) if chromosome == "chr10" else box.write(name, text)
    return rows, marks, lengths


def test_folder_of_chromhmm(box):
    """A folder has a track for each mark; the model is that of the same values as bedGraph. The bin that a chromosome's end cuts is not there."""
    rows, marks, lengths = binarised(box, 7, ("K562", "GM12878"))
    box.write("sizes.txt", "".join("%s\t%d\n" % (name, bins * 200 + 77) for name, bins in lengths.items()))
    for i, mark in enumerate(marks):
        box.write("K562.%s.bedGraph" % mark, "".join("%s\t%d\t%d\t%d\n" % (name, at * 200, at * 200 + 200, rows["K562", name][at][i]) for name in lengths for at in range(lengths[name])))
    learn = ["learn", "--labels", 3, "--max-iterations", 5, "-g", "sizes.txt"]
    box.ok([*learn, "-o", "one.json", "binarised?cell=K562"])
    box.ok([*learn, "-o", "two.json", "--missing", "marginal", *["%s=K562.%s.bedGraph" % (mark, mark) for mark in marks]])
    models = [box.text(name).split('"training"')[0] for name in ("one.json", "two.json")]
    check(models[0] == models[1] and '"bernoulli"' in box.text("one.json"), "the model of a folder is another one")
    box.ok("decode -p one.json -g sizes.txt -o one.bed binarised?cell=K562")
    box.ok("decode -p one.json -g sizes.txt -o two.bed K4=binarised?cell=K562 K27=K562.K27.bedGraph CTCF=K562.CTCF.bedGraph")
    check(data_of(box.text("one.bed")) == data_of(box.text("two.bed")), "segments of marks from a folder and from bedGraph")
    box.ok([*learn, "-o", "both.json", "--sample", "K562=binarised", "--sample", "GM12878=binarised"])
    check("GM12878_chrX_binary.txt" in box.text("both.json"), "each sample has the files of its cell")
    box.ok("decode -p one.json -g sizes.txt -o x.bed binarised/K562_chr2_binary.txt")
    box.fails("decode -p one.json -o x.bed binarised", 2, "cells GM12878, K562", "binarised?cell=GM12878")
    box.fails("decode -p one.json -o x.bed binarised?cell=HepG2", 2, "HepG2")
    box.write("small.txt", "chr2\t20000\nchr10\t18000\nchrX\t8000\n")
    box.fails("decode -p one.json -g small.txt -o x.bed binarised?cell=K562", 3, "K562_chr2_binary.txt:line 103", "20000", "-b")
    box.write("large.txt", "chr2\t60000\nchr10\t18000\nchrX\t8000\n")
    box.fails("decode -p one.json -g large.txt -o x.bed binarised?cell=K562", 3, "has 150 rows", "300 bins of 200 bases", "-b")
    box.write("binarised/K562_chr3_signal.txt", "K562\tchr3\nA\n1\n")
    box.fails("decode -p one.json -o x.bed binarised?cell=K562", 3, "binarised files and files of signals")


def test_no_data_of_chromhmm_is_summed_out(box):
    """2 says nothing of its bin in learn, as a missing value of an array."""
    binarised(box, 8, missing=True)
    result = box.ok("learn --labels 3 --max-iterations 5 -o model.json binarised")
    check('"missing": "marginal"' in box.text("model.json"), "no track keeps its absences\n%s" % result)
    binarised(box, 8)
    box.ok("learn --labels 3 --max-iterations 5 -o model.json binarised")
    check('"missing": "marginal"' not in box.text("model.json"), "tracks without a 2 need nothing of that")


def test_signals_of_chromhmm(box):
    box.write("signal/A_chr1_signal.txt", "A\tchr1\nm1\tm2\n" + "".join("%d\t%s\n" % (i % 17, 0.5 * i) for i in range(80)))
    box.write("m1.bedGraph", "".join("chr1\t%d\t%d\t%d\n" % (200 * i, 200 * i + 200, i % 17) for i in range(80)))
    box.write("m2.bedGraph", "".join("chr1\t%d\t%d\t%s\n" % (200 * i, 200 * i + 200, 0.5 * i) for i in range(80)))
    box.ok("learn --labels 2 --max-iterations 4 -o one.json signal")
    box.ok("learn --labels 2 --max-iterations 4 -o two.json m1.bedGraph m2.bedGraph")
    check(box.text("one.json").split('"training"')[0] == box.text("two.json").split('"training"')[0], "signals")


def test_train_and_info(box):
    """Other commands read text, too; info says what is in it."""
    box.write("sizes.txt", SIZES)
    for track in TRACKS:
        box.write(track + ".bedGraph", bedgraph(intervals_of(box, track)))
    fit = "train -b 3 --labels genes.bed -r III:90361-110000 --max-iterations 3 -g sizes.txt -o".split()
    box.ok([*fit, "one.json", *[track + ".bw" for track in TRACKS]])
    box.ok([*fit, "two.json", *[track + ".bedGraph" for track in TRACKS]])
    check(box.text("one.json").split('"training"')[0] == box.text("two.json").split('"training"')[0], "the model of bedGraph is another one")
    said = box.ok("info codon_fwd0.bedGraph").stdout
    check(said.startswith("bedGraph") and "III: " in said, said)
    binarised(box, 9, ("A", "B"))
    said = box.ok("info binarised").stdout
    check("binarised text of ChromHMM" in said and "K4, K27, CTCF" in said and "A, B" in said, said)
    hub = "decode -p two.json -g sizes.txt --hub hub --hub-genome sacCer3 -o x.bed".split() + [track + ".bedGraph" for track in TRACKS]
    box.ok(hub)
    check(bigwig_intervals(box.path("hub/signal.codon_fwd0.bw").read_bytes())[0] == intervals_of(box, "codon_fwd0"), "the track of the hub")


def methylation_lines(form, sites):
    """Sites are (chromosome, base, methylated, all)."""
    lines = []
    for c, at, methylated, calls in sites:
        place, percent = "%d\t%d" % (at, at + 1), 100 * methylated / calls
        if form == "encode":
            lines.append("\t".join([c, place, "x", "1", "+", place, "0,0,0", str(calls), "%.2f" % percent]))
        elif form == "modkit":
            both = lambda code, count: "\t".join([c, place, code, str(calls), ".", place, "255,0,0", "%d %.2f %d %d 0 0 0 0 0" % (calls, 100 * count / calls, count, calls - count)])
            lines += [both("h", calls - methylated), both("m", methylated)]
        elif form == "bismark":
            lines.append("%s\t%d\t%d\t%.10g\t%d\t%d" % (c, at + 1, at + 1, percent, methylated, calls - methylated))
        else:
            lines.append("%s\t%s\t%.10g\t%d\t%d" % (c, place, percent, methylated, calls - methylated))
    return "".join(line + "\n" for line in lines)


def test_calls_of_methylation_have_the_bytes_of_their_sums(box):
    """bedMethyl of ENCODE and modkit, and both coverage files of Bismark: what bedGraph files of the sums give."""
    rng = random.Random(7)
    density = lambda label, mean: {"name": "in " + label, "density_of": "methylated", "family": "beta-binomial", "trials": "total", "mean": mean, "size": 8}
    model = {"format": "semicrf-params", "format_version": "1.3", "labels": ["low", "high"], "max_duration": 40, "bin_size": 100, "centering": "none",
             "transition": [["-inf", -6], [-6, "-inf"]], "duration": {"kind": "uniform"},
             "tracks": [{"name": name, "missing": "marginal"} for name in ("methylated", "total")] + [density("low", 0.1), density("high", 0.85)],
             "emission": {"weights": [[0, 0, 1, 0], [0, 0, 0, 1]]}}
    box.write("model.json", json.dumps(model))
    box.write("sizes.txt", "chr1\t60050\nchr2\t9000\n")
    sites = []
    for c, length in (("chr1", 60050), ("chr2", 9000)):
        for at in sorted(rng.sample(range(length), length // 60)):
            calls = rng.randint(1, 30)
            sites.append((c, at, sum(rng.random() < (0.85 if at // 3000 % 2 else 0.1) for _ in range(calls)), calls))
    sums = {}
    for c, at, methylated, calls in sites:
        before = sums.get((c, at // 100), (0, 0))
        sums[c, at // 100] = (before[0] + methylated, before[1] + calls)
    for place, name in enumerate(("methylated", "total")):
        box.write(name + ".bedgraph", "".join("%s\t%d\t%d\t%d\n" % (c, 100 * i, min(100 * i + 100, 60050 if c == "chr1" else 9000), both[place]) for (c, i), both in sums.items()))

    def results(inputs):
        box.ok(["decode", "-p", "model.json", "-g", "sizes.txt", "-o", "x.bed", "--posterior", "x.bedgraph", *inputs])
        box.ok(["posterior", "-p", "model.json", "-g", "sizes.txt", "--labels-out", "l", "-o", "y.bedgraph", *inputs])
        box.ok(["learn", "-q", "--labels", "2", "-b", "100", "-g", "sizes.txt", "--emission", "gaussian", "--max-iterations", "3", "--missing", "marginal", "-o", "learned.json", *inputs])
        box.ok(["train", "-q", "--labels", "truth.bed", "-b", "100", "-g", "sizes.txt", "--max-iterations", "3", "-o", "trained.json", *inputs])
        models = [box.text(name).split('"training"')[0] for name in ("learned.json", "trained.json")]
        return data_of(box.text("x.bed")), data_of(box.text("x.bedgraph")), data_of(box.text("l.high.bedgraph")), models

    box.write("truth.bed", "chr1\t0\t3000\tlow\nchr1\t3000\t6000\thigh\nchr1\t6000\t9000\tlow\n")
    wanted = results(["methylated.bedgraph", "total.bedgraph"])
    check(20 < len(wanted[0]) < 40, "%d segments" % len(wanted[0]))
    for form, name in (("encode", "a.bed"), ("modkit", "a.bed.gz"), ("bismark", "a.cov.gz"), ("zero", "a.zero.cov")):
        text = methylation_lines(form, sites)
        box.write(name, gzip.compress(text.encode()) if name.endswith(".gz") else text)
        check(results([name]) == wanted, form)
    check(results(["total=a.cov.gz", "methylated=a.bed?column=methylated"])[:3] == wanted[:3], "columns by name")
    said = box.ok("info a.cov.gz").stdout
    check("coverage of Bismark" in said and "methylated, total" in said, said)
    box.write("sheet.tsv", "sample\ttrack\tpath\ns\tmethylated\ta.bed?column=methylated\ns\ttotal\ta.bed?column=total\n")
    box.ok("decode -p model.json -g sizes.txt --samples sheet.tsv --sample s -o x.bed")
    check(data_of(box.text("x.bed")) == wanted[0], "a sample sheet")

    def refused(text, *needles):
        box.write("bad.bed", text)
        box.fails("decode -p model.json -g sizes.txt -o z.bed bad.bed", 3, "bad.bed", *needles)

    good = methylation_lines("encode", sites[:4])
    refused(good + "chr1\t60160\t60161\tx\t1\t+\t1\t2\t0\t3\t50\n", "line 5", "60050 in sizes.txt")
    refused(good + good, "line 5", "comes behind base")
    refused(good + "chr1\t60000\t60001\tx\t1\t+\t1\t2\t0\t3.5\t50\n", "line 5", "the coverage is '3.5'")
    refused(good.replace("chr1", "1"), "none of the chromosomes of sizes.txt")
    refused("".join(line + "\n" for line in methylation_lines("modkit", sites[:4]).splitlines() if "\tm\t" not in line), "has no values")
    box.fails("decode -p model.json -g sizes.txt -o z.bed x=a.bed", 2, "no column", "methylated, total")


def test_text_that_is_damaged(box):
    """One line with file and line."""
    box.write("model.json", box.ok("info --template -L A,B -T t").stdout)
    box.write("sizes.txt", "chr1\t1000\nchr2\t500\n")
    good = "chr1\t0\t200\t1\nchr1\t200\t400\t2\nchr2\t0\t100\t3\n"

    def refused(text, *needles, name="t.bedGraph", codes=3):
        box.write(name, text)
        return box.fails(["decode", "-p", "model.json", "-g", "sizes.txt", "-o", "x.bed", "t=" + name], codes, name, *needles)

    box.write("t.bedGraph", good)
    box.ok("decode -p model.json -g sizes.txt -o y.bed t=t.bedGraph")
    refused(good + "chr2\t50\t200\t1\n", "line 4", "must not overlap")
    refused(good + "chr1\t500\t600\t1\n", "line 4", "comes a second time")
    refused("chr1\t-5\t600\t1\n" + good, "line 1", "'-5'")
    refused(good + "chr2\t100\t200\tNaN\n", "line 4", "NaN", "leave the line out")
    refused(good + "chr2\t100\t200\tinf\n", "line 4", "finite")
    refused(good + "chr2\t100\t200\t1e39\n", "line 4", "finite")
    refused(good + "chr2\t100\t200\n", "line 4", "3 columns")
    refused(good + "chr2\t200\t100\t1\n", "line 4", "must be less")
    refused(good + "chr2\t100\t600\t1\n", "line 4", "500 in sizes.txt")
    refused("1\t0\t200\t1\n", "none of the chromosomes of sizes.txt", "must match exactly")
    refused(gzip.compress(good.encode())[:-12], "line ", "damaged or truncated", name="t.bedGraph.gz")
    refused(bgzip(good)[:-28], "truncated", name="t2.bedGraph.gz")
    refused(good + "chr2\t1\xe9\t600\t1\n", "line 4", "'1\u00e9'")
    refused("chr1\t0\t200\tPromoter\n", "line 1", "no column of numbers")
    refused("chr1\t0\t200\n", "no column of numbers")
    refused("chr1\tx\ty\t1\tgene\t3\t.\t+\t0\n", "no track", "bedGraph, wig")
    refused("##gff-version 3\nchr1\tx\tgene\t1\t5\t.\t+\t.\tID=1\n", "GFF")
    refused("# nothing\n\n", "no line of data")
    refused("", "empty file")
    refused("chrom\tstart\tend\tt\nchr1\t0\t200\tx\n", "no column of numbers")
    refused("chrom\tstart\tend\tt\nchr1\t0\t200\t1\nchr1\t200\t300\tx\n", "line 3", "'x'")
    wig = "fixedStep chrom=chr1 start=1 step=10 span=10\n1\n2\n"
    refused(wig.replace("start=1", "start=0"), "line 1", "start is '0'", name="t.wig")
    refused(wig.replace("span=10", "span=11"), "line 3", "overlap", name="t.wig")
    refused(wig.replace("chrom=chr1 ", ""), "line 1", "chrom= is missing", name="t.wig")
    refused(wig.replace("step", "stop"), "line 1", name="t.wig")
    refused(wig + "3 4\n", "line 4", "2 columns", name="t.wig")
    refused(wig.replace("start=1", "start=991"), "line 3", "ends at base 1010", name="t.wig")
    refused("variableStep chrom=chr1\n5 1\n5 2\n", "line 3", "overlap", name="t.wig")
    refused("A\tchr1\nt\n0\n1\n3\n", "line 5", "0, 1 or 2", name="A_chr1_binary.txt")
    refused("A\tchr1\nt\tu\n0\t1\n1\n", "line 4", "1 column", name="A_chr1_binary.txt")
    refused("A\tchr1\nt\tt\n0\t1\n", "line 2", "two columns", name="A_chr1_binary.txt")
    box.path("empty").mkdir()
    box.fails("decode -p model.json -o x.bed t=empty", 4, "folder without files of ChromHMM")
    box.fails("decode -p model.json -o x.bed t=-", 3, "an empty file")
    box.fails("decode -p model.json -o x.bed --exclude - t=-", 2, "standard input is read twice")


def test_an_array_from_a_pipe(box):
    content = box.path("scores.npy").read_bytes()
    box.ok("decode -p scores.params.json -o one.bed x=scores.npy")
    done = subprocess.run([box.program, "decode", "-p", "scores.params.json", "-o", "two.bed", "x=-"], cwd=box.folder, input=content, capture_output=True, check=False)
    check(done.returncode == 0, done.stderr)
    check(data_of(box.text("one.bed")) == data_of(box.text("two.bed")), "segments of an array from a pipe")


def test_memory_does_not_grow_with_text(box):
    """Twenty times as many lines take no more memory than the longer chromosome's index."""
    box.write("model.json", box.ok("info --template -L A,B -T t").stdout)
    peaks = {}
    for lines in (10000, 600000):
        box.write("t.bedGraph", "".join("chr1\t%d\t%d\t%d\n" % (10 * i, 10 * i + 10, i % 7) for i in range(lines)))
        box.ok("decode -p model.json -b 200 --max-memory 64M --stats s.json -o x.bed t=t.bedGraph")
        peaks[lines] = json.loads(box.text("s.json"))["peak_memory"]
    check(peaks[600000] < peaks[10000] + (12 << 20) and peaks[600000] < 64 << 20, "peaks %r" % peaks)
