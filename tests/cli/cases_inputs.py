"""What inputs are: missing values, chromosomes that tracks lack, names of tracks, samples, units and label formats."""

import json
import math

import make_inputs
from harness import bed_rows, check
from make_inputs import bigwig, bigwig_track, npy, npz, signal, track_parameters

NAN = float("nan")


def load(box, name):
    return json.loads(box.text(name))


def codes(box, name="stats.json"):
    return [warning["code"] for warning in load(box, name)["warnings"]]


def without_missing(box, name="track.json"):
    """The parameters do not say what a missing value means."""
    document = load(box, name)
    for track in document["tracks"]:
        track.pop("missing", None)
    box.write(name, json.dumps(document))


# Missing values

def array_with_gap(box, name="x.npy", rows=200, gap=60):
    values = [[v] for v in signal(rows)]
    values[50:50 + gap] = [[NAN]] * gap
    box.write(name, npy(values))


def test_nan_in_an_array_of_tracks_is_left_out_and_told(box):
    array_with_gap(box)
    track_parameters(box)
    without_missing(box)
    result = box.ok("decode -p track.json -o out.bed --stats stats.json x.npy")
    check("signal: 60 of 200 bins have no value; bins without a value are left out (missing: skip)" in result.stderr, "%s" % result)
    check("1 of 1 track lacks values" in result.stderr, "%s" % result)
    entry = load(box, "stats.json")["sequences"][0]
    check(entry["missing"] == 60 and entry["covered"] == 140 and entry["pieces"] == 2, "%s" % entry)
    check(entry["missing_values"] == [{"track": "signal", "bins": 60}], "%s" % entry)
    check(codes(box) == ["missing-values"], "%s" % codes(box))
    rows = bed_rows(box.text("out.bed"))
    check(not any(int(row[1]) < 1100 and int(row[2]) > 500 for row in rows), "%r" % rows)
    plan = box.ok("decode -p track.json -o plan.bed --dry-run x.npy")
    check("missing\tsignal: 60 of 200 bins have no value" in plan.stdout, "%s" % plan)


def test_missing_zero_of_an_array_counts_too(box):
    array_with_gap(box)
    track_parameters(box, missing="zero")
    for centering in ("none", "mean"):
        document = load(box, "track.json")
        document["centering"] = centering
        box.write("track.json", json.dumps(document))
        for more in ("", " -t 3", " --device reference", " --max-memory 200M"):
            result = box.ok("decode -p track.json -o out.bed --stats stats.json%s x.npy" % more)
            entry = load(box, "stats.json")["sequences"][0]
            check(entry["missing"] == 0 and entry["missing_values"][0]["bins"] == 60, "%s %s: %s" % (centering, more, entry))
            check("60 of 200 bins have no value; bins without a value count as 0 (missing: zero)" in result.stderr, "%s" % result)


def test_nan_in_label_scores_stays_an_error(box):
    box.write("x.npy", npy([[0.0] * 3] * 7 + [[0.0, NAN, 0.0]]))
    box.fails("decode -p scores.params.json -o out.bed x.npy", 3, "x.npy", "NaN", "7")


def test_bases_without_a_value_are_counted(box):
    track_parameters(box, tracks=["a", "b"])
    bigwig_track(box, "a.bw", sections=bigwig.bedgraph("chrA", [(0, 95, 1.0), (130, 400, 3.0)]))
    bigwig_track(box, "b.bw")
    for more in ("", " -t 3", " -x reference"):
        result = box.ok("decode -p track.json -o out.bed --stats stats.json%s a.bw b.bw" % more)
        check("a: 3 of 40 bins have no value, 35 bases in all have none; bases without a value count as 0 (missing: zero)" in result.stderr,
              "%s" % result)
        check("1 of 2 tracks lack values" in result.stderr, "%s" % result)
        check(load(box, "stats.json")["sequences"][0]["missing_values"] == [{"track": "a", "bins": 3, "bases": 35}], "stats")
        check("missing-values" not in codes(box), "%s" % codes(box))
    plan = box.ok("decode -p track.json -o plan.bed --dry-run a.bw b.bw").stdout
    check("missing\ta: 3 of 40 bins have no value, 35 bases" in plan, plan)
    # Only what regions ask for counts, and each bin once.
    box.ok("posterior -p track.json -o out.bg --stats stats.json -r chrA:1-120 -r chrA:141-300 a.bw b.bw")
    check(load(box, "stats.json")["sequences"][0]["missing_values"] == [{"track": "a", "bins": 2, "bases": 25}], "%s" % box.text("stats.json"))
    bigwig_track(box, "a.bw")
    quiet = box.ok("decode -p track.json -o out.bed --stats stats.json a.bw b.bw")
    check("missing" not in quiet.stderr, "%s" % quiet)
    check(load(box, "stats.json")["sequences"][0]["missing_values"] == [], "stats")


