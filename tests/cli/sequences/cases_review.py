"""decode --review: the uncertain boundaries, against an enumeration of all segmentations and against --boundaries."""

import gzip
import json
import re
import struct

from cases_decode import expected_interval, segments, table_rows
from cases_expectations import ENGINES, long_input, outputs_of, random_model, segmentations
from harness import bed_rows, check
from make_inputs import npy, npy_header, npz, parameters

BOUNDARIES = "#chrom position from to p lower upper".split()
BIN = 10


def counts(text):
    """The numbers of the comment above the lines: boundaries, uncertain ones, those without an interval."""
    line = [line for line in text.splitlines() if line.startswith("#review ")]
    check(len(line) == 1, "%d lines #review" % len(line))
    return [int(part.split("=")[1]) for part in line[0].split()[1:]]


def expected_boundaries(path, starts, probability, labels, level, merge):
    """Every boundary of a path from the definition: (position, from, to, P(start), interval, bins that were searched)."""
    found = []
    for n in range(1, len(path)):
        (left, at, before), (_, end, after) = path[n - 1], path[n]
        if merge and before == after:
            continue
        c = labels.index(after)
        interval = expected_interval(path, n, starts, probability, c, level)
        found.append((at, before, after, starts[at][c], interval, (left, end - 1)))
    return found


def expected_lines(boundaries):
    """(start, end, name, 1000 p, boundary) of the uncertain ones in their order, positions in bins."""
    lines = []
    for at, before, after, p, interval, searched in boundaries:
        if interval is None or interval[0] < interval[1]:
            first, last = interval or searched
            lines.append((p, at, (first, last + 1, before + ">" + after, 1000 * p, at)))
    return [line for _, _, line in sorted(lines)]


def check_lines(rows, expected, what):
    check(len(rows) == len(expected), "%s: %d lines, expected %d: %r" % (what, len(rows), len(expected), expected))
    for one, other in zip(expected, expected[1:]):
        check(one[3] <= other[3], "%s: the least certain is not first" % what)
    key = lambda at: at[4]
    rows, expected = sorted(rows, key=lambda row: int(row[6])), sorted(expected, key=key)  # of equals rounding decides
    for row, (first, end, name, score, at) in zip(rows, expected):
        shown = ["x", str(BIN * first), str(BIN * end), name, row[4], ".", str(BIN * at), str(BIN * (at + 1)), row[8]]
        check(row == shown and abs(int(row[4]) - score) < 0.52, "%s: %r, expected %r" % (what, row, shown))


def test_intervals_and_review_equal_the_enumeration(box):
    kinds = {"none": 0, "wide": 0, "bin": 0, "joined": 0}
    for seed in range(24):
        model, scores = random_model(box, seed)
        starts = [[0.0] * len(model.labels) for _ in scores]
        paths = segmentations(scores, model)[0]
        for path, p in paths:
            for begin, _, c in path:
                starts[begin][c] += p
        probability = lambda label, lower, upper: sum(
            p for path, p in paths if any(c == label and lower <= begin <= upper for begin, _, c in path))
        for engine, precision, _ in ENGINES:
            level, merge = (0.3, 0.6, 0.95)[seed % 3], seed % 2 == 1
            rule = "posterior --gamma 0.7" if seed % 4 == 2 else "viterbi"
            run = "decode -p m.json -x %s --precision %s --rule %s " % (engine, precision, rule)
            path = segments(box.ok(run + "x.npy").stdout)
            box.ok(run + "--intervals %s --review r.bed --boundaries b.tsv -o o.bed x.npy%s"
                   % (level, " --merge-adjacent" if merge else ""))
            what = "seed %d, %s %s" % (seed, engine, precision)
            boundaries = expected_boundaries(path, starts, probability, model.labels, level, merge)
            rows = table_rows(box.text("b.tsv"), BOUNDARIES)
            check([row[5:] for row in rows] == [[str(BIN * t) for t in b[4] or ()] or [".", "."] for b in boundaries],
                  "%s: intervals %r, expected %r" % (what, rows, boundaries))
            lines = expected_lines(boundaries)
            rows = bed_rows(box.text("r.bed"))
            check([int(row[4]) for row in rows] == sorted(int(row[4]) for row in rows), "%s: order of %r" % (what, rows))
            check_lines(rows, lines, what)
            none = sum(b[4] is None for b in boundaries)
            check(counts(box.text("r.bed")) == [len(boundaries), len(lines), none], what + ": counts")
            kinds["none"] += none
            kinds["wide"] += len(lines) - none
            kinds["bin"] += len(boundaries) - len(lines)
            kinds["joined"] += len(path) - 1 - len(boundaries)
    check(min(kinds.values()) > 5, "a case is rare: %r" % kinds)


