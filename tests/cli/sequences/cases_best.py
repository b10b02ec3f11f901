"""decode --best N: the N best segmentations against an enumeration of all of small random models."""

import gzip
import json
import math
import random
import re

import oracle
from cases_expectations import ENGINES, random_model, segmentations
from cases_simulate import segments
from harness import bed_rows, check
from make_inputs import npy


def ranked(scores, model):
    """[(score, ln P, segments with names)], the best first, ties by the rule of the project."""
    found = []
    for path, probability in segmentations(scores, model)[0]:
        key = [number for begin, end, label in reversed(path) for number in (label, end - begin)]
        named = [(begin, end, model.labels[label]) for begin, end, label in path]
        found.append((-oracle.path_score(scores, model, named), key, math.log(probability), named))
    return [(-score, log_probability, path) for score, _, log_probability, path in sorted(found)]


def files(box, name="out"):
    numbers = [int(match.group(1)) for match in (re.fullmatch(re.escape(name) + r"\.(\d+)\.bed", file) for file in box.listing()) if match]
    check(sorted(numbers) == list(range(1, len(numbers) + 1)), "%s" % box.listing())
    return [box.text("%s.%d.bed" % (name, number)) for number in sorted(numbers)]


def forget(box):
    for file in box.listing():
        if re.search(r"\.\d+\.bed(\.gz)?$", file):
            box.path(file).unlink()


def sequences(box, name="s.json"):
    return json.loads(box.text(name))["sequences"]


def lines(text):
    return [line for line in text.splitlines() if not line.startswith("#")]


def test_all_segmentations_in_their_order(box):
    for seed in range(5):
        model, scores = random_model(box, seed)
        expected = ranked(scores, model)
        for engine, precision, tolerance in ENGINES:
            for most in (20, 1000) if seed < 2 and engine == "reference" else (7, 60):
                forget(box)
                box.ok("decode -p m.json -x %s --precision %s --best %d -o out.bed --stats s.json x.npy" % (engine, precision, most))
                texts, (sequence,) = files(box), sequences(box)
                place = "seed %d, %s %s, best %d" % (seed, engine, precision, most)
                check(len(texts) == min(most, len(expected)) == len(sequence["score"]), "%s: %d files" % (place, len(texts)))
                paths = [segments(text) for text in texts]
                check(len(set(map(tuple, paths))) == len(paths), place + ": two are the same")
                known = {tuple(path): (score, log_probability) for score, log_probability, path in expected}
                for rank, path in enumerate(paths):
                    score, log_probability = known[tuple(path)]
                    check(abs(sequence["score"][rank] - score) < 1e-9, "%s: rank %d: %r, not %r" % (place, rank + 1, sequence["score"][rank], score))
                    check(abs(sequence["log_probability"][rank] - log_probability) < 100 * tolerance,
                          "%s: rank %d: %r, not %r" % (place, rank + 1, sequence["log_probability"][rank], log_probability))
                    check(abs(score - expected[rank][0]) < tolerance, "%s: rank %d has %r, not %r" % (place, rank + 1, score, expected[rank][0]))
                check(abs(sequence["log_partition"] - segmentations(scores, model)[1]) < 100 * tolerance, place)


def integer_model(box, seed):
    """Small whole numbers: many segmentations are equally good."""
    draw = random.Random(seed)
    whole = lambda: draw.choice((-1, 0, 0, 1))
    model, scores = random_model(box, seed, transition=[[whole() for _ in range(2)] for _ in range(2)], labels=["a", "b"], max_duration=3,
                                 duration={"kind": "table", "bias": [[whole(), whole()] for _ in range(3)]}, start=[0, 0], end=[0, 0])
    box.write("x.npy", npy([[whole() for _ in range(2)] for _ in range(7)], "<f4"))
    return model, oracle.read_npy(box.path("x.npy"))


