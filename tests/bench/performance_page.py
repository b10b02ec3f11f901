#!/usr/bin/env python3
"""Makes docs/performance.md of docs/performance.jsonl: one table per machine and commit, real workloads first.

    tests/bench/performance_page.py            # writes the page
    tests/bench/performance_page.py --check    # says whether the page is what the figures make

A line of the figures is an object. {"machine": NAME, "is": TEXT} describes a machine. Every other line is one figure:
  kind              "real": real tracks and scores drawn from trained models; "made": shapes made by hand
  machine, commit, date   where and when; the commit is the one that wrote the figure down
  workload, operation     the row and the column of the table
  command, threads        how to measure it again
  seconds | positions_per_second, memory_mb     the figure; [least, most] where it is a range
  runs                      the runs of which `seconds` is the median, where they are few
  peer, peer_value, ratio   what was measured in the same run, in the same unit, and time over the peer's time
  limit, share              a peak measured in the same run, and the share of it that is reached
"""

import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FIGURES = ROOT / "docs" / "performance.jsonl"
PAGE = ROOT / "docs" / "performance.md"
MOST_LINES = 200
UNITS = ("seconds", "positions_per_second", "memory_mb")
KINDS = {"real": "Real tracks and trained models", "made": "Shapes made by hand"}

HEAD = """# Performance

Made by `tests/bench/performance_page.py` of [performance.jsonl](performance.jsonl): add a line there, run the script. A
figure is here only if it was measured; the file has its command and number of threads. A table is of one machine and one
commit, the one that wrote the figures down; a workload has its newest figures. Numbers in parentheses are the time over
that of another program or build in the same run. Machines are shared: figures are medians of runs in turn. What was
tried, surveys of hand-made models and earlier figures are in [lab-notes.md](lab-notes.md).

"T, K, C" are positions, longest duration and labels. N(0, s²) scores are random; N(0, 1) flatters an engine, since forward
variables hardly spread over a block. `chr11`, `yeast` and `speech` are drawn as real scores are: a chain of segments, then
what is observed of each label, then scores (`src/bench/real_workloads.cpp`). Whole processes are in seconds, from
files to files; passes of `semicrf bench` on the cpu in positions per second; passes of `gpu_bench` in milliseconds.

## Which engine `-x auto` takes

`decode`, `posterior`, `query` and `simulate` predict from positions, K, C, inputs per position and passes how long the cpu
would compute with its threads, and how long a GPU would, its start of 0.25 s included, and take the faster one. `-v` shows
both predictions; the constants are in `src/runs/device_choice.cpp`. `train`, `learn`, `eval` and `bench` take a GPU
where there is one. In a survey of 50 runs it took a GPU in 24, the faster one in each ([lab-notes.md](lab-notes.md)).
"""


def digits(value):
    """A number with three significant digits, without an exponent where one is not needed."""
    text = "%.3g" % value
    if "e" in text and abs(value) >= 1:
        text = "%d" % value
    return text


def several(value, write):
    """A number, or a range written as "least to most"."""
    if not isinstance(value, list):
        return write(value)
    least, most = (write(one) for one in value)
    return least if least == most else "%s to %s" % (least, most)


def spread(value, unit, scale=1):
    return "%s %s" % (several(value, lambda one: digits(one * scale)), unit)


def ratio(value):
    return several(value, lambda one: "%.2g" % one if one < 0.1 else "%.2f" % one if one < 10 else "%.0f" % one)


def figure(line, named):
    """The text of a cell: the figure with its unit, and what it was compared with, whose name the head of the table has unless it is
    to be `named` here."""
    texts = []
    if "seconds" in line:
        value = line["seconds"]
        small = (max(value) if isinstance(value, list) else value) < 0.1 or (line["command"].startswith(("gpu_bench", "tests/gpu/measure.sh")))
        texts.append(spread(value, "ms", 1000) if small else spread(value, "s"))
    if "positions_per_second" in line:
        texts.append(spread(line["positions_per_second"], "M/s", 1e-6))
    if "memory_mb" in line:
        texts.append(spread(line["memory_mb"], "MB"))
    if "ratio" in line:
        texts.append(ratio(line["ratio"]) + (" of %s" % line["peer"] if named else ""))
    if "share" in line:
        texts.append("%s of the %s" % (spread(line["share"], "%", 100), line["limit"]))
    return texts[0] + (" (%s)" % ", ".join(texts[1:]) if len(texts) > 1 else "")


def mistakes(lines):
    """What a line lacks, or a ratio that is not that of its two figures."""
    found = []
    for number, line in enumerate(lines, 1):
        if "is" in line:
            continue
        missing = [name for name in ("kind", "machine", "commit", "date", "workload", "operation", "command") if not line.get(name)]
        if missing or line["kind"] not in KINDS:
            found.append("line %d lacks %s" % (number, ", ".join(missing) or "a known kind"))
        if not any(unit in line for unit in UNITS) and "ratio" not in line:
            found.append("line %d has no figure" % number)
        if "peer_value" in line:
            unit = next(unit for unit in UNITS if unit in line)
            ours = line[unit] if isinstance(line[unit], list) else [line[unit]]
            said = line["ratio"] if isinstance(line["ratio"], list) else [line["ratio"]]
            ratios = [line["peer_value"] / one if unit == "positions_per_second" else one / line["peer_value"] for one in ours]
            if any(abs(a - b) > 0.03 * b for a, b in zip(said, ratios)):
                found.append("line %d says the ratio %s for %s" % (number, said, ratios))
    return found


def tables(lines):
    """The tables in their order: real workloads first, then machines and commits as the file has them."""
    groups = {}
    for kind in KINDS:
        for line in lines:
            if line.get("kind") == kind:
                groups.setdefault((kind, line["machine"]), {}).setdefault((line["commit"], line["date"]), []).append(line)
    return groups


def table(commit, date, lines):
    peers = list(dict.fromkeys(line["peer"] for line in lines if "peer" in line))
    head = "%s, %s" % (commit, date) + (" (time over that of %s)" % peers[0] if len(peers) == 1 else "")
    operations = list(dict.fromkeys(line["operation"] for line in lines))
    rows = {}
    for line in lines:
        rows.setdefault(line["workload"], {})[line["operation"]] = figure(line, len(peers) > 1)
    text = ["| %s | %s |" % (head, " | ".join(operations)), "|" + "---|" * (len(operations) + 1)]
    for workload, cells in rows.items():
        text.append("| %s | %s |" % (workload, " | ".join(cells.get(operation, "") for operation in operations)))
    return text


def page(lines):
    machines = {line["machine"]: line["is"] for line in lines if "is" in line}
    text = HEAD.splitlines()
    for (kind, machine), commits in tables(lines).items():
        text += ["", "## %s: %s" % (KINDS[kind], machines[machine]), ""]
        for (commit, date), figures in commits.items():
            text += table(commit, date, figures) + [""]
        text.pop()
    return "\n".join(text) + "\n"


def main():
    lines = [json.loads(line) for line in FIGURES.read_text().splitlines()]
    wrong = mistakes(lines)
    made = page(lines)
    if made.count("\n") > MOST_LINES:
        wrong.append("the page has %d lines; %d are allowed" % (made.count("\n"), MOST_LINES))
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(made)
    elif PAGE.read_text() != made:
        wrong.append("%s is not what %s makes: run %s" % (PAGE.name, FIGURES.name, pathlib.Path(__file__).name))
    for message in wrong:
        print("%s: %s" % (FIGURES.name, message), file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
