__author__ = "The semicrf authors"
__copyright__ = "Copyright 2026, the semicrf authors"
__email__ = ""
__license__ = "Apache-2.0"

import os
import shlex

from snakemake.shell import shell

log = snakemake.log_fmt_shell(stdout=True, stderr=True)
extra = snakemake.params.get("extra", "")

options = []
for name in ("posterior", "intervals"):
    if snakemake.input.get(name):
        options.append(f"--{name} {shlex.quote(snakemake.input.get(name))}")
if snakemake.output.get("json"):
    options.append(f"--json {shlex.quote(snakemake.output.json)}")
if snakemake.output.get("picture"):
    options.append(f"--reliability-out {shlex.quote(snakemake.output.picture)}")
if snakemake.output.get("multiqc"):
    os.makedirs(snakemake.output.multiqc, exist_ok=True)
    options.append(f"--multiqc {shlex.quote(snakemake.output.multiqc)}")
    if snakemake.params.get("sample"):
        options.append(f"--multiqc-name {shlex.quote(snakemake.params.sample)}")

# With parameters and tracks, both segmentations are also scored under the model.
tracks = snakemake.input.get("tracks", [])
tracks = [tracks] if isinstance(tracks, str) else list(tracks)
names = snakemake.params.get("track_names", [])
if names:
    tracks = [f"{name}={path}" for name, path in zip(names, tracks, strict=True)]
if snakemake.input.get("params"):
    options.append(f"--params {shlex.quote(snakemake.input.params)}")

shell(
    "semicrf eval"
    " --threads {snakemake.threads}"
    " --truth {snakemake.input.truth:q}"
    " --output {snakemake.output.text:q}"
    " {options}"
    " {extra}"
    " {snakemake.input.segments:q}"
    " {tracks:q}"
    " {log}"
)
