"""Outputs that cannot be written, signals and closed pipes: the old file or none, never half of one."""

import contextlib
import os
import random
import signal
import stat
import struct
import subprocess
import time

from bbi_files import bigwig_intervals, joined
from harness import DATA, Skip, bed_rows, check
from make_inputs import npy, npy_header, parameters, track_parameters

DECODE = "decode -p scores.params.json "
POSTERIOR = "posterior -p scores.params.json "
OLD = "the old output\n"


def test_segments_of_some_labels(box):
    """--only, and narrowPeak: the segments of these labels as they are among the others."""
    box.ok("decode -q -p scores.params.json -o all.bed scores.npy")
    rows = bed_rows(box.text("all.bed"))
    label = rows[1][3]
    wanted = [row for row in rows if row[3] == label]
    for more in ("", "-t 3 ", "--score none "):
        box.ok("decode -q -p scores.params.json %s--only %s -o some.bed scores.npy" % (more, label))
        check([row[:4] for row in bed_rows(box.text("some.bed"))] == [row[:4] for row in wanted], more)
        check("#option only=%s\n" % label in box.text("some.bed"), "not in the header")
    box.ok("decode -q -p scores.params.json --only %s -o some.narrowPeak scores.npy" % label)
    peaks = bed_rows(box.text("some.narrowPeak"))
    check(len(peaks) == len(wanted) > 3, "%d peaks" % len(peaks))
    for n, (peak, row) in enumerate(zip(peaks, wanted)):
        check(peak[:3] == row[:3] and peak[3] == "%s_%d" % (label, n + 1) and peak[4:6] == [row[4], "."], "%s" % peak)
        p = 1 - 10 ** -float(peak[8])
        check(abs(1000 * p - int(row[4])) < 0.51 and peak[6] == peak[7] == peak[9] == "-1", "%s" % peak)
    box.fails("decode -p scores.params.json -o some.narrowPeak scores.npy", 2, "which labels are peaks", "--only")
    box.fails("decode -p scores.params.json --only x -o o.bed scores.npy", 2, "no label 'x'")
    box.fails("decode -p scores.params.json --score none --only %s -o some.narrowPeak scores.npy" % label, 2, "--score none")
    box.fails("simulate -p scores.params.json --seed 1 -o some.narrowPeak scores.npy", 2, "some.narrowPeak")


