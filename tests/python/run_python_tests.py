#!/usr/bin/env python3
"""Builds the Python package over the library that is built already, and runs a file of its tests.

usage: run_python_tests.py --build BUILD build|wheel|FILE

FILE is a test here, or an example in python/examples, which runs in a folder of its own and must write its files.

`build` installs the package into BUILD/packages/semicrf as `pip install .` does, but with the libsemicrf of BUILD in place of
one that is compiled for it; what builds it is in BUILD/packages/python. Skipped (exit code 77) where pip cannot install that, or
headers of Python are missing.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig
import tempfile

NEEDS = {"test_torch.py": "torch", "test_torch_page.py": "torch", "test_torch_peers.py": "torch", "test_jax.py": "jax",
         "torch_network.py": "torch", "uncertainty.py": "matplotlib", "../lab/encoder/test_encoder.py": "torch"}
EXAMPLES = {"numpy_model.py": ["segments.bed", "model.json"], "torch_network.py": ["model.json"], "uncertainty.py": ["uncertainty.svg"]}
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "peers"))
import packages  # noqa: E402


def tools_and_settings(folder):
    """The environment that builds the package, and pip's arguments: over the library that is built."""
    if not (pathlib.Path(sysconfig.get_paths()["include"]) / "Python.h").exists():
        packages.skip("headers of Python are not installed (python3-dev)")
    tools = packages.installed(HERE / "requirements.txt", folder / "packages" / "python")
    environment = {**os.environ, "PYTHONPATH": str(tools), "CMAKE_BUILD_PARALLEL_LEVEL": "2", "PYTHON": sys.executable,
                   "PATH": os.pathsep.join([str(tools / "bin"), os.environ["PATH"]])}
    nanobind = subprocess.run([sys.executable, "-m", "nanobind", "--cmake_dir"], env=environment, capture_output=True, text=True,
                              check=True).stdout.strip()
    settings = ["cmake.source-dir=python", "cmake.define.semicrf_DIR=%s" % (folder / "cmake"), "cmake.define.nanobind_DIR=" + nanobind,
                "build-dir=%s" % (folder / "packages" / "extension"), "wheel.py-api="]
    return environment, ["--no-build-isolation"] + ["-C" + setting for setting in settings]


def build(folder, installed):
    environment, arguments = tools_and_settings(folder)
    shutil.rmtree(installed, ignore_errors=True)
    done = subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input", "--no-deps",
                           "--target", str(installed), str(ROOT)] + arguments, env=environment)
    if done.returncode != 0:
        sys.exit("FAILED: pip install")


def wheel(folder):
    """python/wheel.sh, with CUDA where the library of the build has it; what it makes is tried in a fresh environment."""
    environment, arguments = tools_and_settings(folder)
    wheels = folder / "packages" / "wheels"
    shutil.rmtree(wheels, ignore_errors=True)
    cuda = ["--cuda"] if "CMAKE_CUDA_COMPILER:" in (folder / "CMakeCache.txt").read_text() else []
    if subprocess.run([str(ROOT / "python" / "wheel.sh"), *cuda, str(wheels)] + arguments, env=environment, cwd=ROOT).returncode != 0:
        sys.exit("FAILED: python/wheel.sh")
    if len(list(wheels.glob("semicrf-*.whl"))) != 1:
        sys.exit("FAILED: no wheel")


def on_path(folders):
    return {"PYTHONPATH": os.pathsep.join(map(str, folders))}


def with_packages(path, wanted):
    """An interpreter and a path with semicrf, NumPy and `wanted`: that of this interpreter, or Debian's."""
    for interpreter, folders in ((sys.executable, path), (sys.executable, path[:1]), ("/usr/bin/python3", path[:1])):
        done = subprocess.run([interpreter, "-c", "import numpy, semicrf, %s" % wanted], env={**os.environ, **on_path(folders)}, capture_output=True)
        if done.returncode == 0 and b"Failed to initialize NumPy" not in done.stderr:
            return interpreter, folders
    packages.skip("%s is not installed" % wanted)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("what")
    given = parser.parse_args()
    folder = given.build.resolve()
    installed = folder / "packages" / "semicrf"
    if given.what == "build":
        return build(folder, installed)
    if given.what == "wheel":
        return wheel(folder)
    if not (installed / "semicrf").exists():
        packages.skip("the package is not built (python: build)")
    interpreter, path = sys.executable, [installed, folder / "packages" / "python"]
    if given.what in NEEDS:
        interpreter, path = with_packages(path, NEEDS[given.what])
    environment = {**os.environ, **on_path(path), "SEMICRF_PROGRAM": str(folder / "bin" / "semicrf"), "PYTHONDONTWRITEBYTECODE": "1"}
    if given.what not in EXAMPLES:
        sys.exit(subprocess.run([interpreter, str(HERE / given.what)], env=environment).returncode)
    with tempfile.TemporaryDirectory(prefix="semicrf-python-") as box:
        subprocess.run([interpreter, str(ROOT / "python" / "examples" / given.what)], env=environment, cwd=box, check=True)
        lacking = [name for name in EXAMPLES[given.what] if not os.path.getsize(os.path.join(box, name))]
        sys.exit("FAILED: empty: %s" % lacking if lacking else 0)


if __name__ == "__main__":
    main()
