"""Manual pages and completions: both are made of the command line itself, and must say all of it."""

import re
import shutil
import subprocess

import cases_import
import cases_segway
import command_line
import shells
from harness import Skip, check


def offered(shell, box, lines):
    answers = shells.SHELLS[shell](box, lines)
    check(len(answers) == len(lines), "%s: %d answers to %d lines" % (shell, len(answers), len(lines)))
    return list(zip(lines, answers))


def check_options(shell, box):
    """Every option of every command, and every command, is offered."""
    commands = command_line.all_commands(box)
    for (line, answer), command in zip(offered(shell, box, [command.path + ["-"] for command in commands]), commands):
        # zsh offers -o where --output is typed, too, but not the second short name of an option beside the first.
        missing = [name for name in command.names() if name not in answer]
        check(not missing, "%s: 'semicrf %s' does not offer %s, but %s" % (shell, " ".join(line), missing, answer))
        extra = [name for name in answer if name.startswith("-") and name not in command.names()]
        check(not extra, "%s: 'semicrf %s' offers %s, which --help lacks" % (shell, " ".join(line), extra))
    parents = [command for command in commands if command.commands]
    for (line, answer), command in zip(offered(shell, box, [command.path + [""] for command in parents]), parents):
        found = sorted(word for word in answer if word)
        check(found == sorted(command.commands), "%s: 'semicrf %s' offers %s" % (shell, " ".join(line), found))


def check_values(shell, box):
    """Files where a file is asked for, one of several words where these are, nothing where a number is."""
    box.write("zz-only.file", "")
    lines, expected, seen = [], [], set()
    for command in command_line.all_commands(box):
        if command.positionals:
            for text in ("zz-on", "zz-on" if shell == "bash" else "name=zz-on"):
                lines.append(command.path + [text])
                expected.append((["zz-only.file"], None))
        for option in command.options:
            if not option.value or (shell == "zsh" and (option.names[-1], option.value) in seen):
                continue
            seen.add((option.names[-1], option.value))
            if option.is_file():
                lines.append(command.path + [option.names[-1], "zz-on"])
                expected.append((["zz-only.file"], None))
            if option.words():
                lines.append(command.path + [option.names[0], ""])
                expected.append((option.words(), None if option.is_file() else set(option.words())))
            elif not option.is_file():
                lines.append(command.path + [option.names[-1], ""])
                expected.append(([], set()))
    for (line, answer), (needed, allowed) in zip(offered(shell, box, lines), expected):
        found = {word.rsplit("=", 1)[-1] for word in answer if word}
        where = "%s: 'semicrf %s' offers %s" % (shell, " ".join(line), sorted(found))
        check(found >= set(needed), "%s, not %s" % (where, needed))
        check(allowed is None or found <= allowed, "%s, but only %s can be given" % (where, sorted(allowed or [])))


def test_bash_completes_options(box):
    check_options("bash", box)


def test_bash_completes_values(box):
    check_values("bash", box)
    # bash splits at "=": --rule=post and name=zz-on
    answers = shells.in_bash(box, [["decode", "--rule", "=", "post"], ["decode", "--rule", "="], ["decode", "name", "=", "zz-on"],
                                   ["decode", "decode"], ["import", "chromhmm", "--seg"]])
    check([[word for word in answer if word] for answer in answers]
          == [["posterior"], ["viterbi", "posterior"], ["zz-only.file"], [], ["--segments"]], "%s" % answers)


def test_bash_completion_loads_it(box):
    loader = "/usr/share/bash-completion/bash_completion"
    if not shutil.os.path.exists(loader):
        raise Skip("bash-completion is not installed")
    box.write("user/completions/semicrf", box.ok("completion bash").stdout)
    done = subprocess.run(["bash", "--norc", "-c", "source %s; _completion_loader semicrf; complete -p semicrf" % loader],
                          env=dict(shells.environment(box), BASH_COMPLETION_USER_DIR=str(box.path("user"))), text=True,
                          capture_output=True, check=False)
    check("-F _semicrf semicrf" in done.stdout, "%s %s" % (done.stdout, done.stderr))


def test_zsh_completes_options(box):
    check_options("zsh", box)


def test_zsh_completes_values(box):
    check_values("zsh", box)


def test_fish_completes_options(box):
    check_options("fish", box)


def test_fish_completes_values(box):
    check_values("fish", box)