def test_signal_of_peaks(box):
    """signalValue and peak of narrowPeak are those of the highest bin of the track of the label, as the input has them."""
    folder = DATA / "chromatin"
    tracks = ["--track-pattern", "{sample}.{track}.bw"] + sorted(str(path) for path in folder.glob("E065.*.bw"))
    box.ok(["train", "-q", "-b", "200", "--labels", folder / "states.bed", "-r", "pilot:1-2000000", "--max-iterations", "20", "-o", "m.json"] + tracks)
    bins = {"E1": "H3K4me3", "E7": "H3K36me3"}
    bins = {label: {begin // 200 + i: value for _, begin, end, value in bigwig_intervals((folder / ("E065.%s.bw" % mark)).read_bytes())[0]
                    for i in range((end - begin) // 200)} for label, mark in bins.items()}
    box.ok(["decode", "-q", "-p", "m.json", "-r", "pilot:1000001-3000000", "--only", "E1,E7", "-o", "o.narrowPeak"] + tracks)
    peaks = bed_rows(box.text("o.narrowPeak"))
    check(len(peaks) > 20 and {peak[3][:2] for peak in peaks} == set(bins), "%d peaks" % len(peaks))
    for peak in peaks:
        begin, end = int(peak[1]), int(peak[2])
        values = [bins[peak[3][:2]].get(bin, 0) for bin in range(begin // 200, end // 200)]
        check(abs(float(peak[6]) - max(values)) < 1e-5 and int(peak[9]) == 200 * values.index(max(values)) + 100, "%s: %s" % (peak, values))


def test_signal_of_peaks_of_arrays(box):
    """Parts of chromosomes, and what has no value."""
    track_parameters(box, tracks=("one", "two"), missing="mean", bin_size=10, format_version="1.1",
                     emission={"weights": [[0, 0], [1, 2]], "bias": [0, -1]})
    nan = float("nan")
    rows = [[0, 0]] * 10 + [[3, 1], [5, 2], [5, nan], [4, 9]] + [[0, 0]] * 10 + [[9, nan]] * 3 + [[0, 0]] * 3
    box.path("a.npy").write_bytes(npy(rows))
    box.ok("decode -q -p track.json --only on -o o.narrowPeak chr2:1001-1300=a.npy")
    peaks = [[peak[1], peak[2], peak[6], peak[9]] for peak in bed_rows(box.text("o.narrowPeak"))]
    check(peaks == [["1100", "1140", "9", "35"], ["1240", "1270", "-1", "-1"]], "%s" % peaks)


def test_an_output_is_replaced(box):
    box.write("out.bed", OLD)
    box.ok(DECODE + "-o out.bed scores.npy")
    check(OLD not in box.text("out.bed") and "high" in box.text("out.bed"), "not replaced")


def test_an_input_is_never_an_output(box):
    box.path("link.npy").symlink_to("scores.npy")
    os.link(box.path("scores.npy"), box.path("hard.npy"))
    for target in ("scores.npy", "./scores.npy", "link.npy", "hard.npy", "scores.params.json", "sizes.txt", "regions.bed"):
        box.write("sizes.txt", "scores\t3000\n")
        box.write("regions.bed", "scores\t0\t3000\n")
        common = DECODE + "-g sizes.txt -L regions.bed "
        box.fails(common + "-o %s scores.npy" % target, (2, 5), target)
        box.fails(common + "-o out.bed --stats %s scores.npy" % target, (2, 5), target)
        box.fails(common + "-o out.bed --posterior %s scores.npy" % target, (2, 5), target)


def test_missing_output_folder(box):
    for option in ("-o", "-o out.bed --stats", "-o out.bed --posterior", "-o out.bed --log-file"):
        box.fails(DECODE + option + " nowhere/out.txt scores.npy", 5, "nowhere/out.txt")


def test_a_folder_as_output(box):
    box.path("folder").mkdir()
    box.fails(DECODE + "-o folder scores.npy", 5, "folder")


def test_read_only_folder(box):
    folder = box.path("locked")
    folder.mkdir()
    folder.chmod(0o555)
    result = box.run_unprivileged(DECODE + "-o locked/out.bed scores.npy")
    check(result.code == 5 and "locked/out.bed" in result.stderr, "%s" % result)
    check(box.listing("locked") == [], "left behind: %s" % box.listing("locked"))
    folder.chmod(0o755)


@contextlib.contextmanager
def small_file_system(box, options):
    """A tmpfs inside the test's folder."""
    folder = box.path("small")
    folder.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], capture_output=True, check=False) \
        if os.geteuid() == 0 else None
    if done is None or done.returncode != 0:
        raise Skip("a tmpfs cannot be mounted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def test_full_file_system(box):
    with small_file_system(box, "size=8k") as folder:
        (folder / "out.bedgraph").write_text(OLD)
        result = box.run(POSTERIOR + "-o small/out.bedgraph scores.npy")
        check(result.code == 5 and "small/out.bedgraph" in result.stderr, "%s" % result)
        check(box.listing("small") == ["out.bedgraph"], "left behind: %s" % box.listing("small"))
        check(box.text("small/out.bedgraph") == OLD, "the old output is gone")


def test_read_only_file_system(box):
    with small_file_system(box, "size=1m,ro"):
        box.fails(DECODE + "-o small/out.bed scores.npy", 5, "small/out.bed")


def test_full_standard_output(box):
    if not os.path.exists("/dev/full"):
        raise Skip("no /dev/full")
    for command in (DECODE, POSTERIOR):
        with open("/dev/full", "wb") as full:
            result = box.run(command + "-q scores.npy", stdout=full)
        check(result.code == 5, "%s" % result)
        check(result.stderr.startswith("semicrf: error: ") and result.stderr.count("\n") == 1, "%s" % result)


def test_full_device_as_output(box):
    """A private node: a program that renames over its output would replace a device of the machine."""
    node = box.path("full")
    try:
        os.mknod(node, stat.S_IFCHR | 0o666, os.makedev(1, 7))
        with open(node, "wb") as probe:
            probe.write(b"x" * 100000)
    except PermissionError as error:
        raise Skip("device nodes cannot be made here") from error
    except OSError:
        pass
    for command in (DECODE, POSTERIOR):
        result = box.run(command + "-o full scores.npy")
        check(result.code == 5 and "full" in result.stderr, "%s" % result)
        check(stat.S_ISCHR(node.stat().st_mode), "the device was replaced by a file")


def test_standard_output_as_device_file(box):
    plain = box.ok(DECODE + "-q scores.npy").stdout
    check(box.ok(DECODE + "-q -o /dev/stdout scores.npy").stdout == plain, "-o /dev/stdout")


def test_closed_pipe_is_quiet(box):
    parameters(box, "many.json", max_duration=12)
    for command in (DECODE, POSTERIOR):
        for extra in ("", "-o - "):
            reading, writing = os.pipe()
            os.close(reading)
            process = box.start((command + "-q " + extra + "scores.npy").split(), stdout=writing, stderr=subprocess.PIPE)
            os.close(writing)
            _, stderr = process.communicate(timeout=60)
            check(process.returncode in (141, -signal.SIGPIPE), "exit %d" % process.returncode)
            check(stderr == b"", "stderr: %r" % stderr)


def long_run(box, length=4000000):
    """Arguments of a run of some seconds on a sparse file of zeros."""
    header = npy_header(shape=(length, 3))
    with open(box.path("long.npy"), "wb") as out:
        out.write(header)
        out.truncate(len(header) + length * 12)
    parameters(box, "long.json", max_duration=600, duration={"kind": "uniform"})
    box.write("out.bed", OLD)
    box.write("out.bedgraph", OLD)
    box.write("stats.json", OLD)
    return ("decode -p long.json -t 1 --device reference -o out.bed --posterior out.bedgraph --stats stats.json "
            "long.npy").split()


def interrupted(box, number, delay):
    arguments = long_run(box)
    before = box.listing()
    process = box.start(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(delay)
    running = process.poll() is None
    process.send_signal(number)
    _, stderr = process.communicate(timeout=30)
    check(running, "the run ended before the signal; exit %s, %r" % (process.returncode, stderr))
    check(process.returncode in (-number, 128 + number), "exit %d, %r" % (process.returncode, stderr))
    check(box.listing() == before, "left behind: %s" % (set(box.listing()) - set(before)))
    for name in ("out.bed", "out.bedgraph", "stats.json"):
        check(box.text(name) == OLD, "%s was touched" % name)


def test_interrupt_leaves_the_old_output(box):
    interrupted(box, signal.SIGINT, 1.0)


def test_termination_leaves_the_old_output(box):
    interrupted(box, signal.SIGTERM, 0.3)


def test_a_failing_run_leaves_the_old_output(box):
    box.write("bad.npy", box.path("scores.npy").read_bytes()[:-1])
    box.write("out.bed", OLD)
    box.fails(DECODE + "-o out.bed bad.npy", 3)
    box.fails(DECODE + "-o out.bed scores.npy bad.npy", 3)


def as_float(text):
    return struct.unpack("<f", struct.pack("<f", float(text)))[0]


def bedgraph_intervals(text):
    return joined([(c, int(b), int(e), as_float(v)) for c, b, e, v in
                   (line.split("\t") for line in text.splitlines() if line and not line.startswith(("#", "track")))])


def test_bigwig_has_what_bedgraph_has(box):
    rng = random.Random(77)
    for name, bins in (("chrB", 2500), ("chrA", 40), ("chrC", 1)):
        box.write(name + ".npy", npy([[rng.gauss(0, 1.5) for _ in range(2)] for _ in range(bins)]))
    box.write("g.tsv", "chrB\t24995\nchrA\t400\nchrC\t7\nchrD\t5000\n")
    parameters(box, "p.json", labels=["x/y", "off"], max_duration=5, transition=[["-inf", 0], [0, "-inf"]], duration={"kind": "uniform"}, bin_size=10)
    run = "posterior -q -p p.json -g g.tsv %s chrA.npy chrB.npy chrC.npy"
    for options in ("", "--digits 2", "--min-posterior 0.1", "-r chrB:101-3000 -r chrA", "-t 3"):
        box.ok(run % ("%s -o b.bedgraph --labels-out l --starts-out s --ends-out e" % options))
        box.ok(run % ("%s -o b.bw --labels-out l.bw --starts-out s.bigwig --ends-out e.bigWig" % options))
        pairs = [("b.bw", "b.bedgraph")] + [("%s.%s.%s" % (name, label, ending), "%s.%s.bedgraph" % (name, label))
                                            for name, ending in (("l", "bw"), ("s", "bigwig"), ("e", "bigWig")) for label in ("x_y", "off")]
        for binary, text in pairs:
            found, zooms = bigwig_intervals(box.path(binary).read_bytes())
            check(found == bedgraph_intervals(box.text(text)) and zooms >= 1, "%s is not %s (%s)" % (binary, text, options))
    threaded = box.path("b.bw").read_bytes()
    box.ok(run % "-o b.bw -t 1")
    check(box.path("b.bw").read_bytes() == threaded, "threads change the bytes")
    box.ok("decode -q -p p.json -g g.tsv -o d.bed --posterior d.bw chrA.npy chrB.npy chrC.npy")
    box.ok("decode -q -p p.json -g g.tsv -o d.bed --posterior d.bedgraph chrA.npy chrB.npy chrC.npy")
    check(bigwig_intervals(box.path("d.bw").read_bytes())[0] == bedgraph_intervals(box.text("d.bedgraph")), "decode --posterior")
    said = box.ok("info b.bw").stdout
    check("3 chromosomes" in said and "zoom level" in said, said)
    # What was written is an input again.
    track_parameters(box, "t.json", tracks=("b",), bin_size=10)
    box.ok("decode -q -p t.json -o t.bed b.bw")
    box.fails("decode -p p.json -o d.bw chrA.npy", 2, "d.bw", "BED")
    box.fails("simulate -p p.json --length 5 -o d.bw", 2, "d.bw", "BED")
    box.fails("posterior -p p.json -o d.bb chrA.npy", 2, "d.bb", "bedGraph")
    # Files with an index of their own get no other.
    box.ok("decode -q -p p.json -g g.tsv -o x.bed.gz --write-index --posterior x.bw chrA.npy")
    check([name for name in box.listing() if name.startswith("x.")] == ["x.bed.gz", "x.bed.gz.tbi", "x.bw"], "%r" % box.listing())
    # An index is written where there can be one; what gets none is said. Where nothing has one, it is an error.
    said = box.ok("decode -p p.json -g g.tsv -o y.bed --write-index --posterior y.bw chrA.npy").stderr
    check("y.bed gets no index" in said and "y.bw" not in said, said)
    said = box.ok("decode -p p.json -g g.tsv --write-index --posterior y.bw chrA.npy").stderr
    check("standard output gets no index" in said, said)
    said = box.ok("decode -p p.json -g g.tsv -o z.bed.gz --write-index --posterior z.bedgraph chrA.npy").stderr
    check("z.bedgraph gets no index" in said and "z.bed.gz gets" not in said, said)
    box.ok("posterior -q -p p.json -g g.tsv -o y2.bw --write-index chrA.npy")
    names = [name for name in box.listing() if name.startswith(("y.", "y2", "z"))]
    check(names == ["y.bed", "y.bw", "y2.bw", "z.bed.gz", "z.bed.gz.tbi", "z.bedgraph"], "%r" % names)
    box.fails("decode -p p.json -g g.tsv -o w.bed --write-index --posterior w.bedgraph chrA.npy", 2, "w.bed", ".gz")
