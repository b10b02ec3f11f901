"""simulate: segmentations drawn from the model, random scores and tracks."""

import json
import math

import oracle
from harness import bed_rows, check
from make_inputs import npy, parameters, track_parameters


def segments(text, bin_size=10):
    return [(int(row[1]) // bin_size, -(-int(row[2]) // bin_size), row[3]) for row in bed_rows(text)]


def stats(box, name="s.json"):
    return json.loads(box.text(name))["sequences"]


def probability_score(scores, model, found):
    """ln of the unnormalised probability: as the path's score, but all labels before the first segment count."""
    score = oracle.path_score(scores, model, found)
    first = [row[model.labels.index(found[0][2])] for row in model.transition]
    return score - max(first) + oracle.log_sum(first) if model.uniform else score


def test_the_draw_is_the_expected_one(box):
    box.ok("simulate -p scores.params.json --length 60 --seed 7 --precision double -o out.bed")
    box.matches("simulate.bed", box.text("out.bed"))


def test_draws_tile_and_have_the_likelihood_they_say(box):
    box.ok("simulate -p scores.params.json --seed 5 --draws 3 -o out.bed --stats s.json scores.npy")
    model, scores = oracle.Model(box.path("scores.params.json")), oracle.read_npy(box.path("scores.npy"))
    log_z = oracle.boundary_posterior(scores, model)[0]
    sequence, = stats(box)
    check(abs(sequence["log_partition"] - log_z) < 1e-3, "log_partition %r, expected %r" % (sequence["log_partition"], log_z))
    check(len(sequence["log_likelihood"]) == 3, "%r" % sequence)
    texts = [box.text("out.%d.bed" % number) for number in (1, 2, 3)]
    check(sum(len(segments(text)) for text in texts) == sequence["segments"], "segments %r" % sequence["segments"])
    check(len(set("\n".join(map(str, segments(text))) for text in texts)) == 3, "draws are alike")
    for text, likelihood in zip(texts, sequence["log_likelihood"]):
        found, at = segments(text), 0
        for begin, end, _ in found:
            check(begin == at, "%r" % found)
            at = end
        check(at == 300, "the last segment ends at %d" % at)
        expected = probability_score(scores, model, found) - log_z
        check(abs(likelihood - expected) < 1e-3, "log likelihood %.9f, expected %.9f" % (likelihood, expected))


def test_labels_come_as_often_as_their_posteriors(box):
    """200 draws of 40 bins; the first segment's end and label against the model worked out in Python."""
    model, scores = oracle.Model(box.path("scores.params.json")), oracle.read_npy(box.path("scores.npy"))[:40]
    box.write("x.npy", npy(scores))
    box.ok("simulate -p scores.params.json --seed 1 --draws 200 -o out.bed x.npy")
    _, starts, _ = oracle.edge_posteriors(scores, model)
    counts = [[0] * len(model.labels) for _ in scores]
    for number in range(1, 201):
        for begin, _, label in segments(box.text("out.%d.bed" % number)):
            counts[begin][model.labels.index(label)] += 1
    for t, row in enumerate(starts):
        for c, expected in enumerate(row):
            deviation = abs(counts[t][c] - 200 * expected) / math.sqrt(200 * expected * (1 - expected) + 1)
            check(deviation < 5, "%d starts of %d at %d, expected %g" % (counts[t][c], c, t, 200 * expected))


def test_seeds_threads_and_memory(box):
    first = box.ok("simulate -p scores.params.json --length 30000 --seed 1").stdout
    for more in ("-t 3", "-t 2 --max-memory 40M", "--max-memory 36M"):
        check(box.ok("simulate -p scores.params.json --length 30000 --seed 1 " + more).stdout == first, more)
    other = box.ok("simulate -p scores.params.json --length 30000 --seed 2").stdout
    check(bed_rows(other) != bed_rows(first), "the seed changes nothing")
    one, two = (box.ok("simulate -p scores.params.json --seed %d scores.npy" % seed).stdout for seed in (1, 2))
    check(bed_rows(one) != bed_rows(two), "the seed changes nothing")


def test_generated_scores_are_those_that_are_written(box):
    box.ok("simulate -p scores.params.json --length 200 --name chrS --seed 3 --emissions e.npy -o out.bed")
    rows = oracle.read_npy(box.path("e.npy"))
    check(len(rows) == 200 and len(rows[0]) == 3, "shape")
    values = [x for row in rows for x in row]
    mean = sum(values) / len(values)
    check(abs(mean) < 4 / math.sqrt(len(values)), "mean %g" % mean)
    square = sum(x * x for x in values) / len(values)
    check(abs(square - 1) < 4 * math.sqrt(2 / len(values)), "variance %g" % square)
    again = box.ok("simulate -p scores.params.json --seed 3 chrS=e.npy").stdout
    check(bed_rows(again) == bed_rows(box.text("out.bed")), "the written scores give another draw")


def test_generated_tracks_go_through_their_transforms(box):
    tracks = [{"name": "a", "transform": "asinh", "center": 0.5, "scale": 2}, {"name": "b", "transform": "log1p"}, {"name": "c"}]
    track_parameters(box, tracks=("a", "b", "c"))
    document = json.loads(box.text("track.json"))
    document["tracks"] = tracks
    box.write("track.json", json.dumps(document))
    box.ok("simulate -p track.json --length 400 --seed 3 --emissions e.npy -o out.bed")
    rows = oracle.read_npy(box.path("e.npy"))
    features = [[(math.asinh(a) - 0.5) / 2, math.log1p(b), c] for a, b, c in rows]
    for column in zip(*features):
        square = sum(x * x for x in column) / 400
        check(abs(square - 1) < 4 * math.sqrt(2 / 400), "variance %g of a feature" % square)
    again = box.ok("simulate -p track.json --seed 3 simulated=e.npy").stdout
    check(bed_rows(again) == bed_rows(box.text("out.bed")), "the written tracks give another draw")


def test_several_sequences(box):
    box.ok("simulate -p scores.params.json --length 50 --length 80 --emissions e --prefix run")
    rows = bed_rows(box.text("run.segments.bed"))
    check(list(dict.fromkeys(row[0] for row in rows)) == ["simulated1", "simulated2"], "names")
    check([row[2] for row in rows if row[0] == "simulated2"][-1] == "800", "%r" % rows[-1])
    check(len(oracle.read_npy(box.path("e.simulated2.npy"))) == 80, "rows of the second array")
    alone = box.ok("simulate -p scores.params.json --length 80 --name simulated2").stdout
    check(bed_rows(alone) == [row for row in rows if row[0] == "simulated2"], "a sequence depends on its neighbours")
    check([sequence["name"] for sequence in stats(box, "run.stats.json")] == ["simulated1", "simulated2"], "stats")


def test_regions_cut_pieces(box):
    rows = bed_rows(box.ok("simulate -p scores.params.json --length 100 -r simulated:101-300 -r simulated:501-600").stdout)
    edges = {row[1] for row in rows} | {row[2] for row in rows}
    check({"100", "300", "500", "600"} <= edges and not {"0", "1000"} & edges, "%r" % sorted(edges))


def test_dry_run_writes_nothing(box):
    before = box.listing()
    text = box.ok("simulate -p scores.params.json --length 100 -o out.bed --emissions e.npy --dry-run").stdout
    check("100 bins" in text and "draws: 1 window" in text and "e.npy" in text, text)
    check(box.listing() == before, "files were written")


def test_draws_have_names_of_their_own(box):
    box.ok("simulate -p scores.params.json --draws 2 -o out.bed.gz --write-index scores.npy")
    check({"out.1.bed.gz", "out.1.bed.gz.tbi", "out.2.bed.gz", "out.2.bed.gz.tbi"} <= set(box.listing()), "%r" % box.listing())


def test_no_segmentation(box):
    parameters(box, "long.json", duration={"kind": "table", "bias": [["-inf"] * 3] * 4 + [[0] * 3]}, max_duration=5)
    box.fails("simulate -p long.json --length 3 -o out.bed", 3, "simulated:1-30", "shortest allowed duration is 5")
    box.ok("simulate -p long.json --length 3 --length 10 --infeasible skip -o out.bed --stats s.json")
    check(stats(box)[0]["log_partition"] is None and "log_likelihood" not in stats(box)[0], "%r" % stats(box)[0])
    check({row[0] for row in bed_rows(box.text("out.bed"))} == {"simulated2"}, "pieces")


def test_what_is_refused(box):
    p = "simulate -p scores.params.json "
    box.fails(p, 2, "--length")
    box.fails(p + "--length 5 scores.npy", 2, "--length")
    for value in ("0", "-3", "x", "1.5", "99999999999999999999"):
        box.fails(p + "--length " + value, 2, "--length")
    for value in ("-1", "x", "99999999999999999999"):
        box.fails(p + "--length 5 --seed " + value, 2, "--seed")
    for value in ("0", "501", "x"):
        box.fails(p + "--length 5 --draws " + value, 2, "--draws")
    box.fails(p + "--length 5 --draws 2", 2, "--output")
    box.fails(p + "--length 5 --length 6 --emissions e.npy", 2, "exactly one sequence")
    box.fails(p + "--length 5 --length 6 --name a", 2, "--name")
    box.fails(p + "--length 5 --length 6 --name a --name a", 2, "a")
    box.fails(["simulate", "-p", "scores.params.json", "--length", "5", "--name", "a\tb"], 2, "--name")
    box.fails(p + "--emissions e.npy scores.npy", 2, "--emissions")
    box.fails(p + "--length 5 --start-scores scores.npy", 2, "--start-scores")
    box.fails(p + "--length 5 -g sizes.txt", 2, "--chrom-sizes")
    box.fails(p + "--length 5 -r other:1-2", 3, "other")
    box.fails(p + "--length 5 -o scores.params.json", 2, "scores.params.json")
    box.fails(p + "--length 5 -o e.npy --emissions e.npy", 2, "e.npy")
    box.fails(p + "--length 1000000 --max-memory 1M", 6)
