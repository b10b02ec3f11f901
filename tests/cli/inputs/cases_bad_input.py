"""Inputs that are damaged or do not fit: the right exit code, one clear line, nothing written."""

import json
import struct

import oracle
from harness import bed_rows, check
from make_inputs import (bigwig, bigwig_track, npy, npy_header, npz, parameters, patched, signal, track_parameters)

DECODE = "decode -p scores.params.json -o out.bed "
INF, NAN = float("inf"), float("nan")


def test_missing_files(box):
    box.fails(DECODE + "nowhere.npy", 4, "nowhere.npy")
    box.fails("decode -p nowhere.json -o out.bed scores.npy", 4, "nowhere.json")
    box.fails(DECODE + "-L nowhere.bed scores.npy", 4, "nowhere.bed")
    box.fails(DECODE + "-g nowhere.txt scores.npy", 4, "nowhere.txt")


def test_folder_as_input(box):
    box.path("folder").mkdir()
    box.fails(DECODE + "folder", 4, "folder")
    box.fails("decode -p folder -o out.bed scores.npy", 4, "folder")


def test_unreadable_file(box):
    box.path("scores.npy").chmod(0)
    result = box.run_unprivileged(DECODE.replace("-o out.bed ", "") + "scores.npy")
    check(result.code == 4 and "scores.npy" in result.stderr, "%s" % result)
    check(result.stdout == "" and result.stderr.count("\n") == 1, "%s" % result)


def test_empty_and_unknown_files(box):
    box.write("empty.npy", "")
    box.write("text.npy", "chr1\t0\t10\t0.5\n")
    box.fails(DECODE + "empty.npy", (3, 4), "empty.npy")
    box.fails(DECODE + "text.npy", (3, 4), "text.npy")


def test_control_characters_in_names_are_escaped(box):
    box.fails(["decode", "-p", "scores.params.json", "a\nb\x1b[31m.npy"], 4, "\\n")


def test_damaged_arrays(box):
    whole = box.path("scores.npy").read_bytes()
    row = [[0.0, 0.0, 0.0]]
    damaged = {
        "cut in the magic": whole[:4], "cut in the header": whole[:40], "cut in the data": whole[:-1], "one byte more": whole + b"\0",
        "no data": whole[:128], "version 4": patched(whole, 6, b"\4"), "no dictionary": npy_header(text="hello") + bytes(12),
        "no shape": npy_header(text="{'descr': '<f4', 'fortran_order': False, }") + bytes(12),
        "unknown key": npy_header(text="{'descr': '<f4', 'fortran_order': False, 'shape': (1, 3), 'x': 1, }") + bytes(12),
        "negative shape": npy_header(text="{'descr': '<f4', 'fortran_order': False, 'shape': (-1, 3), }") + bytes(12),
        "huge shape": npy_header(text="{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4), }") + bytes(12),
        "large shape": npy_header(shape=(10**12, 3)) + bytes(12), "one dimension": npy_header(shape=(3,)) + bytes(12),
        "three dimensions": npy_header(shape=(1, 1, 3)) + bytes(12), "two columns": npy([[0.0, 0.0]] * 9),
        "object": npy_header("|O", shape=(1, 3)) + bytes(24), "complex": npy_header("<c8", shape=(1, 3)) + bytes(24),
        "structured": npy_header([("a", "<f4")], shape=(1, 3)) + bytes(12), "text": npy_header("<U1", shape=(1, 3)) + bytes(12),
        "empty": npy_header(shape=(0, 3)), "NaN": npy(row * 4 + [[0.0, NAN, 0.0]] + row), "plus infinity": npy(row * 4 + [[INF, 0.0, 0.0]]),
    }
    for name, content in damaged.items():
        box.write("bad.npy", content)
        try:
            box.fails(DECODE + "bad.npy", 3, "bad.npy")
        except Exception as error:
            raise type(error)("%s: %s" % (name, error)) from error


