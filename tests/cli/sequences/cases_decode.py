"""decode: segments as BED, compared with files and with a plain Python implementation."""

import functools
import gzip
import json
import random
import re

import oracle
from harness import bed_rows, check
from make_inputs import bigwig, bigwig_track, npy, npz, parameters, signal, track_parameters

BGZF_END = bytes.fromhex("1f8b08040000000000ff0600424302001b0003000000000000000000")


def segments(text, bin_size=10):
    return [(int(row[1]) // bin_size, -(-int(row[2]) // bin_size), row[3]) for row in bed_rows(text)]


def test_segments_are_the_expected_ones(box):
    box.ok("decode -p scores.params.json -o out.bed scores.npy")
    box.matches("decode.bed", box.text("out.bed"))


def test_segments_have_the_best_score(box):
    text = box.ok("decode -p scores.params.json scores.npy").stdout
    model, scores = oracle.Model(box.path("scores.params.json")), oracle.read_npy(box.path("scores.npy"))
    found, best = oracle.path_score(scores, model, segments(text)), oracle.best_score(scores, model)
    check(abs(found - best) < 1e-9, "score %.12f, best %.12f" % (found, best))


def test_lines_are_bed9_and_tile_the_sequence(box):
    at = 0
    for row in bed_rows(box.ok("decode -p scores.params.json scores.npy").stdout):
        check(len(row) == 9 and row[0] == "scores" and row[5] == ".", "line %r" % row)
        check(int(row[1]) == at and row[6:8] == row[1:3], "line %r, expected a start of %d" % (row, at))
        check(all(0 <= int(part) <= 255 for part in row[8].split(",")), "colour %r" % row[8])
        at = int(row[2])
    check(at == 3000, "the last segment ends at %d" % at)


def test_standard_output_and_file_are_the_same(box):
    box.ok("decode -p scores.params.json -o out.bed scores.npy")
    for arguments in ("decode -p scores.params.json scores.npy", "decode -p scores.params.json -o - scores.npy"):
        check(box.ok(arguments).stdout == box.text("out.bed"), arguments)


def test_quiet_says_nothing(box):
    check(box.ok("decode -q -p scores.params.json -o out.bed scores.npy").stderr == "", "stderr is not empty")


def test_header_says_what_but_not_where_or_when(box):
    box.write("deep/scores.npy", box.path("scores.npy").read_bytes())
    box.ok(["decode", "-p", "scores.params.json", "-o", "out.bed", box.path("deep/scores.npy"), "-t", "2"])
    header = [line for line in box.text("out.bed").splitlines() if line.startswith("#")]
    check(header and header[0].startswith("#"), "no header")
    check("semicrf" in "".join(header) and "scores.npy" in "".join(header), "header %r" % header)
    check(str(box.folder) not in "".join(header), "an absolute path in %r" % header)
    box.ok("decode -p scores.params.json -o again.bed deep/scores.npy -t 1")
    check(box.text("again.bed") == box.text("out.bed"), "folder or threads are in the file")


def test_a_name_before_the_path_names_the_sequence(box):
    rows = bed_rows(box.ok("decode -p scores.params.json chr7=scores.npy").stdout)
    check({row[0] for row in rows} == {"chr7"}, "%r" % rows[0])


def test_part_of_a_chromosome(box):
    whole = segments(box.ok("decode -p scores.params.json scores.npy").stdout)
    part = bed_rows(box.ok("decode -p scores.params.json chr7:1001-4000=scores.npy").stdout)
    check([(int(row[1]) // 10 - 100, int(row[2]) // 10 - 100, row[3]) for row in part] == whole, "not moved by 1000")


def test_part_of_the_wrong_length(box):
    box.fails("decode -p scores.params.json chr7:1001-4100=scores.npy", 3, "chr7", "300", "310")


def test_chromosome_sizes_cut_the_last_bin(box):
    box.write("sizes.txt", "other\t50\nscores\t2995\n")
    rows = bed_rows(box.ok("decode -p scores.params.json -g sizes.txt scores.npy").stdout)
    check(rows[-1][2] == "2995", "%r" % rows[-1])
    box.write("genome.fa.fai", "scores\t2991\t8\t60\t61\n")
    rows = bed_rows(box.ok("decode -p scores.params.json -g genome.fa.fai scores.npy").stdout)
    check(rows[-1][2] == "2991", "%r" % rows[-1])


def test_chromosome_sizes_must_fit(box):
    for size in (2990, 3001):
        box.write("sizes.txt", "scores\t%d\n" % size)
        box.fails("decode -p scores.params.json -g sizes.txt scores.npy", 3, "scores", "300")
    box.write("sizes.txt", "chr1\t3000\n")
    box.fails("decode -p scores.params.json -g sizes.txt scores.npy", 3, "scores", "chr1")


def test_order_follows_the_sizes_file(box):
    content = box.path("scores.npy").read_bytes()
    box.write("b.npy", content)
    box.write("a.npy", content)
    names = [row[0] for row in bed_rows(box.ok("decode -p scores.params.json b.npy a.npy").stdout)]
    check(list(dict.fromkeys(names)) == ["b", "a"], "argument order is lost")
    box.write("sizes.txt", "a\t3000\nb\t3000\n")
    names = [row[0] for row in bed_rows(box.ok("decode -p scores.params.json -g sizes.txt b.npy a.npy").stdout)]
    check(list(dict.fromkeys(names)) == ["a", "b"], "the order of -g is not kept")


def test_npz_members_are_sequences(box):
    content = box.path("scores.npy").read_bytes()
    plain = box.ok("decode -p scores.params.json two.npy=scores.npy").stdout
    for compress in (False, True):
        npz(box.path("all.npz"), [("two.npy", content), ("one.npy", content)], compress)
        rows = bed_rows(box.ok("decode -p scores.params.json all.npz").stdout)
        check(list(dict.fromkeys(row[0] for row in rows)) == ["two", "one"], "names or order")
        half = [row[1:] for row in rows if row[0] == "two"]
        check(half == [row[1:] for row in bed_rows(plain)], "not what the array alone gives")


def test_array_types_and_layouts(box):
    rows = oracle.read_npy(box.path("scores.npy"))
    expected = bed_rows(box.ok("decode -p scores.params.json x=scores.npy").stdout)
    for descr in ("<f2", "<f4", "<f8", ">f2", ">f4", ">f8"):
        for order in (False, True):
            for version in ((1, 0), (2, 0), (3, 0)):
                box.write("x.npy", npy(rows, descr, order, version))
                found = bed_rows(box.ok("decode -p scores.params.json x.npy").stdout)
                check(found == expected, "%s, Fortran order %s, version %s" % (descr, order, version))


def test_content_and_not_the_extension_tells_the_kind(box):
    box.write("scores.dat", box.path("scores.npy").read_bytes())
    bigwig_track(box, "signal.npy")
    track_parameters(box)
    box.ok("decode -p scores.params.json scores.dat")
    box.ok("decode -p track.json signal.npy")


def test_regions_are_pieces_of_their_own(box):
    rows = oracle.read_npy(box.path("scores.npy"))
    model = oracle.Model(box.path("scores.params.json"))
    found = segments(box.ok("decode -p scores.params.json -r scores:501-1000 scores.npy").stdout)
    check(found[0][0] == 50 and found[-1][1] == 100, "%r" % found)
    piece = [(begin - 50, end - 50, label) for begin, end, label in found]
    score, best = oracle.path_score(rows[50:100], model, piece), oracle.best_score(rows[50:100], model)
    check(abs(score - best) < 1e-9, "score %.12f, best %.12f" % (score, best))


def test_regions_are_widened_sorted_and_merged(box):
    exact = box.ok("decode -p scores.params.json -r scores:1001-1500 -r scores:2001-2200 scores.npy").stdout
    for regions in ("-r scores:2003-2191 -r scores:1001-1300 -r scores:1295-1499",
                    "-r scores:1,001-1,500 -r scores:2,001-2,200"):
        found = box.ok("decode -p scores.params.json %s scores.npy" % regions).stdout
        check(bed_rows(found) == bed_rows(exact), regions)
    box.write("regions.bed", "scores\t2000\t2200\nscores\t1000\t1500\tname\n")
    check(bed_rows(box.ok("decode -p scores.params.json -L regions.bed scores.npy").stdout) == bed_rows(exact), "-L")


def test_a_region_may_be_a_whole_sequence(box):
    check(bed_rows(box.ok("decode -p scores.params.json -r scores scores.npy").stdout)
          == bed_rows(box.ok("decode -p scores.params.json scores.npy").stdout), "-r scores")


def test_excluded_bases_cut_the_sequence(box):
    box.write("exclude.bed", "scores\t1000\t1500\nelsewhere\t5\t10\n")
    left = bed_rows(box.ok("decode -p scores.params.json --exclude exclude.bed scores.npy").stdout)
    right = bed_rows(box.ok("decode -p scores.params.json -r scores:1-1000 -r scores:1501-3000 scores.npy").stdout)
    check(left == right, "not the same pieces")


def test_a_region_uses_the_mean_of_the_whole_sequence(box):
    parameters(box, "mean.json", centering="mean")
    rows = oracle.read_npy(box.path("scores.npy"))
    means = [sum(column) / len(rows) for column in zip(*rows)]
    centred = [[x - mean for x, mean in zip(row, means)] for row in rows]
    model = oracle.Model(box.path("scores.params.json"))
    for arguments, begin, end in (("", 0, 300), ("-r scores:1001-1900 ", 100, 190)):
        found = segments(box.ok("decode -p mean.json %sscores.npy" % arguments).stdout)
        piece = [(a - begin, b - begin, label) for a, b, label in found]
        score, best = oracle.path_score(centred[begin:end], model, piece), oracle.best_score(centred[begin:end], model)
        check(abs(score - best) < 1e-6, "score %.9f, best %.9f" % (score, best))


def test_bias_is_the_prior_odds_of_a_segment(box):
    """--bias LABEL=X is X more for every duration of that label: the same results as a file that says so."""
    model = json.loads(box.text("scores.params.json"))
    labels = [label if isinstance(label, str) else label["name"] for label in model["labels"]]
    plain = box.ok("decode -q -p scores.params.json scores.npy").stdout
    result = box.ok("posterior -q -p scores.params.json --bias %s=1.5 scores.npy" % labels[0])
    check("#option bias=%s=1.5\n" % labels[0] in result.stdout, "not in the header")
    bases = lambda text: sum(int(row[2]) - int(row[1]) for row in bed_rows(text) if row[3] == labels[0])
    more, less = (box.ok("decode -q -p scores.params.json --bias %s=%d scores.npy" % (labels[0], x)).stdout for x in (9, -9))
    check(bases(less) < bases(plain) < bases(more), "%d, %d, %d bases" % (bases(less), bases(plain), bases(more)))
    parameters(box, "table.json", duration={"kind": "table", "bias": [[0, 0, 0]] * 40}, max_duration=40)
    parameters(box, "biased.json", duration={"kind": "table", "bias": [[0.75, 0, -2]] * 40}, max_duration=40)
    names = [label if isinstance(label, str) else label["name"] for label in json.loads(box.text("table.json"))["labels"]]
    found = box.ok("posterior -q --precision double -p table.json --bias %s=0.75 --bias %s=-2 scores.npy" % (names[0], names[2])).stdout
    expected = box.ok("posterior -q --precision double -p biased.json scores.npy").stdout
    rows = lambda text: [line for line in text.splitlines() if not line.startswith("#")]
    check(rows(found) == rows(expected), "other posteriors than those of the file")
    for option in ("--bias nothing=1", "--bias %s" % names[0], "--bias %s=x" % names[0], "--bias %s=nan" % names[0],
                   "--bias %s=1 --bias %s=2" % (names[0], names[0])):
        box.fails("decode -p table.json %s scores.npy" % option, 2, "--bias")


def test_threshold_calls_where_the_posterior_exceeds_it(box):
    parameters(box, "m.json", transition=[[0, 0, 0]] * 3, duration={"kind": "table", "bias": [[0, 0, 0]] * 40}, max_duration=40)
    names = [label if isinstance(label, str) else label["name"] for label in json.loads(box.text("m.json"))["labels"]]
    box.ok("posterior -q -p m.json --digits 9 -o p.bg --labels-out l scores.npy")
    posterior = [{}, {}, {}]
    for c, name in enumerate(names):
        for row in bed_rows(box.text("l.%s.bedgraph" % name)):
            posterior[c].update((t, float(row[3])) for t in range(int(row[1]) // 10, int(row[2]) // 10))
    for threshold in (0.02, 0.3, 0.9):
        text = box.ok("decode -q -p m.json --threshold %s=%g scores.npy" % (names[1], threshold)).stdout
        check("#option rule=posterior\n" in text and "#option threshold=%s=%g\n" % (names[1], threshold) in text, text[:900])
        for row in bed_rows(text):
            for t in range(int(row[1]) // 10, int(row[2]) // 10):
                if abs(posterior[1].get(t, 0) - threshold) < 1e-6:
                    continue
                check((row[3] == names[1]) == (posterior[1].get(t, 0) >= threshold), "%r at %d: %r" % (row, t, posterior[1].get(t)))
    box.fails("decode -p m.json --threshold %s=0.3 --rule viterbi scores.npy" % names[1], 2, "--rule viterbi")
    box.fails("decode -p m.json --threshold %s=1.3 scores.npy" % names[1], 2, "is not a probability")
    box.fails("decode -p m.json --threshold x=0.3 scores.npy", 2, "no label 'x'")


def test_tables_without_comments(box):
    """--no-header-comments: the first line has the names of the columns, as pandas and R read them without an option."""
    run = "decode -q -p scores.params.json -o o.bed --table t.tsv --boundaries b.tsv --review r.bed scores.npy"
    box.ok(run)
    with_comments = {name: box.text(name) for name in ("o.bed", "t.tsv", "b.tsv", "r.bed")}
    box.ok(run + " --no-header-comments")
    for name, text in with_comments.items():
        lines = text.splitlines()
        names = [line[1:] for line in lines if line.startswith("#chrom")]
        check(box.text(name).splitlines() == names + [line for line in lines if not line.startswith("#")], name)
    box.write("c.bed", "scores\t0\t100\tboundary\n")
    table = box.ok("query -q -p scores.params.json --claims c.bed --no-header-comments scores.npy").stdout
    check(table.startswith("chrom\tstart\tend\tclaim\tprobability\tlog_odds\nscores\t"), table)
    box.ok("eval --truth o.bed --intervals b.tsv -b 10 --json e.json")


def test_merge_adjacent(box):
    parameters(box, "self.json", transition=[[0, 0, -1], [0, 0, 0], [-1, 0, 0]], max_duration=12)
    plain = segments(box.ok("decode -p self.json scores.npy").stdout)
    merged = []
    for begin, end, label in plain:
        if merged and merged[-1][2] == label:
            merged[-1] = (merged[-1][0], end, label)
        else:
            merged.append((begin, end, label))
    check(len(merged) < len(plain), "the test has nothing to merge")
    check(segments(box.ok("decode -p self.json --merge-adjacent scores.npy").stdout) == merged, "not merged")


def test_posterior_in_the_same_run(box):
    box.ok("decode -p scores.params.json -o out.bed --posterior out.bedgraph scores.npy")
    box.matches("decode_with_posterior.bed", box.text("out.bed"))
    alone = box.ok("posterior -p scores.params.json scores.npy").stdout
    check(bed_rows(box.text("out.bedgraph")) == bed_rows(alone), "not what posterior gives")
    check(segments(box.text("out.bed")) == segments(box.ok("decode -p scores.params.json scores.npy").stdout), "path")
    check(all(0 < int(row[4]) <= 1000 for row in bed_rows(box.text("out.bed"))), "the score column")


def test_score_column(box):
    """The mean posterior unless --score none; whatever the input is."""
    rows = {}
    for how in ([], ["--score", "posterior"], ["--score", "none"]):
        rows[" ".join(how)] = bed_rows(box.ok(["decode", "-p", "scores.params.json"] + how + ["scores.npy"]).stdout)
    check(all(int(row[4]) > 0 for row in rows["--score posterior"]), "no scores")
    check(rows[""] == rows["--score posterior"], "scores are there by default")
    check(all(row[4] == "0" for row in rows["--score none"]), "scores that were not asked for")
    tracks = sorted(p.name for p in box.folder.glob("codon_*.bw"))
    long = box.ok(["decode", "-p", "demo.params.json"] + tracks)
    check(all(int(row[4]) > 0 for row in bed_rows(long.stdout)), "no scores of tracks")
    check(box.ok(["decode", "-p", "demo.params.json", "-t", "3"] + tracks).stdout == long.stdout, "threads show")
    box.fails(["decode", "-p", "scores.params.json", "--score", "auto", "scores.npy"], 2, "posterior, none")


TABLE = "#chrom start end label p_label p_segment p_start p_end".split()


def table_rows(text, names):
    """The rows below the line of names, which is the last comment."""
    lines = [line.split("\t") for line in text.splitlines()]
    head = [line for line in lines if line[0].startswith("#")]
    check(head[-1] == names, "names %r" % head[-1])
    return lines[len(head):]


def test_table_of_segments(box):
    model = oracle.Model(box.path("scores.params.json"))
    scores = oracle.read_npy(box.path("scores.npy"))
    _, starts, ends = oracle.edge_posteriors(scores, model)
    for more in ([], ["--device", "reference"], ["-t", "3", "-r", "scores"]):
        result = box.ok(["decode", "-p", "scores.params.json", "--table", "out.tsv"] + more + ["scores.npy"])
        rows = table_rows(box.text("out.tsv"), TABLE)
        path = segments(result.stdout)
        check(all(len(row) == 9 for row in bed_rows(result.stdout)), "the BED file is BED9")
        check([row[:4] for row in rows] == [row[:4] for row in bed_rows(result.stdout)], "other segments")
        for row, bed in zip(rows, bed_rows(result.stdout)):
            check(abs(1000 * float(row[4]) - int(bed[4])) <= 0.51, "p_label of %r, score %s" % (row, bed[4]))
        for row, own, (begin, end, label) in zip(rows, oracle.segment_posteriors(scores, model, path), path):
            c = model.labels.index(label)
            for value, expected in ((row[5], own), (row[6], starts[begin][c]), (row[7], ends[end - 1][c])):
                check(abs(float(value) - expected) < 2e-5, "%s in %r, expected %g" % (value, row, expected))


def expected_interval(path, n, starts, probability, label, level):
    """The interval of the start of segment n, in bins, or None; taken from the definition in docs/users/formats.md."""
    (left, at, _), (_, end, _) = path[n - 1], path[n]
    lower = upper = at
    # The sum is never less than the probability, and sooner known.
    while sum(starts[t][label] for t in range(lower, upper + 1)) < level or probability(label, lower, upper) < level:
        sides = [(starts[t][label], -t, t) for t in (lower - 1, upper + 1) if left < t < end]
        if not sides:
            return None
        t = max(sides)[2]
        lower, upper = min(lower, t), max(upper, t)
    return lower, upper


def test_table_of_boundaries(box):
    model = oracle.Model(box.path("scores.params.json"))
    scores = oracle.read_npy(box.path("scores.npy"))
    log_z, starts, _ = oracle.edge_posteriors(scores, model)
    probability = functools.lru_cache(None)(functools.partial(oracle.start_probability, scores, model, log_z))
    intervals = 0
    for level, more in ((0.95, []), (0.5, ["--intervals", "0.5", "-t", "2"]), (0.999, ["--intervals", "0.999"])):
        result = box.ok(["decode", "-p", "scores.params.json", "--boundaries", "out.tsv", "--precision", "double"]
                        + more + ["scores.npy"])
        rows = table_rows(box.text("out.tsv"), "#chrom position from to p lower upper".split())
        check("#option intervals=%s" % level in box.text("out.tsv"), "the level is not in the header")
        path = segments(result.stdout)
        check(len(rows) == len(path) - 1 > 5, "%d rows" % len(rows))
        for n, row in enumerate(rows, 1):
            c = model.labels.index(path[n][2])
            check(row[:4] == ["scores", str(10 * path[n][0]), path[n - 1][2], path[n][2]], "row %r" % row)
            check(abs(float(row[4]) - starts[path[n][0]][c]) < 2e-6, "p of %r" % row)
            found = expected_interval(path, n, starts, probability, c, level)
            shown = [str(10 * t) for t in found] if found else [".", "."]
            check(row[5:] == shown, "interval of %r, expected %r" % (row, shown))
            intervals += found is not None and found[0] < found[1]
    check(intervals > 3, "all intervals are single bins")


def test_intervals_in_the_table_of_segments(box):
    box.ok("decode -p scores.params.json --table t.tsv --boundaries b.tsv --intervals 0.9 -o out.bed scores.npy")
    rows = table_rows(box.text("t.tsv"), TABLE + ["start_lower", "start_upper"])
    boundaries = table_rows(box.text("b.tsv"), "#chrom position from to p lower upper".split())
    check(rows[0][8:] == ["0", "0"], "the first segment starts where the piece does: %r" % rows[0])
    check([row[8:] for row in rows[1:]] == [row[5:] for row in boundaries], "intervals differ")
    box.fails("decode -p scores.params.json --intervals 0.9 scores.npy", 2, "--boundaries FILE.tsv")
    for level in ("0", "1", "x", "-1"):
        box.fails("decode -p scores.params.json --boundaries c.tsv --intervals=%s scores.npy" % level, 2,
                  "must be a probability above 0 and below 1")


def test_tables_do_not_depend_on_windows_or_threads(box):
    tracks = sorted(p.name for p in box.folder.glob("codon_*.bw"))
    texts = set()
    for more in ([], ["-t", "3"], ["--max-memory", "128M"]):
        box.ok(["decode", "-p", "demo.params.json", "-o", "out.bed", "--table", "t.tsv", "--boundaries", "b.tsv",
                "--intervals", "0.9"] + more + tracks)
        texts.add((box.text("out.bed"), box.text("t.tsv"), box.text("b.tsv")))
    check(len(texts) == 1, "threads or memory show")


def test_tables_of_merged_segments(box):
    parameters(box, "self.json", transition=[[0, 0, -1], [0, 0, 0], [-1, 0, 0]])
    command = "decode -p self.json --table t.tsv --boundaries b.tsv --merge-adjacent -o out.bed scores.npy"
    box.ok(command)
    rows = table_rows(box.text("t.tsv"), TABLE)
    check([row[:4] for row in rows] == [row[:4] for row in bed_rows(box.text("out.bed"))], "other segments")
    check(any(row[5] == "." for row in rows) and any(row[5] != "." for row in rows), "nothing was joined")
    boundaries = table_rows(box.text("b.tsv"), "#chrom position from to p lower upper".split())
    check([row[1] for row in boundaries] == [row[1] for row in rows[1:]], "boundaries inside joined segments")
    check(all(row[2] != row[3] for row in boundaries), "a boundary between the same labels")


def test_extra_columns_say_that_they_are_not_bed(box):
    result = box.ok("decode -p scores.params.json --extra-columns scores.npy")
    check("--table" in result.stderr and "[extra-columns]" in result.stderr, result.stderr)
    comment = [line for line in result.stdout.splitlines() if line.startswith("#columns")]
    check(len(comment) == 1 and "cut -f 1-9" in comment[0], "%r" % comment)


def test_extra_columns(box):
    model = oracle.Model(box.path("scores.params.json"))
    scores = oracle.read_npy(box.path("scores.npy"))
    _, starts, ends = oracle.edge_posteriors(scores, model)
    for more in ([], ["--posterior", "out.bedgraph"], ["--device", "reference"], ["-t", "3"], ["-t", "3", "-r", "scores"]):
        result = box.ok(["decode", "-p", "scores.params.json", "--extra-columns"] + more + ["scores.npy"])
        rows = bed_rows(result.stdout)
        check(all(len(row) == 12 and 0 < int(row[4]) <= 1000 for row in rows), "%r" % rows[0])
        exact = oracle.segment_posteriors(scores, model, segments(result.stdout))
        for row, own, (begin, end, label) in zip(rows, exact, segments(result.stdout)):
            check(abs(float(row[9]) - own) < 2e-5, "posterior of the segment in %r, expected %g" % (row, own))
            check(float(row[9]) <= min(float(row[10]), float(row[11])), "more than start or end in %r" % row)
            c = model.labels.index(label)
            check(abs(float(row[10]) - starts[begin][c]) < 2e-5, "start posterior in %r" % row)
            check(abs(float(row[11]) - ends[end - 1][c]) < 2e-5, "end posterior in %r" % row)


def test_extra_columns_of_merged_segments(box):
    parameters(box, "self.json", transition=[[0, 0, -1], [0, 0, 0], [-1, 0, 0]])
    plain = bed_rows(box.ok("decode -p self.json --extra-columns scores.npy").stdout)
    for row in bed_rows(box.ok("decode -p self.json --extra-columns --merge-adjacent scores.npy").stdout):
        first = next(part for part in plain if part[1] == row[1])
        last = next(part for part in plain if part[2] == row[2])
        exact = first[9] if first is last else "."
        check(row[9:] == [exact, first[10], last[11]], "%r joins %r to %r" % (row, first, last))


def test_extra_columns_of_many_short_pieces(box):
    regions = [word for start in range(1, 1100, 100) for word in ("-r", "scores:%d-%d" % (start, start + 59))]
    one, many = (box.ok(["decode", "-p", "scores.params.json", "--extra-columns", "-t", threads] + regions + ["scores.npy"])
                 for threads in "13")
    check(one.stdout == many.stdout, "the number of threads shows")


def test_labels_carry_their_colours(box):
    parameters(box, "color.json", labels=[{"name": "low", "color": "#010203"}, "mid", {"name": "high", "color": "#ff8000"}])
    colours = {row[3]: row[8] for row in bed_rows(box.ok("decode -p color.json scores.npy").stdout)}
    check(colours["low"] == "1,2,3" and colours["high"] == "255,128,0", "%r" % colours)


def test_bgzip_and_index(box):
    box.ok("decode -p scores.params.json -o out.bed scores.npy")
    box.ok("decode -p scores.params.json -o out.bed.gz --write-index scores.npy")
    packed = box.path("out.bed.gz").read_bytes()
    check(gzip.decompress(packed).decode() == box.text("out.bed"), "the text differs")
    check(packed.startswith(b"\x1f\x8b\x08\x04") and packed.endswith(BGZF_END), "not a whole bgzip file")
    check(gzip.decompress(box.path("out.bed.gz.tbi").read_bytes())[:4] == b"TBI\1", "no tabix index")
    check(not box.path("out.bed.gz.csi").exists(), "two indexes")


def test_index_beyond_512_megabases_is_csi(box):
    box.ok("decode -p scores.params.json -o out.bed.gz --write-index big:600000001-600003000=scores.npy")
    check(gzip.decompress(box.path("out.bed.gz.csi").read_bytes())[:4] == b"CSI\1", "no CSI index")
    check(not box.path("out.bed.gz.tbi").exists(), "a tabix index that cannot hold the positions")


def test_bigwig_demo(box):
    box.ok(["decode", "-p", "demo.params.json", "-o", "out.bed"] + sorted(p.name for p in box.folder.glob("codon_*.bw")))
    box.matches("demo.bed", box.text("out.bed"))
    truth, found = bed_rows(box.text("genes.bed")), bed_rows(box.text("out.bed"))
    same = sum(max(0, min(int(a[2]), int(b[2])) - max(int(a[1]), int(b[1]))) for a in truth for b in found if a[3] == b[3])
    check(same > 0.85 * 30000, "only %d of 30000 bases agree with the annotation" % same)


def test_bigwigs_are_bound_by_name(box):
    plain = box.ok(["decode", "-p", "demo.params.json"] + sorted(p.name for p in box.folder.glob("codon_*.bw"))).stdout
    named = []
    for number, item in enumerate(sorted(box.folder.glob("codon_*.bw"))):
        box.write("t%d.bw" % number, item.read_bytes())
        named.append("%s=t%d.bw" % (item.stem, number))
    found = box.ok(["decode", "-p", "demo.params.json"] + named[::-1])
    check(bed_rows(found.stdout) == bed_rows(plain), "the order of the arguments matters")
    check("codon_fwd0" in found.stderr and "t0.bw" in found.stderr, "the binding is not printed:\n%s" % found)


def test_labels_as_bigwigs(box):
    parameters(box, "two.json", labels=["off", "on"], transition=[["-inf", -1], [-1, "-inf"]], duration={"kind": "uniform"})
    bigwig_track(box, "off.bw", sections=bigwig.fixed_step("chrA", 0, 10, [0.5] * 40))
    bigwig_track(box, "on.bw")
    rows = segments(box.ok("decode -p two.json on.bw off.bw").stdout)
    check(rows[1][:2] == (7, 12) or rows[1][:2] == (7, 14), "%r" % rows[:3])


def test_bigwig_layouts_agree(box):
    track_parameters(box)
    values = signal()
    layouts = {"fixed": bigwig.fixed_step("chrA", 0, 10, values),
               "variable": bigwig.variable_step("chrA", 10, [(10 * i, v) for i, v in enumerate(values)]),
               "bedgraph": bigwig.bedgraph("chrA", [(10 * i, 10 * i + 10, v) for i, v in enumerate(values)]),
               "bases": bigwig.bedgraph("chrA", [(i, i + 1, values[i // 10]) for i in range(400)])}
    found = {}
    for name, sections in layouts.items():
        for compress in (True, False):
            bigwig_track(box, "x.bw", sections=sections, compress=compress)
            found[name, compress] = bed_rows(box.ok("decode -p track.json signal=x.bw").stdout)
    first = found["fixed", True]
    check([row[1:4] for row in first[:2]] == [["0", "70", "off"], ["70", "140", "on"]], "%r" % first[:2])
    for key, rows in found.items():
        check(rows == first, "%s, compressed %s" % key)


def test_missing_values(box):
    sections = bigwig.fixed_step("chrA", 100, 10, signal(20))
    bigwig_track(box, "signal.bw", sections=sections)
    for missing, first, last in (("zero", "0", "400"), ("skip", "100", "300")):
        track_parameters(box, missing=missing)
        rows = bed_rows(box.ok("decode -p track.json signal.bw").stdout)
        check(rows[0][1] == first and rows[-1][2] == last, "%s: %r" % (missing, rows))
    track_parameters(box, missing="error")
    box.fails("decode -p track.json signal.bw", 3, "signal.bw", "chrA")


def test_chromosomes_without_a_value(box):
    bigwig_track(box, "signal.bw", {"chrA": 400, "chrB": 200})
    track_parameters(box)
    result = box.ok("decode -p track.json --stats stats.json signal.bw")
    check({row[0] for row in bed_rows(result.stdout)} == {"chrA"}, "chrB was decoded")
    stats = json.loads(box.text("stats.json"))
    check([(entry["name"], entry["covered"]) for entry in stats["sequences"]] == [("chrA", 40), ("chrB", 0)], "stats")
    check(stats["warnings"], "no warning")
    result = box.ok("decode -p track.json --all-chromosomes signal.bw")
    check({row[0] for row in bed_rows(result.stdout)} == {"chrA", "chrB"}, "--all-chromosomes")


def test_engines_agree(box):
    found = [bed_rows(box.ok("decode -p scores.params.json --device %s --precision %s scores.npy" % pair).stdout)
             for pair in (("cpu", "float"), ("cpu", "double"), ("reference", "double"), ("auto", "float"))]
    check(all(rows == found[0] for rows in found), "engines or precisions differ on exact scores")


def test_automatic_device_says_what_it_chose(box):
    result = box.ok("decode -p scores.params.json --device auto -o out.bed scores.npy")
    check("cpu" in result.stderr, "%s" % result)


def test_same_bytes_for_any_threads_and_memory(box):
    tracks = sorted(p.name for p in box.folder.glob("codon_*.bw"))
    expected = None
    for option in ("-t 1", "-t 2", "-t 3", "-@ 8", "--max-memory 8G", "--max-memory 500M", "--max-memory 200M"):
        box.ok(["decode", "-p", "demo.params.json", "-o", "out.bed", "--posterior", "out.bedgraph"] + option.split() + tracks)
        found = (box.path("out.bed").read_bytes(), box.path("out.bedgraph").read_bytes())
        expected = expected or found
        check(found == expected, "%s gives other bytes" % option)


def test_too_little_memory_is_known_before_the_run(box):
    box.fails("decode -p scores.params.json --max-memory 1K -o out.bed scores.npy", 6)


def test_dry_run_computes_nothing(box):
    before = box.listing()
    result = box.ok("decode -p scores.params.json -o out.bed --stats stats.json --dry-run scores.npy")
    check(box.listing() == before, "files appeared: %s" % box.listing())
    text = result.stdout + result.stderr
    check("scores" in text and "300" in text, "bins and order are not told:\n%s" % text)


def test_log_file(box):
    box.ok("decode -q -p scores.params.json -o out.bed --log-file run.log scores.npy")
    check(box.text("run.log").strip(), "the log is empty")


def test_features_in_one_window_and_in_several(box):
    """Scores that are made of features once for all analyses, where each has the piece in one window, are those of windows."""
    track_parameters(box, tracks=("one", "two"), emission={"weights": [[0, 0.25], [1, -0.5]], "bias": [0, -1]},
                     boundary={"window": [-1, 1], "start_weights": [[0.1] * 6, [0.2] * 6], "end_weights": [[0] * 6, [-0.1] * 6]})
    draw = random.Random(5)
    box.path("x.npy").write_bytes(npy([[draw.choice((0, 1, 3)), draw.random()] for _ in range(150000)]))
    found = set()
    for memory, windows in (("2G", "1 window of"), ("48M", " windows of")):
        command = "decode -q -p track.json --table t.tsv --boundaries b.tsv --posterior p.bedgraph --max-memory %s -o o.bed x.npy" % memory
        plan = box.ok(command + " --dry-run").stdout
        check(re.search("posterior: [0-9]*%s" % windows, plan), plan)
        box.ok(command)
        found.add("".join(re.sub("^#option max-memory.*\n", "", box.text(name), flags=re.M) for name in ("o.bed", "t.tsv", "b.tsv", "p.bedgraph")))
    check(len(found) == 1, "other bytes")
