"""Documents for MultiQC: what decode, describe, eval and train write with --multiqc."""

import json
import math

import make_inputs
from harness import bed_rows, check

TRACKS = ["codon_fwd0.bw", "codon_fwd1.bw", "codon_fwd2.bw", "codon_rev0.bw", "codon_rev1.bw", "codon_rev2.bw"]
KINDS = ["durations", "general", "label_durations", "labels"]
DEMO = ["-q", "-p", "demo.params.json"]


def document(box, sample, kind, folder="mqc"):
    return json.loads(box.text("%s/%s.semicrf_%s_mqc.json" % (folder, sample, kind)))


def in_key(name):
    """A name of a label in the key of a column."""
    return "".join(c if c.isalnum() else "_%02x_" % ord(c) for c in name)


def values(box, sample, kind, folder="mqc"):
    data = document(box, sample, kind, folder)["data"]
    check(list(data) == [sample], "samples of %s: %s" % (kind, list(data)))
    return data[sample]


def folder(box, name="mqc"):
    box.path(name).mkdir()
    return ["--multiqc", name]


def test_a_segmentation_in_numbers(box):
    box.ok(["decode"] + DEMO + folder(box) + ["-o", "s1.segments.bed.gz", "--score", "posterior", "--stats", "s.json"] + TRACKS)
    check(box.listing("mqc") == ["s1.semicrf_%s_mqc.json" % kind for kind in KINDS], "files: %s" % box.listing("mqc"))
    import gzip
    rows = bed_rows(gzip.open(box.path("s1.segments.bed.gz"), "rt").read())
    lengths = sorted(int(row[2]) - int(row[1]) for row in rows)
    general, shares, quantiles = (values(box, "s1", kind) for kind in ("general", "labels", "durations"))
    check(general["segments"] == len(rows) and general["bases"] == sum(lengths), "counts: %s" % general)
    at = lambda share: lengths[math.ceil(share * len(lengths)) - 1]
    check(general["median_length"] == at(0.5), "median %s, expected %s" % (general["median_length"], at(0.5)))
    expected = [[5, at(0.05)], [25, at(0.25)], [50, at(0.5)], [75, at(0.75)], [95, at(0.95)], [100, lengths[-1]]]
    check(quantiles == expected, "quantiles %s, expected %s" % (quantiles, expected))
    by_label = {}
    for row in rows:
        by_label[row[3]] = by_label.get(row[3], 0) + int(row[2]) - int(row[1])
    check({label: bases for label, bases in shares.items() if bases} == by_label, "shares: %s" % shares)
    labels = [label if isinstance(label, str) else label["name"] for label in json.loads(box.text("demo.params.json"))["labels"]]
    check(list(shares) == labels, "all labels in the model's order: %s" % list(shares))
    colors = {row[3]: tuple(map(int, row[8].split(","))) for row in rows}
    for label, category in document(box, "s1", "labels")["categories"].items():
        check(label not in colors or category["color"] == "#%02x%02x%02x" % colors[label], "colour of %s" % label)
    stats = json.loads(box.text("s.json"))
    sequence = stats["sequences"][0]
    check(general["position_entropy"] == sequence["position_entropy"], "entropy")
    check(general["expected_segments"] == sequence["expected_segments"], "expected segments")
    lacking = sum(track["bins"] for track in sequence["missing_values"])
    missing = 100 * lacking / (len(TRACKS) * (sequence["covered"] + sequence["missing"]))
    check(lacking > 0 and abs(general["missing"] - missing) < 1e-9, "missing %s, expected %s" % (general["missing"], missing))
    check("at_cap" not in general, "all labels have tails")
    by_label = values(box, "s1", "label_durations")
    for label in stats["decoded_labels"]:
        for key in ("q05", "median", "q95"):
            found = by_label.get("%s_%s" % (in_key(label["name"]), key))
            check(found == label.get("length", {}).get(key), "%s of %s: %s" % (key, label["name"], found))


def test_the_share_at_the_longest_duration(box):
    """Two labels, K = 4 and no tail: eight bins of one label are two segments of K bins."""
    box.write("m.json", json.dumps({
        "format": "semicrf-params", "format_version": "1.0", "labels": ["a", "b"], "max_duration": 4,
        "transition": [[0, 0], [0, 0]], "duration": {"kind": "table", "bias": [[-9, -9], [-9, -9], [-9, -9], [0, 0]]}}))
    data = [9.0, 0.0] * 8 + [0.0, 9.0] * 3
    import array
    box.write("x.npy", make_inputs.npy_header(shape=(11, 2)) + array.array("f", data).tobytes())
    box.ok(["decode", "-q", "-p", "m.json", "-o", "x.bed", "--score", "none"] + folder(box) + ["x.npy"])
    general = values(box, "x", "general")
    check(general["segments"] == 3 and abs(general["at_cap"] - 200 / 3) < 1e-9, "at K: %s" % general)
    check("position_entropy" not in general and "missing" not in general, "not computed: %s" % general)


