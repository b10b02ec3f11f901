"""Random command lines: what a command needs, and of the options that its --help-all lists any, with values that mostly fit."""

import re

from command_line import Command

SKIPPED = {"help", "help-all", "version", "bench", "instruction-set", "dry-run"}
# Values of options that are no files and whose kind the help does not tell.
VALUES = {
    "max-memory": ["64M", "200M", "1G", "1", "8X", "0"],
    "missing-track": ["t0", "t1", "nothing"],
    "track-names": ["t0", "t0,t1", "A,B", ""],
    "track-pattern": ["{track}.bw", "{sample}.{track}.bw", "{track}", "x"],
    "sample": ["s1", "s2", "s1=*.bw", ""],
    "boundary-window": ["auto", "none", "-1,1", "0,0", "1,-1"],
    "freeze": ["transition", "duration", "emission", "nothing", "transition,duration"],
    "margin": ["auto", "0", "2", "-1"],
    "order": ["A,B", "B", ""],
    "forbid": ["A,B", "B,A", "A", "x,y"],
    "min-duration": ["A=2", "B=1000000", "A", "A=-1"],
    "duration": ["A=geometric:mean=20", "B=poisson:mean=3", "A=uniform", "A=negative_binomial:r=2,mean=12", "A=x"],
    "rename-track": ["t0=T", "t0=t1", "=", "x=y"],
    "drop-track-prefix": ["t", "x", "t0"],
    "hub-genome": ["hg38", "a b"], "hub-name": ["h", "é <b>"], "hub-email": ["a@b.c"],
    "multiqc-name": ["s", "../s", "a b", "é"], "title": ["T", "<script>", "é"], "name": ["s", "chr1"], "tier": ["t", "x"],
    "background": ["A", "rest"], "device": ["cpu", "reference", "auto"], "progress": ["line", "off"],
    "seed": ["0", "1", "7"], "restarts": ["1", "2"], "max-iterations": ["0", "1", "3", "8"], "max-duration": ["1", "5", "30"], "length": ["1", "50", "2000", "0"],
    "labels-number": ["2", "3", "2,3", "0", "1"], "draws": ["1", "3"], "best": ["1", "2", "5"], "batch": ["1", "2"], "window": ["10", "100"],
    "cell": ["c", "a b", "../x"], "threads": ["1", "2", "3", "4"], "rate": ["100", "8000", "0.5"], "checkpoint-every": ["1", "2"], "scale": ["column", "log"],
}
NUMBERS = {"INT": ["0", "1", "2", "3", "10", "100", "-1", "x", "99999999999999999999", "1e3"], "UINT": ["0", "1", "7", "-1"],
           "FLOAT": ["0", "0.5", "1", "1e-3", "0.95", "-1", "nan", "inf", "1e999", "5"]}
