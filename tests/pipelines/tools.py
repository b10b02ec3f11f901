"""What the tests of this folder share: other projects' programs, folders, runs of commands.

A test that lacks a program of requirements.txt ends with exit code 77, which CTest shows as skipped.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT / "data"
DEMO_TRACKS = sorted(DATA.glob("codon_*.bw"))
SKIPPED = 77


def skip(reason):
    print("skipped: " + reason)
    sys.exit(SKIPPED)


def tool(name):
    """The path of a program, from the folder that SEMICRF_PIPELINE_TOOLS names or from PATH."""
    folder = os.environ.get("SEMICRF_PIPELINE_TOOLS", "")
    found = shutil.which(name, path=folder + os.pathsep + os.environ["PATH"]) if folder else shutil.which(name)
    if not found:
        skip("%s is not installed; see tests/pipelines/requirements.txt" % name)
    return found


def arguments(description):
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=lambda path: pathlib.Path(path).resolve(), required=True)
    parser.add_argument("--keep", action="store_true", help="leave the folder of the test, and print its name")
    return parser


class Folder:
    """A fresh folder, removed at the end."""

    def __init__(self, keep=False):
        self.path, self.keep = pathlib.Path(tempfile.mkdtemp(prefix="semicrf-pipeline-")), keep

    def __enter__(self):
        return self.path

    def __exit__(self, *_):
        if self.keep:
            print("kept: %s" % self.path)
        else:
            shutil.rmtree(self.path, ignore_errors=True)


def environment(program, **more):
    """Where `semicrf` and the tools are found by name."""
    result = dict(os.environ, **more)
    folders = [str(program.parent), os.environ.get("SEMICRF_PIPELINE_TOOLS", ""), os.environ["PATH"]]
    result["PATH"] = os.pathsep.join(folder for folder in folders if folder)
    return result


def run(command, check=True, **options):
    """Runs; prints what it said where it failed."""
    command = [str(item) for item in command]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False, **options)
    if check and done.returncode != 0:
        print(done.stdout[-6000:])
        raise SystemExit("failed with %d: %s" % (done.returncode, " ".join(command)))
    return done


def expect(condition, message):
    if not condition:
        raise SystemExit("FAIL: " + message)


def help_of(program, command):
    """The help of a command of ours, or "" where this program does not have it."""
    done = run([program, command, "--help-all"], check=False)
    return done.stdout if "semicrf %s [OPTIONS]" % command in done.stdout else ""
