# The sample sheet, the settings and the names of files.
import csv
import math
import os
import re
import shlex
import shutil

from snakemake.exceptions import WorkflowError
from snakemake.utils import validate

validate(config, schema="../schemas/config.schema.yaml")

# Known before anything is computed, where no deployment brings it.
if (
    config["multiqc"]
    and not getattr(workflow.deployment_settings, "deployment_method", None)
    and shutil.which("multiqc") is None
):
    raise WorkflowError(
        "multiqc is not in PATH: install it, run with --sdm conda, or write multiqc: false into the config"
    )

BY_CHROMOSOME = bool(config["chromosomes"])
# The command that computes label posteriors always writes those of boundaries, too.
WITH_BOUNDARIES = config["boundaries"] or config["label_posteriors"]
BOUNDARIES_BY_DECODE = config["boundaries"] and not config["label_posteriors"]
# Of one sample, or of one chromosome of it.
PART = (
    "results/{sample}/parts/{chromosome}"
    if BY_CHROMOSOME
    else "results/{sample}/{sample}"
)
LOGS = PART.replace("results", "results/logs")
BOUNDARIES = "results/{sample}/{sample}.boundaries.bedgraph.gz"
SEGMENTS = "results/{sample}/{sample}.segments.bed.gz"
INDEX = config["index"]
# Where they lie: a copy of workflow.source_path() has another name in every run, and new parameters run a rule again.
GUARD = os.path.join(workflow.basedir, "scripts", "retry_on_memory.sh")
GATHER = os.path.join(workflow.basedir, "scripts", "gather.sh")


def read_samples(path):
    """{sample: {track: path of its file}}, in the order of the sheet."""
    samples = {}
    with open(path, encoding="utf-8") as sheet:
        lines = (line for line in sheet if line.strip() and not line.startswith("#"))
        for row in csv.DictReader(lines, delimiter="\t"):
            row = {key: value for key, value in row.items() if key}
            validate(row, schema="../schemas/samples.schema.yaml")
            tracks = samples.setdefault(row["sample"], {})
            if row["track"] in tracks:
                raise ValueError(
                    f"{path}: the track {row['track']} of {row['sample']} is there twice"
                )
            tracks[row["track"]] = os.path.normpath(
                os.path.join(os.path.dirname(path), row["path"])
            )
    if not samples:
        raise ValueError(f"{path}: no sample")
    return samples


SAMPLES = read_samples(config["samples"])


wildcard_constraints:
    sample="|".join(re.escape(sample) for sample in SAMPLES),
    chromosome="|".join(re.escape(name) for name in config["chromosomes"]) or "-",


def track_files(sample):
    return list(SAMPLES[sample].values())


def track_arguments(sample):
    return shlex.join(f"{track}={path}" for track, path in SAMPLES[sample].items())


def largest_sample():
    """The sample with most bytes: what the memory is planned for."""

    def size(sample):
        return sum(
            os.path.getsize(path)
            for path in track_files(sample)
            if os.path.exists(path)
        )

    return max(SAMPLES, key=size)


def attempt_of(wildcards, attempt):
    return attempt


def doubled_memory(megabytes):
    """That many for the first attempt, twice as many for every further one."""
    return lambda wildcards, attempt: megabytes * 2 ** (attempt - 1)


def planned_memory(wildcards, input, attempt):
    """Megabytes of a job: what the dry run says and room for the worst windows; twice as much for every retry."""
    with open(input.plan, encoding="utf-8") as plan:
        found = re.search(r"^memory\t(\d+) MiB$", plan.read(), re.MULTILINE)
    return (math.ceil(1.25 * int(found.group(1))) + 64) * 2 ** (attempt - 1)


def truth_file(wildcards):
    return config["truth"].format(sample=wildcards.sample)


def device():
    return "cuda" if config["device"] == "gpu" else "cpu"


def gpus():
    return 1 if config["device"] == "gpu" else 0


def documents(*kinds):
    """MultiQC documents of a sample."""
    return [f"results/qc/{{sample}}.semicrf_{kind}_mqc.json" for kind in kinds]


def documents_folder(wildcards, output):
    return os.path.dirname(output.documents[0])


SEGMENT_DOCUMENTS = documents("general", "labels", "durations", "label_durations")
EVALUATION_DOCUMENTS = documents("evaluation", "label_f1")


def decode_options():
    score = "--score none" if config["label_posteriors"] else ""
    return f"--device {device()} {score} {config['extra']['decode']}"


def posterior_options():
    return f"--device {device()} {config['extra']['posterior']}"


def plan_options(command):
    """The options of a dry run: outputs that take memory are asked for, and not written."""
    if command == "posterior":
        return posterior_options() + " --labels-out planned"
    return decode_options() + (" --posterior planned" if BOUNDARIES_BY_DECODE else "")


def part_region(wildcards):
    return f"--region {shlex.quote(wildcards.chromosome)}" if BY_CHROMOSOME else ""


def part_documents(wildcards, output):
    """A chromosome has no documents of its own: `describe` writes them for the sample."""
    if BY_CHROMOSOME:
        return ""
    folder = shlex.quote(documents_folder(wildcards, output))
    return f"--multiqc {folder} --multiqc-name {shlex.quote(wildcards.sample)}"


def wanted_patterns():
    """What a sample shall have in the end."""
    patterns = [SEGMENTS, f"{SEGMENTS}.{INDEX}"]
    if WITH_BOUNDARIES:
        patterns += [BOUNDARIES, f"{BOUNDARIES}.{INDEX}"]
    if config["label_posteriors"]:
        parts = expand(
            PART.replace("{sample}", "{{sample}}"), chromosome=config["chromosomes"]
        )
        patterns += [f"{part}.label_posteriors" for part in parts or [PART]]
    if config["report"]:
        patterns.append("results/{sample}/{sample}.report.html")
    if config["truth"]:
        patterns.append("results/{sample}/{sample}.evaluation.txt")
    return patterns


def all_documents():
    patterns = SEGMENT_DOCUMENTS + (EVALUATION_DOCUMENTS if config["truth"] else [])
    return expand(patterns, sample=SAMPLES)


def wanted_files():
    page = ["results/multiqc.html"] if config["multiqc"] else []
    return expand(wanted_patterns(), sample=SAMPLES) + page
