"""The step of bigWig files: what info, train, decode and posterior make of it."""

import json

import make_inputs
from harness import Skip, check
from make_inputs import bigwig

STEP = 200
BINS = 300


def coarse_track(box, name="mark.bw", step=STEP, length=STEP * BINS):
    """One value per step, the last cut at the chromosome's end, in bedGraph sections."""
    values = make_inputs.signal(length // step + 1)
    items = [(i * step, min((i + 1) * step, length), value) for i, value in enumerate(values) if i * step < length]
    make_inputs.bigwig_track(box, name, {"chr11": length}, bigwig.bedgraph("chr11", items))
    return name


def labels(box, name="labels.bed", width=7 * STEP, shift=0, length=STEP * BINS):
    edges = [0] + [edge + shift for edge in range(width, length, width)] + [length]
    box.write(name, "".join("chr11\t%d\t%d\t%s\n" % (a, b, "on" if n % 2 else "off")
                            for n, (a, b) in enumerate(zip(edges, edges[1:]))))
    return name


def train(*options):
    return ["train", "--labels", "labels.bed", "--max-iterations", "3", "-o", "m.json"] + list(options)


def test_info_says_the_step(box):
    coarse_track(box)
    text = box.ok("info mark.bw").stdout
    check("step: values change at multiples of 200 bases, so bins of 200 bases (-b) hold all it says; 1 (all) sections read\n"
          in text, text)
    make_inputs.bigwig_track(box, "uneven.bw", {"chr11": 1000}, bigwig.bedgraph("chr11", [(0, 7, 1.0), (7, 400, 2.0)]))
    check("step: values change at multiples of 1 base; " in box.ok("info uneven.bw").stdout, "a step above 1")
    make_inputs.bigwig_track(box, "flat.bw", {"chr11": 1000}, bigwig.bedgraph("chr11", [(0, 1000, 1.0)]))
    check("step: not known" in box.ok("info flat.bw").stdout, "a step where there is no edge")
    text = box.ok("info codon_fwd0.bw").stdout
    check("multiples of 3 bases" in text, text)


def test_the_step_is_found_in_every_kind_of_section(box):
    values = make_inputs.signal(3000)
    kinds = {"fixed": bigwig.fixed_step("chr11", 0, 25, values), "sparse": bigwig.fixed_step("chr11", 50, 100, values, span=25),
             "variable": bigwig.variable_step("chr11", 25, [(75 * i, value) for i, value in enumerate(values)]),
             "bedgraph": bigwig.bedgraph("chr11", [(50 * i, 50 * i + 25, value) for i, value in enumerate(values)])}
    for name, sections in kinds.items():
        make_inputs.bigwig_track(box, name + ".bw", {"chr11": 400001}, sections)
        text = box.ok("info %s.bw" % name).stdout
        check("multiples of 25 bases" in text and "3 (all) sections" in text, name + "\n" + text)


def test_a_bounded_number_of_sections_is_read(box):
    sections = bigwig.fixed_step("chr11", 0, 10, make_inputs.signal(40 * bigwig.ITEMS_PER_SECTION))
    make_inputs.bigwig_track(box, "long.bw", {"chr11": 10000000}, sections)
    text = box.ok("info long.bw").stdout
    check("multiples of 10 bases" in text and "16 of 40 sections read" in text, text)


def bin_size_of(box, name="m.json"):
    return json.loads(box.text(name)).get("bin_size", 1)


def test_train_and_learn_have_the_same_bins(box):
    """200 bases of bigWig files, one of arrays, those of --init where it has some."""
    coarse_track(box), labels(box)
    learn = "learn --labels 2 --max-iterations 2 --restarts 1 -o learned.json "
    text = box.ok(train("mark.bw")).stderr
    check("bin-size-of-labels" not in text, text)
    box.ok(learn + "mark.bw")
    check(bin_size_of(box) == bin_size_of(box, "learned.json") == 200, "not 200 of bigWig files")
    text = box.ok(train("--dry-run", "mark.bw")).stdout
    check("300 bins" in text and "step\t200 bases" in text, text)
    text = box.ok(train("--dry-run", "-b", "1", "mark.bw")).stdout
    check("60000 bins" in text, text)
    box.write("chr11.npy", make_inputs.npy([[x] for x in make_inputs.signal(400)]))
    labels(box, "labels.bed", width=7, length=400)
    box.ok(train("chr11.npy"))
    box.ok(learn + "chr11.npy")
    check(bin_size_of(box) == bin_size_of(box, "learned.json") == 1, "not 1 of arrays")
    coarse_track(box), labels(box)
    make_inputs.track_parameters(box, "init.json", tracks=("mark",), bin_size=100, max_duration=2000)
    box.ok(train("--init", "init.json", "mark.bw"))
    check(bin_size_of(box) == 100, "not those of --init")
    document = json.loads(box.text("init.json"))
    del document["bin_size"]
    box.write("init.json", json.dumps(document))
    box.ok(train("--init", "init.json", "mark.bw"))
    check(bin_size_of(box) == 200, "not 200 where --init has none")


def test_training_warns_of_labels_within_chosen_bins(box):
    coarse_track(box), labels(box, shift=50)
    warning = "[bin-size-of-labels]"
    text = box.ok(train("mark.bw")).stderr
    check(warning in text and "a bin has 200 bases, and 42 of 43 label edges lie within bins" in text and "-b N" in text, text)
    check(warning not in box.ok(train("-b", "200", "mark.bw")).stderr, "a warning where -b is given")
    coarse_track(box, "fine.bw", step=25), labels(box)
    text = box.ok(train("-b", "25", "mark.bw", "fine.bw")).stderr
    check("step of the tracks: 25 bases; the finest track is fine.bw with 25 bases" in text, text)


def test_bins_that_do_not_fit_the_step_are_noted(box):
    coarse_track(box), labels(box)
    note = "bins of 300 bases and the tracks' step of 200 bases do not divide each other"
    check(note in box.ok(train("-b", "300", "mark.bw")).stderr, "no note")
    check(note in box.ok("decode -p m.json -o out.bed mark.bw").stderr, "no note of decode")
    for fitting in ("100", "400"):
        check("do not divide" not in box.ok(train("-b", fitting, "mark.bw")).stderr, "a note for -b " + fitting)


def test_decoding_single_bases_of_coarse_tracks_warns(box):
    coarse_track(box, length=4000)
    make_inputs.track_parameters(box, "base.json", tracks=("mark",), bin_size=1)
    for command in ("decode", "posterior"):
        text = box.ok("%s -p base.json --stats stats.json -o out mark.bw" % command).stderr
        check("[bin-size-below-step]" in text and "multiples of 200 bases" in text and "-b 200" in text, text)
        codes = [warning["code"] for warning in json.loads(box.text("stats.json"))["warnings"]]
        check(codes[0] == "bin-size-below-step", "%s" % codes)
    make_inputs.track_parameters(box, "coarse.json", tracks=("mark",), bin_size=200)
    result = box.ok("decode -p coarse.json -o out mark.bw")
    check("bin-size" not in result.stderr and "step of the tracks: 200 bases" in result.stderr, "%s" % result)
    check("step\t200 bases" in box.ok("decode --dry-run -p coarse.json -o out mark.bw").stdout, "not in --dry-run")


def test_ten_real_tracks(box):
    folder = make_inputs.shared_data() / "chr11_hg18"
    if not folder.exists():
        raise Skip("%s is absent" % folder)
    tracks = sorted(str(path) for path in folder.glob("*.bw"))
    text = box.ok(["train", "--dry-run", "--labels", str(folder / "GM12878.chromhmm10.bed"), "-o", "m.json"] + tracks)
    check("bin-size-of-labels" not in text.stderr, text.stderr)
    check("multiples of 200 bases" in box.ok(["info", tracks[0]]).stdout, "another step")