def test_a_track_without_a_value_on_a_chromosome_is_a_warning(box):
    track_parameters(box, tracks=["a", "b"])
    both = bigwig.fixed_step("chrA", 0, 10, signal()) + bigwig.fixed_step("chrB", 0, 10, signal(20))
    bigwig_track(box, "a.bw", {"chrA": 400, "chrB": 200, "chrC": 100}, both)
    bigwig_track(box, "b.bw", {"chrA": 400, "chrB": 200, "chrC": 100})
    result = box.ok("decode -p track.json -o out.bed --stats stats.json a.bw b.bw")
    check("track b has no value at all on chrB" in result.stderr, "%s" % result)
    check(codes(box) == ["no-values", "track-without-values"], "%s" % codes(box))
    # A region that has nothing to do with chrC says nothing of it.
    result = box.ok("decode -p track.json -o out.bed --stats stats.json -r chrA a.bw b.bw")
    check("chrC" not in result.stderr and codes(box) == [], "%s" % result)
    result = box.ok("decode -p track.json -o out.bed --stats stats.json -r chrC a.bw b.bw")
    check(codes(box) == ["no-values"], "%s" % result)


def test_missing_values_of_training(box):
    array_with_gap(box, "chrA.npy")
    runs = [(i, min(i + 70, 2000)) for i in range(0, 2000, 70)]
    box.write("labels.bed", "".join("chrA\t%d\t%d\t%s\n" % (a, b, "on" if n % 2 else "off") for n, (a, b) in enumerate(runs)))
    arguments = "train --labels labels.bed -b 10 --max-duration 20 --max-iterations 2 --stats stats.json "
    result = box.ok(arguments + "-o out.json chrA.npy")
    check("track1: 60 of 200 bins have no value" in result.stderr, "%s" % result)
    check(load(box, "out.json")["tracks"][0]["missing"] == "skip", "the default is not skip")
    check(load(box, "out.json")["training"]["positions"] == 140, "the missing bins were trained on")
    check(codes(box) == ["missing-values"], "%s" % codes(box))
    check("missing\ttrack1: 60 of 200" in box.ok(arguments + "--dry-run chrA.npy").stdout, "not in the plan")
    box.ok(arguments + "--missing zero -o out.json chrA.npy")
    check(load(box, "out.json")["training"]["positions"] == 200, "--missing zero")
    bigwig_track(box, "signal.bw", sections=bigwig.bedgraph("chrA", [(0, 100, 1.0), (130, 400, 3.0)]))
    box.write("short.bed", "chrA\t0\t90\ton\nchrA\t90\t300\toff\n")
    result = box.ok(arguments.replace("labels.bed", "short.bed") + "--tail -o out.json signal.bw")
    check("signal: 3 of 30 bins have no value, 30 bases" in result.stderr, "%s" % result)
    check(load(box, "out.json")["tracks"][0]["missing"] == "zero", "the default of bigWigs is not zero")


# Chromosomes that some tracks lack

def lacking_tracks(box):
    track_parameters(box, tracks=["a", "b"])
    more = bigwig.fixed_step("chrA", 0, 10, signal()) + bigwig.fixed_step("chrB", 0, 10, signal(20))
    bigwig_track(box, "a.bw", {"chrA": 400, "chrB": 200}, more)
    bigwig_track(box, "b.bw")


