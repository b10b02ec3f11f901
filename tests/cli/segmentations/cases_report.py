"""The command report: one page, its pictures and tables."""

import html.parser
import json
import re
import xml.etree.ElementTree as tree

from harness import DATA, Skip, check
from make_inputs import npy, npz, parameters, shared_data

SVG = "{http://www.w3.org/2000/svg}"
TRACKS = ["codon_%s%d.bw" % (strand, frame) for strand in ("fwd", "rev") for frame in range(3)]
VOID = {"meta", "link", "br", "hr", "img"}
HOSTILE = "<script>alert('x')</script> \"&quot;"


def decoded(box):
    box.ok(["decode", "-q", "-p", "demo.params.json", "-o", "s.bed", "--posterior", "b.bedgraph"] + TRACKS)


def full(box, *more, output="r.html"):
    return box.ok(["report", "-q", "-p", "demo.params.json", "--segments", "s.bed", "--posterior", "b.bedgraph",
                   "--truth", "genes.bed", "--annotation", "genes=genes.bed", *more, "-o", output] + TRACKS)


def test_one_segment_has_no_boundary_to_be_sure_of(box):
    """A mean over no boundary was a number that was never written."""
    box.write("p.json", json.dumps({"format": "semicrf-params", "format_version": "1.0", "labels": ["L", "M"], "max_duration": 10,
                                    "bin_size": 200, "duration": {"kind": "uniform"}, "transition": [["-inf", 0], [0, "-inf"]]}))
    box.write("one.bed", "chr1\t0\t200\tL\t154\t.\n"), box.write("one.bedgraph", "chr1\t0\t200\t1.0\n")
    box.ok(["report", "-q", "-p", "p.json", "--segments", "one.bed", "--posterior", "one.bedgraph", "-o", "r.html"])
    text = box.text("r.html")
    Page(text)
    check("0 starts" not in text and not re.search(r"\bnan\b", text, re.I), "a figure of nothing")
    check("Probability of the label that was called" in text, "the other figure is gone, too")


class Page(html.parser.HTMLParser):
    """Checks that elements are closed in order; collects what the tests look at."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.ids, self.targets, self.headings, self.data, self.text = [], [], [], [], [], []
        self.scopes, self.pictures, self.attributes = 0, [], []
        self.feed(text)
        self.close()
        check(not self.open, "not closed: %s" % self.open)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.attributes += [(tag, name, value) for name, value in attributes.items()]
        if "id" in attributes:
            self.ids.append(attributes["id"])
        if tag == "a":
            self.targets.append(attributes["href"])
        if tag == "th":
            check(attributes.get("scope") in ("row", "col"), "th without a scope")
        if tag == "svg" and "svg" not in self.open:
            check(attributes.get("role") == "img" and attributes.get("aria-label"), "a picture without a text")
            self.pictures.append(attributes)
        if tag == "data":
            self.data.append([attributes["value"], ""])
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.attributes += [(tag, name, value) for name, value in attributes]

    def handle_endtag(self, tag):
        check(self.open and self.open[-1] == tag, "%s closes %s" % (tag, self.open[-3:]))
        self.open.pop()

    def handle_data(self, data):
        if self.open and self.open[-1] in ("h1", "h2"):
            self.headings.append(data)
        if self.open and self.open[-1] == "data":
            self.data[-1][1] += data
        self.text.append(data)


def table(box, name):
    lines = box.text(name).splitlines()
    names = lines[0].split("\t")
    rows = [dict(zip(names, line.split("\t"))) for line in lines[1:]]
    check(all(len(line.split("\t")) == len(names) for line in lines), "columns of %s" % name)
    return rows


UNITS = {"bp": 1, "kb": 1e3, "Mb": 1e6, "%": 0.01, "": 1}


def shown_agrees(value, shown):
    """Whether a number for people is its TSV's number, as far as its digits go."""
    match = re.fullmatch(r"(<?)(-?[\d,]*\.?\d+(?:e[-+]\d+)?) ?(bp|kb|Mb|%|)", shown)
    if not match:
        return False
    number, unit = float(match[2].replace(",", "")), UNITS[match[3]]
    if match[1]:
        return 0 < float(value) < number * unit
    digits = len(match[2].split("e")[0].partition(".")[2])
    exponent = int(match[2].partition("e")[2] or 0)
    step = 10.0 ** (exponent - digits)
    if not digits and not match[3] == "" and abs(number) >= 100:
        step = 1
    return abs(float(value) / unit - number) <= 0.5000001 * step + 1e-9 * abs(number)


