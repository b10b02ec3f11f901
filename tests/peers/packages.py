"""Python packages that only tests use, in a folder of the build, or a visible skip where they cannot be had."""

import hashlib
import os
import pathlib
import shutil
import subprocess
import sys

SKIPPED = 77


def skip(reason):
    print("skipped: " + reason)
    sys.exit(SKIPPED)


def installed(requirements, folder):
    """The folder with these packages: as it is, or made now. `requirements`: a file of pinned packages."""
    folder = pathlib.Path(folder)
    stamp = folder / "installed"
    wanted = hashlib.sha256(pathlib.Path(requirements).read_bytes() + sys.version.encode()).hexdigest()
    if stamp.exists() and stamp.read_text() == wanted:
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input", "--no-deps",
               "--only-binary", ":all:", "--target", str(folder), "--requirement", str(requirements)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=180)
    except subprocess.TimeoutExpired:
        skip("pip took more than 180 s to install " + os.path.basename(requirements))
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip().splitlines()
        skip("pip cannot install %s: %s" % (os.path.basename(requirements), said[-1] if said else "no reason given"))
    stamp.write_text(wanted)
    return folder
