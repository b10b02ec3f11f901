"""Odd values for every option of every command: exit codes and messages of the contract, no bug, no signal.

Options are found in --help, so that a new one is tried as well. Of about 6,700 command lines every eighth is run, and all of them
with SEMICRF_ODD_VALUES=all in the environment.
"""

import concurrent.futures
import os
import pathlib
import re
import resource
import subprocess
import tempfile
import threading
import time

import cases_genes
import make_inputs
from cases_import import SMALL, model_text
from cases_segway import segway_text
from command_line import all_commands
from harness import check

ALLOWED = {0, 2, 3, 4, 5, 6, 7}
MOST_BYTES = 2000  # on standard error
LIMIT = 60  # seconds
MEMORY = 4 << 30  # bytes that a process may ask for
STEP = 1 if os.environ.get("SEMICRF_ODD_VALUES") == "all" else 8

# A command line of each command that works. Names are those of files that prepare() makes.
LINES = {
    "decode": "decode -p scores.params.json -o out scores.npy",
    "posterior": "posterior -p scores.params.json -o out scores.npy",
    "query": "query -p scores.params.json --claims claims.bed -o out scores.npy",
    "eval": "eval --truth labels.bed -o out labels.bed",
    "describe": "describe -o out labels.bed",
    "enrich": "enrich -o out labels.bed labels.bed",
    "compare": "compare -o out a=labels.bed b=labels.bed",
    "reproducibility": "reproducibility --labels p -o out a=labels.bed b=labels.bed",
    "report": "report -p track.json --segments labels.bed -o out",
    "train": "train --labels labels.bed -b 10 --max-iterations 2 --max-duration 5 -o out tracks.npy",
    "learn": "learn --labels 2 -b 10 --max-iterations 2 --max-duration 5 -o out tracks.npy",
    "genes": "genes -p genes.json -o out genome.fa",
    "train-genes": "train-genes --grammar prokaryote --order 0 --max-iterations 1 --annotation genes.gff3 -o out genome.fa",
    "eval-genes": "eval-genes --truth genes.gff3 -o out genes.gff3",
    "simulate": "simulate -p scores.params.json --length 30 --seed 1 -o out",
    "import chromhmm": "import chromhmm -o out model.txt",
    "import segway": "import segway -o out params.params",
    "export chromhmm": "export chromhmm -o out exported.json",
    "edit": "edit --forbid off,on -o out track.json",
    "info": "info track.json",
    "count": "count -g reads.sizes -b 10 -o out.bw reads.bed",
    "bench": "bench -T 40 -K 3 -C 2 --repeats 1",
}

# Options that work with another command line alone.
OTHER_LINES = {"train-genes": ({"--from", "--rounds", "--table"}, "train-genes --from genes.json -o out genome.fa")}


