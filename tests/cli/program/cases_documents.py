"""Every command of the README, of getting-started and of the tutorial runs in a copy of data/, as these pages say."""

import os
import pathlib
import re
import shutil
import subprocess

import harness
from harness import check

ROOT = harness.HERE.parents[1]


def commands_of(page):
    """The indented lines that begin with `semicrf`, of which a backslash continues one, or `printf`; comments are the shell's."""
    text = re.sub(r"\\\n +", "", (ROOT / page).read_text())
    return re.findall(r"^    ((?:semicrf|printf) .*)$", text, re.M)


def run_page(box, page, least, data="."):
    """`data`: the folder with the examples, from where the reader of the page is."""
    commands = commands_of(page)
    printed = re.compile(r"^semicrf: ")  # what the program says
    commands = [command for command in commands if not printed.match(command)]
    check(len(commands) >= least, "%s has %d commands only" % (page, len(commands)))
    work, programs = box.path("work"), box.path("programs")
    shutil.copytree(harness.DATA, work / data)
    programs.mkdir()
    (programs / "semicrf").symlink_to(pathlib.Path(box.program).resolve())
    environment = dict(os.environ, PATH="%s:%s" % (programs, os.environ["PATH"]))
    for command in commands:
        done = subprocess.run(["bash", "-c", command], cwd=work, capture_output=True, text=True, env=environment,
                              stdin=subprocess.DEVNULL, timeout=harness.TIME_LIMIT, check=False)
        check(done.returncode == 0, "%s: %s\n  exit %d: %s" % (page, command, done.returncode, done.stderr[-800:]))
    return work


def test_the_readme(box):
    work = run_page(box, "README.md", 4)
    check("<svg" in (work / "report.html").read_text(), "no report")


def test_getting_started(box):
    work = run_page(box, "docs/users/getting-started.md", 2)
    shown = re.findall(r"^    (III  \d+  \d+  \S.*)$", (ROOT / "docs/users/getting-started.md").read_text(), re.M)
    lines = {" ".join(line.split()) for name in ("segments.bed", "boundaries.bedgraph") for line in (work / name).read_text().splitlines()}
    wrong = [line for line in shown if " ".join(line.split()) not in lines]
    check(len(shown) > 8 and not wrong, "the page shows what was not found: %s" % wrong)


def test_the_tutorial(box):
    """And the numbers that it shows are those that come out, to the last digits that engines may differ in."""
    work = run_page(box, "docs/users/tutorial.md", 12)
    peaks = [line.split("\t") for line in (work / "called.narrowPeak").read_text().splitlines() if not line.startswith("#")]
    judged = box.ok("eval --background none --truth %s -r pilot:5000001-8000000 %s"
                    % (harness.DATA / "chromatin/peaks.bed", work / "called.bed")).stdout
    found = re.search(r"^peak +76800 .* 52 .* (0\.\d+)$", judged, re.M)
    page = (ROOT / "docs/users/training.md").read_text()
    check(found and abs(float(found.group(1)) - .875) < .02 and ".875 by\ndefault" in page and "52 peaks" in page, judged)
    check(40 < len(peaks) < 65 and all(len(row) == 10 and row[3].startswith("peak_") for row in peaks), "%d peaks" % len(peaks))
    states = box.ok(["eval", "--match", "--truth", harness.DATA / "chromatin/states.bed", work / "reads.bed"]).stdout
    found = re.search(r"^4 +E1 +(\d+)$", states, re.M)
    check(found and abs(int(found.group(1)) / 147400 - .94) < .015, states)
    check("<svg" in (work / "reads.html").read_text(), "no report of the reads")
    check(sum(path.stat().st_size for path in (harness.DATA / "reads").iterdir()) < 300000, "the reads are too large")
    size = sum(path.stat().st_size for path in (harness.DATA / "chromatin").iterdir())
    check(size < 400000, "the example has %d bytes" % size)


def as_shown(shown, found):
    """Whether fields of a table are the same, numbers up to the digits that engines may differ in."""
    def same(one, other):
        try:
            return abs(float(one) - float(other)) <= 5e-3 * abs(float(one))
        except ValueError:
            return one == other
    return len(shown) == len(found) and all(map(same, shown, found))


def test_how_sure(box):
    """The commands of the page run, and every line of a table that it shows is in one of their outputs."""
    page = (ROOT / "docs/users/uncertainty.md").read_text()
    work = run_page(box, "docs/users/uncertainty.md", 8, "data")
    names = ["genes.tsv", "boundaries.tsv", "review.bed"]
    found = [line.split() for name in names for line in (work / name).read_text().splitlines()]
    claims = box.ok(["query", "-p", harness.DATA / "demo.params.json", "--claims", work / "claims.bed"] + sorted(harness.DATA.glob("codon_*.bw"))).stdout
    found += [line.split() for line in claims.splitlines()]
    shown = [line.split() for line in re.findall(r"^    (III +\d+ .*)$", page, re.M) if line.count("III") == 1]
    wrong = [row for row in shown if len(row) > 4 and not any(as_shown(row, other) for other in found)]
    check(len(shown) > 10 and not wrong, "the page shows what was not found: %s" % wrong)
    review = re.search(r"^#review boundaries=32 uncertain=32 without-interval=6$", (work / "review.bed").read_text(), re.M)
    check(review and "(six of the 32)" in page and not re.search(r"^[A-Z]+$", page, re.M), "--review is not as the page has it")
