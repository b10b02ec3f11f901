#!/usr/bin/env python3
"""The Snakemake wrappers of contrib/snakemake: the test of each is run with the wrapper as it is, on data/; formatted and linted.

`wrapper:` is given a folder in place of the public repository: file:///FOLDER/master/bio/semicrf/...
"""

import os
import re
import shutil

import tools

WRAPPERS = tools.ROOT / "contrib" / "snakemake" / "bio" / "semicrf"
TARGETS = {
    "decode": ["test.segments.bed.gz"],
    "posterior": ["test.boundaries.bw"],
    "train": ["test.params.json"],
    "eval": ["test.evaluation.txt"],
    "report": ["test.report.html"],
}
FILES = {"meta.yaml", "wrapper.py", "environment.yaml", "test"}


def check_options(name, known):
    text = (WRAPPERS / name / "wrapper.py").read_text() + (WRAPPERS / name / "test" / "Snakefile").read_text()
    for option in re.findall(r"(?<![\w-])--[a-z][a-z-]*", text):
        tools.expect(option in known, "the wrapper of %s uses %s, which `semicrf %s --help-all` does not have" % (name, option, name))
    for loop in re.findall(r"for name in \(([^)]*)\):\n(?:.*\n){1,4}?.*--\{name\}(-out)?", text):
        for word in re.findall(r'"(\w+)"', loop[0]):
            tools.expect("--" + word + loop[1] in known, "the wrapper of %s uses --%s%s" % (name, word, loop[1]))


def run_wrapper(program, folder, name):
    work = folder / name
    shutil.copytree(WRAPPERS / name / "test", work)
    (work / "data").symlink_to(tools.DATA)
    environment = tools.environment(program, HOME=str(folder))
    command = [tools.tool("snakemake"), "--cores", "2", "--wrapper-prefix", "file://%s/" % folder, "--show-failed-logs"] + TARGETS[name]
    tools.run(command, cwd=work, env=environment)
    outputs = re.findall(r'"([^"]*\{(?:sample|model)\}[^"]*)"', (work / "Snakefile").read_text().split("log:")[0])
    for output in outputs:
        path = work / re.sub(r"\{\w+\}", "test", output)
        tools.expect(path.exists(), "the wrapper of %s wrote no %s" % (name, path.name))
    log = work / "logs" / "semicrf" / name / "test.log"
    tools.expect(log.exists(), "no log of %s" % name)
    again = tools.run(command, cwd=work, env=environment)
    tools.expect("Nothing to be done" in again.stdout, "%s is run again" % name)
    tools.run([tools.tool("snakemake"), "--lint"] + TARGETS[name], cwd=work, env=environment, check=False)


def main():
    options = tools.arguments(__doc__).parse_args()
    snakefmt = tools.tool("snakefmt")
    tools.tool("snakemake")
    tools.run([snakefmt, "--check", tools.ROOT / "contrib" / "snakemake"])
    with tools.Folder(options.keep) as folder:
        os.symlink(tools.ROOT / "contrib" / "snakemake", folder / "master")
        ran = []
        for name in TARGETS:
            tools.expect({path.name for path in (WRAPPERS / name).iterdir()} == FILES, "files of %s" % name)
            known = tools.help_of(options.program, name)
            if not known:
                print("%-10s not run: this program has no such command" % name)
                continue
            check_options(name, known)
            run_wrapper(options.program, folder, name)
            ran.append(name)
    print("wrappers run: %s" % ", ".join(ran))


if __name__ == "__main__":
    main()
