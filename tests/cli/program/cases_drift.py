"""Options that documentation, workflows and contributions use are options of the command: --help lists them."""

import re

import command_line
from harness import HERE, Skip, check

ROOT = HERE.parents[1]
FOLDERS = ("docs", "contrib", "workflows", "packaging", "tests/package")
FILES = ("README.md", "CHANGELOG.md", "Makefile", "Dockerfile")
SCRIPTS = (".py", ".smk", ".nf", ".yaml", ".yml", ".sh", ".config", ".test", ".json", ".tsv")
OPTION = r"(?<![\w<{$@/.=-])(--[a-z][a-z0-9-]*|-[A-Za-z@])(?=[\s=\"'`,;:.)\]}]|$)"

# Long options of other programs that pages name outside of a command line.
OTHERS = set("""--preset --build --target --parallel --install --config --privileged --resolution --distribution --prior-strength --segtransition-weight-scale --update --list
--change --vs --from-image --deb --resources --report --program --help --version --sdm --prefix --fa --ctest --launch-count --set --csv --page
--check --mca --bind-to --write-raw-scores --oversubscribe --retries --rerun-incomplete --cores --jobs --executor --configfile --lint
--wrapper-prefix --workflow-profile --small --all --corpora --map-by --build-arg --gpus --rm --outdir""".split())


def pages():
    """Every text file that may show a command line."""
    found = [ROOT / name for name in FILES]
    for folder in FOLDERS:
        found += sorted(path for path in (ROOT / folder).rglob("*") if path.is_file()
                        and (path.suffix in SCRIPTS + (".md",) or path.name in ("Snakefile", "Dockerfile", "control", "rules")
                             or path.parent.name == "tests"))
    return [path for path in found if path.exists()]


def code_of(text):
    """The indented and fenced blocks of a page, the other lines empty."""
    lines, fenced = [], False
    for line in text.splitlines():
        if line.lstrip().startswith("```"):
            fenced = not fenced
            lines.append("")
        else:
            lines.append(line if fenced or line.startswith("    ") else "")
    return "\n".join(lines)


def inline_code(text):
    """[(line, code)] of `code` between backticks, which may go over the end of a line."""
    spans = []
    for found in re.finditer(r"(?<!`)`([^`]+)`(?!`)", text):
        if "\n\n" not in found.group(1):
            spans.append((text.count("\n", 0, found.start()) + 1, " ".join(found.group(1).split())))
    return spans


def command_text(text, begin):
    """From `begin` to the end of the command: lines that end with a backslash or a string that the next line continues go on."""
    lines = text[begin:].split("\n")
    taken = [lines[0]]
    for line in lines[1:]:
        last = taken[-1].rstrip()
        following = line.strip()
        string = last.endswith(('"', "'", '",')) and following.startswith(('"', "'", 'f"'))
        if not (last.endswith("\\") or string or (following.startswith("-") and not last.endswith(("`", ".")) and last != "")):
            break
        taken.append(line)
    joined = " ".join(line.rstrip().rstrip("\\") for line in taken)
    joined = re.split(r"\s\|\s|\s\|\||&&|;|\s>|\s2>|\s#\s|\)\s*$|`", joined)[0]
    return re.sub(r"\$\{[^}]*\}|\{[^}]*\}|'[^']*=[^']*'", " ", joined)


def uses_in(text, commands, start=r"\bsemicrf\s+|\$\(PROGRAM\)\s+"):
    """[(line, command, option)] of every command line in a text of code."""
    found = []
    for match in re.finditer(r"(?:%s)((?:[a-z]+)(?:\s+(?:chromhmm|segway))?)\b(?=[\s\"'`\\]|$)" % start, text):
        words = tuple(match.group(1).split())
        words = words if words in commands else words[:1]
        if words not in commands:
            continue
        line = text.count("\n", 0, match.start()) + 1
        rest = command_text(text, match.end(1))
        found += [(line, words, option) for option in re.findall(OPTION, rest)]
    return found


def commands_of(box):
    if not (ROOT / "docs").is_dir():
        raise Skip("the sources are not here")
    return {tuple(command.path): set(command.names()) for command in command_line.all_commands(box)}


def known(commands, words):
    """Options of a command; those of a command with commands of its own belong to these."""
    return set().union(*(names for path, names in commands.items() if path[:len(words)] == words))


def test_options_in_command_lines(box):
    commands, wrong, count = commands_of(box), [], 0
    for path in pages():
        text = path.read_text(errors="replace")
        uses = uses_in(code_of(text) if path.suffix == ".md" else text, commands)
        if path.suffix == ".md":
            for line, code in inline_code(text):
                uses += [(line, words, option) for _, words, option in uses_in(code, commands, r"\bsemicrf\s+|^")]
        for line, words, option in uses:
            count += 1
            if option not in known(commands, words):
                wrong.append("%s:%d: semicrf %s has no option %s" % (path.relative_to(ROOT), line, " ".join(words), option))
    check(not wrong, "\n".join(wrong))
    check(count > 200, "only %d uses of options were found" % count)


def test_options_in_prose(box):
    """`--option` alone, in a page: an option of some command."""
    commands, wrong = commands_of(box), []
    every = known(commands, ()) | OTHERS
    for path in pages():
        if path.suffix != ".md":
            continue
        for line, code in inline_code(path.read_text()):
            if code.startswith("--"):
                wrong += ["%s:%d: no command has %s" % (path.relative_to(ROOT), line, option)
                          for option in re.findall(OPTION, code) if option.startswith("--") and option not in every]
    check(not wrong, "\n".join(wrong))


def test_options_in_scripts(box):
    """A script of contrib/ or workflows/ may put its command line together: a long option in it is one of the commands that it
    runs, or of another program that the line names."""
    commands, wrong = commands_of(box), []
    others = re.compile(r"snakemake|multiqc|sbatch|srun|squeue|sacct|nextflow|nf-core|nf-test|docker|apt|pip|python|cmake|mpirun|tabix|bgzip|argparse|add_argument|git |tar |conda|sinfo")
    for path in pages():
        if path.suffix == ".md" or not str(path.relative_to(ROOT)).startswith(("contrib", "workflows")):
            continue
        text = path.read_text(errors="replace")
        used = {words for words in commands if words and re.search(r"\bsemicrf\s+%s\b" % r"\s+".join(words), text)}
        if not used:
            continue
        allowed = {"--help", "--version"}.union(commands[()], *(known(commands, words) for words in used))
        for number, line in enumerate(text.splitlines(), 1):
            if line.lstrip().startswith(("#", "//")) or others.search(line):
                continue
            wrong += ["%s:%d: none of its commands has %s" % (path.relative_to(ROOT), number, option)
                      for option in re.findall(OPTION, line) if option.startswith("--") and option not in allowed]
    check(not wrong, "\n".join(wrong))
