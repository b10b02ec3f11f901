"""The command line as --help-all tells it: commands, options, and what their values are."""

import re


class Option:
    def __init__(self, names, value):
        self.names, self.value = names, value  # ["-p", "--params"], "FILE", or "" for a flag

    def words(self):
        """Values that can be typed as they are: of "float|double" both, of "kmeans|random|FILE" two."""
        parts = self.value.split("|")
        return [part for part in parts if re.fullmatch(r"[a-z0-9_-]+", part)] if len(parts) > 1 else []

    def is_file(self):
        return any(part.endswith(("FILE", "PREFIX", "DIR")) for part in self.value.split("|"))


class Command:
    def __init__(self, path, help_text):
        self.path, self.help = path, help_text  # ["import", "chromhmm"]
        self.options, self.positionals, self.commands = [], [], []
        group = ""
        for line in help_text.splitlines():
            if re.match(r"Outputs?\b", line):
                break
            if re.fullmatch(r"[A-Z].*:", line):
                group = line[:-1]
            found = re.match(r"  (\S+)(?: (\S+))?", line)
            if not found or line.startswith("   "):
                continue
            if found.group(1).startswith("-"):
                before_text = re.match(r"  (\S+(?: \S+)*)", line).group(1).split(" ")
                value = before_text[1] if len(before_text) > 1 and before_text[1] != "Excludes:" else ""
                value = value.split("=")[0]  # the default follows
                value = value if "|" in value else value.split(":")[0]  # limits follow
                self.options.append(Option(found.group(1).split(","), value))
            elif group == "Positionals":
                self.positionals.append(found.group(1))
            elif group == "Subcommands":
                self.commands.append(found.group(1))

    def names(self):
        return [name for option in self.options for name in option.names]


def all_commands(box, path=()):
    """Every command that --help lists, the program itself first."""
    command = Command(list(path), box.ok(list(path) + ["--help-all"] * bool(path) + ["--help"] * (not path)).stdout)
    found = [command]
    for name in command.commands:
        found += all_commands(box, tuple(path) + (name,))
    return found
