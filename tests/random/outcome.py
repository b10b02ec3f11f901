"""Runs the program once and says which rules of the contract the outcome breaks."""

import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import threading

CODES = {0, 2, 3, 4, 5, 6, 7, 141}
TIME_LIMIT = 120  # seconds; the machine may be busy
LONGEST_MESSAGES = 16384  # bytes on standard error
LONGEST_LINE = 2000
SANITIZER = re.compile(r"AddressSanitizer|LeakSanitizer|ThreadSanitizer|runtime error: |UndefinedBehaviorSanitizer")
TEMPORARY = re.compile(r"\.semicrf-")
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
THREADS = re.compile(rb", \d+ threads?\)")
STANDARD_OUTPUTS = {"/dev/stdout", "-"}  # where a log may go, whose lines tell times and threads
VARYING = {"timings", "peak_memory", "device", "threads"}  # of statistics


class Finding(Exception):
    pass


class Surroundings:
    """What a process finds around itself: limits, descriptors, a pipe named `pipe` in its folder."""

    def __init__(self, limits=None, closed=(), stdout=None, piped=b""):
        self.limits, self.closed, self.stdout, self.piped = limits or {}, closed, stdout, piped

    def prepare(self):
        for limit, value in self.limits.items():
            resource.setrlimit(getattr(resource, limit), (value, value))
        for descriptor in self.closed:
            os.close(descriptor)

    def __str__(self):
        words = ["%s=%d" % item for item in self.limits.items()] + ["%d closed" % one for one in self.closed]
        return ", ".join(words + (["standard output is %s" % self.stdout] if self.stdout else []))

    def is_plain(self):
        return not (self.limits or self.closed or self.stdout)


class Pipe:
    """A named pipe that is written anew for everyone who opens it."""

    def __init__(self, path, content):
        self.path, self.content, self.ends = path, content, False
        if not path.exists():
            os.mkfifo(path)
        self.thread = threading.Thread(target=self.serve, daemon=True)

    def serve(self):
        while not self.ends:
            try:
                with open(self.path, "wb") as pipe:
                    if not self.ends:
                        pipe.write(self.content)
            except OSError:
                pass

    def __enter__(self):
        self.thread.start()

    def __exit__(self, *_):
        self.ends = True
        while self.thread.is_alive():
            try:
                os.close(os.open(self.path, os.O_RDONLY | os.O_NONBLOCK))
            except OSError:
                pass
            self.thread.join(0.01)
        self.path.unlink()


class Outcome:
    def __init__(self, code, stdout, stderr):
        self.code, self.stdout, self.stderr = code, stdout, stderr


def run(program, words, folder, surroundings=Surroundings()):
    with_pipe = any("pipe" in word for word in words)
    stdout = open(surroundings.stdout, "wb") if surroundings.stdout else subprocess.PIPE
    environment = dict(os.environ, ASAN_OPTIONS="detect_leaks=0", UBSAN_OPTIONS="print_stacktrace=1")

    def go():
        return subprocess.run([program] + words, cwd=folder, input=surroundings.piped, stdout=stdout, stderr=subprocess.PIPE, env=environment,
                              timeout=TIME_LIMIT, check=False, preexec_fn=None if surroundings.is_plain() or surroundings.stdout else surroundings.prepare)
    try:
        if with_pipe:
            with Pipe(pathlib.Path(folder) / "pipe", surroundings.piped):
                done = go()
        else:
            done = go()
    except subprocess.TimeoutExpired as error:
        raise Finding("still running after %d s" % TIME_LIMIT) from error
    except ValueError as error:
        raise Finding("cannot be started: %s" % error) from error
    finally:
        if surroundings.stdout:
            stdout.close()
    return Outcome(done.returncode, done.stdout or b"", done.stderr.decode("utf-8", "surrogateescape"))


def state(folder):
    """{path: bytes} of all regular files; of anything else None."""
    found = {}
    for path in sorted(pathlib.Path(folder).rglob("*")):
        found[str(path.relative_to(folder))] = path.read_bytes() if path.is_file() and not path.is_symlink() else None
    return found