def test_values_of_type_file_are_files(box):
    """Texts that have no type of their own get the type FILE: what help says of them must be about a file."""
    about_files = re.compile(r"file|table|picture|BED|bedGraph|JSON|NPY|PATH|columns|segmentation|parameters|tables|segments|SVG|write|output", re.I)
    wrong = []
    for command in command_line.all_commands(box):
        for found in re.finditer(r"^  (-\S+) FILE\b(.*(?:\n {10,}.*)*)", command.help.split("\nOutput")[0], re.M):
            if not about_files.search(found.group(2)):
                wrong.append("%s %s: %s" % (command.path, found.group(1), found.group(2).strip()))
    check(not wrong, "not a file? Give the option a type_name:\n" + "\n".join(wrong))


def pages(box):
    box.path("man").mkdir()
    box.ok("man --all man --date 2024-02-29")
    return sorted(box.path("man").iterdir())


def test_every_option_is_in_a_manual_page(box):
    texts = {page.name: page.read_text() for page in pages(box)}
    commands = command_line.all_commands(box)
    names = sorted("semicrf%s.1" % ("-" + command.path[0] if command.path else "") for command in commands if len(command.path) < 2)
    check(sorted(texts) == names, "%s" % sorted(texts))
    for command in commands:
        text = texts["semicrf%s.1" % ("-" + command.path[0] if command.path else "")].replace("\\-", "-")
        for name in command.names():
            check("\\fB%s\\fR" % name in text, "no %s in the page of %s" % (name, command.path))
        for name in command.positionals:
            check("\\fI%s\\fR" % name in text, "no %s in the page of %s" % (name, command.path))
        for heading in (".SH NAME", ".SH SYNOPSIS", ".SH DESCRIPTION", ".SH OPTIONS", '.SH "EXIT STATUS"', ".SH EXAMPLES", '.SH "SEE ALSO"'):
            check(heading in text, "no %s in the page of %s" % (heading, command.path))
        check("2024-02-29" in text, "no date")
    check(box.ok("man").stdout == box.ok("man").stdout and box.ok("man decode").stdout.startswith(".TH SEMICRF"), "semicrf man decode")
    box.fails("man decod", 2, "decode")


def test_man_shows_the_pages_without_a_warning(box):
    shells.need("man")
    shells.need("groff")
    for page in pages(box):
        done = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-P", "cat", "-l", str(page)], capture_output=True, text=True, check=False,
                              env=dict(shells.environment(box), MANWIDTH="80", LC_ALL="C.UTF-8"))
        check(done.returncode == 0 and done.stderr == "", "%s: %s" % (page.name, done.stderr))
        check("EXAMPLES" in done.stdout and "EXIT STATUS" in done.stdout, page.name)


def test_mandoc_has_nothing_to_say_of_the_pages(box):
    shells.need("mandoc")
    done = subprocess.run(["mandoc", "-T", "lint", "-W", "warning"] + [str(page) for page in pages(box)],
                          capture_output=True, text=True, check=False)
    check(done.stdout == "", done.stdout)


def examples(box, command):
    """The command lines of a page's examples, joined where they go on."""
    text = box.ok(["man"] + ([command] if command else [])).stdout
    blocks = re.findall(r"^\.RS 4\n(.*?)^\.RE", text[text.index(".SH EXAMPLES"):], re.M | re.S)
    for old, new in (("\\-", "-"), ("\\(aq", "'"), ("\\(ga", "`"), ("\\(ti", "~"), ("\\(ha", "^"), ("\\e", "\\")):
        blocks = [block.replace(old, new) for block in blocks]
    return blocks


def test_the_examples_run(box):
    """In the order of the commands, with what those before them wrote, and two models of other programs."""
    box.write("model_3.txt", cases_import.model_text(*cases_import.SMALL))
    box.write("params.params", cases_segway.segway_text())
    commands = [command.path for command in command_line.all_commands(box) if len(command.path) < 2]
    for path in commands:
        blocks = examples(box, path[0] if path else "")
        check(blocks, "no example of %s" % path)
        for block in blocks:
            check("semicrf %s" % " ".join(path) in block, "%r is not of %s" % (block, path))
            done = subprocess.run(["bash", "-euo", "pipefail", "-c", block], cwd=box.folder, env=shells.environment(box),
                                  capture_output=True, text=True, check=False)
            check(done.returncode == 0 and "semicrf: error" not in done.stderr, "%s\n%s" % (block, done.stderr))
    for name in ("segments.bed", "segments.bed.gz.tbi", "best.5.bed", "labels.tsv", "answers.tsv", "draw.10.bed", "edited.json", "start.json"):
        check(box.path(name).exists(), "no %s" % name)