def test_order_over_sequences_and_pieces(box):
    """Least probable first over all of the run."""
    content = box.path("scores.npy").read_bytes()
    npz(box.path("all.npz"), [("two.npy", content), ("one.npy", content)])
    box.write("sizes.txt", "two\t2995\none\t3000\n")
    run = "decode -p scores.params.json -g sizes.txt -r two -r one:1-1500 -r one:1501-3000 --intervals 0.9 " \
          "--boundaries b.tsv -o o.bed --review r.bed all.npz"
    box.ok(run)
    segment = {(row[0], int(row[1])): row for row in bed_rows(box.text("o.bed"))}
    ends = {(row[0], int(row[2])): row for row in segment.values()}
    lines = []
    for n, (name, at, before, after, p, lower, upper) in enumerate(table_rows(box.text("b.tsv"), BOUNDARIES)):
        left, right = ends[name, int(at)], segment[name, int(at)]
        limit = 2995 if name == "two" else 3000
        first, end = (int(left[1]), int(right[2])) if lower == "." else (int(lower), min(int(upper) + 10, limit))
        if lower == "." or lower != upper:
            row = [name, str(first), str(end), before + ">" + after, str(round(1000 * float(p))), ".", at,
                   str(min(int(at) + 10, limit)), right[8]]
            lines.append((float(p), n, row))
    rows = bed_rows(box.text("r.bed"))
    check(sorted(rows) == sorted(line[2] for line in lines), "%r" % rows)
    printed = {tuple(line[2]): line[0] for line in lines}  # six digits
    found = [printed[tuple(row)] for row in rows]
    check(all(a <= b * 1.00001 for a, b in zip(found, found[1:])), "not the least certain first: %r" % found)
    check({row[0] for row in rows} == {"one", "two"} and len(rows) > 10, "too few lines")
    check(len({line[0] for line in lines}) < len(lines), "no two are as probable")


def test_the_worst_ones(box):
    run = "decode -p scores.params.json -o o.bed --review r.bed scores.npy"
    box.ok(run)
    text = box.text("r.bed")
    rows = bed_rows(text)
    check("#option intervals=0.95\n" in text and "#option review-top=200\n" in text, text[:500])
    for top in (1, 3, len(rows), len(rows) + 5):
        result = box.ok(run + " --review-top %d" % top)
        check(bed_rows(box.text("r.bed")) == rows[:top], "the first %d" % top)
        check("#option review-top=%d\n" % top in box.text("r.bed"), "not in the header")
        check(counts(box.text("r.bed")) == counts(text), "counts of --review-top %d" % top)
        check(("the %d least certain are listed" % top in result.stderr) == (top < len(rows)), result.stderr)


def test_bytes_do_not_depend_on_threads_or_windows(box):
    name = long_input(box)
    for precision in ("float", "double"):
        for more in ("", "-r long:1-3000 -r long:5001-9000 -r long:20001-500000 "):
            run = "decode -q -p scores.params.json --precision %s --review-top 100000 --review r.bed --boundaries b.tsv -o o.bed %s%s" \
                  % (precision, more, name)
            expected = outputs_of(box, run, ["r.bed", "b.tsv"])
            if not more:
                plan = box.ok(run + " --max-memory 39M --dry-run").stdout
                check(int(re.search(r"posterior: (\d+) windows", plan).group(1)) > 1, plan)
            check(len(bed_rows(box.text("r.bed"))) > 1000, "too few lines")
            for setting in ("-t 3", "--max-memory 39M", "-t 2 --max-memory 40M", "-t 3 --max-memory 40M"):
                check(outputs_of(box, run + " " + setting, ["r.bed", "b.tsv"]) == expected, "%s: other bytes" % setting)


