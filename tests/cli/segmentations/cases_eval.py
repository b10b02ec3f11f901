"""eval: agreement of two segmentations, and what a model says of both."""

import gzip
import json
import math
import pathlib
import subprocess
import sys

import harness
import make_inputs
from harness import Skip, bed_rows, check

YEAST = harness.DATA.parents[1] / "shared" / "data" / "yeast"
EXAMPLES = harness.DATA.parent / "docs" / "examples"


# Plain accounts of a few numbers, for one stretch that both segmentations tile.

def base_agreement(truth, predicted):
    return sum(max(0, min(a[1], b[1]) - max(a[0], b[0])) for a in truth for b in predicted if a[2] == b[2])


def matched_boundaries(truth, predicted, tolerance):
    left, right = [a[0] for a in truth[1:]], [b[0] for b in predicted[1:]]
    matched = 0
    for position in left:
        near = [other for other in right if abs(other - position) <= tolerance]
        if near:
            right.remove(near[0])
            matched += 1
    return matched


def matched_segments(truth, predicted):
    free, matched = list(truth), 0
    for start, end, label in predicted:
        for other in free:
            shared = min(end, other[1]) - max(start, other[0])
            if other[2] == label and 2 * shared >= max(end, other[1]) - min(start, other[0]):
                free.remove(other)
                matched += 1
                break
    return matched


def edit_distance(a, b):
    row = list(range(len(b) + 1))
    for i, left in enumerate(a, 1):
        diagonal, row[0] = row[0], i
        for j, right in enumerate(b, 1):
            diagonal, row[j] = row[j], min(diagonal + (left != right), row[j] + 1, row[j - 1] + 1)
    return row[-1]


def segments_of(text, chromosome):
    return [(int(row[1]), int(row[2]), row[3]) for row in bed_rows(text) if row[0] == chromosome]


def demo_tracks(box):
    return sorted(p.name for p in box.folder.glob("codon_*.bw"))


def decode_demo(box):
    box.ok(["decode", "-p", "demo.params.json", "-o", "out.bed", "--stats", "decode.json"] + demo_tracks(box))


def evaluate(box, arguments):
    """The JSON document of an evaluation, which is all there is on standard output."""
    return json.loads(box.ok("eval --json - " + arguments).stdout)


def two(box, truth, predicted):
    lines = ["".join("c\t%d\t%d\t%s\n" % segment for segment in segments) for segments in (truth, predicted)]
    return box.write("t.bed", lines[0]), box.write("p.bed", lines[1])


def compare_with_plain_accounts(document, truth, predicted, tolerance):
    overall = document["overall"]
    bases = truth[-1][1] - truth[0][0]
    check(document["bases"] == bases and document["missing"] == 0, "%s bases" % document["bases"])
    check(overall["bases"]["matched"] == base_agreement(truth, predicted), "bases")
    check(overall["bases"]["accuracy"] == overall["bases"]["matched"] / bases, "accuracy")
    for name, distance in (("exact", 0), ("within", tolerance)):
        found = overall["boundaries"][name]
        expected = (len(truth) - 1, len(predicted) - 1, matched_boundaries(truth, predicted, distance))
        check((found["truth"], found["predicted"], found["matched"]) == expected, "%s, expected %s" % (found, expected))
    found = overall["segments"]["overlap"]
    check((found["truth"], found["predicted"], found["matched"]) ==
          (len(truth), len(predicted), matched_segments(truth, predicted)), "segments %s" % found)
    check(overall["segments"]["exact"]["matched"] == len(set(truth) & set(predicted)), "exact segments")
    edits = edit_distance([a[2] for a in truth], [b[2] for b in predicted])
    check(overall["label_sequence"]["edit_distance"] == edits, "%d edits" % edits)
    check(overall["label_sequence"]["error_rate"] == edits / len(truth), "error rate")
    for index, label in enumerate(document["labels"]):
        row = document["confusion"]["bases"][index]
        check(sum(row) == label["bases"]["truth"] and row[index] == label["bases"]["matched"], "row %s" % label["name"])


