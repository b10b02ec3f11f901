"""The tables of a folder as rows, and how figures are written on a page.

Standard library only.
"""

import csv
import math
import pathlib


def number(text):
    try:
        return float(text)
    except ValueError:
        return text


def read(path):
    with pathlib.Path(path).open(newline="") as file:
        return [{key: number(value) for key, value in row.items()} for row in csv.DictReader(file, delimiter="\t")]


HERE = pathlib.Path(__file__).resolve().parent


class Folder:
    """The tables of a folder, each read once: name to rows (dictionaries, numbers as numbers); no rows where there is no file.
    paper_numbers, what the paper prints, lies beside this script."""

    def __init__(self, path):
        self.path, self.tables = pathlib.Path(path), {}

    def __call__(self, name):
        if name not in self.tables:
            path = (HERE if name == "paper_numbers" else self.path) / (name + ".tsv")
            self.tables[name] = read(path) if path.exists() else []
        return self.tables[name]


def select(rows, **wanted):
    return [row for row in rows if all(row[key] == value for key, value in wanted.items())]


def first(rows, **wanted):
    """The first row with these values; None where there is none."""
    wanted = wanted.items()
    return next((row for row in rows if all(row[key] == value for key, value in wanted)), None)


def figure(value, digits=3):
    """A number in few digits: with commas from a thousand on, with an exponent where it is tiny."""
    if value is None or isinstance(value, str):
        return value or ""
    if value == 0 or not math.isfinite(value):
        return "%g" % value
    if abs(value) < 1e-3:
        mantissa, exponent = ("%.1e" % value).split("e")
        return "%se%d" % (mantissa, int(exponent))
    rounded = float("%.*g" % (digits, value))
    if abs(rounded) >= 1000:
        return "{:,.0f}".format(rounded)
    places = max(0, digits - 1 - math.floor(math.log10(abs(rounded))))
    return "%.*f" % (places, rounded)


def whole(value):
    return "{:,.0f}".format(value)


def speed(value):
    """Positions per second."""
    for unit, name in ((1e9, "G/s"), (1e6, "M/s"), (1e3, "k/s")):
        if value >= unit:
            return "%s %s" % (figure(value / unit), name)
    return "%s /s" % figure(value)


def amount(value):
    """Bytes."""
    for unit, name in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if value >= unit:
            return "%s %s" % (figure(value / unit), name)
    return "%d B" % value


def table(head, rows):
    """A Markdown table."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])