def test_tracks_that_lack_chromosomes(box):
    lacking_tracks(box)
    decode = "decode -p track.json -o out.bed "
    for files in ("a.bw b.bw", "b.bw a.bw"):
        box.fails(decode + files, 3, "b.bw", "chrB", "a.bw", "-g", "--chromosomes common", "--chromosomes union", "-r")
        box.ok(decode + "-r chrA " + files)
        check({row[0] for row in bed_rows(box.text("out.bed"))} == {"chrA"}, "-r chrA")
        box.fails(decode + "-r chrA -r chrB " + files, 3, "b.bw", "chrB", "--chromosomes")
        box.write("regions.bed", "chrA\t0\t100\n")
        box.ok(decode + "-L regions.bed " + files)
        result = box.ok(decode + "--chromosomes common " + files)
        check({row[0] for row in bed_rows(box.text("out.bed"))} == {"chrA"}, "common")
        check("chrB" in result.stderr and "#option chromosomes=common" in box.text("out.bed"), "%s" % result)
        result = box.ok(decode + "--stats stats.json --chromosomes union " + files)
        check({row[0] for row in bed_rows(box.text("out.bed"))} == {"chrA", "chrB"}, "union")
        check("track b has no value at all on chrB" in result.stderr, "%s" % result)
    box.write("sizes.txt", "chrA\t400\n")
    box.ok(decode + "-g sizes.txt a.bw b.bw")
    box.fails(decode + "--chromosomes some a.bw b.bw", 2, "--chromosomes", "common")
    # Missing policies hold on chromosomes that a file lacks.
    track_parameters(box, tracks=["a", "b"], missing="skip")
    box.ok(decode + "--chromosomes union a.bw b.bw")
    check({row[0] for row in bed_rows(box.text("out.bed"))} == {"chrA"}, "skip")
    track_parameters(box, tracks=["a", "b"], missing="error")
    box.fails(decode + "--chromosomes union a.bw b.bw", 3, "b.bw", "chrB")


def test_other_lengths_are_other_genomes(box):
    lacking_tracks(box)
    bigwig_track(box, "b.bw", {"chrA": 410})
    for more in ("", "-r chrA ", "--chromosomes union ", "--chromosomes common "):
        box.fails("decode -p track.json -o out.bed %sa.bw b.bw" % more, 3, "chrA", "400", "410")


def test_training_on_a_chromosome_that_all_have(box):
    lacking_tracks(box)
    box.write("labels.bed", "".join("chrA\t%d\t%d\t%s\n" % (i, i + 70, "on" if i % 140 else "off") for i in range(0, 350, 70)))
    train = "train --labels labels.bed -b 10 --max-duration 20 --max-iterations 2 -o out.json "
    box.fails(train + "a.bw b.bw", 3, "chrB", "--chromosomes")
    box.ok(train + "-r chrA a.bw b.bw")
    box.ok(train + "--chromosomes common a.bw b.bw")


# Names of tracks, and samples

def sample_tracks(box, samples=("GM12878", "K562"), tracks=("CTCF", "H3K27ac")):
    for number, sample in enumerate(samples):
        for shift, track in enumerate(tracks):
            values = signal(47)[number + shift:][:40]
            bigwig_track(box, "%s.%s.bw" % (sample, track), sections=bigwig.fixed_step("chrA", 0, 10, values))
    return ["%s.%s.bw" % (samples[0], track) for track in tracks]


def test_headers_name_what_each_file_is(box):
    track_parameters(box, tracks=["a", "b"])
    bigwig_track(box, "x.bw")
    bigwig_track(box, "y.bw", sections=bigwig.fixed_step("chrA", 0, 10, signal()[::-1]))
    inputs = lambda text: [line for line in text.splitlines() if line.startswith("#input")]
    one = inputs(box.ok("decode -p track.json a=x.bw b=y.bw").stdout)
    other = inputs(box.ok("decode -p track.json a=y.bw b=x.bw").stdout)
    size = box.path("x.bw").stat().st_size
    check(one[0] == "#input a=x.bw bytes=%d" % size and one[1].startswith("#input b=y.bw bytes="), "%s" % one)
    check(one != other, "the binding does not show")
    # One file may be two tracks; arrays have the name of their sequence.
    check(len(inputs(box.ok("decode -p track.json a=x.bw b=x.bw").stdout)) == 2, "a file twice")
    check(inputs(box.ok("decode -p scores.params.json chrZ=scores.npy").stdout)[0].startswith("#input chrZ=scores.npy bytes="), "array")
    npz(box.path("all.npz"), [("chrQ.npy", box.path("scores.npy").read_bytes())])
    check(inputs(box.ok("decode -p scores.params.json all.npz").stdout)[0].startswith("#input all.npz bytes="), "archive")