def test_compressed_and_indexed_runs(box):
    box.ok("decode -p scores.params.json -o o.bed --review r.bed scores.npy")
    run = "decode -p scores.params.json -o o.bed.gz --review r.bed.gz --write-index scores.npy"
    result = box.ok(run)
    check(gzip.decompress(box.path("r.bed.gz").read_bytes()).decode() == box.text("r.bed"), "another content")
    check("o.bed.gz.tbi" in box.listing() and "r.bed.gz.tbi" not in box.listing(), "%s" % box.listing())
    check("r.bed.gz gets no index, because its lines are not sorted by position" in result.stderr, result.stderr)
    check("output\tplanned.bed\n" in box.ok("decode -p scores.params.json --review planned.bed --dry-run scores.npy").stdout,
          "the dry run does not list it")
    check("planned.bed" not in box.listing(), "a dry run wrote it")


def test_other_outputs_are_as_without_it(box):
    """The statistics are those of a run with --boundaries, which computes the same posteriors."""
    found = []
    for more in ("", " --review r.bed"):
        box.ok("decode -p scores.params.json -o o.bed --boundaries b.tsv --stats s.json scores.npy" + more)
        stats = json.loads(box.text("s.json"))
        found.append((box.text("o.bed"), box.text("b.tsv"), stats["sequences"], stats["warnings"]))
    check(found[0] == found[1], "--review changes other outputs")


def test_certain_boundaries_have_no_line(box):
    box.write("sure.npy", npy([[900, 0, 0]] * 20 + [[0, 900, 0]] * 20 + [[0, 0, 900]] * 20))
    parameters(box, "free.json", transition=[[0, 0, 0]] * 3, max_duration=20, centering="none",
               duration={"kind": "table", "bias": [[0, 0, 0]] * 20})
    result = box.ok("decode -p free.json -o o.bed --merge-adjacent --review r.bed sure.npy")
    check(bed_rows(box.text("r.bed")) == [] and counts(box.text("r.bed")) == [2, 0, 0], box.text("r.bed"))
    check("--review: 0 of 2 boundaries are uncertain\n" in result.stderr, result.stderr)


def test_the_search_ends_after_many_bins(box):
    """One boundary that may be anywhere in 60,000 bins, and is a little more likely at one of them."""
    reach, length, middle = 1 << 14, 60000, 25000
    row = lambda a, b: struct.pack("<2f", a, b)
    box.write("x.npy", npy_header(shape=(length, 2)) + row(50, 0) + row(0, 0) * (middle - 2) + row(0.5, 0) + row(0, 0.5)
              + row(0, 0) * (length - middle - 2) + row(0, 50))
    model = {"format": "semicrf-params", "format_version": "1.0", "labels": ["a", "b"], "max_duration": 1, "bin_size": BIN,
             "centering": "none", "initial": "none", "transition": [["-inf", 0], ["-inf", "-inf"]],
             "duration": {"kind": "table", "bias": [[0, 0]], "tail": [0.999999999, 0.999999999]}}
    box.write("m.json", json.dumps(model))
    box.ok("decode -p m.json -o o.bed --boundaries b.tsv --review r.bed x.npy")
    check([row[1:4] for row in bed_rows(box.text("o.bed"))]
          == [["0", str(BIN * middle), "a"], [str(BIN * middle), str(BIN * length), "b"]], "another path")
    check(table_rows(box.text("b.tsv"), BOUNDARIES)[0][5:] == [".", "."], "an interval")
    check_lines(bed_rows(box.text("r.bed")), [(middle - reach, middle + reach + 1, "a>b", 0, middle)], "reach")


def test_refusals(box):
    run = "decode -p scores.params.json -o o.bed scores.npy "
    box.fails(run + "--review-top 5", 2, "--review-top is given", "add --review FILE.bed")
    box.fails(run + "--intervals 0.9", 2, "--review FILE.bed")
    for top in ("0", "-1", "x", "1.5"):
        box.fails(run + "--review r.bed --review-top=%s" % top, 2, "must be a whole number of at least 1, not '%s'" % top)
    for level in ("0", "1"):
        box.fails(run + "--review r.bed --intervals %s" % level, 2, "must be a probability above 0 and below 1")
    box.fails(run + "--review o.bed", 2, "o.bed")
    box.fails(run + "--review scores.npy", 2, "scores.npy")
    box.fails(run + "--review nowhere/r.bed", 5, "nowhere")
    box.fails(run + "--review r.bw", 2, "bigWig")