# Roles of input files by option; of those that no line says, any file will do.
ROLES = {
    "params": "parameters", "chrom-sizes": "sizes", "regions-file": "regions", "exclude": "regions", "constraints": "constraints", "claims": "claims",
    "labels-known": "segments", "truth": "segments", "segments": "segments", "posterior": "posterior", "labels-posterior": "label posteriors",
    "intervals": "boundaries", "against": "parameters", "init": "parameters", "resume": "checkpoint", "annotation": "annotation", "samples": "sheet",
    "control": "reads", "groups": "cells", "start-scores": "array", "end-scores": "array", "labels": "label posteriors",
}
ENDINGS = {
    "count output": [".bw", ".bw", ".npz"],
    "decode output": [".bed", ".bed.gz", ".bb"], "simulate output": [".bed", ".bed.gz", ".bb"], "posterior output": [".bedgraph", ".bedgraph.gz", ".bw"],
    "decode posterior": [".bedgraph", ".bw"], "posterior counts-out": [".npz"], "posterior labels-out": ["", ".npy"], "posterior starts-out": ["", ".npy"],
    "posterior ends-out": [""], "train output": [".json"], "learn output": [".json"], "edit output": [".json"], "import output": [".json"],
    "query output": [".tsv"], "report output": [".html"], "simulate emissions": [".npy", ""], "compare regions": [".bed", ".bb"],
    "compare disagreement": [".bedgraph", ".bw"], "compare shifts": [".tsv"], "reproducibility r-values": [".bedgraph", ".bw"], "reproducibility confident": [".bed"],
    "reproducibility reliability-out": [".svg"], "enrich svg": [".svg"], "eval reliability-out": [".svg"], "export output": [".txt"],
}
# What later commands may read of what was written.
WRITTEN_ROLES = {
    "decode output": "segments", "simulate output": "segments", "posterior output": "posterior", "decode posterior": "posterior", "train output": "parameters",
    "learn output": "parameters", "edit output": "parameters", "import output": "odd parameters", "posterior labels-out": "label posteriors",
    "decode boundaries": "boundaries", "train checkpoint": "checkpoint", "learn checkpoint": "checkpoint", "simulate emissions": "array",
    "compare regions": "annotation", "reproducibility confident": "segments", "decode review": "annotation",
}
FOLDERS = {"hub", "multiqc", "figures", "chromhmm-out"}
# Outputs that a run may leave although it fails.
KEPT_OUTPUTS = {"log-file", "checkpoint"}


def long_name(option):
    return option.names[-1].lstrip("-")


class Grammar:
    """All commands of a program as its --help-all tells them."""

    def __init__(self, help_of, completions):
        """help_of: the help of the words of a command. completions: those for fish, whose order of options is that in which the
        commands add them; draws follow it, so that they do not change with the groups of the help."""
        added = re.findall(r"= \\'([^\\]*)\\''.* -l (\S+)", completions)
        self.commands = {}
        waiting = [[]]
        while waiting:
            path = waiting.pop()
            command = Command(path, help_of(path))
            waiting += [path + [name] for name in command.commands if name not in SKIPPED]
            if path and not command.commands:
                command.outputs = self.outputs_of(command)
                command.options.sort(key=lambda option: added.index((" ".join(command.path), long_name(option))))
                self.commands[" ".join(path)] = command

    @staticmethod
    def outputs_of(command):
        """The long names of options that name something to write."""
        section = re.split(r"^Outputs?:", command.help, flags=re.M)[-1]
        listed = set(re.findall(r"^  (--?[a-z-]+) [A-Z]", section, flags=re.M)) | {"--log-file", "--checkpoint", "--output", "--emissions"}
        return {long_name(option) for option in command.options if listed & set(option.names)}


