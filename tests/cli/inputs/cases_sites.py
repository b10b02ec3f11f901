"""--sites: the results of bins of one base with nothing between the sites, without the bins."""

import json
import math
import random

import bigwig
from harness import DATA, check
from make_inputs import bigwig_track

LABELS = 3
MODEL = {
    "format": "semicrf-params", "format_version": "1.3", "labels": ["high", "low", "none"], "max_duration": 1, "bin_size": 1,
    "centering": "none", "initial": "none",
    "transition": [["-inf", math.log(.7), math.log(.3)], [math.log(.4), "-inf", math.log(.6)], [math.log(.5), math.log(.5), "-inf"]],
    "duration": {"kind": "table", "bias": [[math.log(1 / 900), math.log(1 / 300), math.log(1 / 100)]],
                 "tail": [1 - 1 / 900, 1 - 1 / 300, 1 - 1 / 100]},
    "start": [math.log(.5), math.log(.3), math.log(.2)],
    "tracks": [{"name": "methylated", "missing": "marginal"}, {"name": "total", "missing": "marginal"}]
    + [{"name": "methylated in %d" % i, "density_of": "methylated", "family": "beta-binomial", "trials": "total", "mean": mean, "size": 9}
       for i, mean in enumerate((.85, .4, .05))],
    "emission": {"weights": [[0, 0] + [int(i == j) for j in range(LABELS)] for i in range(LABELS)], "bias": [0] * LABELS},
}


def sites(box, chromosomes=("chr1",)):
    """Bismark's coverage; the positions, from 0."""
    draw = random.Random(5)
    lines, at = [], {}
    for chromosome in chromosomes:
        base, share = 40, .9
        at[chromosome] = []
        for _ in range(60):
            base += 1 + int(draw.expovariate(1 / 40))
            share = draw.choice((.9, .4, .02)) if draw.random() < .1 else share
            calls = draw.randint(1, 30)
            methylated = sum(draw.random() < share for _ in range(calls))
            lines.append("%s\t%d\t%d\t%.6g\t%d\t%d\n" % (chromosome, base + 1, base + 1, 100 * methylated / calls, methylated, calls - methylated))
            at[chromosome].append(base)
    box.write("calls.cov", "".join(lines))
    box.write("model.json", json.dumps(MODEL))
    return at


def posterior_at(text, base):
    for line in text.splitlines():
        fields = line.split("\t")
        if not line.startswith("#") and int(fields[1]) <= base < int(fields[2]):
            return float(fields[3])
    return None


def region_of(at):
    """All that the sites span."""
    return "-r chr1:%d-%d" % (at[0] + 1, at[-1] + 1)


def rows_of(text):
    return [line.split("\t") for line in text.splitlines() if not line.startswith("#")]


