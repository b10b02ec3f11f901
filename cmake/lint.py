#!/usr/bin/env python3
"""clang-tidy over all sources, those of a build folder and those that it does not compile.

System headers take a third of the time of a source alone. Sources with the same compile options are therefore checked
together, as one file that includes them. Its name begins with UnifiedSource: of such a file, clang's static analyzer
follows the functions of included sources, too. Sources that cannot be put together are checked one by one.

What was found clean is not checked again while its preprocessed text and the configuration stay the same: BUILD/clean
has an empty file for each such text.
"""

import argparse
import hashlib
import json
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

TOGETHER = 16
ROOT = pathlib.Path(__file__).resolve().parent.parent
# Sources that need a GPU or packages of their own, and one that is compiled with their options elsewhere.
LIKE = {
    "packaging/arc4random.cpp": "src/core/error.cpp",
    "src/train/ranks/mpi_ranks.cpp": "src/train/ranks/no_mpi.cpp",
    "tests/gpu/gpu_bench.cpp": "tests/parity/cuda/emulated_parity_test.cpp",
    "tests/gpu/gpu_parity_test.cpp": "tests/parity/cuda/emulated_parity_test.cpp",
    "tests/gpu/plain_gpu_test.cpp": "tests/parity/cuda/plain_engine_test.cpp",
    "tests/support/files/libbigwig_peer.cpp": "tests/support/truth/rescore.cpp",
}
MPI = "/usr/lib/x86_64-linux-gnu/openmpi/include"


def compile_commands(build):
    """A dictionary from source to its compile options, without the program, the source and the output."""
    options = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        words = shlex.split(entry["command"])[1:]
        if "cmake_pch" in entry["file"]:
            continue
        kept, rest = [], iter(words)
        for word in rest:
            if word in ("-o", "-c"):
                next(rest)
            elif word != "-Werror":  # a compiler's warning would end the check
                kept.append(word)
        options.setdefault(pathlib.Path(entry["file"]), tuple(kept))
    for source, like in LIKE.items():
        if ROOT / source not in options:
            options[ROOT / source] = (*options[ROOT / like], "-isystem", MPI)
    return options


def left_out(options):
    """Sources that no command compiles and none is like, and those whose headers are missing here."""
    tracked = subprocess.run(["git", "ls-files", "*.cpp", "*.cu"], cwd=ROOT, capture_output=True, text=True, check=True)
    missing = [ROOT / source for source in tracked.stdout.split() if ROOT / source not in options]
    for source in LIKE:
        words = options[ROOT / source]
        if subprocess.run(["clang++", *words, "-E", str(ROOT / source)], capture_output=True).returncode != 0:
            missing.append(ROOT / source)
    return missing


def batches(options):
    """Lists of sources that are checked together."""
    alike = {}
    for source, words in options.items():
        # Highway includes such a source once for each instruction set.
        alone = source if "foreach_target.h" in source.read_text() else None
        alike.setdefault((words, alone, source.relative_to(ROOT).parts[0]), []).append(source)
    for sources in alike.values():
        for start in range(0, len(sources), TOGETHER):
            yield sources[start:start + TOGETHER]


class Linter:
    def __init__(self, build, options):
        self.build, self.options = build, options
        self.version = subprocess.run(["clang-tidy", "--version"], capture_output=True, check=True).stdout
        (build / "clean").mkdir(exist_ok=True)

    def folder(self, source):
        """Where clang-tidy finds the configuration of the source's room for what includes it."""
        room = source.relative_to(ROOT).parts[0]
        folder = self.build / "unified" / room
        folder.mkdir(parents=True, exist_ok=True)
        if (ROOT / room / ".clang-tidy").exists():
            shutil.copy(ROOT / room / ".clang-tidy", folder)
        return folder

    def check(self, sources):
        """What clang-tidy says of the sources, or nothing."""
        words = self.options[sources[0]]
        main = sources[0]
        if len(sources) > 1:
            includes = "".join(f'#include "{source}"  // NOLINT(bugprone-suspicious-include)\n' for source in sources)
            name = hashlib.sha256(includes.encode()).hexdigest()[:12]
            main = self.folder(sources[0]) / f"UnifiedSource{name}{sources[0].suffix}"
            main.write_text(includes)
        text = subprocess.run(["clang++", *words, "-E", "-C", str(main)], capture_output=True).stdout
        configuration = subprocess.run(["clang-tidy", "--dump-config", str(main)], capture_output=True).stdout
        stamp = self.build / "clean" / hashlib.sha256(self.version + configuration + text).hexdigest()
        if text and stamp.exists():
            return ""
        run = subprocess.run(["clang-tidy", "-quiet", str(main), "--", *words], capture_output=True, text=True)
        if "[clang-diagnostic-error]" in run.stdout and len(sources) > 1:
            return "".join(self.check([source]) for source in sources)
        if run.returncode == 0 and not run.stdout.strip():
            stamp.touch()
        elif not run.stdout.strip():
            return f"{main}: clang-tidy failed\n{run.stderr}"
        return run.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("-p", dest="build", type=pathlib.Path, required=True, help="folder with compile_commands.json")
    parser.add_argument("-j", dest="jobs", type=int, default=1, help="processes at a time")
    parser.add_argument("only", nargs="?", default="", help="regular expression that the names of sources must match")
    arguments = parser.parse_args()
    options = compile_commands(arguments.build)
    for source in left_out(options):
        options.pop(source, None)
        print(f"not checked, as it cannot be compiled here: {source.relative_to(ROOT)}")
    linter = Linter(arguments.build.resolve(), options)
    work = [batch for batch in batches({s: w for s, w in options.items() if re.search(arguments.only, str(s))})]
    seen = set()
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for number, found in enumerate(pool.map(linter.check, work), 1):
            for finding in re.split(r"\n(?=/\S+:\d+:\d+: (?:warning|error))", found):
                if finding.strip() and finding.split("\n", 1)[0] not in seen:
                    seen.add(finding.split("\n", 1)[0])
                    print(finding, flush=True)
            print(f"[{number}/{len(work)}]", file=sys.stderr, flush=True)
    print(f"{len(options)} sources, {len(seen)} findings")
    return 1 if seen else 0


if __name__ == "__main__":
    sys.exit(main())
