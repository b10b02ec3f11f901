"""Text that people's programs write: byte order marks, line ends, encodings, long lines, names, and what messages quote of it."""

import gzip
import json
import struct
import zlib

from harness import bed_rows, check
from make_inputs import bigwig, bigwig_track, npy, npy_header, npz, patched, signal, track_parameters

CHROMOSOMES = {"chrA": 400, "chrB": 400}
LATIN = b"Pr\xe9"
HUGE = 1_000_000


def two_chromosomes(box):
    """track.json and signal.bw, which has chrA and chrB."""
    track_parameters(box)
    sections = bigwig.fixed_step("chrA", 0, 10, signal()) + bigwig.fixed_step("chrB", 0, 10, signal())
    bigwig.write(box.path("signal.bw"), CHROMOSOMES, sections)


def variants(text):
    """One text as several programs save it."""
    return {"crlf": text.replace("\n", "\r\n").encode(), "cr": text.replace("\n", "\r").encode(),
            "mark": b"\xef\xbb\xbf" + text.encode(), "mark and cr": b"\xef\xbb\xbf" + text.replace("\n", "\r").encode(),
            "gz": gzip.compress(b"\xef\xbb\xbf" + text.encode())}


DECODE = "decode -q -p track.json -o - "


def test_marks_and_line_ends(box):
    """Each role of a text file reads the same whatever program saved it."""
    two_chromosomes(box)
    box.write("seg.bed", "".join("chr%s\t%d\t%d\t%s\n" % (c, i * 100, i * 100 + 100, "AB"[i % 2]) for c in "AB" for i in range(4)))
    roles = {
        "regions": ("chrA\t0\t200\nchrB\t100\t200\n", DECODE + "-L FILE signal.bw"),
        "excluded": ("chrA\t0\t200\nchrB\t100\t200\n", DECODE + "--exclude FILE signal.bw"),
        "sizes": ("chrB\t400\nchrA\t400\n", DECODE + "-g FILE signal.bw"),
        "sheet": ("sample\ttrack\tpath\nx\tsignal\tsignal.bw\n", DECODE + "--samples FILE"),
        "constraints": ("chrA\t0\t50\tlabel:on\nchrB\t0\t50\tlabel:on\n", DECODE + "--constraints FILE signal.bw"),
        "claims": ("chrA\t0\t50\tlabel:on\nchrB\t0\t50\tlabel:on\n", "query -q -p track.json --claims FILE signal.bw"),
        "segments": (box.text("seg.bed"), "describe FILE"),
        "annotation": ("chrA\t0\t150\nchrB\t0\t250\n", "enrich seg.bed x=FILE"),
        "sample": (box.text("seg.bed"), "compare a=seg.bed b=FILE"),
        "truth": (box.text("seg.bed"), "eval --truth FILE seg.bed"),
    }
    for role, (text, command) in roles.items():
        expected = box.ok(command.replace("FILE", box.write("plain", text))).stdout
        for kind, content in variants(text).items():
            box.write("other", content)
            found = box.ok(command.replace("FILE", "other")).stdout
            same = [[line for line in out.splitlines() if not line.startswith(("#", "truth")) and "other" not in line and "plain" not in line]
                    for out in (expected, found)]
            check(same[0] and same[0] == same[1], "%s, %s:\n%s\nexpected\n%s" % (role, kind, found, expected))


def test_parameters_with_a_mark(box):
    two_chromosomes(box)
    expected = box.ok(DECODE + "signal.bw").stdout
    box.write("track.json", b"\xef\xbb\xbf" + box.path("track.json").read_bytes())
    check(bed_rows(box.ok(DECODE + "signal.bw").stdout) == bed_rows(expected), "other segments")


def test_other_encodings_are_named(box):
    two_chromosomes(box)
    box.write("wide.bed", "chrA\t0\t200\n".encode("utf-16"))
    box.fails(DECODE + "-L wide.bed signal.bw", 3, "wide.bed: is UTF-16; save it as UTF-8")
    box.write("wider.bed", "chrA\t0\t200\n".encode("utf-32"))
    box.fails(DECODE + "-L wider.bed signal.bw", 3, "UTF-32")
    box.write("unmarked.bed", "chrA\t0\t200\n".encode("utf-16-le"))
    box.fails(DECODE + "-L unmarked.bed signal.bw", 3, "zero byte")
    box.write("wide.json", box.text("track.json").encode("utf-16"))
    box.fails("decode -p wide.json -o - signal.bw", 3, "is UTF-16")
    box.fails(DECODE + "-L /dev/zero signal.bw", 3, "/dev/zero:line 1", "zero byte")
    box.fails("decode -p /dev/zero -o - signal.bw", 3, "/dev/zero")