def test_track_pattern(box):
    files = sample_tracks(box)
    track_parameters(box, tracks=["CTCF", "H3K27ac"])
    result = box.fails(["decode", "-p", "track.json", "-o", "out.bed"] + files, 3, '"GM12878.CTCF"', "CTCF, H3K27ac", "NAME=GM12878.CTCF.bw",
                       "--track-pattern '{sample}.{track}.bw'")
    pattern = ["--track-pattern", "{sample}.{track}.bw"]
    named = box.ok(["decode", "-p", "track.json", "CTCF=" + files[0], "H3K27ac=" + files[1]]).stdout
    check(box.ok(["decode", "-p", "track.json"] + pattern + files).stdout == named, "another result")
    box.write("d/GM12878/CTCF.bw", box.path(files[0]).read_bytes())
    box.write("d/GM12878/H3K27ac.bw", box.path(files[1]).read_bytes())
    found = box.ok(["posterior", "-p", "track.json", "--track-pattern", "{sample}/{track}.bw", "d/GM12878/CTCF.bw", "d/GM12878/H3K27ac.bw"])
    check(bed_rows(found.stdout), "%s" % result)
    box.ok(["simulate", "-p", "track.json", "-o", "draw.bed"] + pattern + files)
    box.fails(["decode", "-p", "track.json"] + pattern + [files[0], "K562.H3K27ac.bw"], 3, "K562", "GM12878", files[0])
    box.ok(["decode", "-p", "track.json"] + pattern + [files[0], "H3K27ac=K562.H3K27ac.bw"])
    bigwig_track(box, "plain.bw")
    box.fails(["decode", "-p", "track.json"] + pattern + ["plain.bw", files[1]], 3, "plain.bw", "{sample}.{track}.bw", "NAME=plain.bw")
    for bad in ("x.bw", "{sample}.bw", "{track}{track}.bw", "{mark}.bw", "{track.bw"):
        box.fails(["decode", "-p", "track.json", "--track-pattern", bad] + files, 2, "--track-pattern")
    box.fails(["decode", "-p", "scores.params.json"] + pattern + ["scores.npy"], 2, "--track-pattern", "scores.npy")


def sheet(box, samples=("GM12878", "K562"), name="sheets/samples.tsv"):
    rows = ["sample\tpath\ttrack\tnote"] + ["%s\t../%s.%s.bw\t%s\t-" % (sample, sample, track, track)
                                           for sample in samples for track in ("CTCF", "H3K27ac")]
    return box.write(name, "# a comment\n" + "\n".join(rows) + "\n")


def test_sample_sheet(box):
    sample_tracks(box)
    track_parameters(box, tracks=["CTCF", "H3K27ac"])
    sheet(box)
    for command in ("decode", "posterior", "simulate"):
        plain = box.ok("%s -p track.json CTCF=K562.CTCF.bw H3K27ac=K562.H3K27ac.bw" % command).stdout
        found = box.ok("%s -p track.json --samples sheets/samples.tsv --sample K562" % command).stdout
        check(bed_rows(found) == bed_rows(plain), command)
        check("#input CTCF=K562.CTCF.bw bytes=" in found and "#option sample=K562" in found, found[:400])
    decode = "decode -p track.json -o out.bed --samples sheets/samples.tsv"
    box.fails(decode, 2, "sheets/samples.tsv", "2 samples", "GM12878, K562", "--sample NAME")
    box.fails(decode + " --sample HepG2", 2, "HepG2", "GM12878, K562")
    box.fails(decode + " --sample GM12878,K562", 2, "choose one")
    box.fails(decode + " --sample K562 K562.CTCF.bw", 2, "--samples")
    box.fails("decode -p track.json -o out.bed --sample K562 K562.CTCF.bw", 2, "--samples")
    box.fails("decode -p track.json -o K562.CTCF.bw --samples sheets/samples.tsv --sample K562", 2, "K562.CTCF.bw")
    box.fails("decode -p track.json", 2, "INPUT is required", "--samples")
    sheet(box, ["K562"], "one.tsv")
    box.write("one.tsv", box.text("one.tsv").replace("../", ""))
    box.ok("decode -p track.json -o out.bed --samples one.tsv")
    box.write("truth.bed", box.text("out.bed"))
    box.ok("eval --truth truth.bed -p track.json --samples one.tsv out.bed")
    for text, place in (("sample\ttrack\nA\tx\n", "line 1"), ("sample\ttrack\tpath\nA\tx\n", "line 2"), ("sample\ttrack\tpath\n", "no row"),
                        ("sample\ttrack\tpath\nA\tx\tK562.CTCF.bw\nA\tx\tK562.CTCF.bw\n", "line 3"),
                        ("sample\ttrack\tpath\nA\t\tK562.CTCF.bw\n", "line 2"), ("sample\ttrack\tpath\nA\tx\tK562.CTCF.bw\n", "line 2"),
                        ("sample\ttrack\tpath\nA\tx\tscores.npy\n", "line 2")):
        box.write("bad.tsv", text)
        box.fails("decode -p track.json -o out.bed --samples bad.tsv", 3, "bad.tsv", place)
    box.fails("decode -p track.json -o out.bed --samples absent.tsv", 4, "absent.tsv")