def test_ties_follow_the_rule(box):
    for seed in range(4):
        model, scores = integer_model(box, seed)
        expected = ranked(scores, model)
        check(len({score for score, _, _ in expected}) < len(expected) / 10, "hardly any ties")
        for engine, precision, _ in ENGINES:
            for most in (1000,) if seed == 0 and engine == "reference" else (3, 50):
                forget(box)
                box.ok("decode -p m.json -x %s --precision %s --best %d -o out.bed x.npy" % (engine, precision, most))
                found = [segments(text) for text in files(box)]
                check(found == [path for _, _, path in expected[:most]], "seed %d, %s %s, best %d" % (seed, engine, precision, most))


def long_model(box, bins):
    """Labels do not follow themselves: two segments of one label, the other way round, would be as good."""
    draw = random.Random(5)
    number = lambda: draw.gauss(0, 1)
    box.write("m.json", json.dumps({
        "format": "semicrf-params", "format_version": "1.0", "labels": ["a", "b", "c"], "max_duration": 9, "bin_size": 10,
        "centering": "none", "initial": "uniform", "transition": [["-inf" if a == b else number() for a in range(3)] for b in range(3)],
        "duration": {"kind": "table", "bias": [[number() for _ in range(3)] for _ in range(9)], "tail": [0.5, None, 0.3]}}))
    box.write("x.npy", npy([[number() for _ in range(3)] for _ in range(bins)], "<f4"))


def test_threads_and_memory_give_the_same_bytes(box):
    long_model(box, 120000)
    for precision in ("float", "double"):
        first = None
        for more in ("-t 1", "-t 3", "-t 2 --max-memory 46M"):
            forget(box)
            box.ok("decode -p m.json --precision %s --best 25 -o out.bed %s --stats s.json x.npy" % (precision, more))
            sequence, = sequences(box)
            found = files(box), sequence["score"], sequence["log_probability"]
            check(first is None or found == first, "%s %s" % (precision, more))
            check(found[1][1:] == sorted(found[1][1:], reverse=True) and found[1][0] > found[1][1] - 1e-5, "not in order")
            first = found
        check(lines(first[0][0]) == lines(box.ok("decode -p m.json --precision %s --score none x.npy" % precision).stdout), "rank 1 is not the path of decode")
        forget(box)
        box.ok("decode -p m.json --precision %s --best 7 -o out.bed x.npy" % precision)
        check(files(box) == first[0][:7], "fewer are not the first of more")
    check("best segmentations: " in box.ok("decode -p m.json --best 5 -o out.bed --dry-run --max-memory 46M x.npy").stdout, "dry run")


def test_one_is_decode(box):
    long_model(box, 2000)
    for more in ("", " --score posterior --table t.tsv", " --rule posterior"):
        plain = box.ok("decode -p m.json%s x.npy" % more).stdout
        check(box.ok("decode -p m.json --best 1%s x.npy" % more).stdout == plain, more)


def test_pieces_have_ranks_of_their_own(box):
    model, scores = random_model(box, 3)
    box.write("y.npy", npy(scores[:1], "<f4"))
    box.ok("decode -p m.json --precision double --best 30 -o out.bed --stats s.json -r x:1-30 -r x:31- -r y x.npy y.npy")
    pieces = [("x", 0, scores[:3]), ("x", 3, scores[3:]), ("y", 0, scores[:1])]
    expected = [ranked(part, model) for _, _, part in pieces]
    texts = files(box)
    check(len(texts) == min(30, max(map(len, expected))), "%d files" % len(texts))
    for rank, text in enumerate(texts):
        wanted = [(name, 10 * (begin + first), 10 * (end + first), label) for (name, first, _), paths in zip(pieces, expected)
                  for begin, end, label in (paths[rank][2] if rank < len(paths) else [])]
        check([(row[0], int(row[1]), int(row[2]), row[3]) for row in bed_rows(text)] == wanted, "rank %d: %s" % (rank + 1, text))
    found = [piece for sequence in sequences(box) for piece in sequence["best"]]
    check([piece["start"] for piece in found] == [0, 30, 0], "%s" % found)
    for piece, paths in zip(found, expected):
        check(len(piece["score"]) == len(piece["log_probability"]) == min(30, len(paths)), "%s" % piece)
        for rank, (score, log_probability, _) in enumerate(paths[:30]):
            check(abs(piece["score"][rank] - score) + abs(piece["log_probability"][rank] - log_probability) < 1e-8, "%s" % piece)
    total = sum(piece["score"][0] for piece in found[:2])
    check(abs(sequences(box)[0]["score"][0] - total) < 1e-9, "sum over pieces")