def test_tables_of_the_demo(box):
    decode_demo(box)
    box.matches("eval.txt", box.ok("eval --truth genes.bed out.bed").stdout)


def test_numbers_are_those_of_plain_accounts(box):
    decode_demo(box)
    truth, predicted = (segments_of(box.text(name), "III") for name in ("genes.bed", "out.bed"))
    for tolerance in (0, 2, 30, 300):
        document = evaluate(box, "--truth genes.bed out.bed --tolerance %d" % tolerance)
        check(document["tolerance"] == tolerance, "tolerance")
        compare_with_plain_accounts(document, truth, predicted, tolerance)


def test_yeast_chromosome_three(box):
    if not YEAST.is_dir():
        raise Skip("%s is not there" % YEAST)
    tracks = sorted(str(path) for path in YEAST.glob("codon_*.bw"))
    subprocess.run([sys.executable, str(EXAMPLES / "make_yeast_params.py"), str(YEAST / "genes.bed"), "-o",
                    str(box.path("yeast.json"))], check=True, stdout=subprocess.DEVNULL)
    box.ok(["decode", "-p", "yeast.json", "-r", "III", "-o", "III.bed"] + tracks)
    whole = evaluate(box, "--truth %s III.bed" % (YEAST / "genes.bed"))
    missing = {entry["name"]: entry["missing"] == entry["bases"] for entry in whole["chromosomes"]}
    check(missing == {"II": True, "III": False, "V": True, "VIII": True}, "%s" % whole["chromosomes"])
    check("-r III evaluates only what is predicted" in whole["warnings"][0]["message"], "%s" % whole["warnings"])
    document = evaluate(box, "--truth %s -r III III.bed" % (YEAST / "genes.bed"))
    check(whole["overall"]["bases"]["accuracy_predicted"] == document["overall"]["bases"]["accuracy"], "accuracies")
    truth = segments_of((YEAST / "genes.bed").read_text(), "III")
    compare_with_plain_accounts(document, truth, segments_of(box.text("III.bed"), "III"), 30)
    check(document["overall"]["segments"]["overlap"]["truth"] == 345, "annotated segments")


def test_document(box):
    decode_demo(box)
    box.ok("eval --truth genes.bed out.bed --json e.json -o e.txt")
    document = json.loads(box.text("e.json"))
    check((document["format"], document["format_version"]) == ("semicrf-eval", "1.2"), "format")
    check({"version", "truth", "predicted", "overall", "labels", "confusion", "warnings"} <= set(document), "keys")
    check("model" not in document, "what was not computed is there")
    check(document["truth"] == {"file": "genes.bed", "segments": len(bed_rows(box.text("genes.bed")))}, "truth")
    check("%.4f" % document["overall"]["bases"]["accuracy"] in box.text("e.txt"), "the text has another accuracy")
    check(document["confusion"]["predicted"] == document["confusion"]["truth"] + [None], "columns")


def test_scores_are_those_of_the_run(box):
    decode_demo(box)
    box.ok(["posterior", "-p", "demo.params.json", "-o", "out.bedgraph", "--stats", "posterior.json"] + demo_tracks(box))
    decode, posterior = (json.loads(box.text(name))["sequences"][0] for name in ("decode.json", "posterior.json"))
    model = evaluate(box, "--truth genes.bed out.bed -p demo.params.json " + " ".join(demo_tracks(box)))["model"]
    predicted, truth = model["predicted"], model["truth"]
    check(predicted["viterbi_score"] == decode["viterbi_score"], "%r" % predicted["viterbi_score"])
    check(predicted["segments"] == decode["segments"] and predicted["moved"] == 0, "%s" % predicted)
    for key in ("log_partition", "boundary_entropy", "position_entropy"):
        check(model[key] == posterior[key], "%s is %r, expected %r" % (key, model[key], posterior[key]))
    check(model["positions"] == posterior["covered"] and len(model["sequences"]) == 1, "positions")
    check(model["effective_boundaries"] == math.exp(model["boundary_entropy"]), "effective boundaries")
    for path in (predicted, truth):
        check(path["log_likelihood"] == path["log_weight"] - model["log_partition"], "log likelihood")
        check(abs(path["log_likelihood_per_position"] * model["positions"] - path["log_likelihood"]) < 1e-9, "per bin")
        check(path["log_likelihood"] < 0, "more than certain")
    check(truth["viterbi_score"] < predicted["viterbi_score"], "%s" % truth)


