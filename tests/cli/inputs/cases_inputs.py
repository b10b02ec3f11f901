"""What inputs are: missing values, chromosomes that tracks lack, names of tracks, samples, units and label formats."""

import json
import math
import pathlib
import zipfile

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
    check(entry["missing_values"] == [{"track": "signal", "bins": 60, "policy": "skip"}], "%s" % entry)
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
        check(load(box, "stats.json")["sequences"][0]["missing_values"] == [{"track": "a", "bins": 3, "bases": 35, "policy": "zero"}], "stats")
        check("missing-values" not in codes(box), "%s" % codes(box))
    plan = box.ok("decode -p track.json -o plan.bed --dry-run a.bw b.bw").stdout
    check("missing\ta: 3 of 40 bins have no value, 35 bases" in plan, plan)
    # Only what regions ask for counts, and each bin once.
    box.ok("posterior -p track.json -o out.bg --stats stats.json -r chrA:1-120 -r chrA:141-300 a.bw b.bw")
    check(load(box, "stats.json")["sequences"][0]["missing_values"] == [{"track": "a", "bins": 2, "bases": 25, "policy": "zero"}], "%s" % box.text("stats.json"))
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


def test_what_chromosome_sizes_leave_out_is_said(box):
    """-g chooses chromosomes; those of the tracks that it leaves out are named, in one line."""
    def tracks(name, chromosomes):
        bigwig_track(box, name, chromosomes, [part for one in chromosomes for part in bigwig.fixed_step(one, 0, 10, signal(chromosomes[one] // 10))])

    many = {"scaffold%02d" % i: 40 for i in range(1, 30)}
    tracks("signal.bw", dict(many, chr1=400, chr2=400))
    track_parameters(box)
    box.write("sizes", "chr2\t400\n")
    for command in ("decode -p track.json -g sizes -o o.bed signal.bw", "posterior -p track.json -g sizes -o o.bedgraph signal.bw"):
        said = box.ok(command + " --stats s.json").stderr
        line, = [line for line in said.splitlines() if "[chromosomes-left-out]" in line]
        check("sizes leaves out 30 chromosomes of the tracks that it does not list (" in line and "more" in line and len(line) < 300, line)
        check({row[0] for row in bed_rows(box.text(command.split()[-2]))} == {"chr2"}, "other chromosomes")
        check("chromosomes-left-out" in [warning["code"] for warning in json.loads(box.text("s.json"))["warnings"]], box.text("s.json"))
    box.write("l.bed", "chr2\t0\t70\toff\nchr2\t70\t140\ton\nchr2\t140\t210\toff\nchr2\t210\t280\ton\n")
    for command in ("train -b 10 --labels l.bed --max-iterations 2 --max-duration 9 -o n.json", "learn --labels 2 -b 10 --max-iterations 2 --max-duration 9 -o n.json",
                    "eval --truth l.bed l.bed -p track.json -o e.txt", "query -p track.json --claims c.bed -o q.tsv", "simulate -p track.json --seed 1 -o s.bed",
                    "eval -p track.json --against track.json -o e.txt"):
        box.write("c.bed", "chr2\t0\t70\tboundary\n")
        said = box.ok(command + " -g sizes signal.bw").stderr
        check(said.count("[chromosomes-left-out]") == 1, "%s: %s" % (command, said))
    box.write("all", "".join("%s\t%d\n" % one for one in dict(many, chr1=400, chr2=400).items()))
    check("left-out" not in box.ok("decode -p track.json -g all -o o.bed signal.bw").stderr, "nothing is left out")
    # Chromosomes of the list that only a later track has are passed over, and said too.
    track_parameters(box, "two.json", tracks=("signal", "other"))
    tracks("signal.bw", {"chr1": 400, "chr3": 400})
    tracks("other.bw", {"chr1": 400, "chr2": 400})
    box.write("sizes", "chr1\t400\nchr2\t400\n")
    said = box.ok("decode -p two.json -g sizes -o o.bed signal.bw other.bw").stderr
    check("1 chromosome of the tracks that it does not list (chr3) and 1 chromosome of the tracks that it lists and the first track lacks (chr2)" in said, said)


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
    box.ok(train + "-o files.json --centering mean --sample GM12878=GM12878.*.bw --sample K562=K562.*.bw")
    files = load(box, "files.json")
    check(files["training"]["options"]["sample"] == made["options"]["sample"], "%s" % files["training"]["options"])
    check(files["emission"] == load(box, "both.json")["emission"], "another model without a sheet")
    box.fails(train + "-o out.json --sample GM12878=GM12878.*.bw --sample K562=K562.CTCF.bw", 3, "H3K27ac")


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


# Not only genomes

LONG_GRID = '''File type = "ooTextFile"
Object class = "TextGrid"

xmin = 0
xmax = 4
tiers? <exists>
size = 3
item []:
    item [1]:
        class = "IntervalTier"
        name = "words"
        xmin = 0
        xmax = 4
        intervals: size = 1
        intervals [1]:
            xmin = 0
            xmax = 4
            text = "say ""aa"""
    item [2]:
        class = "IntervalTier"
        name = "phones"
        xmin = 0
        xmax = 4
        intervals: size = %d
%s    item [3]:
        class = "TextTier"
        name = "clicks"
        xmin = 0
        xmax = 4
        points: size = 1
        points [1]:
            number = 0.5
            mark = "click"
'''
# Seconds; 100 frames each second. The last bit is a hair over and under the edges of frames.
PHONES = [(0, 0.7, "off"), (0.7, 1.401, "on"), (1.401, 2.1, ""), (2.1, 2.7959, "off"), (2.7959, 3.5, "on"), (3.5, 4, "off")]


def grid(box, name="utt1.TextGrid", phones=PHONES, short=False, encoding="utf-8"):
    entries = "".join('        intervals [%d]:\n            xmin = %r\n            xmax = %r\n            text = "%s"\n' % (i + 1, a, b, text)
                      for i, (a, b, text) in enumerate(phones))
    text = LONG_GRID % (len(phones), entries)
    if short:
        values = ["%r\n%r\n\"%s\"\n" % phone for phone in phones]
        text = ('File type = "ooTextFile"\nObject class = "TextGrid"\n\n0\n4\n<exists>\n1\n"IntervalTier"\n"phones"\n0\n4\n%d\n' % len(phones)
                + "".join(values))
    return box.write(name, text.encode(encoding))


def phone_table(box, name="utt1.tsv", phones=PHONES, header="begin\tend\tlabel\n"):
    return box.write(name, header + "".join("%r\t%r\t%s\n" % phone for phone in phones if phone[2]))


def frames(box, name="utt1.npy"):
    """One value per frame: high where `on` is."""
    values = []
    for i in range(400):
        label = [text for a, b, text in PHONES if round(100 * a) <= i < round(100 * b)][0]
        values.append([3.0 + (i % 5) * 0.1 if label == "on" else (i % 7) * 0.1, float(i % 3)])
    box.write(name, npy(values))
    box.write("frames.bed", "".join("utt1\t%d\t%d\t%s\n" % (round(100 * a), round(100 * b), text) for a, b, text in PHONES if text))


def test_labels_of_each_sample(box):
    """train --labels SAMPLE=FILE, and a column of the sheet: two samples with other labels each."""
    values = {"A": [0.0] * 20 + [3.0] * 20, "B": [3.0] * 10 + [0.0] * 30}
    rows = ["sample\ttrack\tpath\tlabels\n"]
    for name, signal in values.items():
        bigwig_track(box, name + ".x.bw", {"chr1": 400}, bigwig.fixed_step("chr1", 0, 10, signal))
        edge = 200 if name == "A" else 100
        names = ("off", "on") if name == "A" else ("on", "off")
        box.write(name + ".bed", "chr1\t0\t%d\t%s\nchr1\t%d\t400\t%s\n" % (edge, names[0], edge, names[1]))
        rows.append("%s\tx\t%s.x.bw\t%s.bed\n" % (name, name, name))
    box.write("sheet.tsv", "".join(rows))
    train = "train -b 10 --max-duration 40 --max-iterations 5 -o %s.json "
    box.ok(train % "sheet" + "--samples sheet.tsv")
    box.ok(train % "given" + "--samples sheet.tsv --sample A,B --labels A=A.bed --labels B=B.bed")
    models = [json.loads(box.text(name)) for name in ("sheet.json", "given.json")]
    check(models[0]["emission"] == models[1]["emission"], "the sheet and the options give other models")
    check(models[0]["training"]["positions"] == 80 and models[0]["training"]["segments"] == 4, "%s" % models[0]["training"])
    for name in values:
        box.ok("decode -q -p sheet.json --samples sheet.tsv --sample %s -o o.bed" % name)
        box.ok("eval --truth %s.bed o.bed --json e.json" % name)
        accuracy = json.loads(box.text("e.json"))["overall"]["bases"]["accuracy"]
        check(accuracy > 0.99, "%s: %r of the bases" % (name, accuracy))
    # The same labels for both are wrong for one of them.
    box.ok(train % "same" + "--samples sheet.tsv --sample A,B --labels A.bed")
    box.fails(train % "no" + "--samples sheet.tsv --sample A,B --labels A=A.bed", 2, 'the sample "B" has no labels')
    box.fails(train % "no" + "--samples sheet.tsv --sample A,B --labels A=A.bed --labels A=B.bed", 2, "twice")
    box.fails(train % "no" + "--samples sheet.tsv --sample A --labels A=A.bed --labels C=B.bed", 2, 'no sample "C"')
    box.fails(train % "no" + "A.x.bw", 2, "--labels is required")
    box.write("two.tsv", rows[0] + rows[1] + rows[1].replace("\tx\t", "\ty\t").replace("A.bed", "B.bed"))
    box.fails(train % "no" + "--samples two.tsv", 3, "two.tsv:line 3", 'the sample "A" has the labels')


def test_arrays_of_a_network(box):
    """Scores of several sequences: posteriors as one archive, TextGrids, names of columns, a list of regions."""
    scores = [[1.0, 0.0, -1.0]] * 6 + [[0.0, 2.0, 0.0]] * 7 + [[-1.0, 0.0, 1.5]] * 7
    names = ["u%d" % n for n in range(12)]
    npz(box.path("nn.npz"), [(name + ".npy", npy(scores[n % 3:])) for n, name in enumerate(names)])
    template = box.ok("info --template -L sil,vow,con").stdout
    box.write("m.json", template)
    check(json.loads(template)["centering"] == "none" and "mean takes the mean" in json.loads(template)["x_centering"], template[:900])
    result = box.ok("posterior -p m.json -o b.bg --labels-out l.npz --starts-out s.npz --label-names sil,vow,con nn.npz")
    check("input: 12 sequences <- nn.npz\n" in result.stderr and result.stderr.count("input:") == 1, result.stderr)
    with zipfile.ZipFile(box.path("l.npz")) as archive:
        check(archive.namelist() == [name + ".npy" for name in names], "%s" % archive.namelist())
        content = archive.read("u1.npy")
    box.ok("posterior -q -p m.json -o one.bg -r u1 --labels-out u1.npy nn.npz")
    check(content == box.path("u1.npy").read_bytes(), "another array than that of one sequence")
    box.fails("posterior -p m.json -o b.bg --labels-out l.npy nn.npz", 2, "a name that ends in .npz")
    box.fails("posterior -p m.json -o b.bg --label-names vow,sil,con nn.npz", 2, "the parameters' labels are sil,vow,con")
    box.fails("posterior -p m.json -o b.bg --track-names sil,vow,con nn.npz", 2, "scores of labels", "--label-names")
    box.fails("decode -p m.json -o o.TextGrid nn.npz", 2, "--rate R")
    box.ok("decode -q -p m.json -o o.bed nn.npz")
    box.ok("decode -q -p m.json --rate 100 --unit frames -o o.TextGrid nn.npz")
    check([name for name in box.listing() if name.endswith(".TextGrid")] == sorted("o.%s.TextGrid" % name for name in names), "%s" % box.listing())
    box.ok("eval --truth o.bed -r u3 --rate 100 --unit frames --json e.json u3=o.u3.TextGrid")
    check(json.loads(box.text("e.json"))["overall"]["segments"]["exact"]["f1"] == 1, "other segments in the TextGrid")
    box.ok("decode -q -p m.json --rate 100 --unit frames -r u3 -o single.TextGrid nn.npz")
    check(box.text("single.TextGrid") == box.text("o.u3.TextGrid"), "one sequence")
    box.write("truth.bed", box.text("o.bed"))
    box.write("held.txt", "# held out\nu1\nu2\t0\t10\n")
    run = "train -q --labels truth.bed --unit frames --max-duration 20 --max-iterations 2 -o %s.json nn.npz "
    box.ok(run % "list" + "--val-list held.txt")
    box.ok(run % "each" + "--val-region u1 --val-region {u2}:1-10")
    check(box.text("list.json") == box.text("each.json"), "--val-list is another than --val-region")
    box.write("none.txt", "\n")
    box.fails(run % "no" + "--val-list none.txt", 3, "none.txt", "no region")


SPEECH = "train --max-duration 80 --max-iterations 3 --track-names energy,zcr --unit frames "


def trained(box, labels, more=""):
    """The parameters, without the record of where they come from."""
    box.ok(SPEECH + "--labels %s %s -o speech.json utt1.npy" % (labels, more))
    document = load(box, "speech.json")
    document.pop("training")
    return document


def test_labels_of_several_files(box):
    """--labels again and again: each file has the labels of other sequences, as one BED file of all would."""
    frames(box)
    box.write("utt2.npy", box.path("utt1.npy").read_bytes())
    one = box.text("frames.bed")
    box.write("second.bed", one.replace("utt1", "utt2"))
    box.write("both.bed", one + one.replace("utt1", "utt2"))
    expected = trained(box, "both.bed", "utt2.npy")
    check(trained(box, "frames.bed --labels second.bed", "utt2.npy") == expected, "two BED files")
    grids = "%s --labels %s" % (grid(box), grid(box, "utt2.TextGrid"))
    check(trained(box, grids, "--rate 100 --tier phones utt2.npy") == expected, "two TextGrids")
    grids = "utt1=%s --labels utt2=utt2.TextGrid" % grid(box, "other.TextGrid")
    check(trained(box, grids, "--rate 100 --tier phones utt2.npy") == expected, "with names")
    check(trained(box, "frames.bed --labels utt2.TextGrid", "--rate 100 --tier phones utt2.npy") == expected, "of two kinds")
    names = [entry["name"] for entry in load(box, "speech.json")["training"]["files"] if entry["role"] == "labels"]
    check(names == ["frames.bed", "utt2.TextGrid"], "%s" % names)
    box.fails(SPEECH + "--labels frames.bed --labels both.bed -o out.json utt1.npy utt2.npy", 3, "both.bed", '"utt1" has labels in frames.bed, too')
    box.fails(SPEECH + "--labels frames.bed --labels no.bed -o out.json utt1.npy utt2.npy", 4, "no.bed")


def test_the_tier_of_a_prediction(box):
    """--tier is about the truth: a prediction that has one tier alone, as decode writes them, may call it as it likes."""
    frames(box)
    trained(box, "frames.bed")
    box.ok("decode -q -p speech.json --rate 100 --unit frames -o found.TextGrid utt1.npy")
    check('"segments"' in box.text("found.TextGrid"), "decode names its tier otherwise")
    box.ok("eval --rate 100 --unit frames --tier phones --json e.json --truth utt1=%s utt1=found.TextGrid" % grid(box))
    check(load(box, "e.json")["overall"]["segments"]["exact"]["f1"] > .5, "another tier was evaluated")
    box.fails("eval --rate 100 --unit frames --tier segments --truth utt1.TextGrid utt1=found.TextGrid", 2, "segments", "words, phones")
    box.fails("eval --rate 100 --unit frames --tier phone --truth frames.bed utt1.TextGrid", 2, "phone", "words, phones")


def test_labels_with_times_are_those_of_bed(box):
    frames(box)
    expected = trained(box, "frames.bed")
    check([track["name"] for track in expected["tracks"]] == ["energy", "zcr"], "%s" % expected["tracks"])
    check(trained(box, grid(box), "--rate 100 --tier phones") == expected, "long TextGrid")
    check(trained(box, grid(box, "utt1.TextGrid", short=True), "--rate 100") == expected, "short TextGrid")
    for encoding in ("utf-16", "utf-16-be", "utf-8-sig"):
        grid(box, encoding=encoding)
        if encoding == "utf-16-be":
            box.write("utt1.TextGrid", b"\xfe\xff" + box.path("utt1.TextGrid").read_bytes())
        check(trained(box, "utt1.TextGrid", "--rate 100 --tier phones") == expected, encoding)
    check(trained(box, "utt1=" + grid(box, "other.TextGrid"), "--rate 100 --tier phones") == expected, "NAME=")
    check(trained(box, phone_table(box), "--rate 100") == expected, "table")
    check(trained(box, phone_table(box, header=""), "--rate 100") == expected, "table without a header")
    rows = [("utt1",) + phone for phone in PHONES if phone[2]]
    box.write("all.tsv", "label\tsequence\tend\tbegin\n" + "".join("%s\t%s\t%r\t%r\n" % (d, a, c, b) for a, b, c, d in rows))
    check(trained(box, "all.tsv", "--rate 100") == expected, "table with sequences")
    box.fails(SPEECH + "--labels utt1.tsv -o out.json utt1.npy", 2, "utt1.tsv", "--rate")
    box.fails(SPEECH + "--labels utt1.TextGrid --rate 100 -o out.json utt1.npy", 2, "words, phones", "--tier")
    box.fails(SPEECH + "--labels utt1.TextGrid --rate 100 --tier clicks -o out.json utt1.npy", 2, "clicks", "words, phones", "--tier")
    # Bins of several frames: nearest edges.
    box.ok("train --max-duration 80 --max-iterations 2 -b 10 --rate 1000 --labels utt1.tsv -o ms.json utt1.npy")
    check(load(box, "ms.json")["training"]["positions"] == trained_positions(box), "milliseconds")


def test_a_folder_of_textgrids(box):
    """As forced aligners write them: a file per utterance."""
    frames(box)
    frames(box, "utt2.npy")
    box.path("grids").mkdir()
    grid(box, "grids/utt1.TextGrid")
    grid(box, "grids/utt2.textgrid")
    box.write("grids/notes.txt", "not a grid")
    box.write("both.bed", box.text("frames.bed") + box.text("frames.bed").replace("utt1", "utt2"))
    records, models = {}, {}
    for labels in ("both.bed", "grids --rate 100 --tier phones"):
        box.ok(SPEECH + "--labels %s -o speech.json utt1.npy utt2.npy" % labels)
        document = load(box, "speech.json")
        records[labels] = [file["name"] for file in document.pop("training")["files"] if file["role"] == "labels"]
        check(document == models.setdefault("bed", document), labels)
    check(records["grids --rate 100 --tier phones"] == ["utt1.TextGrid", "utt2.textgrid"], "%s" % records)
    box.ok("decode -p speech.json --unit frames -o both.out.bed utt1.npy utt2.npy")
    evaluation = box.ok("eval --truth grids --rate 100 --tier phones both.out.bed").stdout
    check("utt1" in evaluation + box.text("both.out.bed") and "overall" in evaluation.lower(), evaluation)
    speech = SPEECH + "--rate 100 --tier phones -o out.json utt1.npy utt2.npy --labels "
    grid(box, "grids/utt2.textgrid", [(0, 0.7, "off"), (0.6, 1.0, "on")])
    box.fails(speech + "grids", 3, "grids/utt2.textgrid", "line 30", "overlaps")
    box.fails(speech + "x=grids", 2, "names one sequence", "folder")
    grid(box, "grids/utt2.TextGrid")
    box.fails(speech + "grids", 3, "utt2.", "the same sequence")
    box.path("none").mkdir()
    box.fails(speech + "none", 3, "none", "no file whose name ends in .TextGrid")
    box.fails(SPEECH + "-o out.json utt1.npy --labels grids", 3, "utt2.")
    box.path("grids/utt2.textgrid").unlink()
    box.fails(SPEECH + "-o out.json utt1.npy --labels grids", 2, "--rate")


def trained_positions(box):
    return load(box, "speech.json")["training"]["positions"]


def test_evaluation_in_frames(box):
    frames(box)
    box.ok(SPEECH + "--labels frames.bed -o speech.json utt1.npy")
    box.ok("decode -p speech.json --unit frames --track-names energy,zcr -o utt1.bed utt1.npy")
    expected = box.ok("eval --truth frames.bed utt1.bed").stdout
    grid(box)
    found = box.ok("eval --truth utt1.TextGrid --tier phones --rate 100 utt1.bed").stdout
    check(found.splitlines()[2:] == expected.splitlines()[2:], found)
    found = box.ok("eval --truth utt1.TextGrid --tier phones --rate 100 --unit seconds utt1.bed").stdout
    check("330 frames (3.3 s)" in found and "bases" not in found, found)
    plan = box.ok("decode -p speech.json --unit seconds --rate 100 --dry-run utt1.npy").stdout
    check("utt1\t400 frames (4 s)\t400 bins" in plan and "bases" not in plan, plan)
    plan = box.ok("decode -p speech.json --unit frames --dry-run utt1.npy").stdout
    check("utt1\t400 frames\t400 bins" in plan, plan)
    check("bin size: 1 frames" in box.ok("info speech.json --unit frames").stdout, "info")
    box.fails("decode -p speech.json --unit seconds -o out.bed utt1.npy", 2, "--unit seconds", "--rate")
    box.fails("decode -p speech.json --unit minutes -o out.bed utt1.npy", 2, "bases, frames, seconds")
    box.fails("decode -p speech.json --unit frames -r utt1:900-1000 -o out.bed utt1.npy", 3, "400 frames")
    box.fails("decode -p speech.json --track-names zcr,energy -o out.bed utt1.npy", 2, "zcr,energy", "energy,zcr")
    box.fails(SPEECH.replace("energy,zcr", "energy") + "--labels frames.bed -o out.json utt1.npy", 2, "1 names", "2 columns")
    named = SPEECH.replace("--track-names energy,zcr ", "") + "--labels frames.bed -o out.json "
    box.fails(named + "energy,zcr=utt1.npy", 3, "utt1", "energy,zcr", "--track-names names its columns")
    bigwig_track(box, "x.bw")
    box.fails("train --track-names a --labels frames.bed -o out.json x.bw", 2, "--track-names", "NAME=PATH")


def test_damaged_times(box):
    frames(box)
    speech = SPEECH + "--rate 100 -o out.json utt1.npy --tier phones --labels "
    cases = {"overlap": ([(0, 0.7, "off"), (0.6, 1.0, "on")], "overlaps"), "unsorted": ([(1, 2, "off"), (0, 1, "on")], "before"),
             "empty": ([(0, 0.7, "off"), (0.7, 0.7, "on")], "less than")}
    for name, (phones, text) in cases.items():
        phone_table(box, "bad.tsv", phones)
        box.fails(speech + "utt1=bad.tsv", 3, "bad.tsv", "line 3", text)
        grid(box, "bad.TextGrid", phones)
        box.fails(speech + "utt1=bad.TextGrid", 3, "bad.TextGrid", "line 30", text)
    whole = box.text(grid(box, "good.TextGrid"))
    for name, text in (("cut", whole[:400]), ("count", whole.replace("size = 6", "size = 7")), ("size", whole.replace("size = 6", "size = 1e9")),
                       ("class", whole.replace('"IntervalTier"', '"PitchTier"')), ("number", whole.replace("xmin = 0.7", 'xmin = "x"'))):
        box.write("bad.TextGrid", text)
        result = box.fails(speech + "utt1=bad.TextGrid", 3, "bad.TextGrid", "line ")
    for text in ("begin\tend\tlabel\n0\tx\ton\n", "begin\tend\tlabel\n0\t1\n"):
        box.write("bad.tsv", text)
        box.fails(speech + "utt1=bad.tsv", 3, "bad.tsv", "line 2")
    # An interval of less than half a frame is rounded away, and said.
    phone_table(box, "utt1.tsv", [(0, 0.7, "off"), (0.7, 0.7004, "on"), (0.71, 1.4, "on"), (1.4, 2, "off")])
    check("labels-too-short" in box.ok(speech + "utt1.tsv").stderr, "no warning")


def test_options_that_take_lists_do_not_swallow_inputs(box):
    frames(box)
    train = "train --labels frames.bed --max-duration 80 --max-iterations 2 -o out.json "
    box.ok(train + "--val-region utt1:1-100 --val-region utt1:351-400 utt1.npy")
    check(load(box, "out.json")["training"]["options"]["val-region"] == "utt1:1-100 utt1:351-400", "two regions")
    for command in (train + "--val-region utt1:1-100 utt1:301-400 utt1.npy", train + "-r utt1:1-300 utt1:301-400 utt1.npy"):
        box.fails(command, 4, "utt1:301-400", "no such file", "--val-region A --val-region B")
    box.ok(train + "--freeze start,end --freeze transition utt1.npy")
    for command in ("decode", "posterior", "train", "eval", "simulate"):
        text = " ".join(box.ok([command, "--help-all"]).stdout.split())
        check("one value per option: repeat the option for more" in text, "%s --help" % command)
        check("--region REGION ..." not in text and "--region REGION" in text, "%s --help" % command)
        check("--unit" in text and "--rate" in text, "%s --help" % command)


def test_labels_have_a_natural_order_and_colours_of_their_own(box):
    runs = ["E10", "E2", "E1", "E10", "E1", "E2"]
    values = {"E1": 0.0, "E2": 2.0, "E10": 5.0}
    colours, orders = [], []
    for shift in range(3):
        names = runs[shift:] + runs[:shift]
        box.write("labels.bed", "".join("chrA\t%d\t%d\t%s\n" % (100 * i, 100 * i + 100, name) for i, name in enumerate(names)))
        bigwig_track(box, "x.bw", {"chrA": 600}, bigwig.fixed_step("chrA", 0, 10, [values[names[i // 10]] + 0.1 * (i % 3) for i in range(60)]))
        box.ok("train --labels labels.bed -b 10 --max-duration 20 -o out.json x.bw")
        orders.append([label["name"] for label in load(box, "out.json")["labels"]])
        rows = bed_rows(box.ok("decode -p out.json x.bw").stdout)
        colours.append(sorted({(row[3], row[8]) for row in rows}))
    check(orders == [["E1", "E2", "E10"]] * 3, "%s" % orders)
    check(colours[0] == colours[1] == colours[2] and len(colours[0]) == 3, "%s" % colours)
    # A model that lists its labels in another order has the same colours.
    make_inputs.parameters(box, "one.json", labels=["low", "mid", "high"])
    make_inputs.parameters(box, "two.json", labels=["high", "low", "mid"])
    found = [{row[3]: row[8] for row in bed_rows(box.ok("decode -p %s scores.npy" % name).stdout)} for name in ("one.json", "two.json")]
    check(all(found[0][name] == found[1][name] for name in found[0] if name in found[1]), "%s" % found)
