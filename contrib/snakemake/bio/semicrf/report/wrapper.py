__author__ = "The semicrf authors"
__copyright__ = "Copyright 2026, the semicrf authors"
__email__ = ""
__license__ = "Apache-2.0"

import shlex

from snakemake.shell import shell

log = snakemake.log_fmt_shell(stdout=True, stderr=True)
extra = snakemake.params.get("extra", "")

options = []
for name in ("posterior", "truth"):
    if snakemake.input.get(name):
        options.append(f"--{name} {shlex.quote(snakemake.input.get(name))}")

tracks = snakemake.input.get("tracks", [])
tracks = [tracks] if isinstance(tracks, str) else list(tracks)
names = snakemake.params.get("track_names", [])
if names:
    tracks = [f"{name}={path}" for name, path in zip(names, tracks, strict=True)]

shell(
    "semicrf report"
    " --params {snakemake.input.params:q}"
    " --segments {snakemake.input.segments:q}"
    " --output {snakemake.output.report:q}"
    " {options}"
    " {extra}"
    " {tracks:q}"
    " {log}"
)