def prepare(box):
    rows = [[float(i // 6 % 2) + 0.1 * (i % 5)] for i in range(60)]
    box.write("tracks.npy", make_inputs.npy(rows))
    box.write("labels.bed", "".join("tracks\t%d\t%d\t%s\n" % (60 * i, 60 * i + 60, ("off", "on")[i % 2]) for i in range(10)))
    make_inputs.track_parameters(box, "track.json", tracks=("track1",))
    for label in ("off", "on"):
        box.write("p.%s.bedgraph" % label, "tracks\t0\t600\t0.5\n")
    box.write("claims.bed", "scores\t0\t50\tboundary\n")
    box.write("model.txt", model_text(*SMALL))
    fasta, gff = cases_genes.genome(("a",), 12, 1, introns=False)
    box.write("genome.fa", fasta), box.write("genes.gff3", gff)
    box.ok(LINES["train-genes"].replace("-o out", "-o genes.json").split())
    box.write("params.params", segway_text())
    box.ok("import chromhmm -o exported.json model.txt")
    box.write("reads.sizes", "c\t600\n")
    box.write("reads.bed", "".join("c\t%d\t%d\tr%d\t9\t%s\n" % (7 * i, 7 * i + 30, i, "+-"[i % 2]) for i in range(80)))
    box.write("binary", bytes(range(256)) * 4)
    box.write("empty", "")
    box.path("folder").mkdir()


def odd_values(folder):
    """28 of them; files are there under `folder`."""
    return ["", "nan", "inf", "-inf", "-1", "0", "1e999", "99999999999999999999", "0x10", "1,2", ",", "=", "a=", "=b", " ", "-",
            folder / "folder", "/dev/null", "/dev/full", "n" * 300, "a\nb", "a\tb", b"caf\xe9", "chr1:5-1", folder / "missing",
            folder / "binary", folder / "empty", "%s%n"]


def with_value(line, names, value):
    """`line` with this value of the option that has these names, in place of the one it has."""
    words = list(line)
    for name in names:
        if name in words:
            place = words.index(name)
            return words[:place + 1] + [value] + words[place + 2:]
    return words + [names[-1], value]


def line_of(folder, name, option=()):
    """The command line of a command in which an option with these names works, with its files under `folder`."""
    others, other = OTHER_LINES.get(name, (set(), ""))
    text = other if others & set(option) else LINES[name]
    line = [str(folder / word) if (folder / word).is_file() else word for word in text.split()]
    return [word if "=" not in word else word.split("=")[0] + "=" + str(folder / word.split("=")[1]) for word in line]


def variants(box, folder):
    """Command lines: of an option that several commands have, the first is given all values, the others each third."""
    seen = {}
    for command in all_commands(box):
        name = " ".join(command.path)
        if not command.path or command.commands:
            continue
        check(name in LINES, "cases_odd_values.py has no command line of %s" % name)
        for option in command.options:
            if not option.value:
                continue
            line = line_of(folder, name, option.names)
            key = (option.names[-1], option.value)
            values = odd_values(folder)
            if key in seen:
                values = values[seen[key] % 3::3]
            seen[key] = seen.get(key, -1) + 1
            for value in values:
                yield with_value(line, option.names, value)
        for value in odd_values(folder):
            yield line_of(folder, name)[:-1] + [value]  # the last argument


def limit_memory():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def complaint(program, arguments, limit=LIMIT):
    """What is wrong with how the program ends, or nothing."""
    with tempfile.TemporaryDirectory(prefix="semicrf-odd-") as scratch:
        try:
            done = subprocess.run([program] + [os.fsencode(one) for one in arguments], cwd=scratch, stdin=subprocess.DEVNULL,
                                  capture_output=True, timeout=limit, check=False, preexec_fn=limit_memory)
        except subprocess.TimeoutExpired:
            return "is still running after %d s" % limit
        errors = [line for line in done.stderr.split(b"\n") if line.startswith(b"semicrf: error: ")]
        if done.returncode not in ALLOWED:
            return "exit %d: %r" % (done.returncode, done.stderr[:300])
        told = sum(len(line) for line in done.stderr.split(b"\n") if not line.startswith(b"semicrf: info: "))
        if told > MOST_BYTES:
            return "%d bytes of errors and warnings: %r" % (told, done.stderr[:300])
        if len(errors) != (done.returncode != 0):
            return "exit %d and %d lines of errors: %r" % (done.returncode, len(errors), done.stderr[:300])
        if any(part.endswith(".tmp") for part in os.listdir(scratch)):
            return "leaves a temporary file"
    return None


def test_no_value_of_an_option_is_a_bug(box):
    prepare(box)
    folder = pathlib.Path(box.folder)
    lines = list(variants(box, folder))
    check(len(lines) > 5000, "only %d command lines" % len(lines))
    lines = lines[::STEP]
    with concurrent.futures.ThreadPoolExecutor(max_workers=2 * (os.cpu_count() or 1)) as pool:
        found = list(pool.map(lambda line: complaint(box.program, line), lines))
    bad = ["semicrf %s: %s" % (" ".join(repr(word) if not isinstance(word, str) or not word.strip() else word for word in map(_text, line)), what)
           for line, what in zip(lines, found) if what]
    check(not bad, "%d of %d command lines:\n%s" % (len(bad), len(lines), "\n".join(bad[:40])))


def _text(word):
    return repr(word) if isinstance(word, bytes) else str(word)


def test_every_option_refuses_an_empty_value(box):
    prepare(box)
    for command in all_commands(box):
        for option in command.options:
            if not option.value or command.commands or not command.path:
                continue
            line = with_value(LINES[" ".join(command.path)].split(), option.names, "")
            result = box.run(line)
            check(result.code == 2, "an empty value is taken\n%s" % result)


def test_lists_of_nothing_are_refused(box):
    """A list without a name in it is an error of its option, which does not take the next word for its value."""
    prepare(box)
    lists = 0
    for command in all_commands(box):
        for option in command.options:
            name = option.names[-1]
            if not command.path or not re.fullmatch(r"[A-Z]+,\.\.\.|INT\|INT\.\.INT", option.value):
                continue
            line = LINES[" ".join(command.path)].split()
            at = len(command.path)
            box.fails(line[:at] + [name, ",,"] + line[at:], (2, 3), name, "',,'")
            lists += 1
    check(lists > 15, "%d lists" % lists)


# A pipe that nobody reads holds up its writer.
OUTPUTS = {"-o", "--proteins", "--coding", "--report", "--stats", "--log-file", "--table", "--boundaries", "--review", "--posterior", "--labels-out", "--starts-out", "--ends-out", "--counts",
           "--prefix", "--hub", "--chromhmm-out", "--emissions", "--checkpoint", "--json", "--svg", "--figures", "--multiqc", "--differences", "--disagreement",
           "--transitions", "--jaccard", "--switches", "--regions", "--shifts", "--solutions", "--curves"}


def endless_inputs(box, folder):
    """Command lines with something that never ends, or is no file, in the place of every file."""
    for command in all_commands(box):
        name = " ".join(command.path)
        if not command.path or command.commands:
            continue
        line = line_of(folder, name)
        files = [option.names for option in command.options if option.is_file()]
        for value in ("/dev/zero", "/dev/full", str(folder / "folder"), str(folder / "pipe")):
            for names in files:
                if not value.endswith("pipe") or not OUTPUTS & set(names):
                    yield with_value(line_of(folder, name, names), names, value)
            if line[-2] != "-o":
                yield line[:-1] + [line[-1].split("=")[0] + "=" + value if "=" in line[-1] else value]


def feed(path, stop):
    """Writes zeros into a named pipe whenever somebody reads it."""
    zeros = bytes(1 << 16)
    while not stop.is_set():
        try:
            pipe = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:  # nobody reads
            time.sleep(0.002)
            continue
        try:
            os.set_blocking(pipe, True)
            while not stop.is_set():
                os.write(pipe, zeros)
        except BrokenPipeError:
            pass
        finally:
            os.close(pipe)


def test_endless_inputs_end(box):
    """/dev/zero, /dev/full, folders, and pipes that somebody writes zeros into without end: an error or a result, soon."""
    prepare(box)
    folder = pathlib.Path(box.folder)
    os.mkfifo(folder / "pipe")
    lines = list(endless_inputs(box, folder))
    check(len(lines) > 300, "only %d command lines" % len(lines))
    stop = threading.Event()
    writer = threading.Thread(target=feed, args=(folder / "pipe", stop))
    writer.start()
    try:
        bad = ["semicrf %s: %s" % (" ".join(line), what) for line in lines if (what := complaint(box.program, line, 20))]
    finally:
        stop.set()
        writer.join()
    check(not bad, "%d of %d command lines:\n%s" % (len(bad), len(lines), "\n".join(bad[:40])))


def test_own_output_is_no_input(box):
    """Who reads the pipe that it writes to waits for itself."""
    prepare(box)
    for name in ("/dev/stdout", "/dev/stderr", "/proc/self/fd/1"):
        box.fails("describe -o out.tsv " + name, 2, name, "writes to")
        box.fails("train --labels %s -b 10 -o m.json t.bw" % name, 2, name, "writes to")
