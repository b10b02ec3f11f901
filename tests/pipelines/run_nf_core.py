#!/usr/bin/env python3
"""The modules of contrib/nf-core without Nextflow, which is not to be had from the registries that tests use:

1. `nf-core modules lint` over a copy of them in a repository of the kind that nf-core/modules is;
2. their shell commands, as Nextflow would fill them in, run on data/; their files match the outputs that are declared;
3. their stubs, likewise; and the command that tells the version.

The linter needs a clone of nf-core/modules with two schemas, and `nextflow`. It gets a repository made here, whose schemas
accept every object, and a script that answers `nextflow config`. So what is not checked is said at the end.
"""

import fnmatch
import json
import os
import re
import shutil
import stat

import tools

MODULES = tools.ROOT / "contrib" / "nf-core" / "modules" / "semicrf"
NAMES = ["count", "learn", "decode", "posterior", "train", "report"]
# What needs a network, a package index or Nextflow: containers are looked up, and the package is on no channel yet.
NOT_CHECKED = {"docker_tag", "singularity_tag", "bioconda_version", "bioconda_latest"}


def git(folder, *words):
    tools.run(["git", "-c", "user.name=test", "-c", "user.email=test", "-c", "init.defaultBranch=master"] + list(words), cwd=folder,
              env=dict(os.environ, HOME=str(folder)))


def make_repository(folder):
    """A repository like nf-core/modules with our modules in it, and a bare copy that stands for the remote one."""
    repository = folder / "modules"
    shutil.copytree(MODULES, repository / "modules" / "nf-core" / "semicrf")
    (repository / ".nf-core.yml").write_text("repository_type: modules\norg_path: nf-core\n")
    for name in ("environment", "meta"):
        (repository / "modules" / (name + "-schema.json")).write_text(json.dumps({"type": "object"}))
    (repository / "main.nf").write_text("")
    (repository / "nextflow.config").write_text("")
    git(repository, "init", "-q")
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "modules")
    git(folder, "clone", "-q", "--bare", str(repository), str(folder / "remote.git"))
    home = folder / "home"
    home.mkdir()
    (home / ".gitconfig").write_text('[url "file://%s/remote.git"]\n\tinsteadOf = https://github.com/nf-core/modules.git\n'
                                     "[safe]\n\tdirectory = *\n" % folder)
    programs = folder / "programs"
    programs.mkdir()
    shim = programs / "nextflow"
    shim.write_text('#!/bin/sh\ncase "$1" in config) echo "{}" ;; *) echo "nextflow version 25.10.0.10289" ;; esac\n')
    shim.chmod(shim.stat().st_mode | stat.S_IXUSR)
    return repository, home, programs


def lint(program, folder):
    repository, home, programs = make_repository(folder)
    environment = tools.environment(program, HOME=str(home), NFCORE_HOME=str(home), COLUMNS="200", NO_COLOR="1",
                                    XDG_CONFIG_HOME=str(home / ".config"), XDG_CACHE_HOME=str(home / ".cache"))
    environment["PATH"] = "%s%s%s" % (programs, os.pathsep, environment["PATH"])
    left = set()
    for name in NAMES:
        done = tools.run([tools.tool("nf-core"), "--log-file", folder / "lint.log", "modules", "lint", "semicrf/" + name], check=False,
                         cwd=repository, env=environment)
        passed = re.search(r"(\d+) Tests? Passed", done.stdout)
        tools.expect(passed and int(passed.group(1)) >= 30, "the linter did not run:\n" + done.stdout[-4000:])
        # Rows of the tables of warnings and failures: module, file, "test: message".
        findings = set(re.findall(r"^│[^│\n]*│[^│\n]*│ (\w+):", done.stdout, re.MULTILINE))
        left |= findings & NOT_CHECKED
        tools.expect(not findings - NOT_CHECKED, "semicrf/%s: %s\n%s" % (name, sorted(findings - NOT_CHECKED), done.stdout[-6000:]))
        print("semicrf/%-10s %s tests of the linter passed" % (name, passed.group(1)))
    return left


def groovy_block(text, section):
    """Definitions and the command of `script` or `stub`."""
    found = re.search(r"\n    %s:\n(.*?)\"\"\"\n(.*?)\n    \"\"\"" % section, text, re.DOTALL)
    return found.group(1), found.group(2)