def test_page_of_the_demo(box):
    decoded(box)
    full(box, "--figures", "f")
    text = box.text("r.html")
    page = Page(text)
    check(len(page.ids) == len(set(page.ids)), "an id twice")
    check(all(target.startswith("#") and target[1:] in page.ids for target in page.targets), "%s" % page.targets)
    for heading in ("Labels", "Model", "Signal", "How sure", "Loci", "Evaluation", "Enrichment", "Provenance"):
        check(heading in page.headings, "no heading %s" % heading)
    order = [text.index('<h2 id="%s"' % id) for id in ("labels", "signal", "loci", "enrichment", "certainty", "evaluation", "model", "provenance")]
    check(order == sorted(order), "sections in another order")
    check(text.count("<summary><h2") == 2 and '<summary><h2 id="model"' in text and '<summary><h2 id="provenance"' in text, "the model is not folded, or something else is")
    for tag, name, value in page.attributes:
        check(name not in ("src", "srcset", "onload", "onclick", "xlink:href"), "%s has %s" % (tag, name))
        check(name != "href" or value.startswith(("#", "data:,")), "%s leads to %s" % (tag, value))
    check("<script" not in text and "url(" not in text and "@import" not in text, "something is run or fetched")
    check(len(text) < 600e3, "%d bytes" % len(text))
    check(str(box.folder) not in text and len(page.pictures) > 20, "%d pictures" % len(page.pictures))
    check("semicrf decode -p demo.params.json" in text, "the command of the segments")


def test_same_bytes(box):
    decoded(box)
    full(box, "--figures", "f")
    first = box.text("r.html"), {name: box.text("f/" + name) for name in box.listing("f")}
    for more in (["-t", "2"], []):
        full(box, "--figures", "f", *more)
        check((box.text("r.html"), {name: box.text("f/" + name) for name in box.listing("f")}) == first, "other bytes")
    box.path("elsewhere").mkdir()
    for name in ["demo.params.json", "s.bed", "b.bedgraph", "genes.bed"] + TRACKS:
        box.write("elsewhere/" + name, box.path(name).read_bytes())
    box.ok(["report", "-q", "-p", "elsewhere/demo.params.json", "--segments", "elsewhere/s.bed", "--posterior",
            "elsewhere/b.bedgraph", "--truth", "elsewhere/genes.bed", "--annotation", "genes=elsewhere/genes.bed",
            "-o", "e.html"] + ["elsewhere/" + track for track in TRACKS])
    check(box.text("e.html") == first[0], "paths change the page")


def test_numbers_are_those_of_the_tables(box):
    decoded(box)
    full(box, "--figures", "f")
    page = Page(box.text("r.html"))
    files = box.listing("f")
    tables = {name: table(box, "f/" + name) for name in files if name.endswith(".tsv")}
    check(all(name[:-4] + ".tsv" in files for name in files), "a picture without numbers")
    values = {cell for rows in tables.values() for row in rows for cell in row.values()}
    check(len(page.data) > 100, "%d numbers" % len(page.data))
    for value, shown in page.data:
        check(value in values and shown_agrees(value, shown), "the page shows %r for %r" % (shown, value))
    # Pictures: what is written into them, and under the pointer, is in their table.
    for name in files:
        if not name.endswith(".svg"):
            continue
        numbers = [float(cell) for row in tables[name[:-4] + ".tsv"] for cell in row.values()
                   if re.fullmatch(r"-?\d[\d.]*(e[-+]?\d+)?", cell)]
        for text in tree.fromstring(box.text("f/" + name)).iter(SVG + "text"):
            if text.get("class") == "value":
                check(any(shown_agrees(repr(number), text.text) for number in numbers), "%s: %r" % (name, text.text))
    # Tables agree with the commands that make the same numbers.
    described = box.ok("describe s.bed -p demo.params.json").stdout.splitlines()
    names = described[0].split("\t")
    for line, row in zip(described[1:], tables["labels.tsv"]):
        other = dict(zip(names, line.split("\t")))
        check(row["label"] == other["label"] and row["segments"] == other["segments"] and row["bases"] == other["bases"], "%s" % row)
        for column in ("share", "mean", "median", "posterior", "at_cap", "in_tail"):
            check(row[column] == other[column] or abs(float(row[column]) - float(other[column])) < 1e-5 * float(other[column]) + 1e-9,
                  "%s: %s and %s" % (column, row[column], other[column]))
    folds = [line.split("\t") for line in box.ok("enrich s.bed genes=genes.bed").stdout.splitlines()[1:]]
    mine = {row["label"]: row for row in tables["enrichment.tsv"]}
    for row in folds:
        check(mine[row[0]]["both"] == row[4] and abs(float(mine[row[0]]["fold"]) - float(row[6])) < 1e-6, "%s" % row)
    check(sum(int(row["segments"]) for row in tables["durations.tsv"]) == sum(int(row["segments"]) for row in tables["labels.tsv"]),
          "durations count other segments")


