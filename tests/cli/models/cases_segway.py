"""semicrf import segway: parameter files of Segway."""

import json
import math
import random
import re

from harness import Skip, bed_rows, check
from make_inputs import npy, shared_data

SEGS, TRACKS = 3, ["H3K4me3", "DNase"]
FIRST = [0.5, 0.3, 0.2]
NEXT = [[0.0, 0.75, 0.25], [0.5, 0.0, 0.5], [1.0, 0.0, 0.0]]
CHANGE = [[0.9, 0.02, 0.08], [0.7, 0.0, 0.3], [0.95, 0.01, 0.04]]
MEAN = [[[1.5, 0.1], [2.5, 0.2]], [[0.2, 0.3], [0.0, 1.5]], [[0.9, 2.0], [0.1, 0.1]]]  # by label, sub-label, track
VARIANCE = [0.3, 0.7]
SUB_FIRST = [[0.25, 0.75], [1.0, 0.0], [0.5, 0.5]]
SUB_NEXT = [[[0.0, 1.0], [1.0, 0.0]], [[0.5, 0.5], [1.0, 0.0]], [[0.0, 1.0], [0.25, 0.75]]]


def table(number, name, sizes, rows):
    lines = ["%d " % number, name + " ", "%d %% number parents" % (len(sizes) - 1), " ".join(map(str, sizes)) + " % cardinalities"]
    return lines + [" ".join("%.17e" % p for p in row) + " " for row in rows]


def segway_text(subsegs=1, countdowns=1, distribution="asinh_norm"):
    """As GMTK writes it for Segway."""
    one = subsegs == 1
    lines = ["", "% Dense CPTs", "5 "] + table(0, "start_seg", [SEGS], [FIRST])
    lines += table(1, "seg_subseg", [SEGS, subsegs], [[1.0]] * SEGS if one else SUB_FIRST)
    lines += table(2, "seg_seg", [SEGS, SEGS], NEXT)
    lines += table(3, "seg_subseg_subseg", [SEGS, subsegs, subsegs], [[1.0]] * SEGS if one else [row for rows in SUB_NEXT for row in rows])
    lines += table(4, "segCountDown_seg_segTransition", [countdowns, SEGS, 3], CHANGE + [[0.98, 0.02, 0.0]] * SEGS * (countdowns - 1))
    states = [(c, u, f) for c in range(SEGS) for u in range(subsegs) for f in range(2)]
    name = lambda c, u, f: "seg%d_subseg%d_%s" % (c, u, TRACKS[f])
    lines += ["", "", "% means", "%d " % len(states)]
    for i, (c, u, f) in enumerate(states):
        lines += ["%d " % i, "mean_%s 1 %.10e " % (name(c, u, f), MEAN[c][u][f])]
    lines += ["% diagonal covariance matrices", "2 "] + [line for f in range(2) for line in ("%d " % f, "covar_%s 1 %.10e " % (TRACKS[f], VARIANCE[f]))]
    lines += ["% dense PMFs", "1 ", "0 ", "dpmf_always 1 1.0e+00 ", "% Components", "%d " % len(states)]
    for i, (c, u, f) in enumerate(states):
        lines += ["%d " % i, "1 ", "0 mc_%s_%s " % (distribution, name(c, u, f)), "mean_%s covar_%s " % (name(c, u, f), TRACKS[f])]
    lines += ["% Mixtures of components", "%d " % len(states)]
    for i, (c, u, f) in enumerate(states):
        lines += ["%d " % i, "1 ", "mx_%s " % name(c, u, f), "1 dpmf_always ", "mc_%s_%s " % (distribution, name(c, u, f))]
    return "\n".join(lines) + "\n"