def test_names_of_samples(box):
    folder(box)
    run = ["decode"] + DEMO + ["--multiqc", "mqc", "-r", "III:90361-91000"]
    for output, more, sample in (("S.1.bed", [], "S.1"), ("S2.segments.bed", [], "S2"), ("-", ["--multiqc-name", "S3"], "S3"),
                                 ("S4.bed", ["--multiqc-name", "a/b"], None)):
        box.ok(run + ["-o", output] + more + TRACKS)
        if sample:
            values(box, sample, "general")
    check("a_b.semicrf_general_mqc.json" in box.listing("mqc"), "%s" % box.listing("mqc"))
    check(list(document(box, "a_b", "general")["data"]) == ["a/b"], "the name within the document")
    box.fails(run + TRACKS, 2, "--multiqc", "--multiqc-name")
    box.fails(["decode"] + DEMO + ["--multiqc-name", "x", "-o", "x.bed"] + TRACKS, 2, "--multiqc DIR")


def test_a_folder_that_cannot_be_used(box):
    run = ["decode"] + DEMO + ["-o", "x.bed", "--multiqc"]
    box.fails(run + ["nowhere"] + TRACKS, 5, "nowhere/x.semicrf_general_mqc.json", "folder")
    box.fails(run + ["genes.bed"] + TRACKS, 5, "genes.bed")
    box.fails(["train", "-q", "--labels", "genes.bed", "-b", "3", "-o", "m.json", "--multiqc", "nowhere"] + TRACKS, 5, "nowhere")
    box.fails(["eval", "-q", "--truth", "genes.bed", "--multiqc", "nowhere", "genes.bed"], 5, "nowhere")
    box.fails(["describe", "--multiqc", "nowhere", "genes.bed"], 5, "nowhere")


def test_the_same_bytes_for_any_number_of_threads(box):
    for threads in ("1", "2", "3"):
        box.ok(["decode"] + DEMO + folder(box, "t" + threads) + ["-t", threads, "--score", "posterior", "-o", "s.bed"] + TRACKS)
    for kind in KINDS:
        texts = {box.text("t%d/s.semicrf_%s_mqc.json" % (threads, kind)) for threads in (1, 2, 3)}
        check(len(texts) == 1, "%s depends on threads" % kind)


def test_describe_says_the_same(box):
    box.ok(["decode"] + DEMO + folder(box) + ["-o", "s.bed"] + TRACKS)
    box.ok(["describe", "-p", "demo.params.json", "-o", "table.tsv"] + folder(box, "again") + ["s.bed"])
    for kind in ("labels", "durations", "label_durations"):
        check(box.text("mqc/s.semicrf_%s_mqc.json" % kind) == box.text("again/s.semicrf_%s_mqc.json" % kind), kind)
    one, other = values(box, "s", "general"), values(box, "s", "general", "again")
    check(all(one[key] == other[key] for key in other) and "segments" in other, "%s and %s" % (one, other))
    box.ok(["describe", "-o", "table.tsv"] + folder(box, "without") + ["s.bed"])  # without the model
    check(sum(values(box, "s", "labels", "without").values()) == one["bases"], "bases without the model")


def test_an_evaluation(box):
    box.ok(["decode"] + DEMO + ["-o", "p.segments.bed"] + TRACKS)
    box.ok(["eval", "-q", "--truth", "genes.bed", "--json", "e.json", "-o", "e.txt"] + folder(box) + ["p.segments.bed"])
    found, overall = values(box, "p", "evaluation"), json.loads(box.text("e.json"))["overall"]
    check(abs(found["accuracy"] - 100 * overall["bases"]["accuracy"]) < 1e-9, "accuracy")
    check(found["macro_f1"] == overall["bases"]["macro_f1"], "macro F1")
    check(found["boundary_f1"] == overall["boundaries"]["within"]["f1"], "boundary F1")
    check(found["segment_f1"] == overall["segments"]["overlap"]["f1"], "segment F1")
    labels = {label["name"]: label["bases"]["f1"] for label in json.loads(box.text("e.json"))["labels"]}
    check(values(box, "p", "label_f1") == {in_key(name): f1 for name, f1 in labels.items() if f1 is not None}, "F1 of labels")
    box.fails(["eval", "-q", "--truth", "genes.bed", "--posterior", "x.bg", "--multiqc", "mqc"], 2, "--multiqc", "PRED")


def test_a_training(box):
    box.ok(["train", "-q", "--labels", "genes.bed", "-b", "3", "--max-iterations", "3", "-o", "yeast.params.json"] + folder(box) + TRACKS)
    found, record = values(box, "yeast", "training"), json.loads(box.text("yeast.params.json"))["training"]
    check(found["iterations"] == record["iterations"] and found["nll_per_position"] == record["nll_per_position"], "%s: %s" % (found, record))
    check(found["converged"] in (0, 1) and "validation_nll_per_position" not in found, "%s" % found)