def test_names_compression_and_more_files(box):
    long_model(box, 500)
    box.ok("decode -p m.json --best 3 --prefix run x.npy")
    check([name for name in box.listing() if name.startswith("run")] ==
          ["run.segments.1.bed", "run.segments.2.bed", "run.segments.3.bed", "run.stats.json"], "%s" % box.listing())
    box.ok("decode -p m.json --best 2 -o z.bed.gz --write-index --posterior p.bedgraph.gz x.npy")
    for rank in (1, 2):
        text = gzip.decompress(box.path("z.%d.bed.gz" % rank).read_bytes()).decode()
        check(lines(text) == lines(box.text("run.segments.%d.bed" % rank)) and "rank %d" % rank in text.replace("=", " "), text[:500])
        check("z.%d.bed.gz.tbi" % rank in box.listing(), "no index")
    check(all(row[4] == "0" for row in bed_rows(text)), "score")
    check("p.bedgraph.gz" in box.listing(), "no posterior")
    box.ok("decode -p m.json --best 1000 -o many.bed x.npy")
    texts = files(box, "many")
    check(len(texts) == 1000 and len(set("\n".join(lines(text)) for text in texts)) == 1000, "%d files" % len(texts))


def test_pieces_without_a_segmentation(box):
    random_model(box, 1, initial="none", max_duration=3, labels=["a", "b"], transition=[["-inf", "-inf"], ["-inf", "-inf"]], start=[0, 0], end=[0, 0],
                 duration={"kind": "table", "bias": [[0, 0], [0, 0], [0, 0]]})
    box.write("x.npy", npy([[0, 0]] * 9, "<f4"))
    box.fails("decode -p m.json --best 4 -o out.bed x.npy", 3, "no segmentation")
    box.ok("decode -p m.json --best 4 -o out.bed --infeasible skip -r x:1-20 -r x:31- x.npy")
    texts = files(box)
    check(len(texts) == 2 and all(len(lines(text)) == 1 for text in texts), "%s" % texts)


def test_what_does_not_go_together(box):
    long_model(box, 50)
    for number in ("0", "1001", "-3", "two", "2.5"):
        box.fails("decode -p m.json --best %s -o out.bed x.npy" % number, 2, "--best")
    box.fails("decode -p m.json --best 2 x.npy", 2, "standard output", "give --output, for example out.bed")
    for more in ("--rule posterior", "--table t.tsv", "--boundaries b.tsv", "--review r.bed", "--extra-columns", "--score posterior", "--merge-adjacent"):
        box.fails("decode -p m.json --best 2 -o out.bed %s x.npy" % more, 2, "--best 2", more.split()[0])
    box.fails("decode -p m.json --best 2 -o out.bed --posterior out.2.bed x.npy", 2, "out.2.bed")


def test_cut_pieces(box):
    """The probabilities of all segmentations of a piece that was cut sum to 1, and the first is that of decode."""
    for seed in range(2):
        random_model(box, seed)
        for region in ("x:1-30", "x:21-", "x:11-40"):
            for engine, precision, tolerance in ENGINES:
                forget(box)
                common = "decode -p m.json -x %s --precision %s --edges censored -r %s x.npy" % (engine, precision, region)
                box.ok(common + " --best 200 -o out.bed --stats s.json")
                found, (sequence,) = [segments(text) for text in files(box)], sequences(box)
                check(len(set(map(tuple, found))) == len(found) < 200, "two are the same")
                check(abs(sum(map(math.exp, sequence["log_probability"])) - 1) < 10 * tolerance, "seed %d, %s, %s: %r" % (seed, region, engine, sequence))
                check(found[0] == segments(box.ok(common).stdout), "rank 1 is not the path of decode")
