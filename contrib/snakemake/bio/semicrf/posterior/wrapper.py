__author__ = "The semicrf authors"
__copyright__ = "Copyright 2026, the semicrf authors"
__email__ = ""
__license__ = "Apache-2.0"

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
if snakemake.output.get("index"):
    options.append("--write-index")
if snakemake.output.get("stats"):
    options.append(f"--stats {shlex.quote(snakemake.output.stats)}")
if snakemake.output.get("counts"):
    options.append(f"--counts-out {shlex.quote(snakemake.output.counts)}")
for name in ("labels", "starts", "ends"):
    # One array, an archive of arrays, or a file per label that begins with the prefix.
    value = snakemake.output.get(name) or ""
    if not isinstance(value, str) or not value.endswith((".npy", ".npz")):
        value = snakemake.params.get(f"{name}_prefix", "")
    if value:
        options.append(f"--{name}-out {shlex.quote(value)}")

boundary_posterior = snakemake.output.get("posterior")
if not boundary_posterior:
    raise ValueError(
        "the boundary posterior is the output `posterior`, as in the wrapper of decode, where `boundaries` is a table"
    )

tracks = snakemake.input.tracks
tracks = [tracks] if isinstance(tracks, str) else list(tracks)
names = snakemake.params.get("track_names", [])
if names:
    tracks = [f"{name}={path}" for name, path in zip(names, tracks, strict=True)]

shell(
    "semicrf posterior"
    " --threads {snakemake.threads}"
    " --params {snakemake.input.params:q}"
    " --output {boundary_posterior:q}"
    " {options}"
    " {extra}"
    " {tracks:q}"
    " {log}"
)
