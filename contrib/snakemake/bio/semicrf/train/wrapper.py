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
# A job without a GPU does not take one that happens to be there.
if not any(word in extra.split() for word in ("-x", "--device")):
    options.append(
        "--device cuda" if snakemake.resources.get("gpu", 0) else "--device cpu"
    )
memory = snakemake.resources.get("mem_mb", 0)
if memory and "--max-memory" not in extra:
    options.append(f"--max-memory {memory}M")
if snakemake.input.get("init"):
    options.append(f"--init {shlex.quote(snakemake.input.init)}")
if snakemake.output.get("stats"):
    options.append(f"--stats {shlex.quote(snakemake.output.stats)}")
# Not an output: it is what a job that was stopped goes on from.
checkpoint = snakemake.params.get("checkpoint", "")
if checkpoint:
    checkpoint = shlex.quote(checkpoint)
    options.append(f"--checkpoint {checkpoint} --resume {checkpoint}")
if snakemake.output.get("multiqc"):
    os.makedirs(snakemake.output.multiqc, exist_ok=True)
    options.append(f"--multiqc {shlex.quote(snakemake.output.multiqc)}")
    if snakemake.params.get("sample"):
        options.append(f"--multiqc-name {shlex.quote(snakemake.params.sample)}")

tracks = snakemake.input.tracks
tracks = [tracks] if isinstance(tracks, str) else list(tracks)
names = snakemake.params.get("track_names", [])
if names:
    tracks = [f"{name}={path}" for name, path in zip(names, tracks, strict=True)]

shell(
    "semicrf train"
    " --threads {snakemake.threads}"
    " --labels {snakemake.input.labels:q}"
    " --output {snakemake.output.params:q}"
    " {options}"
    " {extra}"
    " {tracks:q}"
    " {log}"
)
