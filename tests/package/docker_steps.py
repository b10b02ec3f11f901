#!/usr/bin/env python3
"""Runs the steps of the Dockerfile one by one in chroots, where there is no container engine.

    tests/package/docker_steps.py [--build-arg NAME=VALUE] [--ccache FOLDER] [--from-image IMAGE=SUITE[:FOLDER]] [--deb FILE]
                                  [--cmake=OPTION]

FROM makes a clean Debian with tests/package/chroot.sh, COPY copies what .dockerignore leaves, RUN runs in the chroot, ARG, ENV,
WORKDIR and USER do what they say; then the entry point decodes the files of data/. Images that are not Debian's cannot be had:
a stage that needs one stops the run, unless --from-image puts a Debian in its place, with a folder of this machine that is seen
there under the same name (and no more than read). The CUDA variant, with the toolkit of this machine and one architecture:

    tests/package/docker_steps.py --build-arg CUDA=ON --build-arg CUDAARCHS=90-virtual --deb semicrf-cuda.deb \
        --from-image nvidia/cuda:12.6.3-devel-ubuntu24.04=bookworm:/usr/local/cuda --from-image ubuntu:24.04=bookworm

--ccache: a compiler cache to use. --deb: where to put the package of the build stage. --cmake: an option that "cmake --preset" gets
besides, such as --cmake=-DSEMICRF_UNITY=ON for a shorter build. Needs root and debootstrap; exit code 77 where they are missing.
"""

import argparse
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
DEBIAN = re.compile(r"debian:(\w+)(-slim)?$")


def steps_of(text):
    """[(instruction, rest)], lines that end with a backslash joined."""
    text = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))
    lines = re.sub(r"\\\n", " ", text).splitlines()
    return [tuple(line.split(None, 1)) for line in lines if line.strip()]


def shell(command):
    return subprocess.run(["bash", "-c", "source %s/chroot.sh; need_chroot_tools; %s" % (HERE, command)], check=True)


class Stage:
    def __init__(self, folder):
        self.folder, self.variables, self.work, self.user, self.mounts = folder, {}, "/", None, []

    def mount(self, source, place, access):
        target = self.folder / place.lstrip("/")
        target.mkdir(parents=True, exist_ok=True)
        subprocess.run(["mount", "--bind", "-o", access, str(pathlib.Path(source).resolve()), str(target)], check=True)
        self.mounts.append(target)

    def remove(self):
        for target in self.mounts:
            for _ in range(20):  # busy while processes of a step that was stopped end
                if subprocess.run(["umount", str(target)], check=False).returncode == 0:
                    break
                time.sleep(1)
        shell("remove_chroot %s" % self.folder)

    def run(self, words, more=(), check=True, **options):
        environment = dict({"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root"}, **self.variables, **dict(more))
        user = ["--userspec=%s" % self.user] if self.user else []
        script = "cd %s && exec \"$@\"" % shlex.quote(self.work)
        return subprocess.run(["chroot"] + user + [str(self.folder), "sh", "-c", script, "sh"] + words, env=environment, check=check,
                              **options)


