#!/usr/bin/env python3
"""Draws the pictures of docs/paper.md from the tables that semicrf-lab wrote into a folder:

    python3 tests/lab/pictures/draw.py build/paper
"""

import csv
import pathlib
import sys

import chart


def table(folder, name):
    """The rows of a TSV file as dictionaries, numbers as numbers; none where there is no such file."""
    path = folder / (name + ".tsv")
    if not path.exists():
        return []
    def number(value):
        try:
            return float(value)
        except ValueError:
            return value
    with path.open(newline="") as file:
        return [{key: number(value) for key, value in row.items()} for row in csv.DictReader(file, delimiter="\t")]


def grouped(rows, key, x, y, where=lambda row: True):
    """Lines for chart.lines: one per value of `key`, in the order of the file; the rows that pass `where`."""
    found = {}
    for row in rows:
        if where(row):
            found.setdefault(row[key], []).append((row[x], row[y]))
    return [(str(name), sorted(points)) for name, points in found.items()]


def banded(folder):
    pictures = {}
    rows = table(folder, "banded_orderings")
    if rows:
        K = max(row["K"] for row in rows)
        some = [row for row in rows if row["K"] == K]
        pictures["banded_ratios"] = chart.lines(
            "Smallest bandwidth of three orderings, K = %g" % K, "span S / K", "bandwidth / (n - 1)",
            [("C = %g" % C, [(row["S"] / K, row["best/(n-1)"]) for row in some if row["C"] == C]) for C in sorted({row["C"] for row in some})])
        C = 2
        # The span nearest to every quarter of K: large K were not tried at all spans.
        nearest = {}
        for row in rows:
            key = (round(4 * row["S"] / row["K"]) / 4, row["K"])
            if row["C"] == C and key[0] > 0 and abs(row["S"] / row["K"] - key[0]) <= abs(nearest.get(key, (1, 0))[0]):
                nearest[key] = (row["S"] / row["K"] - key[0], row["best/(n-1)"])
        pictures["banded_heat"] = chart.cells(
            "Smallest bandwidth / (n - 1), C = 2", "S / K", "K", sorted({x for x, _ in nearest}), sorted({K for _, K in nearest}),
            {key: value for key, (_, value) in nearest.items()})
    rows = table(folder, "banded_fill_in")
    if rows:
        pictures["banded_fill_in"] = chart.lines(
            "Fill-in of the tree's operators", "level (2^level positions)", "entries / n^2",
            [("K = %g, C = %g" % model, [(row["level"], row["entries/n^2"]) for row in rows if (row["K"], row["C"]) == model])
             for model in dict.fromkeys((row["K"], row["C"]) for row in rows)])
    rows = table(folder, "banded_powers")
    if rows:
        pictures["banded_powers"] = chart.lines(
            "Bandwidth of B^m, T = %g" % rows[0]["T"], "m", "bandwidth",
            [("K = " + name.removesuffix(".0"), points) for name, points in grouped(rows, "K", "m", "bandwidth")], log_x=True)
    panels = []
    for path in sorted(folder.glob("banded_map_*.tsv")):
        entries = [(int(row["row"]), int(row["column"])) for row in table(folder, path.stem)]
        panels.append((path.stem.removeprefix("banded_map_"), max(max(entry) for entry in entries) + 1, entries))
    if panels:
        pictures["banded_maps"] = chart.patterns("Patterns of M_S and of the tree, K = 16, C = 2", panels)
    return pictures


def centring(folder):
    pictures = {}
    rows = table(folder, "centring_ablation")
    for name, title in (("accuracy", "Accuracy of positions"), ("rare_f1", "F1 of the rare label"), ("rare_segment_f1", "Segment F1 of the rare label")):
        if rows:
            pictures["centring_" + name] = chart.lines(
                title + " by centring", "noise", title,
                [("%s, %s" % key, [(row["noise"], row[name]) for row in rows if (row["centring"], row["proportions"]) == key])
                 for key in dict.fromkeys((row["centring"], row["proportions"]) for row in rows if row["centring"] in ("none", "mean"))])
    rows = table(folder, "centring_peaks")
    if rows:
        pictures["centring_peaks"] = chart.lines("Largest cumulative score / sqrt(T)", "T", "peak / sqrt(T)",
                                                 grouped(rows, "centring", "T", "peak/sqrt(T)"), log_x=True, log_y=True)
    return pictures


