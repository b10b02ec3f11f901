#!/usr/bin/env python3
"""The table of claims: what the paper says, what was measured, the bar, and the verdict that follows from the two.

    python3 tests/lab/page/claims.py build/paper

Reads the tables of the steps of paper.py in the folder, writes claims.tsv there and prints it. A claim whose table is missing is
"not run". The groups of claims are in groups/; their rules, with the words of the verdicts, in rules.py.
"""

import csv
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from figures import Folder  # noqa: E402
from groups import algorithms, bands, centring, numbers, peers, speech, times  # noqa: E402
import rules  # noqa: E402

GROUPS = centring.GROUPS + algorithms.GROUPS + numbers.GROUPS + bands.GROUPS + times.GROUPS + peers.GROUPS + speech.GROUPS
HEAD = ("where", "claim", "paper", "here", "bar", "verdict", "command")


def of_group(group, tables):
    """The claims of one group. Where a table is missing, one line says so."""
    name, needed, make = group
    claims = rules.Claims()
    found = [tables(table) for table in needed]
    if all(found):
        make(claims, *found)
    else:
        claims.note("", name, "", "", rules.NOT_RUN, "", name)
    return claims.rows


def all_claims(tables):
    return [row for group in GROUPS for row in of_group(group, tables)]


def kind(verdict):
    return verdict.partition(":")[0]


def main(arguments):
    folder = pathlib.Path(arguments[0])
    found = all_claims(Folder(folder))
    part = folder / "claims.tsv.part"
    with part.open("w", newline="") as file:
        writer = csv.writer(file, delimiter="\t", lineterminator="\n")
        writer.writerow(HEAD)
        writer.writerows(found)
    part.rename(folder / "claims.tsv")
    for where, claim, paper, here, bar, verdict, command in found:
        print("%-14s %s\n%-14s paper: %s | here: %s\n%-14s %s, bar %s (%s)" % (where, claim, "", paper or "-", here or "-", "", verdict, bar, command))
    verdicts = [kind(row[5]) for row in found]
    print("\n%d claims: %s" % (len(verdicts), ", ".join("%d %s" % (verdicts.count(name), name) for name in dict.fromkeys(verdicts))))


if __name__ == "__main__":
    main(sys.argv[1:])