def test_a_line_without_end(box):
    """256 MiB in one line of 256 KiB compressed: refused when its length is seen, in little memory."""
    two_chromosomes(box)
    pack = zlib.compressobj(9, zlib.DEFLATED, 31)
    block = b"A" * (1 << 20)
    box.write("bomb.bed.gz", b"".join(pack.compress(block) for _ in range(256)) + pack.flush())
    for command in ("describe bomb.bed.gz", DECODE + "-L bomb.bed.gz signal.bw", DECODE + "--samples bomb.bed.gz",
                    "train --labels bomb.bed.gz -o m.json signal.bw"):
        result = box.fails(command, 3, "bomb.bed.gz:line 1", "MiB")
        check(result.seconds < 5, "%.1f s\n%s" % (result.seconds, result))


def test_intervals_of_a_textgrid_are_told_apart(box):
    """Whatever separates them: each is a segment of its own."""
    values = "\"ooTextFile\" \"TextGrid\" 0 4 <exists> 1 \"IntervalTier\" \"t\" 0 4 4 0 1 \"a\" 1 2 \"c\" 2 3 \"a\" 3 4 \"c\""
    box.write("u.npy", npy([[float(i // 100 % 2)] for i in range(400)]))
    for separator in ("\n", " ", "\r", "\r\n", "\t"):
        box.write("u.TextGrid", values.replace(" ", separator))
        result = box.ok("train --labels u.TextGrid --rate 100 --progress off --max-iterations 1 -o m.json u.npy")
        check("400 bins, 4 segments" in result.stderr, "%r: %s" % (separator, result))
        check(json.loads(box.text("m.json"))["max_duration"] <= 100, "segments were joined by %r" % separator)


def test_labels_that_are_not_text(box):
    """They are refused with file and line before anything is computed."""
    two_chromosomes(box)
    box.write("latin.bed", b"chrA\t0\t100\tA\nchrA\t100\t200\t" + LATIN + b"\n")
    for command in ("train -b 10 --labels latin.bed -o m.json signal.bw", "learn -b 10 --labels 3 --labels-known latin.bed -o m.json signal.bw",
                    "describe latin.bed", "eval --truth latin.bed latin.bed --json e.json", "compare a=latin.bed b=latin.bed", "enrich latin.bed x=latin.bed"):
        result = box.fails(command, 3, "latin.bed:line 2: column 4", "not UTF-8", "\\xe9")
        check("training" not in result.stderr, "%s" % result)
    box.write("control.bed", b"chrA\t0\t100\ta\x1b[31m\n")
    box.fails("describe control.bed", 3, "control.bed:line 1: column 4", "control characters")
    box.write("header.bed", b"#M\xfcller\nchrA\t0\t100\ta\n")
    box.ok("describe header.bed")


def test_names_of_files_that_are_not_text(box):
    """Names of tracks and sequences that come from files are checked at the door; NAME=PATH gives others."""
    two_chromosomes(box)
    box.write("seg.bed", "chrA\t0\t200\tA\nchrA\t200\t400\tB\n")
    rows = [[float(i // 50 % 2)] for i in range(400)]
    for bad in (b"tr\xe9".decode("utf-8", "surrogateescape"), "a\tb", "a\nb", "a\x7f"):
        box.write(bad + ".bw", box.path("signal.bw").read_bytes())
        box.write(bad + ".npy", npy(rows))
        fit = ["-q", "-b", "10", "--max-iterations", "1", "-o", "m.json"]
        box.fails(["train", "--labels", "seg.bed"] + fit + [bad + ".bw"], 3, "NAME=PATH")
        box.fails(["learn", "--labels", "2"] + fit + [bad + ".bw"], 3, "NAME=PATH")
        box.fails(["train", "--labels", "seg.bed"] + fit + [bad + "=signal.bw"], 2)
        box.fails(["train", "--labels", "seg.bed", "--track-names", bad] + fit + ["chrA=" + bad + ".npy"], 2, "--track-names")
        box.fails(["edit", "track.json", "--rename-track", "signal=" + bad, "-o", "m.json"], 2)
        box.fails(["compare", "a=seg.bed", bad + "=seg.bed"], 2)
        box.fails(["simulate", "-p", "track.json", "--length", "10", "--name", bad, "-o", "s.bed"], 2, "--name")
        box.ok(["train", "--labels", "seg.bed"] + fit + ["signal=" + bad + ".bw"])
        box.ok("info m.json")
        result = box.ok(["decode", "-q", "-p", "track.json", "-o", "out.bed", "signal=" + bad + ".bw"])
        box.path("out.bed").read_bytes().decode("utf-8")
        box.ok("describe out.bed")
    npz(box.path("bad.npz"), [("a\x07.npy", npy(rows))])
    box.fails("decode -p track.json -o out.bed bad.npz", 3, "bad.npz", "control characters")


def test_chromosomes_called_as_headers(box):
    """Lines of chromosomes track and browser are data, those of genome browsers are not; # begins a comment, so no sequence may."""
    text = "browser position chrA:1-100\ntrack name=x description=\"0 1\"\ntrack\t0\t10\tA\ntrack 10 30 B\nbrowser\t0\t20\tB\n"
    rows = [line.split("\t") for line in box.ok(["describe", box.write("h.bed", text)]).stdout.splitlines()[1:]]
    check({row[0]: row[1:3] for row in rows} == {"A": ["1", "10"], "B": ["2", "40"]}, "%s" % rows)
    box.write("t.bed", "chrA\t0\t10\tA\ntrack\tx\t10\tA\n")
    box.fails("describe t.bed", 3, "t.bed:line 2", "start")
    track_parameters(box)
    box.fails(["decode", "-p", "track.json", "-o", "out.bed", "#c=" + box.write("c.npy", npy([[1.0]] * 20))], 3, "'#c'")
    bigwig_track(box, "signal.bw", {"#c": 400}, [])
    box.fails("decode -p track.json -o out.bed signal.bw", 3, "'#c'")


def test_positions_of_a_part_that_are_none(box):
    track_parameters(box)
    box.write("x.npy", npy([[1.0]] * 60))
    for name in ("chr1:0-599", "chr1:600-1"):
        box.fails("decode -p track.json -o out.bed %s=x.npy" % name, 3, name, "from 1")


def test_regions_that_are_not_used(box):
    two_chromosomes(box)
    box.write("some.bed", "chrA\t0\t100\nchrX\t0\t50\nchr2_alt\t5\t9\n")
    result = box.ok("decode -p track.json -L some.bed --stats s.json -o out.bed signal.bw")
    check("2 of 3 regions of some.bed are on chromosomes that the inputs do not have: chrX, chr2_alt [regions-not-used]" in result.stderr, "%s" % result)
    check([warning["code"] for warning in json.loads(box.text("s.json"))["warnings"]] == ["regions-not-used"], box.text("s.json"))
    result = box.ok("decode -p track.json --exclude some.bed -o out.bed signal.bw")
    check("2 of 3 excluded intervals of some.bed" in result.stderr, "%s" % result)
    box.write("empty.bed", "# an intersection\n")
    box.write("all.bed", "chrA\t0\t400\nchrB\t0\t400\n")
    box.write("seg.bed", "chrA\t0\t200\tA\nchrA\t200\t400\tB\n")
    for command in ("decode -p track.json -o o", "posterior -p track.json -o o", "simulate -p track.json -o o", "learn -b 10 --labels 2 -o o",
                    "train -b 10 --labels seg.bed -o o"):
        box.fails(command + " -L empty.bed signal.bw", 3, "empty.bed", "nothing is left")
        box.fails(command + " --exclude all.bed signal.bw", 3, "all.bed", "nothing is left")
        result = box.ok(command + " --exclude empty.bed signal.bw" + (" --max-iterations 1" if command[0] in "tl" else ""))
        check("[nothing-excluded]" in result.stderr, "%s" % result)
    box.fails("eval --truth seg.bed -L empty.bed seg.bed", 3, "empty.bed")
    check("[regions-not-used]" in box.ok("eval --truth seg.bed -L some.bed seg.bed").stderr, "eval says nothing")


def test_other_formats_as_bed(box):
    for name, text, word in (
            ("a.gff3", "##gff-version 3\nchr1\tsrc\tgene\t1\t9\t.\t+\t.\tID=x\n", "GFF"), ("b.gtf", "chr1\tsrc\tgene\t1\t9\t.\t+\t.\tID=x\n", "GFF"),
            ("c.vcf", "##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\n1\t100\t200\tA\tG\t.\t.\t.\n", "VCF"), ("d.fa", ">chr1\nACGT\n", "FASTA")):
        box.fails(["describe", box.write(name, text)], 3, name, "this is " + word + ", not BED")


def test_points(box):
    """Intervals without a base anchor surroundings, and say where a segment starts; elsewhere they are called points."""
    box.write("seg.bed", "chrA\t0\t200\tA\nchrA\t200\t400\tB\n")
    box.write("points.bed", "chrA\t250\t250\nchrA\t50\t50\tx\t0\t-\n")
    box.write("bases.bed", "chrA\t250\t251\nchrA\t50\t51\tx\t0\t-\n")
    for option in ("--around start", "--around end", "--around centre", "--centres"):
        tables = [box.ok("enrich seg.bed x=%s %s" % (name, option)).stdout for name in ("points.bed", "bases.bed")]
        check(tables[0] == tables[1], "%s\n%s\n%s" % (option, *tables))
    for command in ("enrich seg.bed points.bed", "describe points.bed", "eval --truth points.bed seg.bed"):
        box.fails(command, 3, "points.bed:line 1", "a point, an interval without a base")
    two_chromosomes(box)
    claims = [box.ok("query -q -p track.json --claims %s signal.bw" % box.write("c.bed", "chrA\t70\t%d\tboundary\n" % end)).stdout.splitlines()[-1].split("\t")[3:]
              for end in (70, 71)]
    check(claims[0] == claims[1], "%s" % claims)
    box.write("c.bed", "chrA\t70\t70\tlabel:on\n")
    box.fails("query -q -p track.json --claims c.bed signal.bw", 3, "c.bed:line 1", "point")


def test_remote_files(box):
    track_parameters(box)
    box.fails("decode -p track.json -o o signal=https://example.org/x.bw", 4, "https://example.org/x.bw", "remote files are not read; download it first")
    box.fails("describe s3://bucket/x.bed", 4, "remote files are not read")


def test_a_bedgraph_as_labels(box):
    two_chromosomes(box)
    train = "train -b 10 --max-iterations 1 -o m.json signal.bw --labels "
    box.write("x.bedgraph", "".join("chrA\t%d\t%d\t0.%d\n" % (i * 100, i * 100 + 100, i) for i in range(4)))
    check("all 4 labels of x.bedgraph are numbers, such as 0.0, 0.1, 0.2 and 1 more: is it a bedGraph?" in box.ok(train + "x.bedgraph").stderr, "no hint")
    box.write("states.bed", "".join("chrA\t%d\t%d\t%d\n" % (i * 100, i * 100 + 100, i) for i in range(4)))
    check("bedGraph" not in box.ok(train + "states.bed").stderr, "a hint for numbered states")


def test_bigbed_that_counts_items(box):
    """The first version of bigBed counts items where later ones count blocks; both counts must be possible."""
    box.ok("decode -q -p scores.params.json -o s.bb scores.npy")
    whole = box.path("s.bb").read_bytes()
    expected = box.ok("describe s.bb").stdout
    data, index = struct.unpack_from("<QQ", whole, 16)
    items, = struct.unpack_from("<I", whole, data)
    for per_slot, stated, code in ((items, items, 0), (7, 7, 0), (items, items + 1, 3), (1, items, 3)):
        first = patched(patched(whole, 4, struct.pack("<H", 1)), data, struct.pack("<I", stated))
        box.write("v1.bb", patched(patched(first, index + 8, struct.pack("<Q", stated)), index + 40, struct.pack("<I", per_slot)))
        result = box.run("describe v1.bb")
        check(result.code == code and (code or result.stdout == expected), "%d items, %d per block: %s" % (stated, per_slot, result))
    for offset in (0, len(whole)):
        box.write("empty.bb", patched(patched(whole, data, bytes(4)), 24, struct.pack("<Q", offset)))
        box.fails("describe empty.bb", 3, "empty.bb: has no segments")


def test_files_without_data(box):
    """Empty bigWig files are empty, not damaged."""
    track_parameters(box)
    bigwig_track(box, "signal.bw", {"chrA": 400}, [])
    result = box.ok("decode -p track.json -o out.bed signal.bw")
    check("no track has a value" in result.stderr and "damaged" not in result.stderr, "%s" % result)


def test_arrays_that_do_not_fit(box):
    track_parameters(box, tracks=("a", "b"))
    box.write("t.npy", npy([[0.0] * 50] * 2))
    box.fails("decode -p track.json -o o t.npy", 3, "2 rows and 50 columns", "transposed", "a.T")
    matrix = npy([[0.0, float(i // 20 % 2)] for i in range(60)])
    strings = npy_header("<U1", shape=(2,)) + "ab".encode("utf-32-le")
    npz(box.path("summary.npz"), [("labels.npy", strings), ("matrix.npy", matrix)])
    result = box.ok("decode -p track.json -o o summary.npz")
    check("labels [not-numbers]" in result.stderr, "%s" % result)
    check({row[0] for row in bed_rows(box.text("o"))} == {"matrix"}, box.text("o"))
    check("labels: not numbers" in box.ok("info summary.npz").stdout, "info")
    for descr, shape, size in (("<U1", (2,), 8), ("|O", (2, 2), 32), ([("a", "<f4")], (2,), 8)):
        box.write("s.npy", npy_header(descr, shape=shape) + bytes(size))
        result = box.fails("decode -p track.json -o o s.npy", 3, "s.npy")
        check("astype" not in result.stderr, "%s" % result)
    box.write("i.npy", npy_header("<i4", shape=(2, 2)) + bytes(16))
    box.fails("decode -p track.json -o o i.npy", 3, "astype('float32')")
    box.write("huge.npy", npy([[1e300, 0.0]] * 3, "<f8"))
    box.fails("decode -p track.json -o o huge.npy", 3, "1e+300 is too large")


def test_messages_are_short(box):
    """Names of a megabyte in every role of a text file: an error of one line with less than 2000 bytes."""
    two_chromosomes(box)
    box.write("seg.bed", "chrA\t0\t200\tA\nchrA\t200\t400\tB\n")
    name = "A" * HUGE
    lines = {"chromosome": "%s\t0\t10\tlabel:on\n" % name, "start": "chrA\t%s\t10\tx\n" % name, "label": "chrA\t0\t10\t%s\n" % name, "columns": name + "\n",
             "words": "chrA\t0\t10\t" + "label " * (HUGE // 6) + "\n"}
    commands = [DECODE + "-L FILE signal.bw", DECODE + "--exclude FILE signal.bw", DECODE + "-g FILE signal.bw", DECODE + "--samples FILE",
                DECODE + "--constraints FILE signal.bw", "query -p track.json --claims FILE signal.bw", "enrich seg.bed FILE", "compare a=seg.bed b=FILE",
                "eval --truth FILE seg.bed", "eval --truth seg.bed FILE", "train -b 10 --max-iterations 1 --labels FILE -o m.json signal.bw", "import chromhmm FILE -o m.json",
                "import segway FILE -o m.json", "decode -p FILE -o o signal.bw", "describe FILE -o o", "info FILE"]
    for kind, text in lines.items():
        for command in commands:
            result = box.run(command.replace("FILE", box.write("x", text)))
            check(result.code in (0, 2, 3), "%s: %s" % (kind, result))
            check(len(result.stderr) < 2000, "%s: %d bytes of %s" % (kind, len(result.stderr), str(result)[:600]))
    box.write("zeros", bytes(HUGE))
    check(len(box.fails(DECODE + "--samples zeros", 3, "zero byte").stderr) < 300, "long")
    box.write("x.json", box.text("track.json").replace("signal", name))
    result = box.run("decode -p x.json -o o signal.bw")
    check(result.code == 3 and len(result.stderr) < 2000, "%d bytes" % len(result.stderr))
    for option in ("-r", "--track-pattern", "--max-memory", "--device", "--no-such-option", "--unit", "-b", "--sample"):
        result = box.run(["decode", "-p", "track.json", "-o", "o", option, "B" * 100_000, "signal.bw"])
        check(result.code == 2 or (option == "-r" and result.code == 3), "%s" % str(result)[-500:])
        check(len(result.stderr) < 2000, "%s: %d bytes" % (option, len(result.stderr)))


def test_many_like_warnings_are_one_line(box):
    """3,000 sequences shorter than the shortest duration: one line, each in the statistics."""
    names = ["s%d" % i for i in range(3000)]
    track_parameters(box)
    box.ok("edit track.json --min-duration on=20 --min-duration off=20 -o long.json")
    bigwig.write(box.path("signal.bw"), {name: 100 for name in names}, [section for name in names for section in bigwig.fixed_step(name, 0, 10, [1.0] * 10)])
    result = box.ok("decode -p long.json --infeasible skip --stats s.json -o out.bed signal.bw")
    found = [line for line in result.stderr.splitlines() if "[infeasible]" in line]
    check(len(found) == 1 and "3000 times (s0:1-100, s1:1-100, s10:1-100 and 2997 more)" in found[0], "%s" % result.stderr[:2000])
    warnings = [warning["message"] for warning in json.loads(box.text("s.json"))["warnings"] if warning["code"] == "infeasible"]
    check(len(warnings) == 3000 and warnings[-1].startswith("s999:1-100: "), "%d: %s" % (len(warnings), warnings[-1:]))
