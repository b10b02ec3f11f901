"""Files and descriptors, signals, limits of the system, and values of options: nothing is lost, and nothing ends as a bug of ours."""

import gzip
import json
import os
import resource
import shutil
import signal
import struct
import subprocess
import time

from harness import check
from make_inputs import npy

TRACKS = ["codon_%s%d.bw" % (strand, frame) for strand in ("fwd", "rev") for frame in range(3)]
DECODE = "decode -q -x cpu -p demo.params.json "
DEMO = " " + " ".join(TRACKS)


def shell(box, script):
    """Runs a script of sh, in which $S is the program."""
    done = subprocess.run(["sh", "-c", script], cwd=box.folder, env=dict(os.environ, S=box.program), stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode("utf-8", "replace")


def run_with(box, words, limits=(), **options):
    def prepare():
        for name, value in limits:
            resource.setrlimit(name, (value, value))
    done = subprocess.run([box.program] + words, cwd=box.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          preexec_fn=prepare, check=False, **options)
    return done.returncode, done.stderr.decode()


def long_scores(box, bins=2_000_000):
    """A file that takes a second or more to decode, and its parameters."""
    box.write("three.json", json.dumps({
        "format": "semicrf-params", "format_version": "1.0", "labels": ["A", "B", "C"], "max_duration": 50, "centering": "none",
        "transition": [[0, 1, 1], [1, 0, 1], [1, 1, 0]], "duration": {"kind": "uniform"}}))
    box.ok("simulate -q -x cpu -p three.json --length %d --name long -o /dev/null --emissions long.npy" % bins)


def temporaries(box):
    return [name for name in box.listing() if ".semicrf-" in name]


def test_open_descriptors_are_written_as_they_are(box):
    box.ok(DECODE + "-o s.bed" + DEMO)
    for name in ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"):
        box.write("log", "kept\n")
        code, _, errors = shell(box, '"$S" describe -o %s s.bed >> log' % name)
        check(code == 0 and box.text("log").startswith("kept\nlabel"), "%s: %d %s" % (name, code, errors))
        code, _, errors = shell(box, '{ echo first; "$S" describe -o %s s.bed; echo last; } > log' % name)
        lines = box.text("log").splitlines()
        check((lines[0], lines[-1]) == ("first", "last") and len(lines) > 3, "%s: %s %s" % (name, lines, errors))
    for pair in ("-o - --table /dev/stdout", "-o /dev/stdout --table -", "-o /dev/fd/1 --table /dev/stdout"):
        code, text, errors = shell(box, '"$S" %s %s %s' % (DECODE, pair, DEMO))
        check(code == 2 and not text and "semicrf: error: " in errors, "%s: %d %s" % (pair, code, errors))


def test_closed_descriptors_take_no_output(box):
    for closed, wanted in ((">&-", 0), ("2>&-", 0), ("<&-", 0), ("<&- >&- 2>&-", 0)):
        code, _, _ = shell(box, '"$S" decode -x cpu -p demo.params.json -o s.bed %s %s' % (DEMO, closed))
        check(code == wanted, "%s: exit %d" % (closed, code))
        lines = box.text("s.bed").splitlines()
        check(all(line.startswith("#") or line.count("\t") >= 8 for line in lines) and len(lines) > 9, "%s: %s" % (closed, lines[:3]))
    code, _, errors = shell(box, '"$S" %s -o - %s >&-' % (DECODE, DEMO))
    check(code == 5 and "standard output is closed" in errors, "%d %s" % (code, errors))


def test_an_input_is_no_output(box):
    box.ok(DECODE + "-o s.bed --boundaries b.tsv --table t.tsv" + DEMO)
    box.ok("posterior -q -x cpu -p demo.params.json -o p.bedgraph --labels-out l --stats st.json" + DEMO)
    box.ok("train -q -x cpu --labels genes.bed -b 3 --max-iterations 1 --checkpoint c.txt -o m.json" + DEMO)
    box.write("claims.bed", "chrIII\t30\t60\tboundary\n")
    box.write("not.bed", "chrIII\t30\t60\tno-boundary\n")
    os.link(box.path("claims.bed"), box.path("hard.bed"))
    os.symlink("claims.bed", box.path("soft.bed"))
    query = "query -q -x cpu -p demo.params.json --claims claims.bed" + DEMO
    for words in (query + " -o claims.bed", query + " -o ./claims.bed", query + " -o hard.bed", query + " -o soft.bed",
                  query + " -o q.tsv --stats claims.bed", query + " -o q.tsv --log-file claims.bed",
                  "eval -q --truth genes.bed s.bed -o genes.bed", "eval -q --truth genes.bed s.bed --json s.bed",
                  "eval -q --truth genes.bed s.bed --posterior p.bedgraph --json p.bedgraph",
                  "eval -q --truth genes.bed s.bed --intervals b.tsv -o b.tsv",
                  "train -q -x cpu --labels genes.bed -b 3 --max-iterations 2 --resume c.txt -o c.txt" + DEMO,
                  "train -q -x cpu --labels genes.bed -b 3 --max-iterations 2 --init m.json -o m.json" + DEMO,
                  "train -q -x cpu --labels genes.bed -b 3 -o genes.bed" + DEMO,
                  DECODE + "--constraints not.bed -o not.bed" + DEMO, DECODE + "--constraints not.bed -o x.bed --log-file not.bed" + DEMO,
                  DECODE + "-o x.bed --log-file x.bed" + DEMO, DECODE + "-o x.bed --stats x.bed" + DEMO,
                  DECODE + "-o x.bed --log-file demo.params.json" + DEMO, "describe s.bed -o s.bed", "enrich s.bed g=genes.bed --svg genes.bed",
                  "compare a=s.bed b=genes.bed --regions s.bed", "edit m.json --scale 1 -o m.json"):
        box.fails(words, 2)


def test_numbers_are_numbers(box):
    for value in ("nan", "NaN", "-nan", "inf", "1e999", "x"):
        box.fails("learn -q --labels 2 -b 3 --threshold %s -o x.json%s" % (value, DEMO), 2)
        box.fails("edit demo.params.json --scale %s -o x.json" % value, 2)
        for option in ("--learning-rate", "--l2", "--smoothness", "--tolerance"):
            box.fails("train -q --labels genes.bed -b 3 --optimizer adamw %s=%s -o x.json%s" % (option, value, DEMO), 2)
        box.fails("posterior -q -p demo.params.json --min-posterior=%s -o x.bedgraph%s" % (value, DEMO), 2)


def test_a_folder_is_no_file(box):
    box.path("folder").mkdir()
    box.fails("train -q --labels genes.bed -b 3 --resume folder -o x.json" + DEMO, 4, "folder")
    box.fails("learn -q --labels 2 -b 3 --resume folder -o x.json" + DEMO, 4, "folder")
    box.fails("decode -q -p folder -o x.bed" + DEMO, 4, "folder")
    box.fails("describe folder -o x.tsv", (3, 4), "folder")
    box.fails(DECODE + "-L folder -o x.bed" + DEMO, 4, "folder")


def test_a_checkpoint_that_cannot_be_written_loses_no_fit(box):
    for words in ("train -q -x cpu --labels genes.bed -b 3 --max-iterations 2", "learn -q -x cpu --labels 2 -b 3 --max-iterations 2"):
        result = box.run(words + " --checkpoint /dev/full -o fit.json" + DEMO)
        check(result.code == 5 and "/dev/full" in result.stderr, str(result))
        box.ok("info fit.json")
        box.path("fit.json").unlink()


def test_outputs_that_belong_together_are_there_together(box):
    box.write("s.bed", "c\t0\t100\ta\nc\t100\t200\tb\n")
    box.write("t.bed", "c\t0\t150\ta\nc\t150\t200\tb\n")
    for label in "ab":
        box.write("p.%s.bedgraph" % label, "c\t0\t200\t0.5\n")
    for words in ("describe s.bed --transitions", "compare s.bed t.bed --jaccard", "compare s.bed t.bed --regions", "compare s.bed t.bed --switches",
                  "reproducibility s.bed t.bed --labels p --r-values", "reproducibility s.bed t.bed --labels p --confident"):
        result = box.run(words.replace(" s.bed", " -o table.txt s.bed") + " /dev/full")
        check(result.code == 5 and "/dev/full" in result.stderr and "table.txt" not in box.listing(), "%s: %s %s" % (words, result, box.listing()))


def test_a_full_disk_is_told_for_texts_and_logs(box):
    for words in ("--help", "--version", "decode --help"):
        code, _, errors = shell(box, '"$S" %s > /dev/full' % words)
        check(code == 5 and "semicrf: error: " in errors, "%s: %d %s" % (words, code, errors))
    result = box.run("decode -x cpu -p demo.params.json -o s.bed --log-file /dev/full" + DEMO)
    check(result.code == 5 and "LOG ERROR" not in result.stderr and "/dev/full" in result.stderr, str(result))


def test_an_input_that_shrinks_is_an_error(box):
    long_scores(box)
    told = 0
    for delay in range(2, 30, 3):
        shutil.copy(box.path("long.npy"), box.path("t.npy"))
        process = box.start("decode -q -x cpu -t 2 -p three.json -o x.bed t.npy".split(), stderr=subprocess.PIPE)
        time.sleep(delay / 40)
        os.truncate(box.path("t.npy"), 0)
        errors = process.communicate()[1].decode()
        check(process.returncode in (0, 3, 4), "exit %d %s" % (process.returncode, errors))
        check(process.returncode == 0 or errors.count("semicrf: error: ") == 1 and "t.npy" in errors, errors)
        told += process.returncode == 4
        check(not temporaries(box), "%s" % temporaries(box))
    check(told > 0, "no run met the shorter file")


def test_signals_of_schedulers_leave_nothing(box):
    long_scores(box)
    for name in ("TERM", "HUP", "QUIT", "USR1", "USR2", "ALRM", "XCPU", "VTALRM"):
        process = box.start("decode -q -x cpu -t 1 -p three.json -o x.bed long.npy".split(), stderr=subprocess.PIPE)
        begin = time.monotonic()
        while not temporaries(box) and process.poll() is None and time.monotonic() - begin < 20:
            time.sleep(0.01)
        process.send_signal(getattr(signal, "SIG" + name))
        process.communicate()
        check(process.returncode == -getattr(signal, "SIG" + name), "SIG%s: exit %d" % (name, process.returncode))
        check(not temporaries(box) and "x.bed" not in box.listing(), "SIG%s: %s" % (name, box.listing()))
    process = box.start("train -q -x cpu --labels genes.bed -b 3 --max-iterations 4000 --checkpoint c.txt -o m.json".split() + TRACKS, stderr=subprocess.PIPE)
    time.sleep(1.5)
    process.send_signal(signal.SIGUSR1)
    process.communicate()
    check(process.returncode == 0 or "c.txt" in box.listing(), "no checkpoint: %d %s" % (process.returncode, box.listing()))


def test_work_goes_on_with_fewer_threads(box):
    box.ok(DECODE + "-t 1 -o one.bed" + DEMO)
    code, errors = run_with(box, (DECODE + "-t 8 -o few.bed" + DEMO).split(), [(resource.RLIMIT_AS, 300 << 20)])
    check(code == 0 and box.path("few.bed").read_bytes() == box.path("one.bed").read_bytes() or code == 6, "%d %s" % (code, errors))
    if os.geteuid() == 0 and shutil.which("setpriv") and shutil.which("prlimit"):
        for path in [box.folder] + list(box.folder.rglob("*")):
            path.chmod(0o777)
        shutil.copy(box.program, box.path("program"))
        done = subprocess.run(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "prlimit", "--nproc=1", "./program", "decode", "-x", "cpu",
                               "-t", "8", "-p", "demo.params.json", "-o", "none.bed"] + TRACKS, cwd=box.folder, stderr=subprocess.PIPE, check=False)
        errors = done.stderr.decode()
        check(done.returncode == 0 and errors.count("threads-refused") == 1, "%d %s" % (done.returncode, errors))
        check(box.path("none.bed").read_bytes() == box.path("one.bed").read_bytes(), "other bytes with fewer threads")


