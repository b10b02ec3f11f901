"""Runs the program and measures it; means and spreads; tables as TSV files.

Standard library only. For the experiments of tests/lab that are written in Python.
"""

import json
import math
import os
import pathlib
import statistics
import subprocess
import tempfile
import time


class Failed(Exception):
    """The program ended with an error; the text is its own message."""


class Program:
    """The program under `path`; runs in `folder`, quietly."""

    def __init__(self, path, folder):
        self.path, self.folder = pathlib.Path(path).resolve(), pathlib.Path(folder).resolve()
        if not os.access(self.path, os.X_OK):
            raise Failed("%s is no program; build it first: make build" % path)

    def run(self, command, *arguments):
        """Runs `program command arguments`; the seconds of processor time it took. Failed if it does not return 0."""
        with tempfile.TemporaryFile() as said:
            process = subprocess.Popen([self.path, command, "-q", *map(str, arguments)], cwd=self.folder,
                                       stdout=subprocess.DEVNULL, stderr=said)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            if process.returncode != 0:
                said.seek(0)
                raise Failed("semicrf %s: exit code %d: %s" % (command, process.returncode, said.read().decode().strip()))
        return usage.ru_utime + usage.ru_stime

    def report(self, command, *arguments, option="--json"):
        """The JSON document that `command` writes with `option`."""
        path = self.folder / "report.tmp.json"
        self.run(command, *arguments, option, path)
        document = json.loads(path.read_text())
        path.unlink()
        return document


def mean_and_spread(values):
    """(mean, standard deviation); the deviation of one value is nan."""
    return statistics.fmean(values), statistics.stdev(values) if len(values) > 1 else math.nan


def write_text(path, text):
    """Under a temporary name first, so that `path` is complete or as it was."""
    path = pathlib.Path(path)
    temporary = path.with_name("." + path.name + ".tmp")
    temporary.write_text(text)
    temporary.replace(path)


def write_table(path, columns, rows):
    """A TSV file with a header; rows are dictionaries, absent and undefined values are '-'."""
    def cell(value):
        if value is None or (isinstance(value, float) and math.isnan(value)):
            return "-"
        return "%.6g" % value if isinstance(value, float) else str(value)
    lines = ["\t".join(columns)] + ["\t".join(cell(row.get(name)) for name in columns) for row in rows]
    write_text(path, "\n".join(lines) + "\n")


def progress(words):
    print("%s %s" % (time.strftime("%H:%M:%S"), words), flush=True)
