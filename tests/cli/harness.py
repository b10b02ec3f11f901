"""Runs the program for one test, checks what it says and writes, compares with the files in expected/.

Every test gets a fresh folder with a copy of data/ and runs the program there, so that messages name plain files.
"""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
EXPECTED = HERE / "expected"
DATA = HERE.parents[1] / "data"
NOBODY = 65534
TIME_LIMIT = 120  # seconds for one run of the program
VALUE_TOLERANCE = 1.05e-5  # of printed probabilities: 1e-5 for float engines, half a unit of the sixth decimal


class Failure(Exception):
    pass


class Skip(Exception):
    pass


def check(condition, message):
    if not condition:
        raise Failure(message)


class Result:
    def __init__(self, arguments, code, stdout, stderr, seconds):
        self.arguments, self.code, self.seconds = arguments, code, seconds
        self.stdout, self.stderr = stdout, stderr

    def __str__(self):
        return "semicrf %s\n  exit %d\n  stderr: %s" % (" ".join(self.arguments), self.code, self.stderr.strip()[:2000])


class Sandbox:
    """The folder of one test, and the program in it."""

    def __init__(self, program, update):
        self.program, self.update = str(program), update
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="semicrf-cli-"))
        for item in DATA.iterdir():
            if item.is_file():
                shutil.copy(item, self.folder)

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def path(self, name):
        return self.folder / name

    def text(self, name):
        return self.path(name).read_text()

    def write(self, name, content):
        target = self.path(name)
        target.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, str):
            content = content.encode()
        target.write_bytes(content)
        return name

    def listing(self, folder="."):
        return sorted(item.name for item in self.path(folder).iterdir())

    def start(self, arguments, **options):
        return subprocess.Popen([self.program] + list(arguments), cwd=self.folder, stdin=subprocess.DEVNULL, **options)

    def run(self, arguments, stdout=subprocess.PIPE, user=None):
        arguments = arguments.split() if isinstance(arguments, str) else [str(item) for item in arguments]
        begin = time.monotonic()
        try:
            done = subprocess.run([self.program] + arguments, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=stdout,
                                  stderr=subprocess.PIPE, timeout=TIME_LIMIT, check=False, user=user)
        except subprocess.TimeoutExpired as error:
            raise Failure("semicrf %s: still running after %d s" % (" ".join(arguments), TIME_LIMIT)) from error
        output = (done.stdout or b"").decode("utf-8", "surrogateescape")
        return Result(arguments, done.returncode, output, done.stderr.decode("utf-8", "surrogateescape"),
                      time.monotonic() - begin)

    def run_unprivileged(self, arguments):
        """As run(), but never as root, whom file permissions do not stop."""
        user = NOBODY if os.geteuid() == 0 else None
        if user is not None:
            self.folder.chmod(0o755)
        try:
            return self.run(arguments, user=user)
        except PermissionError as error:
            raise Skip("another user cannot run %s" % self.program) from error

    def ok(self, arguments):
        """Runs, expects success."""
        result = self.run(arguments)
        check(result.code == 0, "expected success\n%s" % result)
        return result

    def fails(self, arguments, codes, *needles):
        """Runs, expects one of the exit codes, one error line that holds all needles, and no file added or changed."""
        codes = (codes,) if isinstance(codes, int) else codes
        before = self._state()
        result = self.run(arguments)
        check(result.code in codes, "expected exit %s\n%s" % (" or ".join(map(str, codes)), result))
        errors = [line for line in result.stderr.splitlines() if line.startswith("semicrf: error: ")]
        check(len(errors) == 1, "expected one line 'semicrf: error: ...'\n%s" % result)
        others = [line for line in result.stderr.splitlines() if line not in errors and not _is_log_line(line)]
        check(not others, "stderr has more than the error: %r\n%s" % (others[:3], result))
        for needle in needles:
            check(needle in errors[0], "the error does not mention %r\n%s" % (needle, result))
        check(not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", errors[0]), "control characters in the error: %r" % errors[0])
        check(result.stdout == "", "stdout is not empty\n%s" % result)
        check(self._state() == before, "files were added, changed or lost: %s\n%s" % (self.listing(), result))
        result.error = errors[0]
        return result

    def _state(self):
        return {str(item.relative_to(self.folder)): (item.read_bytes() if item.is_file() else None)
                for item in self.folder.rglob("*") if not item.is_fifo() and not item.is_char_device()}

    def matches(self, name, text):
        """Compares text with expected/NAME, numbers of bedGraph within the tolerance; writes it with --update."""
        text = normalise(text)
        target = EXPECTED / name
        if self.update:
            EXPECTED.mkdir(exist_ok=True)
            target.write_text(text)
            return
        check(target.exists(), "%s is not there; make it with --update" % target)
        compare = same_bedgraph if name.endswith(".bedgraph") else same_lines
        difference = compare(target.read_text(), text)
        check(difference is None, "differs from %s: %s" % (target, difference))


def _is_log_line(line):
    """Warnings and information may stand beside an error; a second error or a stray trace may not."""
    return re.match(r"semicrf: (warning|info|debug|note)\b", line) is not None


def normalise(text):
    """Without what changes with every release."""
    return re.sub(r"(semicrf[ \t:=]+v?)\d+\.\d+\.\d+[\w.+-]*", r"\1VERSION", text)


def same_lines(expected, found):
    left, right = expected.splitlines(), found.splitlines()
    for number, (a, b) in enumerate(zip(left, right), 1):
        if a != b:
            return "line %d is\n    %r, expected\n    %r" % (number, b, a)
    if len(left) != len(right):
        return "%d lines, expected %d" % (len(right), len(left))
    return None


def bedgraph_steps(text):
    """[(chromosome, start, end, value)], header lines left out."""
    rows = [line.split("\t") for line in text.splitlines() if line and not line.startswith("#")]
    return [(row[0], int(row[1]), int(row[2]), float(row[3])) for row in rows]


def same_bedgraph(expected, found):
    """Equal headers and values at every base; equal neighbours may be merged differently."""
    difference = same_lines(*("\n".join(line for line in text.splitlines() if line.startswith("#"))
                              for text in (expected, found)))
    if difference:
        return difference
    left, right = bedgraph_steps(expected), bedgraph_steps(found)
    i = j = 0
    while i < len(left) and j < len(right):
        a, b = left[i], right[j]
        if a[0] != b[0] or max(a[1], b[1]) >= min(a[2], b[2]):
            return "%s, expected %s" % (b, a)
        if abs(a[3] - b[3]) > VALUE_TOLERANCE:
            return "%s, expected %s" % (b, a)
        if a[2] <= b[2]:
            i += 1
        if b[2] <= a[2]:
            j += 1
    if i < len(left) or j < len(right):
        return "the files end at different positions"
    return None


def bed_rows(text):
    """The data lines of a BED or bedGraph, split."""
    return [line.split("\t") for line in text.splitlines() if line and not line.startswith("#")]