def test_pictures_are_svg(box):
    decoded(box)
    full(box, "--figures", "f")
    for name in box.listing("f"):
        if name.endswith(".svg"):
            root = tree.fromstring(box.text("f/" + name))
            check(root.tag == SVG + "svg" and root.find(SVG + "title").text and root.find(SVG + "desc") is not None, name)
            width, height = float(root.get("width")), float(root.get("height"))
            check(0 < width < 2000 and 0 < height < 10000, "%s: %s x %s" % (name, width, height))


def test_signal_and_loci(box):
    """Means of tracks and the bins of a locus against a small file that is computed here."""
    box.write("m.json", '{"format": "semicrf-params", "format_version": "1.0", "labels": ["A", "B"], "max_duration": 9, '
                        '"bin_size": 1, "centering": "none", "transition": [[0, 0], [0, 0]], "duration": {"kind": "uniform"}}')
    import struct
    rows = [[float(t % 5), -float(t % 3)] for t in range(60)]
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': (60, 2), }"
    header += " " * (118 - 1 - len(header)) + "\n"
    box.write("x.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() +
              b"".join(struct.pack("<2f", *row) for row in rows))
    box.write("s.bed", "".join("x\t%d\t%d\t%s\n" % (begin, begin + 6, "AB"[begin // 6 % 2]) for begin in range(0, 60, 6)))
    box.ok("report -q -p m.json --segments s.bed --figures f -r x:7-20 -o r.html x.npy")
    for row in table(box, "f/signal.tsv"):
        column = "AB".index(row["track"])
        mine = [rows[t][column] for t in range(60) if "AB"[t // 6 % 2] == row["label"]]
        mean = sum(mine) / len(mine)
        check(int(row["bins"]) == len(mine) and abs(float(row["mean"]) - mean) < 1e-6, "%s" % row)
    locus = table(box, "f/locus-1.tsv")
    check([int(row["start"]) for row in locus] == list(range(6, 20)), "%s" % locus[:2])
    check([float(row["track:A"]) for row in locus] == [rows[t][0] for t in range(6, 20)], "%s" % locus[:2])
    check(not box.path("f/locus-2.tsv").exists(), "more than the named region")


def test_loci_are_chosen_in_a_region_that_is_too_long_for_a_picture(box):
    box.write("m.json", '{"format": "semicrf-params", "format_version": "1.0", "labels": ["A", "B"], "max_duration": 9, '
                        '"bin_size": 1, "centering": "none", "transition": [[0, 0], [0, 0]], "duration": {"kind": "uniform"}}')
    box.write("x.npy", npy([[float(t % 5), -float(t % 3)] for t in range(20000)], "<f4"))
    box.write("s.bed", "".join("x\t%d\t%d\t%s\n" % (begin, begin + 8, "AB"[begin // 8 % 2]) for begin in range(0, 20000, 8)))
    box.ok("report -q -p m.json --segments s.bed --figures f -r x:8001-20000 -o r.html x.npy")
    names = [name for name in box.listing("f") if name.startswith("locus-") and name.endswith(".tsv")]
    check(len(names) > 1, "%s" % names)
    for name in names:
        starts = [int(row["start"]) for row in table(box, "f/" + name)]
        check(8000 <= starts[0] and starts[-1] < 20000 and len(starts) < 500, "%s: %s" % (name, starts[:2]))
    check("in the regions that were named" in box.text("r.html"), "the page does not say where loci are from")
    box.ok("report -q -p m.json --segments s.bed --figures g -r x:8001-20000 -r x:101-150 -o r.html x.npy")
    check([int(row["start"]) for row in table(box, "g/locus-1.tsv")] == list(range(100, 150)), "the short region is not drawn")
    check(box.path("g/locus-2.tsv").exists(), "nothing is chosen in the long region")


def test_posteriors_of_labels_and_bigwig(box):
    decoded(box)
    box.ok(["posterior", "-q", "-p", "demo.params.json", "-o", "b.bw", "--labels-out", "l"] + TRACKS)
    box.ok(["posterior", "-q", "-p", "demo.params.json", "-o", "b2.bw", "--labels-out", "w.bw"] + TRACKS)
    box.ok(["report", "-q", "-p", "demo.params.json", "--segments", "s.bed", "--posterior", "b.bedgraph", "--labels-posterior",
            "l", "--figures", "f", "--truth", "genes.bed", "-o", "r.html"] + TRACKS)
    box.ok(["report", "-q", "-p", "demo.params.json", "--segments", "s.bed", "--posterior", "b.bw", "--labels-posterior",
            "w.bw", "--figures", "g", "--truth", "genes.bed", "-o", "r.html"] + TRACKS)
    for name in ("boundary-posterior.tsv", "label-posterior.tsv", "along.tsv", "calibration.tsv"):
        for a, b in zip(table(box, "f/" + name), table(box, "g/" + name)):
            for key in a:
                close = a[key] == b[key] or abs(float(a[key]) - float(b[key])) < 2e-6 * max(1, abs(float(a[key])))
                check(close, "%s: %s of bedGraph, %s of bigWig" % (name, a, b))
    # The called labels' mean is what column 5 of the segments says.
    means = {row["label"]: float(row["mean"]) for row in table(box, "f/label-posterior.tsv")}
    for row in table(box, "f/labels.tsv"):
        if row["label"] in means:
            check(abs(means[row["label"]] - float(row["posterior"])) < 1e-3, "%s" % row)
    loci = table(box, "f/locus-1.tsv")
    check(all(abs(sum(float(row[key]) for key in row if key.startswith("p:")) - 1) < 1e-4 for row in loci), "sums of P")


def test_without_anything(box):
    decoded(box)
    box.write("plain.bed", "".join("\t".join(line.split("\t")[:4]) + "\n" for line in box.text("s.bed").splitlines() if line[0] != "#"))
    box.ok("report -q -p demo.params.json --segments plain.bed -o r.html")
    text = box.text("r.html")
    Page(text)
    for needle in ("No tracks were given", "--posterior FILE", "--truth FILE", "--annotation NAME=FILE", "has no header"):
        check(needle in text, "%r is not said" % needle)


def test_hostile_names(box):
    name = HOSTILE.replace("\\", "\\\\").replace('"', '\\"')
    box.write("m.json", '{"format": "semicrf-params", "format_version": "1.0", "labels": ["%s", "B\u00e9\u4e2d", "%s"], "max_duration": 9, '
                        '"transition": [[0, 0, 0], [0, 0, 0], [0, 0, 0]], "duration": {"kind": "uniform"}}' % (name, "x" * 300))
    box.write("s.bed", "".join("c<1>&\t%d\t%d\t%s\n" % (b, b + 5, [HOSTILE, "B\u00e9\u4e2d", "x" * 300][b // 5 % 3]) for b in range(0, 300, 5)))
    box.write("t.bed", "c<1>&\t0\t300\tq\ufffe\u2028]]>\n")
    box.ok("report -q -p m.json --segments s.bed --truth t.bed --annotation a<b>&=s.bed --figures f -o r.html --title <b>".split())
    text = box.path("r.html").read_bytes().decode()  # UTF-8, whatever the names are
    page = Page(text)
    check("<script" not in text and HOSTILE in "".join(page.text), "a name is markup")
    for file in box.listing("f"):
        if file.endswith(".svg"):
            tree.fromstring(box.path("f/" + file).read_bytes())


def test_regions_are_evaluated(box):
    """-r and -L say what is evaluated, as for eval."""
    decoded(box)
    for option in ("-r III:80001-120000", "-L l.bed"):
        box.write("l.bed", "III\t80000\t120000\n")
        full(box, *option.split(), "--figures", "f")
        expected = box.ok("eval --truth genes.bed %s s.bed" % option).stdout
        truth, predicted = re.search(r"^bases +(\d+) +(\d+)", expected, re.M).groups()
        shown = table(box, "f/evaluation.tsv")[0]
        check((shown["truth"], shown["predicted"]) == (truth, predicted), "%s: %s and %s, shown %s" % (option, truth, predicted, shown))


def test_a_page_of_ten_labels_is_short(box):
    """What is not folded; tests/browser/report_page.py has its height in pixels."""
    tracks = ["--track-pattern", "{sample}.{track}.bw"] + sorted(str(path) for path in (DATA / "chromatin").glob("E065.*.bw"))
    box.ok(["learn", "-q", "--labels", "10", "--max-iterations", "3", "--restarts", "1", "-o", "m.json"] + tracks)
    box.ok(["decode", "-q", "-p", "m.json", "-o", "d.bed", "--posterior", "b.bw"] + tracks)
    box.ok(["report", "-q", "-p", "m.json", "--segments", "d.bed", "--posterior", "b.bw", "--truth", DATA / "chromatin/states.bed",
            "--annotation", "peaks=%s" % (DATA / "chromatin/peaks.bed"), "-o", "r.html"] + tracks)
    page = box.text("r.html")
    figures = [re.findall(r'<figure id="figure-([^"]*)"', text) for text in (re.sub(r"<details>.*?</details>", "", page, flags=re.S), page)]
    check(figures[0] == ["shares", "signal", "locus-1", "locus-2", "enrichment"], "%s" % figures[0])
    check({"durations", "locus-3", "calibration", "confusion", "weights"} < set(figures[1]), "%s" % figures[1])


def test_lengths_of_training(box):
    """The table of labels has the median of the training segments, where the parameters know it."""
    folder = DATA / "chromatin"
    tracks = sorted(str(path) for path in folder.glob("E065.*.bw"))
    pattern = ["--track-pattern", "{sample}.{track}.bw"]
    box.ok(["train", "-q", "-b", "200", "--labels", folder / "states.bed", "-r", "pilot:1-5000000", "--max-iterations", "5", "-o", "m.json"] + pattern + tracks)
    box.ok(["decode", "-q", "-p", "m.json", "-o", "d.bed"] + pattern + tracks)
    box.ok(["report", "-q", "-p", "m.json", "--segments", "d.bed", "--truth", folder / "states.bed", "--figures", "f", "-o", "r.html"] + pattern + tracks)
    seen = json.loads(box.text("m.json"))["training"]
    medians = {row["label"]: row["training_median"] for row in table(box, "f/labels.tsv")}
    page = box.text("r.html")
    check("Median in training" in page, "no column on the page")
    expected = {label: str(200 * durations["training"]["median"]) for label, durations in seen["durations"].items()}
    check(len(medians) > 3 and medians == expected, "%s in place of %s" % (medians, expected))


def test_regions_in_place_of_rules(box):
    decoded(box)
    full(box, "-r", "III:91,000-95,000", "-r", "III:100001-100600", "--figures", "f")
    check([name for name in box.listing("f") if name.startswith("locus")] ==
          ["locus-1.svg", "locus-1.tsv", "locus-2.svg", "locus-2.tsv"], "%s" % box.listing("f"))
    check("III:90,999-95,001" in box.text("r.html") or "III:91,000-95,000" in box.text("r.html"), "the first region")
    box.write("l.bed", "III\t100000\t101000\n")
    full(box, "-L", "l.bed", "--figures", "g")
    check("locus-1.svg" in box.listing("g") and "locus-2.svg" not in box.listing("g"), "%s" % box.listing("g"))


def test_doubts_are_told(box):
    decoded(box)
    text = box.text("demo.params.json")
    box.write("other.json", text + "\n")
    box.ok(["report", "-q", "-p", "other.json", "--segments", "s.bed", "-o", "r.html"] + TRACKS)
    check("made with other parameters" in box.text("r.html"), "the hash of the parameters is not compared")
    full(box)
    check("made with other parameters" not in box.text("r.html"), "a doubt without a reason")


def test_bad_input(box):
    decoded(box)
    start = ["report", "-p", "demo.params.json", "--segments"]
    box.fails(start + ["none.bed", "-o", "r.html"], 4, "none.bed")
    box.fails(["report", "--segments", "s.bed", "-o", "r.html"], 2, "--params")
    box.write("label.bed", "III\t90360\t90400\tnobody\n")
    box.fails(start + ["label.bed", "-o", "r.html"], 3, "label.bed", "line 1", "nobody", "CDS+0")
    box.write("far.bed", "III\t90360\t99990360\tCDS+0\n")
    box.fails(start + ["far.bed", "-o", "r.html"] + TRACKS, 3, "far.bed", "line 1", "99990360", "316620")
    box.write("genome.bed", "chr3\t90360\t90400\tCDS+0\n")
    box.fails(start + ["genome.bed", "-o", "r.html"] + TRACKS, 3, "genome.bed", "line 1", "chr3", "III")
    box.fails(start + ["s.bed", "-o", "r.html"] + TRACKS[:3], (2, 3), "codon_rev0")
    box.fails(start + ["s.bed", "-o", "s.bed"], 2, "s.bed")
    box.fails(start + ["s.bed", "-o", "none/r.html"], 5, "none")
    box.fails(start + ["s.bed", "--figures", "none/f", "-o", "r.html"], 5, "none/f")
    box.fails(start + ["s.bed", "--figures", "s.bed", "-o", "r.html"], 5, "s.bed")
    box.write("p.bedgraph", "III\t90360\t90363\t1.5\n")
    box.fails(start + ["s.bed", "--posterior", "p.bedgraph", "-o", "r.html"], 3, "p.bedgraph", "line 1", "1.5")
    box.write("p.bedgraph", "III\t90361\t90364\t0.5\n")
    box.fails(start + ["s.bed", "--posterior", "p.bedgraph", "-o", "r.html"], 3, "p.bedgraph", "line 1", "bin")
    box.write("p.bedgraph", "chr3\t90360\t90363\t0.5\n")
    box.fails(start + ["s.bed", "--posterior", "p.bedgraph", "-o", "r.html"], 3, "p.bedgraph", "chr3", "III")
    box.fails(start + ["s.bed", "--posterior", "demo.params.json", "-o", "r.html"], 3, "demo.params.json", "JSON")
    box.fails(start + ["s.bed", "--labels-posterior", "absent", "-o", "r.html"], 3, "absent.", "--labels-out")
    box.fails(start + ["s.bed", "--truth", "none.bed", "-o", "r.html"], 4, "none.bed")
    box.fails(start + ["s.bed", "--annotation", "A=none.bed", "-o", "r.html"], 4, "none.bed")
    box.write("a.bed", "chr3\t1\t2\n")
    box.fails(start + ["s.bed", "--annotation", "A=a.bed", "-o", "r.html"], 3, "chr3", "III")
    box.fails(start + ["s.bed", "-r", "IV:1-2", "-o", "r.html"] + TRACKS, 3, "IV")
    box.fails(start + ["s.bed", "-r", "III:9-2", "-o", "r.html"] + TRACKS, 2, "III:9-2")
    box.fails(start + ["s.bed", "-b", "7", "-o", "r.html"], 2, "--bin-size", "3")
    box.write("empty.bed", "")
    box.fails(start + ["empty.bed", "-o", "r.html"], 3, "empty.bed", "no segments")


def test_many_labels(box):
    """Pictures are of the labels with most bases, and the page stays small; tables have all."""
    import json
    import random
    import struct
    rng = random.Random(11)
    labels = ["L%d" % i for i in range(250)]
    box.write("m.json", json.dumps({"format": "semicrf-params", "format_version": "1.0", "labels": labels, "max_duration": 9, "centering": "none",
                                    "transition": [[0.0] * 250] * 250, "duration": {"kind": "uniform"}}))
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1000, 250), }"
    header += " " * (118 - 1 - len(header)) + "\n"
    box.write("x.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() +
              b"".join(struct.pack("<250f", *(rng.random() for _ in labels)) for _ in range(1000)))
    box.write("s.bed", "".join("x\t%d\t%d\tL%d\n" % (4 * i, 4 * i + 4, 249 - i if i < 120 else 240 + i % 10) for i in range(250)))
    box.ok("report -q -p m.json --segments s.bed --truth s.bed --annotation a=s.bed --figures f -o r.html x.npy")
    text = box.text("r.html")
    Page(text)
    check(len(text) < 1.5e6, "%d bytes" % len(text))
    check("Of 250 labels the 100 with most bases are drawn" in text and "the 40 labels with most bases" in text, "it is not said")
    check(len(table(box, "f/transitions.tsv")) == 250 * 250 and len(table(box, "f/signal.tsv")) == 250 * 250, "numbers are left out")
    for name in ("transitions", "transitions-seen", "signal", "confusion", "enrichment"):
        words = {element.text for element in tree.fromstring(box.text("f/%s.svg" % name)).iter(SVG + "text")}
        check("L249" in words and "L5" not in words, "%s: not those with most bases" % name)


def test_annotation_of_another_genome_is_told(box):
    decoded(box)
    box.write("far.bed", "III\t0\t5000\n")
    box.ok(["report", "-q", "-p", "demo.params.json", "--segments", "s.bed", "--annotation", "far=far.bed", "-o", "r.html"])
    check("far: 5000 of its 5000 bases" in box.text("r.html"), "nothing is said")
    box.fails(["report", "-q", "-p", "demo.params.json", "--segments", "s.bed", "--annotation", "a=far.bed", "--annotation", "a=far.bed",
               "-o", "r.html"], 2, "two annotations", "'a'")
    full(box)
    check("of the same genome?" not in box.text("r.html"), "a doubt without a reason")


def test_chromosome_11(box):
    """A real one, whole: small, and one page."""
    shared = shared_data() / "chr11_hg18"
    if not shared.is_dir():
        raise Skip("no %s" % shared)
    box.ok(["import", "chromhmm", shared / "chromhmm10.model_10.txt", "--segments", shared / "GM12878.chromhmm10.bed", "-o", "m.json"])
    tracks = ["--track-pattern", "{sample}.{track}.bw"] + sorted(shared.glob("GM12878.*.bw"))
    box.ok(["decode", "-q", "-p", "m.json", "-o", "s.bed", "--posterior", "b.bw"] + tracks)
    box.ok(["report", "-q", "-p", "m.json", "--segments", "s.bed", "--posterior", "b.bw", "--truth", shared / "GM12878.chromhmm10.bed",
            "--annotation", "CpG=%s" % (shared / "chr11.CpGIsland.bed"), "--annotation", "TSS=%s" % (shared / "chr11.RefSeqTSS.bed"),
            "-o", "r.html"] + tracks)
    text = box.text("r.html")
    Page(text)
    check(len(text) < 1.5e6, "%d bytes" % len(text))


def test_partial_prediction_and_textgrids(box):
    """Five of forty recordings decoded: the headline is about these, and the truth may be TextGrids."""
    rows = [[1.0, 0.0]] * 30 + [[0.0, 1.0]] * 30
    names = ["u%02d" % n for n in range(40)]
    npz(box.path("x.npz"), [(name + ".npy", npy(rows)) for name in names])
    grid = ('File type = "ooTextFile"\nObject class = "TextGrid"\n\n0 0.6 <exists> 1 "IntervalTier" "p" 0 0.6 2 '
            '0 0.27 "a" 0.27 0.6 "b"\n')
    for name in names:
        box.write("tg/%s.TextGrid" % name, grid)
    parameters(box, "m.json", labels=["a", "b"], bin_size=1, max_duration=60, centering="none", initial="none",
               transition=[["-inf", 0], [0, "-inf"]], duration={"kind": "uniform"}, start=None, end=None)
    box.ok("decode -q -p m.json --unit frames %s -o o.bed x.npz" % " ".join("-r " + name for name in names[:5]))
    said = box.ok("report -p m.json --segments o.bed --truth tg --rate 100 --unit seconds -o r.html x.npz").stderr
    text = box.text("r.html")
    check("count as missing [not-predicted]" in said and "-L " not in said and "which count as missing; " not in text, said)
    agrees = re.search(r"<dt>Agrees with the truth[^<]*</dt>\s*<dd>([0-9.]+) %", text)
    check(agrees and float(agrees.group(1)) > 90, "%r" % (agrees and agrees.group(0)))
    check("<dt>Sequences</dt>" in text and "<dt>Chromosomes</dt>" not in text, "recordings are called chromosomes")
