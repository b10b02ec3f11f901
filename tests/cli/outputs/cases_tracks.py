"""Segments as bigBed, and folders that genome browsers show."""

import random
import re
import signal
import time
import xml.etree.ElementTree

from bbi_files import bigbed_lines, bigwig_intervals, zoom_levels
from harness import check
from make_inputs import bigwig, npy, parameters, track_parameters

BED9 = ["chrom", "chromStart", "chromEnd", "name", "score", "strand", "thickStart", "thickEnd", "reserved"]
TRACKS = "chrA.npy chrB.npy chrC.npy"


def make_inputs(box, seed=5):
    rng = random.Random(seed)
    for name, bins in (("chrB", 2500), ("chrA", 40), ("chrC", 1)):
        box.write(name + ".npy", npy([[rng.gauss(0, 1.5) for _ in range(2)] for _ in range(bins)]))
    box.write("g.tsv", "chrB\t24995\nchrA\t400\nchrC\t7\nchrD\t5000\n")
    parameters(box, "p.json", labels=[{"name": "x/y", "color": "#102030"}, "off & on"], max_duration=5, transition=[["-inf", 0], [0, "-inf"]],
               duration={"kind": "uniform"}, bin_size=10)


def bed_lines(text):
    return [line for line in text.splitlines() if not line.startswith("#")]


def columns_of(description):
    return [line.split(";")[0].split()[-1] for line in description.splitlines() if ";" in line]


def test_bigbed_has_what_bed_has(box):
    make_inputs(box)
    run = "decode -q -p p.json -g g.tsv %s " + TRACKS
    for options in ("--score none", "--score none --merge-adjacent", "--score none -r chrB:101-3000 -r chrA", "--score none -t 3"):
        box.ok(run % (options + " -o s.bed"))
        box.ok(run % (options + " -o s.bb"))
        lines, description, chromosomes, zooms = bigbed_lines(box.path("s.bb").read_bytes())
        check(lines == bed_lines(box.text("s.bed")) and zooms >= 1, "s.bb is not s.bed (%s)" % options)
        check(columns_of(description) == BED9 and "sha256=" in description and "decode" in description, description)
        check(chromosomes == [("chrB", 24995), ("chrA", 400), ("chrC", 7)], "%r" % chromosomes)
    threaded = box.path("s.bb").read_bytes()
    for name in ("s.bigbed", "s.bigBed"):
        box.ok(run % ("--score none -t 1 -o " + name))
        check(box.path(name).read_bytes() == threaded, "other bytes in " + name)


def test_columns_of_posteriors(box):
    make_inputs(box)
    run = "decode -q -p p.json -g g.tsv %s " + TRACKS
    for options, kept in (("--score posterior", (0, 2, 3)), ("--extra-columns", (0, 1, 2, 3)), ("--extra-columns --merge-adjacent", (0, 1, 2, 3))):
        box.ok(run % (options + " -o s.bed --table t.tsv"))
        said = box.ok((run % (options + " -o s.bb")).replace("-q ", "")).stderr
        check("extra-columns" not in said, "bigBed may have columns of its own: " + said)
        lines, description, _, _ = bigbed_lines(box.path("s.bb").read_bytes())
        names = ["p_label", "p_segment", "p_start", "p_end"]
        check(columns_of(description) == BED9 + [names[i] for i in kept], description)
        expected = []
        for bed, table in zip(bed_lines(box.text("s.bed")), bed_lines(box.text("t.tsv"))):
            cells = table.split("\t")[4:8]
            expected.append("\t".join(bed.split("\t")[:9] + [cells[i] for i in kept]))
        check(lines == expected, "columns with " + options)


def test_draws_and_ranks(box):
    make_inputs(box)
    for command in ("simulate -q -p p.json -g g.tsv --draws 3 --seed 4 -o %s " + TRACKS, "decode -q -p p.json -g g.tsv --best 3 -o %s " + TRACKS):
        box.ok(command % "s.bed")
        box.ok(command % "s.bb")
        for number in (1, 2, 3):
            check(bigbed_lines(box.path("s.%d.bb" % number).read_bytes())[0] == bed_lines(box.text("s.%d.bed" % number)), command)


