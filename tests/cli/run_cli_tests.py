#!/usr/bin/env python3
"""Runs the program on data/ and on files made here; compares what it writes, says and returns.

    run_cli_tests.py --program build/release/bin/semicrf [--update] [group[.test] ...]

A test is a function test_* of a cases_*.py in a folder beside this file; --update rewrites the files in expected/ instead of comparing with them.
Standard library only. Exit code 1 when a test fails.
"""

import argparse
import importlib
import pathlib
import sys
import time
import traceback

import harness

ROOMS = sorted({str(path.parent) for path in harness.HERE.glob("*/cases_*.py")})
sys.path += ROOMS  # cases import each other by their names alone

GROUPS = ["usage", "model", "decode", "eval", "match", "calibration", "two_models", "posterior", "bad_input", "inputs", "text", "outputs", "files", "odd_values", "simulate", "train", "bins", "expectations", "best", "claims", "constraints", "review", "edges", "learn", "densities", "copy_number", "missing", "reads", "genes", "text_tracks", "sites", "import", "segway", "enrich", "numbers", "reproducibility", "differences", "accounts", "eval_accounts", "report_accounts", "gene_accounts", "tracks", "chromhmm", "multiqc", "report", "pipelines", "manual", "drift", "growth", "documents", "house"]


def tests_of(group):
    module = importlib.import_module("cases_" + group)
    return [(name[len("test_"):], function) for name, function in vars(module).items() if name.startswith("test_")]


def selected(patterns):
    for group in GROUPS:
        for name, function in tests_of(group):
            full = "%s.%s" % (group, name)
            if not patterns or any(pattern in (group, full) for pattern in patterns):
                yield full, function


def run_one(name, function, options):
    """'ok', 'skip' or 'FAIL'; prints a line, and the reason."""
    box, reason, outcome = harness.Sandbox(options.program, options.update), "", "ok"
    begin = time.monotonic()
    try:
        function(box)
    except harness.Skip as skip:
        outcome, reason = "skip", str(skip)
    except harness.Failure as failure:
        outcome, reason = "FAIL", str(failure)
    except Exception:  # pylint: disable=broad-except
        outcome, reason = "FAIL", traceback.format_exc()
    finally:
        box.close()
    print("%-4s %-60s %5.2f s" % (outcome, name, time.monotonic() - begin))
    if reason:
        print("     " + reason.replace("\n", "\n     "))
    sys.stdout.flush()
    return outcome


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=pathlib.Path, required=True)
    parser.add_argument("--update", action="store_true", help="rewrite the expected files")
    parser.add_argument("--list", action="store_true", help="print the names of the tests and stop")
    parser.add_argument("tests", nargs="*", help="groups (%s) or group.test" % ", ".join(GROUPS))
    options = parser.parse_args()
    options.program = options.program.resolve()
    chosen = list(selected(options.tests))
    if options.list:
        print("\n".join(name for name, _ in chosen))
        return 0
    if not chosen:
        print("no test is named %s" % " ".join(options.tests))
        return 1
    outcomes = [run_one(name, function, options) for name, function in chosen]
    print("%d tests: %s" % (len(outcomes), ", ".join("%d %s" % (outcomes.count(kind), kind) for kind in ("ok", "skip", "FAIL"))))
    return 1 if "FAIL" in outcomes else 0


if __name__ == "__main__":
    sys.exit(main())