def log_likelihood(rows, subsegs, transform=math.asinh, times=1):
    """ln P(rows) of Segway's network, from its own tables: absent values (NaN) say nothing."""
    def density(c, u, row):
        product = 1.0
        for f, x in enumerate(row):
            if not math.isnan(x):
                d = transform(x) - MEAN[c][u][f]
                product *= (math.exp(-d * d / (2 * VARIANCE[f])) / math.sqrt(2 * math.pi * VARIANCE[f])) ** times
        return product

    states = [(c, u) for c in range(SEGS) for u in range(subsegs)]
    sub_first = lambda c, u: 1.0 if subsegs == 1 else SUB_FIRST[c][u]
    sub_next = lambda c, u, v: 1.0 if subsegs == 1 else SUB_NEXT[c][u][v]
    total, alpha = 0.0, None
    for row in rows:
        if alpha is None:
            into = {(c, u): FIRST[c] * sub_first(c, u) for c, u in states}
        else:
            into = dict.fromkeys(states, 0.0)
            for (c, u), p in alpha.items():
                into[c, u] += p * CHANGE[c][0]
                for v in range(subsegs):
                    into[c, v] += p * CHANGE[c][1] * sub_next(c, u, v)
                for d, v in states:
                    into[d, v] += p * CHANGE[c][2] * NEXT[c][d] * sub_first(d, v)
        alpha = {state: p * density(*state, row) for state, p in into.items()}
        scale = sum(alpha.values())
        total += math.log(scale)
        alpha = {state: p / scale for state, p in alpha.items()}
    return total


def rows_of(count, holes=0.0):
    rng = random.Random(9)
    return [[math.nan if rng.random() < holes else rng.gauss(1, 1.2) for _ in range(2)] for _ in range(count)]


def log_z(box, model="m.json", inputs="x.npy", more=""):
    box.ok("posterior -q -p %s --precision double --stats s.json -o z.bg %s %s" % (model, more, inputs))
    return json.loads(box.text("s.json"))["sequences"][0]["log_partition"]


def near(found, expected, what, tolerance=1e-6):
    check(abs(found - expected) <= tolerance * max(1.0, abs(expected)), "%s: %r, expected %r" % (what, found, expected))


def test_log_z_is_the_likelihood_of_the_network(box):
    """Tracks are float and so are their squares, hence 1e-6."""
    for subsegs in (1, 2):
        for holes in (0.0, 0.3):
            rows = rows_of(400, holes)
            box.write("x.npy", npy(rows, descr="<f8"))
            box.write("params.params", segway_text(subsegs))
            result = box.ok("import segway params.params -o m.json")
            check("warning" not in result.stderr, result.stderr)
            near(log_z(box), log_likelihood(rows, subsegs), "%d sub-labels, %g missing" % (subsegs, holes))
            labels = [label if isinstance(label, str) else label["name"] for label in json.loads(box.text("m.json"))["labels"]]
            check(labels == (["0", "1", "2"] if subsegs == 1 else ["0.0", "0.1", "1.0", "1.1", "2.0", "2.1"]), str(labels))
    # A track that is not there is summed out.
    box.write("x.npy", npy([[row[0]] for row in rows], descr="<f8"))
    near(log_z(box, more="--missing-track DNase"), log_likelihood([[row[0], math.nan] for row in rows], 2), "--missing-track")
    box.write("params.params", segway_text(1, distribution="norm"))
    box.ok("import segway params.params -o m.json")
    rows = rows_of(50)
    box.write("x.npy", npy(rows, descr="<f8"))
    near(log_z(box), log_likelihood(rows, 1, transform=lambda x: x), "without asinh")
    # EM goes on from it.
    box.ok("learn -q --init m.json --precision double --max-iterations 2 --tolerance 0 -o n.json --stats l.json x.npy")
    values = json.loads(box.text("l.json"))["log_likelihood"]
    near(values[0], log_likelihood(rows, 1, transform=lambda x: x), "learn --init")
    check(values[2] > values[1] > values[0], str(values))


def test_resolution(box):
    rows = rows_of(120, 0.2)
    box.write("x.npy", npy(rows, descr="<f8"))
    box.write("params.params", segway_text())
    result = box.ok("import segway params.params -b 10 -o m.json")
    check("[resolution]" in result.stderr and "counts 10 times" in result.stderr, result.stderr)
    box.write("plain.params", segway_text(distribution="norm"))
    plain = box.ok("import segway plain.params -b 10 -o plain.json")
    check("Segway averages the bases" in plain.stderr, plain.stderr)
    model = json.loads(box.text("m.json"))
    check(model["bin_size"] == 10 and model["training"]["emission_scale"] == 10, str(model["training"]))
    near(log_z(box), log_likelihood(rows, 1, times=10), "terms that count ten times")
    box.fails("learn --init m.json -o n.json x.npy", 3, "m.json", "emission_scale")


