"""Completes command lines in bash, zsh and fish, as a user who presses TAB."""

import os
import pty
import select
import shutil
import signal
import subprocess
import time

from harness import Skip, check


def need(program):
    if not shutil.which(program):
        raise Skip("%s is not installed" % program)


def environment(box):
    names = {name: value for name, value in os.environ.items() if name in ("PATH", "LANG", "LD_LIBRARY_PATH")}
    return dict(names, HOME=str(box.folder), TERM="xterm", PATH=os.path.dirname(box.program) + ":" + names.get("PATH", ""))


def in_bash(box, lines):
    """What bash offers for each list of words, of which the last is to be completed."""
    need("bash")
    box.write("semicrf.bash", box.ok("completion bash").stdout)
    script = ["source ./semicrf.bash"]
    for words in lines:
        quoted = " ".join("'%s'" % word for word in ["semicrf"] + words)
        script.append("COMP_WORDS=(%s); COMP_CWORD=%d; _semicrf; printf '%%s\\n' \"${COMPREPLY[@]}\" ==" % (quoted, len(words)))
    done = subprocess.run(["bash", "--norc", "-c", "\n".join(script)], cwd=box.folder, env=environment(box), text=True,
                          capture_output=True, timeout=100, check=False)
    check(done.returncode == 0 and done.stderr == "", "bash: %s" % done.stderr)
    return [answer.split("\n") for answer in done.stdout.split("==\n")[:-1]]


def in_fish(box, lines):
    need("fish")
    box.write("semicrf.fish", box.ok("completion fish").stdout)
    script = ["source ./semicrf.fish"]
    for words in lines:
        script.append("complete -C '%s'; echo ==" % " ".join(["semicrf"] + words))
    done = subprocess.run(["fish", "--no-config", "-c", "\n".join(script)], cwd=box.folder, env=environment(box), text=True,
                          capture_output=True, timeout=100, check=False)
    check(done.returncode == 0 and done.stderr == "", "fish: %s" % done.stderr)
    return [[line.split("\t")[0] for line in answer.split("\n")] for answer in done.stdout.split("==\n")[:-1]]


ZSH_START = """
PROMPT= RPROMPT= ; unsetopt zle_bracketed_paste 2>/dev/null; unset zle_bracketed_paste
fpath=($PWD/functions $fpath); autoload -Uz compinit; compinit -u -d $PWD/dump; LISTMAX=10000
compadd() {
  if (( ${argv[(I)-[OAD]]} )); then builtin compadd "$@"; return; fi
  local -a found; builtin compadd -A found "$@"
  print -rl -- $found >> $PWD/offered
  builtin compadd "$@"
}
zle-line-init() { print '==' >> $PWD/offered }; zle -N zle-line-init
"""


def in_zsh(box, lines):
    """zsh completes only where someone types, so it gets a terminal; what it offers is written to a file. The next line is typed
    when zsh has begun to read it (zle-line-init)."""
    need("zsh")
    box.write("functions/_semicrf", box.ok("completion zsh").stdout)
    box.write("offered", "")
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(box.folder)
        os.execve(shutil.which("zsh"), ["zsh", "-f", "-i"], environment(box))
    try:
        typed = [ZSH_START] + ["%s\t\x15\n" % " ".join(["semicrf"] + words) for words in lines]
        for number, text in enumerate(typed, 1):
            os.write(terminal, text.encode())
            deadline = time.monotonic() + 60
            while box.text("offered").count("==\n") < number:
                check(time.monotonic() < deadline, "zsh does not answer to %r" % text)
                if select.select([terminal], [], [], 0.005)[0]:
                    os.read(terminal, 65536)
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(terminal)
    return [answer.split("\n") for answer in box.text("offered").split("==\n")[1:-1]]


SHELLS = {"bash": in_bash, "zsh": in_zsh, "fish": in_fish}