def test_decode_equals_bins_of_one_base(box):
    at = sites(box)["chr1"]
    for name, where in (("sites", "--sites"), ("bins", region_of(at))):
        box.ok("decode -p model.json %s -x cpu --precision double --posterior %s.bedgraph --stats %s.json -o %s.bed calls.cov" % (where, name, name, name))
    of_sites, of_bins = (json.loads(box.text(name))["sequences"][0] for name in ("sites.json", "bins.json"))
    for key in ("viterbi_score", "log_partition", "segmentation_entropy"):
        check(abs(of_sites[key] - of_bins[key]) < 1e-9 * abs(of_bins[key]), "%s: %r, %r" % (key, of_sites[key], of_bins[key]))
    mine, theirs = rows_of(box.text("sites.bed")), rows_of(box.text("bins.bed"))
    check([row[3] for row in mine] == [row[3] for row in theirs] and len(mine) > 2, "labels of %s" % mine)
    for i, (left, right) in enumerate(zip(mine, theirs)):
        check(i == 0 or mine[i - 1][2] == left[1], "segments do not touch: %s" % mine)
        check(all((int(left[1]) <= base < int(left[2])) == (int(right[1]) <= base < int(right[2])) for base in at), "%s %s" % (left, right))
    check(int(mine[0][1]) == at[0] and int(mine[-1][2]) == at[-1] + 1, "ends of %s" % mine)
    middles = {(left + 1 + right) // 2 for left, right in zip(at, at[1:])}
    check(all(int(row[1]) in middles for row in mine[1:]), "segments begin in the middle between two sites")


def test_posteriors_equal_bins_of_one_base(box):
    at = sites(box)["chr1"]
    for name, where in (("sites", "--sites"), ("bins", region_of(at))):
        box.ok("posterior -p model.json %s -x cpu --precision double --digits 12 --labels-out %s -o %s.bedgraph calls.cov" % (where, name, name))
    for label in MODEL["labels"]:
        texts = [box.text("%s.%s.bedgraph" % (name, label)) for name in ("sites", "bins")]
        for base in at:
            mine, theirs = (posterior_at(text, base) for text in texts)
            check(abs(mine - theirs) < 1e-9, "%s at %d: %r, %r" % (label, base, mine, theirs))


def test_learn_equals_bins_of_one_base(box):
    at = sites(box)["chr1"]
    for name, where in (("sites", "--sites"), ("bins", "--missing marginal " + region_of(at))):
        box.ok("learn --init model.json %s -x cpu --precision double --max-iterations 3 --tolerance 0 --stats %s.stats -o %s.json calls.cov" % (where, name, name))
    mine, theirs = (json.loads(box.text(name + ".stats"))["log_likelihood"] for name in ("sites", "bins"))
    check(len(mine) == 4 and all(abs(a - b) < 1e-8 * abs(b) for a, b in zip(mine, theirs)), "%s %s" % (mine, theirs))
    mine, theirs = (json.loads(box.text(name + ".json")) for name in ("sites", "bins"))
    for key in ("transition", "start"):
        for a, b in zip(json.dumps(mine[key]).replace("[", " ").replace("]", " ").split(","), json.dumps(theirs[key]).replace("[", " ").replace("]", " ").split(",")):
            check(a == b or abs(float(a) - float(b)) < 1e-6, "%s: %s %s" % (key, a, b))
    check(all(abs(a - b) < 1e-9 for a, b in zip(mine["duration"]["tail"], theirs["duration"]["tail"])), "%s %s" % (mine["duration"], theirs["duration"]))


def test_regions_and_several_files(box):
    at = sites(box, ("chr1", "chr2"))
    begin, end = at["chr1"][10], at["chr1"][20]
    box.write("sizes.txt", "chr2\t100000\nchr1\t90000\n")
    box.ok("decode -p model.json --sites -g sizes.txt -r chr1:%d-%d -r chr2 -o out.bed calls.cov" % (begin + 1, end))
    rows = rows_of(box.text("out.bed"))
    check([row[0] for row in rows] == sorted((row[0] for row in rows), reverse=True), "the order of -g: %s" % rows)
    of_first = [row for row in rows if row[0] == "chr1"]
    check(at["chr1"][9] < int(of_first[0][1]) <= begin and at["chr1"][19] < int(of_first[-1][2]) <= end, "%s" % of_first)
    # Two columns of two files: what one of them lacks says nothing.
    calls = [line.split("\t") for line in box.text("calls.cov").splitlines()]
    for name, column in (("methylated", 4), ("total", 5)):
        box.write(name + ".bedgraph", "".join("%s\t%d\t%d\t%d\n" % (row[0], int(row[1]) - 1, int(row[1]), int(row[4]) + (int(row[5]) if column == 5 else 0)) for row in calls))
    box.ok("decode -p model.json --sites -o two.bed methylated.bedgraph total.bedgraph")
    box.ok("decode -p model.json --sites -o one.bed calls.cov")
    check(rows_of(box.text("one.bed")) == rows_of(box.text("two.bed")), "two files differ from one")
    # The same as bigWig, whose intervals are sites.
    for name in ("methylated", "total"):
        lines = rows_of(box.text(name + ".bedgraph"))
        sections = [section for chromosome in ("chr1", "chr2") for section in bigwig.bedgraph(
            chromosome, [(int(row[1]), int(row[2]), float(row[3])) for row in lines if row[0] == chromosome])]
        bigwig_track(box, name + ".bw", {"chr1": 100000, "chr2": 100000}, sections)
    box.ok("decode -p model.json --sites -o three.bed methylated.bw total.bw")
    check(rows_of(box.text("one.bed")) == rows_of(box.text("three.bed")), "bigWig differs from text")


def test_what_sites_cannot_do_is_refused(box):
    sites(box)
    long = dict(MODEL, max_duration=2, duration={"kind": "table", "bias": [[-1] * LABELS] * 2})
    box.write("long.json", json.dumps(long))
    check("geometric" in box.fails("decode -p long.json --sites calls.cov", 3).stderr, "K = 2")
    box.fails("decode -p model.json --sites --best 2 -o out.bed calls.cov", 2)
    box.fails("decode -p model.json --sites -x reference calls.cov", 2)
    box.fails("decode -p model.json --sites --edges censored calls.cov", 2)
    box.fails("decode -p scores.params.json --sites scores.npy", 2)
    box.fails("learn --labels 2 --sites --duration table -o m.json calls.cov", 2)
    box.fails("learn --labels 2 --sites -b 200 -o m.json calls.cov", 2)
    box.write("empty.sizes", "chr9\t1000\n")
    check("none of the chromosomes" in box.fails("decode -p model.json --sites -g empty.sizes calls.cov", 3).stderr, "-g without the chromosomes")


def differing(box):
    """The regions that compare --posterior finds between the groups of data/methylation, with a model of all samples."""
    names = ["control1", "control2", "treated1", "treated2"]
    files = ["%s=%s" % (name, DATA / "methylation" / (name + ".cov.gz")) for name in names]
    box.ok(["learn", "--preset", "methylation", "-o", "m.json"] + [word for file in files for word in ("--sample", file)])
    for name, file in zip(names, files):
        box.ok(["posterior", "--sites", "-p", "m.json", "--labels-out", name, "-o", name + ".bedgraph", file.split("=", 1)[1]])
    box.ok("compare --posterior control=control1,control2 treated=treated1,treated2 --regions regions.bed -o summary.tsv")
    return rows_of(box.text("regions.bed"))


def test_preset_methylation_finds_what_differs_between_groups(box):
    found = differing(box)
    model = json.loads(box.text("m.json"))
    check([label["name"] for label in model["labels"]] == ["unmethylated", "low", "partial", "full"], "%s" % model["labels"])
    means = [track["mean"] for track in model["tracks"] if "density_of" in track]
    check(all(abs(mean - truth) < .03 for mean, truth in zip(means, (.03, .25, .6, .9))), "means %s" % means)
    for row in rows_of((DATA / "methylation" / "changed.bed").read_text()):
        like = [one for one in found if one[3] == row[3] and abs(int(one[1]) - int(row[1])) < 300 and abs(int(one[2]) - int(row[2])) < 300]
        check(len(like) == 1, "%s is not among %s" % (row, found))
    check(sum(int(row[2]) - int(row[1]) for row in found if float(row[6]) > .9) < 12000, "too much differs: %s" % found)


def test_labels_of_a_preset_that_move_are_told(box):
    draw = random.Random(3)
    calls = [(10 * i, draw.randint(9, 12) if i // 40 % 2 else draw.randint(3, 6)) for i in range(400)]
    box.write("half.cov", "".join("chr1\t%d\t%d\t%.6g\t%d\t%d\n" % (base + 1, base + 1, 100 * some / 15, some, 15 - some) for base, some in calls))
    check("label-moved" in box.ok("learn --preset methylation --stats s.json -o m.json half.cov").stderr or "label-moved" in box.text("s.json"), "no warning")
    box.ok("learn --preset methylation --freeze means --stats s.json -o m.json half.cov")
    check("label-moved" not in box.text("s.json"), "means that stay are told")
    box.fails("learn --preset nothing -o m.json half.cov", 2)
    box.fails("learn --preset methylation --labels 3 -o m.json half.cov", 2)