def test_scores_with_other_engines_and_threads(box):
    box.ok("decode -p scores.params.json -o out.bed scores.npy")
    common = "--truth out.bed out.bed -p scores.params.json scores.npy "
    exact = evaluate(box, common + "-x reference --precision double")["model"]
    for options in ("-x cpu", "-x cpu -t 3", "-x cpu --precision double", "--max-memory 40M"):
        found = evaluate(box, common + options)["model"]
        check(found["predicted"]["viterbi_score"] == exact["predicted"]["viterbi_score"], options)
        for key in ("log_partition", "boundary_entropy", "position_entropy"):
            check(abs(found[key] - exact[key]) <= 1e-5 * abs(exact[key]), "%s with %s: %r" % (key, options, found[key]))
    texts = {box.ok("eval %s -t %d --json e.json" % (common, threads)).stdout + box.text("e.json") for threads in (1, 2, 3)}
    check(len(texts) == 1, "threads change the report")


def test_single_bins_have_the_entropy_of_their_number(box):
    box.write("k1.json", json.dumps(dict(json.loads(box.text("scores.params.json")), max_duration=1,
                                         duration={"kind": "uniform"}, transition=[[0] * 3] * 3)))
    box.ok("decode -p k1.json -o out.bed scores.npy")
    model = evaluate(box, "--truth out.bed out.bed -p k1.json scores.npy")["model"]
    check(abs(model["boundary_entropy"] - math.log(300)) < 1e-6, "H_bdy %r" % model["boundary_entropy"])
    check(abs(model["effective_boundaries"] - 300) < 1e-3, "exp(H_bdy) %r" % model["effective_boundaries"])
    # Joined segments agree as well, but the model has no such durations.
    merged = evaluate(box, "--truth out.bed out.bed --merge-adjacent")
    check(merged["overall"]["segments"]["exact"]["f1"] == 1, "%s" % merged["overall"])
    check(merged["overall"]["segments"]["exact"]["truth"] < 300, "nothing was joined")
    box.ok("decode -p k1.json --merge-adjacent -o joined.bed scores.npy")
    model = evaluate(box, "--truth out.bed joined.bed -p k1.json scores.npy")["model"]
    check(model["predicted"]["log_likelihood"] is None, "%s" % model["predicted"])
    check("cannot have" in model["predicted"]["impossible"], "%s" % model["predicted"])


def test_regions(box):
    truth, predicted = two(box, [(0, 50, "a"), (50, 100, "b")], [(0, 40, "a"), (40, 90, "b")])
    common = "--truth %s %s " % (truth, predicted)
    document = evaluate(box, common)
    check((document["bases"], document["missing"], document["overall"]["bases"]["matched"]) == (100, 10, 80), "%s" % document)
    document = evaluate(box, common + "-r c:1-60")
    check((document["bases"], document["overall"]["bases"]["matched"]) == (60, 50), "%s" % document["bases"])
    box.write("r.bed", "c\t10\t20\nc\t45\t200\n")
    document = evaluate(box, common + "-L r.bed")
    check((document["bases"], document["stretches"], document["missing"]) == (65, 2, 10), "%s" % document["bases"])
    document = evaluate(box, common + "--exclude r.bed")
    check((document["bases"], document["stretches"]) == (35, 2), "%s" % document["bases"])