def test_bigbed_is_read_where_bed_is(box):
    make_inputs(box)
    box.ok("decode -q -p p.json -g g.tsv -o s.bed --score posterior " + TRACKS)
    box.ok("decode -q -p p.json -g g.tsv -o s.bb --score posterior " + TRACKS)
    box.ok("posterior -q -p p.json -g g.tsv -o b.bedgraph --labels-out l " + TRACKS)
    box.ok("posterior -q -p p.json -g g.tsv -o b.bw --labels-out w.bw " + TRACKS)
    box.write("a.bed", "chrB\t55\t999\nchrA\t3\t30\n")
    for command in ("describe %s", "enrich %s a.bed", "enrich s.bed x=%s", "compare one=%s two=s.bed", "eval --truth %s s.bed", "eval --truth s.bed %s"):
        one, two = box.ok((command + " -o one.txt") % "s.bed"), box.ok((command + " -o two.txt") % "s.bb")
        check(box.text("one.txt").replace("s.bed", "s.bb") == box.text("two.txt").replace("s.bed", "s.bb"), "%s: %s %s" % (command, one, two))
    for command in ("enrich s.bed a.bed --labels %s -o %s.txt", ):
        for prefix in ("l", "w", "w.bw"):
            box.ok(command % (prefix, prefix))
        check(box.text("w.txt") == box.text("w.bw.txt"), "the name with its ending")
        for one, two in zip(box.text("l.txt").split(), box.text("w.txt").split()):
            check(one == two or abs(float(one) - float(two)) <= 1e-6 * abs(float(one)), "posteriors as bigWig: %s, %s" % (one, two))
    for name in ("b.bedgraph", "b.bw"):
        box.ok("eval --truth s.bed --posterior %s s.bed --bin-size 10 -o %s.txt" % (name, name))
    check(box.text("b.bw.txt").replace("b.bw", "b.bedgraph") == box.text("b.bedgraph.txt"), "calibration of bigWig")
    content = box.path("s.bb").read_bytes()
    box.write("cut.bb", content[:len(content) // 2])
    box.fails("describe cut.bb", 3, "cut.bb")


SETTINGS = re.compile(r"^ *(\S+) (.*)$")


def stanzas(text):
    return [dict(SETTINGS.match(line).groups() for line in part.splitlines()) for part in text.strip().split("\n\n")]


def test_hubs(box):
    make_inputs(box)
    run = "decode -q -p p.json -g g.tsv %s " + TRACKS
    box.ok(run % "--hub hub --hub-genome hg99 --hub-name 'x' --hub-email a@b.example -o s.bed --posterior b.bedgraph".replace("'x'", "sample"))
    files = ["boundaries.bw", "genomes.txt", "hub.txt", "igv_session.xml", "label_1.bw", "label_2.bw", "segments.bb", "trackDb.txt"]
    check(box.listing("hub") == files, "%r" % box.listing("hub"))
    hub, = stanzas(box.text("hub/hub.txt"))
    check(hub["hub"] and hub["shortLabel"] == "sample" and "p.json" in hub["longLabel"] and hub["genomesFile"] == "genomes.txt" and hub["email"] == "a@b.example", "%r" % hub)
    check(stanzas(box.text("hub/genomes.txt")) == [{"genome": "hg99", "trackDb": "trackDb.txt"}], box.text("hub/genomes.txt"))
    tracks = stanzas(box.text("hub/trackDb.txt"))
    check(len({track["track"] for track in tracks}) == len(tracks) == 5 and all(re.fullmatch("[A-Za-z0-9_]+", track["track"]) for track in tracks), "%r" % tracks)
    check({track["bigDataUrl"] for track in tracks if "bigDataUrl" in track} == {name for name in files if name.endswith((".bb", ".bw"))}, "%r" % tracks)
    segments, boundaries, group, first, second = tracks
    check(segments["type"] == "bigBed 9 +" and segments["itemRgb"] == "on", "%r" % segments)
    for track in (boundaries, first, second):
        check(track["type"] == "bigWig 0 1" and track["viewLimits"] == "0:1" and track["autoScale"] == "off", "%r" % track)
    check(group["superTrack"].startswith("on") and first["parent"] == second["parent"] == group["track"], "%r" % tracks)
    check(first["color"] == "16,32,48" and first["shortLabel"] == "x/y" and second["shortLabel"] == "off & on", "%r, %r" % (first, second))
    # The files are those that other options write.
    lines, description, _, _ = bigbed_lines(box.path("hub/segments.bb").read_bytes())
    check([line.split("\t")[:9] for line in lines] == [line.split("\t")[:9] for line in bed_lines(box.text("s.bed"))], "segments")
    check(columns_of(description) == BED9 + ["p_label", "p_start", "p_end"], description)
    box.ok("posterior -q -p p.json -g g.tsv -o b.bw --labels-out l.bw " + TRACKS)
    for one, two in (("boundaries.bw", "b.bw"), ("label_1.bw", "l.x_y.bw"), ("label_2.bw", "l.off & on.bw")):
        check(box.path("hub/" + one).read_bytes() == box.path(two).read_bytes(), one)
    session = xml.etree.ElementTree.fromstring(box.text("hub/igv_session.xml"))
    check(session.tag == "Session" and session.get("genome") == "hg99" and session.get("locus") == "chrB", "session")
    paths = [resource.get("path") for resource in session.iter("Resource")]
    check(paths == [track.get("id") for track in session.iter("Track")] == ["segments.bb", "boundaries.bw", "label_1.bw", "label_2.bw"], "%r" % paths)
    check([track.get("name") for track in session.iter("Track")][2:] == ["x/y", "off & on"], "names")
    before = {name: box.path("hub/" + name).read_bytes() for name in files}
    done = box.ok(run % "--hub hub --hub-genome hg99 --hub-name sample --hub-email a@b.example -t 3")
    check(done.stdout == "" and before == {name: box.path("hub/" + name).read_bytes() for name in files}, "not the same again")
    check(bigwig_intervals(before["boundaries.bw"])[1] >= 1, "zoom")


def test_hubs_show_the_inputs(box):
    """Below the segments: copies of bigWig inputs, whose bytes are said before they are written."""
    run = "decode -p demo.params.json --hub hub --hub-genome sacCer3 "
    inputs = ["codon_%s%d.bw" % (strand, frame) for strand in ("fwd", "rev") for frame in range(3)]
    size = sum(box.path(name).stat().st_size for name in inputs)
    said = box.ok(run.split() + inputs).stderr
    check("6 input tracks, %d bytes, to be copied into hub" % size in said and "--no-hub-tracks" in said, said)
    for name in inputs:
        check(box.path("hub/signal." + name).read_bytes() == box.path(name).read_bytes(), name)
    files = [track["bigDataUrl"] for track in stanzas(box.text("hub/trackDb.txt")) if "bigDataUrl" in track]
    check(files[0] == "segments.bb" and files[2:8] == ["signal." + name for name in inputs], "%r" % files)
    session = xml.etree.ElementTree.fromstring(box.text("hub/igv_session.xml"))
    check([track.get("id") for track in session.iter("Track")] == files, "session")
    box.ok((run.replace("--hub hub", "--hub bare") + "--no-hub-tracks").split() + inputs)
    check(not any(name.startswith("signal") for name in box.listing("bare")), "%r" % box.listing("bare"))


def test_settings_of_hubs_are_lines(box):
    """A backslash at the end of a setting would join the next line to it; U+2028 ends a line for some readers."""
    labels = ["a\\", "b\\n\u2028c", "<i>#\\x"]
    parameters(box, "p.json", labels=labels)
    box.write("c.npy", npy([[i // 5 % 3 == c for c in range(3)] for i in range(60)]))
    box.ok(["decode", "-q", "-p", "p.json", "--hub", "hub", "--hub-genome", "hg38", "--hub-name", "n\\", "c.npy"])
    for name in ("hub.txt", "genomes.txt", "trackDb.txt"):
        text = box.text("hub/" + name)
        check("\\" not in text and "<" not in text, text)
        check(len(text.splitlines()) == text.count("\n"), "%s has other line ends" % name)
    hub, = stanzas(box.text("hub/hub.txt"))
    check(hub["shortLabel"] == "n&#92;" and "genomesFile" in hub, "%r" % hub)
    tracks = stanzas(box.text("hub/trackDb.txt"))[3:]
    check([track["shortLabel"] for track in tracks] == ["a&#92;", "b&#92;n c", "&lt;i&gt;#&#92;x"], "%r" % tracks)
    check(all("bigDataUrl" in track and "\\" not in track["bigDataUrl"] for track in tracks), "%r" % tracks)


def test_hubs_that_cannot_be(box):
    make_inputs(box)
    run = "decode -p p.json -g g.tsv %s " + TRACKS
    box.fails(run % "--hub hub", 2, "--hub-genome", "hg38")
    box.fails(run % "--hub-genome hg38", 2, "--hub")
    box.fails(run % "--hub hub --hub-genome hg38 --best 2 -o x.bed", 2, "--best", "--hub")
    box.fails(["decode", "-p", "p.json", "--hub", "hub", "--hub-genome", "hg 38", "chrA.npy"], 2, "--hub-genome")
    box.fails(run % "--hub absent/hub --hub-genome hg38", 5, "absent/hub")
    box.fails(run % "--hub p.json --hub-genome hg38", 5, "p.json")
    box.fails(run % "--hub hub --hub-genome hg38 --table t.bb", 2, "t.bb", ".tsv")
    box.fails(run % "--hub hub --hub-genome hg38 --review t.bw", 2, "t.bw", ".bed")
    box.fails(run % "--posterior x.bb", 2, "x.bb", ".bw")
    # A run that fails, or that only plans, leaves no folder.
    box.fails("decode -p p.json --hub hub --hub-genome hg38 -g g.tsv absent.npy", 4, "absent.npy")
    said = box.ok(run % "--hub hub --hub-genome hg38 --dry-run").stdout
    check("hub/segments.bb" in said and "hub/trackDb.txt" in said, said)
    check("hub" not in box.listing(), "%r" % box.listing())
    box.write("bad.npy", box.path("chrB.npy").read_bytes()[:-1])
    box.fails("decode -p p.json --hub hub --hub-genome hg38 -o x.bed bad.npy", 3, "bad.npy")
    check("hub" not in box.listing(), "%r" % box.listing())


def test_a_signal_takes_the_new_folder_away(box):
    rng = random.Random(6)
    box.write("long.npy", npy([[rng.gauss(0, 1.5) for _ in range(2)] for _ in range(300000)]))
    parameters(box, "p.json", labels=["a", "b"], max_duration=400, transition=[["-inf", 0], [0, "-inf"]], duration={"kind": "uniform"}, bin_size=10)
    process = box.start("decode -q -p p.json --hub hub --hub-genome hg38 -t 1 --precision double --device reference long.npy".split())
    deadline = time.monotonic() + 30
    while not (box.path("hub").exists() and box.listing("hub")) and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.005)
    check(process.poll() is None, "ended before the signal")
    process.send_signal(signal.SIGTERM)
    check(process.wait(timeout=30) == -signal.SIGTERM and "hub" not in box.listing(), "%r" % box.listing())


def test_zoom_levels_of_scaffolds(box):
    """Records lie on one scaffold each and have its values; blocks are full, however many scaffolds there are."""
    lengths = [10 * (1 + i % 97) for i in range(250)]
    names = ["s%04d" % i for i in range(250)]
    sections = [bigwig.fixed_step(name, 0, 10, [float((i * 7 + j) % 5) for j in range(length // 10)])[0] for i, (name, length) in enumerate(zip(names, lengths))]
    bigwig.write(box.path("x.bw"), dict(zip(names, lengths)), sections, compress=False)
    track_parameters(box)
    box.ok("posterior -q -p track.json signal=x.bw -o o.bw")
    content = box.path("o.bw").read_bytes()
    expected = {}
    for name, begin, end, value in bigwig_intervals(content)[0]:
        known = expected.setdefault(names.index(name), [0, 0.0])
        known[0] += end - begin
        known[1] += value * (end - begin)
    levels = zoom_levels(content)
    check(len(levels) == 2, "%d levels" % len(levels))
    for reduction, blocks, records in levels:
        found = {}
        for chromosome, begin, end, covered, total in records:
            check(begin // reduction == (end - 1) // reduction and end <= lengths[chromosome] and covered <= end - begin, "a record of %d to %d" % (begin, end))
            known = found.setdefault(chromosome, [0, 0.0])
            known[0] += covered
            known[1] += total
        check(found.keys() == expected.keys(), "%d scaffolds" % len(found))
        for chromosome in expected:
            check(found[chromosome][0] == expected[chromosome][0] and abs(found[chromosome][1] - expected[chromosome][1]) <= 1e-3 * (1 + abs(expected[chromosome][1])), "scaffold %d: %r" % (chromosome, found[chromosome]))
        check(blocks == (len(records) + 511) // 512, "%d blocks for %d records" % (blocks, len(records)))