def test_names_that_no_file_system_takes(box):
    for words in (DECODE + "-o %s.bed" % ("x" * 256), DECODE + "-o x.bed --table %s" % ("x" * 256), DECODE + "-o x.bed --hub %s --hub-genome g" % ("h" * 256),
                  "posterior -q -x cpu -p demo.params.json -o x.bedgraph --labels-out %s" % ("x" * 250)):
        box.fails(words + DEMO, (2, 5), "choose a shorter")
    longest = "x" * 251 + ".bed"  # what the file system takes is written
    box.ok(DECODE + "-o %s" % longest + DEMO)
    check(longest in box.listing(), "%s" % box.listing())


def test_an_index_reaches_as_far_as_the_longest_chromosome(box):
    box.write("far.npy", npy([[0.0, 1.0, 2.0]] * 600, "<f4"))
    long_scores(box, 1000)
    for begin, shift in ((5_000_000_000, 15), (1 << 40, 23)):
        box.ok("decode -q -x cpu -p three.json -o o.bed.gz --write-index chr1:%d-%d=far.npy" % (begin + 1, begin + 600))
        index = gzip.decompress(box.path("o.bed.gz.csi").read_bytes())
        magic, min_shift, levels = struct.unpack_from("<4sii", index)
        check((magic, min_shift, levels) == (b"CSI\1", shift, 6) and b"chr1\0" in index, "%r %d %d" % (magic, min_shift, levels))