def test_shortest_lengths(box):
    box.write("params.params", segway_text(1, countdowns=3))
    check("passes 2 marks" in box.ok("import segway params.params -o m.json").stderr, "no warning")
    rows = rows_of(30)
    box.write("x.npy", npy(rows, descr="<f8"))
    near(log_z(box), log_likelihood(rows, 1), "lengths left out")
    box.ok("import segway params.params --min-duration 4 -o m.json")
    # Against every segmentation with segments of 4 bins or more, but for the last.
    density = [[math.prod(math.exp(-(math.asinh(x) - MEAN[c][0][f]) ** 2 / (2 * VARIANCE[f])) / math.sqrt(2 * math.pi * VARIANCE[f])
                          for f, x in enumerate(row)) for c in range(SEGS)] for row in rows]
    into = [{} for _ in range(31)]
    into[0] = dict(enumerate(FIRST))
    total = 0.0
    for begin in range(30):
        for c, p in into[begin].items():
            for end in range(begin + 1, 31):
                p *= density[end - 1][c]
                k = end - begin
                stay = (1 - CHANGE[c][2]) ** max(0, k - 4)
                if end == 30:
                    total += p * stay if k >= 4 else 0.0
                elif k >= 4:
                    for d in range(SEGS):
                        into[end][d] = into[end].get(d, 0.0) + p * stay * CHANGE[c][2] * NEXT[c][d]
    near(log_z(box), math.log(total), "--min-duration")
    box.fails("import segway params.params --min-duration 4 --segments s.bed -o m.json", 2, "--min-duration", "--segments")
    box.write("sub.params", segway_text(2))
    box.fails("import segway sub.params --min-duration 4 -o m.json", 2, "--min-duration", "sub-labels")
    box.fails("import segway sub.params --segments sub.params -o m.json", 2, "--segments", "sub-labels")


def test_durations_of_a_segmentation(box):
    segments = "".join("chr1\t%d\t%d\t%d\t1000\t.\t%d\t%d\t10,20,3%d\n" % (b, e, c, b, e, c)
                       for b, e, c in ((0, 30, 0), (30, 35, 1), (35, 90, 2), (90, 140, 0), (140, 150, 1)))
    box.write("s.bed", segments)
    box.write("params.params", segway_text(1, countdowns=2))
    result = box.ok("import segway params.params --segments s.bed -o m.json")
    check("warning" not in result.stderr, result.stderr)
    model = json.loads(box.text("m.json"))
    check(model["max_duration"] == 55 and model["transition"][0][0] == "-inf", "durations")
    check([label["color"] for label in model["labels"]] == ["#0a141e", "#0a141f", "#0a1420"], str(model["labels"]))
    near(model["transition"][0][1], math.log(0.75), "transitions", 1e-12)
    box.write("x.npy", npy(rows_of(200)))
    box.ok("decode -q -p m.json -o x.bed x.npy")
    check(len(bed_rows(box.text("x.bed"))) >= 3, box.text("x.bed"))


def test_a_real_segmentation(box):
    """Of chromosome 19, of which there are no parameters: those here have its labels."""
    path = shared_data() / "segway_chr19_GRCh38" / "segway.bed.gz"
    if not path.exists():
        raise Skip("%s is not there" % path)
    global SEGS, FIRST, NEXT, CHANGE, MEAN  # pylint: disable=global-statement
    kept = SEGS, FIRST, NEXT, CHANGE, MEAN
    try:
        SEGS = 10
        FIRST, CHANGE, MEAN = [0.1] * 10, [[0.9, 0.0, 0.1]] * 10, [[[float(c), 0.5]] for c in range(10)]
        NEXT = [[0.0 if c == d else 1 / 9 for d in range(10)] for c in range(10)]
        box.write("params.params", segway_text())
        box.ok(["import", "segway", "params.params", "-b", "100", "--segments", str(path), "-o", "m.json"])
    finally:
        SEGS, FIRST, NEXT, CHANGE, MEAN = kept
    model = json.loads(box.text("m.json"))
    check(model["max_duration"] > 1 and all("color" in label for label in model["labels"]), "durations and colours")


def without_components(text):
    """As older versions of Segway have it written."""
    return text[: text.index("% dense PMFs")]