def filled(text, section, values):
    """The shell command as Nextflow makes it of the block. A `def` of the module must have a value here, and no other may."""
    definitions, command = groovy_block(text, section)
    defined = set(re.findall(r"def (\w+) =", definitions))
    missing = defined - set(values)
    tools.expect(not missing, "no value for %s" % sorted(missing))
    command = re.sub(r"\$\{([\w.]+)\}", lambda found: values[found.group(1)], command)
    return command.replace("\\\\\n", "\\\n")


def patterns_of(text):
    outputs = text.split("    output:\n")[1].split("    when:")[0]
    return re.findall(r"path\(\"([^\"]+)\"\)", outputs)


def matches(name, pattern):
    found = re.search(r"\{(.*)\}", pattern)
    if not found:
        return fnmatch.fnmatch(name, pattern)
    return any(fnmatch.fnmatch(name, pattern.replace(found.group(0), choice)) for choice in found.group(1).split(","))


def check_outputs(name, folder, text, inputs):
    """Every declared output has a file, and every file that was made is declared."""
    made = sorted(set(os.listdir(folder)) - inputs)
    for pattern in patterns_of(text):
        tools.expect(any(matches(item, pattern) for item in made), "%s: no file for %s in %s" % (name, pattern, made))
    for item in made:
        tools.expect(any(matches(item, pattern) for pattern in patterns_of(text)), "%s: %s is no output" % (name, item))


def values_of(name):
    """What Nextflow has when it fills the command in: a task of two processors and 1 GB, without a GPU."""
    tracks = " ".join(path.name for path in tools.DEMO_TRACKS)
    values = {"task.cpus": "2", "memory": "--max-memory 1024M", "device": "cpu", "args": "", "prefix": "test", "tracks": tracks,
              "model": "demo.params.json", "labels": "genes.bed", "segments": "genes.bed", "start": "", "posterior": "",
              "compared": "--truth genes.bed"}
    reads = " ".join("reads/" + path.name for path in sorted((tools.DATA / "reads").glob("*.bam")))
    if name == "learn":
        values.update(tracks=reads, args="--labels 3 --bin-size 200 --max-iterations 5")
    if name == "count":
        values.update(reads=reads, args="--bin-size 200 --shift 100")
    if name == "train":
        values["args"] = "--bin-size 3 --max-iterations 3"
    return values


def check_options(program, name, text):
    known = set(re.findall(r"--[a-z][a-z-]*", tools.help_of(program, name)))
    script = text.split("    script:\n")[1].split("    stub:")[0]
    for option in re.findall(r"(?<![\w-])--[a-z][a-z-]*", script):
        tools.expect(option in known, "semicrf/%s uses %s, which `semicrf %s --help-all` does not have" % (name, option, name))


def run_module(program, folder, name):
    text = (MODULES / name / "main.nf").read_text()
    check_options(program, name, text)
    for section in ("script", "stub"):
        work = folder / ("%s-%s" % (name, section))
        work.mkdir()
        for path in tools.DATA.iterdir():
            (work / path.name).symlink_to(path)
        inputs = set(os.listdir(work))
        tools.run(["bash", "-euo", "pipefail", "-c", filled(text, section, values_of(name))], cwd=work, env=tools.environment(program))
        check_outputs("%s, %s" % (name, section), work, text, inputs)
    version = re.search(r"eval\(\"([^\"]+)\"\)", text).group(1)
    said = tools.run(["bash", "-c", version], env=tools.environment(program)).stdout.strip()
    tools.expect(re.fullmatch(r"\d+\.\d+\.\d+", said), "version: %r" % said)
    print("semicrf/%-10s its command, its stub and its version run" % name)


def main():
    options = tools.arguments(__doc__).parse_args()
    tools.tool("nf-core")
    with tools.Folder(options.keep) as folder:
        for name in NAMES:
            if not tools.help_of(options.program, name):
                print("semicrf/%-10s not run: this program has no command %s" % (name, name))
                continue
            run_module(options.program, folder, name)
        left = lint(options.program, folder)
    print("not checked: %s; Nextflow itself and nf-test" % ", ".join(sorted(left)))


if __name__ == "__main__":
    main()