def test_few_open_files_are_enough(box):
    box.ok(DECODE + "-o s.bed" + DEMO)
    box.write("r.bed", "".join("III\t%d\t%d\n" % (i * 60, i * 60 + 90) for i in range(400)))
    code, errors = run_with(box, ("report -q -p demo.params.json --segments s.bed -L r.bed --figures f -o r.html" + DEMO).split(),
                            [(resource.RLIMIT_NOFILE, 64)])
    check(code == 0, "%d %s" % (code, errors))


def test_endings_tell_formats_in_any_case(box):
    for name, first in (("x.bed.bgz", b"\x1f\x8b"), ("x.BED.GZ", b"\x1f\x8b"), ("x.BB", b"\xeb\xf2"), ("x.bigBed", b"\xeb\xf2"), ("x.BED", b"#s")):
        box.ok(DECODE + "-o " + name + DEMO)
        check(box.path(name).read_bytes()[:2] == first, "%s begins with %r" % (name, box.path(name).read_bytes()[:2]))
    box.ok("posterior -q -x cpu -p demo.params.json -o x.BW" + DEMO)
    check(box.path("x.BW").read_bytes()[:4] == b"\x26\xfc\x8f\x88", "x.BW is no bigWig")
    for name in ("x.gff3", "x.GTF", "x.vcf", "x.bw", "x.bb.gz", "x.npy", "x.bam", "x.xlsx", "x.h5"):
        box.fails(DECODE + "-o " + name.replace("x.", "y.") + DEMO, 2, name[2:].split(".")[0])
    for name in ("y.bw.gz", "y.npy", "y.bb", "y.gff3"):
        box.fails("posterior -q -x cpu -p demo.params.json -o " + name + DEMO, 2)


def test_names_are_no_markup_and_no_columns(box):
    box.write("s.bed", 'c\t0\t10\t"><img src=x onerror=alert(1)>\nc\t10\t20\tB&<b>\n')
    box.path("q").mkdir()
    box.ok("describe --multiqc q --multiqc-name s -o d.tsv s.bed")
    for name in box.listing("q"):
        text = box.text("q/" + name)
        check("<img" not in text and "<b>" not in text, "%s has markup of a label: %s" % (name, text[:300]))
    box.fails(["describe", "--multiqc", "q", "--multiqc-name", "a\nb", "-o", "e.tsv", "s.bed"], 2)
    result = box.run(["compare", "a\tb=s.bed", "c=s.bed", "-o", "c.tsv"])
    check(result.code in (2, 3) or all(line.count("\t") == box.text("c.tsv").splitlines()[0].count("\t") for line in box.text("c.tsv").splitlines()), str(result))