def test_files_without_components(box):
    rows = rows_of(60)
    box.write("x.npy", npy(rows, descr="<f8"))
    box.write("old.params", without_components(segway_text(2)))
    check("[distribution-assumed]" in box.ok("import segway old.params -o m.json").stderr, "no warning")
    near(log_z(box), log_likelihood(rows, 2), "asinh is assumed")
    check("warning" not in box.ok("import segway old.params --distribution norm -o m.json").stderr, "a warning")
    near(log_z(box), log_likelihood(rows, 2, transform=lambda x: x), "--distribution norm")
    # Variances of their own for the states of a track.
    lines = without_components(segway_text()).replace("matrices\n2 ", "matrices\n4 ").rstrip("\n").split("\n")
    lines += ["2 ", "covar_seg0_subseg0_DNase 1 0.5 ", "3 ", "covar_seg2_subseg0_DNase 1 2.0 "]
    box.write("own.params", "\n".join(lines) + "\n")
    box.ok("import segway own.params -o m.json")
    weights = json.loads(box.text("m.json"))["emission"]["weights"]
    check([row[3] for row in weights] == [-1.0, -1 / 1.4, -0.25], str(weights))
    box.write("mixed.params", without_components(segway_text()).replace("_H3K4me3 ", "_H3K4me3_component0 "))
    box.fails("import segway mixed.params -o n.json", 3, "mixed.params:line", "mixture")
    box.write("new.params", segway_text())
    box.fails("import segway new.params --distribution norm -o n.json", 2, "--distribution")


def test_files_with_priors(box):
    """--prior-strength names a prior in front of the numbers."""
    text = segway_text(1, countdowns=2).replace("2 3 3 % cardinalities\n", "2 3 3 % cardinalities\nDirichletTable dirichlet_x \n")
    check("DirichletTable" in text, "nothing replaced")
    box.write("plain.params", segway_text(1, countdowns=2))
    box.write("prior.params", text.replace("dpmf_always 1 1.0", "dpmf_always 1 DirichletConst 100 1.0"))
    box.ok("import segway plain.params -o plain.json")
    box.ok("import segway prior.params -o prior.json")
    plain, prior = (json.loads(box.text(name)) for name in ("plain.json", "prior.json"))
    check(plain["transition"] == prior["transition"] and plain["emission"] == prior["emission"], "other numbers")


def changed(text, countdown, label, row):
    """With another row of segCountDown_seg_segTransition."""
    lines = text.split("\n")
    at = lines.index("segCountDown_seg_segTransition ") + 3 + countdown * SEGS + label
    lines[at] = " ".join("%.17e" % p for p in row) + " "
    return "\n".join(lines)


def test_longest_lengths(box):
    """A segment of the longest length must end: it does not follow that segments of one bin do."""
    text = changed(segway_text(1, countdowns=3), 0, 1, [0.0, 0.0, 1.0])
    box.write("max.params", changed(text, 1, 1, CHANGE[1]))
    result = box.ok("import segway max.params -o m.json")
    check("[longest-lengths-lost]" in result.stderr and ": 1 [" in result.stderr, result.stderr)
    rows = rows_of(40)
    box.write("x.npy", npy(rows, descr="<f8"))
    near(log_z(box), log_likelihood(rows, 1), "ends as before the longest length")
    box.write("same.params", text)
    box.fails("import segway same.params -o m.json", 3, "same.params:line", "label 1", "same length")


def test_a_label_that_is_never_left(box):
    box.write("never.params", changed(segway_text(1, countdowns=2), 0, 1, [1.0, 0.0, 0.0]))
    box.write("x.npy", npy(rows_of(40), descr="<f8"))
    for more in ("", " --min-duration 4"):
        box.ok("import segway never.params -o m.json" + more)
        log_z(box)


def test_one_label(box):
    one = ["", "% Dense CPTs", "5 "] + table(0, "start_seg", [1], [[1.0]]) + table(1, "seg_subseg", [1, 1], [[1.0]])
    one += table(2, "seg_seg", [1], [[1.0]]) + table(3, "seg_subseg_subseg", [1, 1, 1], [[1.0]])
    one += table(4, "segCountDown_seg_segTransition", [1, 1, 3], [[0.9, 0.0, 0.1]])
    one += ["% means", "1", "0", "mean_seg0_subseg0_A 1 0.5", "% diagonal covariance matrices", "1", "0", "covar_A 1 2.0", ""]
    box.write("one.params", "\n".join(one))
    box.ok("import segway one.params -o m.json --distribution norm")
    values = [0.3, -1.0, 2.5]
    box.write("x.npy", npy([[value] for value in values], descr="<f8"))
    near(log_z(box), sum(-(x - 0.5) ** 2 / 4 - math.log(4 * math.pi) / 2 for x in values), "one label")