def test_stretches_and_chromosomes_that_are_not_decoded_count_alike(box):
    truth = "a\t0\t60\tx\na\t60\t100\ty\nb\t0\t100\tx\n"
    box.write("t.bed", truth)
    for predicted, hint, places in (("a\t0\t50\tx\na\t50\t100\ty\n", "-r a", "b"),
                                    ("a\t0\t50\tx\na\t50\t60\ty\nb\t0\t40\tx\n", "-r a:1-60 -r b:1-40", "a:61-100, b:41-100")):
        box.write("p.bed", predicted)
        result = box.ok("eval --truth t.bed p.bed")
        check("missing     100 bases without a prediction: %s\n" % places in result.stdout, result.stdout)
        check("hint        %s evaluates only what is predicted\n" % hint in result.stdout, result.stdout)
        check("[not-predicted]" in result.stderr and hint in result.stderr, result.stderr)
        document = evaluate(box, "--truth t.bed p.bed")
        bases = document["overall"]["bases"]
        check((document["bases"], document["missing"]) == (200, 100), "%s" % document["bases"])
        check(bases["accuracy"] == 0.45 and bases["accuracy_predicted"] == 0.9, "%s" % bases)
        check("accuracy over all bases        0.4500\naccuracy over predicted bases  0.9000\n" in result.stdout, result.stdout)
        # What the hint says is so.
        again = evaluate(box, "--truth t.bed p.bed " + hint)
        check(again["missing"] == 0 and again["overall"]["bases"]["accuracy"] == 0.9, "%s" % again["overall"])
        check("not-predicted" not in box.ok("eval --truth t.bed p.bed " + hint).stderr, "a warning without a gap")
    # Where the prediction has many parts, its file is the list of regions.
    box.write("p.bed", "".join("a\t%d\t%d\tx\n" % (i, i + 5) for i in range(0, 60, 10)))
    result = box.ok("eval --truth t.bed p.bed")
    check("a:6-10, a:16-20, a:26-30 and 4 more" in result.stdout and "-L p.bed evaluates" in result.stdout, result.stdout)
    check(evaluate(box, "--truth t.bed p.bed -L p.bed")["missing"] == 0, "bases without a prediction")