class Build:
    def __init__(self, options, top):
        self.options, self.top = options, top
        self.given = dict(item.split("=", 1) for item in options.build_arg)
        self.images = dict(item.split("=", 1) for item in options.from_image)
        self.stages, self.kinds, self.stage, self.arguments = {}, {}, None, {}

    def filled(self, text):
        values = dict(self.arguments, **(self.stage.variables if self.stage else {}))
        return re.sub(r"\$\{(\w+)\}|\$(\w+)", lambda m: values.get(m.group(1) or m.group(2), ""), text)

    def do_from(self, rest):
        image, name = (self.filled(rest).split() + ["as", ""])[0:3:2]
        earlier = self.kinds.get(image)  # ("image", ENV) of a stage that was only named so far
        base, variables = earlier if earlier else (image, {})
        self.kinds[name] = (base, dict(variables))
        self.stage = Stage(None)
        self.stage.variables = self.kinds[name][1]
        self.stages[name] = self.stage
        self.stage.base = base

    def started(self):
        """The chroot of a stage is made when its first step needs it."""
        stage = self.stage
        if stage.folder is None:
            found = DEBIAN.match(stage.base)
            suite, _, lent = (found.group(1) if found else self.images.get(stage.base, "")).partition(":")
            if not suite:
                sys.exit("the image %s cannot be had here: --from-image puts a Debian in its place" % stage.base)
            stage.folder = self.top / ("stage%d" % sum(other.folder is not None for other in self.stages.values()))
            shell("make_chroot %s %s" % (stage.folder, suite))
            if lent:
                stage.mount(lent, lent, "ro")
            if self.options.ccache:
                shell("in_chroot %s sh -c 'apt-get update -q && apt-get install -q -y ccache' >/dev/null" % stage.folder)
                stage.mount(self.options.ccache, "/ccache", "rw")
        return stage

    def do_arg(self, rest):
        name, _, value = rest.partition("=")
        value = self.given.get(name, value)
        if self.stage is None:
            self.arguments[name] = value
        elif value:
            self.stage.variables[name] = value

    def do_env(self, rest):
        name, _, value = rest.partition("=")
        self.stage.variables[name] = self.filled(value)

    def do_workdir(self, rest):
        stage = self.started()
        stage.work = rest
        (stage.folder / rest.lstrip("/")).mkdir(parents=True, exist_ok=True)

    def do_copy(self, rest):
        stage, words = self.started(), rest.split()
        base, ignored = ROOT, {line.strip() for line in (ROOT / ".dockerignore").read_text().splitlines() if not line.startswith("#")}
        if words[0].startswith("--from="):
            base, ignored, words = self.stages[words[0][7:]].folder, set(), words[1:]
        target = stage.folder / stage.work.lstrip("/") if not words[-1].startswith("/") else stage.folder / words[-1].lstrip("/")
        if words[-1] not in (".", "./") and not words[-1].startswith("/"):
            target = target / words[-1]
        target.mkdir(parents=True, exist_ok=True)
        for word in words[:-1]:
            source = base / word.lstrip("/")
            if source.is_dir():
                shutil.copytree(source, target, dirs_exist_ok=True, symlinks=True,
                                ignore=lambda folder, names: ignored & set(names) if pathlib.Path(folder) == ROOT else set())
            else:
                shutil.copy2(source, target)

    def do_run(self, rest):
        more = {}
        if self.options.ccache:
            # The language of messages is part of what the cache looks entries up by.
            more = {"LANG": os.environ.get("LANG", "C"), "CCACHE_DIR": "/ccache", "CCACHE_BASEDIR": self.stage.work, "CMAKE_CXX_COMPILER_LAUNCHER": "ccache",
                    "CMAKE_CUDA_COMPILER_LAUNCHER": "ccache"}
        rest = re.sub(r"cmake --preset release[^&]*", lambda m: " ".join([m.group()] + self.options.cmake) + " ", rest)
        words = json.loads(rest) if rest.startswith("[") else ["/bin/sh", "-ec", rest]
        self.started().run(words, more)

    def do_user(self, rest):
        self.started().user = rest

    def do_entrypoint(self, rest):
        self.stage.entry = json.loads(rest)

    def do_cmd(self, rest):
        self.started().run(self.stage.entry + json.loads(rest))

    def run(self):
        for number, (instruction, rest) in enumerate(steps_of((ROOT / "Dockerfile").read_text()), 1):
            print("step %d: %s %s" % (number, instruction, rest[:100]), flush=True)
            getattr(self, "do_" + instruction.lower())(rest.strip())

    def try_it(self):
        """docker run -v data:/data semicrf decode ..."""
        folder = self.stage.folder / "data"
        for item in (ROOT / "data").iterdir():
            shutil.copy(item, folder)
        folder.chmod(0o777)
        tracks = sorted(item.name for item in folder.glob("codon_*.bw"))
        decode = self.stage.entry + ["decode", "-q", "-p", "demo.params.json"]
        self.stage.run(decode + ["-o", "segments.bed"] + tracks)
        lines = [line for line in (folder / "segments.bed").read_text().splitlines() if not line.startswith("#")]
        print("\n".join(lines[:3]))
        assert "CDS+0" in lines[1], lines[:3]
        if self.given.get("CUDA") == "ON":
            said = self.stage.run(decode + ["-x", "cuda", "-o", "cuda.bed"] + tracks, check=False, stderr=subprocess.PIPE, text=True)
            print(said.stderr.strip())  # a chroot has no GPU: the engine is there, and says so
            assert said.returncode == 7 and "driver" in said.stderr, said


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build-arg", action="append", default=[])
    parser.add_argument("--from-image", action="append", default=[])
    parser.add_argument("--cmake", action="append", default=[])
    parser.add_argument("--ccache")
    parser.add_argument("--deb")
    options = parser.parse_args()
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    if os.geteuid() != 0 or not shutil.which("debootstrap"):
        print("skipped: this needs root and debootstrap")
        return 77
    top = pathlib.Path(tempfile.mkdtemp(prefix="semicrf-docker-"))
    build = Build(options, top)
    try:
        build.run()
        if options.deb:
            shutil.copy(build.stages["build"].folder / "semicrf.deb", options.deb)
        build.try_it()
    finally:
        for stage in build.stages.values():
            if stage.folder is not None:
                stage.remove()
        top.rmdir()
    print("1 passed, 0 failed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