def test_bad_files(box):
    good = segway_text()
    lines = good.split("\n")

    def refused(text, *words):
        box.write("bad.params", text)
        box.fails("import segway bad.params -o m.json", 3, "bad.params", "line ", *words)

    refused("", "ends before")
    refused("\n".join(lines[:40]), "ends before")
    whole = lines.index("% dense PMFs") - 1  # older versions end here
    for number, line in enumerate(lines):  # cut off after every line
        if line and not line.startswith("%") and number < len(lines) - 2 and number != whole:
            box.write("bad.params", "\n".join(lines[:number + 1]) + "\n")
            box.fails("import segway bad.params -o m.json", 3, "bad.params")
    refused(good.replace("3 3 % card", "3 4 % card", 1), "line")
    refused(good.replace("% Dense CPTs\n5", "% Dense CPTs\n99999999999"), "number of tables")
    refused(good.replace("start_seg \n0 % number parents\n3", "start_seg \n0 % number parents\n9999999"), "a probability")
    refused(good.replace("3 3 % card", "9999999 9999999 % card", 1), "10 million")
    refused(good.replace("seg_seg ", "seg_sag "), "seg_seg")
    refused(good.replace("covar_DNase 1 7", "covar_DNase 1 -7"), "variance", "covar_DNase")
    refused(good.replace("covar_DNase 1 7.0000000000e-01", "covar_DNase 1 nan"), "nan")
    for variance in ("7e-200", "1e-320"):  # the weights would be too large for a parameter file, or for a double
        box.write("bad.params", good.replace("covar_DNase 1 7.0000000000e-01", "covar_DNase 1 " + variance))
        box.fails("import segway bad.params -o m.json", 3, "bad.params", "at most 1e30")
    # m / v is small, m * m / v is not.
    huge = re.sub(r"(mean_seg0_subseg0_DNase 1 )\S+", r"\g<1>1e200", good.replace("covar_DNase 1 7.0000000000e-01", "covar_DNase 1 1e200"))
    check(huge.count("1e200") == 2, "the means are written otherwise")
    box.write("bad.params", huge)
    box.fails("import segway bad.params -o m.json", 3, "bad.params", "at most 1e30")
    refused(good.replace("%.17e" % FIRST[0], "6e-1"), "sum to", "start_seg")
    refused(good.replace("%.17e" % FIRST[0], "-5e-1"), "start_seg")
    refused(good.replace("0 mc_asinh_norm_seg1", "3 mc_gamma_seg1"), "gamma", "mc_gamma_seg1_subseg0_H3K4me3")
    refused(good.replace("1 dpmf_always \nmc_asinh_norm_seg2", "2 dpmf_always \nmc_asinh_norm_seg2"), "2 components")
    refused(good.replace("mx_seg1_subseg0_DNase", "mx_seg1_subseg0_CTCF"), "CTCF")
    refused(good.replace("mx_seg1_subseg0_DNase", "mx_seg1_subseg9_DNase"), "beyond")
    refused(good.replace("mx_seg1_subseg0_DNase", "mx_DNase"), "mx_segN_subsegM_TRACK")
    refused(good.replace("mean_seg0_subseg0_DNase covar", "mean_seg0_subseg7_DNase covar"), "mean_seg0_subseg7_DNase")
    refused(good.replace("mean_seg1_subseg0_DNase 1", "mean_seg0_subseg0_DNase 1"), "twice")
    refused(good + "1 2 3\n", "goes on")
    box.fails("import segway absent.params -o m.json", 4, "absent.params")
    box.fails("import segway bad.params -o bad.params", 2, "bad.params")
    refused(good.replace("DNase", "H3K4me3^2"), "the square of the first")
    refused(good.replace("DNase", "DN\x01ase"), "control characters")
    refused(good.encode().replace(b"DNase", b"DN\xffase"), "UTF-8")
    # A table of something else is named and left out.
    more = table(5, "seg_dinucleotide", [SEGS, 2], [[0.5, 0.5]] * SEGS)
    box.write("more.params", good.replace("% Dense CPTs\n5", "% Dense CPTs\n6").replace("\n\n\n% means", "\n" + "\n".join(more) + "\n% means"))
    check("seg_dinucleotide" in box.ok("import segway more.params -o m.json").stderr, "not named")