def check_messages(outcome, logs_to_stdout=False):
    lines = outcome.stderr.splitlines()
    errors = [line for line in lines if line.startswith("semicrf: error: ")]
    if SANITIZER.search(outcome.stderr):
        raise Finding("a sanitizer report")
    if outcome.code < 0:
        raise Finding("ended by signal %s" % signal.Signals(-outcome.code).name)
    if outcome.code not in CODES:
        raise Finding("exit code %d" % outcome.code)
    failed = outcome.code not in (0, 141)
    shows_usage = outcome.code == 2 and not errors and "Usage:" in outcome.stderr
    if len(errors) != (1 if failed else 0) and not shows_usage:
        raise Finding("%d error lines with exit code %d" % (len(errors), outcome.code))
    if failed and not shows_usage and outcome.code != 5 and outcome.stdout and not logs_to_stdout:
        raise Finding("exit code %d, but something on standard output" % outcome.code)
    others = [line for line in lines if not re.match(r"semicrf: (error|warning|info|debug|note)\b", line)]
    if others and not shows_usage:
        raise Finding("lines that are no messages: %r" % others[:2])
    size = sum(len(line) + 1 for line in lines if not line.startswith("semicrf: debug:"))  # -v speaks of every piece
    if size > LONGEST_MESSAGES:
        raise Finding("%d bytes of messages" % size)
    if max(map(len, lines), default=0) > LONGEST_LINE:
        raise Finding("a message of %d bytes" % max(map(len, lines)))
    if any(CONTROL.search(line) for line in lines):
        raise Finding("control characters in a message")


def check_files(outcome, folder, before, after, written, kept):
    """`written`: names that the command line gives to outputs; `kept`: those of them that a failed run may leave. A link is written
    through, so that its target is an output, too."""
    new = [name for name in after if name not in before]
    changed = [name for name in after if name in before and after[name] != before[name]]
    lost = [name for name in before if name not in after]
    if any(TEMPORARY.search(name) for name in new):
        raise Finding("temporary files are left: %s" % ", ".join(new))
    if lost:
        raise Finding("files are gone: %s" % ", ".join(lost))
    # A log that cannot be written does not cost the results: they are there, and the exit code is 5.
    done = outcome.code == 0 or "the log cannot be written" in outcome.stderr
    expected = list(written.values()) if done else [written[name] for name in written if name in kept]
    stems = [os.path.normpath(name) for name in expected if name]
    stems += [os.readlink(folder / name) for name in stems if os.path.islink(folder / name)]
    stems += [os.path.splitext(name.removesuffix(".gz"))[0] + "." for name in stems]
    stray = [name for name in new + changed if not any(name.startswith(stem) for stem in stems)]
    if stray:
        raise Finding("exit code %d, and files that nobody asked for: %s" % (outcome.code, ", ".join(stray)))
    if done:
        broken = [name for name in new if name.endswith(".json") and not is_json(after[name])]
        if broken:
            raise Finding("no JSON: %s" % ", ".join(broken))


def is_json(content):
    def refuse(word):
        raise ValueError(word)
    try:
        json.loads(content.decode("utf-8"), parse_constant=refuse)
        return True
    except (ValueError, UnicodeDecodeError):
        return False


def without_times(value):
    if isinstance(value, dict):
        return {key: without_times(one) for key, one in value.items() if key not in VARYING}
    return [without_times(one) for one in value] if isinstance(value, list) else value


def comparable(name, content, logs):
    if name in logs:
        return None
    content = content and THREADS.sub(b")", content)  # an engine's description in tables for people
    if content is not None and name.endswith((".json", ".txt")) and content[:1] == b"{" and is_json(content):
        return without_times(json.loads(content))
    return content


def check_same(first, second, files, others, logs, allowed):
    """Two runs of one command line but for the threads."""
    if first.code != second.code:
        if allowed and {first.code, second.code} & {6}:
            return
        raise Finding("exit code %d, and %d when run again with other threads: %s" % (first.code, second.code, second.stderr.strip()[-500:]))
    if not logs & STANDARD_OUTPUTS and comparable("stdout.json", first.stdout, ()) != comparable("stdout.json", second.stdout, ()):
        raise Finding("another standard output when run again with other threads")
    if set(files) != set(others):
        raise Finding("other files when run again with other threads: %s" % ", ".join(sorted(set(files) ^ set(others))))
    different = [name for name in files if comparable(name, files[name], logs) != comparable(name, others[name], logs)]
    if different:
        raise Finding("other bytes when run again with other threads: %s" % ", ".join(different))