def training(folder):
    rows = table(folder, "training_curves")
    if not rows:
        return {}
    return {"training": chart.lines("Training from one seed (all curves lie on each other)", "epoch", "negative log-likelihood",
                                    grouped(rows, "engine", "epoch", "nll"))}


def frontier(folder):
    pictures = {}
    rows = table(folder, "frontier_times")
    for letter, passed in (("A", "forward"), ("B", "forward+backward")):
        for T in sorted({row["T"] for row in rows}):
            here = [row for row in rows if row["T"] == T and row["pass"] == passed]
            pictures["frontier_%s_T%d" % (letter, T)] = chart.lines(
                "%s: %s, T = %d" % (letter, passed, T), "n = (K+1) C", "seconds per position",
                grouped(here, "method", "n", "seconds_per_position"), log_x=True, log_y=True)
    if rows:
        pictures["frontier_E"] = chart.lines(
            "E: forward, K = 24, C = 4", "T", "seconds per position",
            grouped(rows, "method", "T", "seconds_per_position", lambda row: row["K"] == 24 and row["C"] == 4 and row["pass"] == "forward"),
            log_x=True, log_y=True)
    here = table(folder, "frontier_memory")
    if here:
        pictures["frontier_C"] = chart.bars(
            "C: memory, T = %d, K = %d, C = %d" % tuple(here[0][key] for key in "TKC"), "bytes",
            [(passed, [(row["method"], row["bytes"]) for row in here if row["pass"] == passed]) for passed in ("forward", "forward+backward")])
    here = [row for row in table(folder, "peers") if isinstance(row["seconds"], float) and row["B"] == 1 and row["pass"] == "forward" and row["precision"] == "double"]
    if here:
        pictures["frontier_peers"] = chart.bars(
            "log Z of one sequence, one thread, double", "seconds",
            [(method, [("T %d K %d C %d" % tuple(row[key] for key in "TKC"), row["seconds"]) for row in here if row["method"] == method])
             for method in dict.fromkeys(row["method"] for row in here)])
    rows = table(folder, "frontier_largest")
    for limit in sorted({row["limit_mib"] for row in rows}):
        here = [row for row in rows if row["limit_mib"] == limit and row["largest_K"] > 0]
        pictures["frontier_D_%dMiB" % limit] = chart.lines(
            "D, F: largest n within %s (K <= T, C = 3)" % ("%d MiB" % limit if limit < 1024 else "%d GiB" % (limit / 1024)), "T", "n = (K+1) C",
            grouped(here, "method", "T", "largest_n"), log_x=True, log_y=True)
    rows = table(folder, "frontier_long")
    if rows:
        spent = [dict(row, spent=1 / row["positions_per_second"], line="%(pass)s, %(scores)s scores" % row) for row in rows]
        pictures["frontier_G"] = chart.lines("G: T = 50,000, C = 6", "K", "seconds per position of processor time",
                                             grouped([row for row in spent if row["figure"] == "G"], "line", "K", "spent"))
        pictures["frontier_flat"] = chart.lines("Flat in T: K = 100, C = 24", "T", "seconds per position of processor time",
                                                grouped([row for row in spent if row["figure"] != "G"], "line", "T", "spent"), log_x=True)
    rows = table(folder, "low_rank_gain")
    if rows:
        pictures["low_rank_gain"] = chart.lines("Gain of rank over rank 1 on segments kept aside", "rank", "nats per segment",
                                                grouped(rows, "data", "rank", "gain_over_rank_1"))
    return pictures


def main():
    folder = pathlib.Path(sys.argv[1])
    for draw in (banded, centring, training, frontier):
        for name, picture in draw(folder).items():
            part = folder / (name + ".svg.part")
            part.write_text(picture)
            part.rename(folder / (name + ".svg"))
            print(name + ".svg")


if __name__ == "__main__":
    main()