def test_errors_of_arrays_name_the_type_and_the_position(box):
    box.write("bad.npy", npy_header("|O", shape=(1, 3)) + bytes(24))
    box.fails(DECODE + "bad.npy", 3, "object")
    box.write("bad.npy", npy_header("<c8", shape=(1, 3)) + bytes(24))
    box.fails(DECODE + "bad.npy", 3, "complex")
    box.write("bad.npy", npy([[0.0] * 3] * 7 + [[0.0, NAN, 0.0]]))
    result = box.fails(DECODE + "bad.npy", 3, "NaN")
    check("7" in result.error, "the row is not named: %s" % result.error)


def test_minus_infinity_forbids(box):
    rows = [list(row) for row in oracle.read_npy(box.path("scores.npy"))]
    for t in range(100, 130):
        rows[t][1] = -INF
    box.write("x.npy", npy(rows))
    for row in bed_rows(box.ok("decode -p scores.params.json x.npy").stdout):
        check(row[3] != "mid" or int(row[2]) <= 1000 or int(row[1]) >= 1300, "%r" % row)


def test_damaged_archives(box):
    content = box.path("scores.npy").read_bytes()
    npz(box.path("good.npz"), [("a.npy", content)], compress=True)
    whole = box.path("good.npz").read_bytes()
    box.write("bad.npz", whole[:len(whole) // 2])
    box.fails(DECODE + "bad.npz", 3, "bad.npz")
    box.write("bad.npz", patched(whole, 400, bytes(40)))
    box.fails(DECODE + "bad.npz", 3, "bad.npz")
    npz(box.path("bad.npz"), [("a.npy", content[:-4])])
    box.fails(DECODE + "bad.npz", 3, "bad.npz", "a")
    npz(box.path("bad.npz"), [("a.npy", content), ("a.npy", content)])
    box.fails(DECODE + "bad.npz", 3, "a")
    npz(box.path("bad.npz"), [("readme.txt", b"hello")])
    box.fails(DECODE + "bad.npz", 3, "bad.npz")


def test_damaged_bigwigs(box):
    track_parameters(box)
    bigwig_track(box, "good.bw")
    whole = box.path("good.bw").read_bytes()
    box.ok("decode -p track.json signal=good.bw")
    index = struct.unpack_from("<Q", whole, 24)[0]
    damaged = [("cut at %d" % n, whole[:n]) for n in (5, 63, 90, 140, index + 20, index + 60)]
    for name, offset in (("tree", 8), ("data", 16), ("index", 24)):
        damaged.append((name + " offset past the end", patched(whole, offset, struct.pack("<Q", 2**40))))
    damaged.append(("tree magic", patched(whole, 104, b"\0\0\0\0")))
    damaged.append(("chromosome count", patched(whole, 120, struct.pack("<Q", 2**50))))
    damaged.append(("index magic", patched(whole, index, b"\0\0\0\0")))
    damaged.append(("block offset", patched(whole, index + 48 + 4 + 16, struct.pack("<Q", 2**45))))
    damaged.append(("block size", patched(whole, index + 48 + 4 + 24, struct.pack("<Q", 2**45))))
    damaged.append(("block bytes", patched(whole, index - 30, bytes(20))))
    for name, content in damaged:
        box.write("bad.bw", content)
        try:
            box.fails("decode -p track.json -o out.bed signal=bad.bw", (3, 4), "bad.bw")
        except Exception as error:
            raise type(error)("%s: %s" % (name, error)) from error


def test_bigwig_values_and_intervals(box):
    track_parameters(box)
    cases = {"infinite": [(0, 10, 1.0), (10, 20, INF)], "overlap": [(0, 10, 1.0), (5, 20, 1.0)],
             "inverted": [(0, 10, 1.0), (30, 20, 1.0)], "past the end": [(0, 10, 1.0), (390, 401, 1.0)]}
    for name, items in cases.items():
        bigwig_track(box, "bad.bw", sections=bigwig.bedgraph("chrA", items))
        try:
            box.fails("decode -p track.json -o out.bed signal=bad.bw", 3, "bad.bw", "chrA")
        except Exception as error:
            raise type(error)("%s: %s" % (name, error)) from error


def test_a_block_may_claim_more_than_it_holds(box):
    """Some writers put an end past the chromosome's into the block header and the index; the values are sound."""
    track_parameters(box)
    bigwig_track(box, "plain.bw")
    section = bigwig.fixed_step("chrA", 0, 10, signal())[0]
    bigwig_track(box, "long.bw", sections=[section[:2] + (1600,) + section[3:]])
    expected = box.ok("decode -p track.json signal=plain.bw").stdout
    check(bed_rows(box.ok("decode -p track.json signal=long.bw").stdout) == bed_rows(expected), "other segments")


def test_nan_in_a_bigwig_is_a_missing_value(box):
    values = signal()
    values[20:30] = [NAN] * 10
    bigwig_track(box, "signal.bw", sections=bigwig.fixed_step("chrA", 0, 10, values))
    track_parameters(box, missing="skip")
    rows = bed_rows(box.ok("decode -p track.json signal.bw").stdout)
    check(not any(int(row[1]) < 300 and int(row[2]) > 200 for row in rows), "%r" % rows)


def test_transform_out_of_range(box):
    track_parameters(box, tracks=["signal"])
    document = json.loads(box.text("track.json"))
    document["tracks"][0]["transform"] = "log1p"
    box.write("track.json", json.dumps(document))
    values = signal()
    values[13] = -2.0
    bigwig_track(box, "signal.bw", sections=bigwig.fixed_step("chrA", 0, 10, values))
    box.fails("decode -p track.json -o out.bed signal.bw", 3, "chrA")


def test_bigwigs_must_agree(box):
    track_parameters(box, tracks=["a", "b"])
    bigwig_track(box, "a.bw")
    bigwig_track(box, "b.bw", {"chrA": 410})
    box.fails("decode -p track.json -o out.bed a.bw b.bw", 3, "chrA", "400", "410")
    bigwig_track(box, "b.bw", {"chrB": 400}, bigwig.fixed_step("chrB", 0, 10, signal()))
    box.fails("decode -p track.json -o out.bed a.bw b.bw", 3, "chrA", "chrB")
    bigwig_track(box, "b.bw", {"A": 400}, bigwig.fixed_step("A", 0, 10, signal()))
    box.fails("decode -p track.json -o out.bed a.bw b.bw", 3, "chrA")


def test_binding_of_bigwigs(box):
    track_parameters(box, tracks=["a", "b"])
    for name in ("a.bw", "b.bw", "c.bw"):
        bigwig_track(box, name)
    box.fails("decode -p track.json -o out.bed a.bw", (2, 3), "b")
    box.fails("decode -p track.json -o out.bed a.bw b.bw c.bw", (2, 3), "c")
    box.fails("decode -p track.json -o out.bed a.bw a=b.bw", (2, 3), "a")


def test_duplicate_sequences(box):
    box.write("again.npy", box.path("scores.npy").read_bytes())
    box.fails(DECODE + "scores.npy scores=again.npy", (2, 3), "scores")


def test_unknown_chromosomes(box):
    box.fails(DECODE + "-r chr9:1-100 scores.npy", 3, "chr9", "scores")
    box.write("regions.bed", "chr9\t0\t100\n")
    box.fails(DECODE + "-L regions.bed scores.npy", 3, "chr9", "scores")
    track_parameters(box)
    bigwig_track(box, "signal.bw")
    box.fails("decode -p track.json -o out.bed -r A:1-100 signal.bw", 3, "A", "chrA")


def test_regions_past_the_end(box):
    box.fails(DECODE + "-r scores:3001-3100 scores.npy", 3, "scores", "3000")


def test_damaged_region_files(box):
    for text in ("scores\t10\n", "scores\tten\t20\n", "scores\t20\t10\n", "scores\t-5\t10\n"):
        box.write("regions.bed", text)
        box.fails(DECODE + "-L regions.bed scores.npy", 3, "regions.bed", "1")
        box.fails(DECODE + "--exclude regions.bed scores.npy", 3, "regions.bed", "1")
    for text in ("scores\n", "scores\tlong\n", "scores\t3000\nscores\t3000\n", "scores\t-4\n"):
        box.write("sizes.txt", text)
        box.fails(DECODE + "-g sizes.txt scores.npy", 3, "sizes.txt")


def test_shorter_than_the_longest_segment(box):
    rows = oracle.read_npy(box.path("scores.npy"))
    for length in range(2, 12):
        box.write("short.npy", npy(rows[:length]))
        found = bed_rows(box.ok("decode -p scores.params.json short.npy").stdout)
        check(found[-1][2] == str(10 * length), "length %d: %r" % (length, found))


def test_no_segmentation_possible(box):
    rows = oracle.read_npy(box.path("scores.npy"))
    never = ["-inf"] * 3
    parameters(box, "long.json", max_duration=6, duration={"kind": "table", "bias": [never] * 4 + [[0, 0, 0]] * 2})
    box.write("a.npy", npy(rows[:3]))
    box.write("b.npy", npy(rows[:20]))
    for command in ("decode", "posterior"):
        box.fails(command + " -p long.json -o out.bed b.npy a.npy", 3, "a:1-30", "3 bins", "5")
        result = box.ok(command + " -p long.json --infeasible skip --stats stats.json a.npy b.npy")
        check({row[0] for row in bed_rows(result.stdout)} == {"b"}, "%s" % result)
        check("a:1-30" in result.stderr or "a:" in result.stderr, "no warning:\n%s" % result)
        entry = json.loads(box.text("stats.json"))["sequences"][0]
        if command == "posterior":
            check(entry["name"] == "a" and entry["log_partition"] is None, "%s" % entry)


def test_damaged_parameters(box):
    whole = box.text("scores.params.json")
    for name, text in (("empty", ""), ("cut", whole[:200]), ("more behind it", whole + "{}"), ("list", "[1, 2]"), ("number", "7"),
                       ("NaN", whole.replace("-0.5", "NaN", 1)), ("Infinity", whole.replace("-0.5", "-Infinity", 1)),
                       ("comment", "// x\n" + whole), ("deep", "[" * 100000), ("not UTF-8", b"\xff\xfe{}"),
                       ("twice", whole.replace('"bin_size": 10,', '"bin_size": 10, "bin_size": 10,'))):
        box.write("bad.json", text)
        try:
            box.fails("decode -p bad.json -o out.bed scores.npy", 3, "bad.json")
        except Exception as error:
            raise type(error)("%s: %s" % (name, error)) from error


def test_wrong_parameters_are_named_by_pointer(box):
    table = json.loads(box.text("scores.params.json"))["duration"]["bias"]
    cases = [
        ("/format", dict(format="other")), ("/format_version", dict(format_version="2.0")), ("/labels", dict(labels=[])),
        ("/labels/2", dict(labels=["low", "mid", "low"])), ("/labels/1", dict(labels=["low", "", "high"])),
        ("/labels/1", dict(labels=["low", "a\tb", "high"])), ("/labels/0", dict(labels=[7, "mid", "high"])),
        ("/labels/0/color", dict(labels=[{"name": "low", "color": "red"}, "mid", "high"])), ("/max_duration", dict(max_duration=0)),
        ("/max_duration", dict(max_duration=1.5)), ("/max_duration", dict(max_duration=10**12)), ("/bin_size", dict(bin_size=-1)),
        ("/centering", dict(centering="median")), ("/initial", dict(initial="flat")), ("/transition", dict(transition=[[0, 0], [0, 0]])),
        ("/transition/1", dict(transition=[[0, 0, 0], [0, 0], [0, 0, 0]])), ("/transition/0/0", dict(transition=[[None, 0, 0]] + [[0] * 3] * 2)),
        ("/transition/0/0", dict(transition=[["inf", 0, 0]] + [[0] * 3] * 2)), ("transition", dict(transition=None)),
        ("/duration/kind", dict(duration={"kind": "gamma"})), ("/duration/bias", dict(duration={"kind": "table", "bias": table[:-1]})),
        ("/duration/bias/11", dict(duration={"kind": "table", "bias": table[:-1] + [[0, 0]]})),
        ("/duration/p/1", dict(duration={"kind": "geometric", "p": [0.5, 1.0, 0.5]})),
        ("/duration/r/0", dict(duration={"kind": "negative_binomial", "r": [0, 1, 1], "p": [0.5] * 3})),
        ("/duration/lambda/2", dict(duration={"kind": "poisson", "lambda": [1, 1, -1]})),
        ("/duration/tail/0", dict(duration={"kind": "uniform", "tail": [1.0, None, None]})),
        ("/duration/tail", dict(duration={"kind": "uniform", "tail": [0.5]})),
        ("/duration/tail/0", dict(duration={"kind": "table", "bias": table[:-1] + [["-inf", 0, 0]], "tail": [0.5, None, None]})),
        ("/start", dict(start=[0, 0])), ("/end/1", dict(end=[0, "x", 0])), ("/emission", dict(emission={"weights": [[1]] * 3, "bias": [0] * 3})),
    ]
    for pointer, changes in cases:
        parameters(box, "bad.json", **changes)
        try:
            box.fails("decode -p bad.json -o out.bed scores.npy", 3, "bad.json", pointer)
        except Exception as error:
            raise type(error)("%s: %s" % (changes, error)) from error


def test_unknown_keys_name_the_nearest(box):
    parameters(box, "bad.json", max_durations=12)
    box.fails("decode -p bad.json -o out.bed scores.npy", 3, "max_durations", "max_duration")
    parameters(box, "good.json", x_note="free", training={"anything": [1, {"a": None}]})
    box.ok("decode -p good.json scores.npy")


def test_a_folder_of_parameters_survives_info(box):
    box.ok("info scores.params.json")
    box.ok("info demo.params.json")
    box.ok("info codon_fwd0.bw")
    box.ok("info scores.npy")
    parameters(box, "bad.json", max_duration=-3)
    box.fails("info bad.json", 3, "/max_duration")
    box.fails("info nowhere.json", 4, "nowhere.json")


def test_template_is_a_valid_parameter_file(box):
    for tracks in ("", " -T signal"):
        text = box.ok("info --template -L off,on" + tracks).stdout
        box.write("template.json", text)
        box.ok("info template.json")
    bigwig_track(box, "signal.bw")
    size = json.loads(text).get("bin_size", 1)
    check(bed_rows(box.ok("decode -p template.json -b %d signal.bw" % size).stdout), "no segments")


def test_masked_mean_is_a_warning(box):
    rows = [list(row) for row in oracle.read_npy(box.path("scores.npy"))]
    rows[5][0] = -1e9
    box.write("x.npy", npy(rows))
    parameters(box, "mean.json", centering="mean")
    box.ok("decode -p mean.json -o out.bed --stats stats.json x.npy")
    check("masked-mean" in [w["code"] for w in json.loads(box.text("stats.json"))["warnings"]], "no masked-mean")


def test_segments_at_the_cap_are_a_warning(box):
    box.write("flat.npy", npy([[5.0, 0.0, 0.0]] * 240))
    parameters(box, "cap.json", transition=[[-1] * 3] * 3, duration={"kind": "uniform"})
    box.ok("decode -p cap.json -o out.bed --stats stats.json flat.npy")
    check(all(int(row[2]) - int(row[1]) == 120 for row in bed_rows(box.text("out.bed"))), "not all at the cap")
    check("durations-at-cap" in [w["code"] for w in json.loads(box.text("stats.json"))["warnings"]], "no durations-at-cap")