def test_the_tolerance_is_one_bin_at_least(box):
    # Edges a bin of 200 beside the true ones.
    box.write("t.bed", "".join("c\t%d\t%d\t%s\n" % (a, a + 2000, "xy"[a // 2000 % 2]) for a in range(0, 8000, 2000)))
    edges = [0, 1800, 4000, 6200, 8000]
    lines = "".join("c\t%d\t%d\t%s\n" % (a, b, "xy"[n % 2]) for n, (a, b) in enumerate(zip(edges, edges[1:])))

    def found(header, *options):
        box.write("p.bed", header + lines)
        document = evaluate(box, "--truth t.bed p.bed " + " ".join(options))
        return document["tolerance"], document["overall"]["boundaries"]["within"]["matched"], document.get("bin_size")

    check(found("#option bin-size=200\n") == (200, 3, 200), "not one bin of the header")
    check("tolerance   200 bases (one bin)\n" in box.ok("eval --truth t.bed p.bed").stdout, "no line in the text")
    check(found("") == (30, 1, None), "another default")
    check(found("#option bin-size=10\n") == (30, 1, 10), "less than the default")
    check(found("#option bin-size=200\n", "--tolerance", "0") == (0, 1, 200), "not what is given")
    check(found("#option bin-size=many\n") == (30, 1, None), "a bin size that is no number")
    # The parameters know it, too, and better.
    box.ok("decode -p scores.params.json -o out.bed scores.npy")
    check(evaluate(box, "--truth out.bed out.bed")["bin_size"] == 10, "not in the header of decode")
    make_inputs.parameters(box, "wide.json", bin_size=500)
    box.ok("decode -p wide.json -o out.bed scores.npy")
    document = evaluate(box, "--truth out.bed out.bed -p wide.json scores.npy")
    check((document["tolerance"], document["bin_size"]) == (500, 500), "%s" % document["tolerance"])


def test_compressed_input(box):
    decode_demo(box)
    plain = evaluate(box, "--truth genes.bed out.bed")
    for name in ("genes.bed", "out.bed"):
        box.write(name + ".gz", gzip.compress(box.path(name).read_bytes()))
    packed = evaluate(box, "--truth genes.bed.gz out.bed.gz")
    check(packed["overall"] == plain["overall"] and packed["labels"] == plain["labels"], "compressed files differ")


def test_labels_of_one_file_only(box):
    truth, predicted = two(box, [(0, 50, "a"), (50, 100, "b")], [(0, 60, "a"), (60, 100, "z")])
    document = evaluate(box, "--truth %s %s" % (truth, predicted))
    labels = {label["name"]: label for label in document["labels"]}
    check(list(labels) == ["a", "b", "z"], "%s" % list(labels))
    check(labels["b"]["bases"]["precision"] is None and labels["b"]["bases"]["recall"] == 0, "b: %s" % labels["b"])
    check(labels["z"]["bases"]["recall"] is None and labels["z"]["bases"]["f1"] == 0, "z: %s" % labels["z"])
    check("  -  " in box.ok("eval --truth %s %s" % (truth, predicted)).stdout, "what is not defined is not shown as -")


def test_bad_lines_are_named(box):
    truth, predicted = two(box, [(0, 100, "a")], [(0, 40, "a"), (30, 90, "b")])
    box.fails("eval --truth %s %s" % (truth, predicted), 3, "p.bed:line 2", "overlaps line 1")
    for line, reason in (("c\t5\t9", "no label"), ("c\t9\t5\ta", "must be less than"), ("c\tx\t9\ta", "start"), ("c", "column")):
        box.write("p.bed", "#head\nc\t0\t3\ta\n" + line + "\n")
        box.fails("eval --truth %s %s" % (truth, predicted), 3, "p.bed:line 3", reason)
        box.fails("eval --truth p.bed t.bed", 3, "p.bed:line 3", reason)
    box.write("p.bed.gz", gzip.compress(b"c\t0\t3\ta\n")[:-9])
    box.fails("eval --truth t.bed p.bed.gz", (3, 4), "p.bed.gz")


def test_nothing_in_common(box):
    box.write("t.bed", "chr1\t0\t9\ta\n")
    box.write("p.bed", "1\t0\t9\ta\n")
    box.fails("eval --truth t.bed p.bed", 3, "no chromosome in common", "chr1", "has 1,")
    box.write("empty.bed", "# nothing\n")
    box.fails("eval --truth t.bed empty.bed", 3, "empty.bed", "no segment")
    box.fails("eval --truth empty.bed t.bed", 3, "empty.bed", "no segment")
    document = evaluate(box, "--truth t.bed empty.bed --all-chromosomes")
    check(document["missing"] == 9 and document["overall"]["bases"]["f1"] == 0, "%s" % document["overall"])
    box.fails("eval --truth t.bed t.bed -r chr2", 3, "chr2")
    box.fails("eval --truth t.bed t.bed -p scores.params.json scores.npy", 3, "scores", "chr1")
    box.write("sizes", "chr1\t5\n")
    box.fails("eval --truth t.bed t.bed -g sizes", 3, "t.bed:line 1", "beyond the 5 bases")


def test_usage(box):
    box.write("t.bed", "c\t0\t9\ta\n")
    box.fails("eval t.bed", 2, "--truth")
    box.fails("eval --truth t.bed", 2, "PRED")
    box.fails("eval --truth t.bed t.bed -p scores.params.json", 2, "-p and TRACK")
    box.fails("eval --truth t.bed t.bed scores.npy", 2, "-p and TRACK")
    box.fails("eval --truth t.bed t.bed --tolerance -1", 2, "tolerance")
    box.fails("eval --truth t.bed t.bed -o - --json -", 2, "standard output")
    box.fails("eval --truth t.bed t.bed -o t.bed", 2, "t.bed")
    box.fails("eval --truth t.bed t.bed --json none/e.json", 5, "none")
    box.fails("eval --truth t.bed absent.bed", 4, "absent.bed")
    box.fails("eval --truth - -", 2, "standard input")
    for text in ("--truth", "--json", "--tolerance", "Exit codes"):
        check(text in box.ok("eval --help-all").stdout, "--help lacks %s" % text)


def test_a_part_of_a_chromosome(box):
    rows = [[0.5 * (i % 7 == 0), 0.25, -0.5] for i in range(20)]
    box.write("part.npy", make_inputs.npy(rows))
    box.ok("decode -p scores.params.json -o out.bed --stats s.json chr1:1001-1200=part.npy")
    model = evaluate(box, "--truth out.bed out.bed -p scores.params.json chr1:1001-1200=part.npy")["model"]
    score = json.loads(box.text("s.json"))["sequences"][0]["viterbi_score"]
    check(model["predicted"]["viterbi_score"] == score and model["predicted"]["moved"] == 0, "%s" % model["predicted"])
    check(pathlib.Path(model["params"]).name == "scores.params.json", "params")


def test_a_truth_of_peaks(box):
    """Where a list of peaks has no line nothing is evaluated; --background labels the rest."""
    box.write("truth.bed", "chr1\t100\t200\tpeak\nchr1\t500\t600\tpeak\n")
    box.write("found.bed", "chr1\t0\t100\tnone\nchr1\t100\t200\tpeak\nchr1\t200\t300\tnone\nchr1\t300\t400\tpeak\n"
                           "chr1\t400\t500\tnone\nchr1\t500\t600\tpeak\nchr1\t600\t700\tnone\n")
    result = box.ok("eval --truth truth.bed found.bed --json -")
    check("--background NAME" in result.stderr and "[one-label-truth]" in result.stderr, result.stderr)
    box.write("peaks.narrowPeak", "".join("chr1\t%d\t%d\tpeak_%d\t0\t.\t1\t-1\t-1\t-1\n" % (a, a + 80, a) for a in (110, 320)))
    lists = box.ok("eval --truth truth.bed peaks.narrowPeak").stderr
    check("[one-label-truth]" in lists and "[not-predicted]" in lists and "evaluates only" not in lists, lists)
    box.ok("eval --truth truth.bed found.bed --background none -o out.txt --json out.json")
    report = json.loads(box.text("out.json"))
    peak = next(label for label in report["labels"] if label["name"] == "peak")
    check(peak["bases"]["predicted"] == 300 and peak["bases"]["matched"] == 200, "%r" % peak["bases"])
    check(report["bases"] == 700 if "bases" in report else "700 bases" in box.text("out.txt"), box.text("out.txt"))
    box.ok("eval --truth truth.bed found.bed --background peak -o out.txt")


def test_numbered_peaks_are_of_one_label(box):
    """Names of .narrowPeak and .broadPeak files lose their number, and --background labels what is between them."""
    box.write("truth.bed", "chr1\t100\t200\tpeak\nchr1\t500\t600\tpeak\n")
    line = "chr1\t%d\t%d\t%s\t0\t.\t1\t-1\t-1\t-1\n"
    for name in ("x.narrowPeak", "x.broadPeak"):
        box.write(name, "".join(line % row for row in ((100, 200, "peak_1"), (300, 400, "peak_12a"), (500, 600, "peak_13"))))
        box.ok("eval --truth truth.bed %s --background none -o out.txt --json out.json" % name)
        labels = {label["name"]: label for label in json.loads(box.text("out.json"))["labels"]}
        check(set(labels) == {"peak", "none"}, "%s" % set(labels))
        bases = labels["peak"]["bases"]
        check((bases["truth"], bases["predicted"], bases["matched"]) == (200, 300, 200), "%s" % bases)
        check(labels["none"]["bases"]["predicted"] == 300, "%s" % labels["none"])
    box.path("x.narrowPeak").rename(box.path("x.bed"))
    box.ok("eval --truth truth.bed x.bed --background none --json out.json -o out.txt")
    check("peak_12a" in box.text("out.txt"), "names of BED files are labels as they stand")