class CommandLine:
    """One command line: words, what it may write, and what of that later commands can use."""

    def __init__(self, command, world, random):
        self.command, self.world, self.random = command, world, random
        self.name = " ".join(command.path)
        self.words = list(command.path)
        self.written = {}  # option: name of the file, prefix or folder
        self.given = set()
        self.add_needed()
        options = [option for option in command.options if long_name(option) not in SKIPPED | self.given]
        for option in random.sample(options, min(len(options), random.choice([0, 1, 2, 3, 5, 8]))):
            self.add(option)

    def option(self, name):
        return next(one for one in self.command.options if long_name(one) == name)

    def add_needed(self):
        world, random, first = self.world, self.random, self.command.path[0]
        options = {long_name(one) for one in self.command.options}
        if "params" in options and first not in ("describe", "eval") or first in ("describe", "eval") and random.random() < 0.3:
            self.add(self.option("params"))
        needed = {"train": ["labels"], "learn": ["labels"], "query": ["claims"], "report": ["segments"], "eval": ["truth"], "reproducibility": ["labels"]}.get(first, [])
        for name in needed:
            self.add(self.option(name))
        if "max-iterations" in options:
            self.add(self.option("max-iterations"))
        if first == "learn":
            self.add(self.option("max-duration"))
        if "output" in options and random.random() < 0.9:
            self.add(self.option("output"))
        if first == "simulate" and random.random() < 0.5:
            self.add(self.option("length"))
        elif first in ("decode", "posterior", "simulate", "query", "train", "learn"):
            self.words += world.input_arguments()
        if first == "count":
            for name in ("chrom-sizes", "bin-size"):
                self.add(self.option(name))
            self.words += [random.choice(["", "T%d=" % i]) + world.pick("reads") for i in range(random.choice([1, 1, 1, 2]))]
        if first in ("describe", "enrich", "eval"):
            self.words.append(world.pick("segments"))
        if first in ("enrich",):
            self.words += [random.choice(["", "n="]) + world.pick("annotation") for _ in range(random.randint(1, 2))]
        if first in ("compare", "reproducibility"):
            self.words += [random.choice(["", "s%d=" % i]) + world.pick("segments") for i in range(2)]
        if first == "edit":
            self.words.append(world.pick("parameters"))
        if first in ("report", "eval") and random.random() < 0.5:
            self.words += world.input_arguments()
        if first in ("import", "export"):
            self.words.append(world.pick(self.command.path[1] if first == "import" else "parameters"))
        if first == "info":
            self.words.append(world.pick(random.choice(["parameters", "bigwig", "array", "archive", "segments"])))

    def add(self, option):
        name = long_name(option)
        self.given.add(name)
        if not option.value:
            self.words.append(random_name(self.random, option))
            return
        if name in self.command.outputs and name not in ("labels",):
            value = self.output_value(name)
        else:
            value = self.value(option, name)
        word = self.random.choice(option.names)
        if word.startswith("--") and (self.random.random() < 0.2 or value.startswith("-")):
            self.words.append(word + "=" + value)
        else:
            self.words += [word, value]

    def output_value(self, name):
        random, world = self.random, self.world
        if random.random() < 0.06:
            value = random.choice(["/dev/full", "/dev/null", "-", "no_folder/x", "folder", "", "x" * 260, "dangling", "/dev/stdout", self.any_file()])
            self.written[name] = value
            return value
        ending = random.choice(ENDINGS.get("%s %s" % (self.command.path[0], name), [".txt"]))
        if name in FOLDERS or name == "prefix":
            ending = ""
        value = "out" + world.stem() + ending
        self.written[name] = value
        return value

    def any_file(self):
        return self.world.pick(self.random.choice(sorted(self.world.files)))

    def value(self, option, name):
        random, world = self.random, self.world
        if name == "region" or name == "val-region":
            return world.region() if random.random() < 0.9 else random.choice(["", "chr1:0-5", "chr9", ":", "chr1:5-2"])
        if name == "bin-size" and random.random() < 0.8:
            return str(world.bin_size)
        if name == "labels" and self.command.path[0] == "learn":
            return random.choice(VALUES["labels-number"])
        if name == "labels" and self.command.path[0] == "train":
            return world.pick("segments" if random.random() < 0.9 else "textgrid")
        if name in VALUES and not (option.is_file() and name in ROLES) and not (name == "scale" and option.value == "FLOAT"):
            return random.choice(VALUES[name])
        if option.value in NUMBERS:
            return random.choice(NUMBERS[option.value])
        if option.words() and random.random() < 0.9:
            return random.choice(option.words())
        if name in ROLES:
            return world.pick(ROLES[name])
        return self.any_file() if option.is_file() else random.choice(["A", "x", "", "A,B", "1", "é"])

    def remember(self):
        """Makes what was written known to the world."""
        for name, value in self.written.items():
            role = WRITTEN_ROLES.get("%s %s" % (self.command.path[0], name))
            if role and (self.world.folder / value).is_file() or role == "label posteriors":
                self.world.add(role, value)


def random_name(random, option):
    return random.choice(option.names)