def sample_labels(box):
    box.write("labels.bed", "".join("chrA\t%d\t%d\t%s\n" % (i, min(i + 70, 400), "on" if i % 140 else "off") for i in range(0, 400, 70)))
    return "train --labels labels.bed -b 10 --max-duration 20 --max-iterations 3 "


def test_training_on_samples(box):
    sample_tracks(box)
    sheet(box)
    train = sample_labels(box)
    box.ok(train + "-o one.json --samples sheets/samples.tsv --sample GM12878")
    one = load(box, "one.json")
    check([track["name"] for track in one["tracks"]] == ["CTCF", "H3K27ac"], "%s" % one["tracks"])
    check({"samples", "track", "labels"} == {entry["role"] for entry in one["training"]["files"]}, "%s" % one["training"])
    for centering in ("none", "mean"):
        result = box.ok(train + "-o both.json --centering %s --samples sheets/samples.tsv --sample GM12878,K562" % centering)
        made = load(box, "both.json")["training"]
        check(made["positions"] == 80 and made["pieces"] == 2, "%s" % made)
        check("K562: CTCF <- K562.CTCF.bw" in result.stderr, "%s" % result)
    box.fails(train + "-o out.json --samples sheets/samples.tsv", 2, "GM12878, K562", "--sample NAME")
    box.ok("decode -p both.json -o out.bed --samples sheets/samples.tsv --sample K562")


def test_training_proposes_names_without_the_sample(box):
    files = sample_tracks(box)
    train = (sample_labels(box) + "-o out.json").split()
    result = box.ok(train + files)
    check("--track-pattern '{sample}.{track}.bw'" in result.stderr and "GM12878.CTCF" in result.stderr, "%s" % result)
    check("--track-pattern" in box.ok(train + ["--dry-run"] + files).stdout, "not in the plan")
    result = box.ok(train + ["--track-pattern", "{sample}.{track}.bw"] + files)
    check("--track-pattern" not in result.stderr, "%s" % result)
    check([track["name"] for track in load(box, "out.json")["tracks"]] == ["CTCF", "H3K27ac"], "names")
    box.ok(["decode", "-p", "out.json", "-o", "out.bed", "--track-pattern", "K562.{track}.bw", "K562.CTCF.bw", "K562.H3K27ac.bw"])
    for track in ("CTCF", "H3K27ac"):
        box.write("%s.rep.1.bw" % track, box.path("K562.%s.bw" % track).read_bytes())
        box.write("a.b.%s.bw" % track, box.path("K562.%s.bw" % track).read_bytes())
    for names, pattern in ((("CTCF.rep.1.bw", "H3K27ac.rep.1.bw"), "{track}.{sample}.bw"), (("a.b.CTCF.bw", "a.b.H3K27ac.bw"), "a.b.{track}.bw")):
        result = box.ok(train + list(names))
        check("--track-pattern '%s'" % pattern in result.stderr, "%s" % result)
        box.ok(train + ["--track-pattern", pattern] + list(names))
    result = box.ok(train + ["CTCF=" + files[0], "H3K27ac=" + files[1]])
    check("--track-pattern" not in result.stderr, "%s" % result)
