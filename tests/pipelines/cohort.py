"""A small cohort, drawn from a model by `semicrf simulate`: samples x tracks as bigWig files, their truth, a sample sheet.

The tracks are random numbers, and the truth of a sample is one draw from the exact distribution of its segmentations.
"""

import contextlib
import json
import struct
import sys

import tools

sys.path.insert(0, str(tools.ROOT / "tests" / "support" / "files"))
import bigwig  # noqa: E402  pylint: disable=wrong-import-position

TRACKS = ["H3K4me3", "H3K36me3", "H3K27me3"]
LABELS = ["active", "transcribed", "repressed", "quiet"]
BIN_SIZE = 10
SEED = 18
SNAKEFILE = tools.ROOT / "workflows" / "cohort" / "workflow" / "Snakefile"
PROFILES = tools.ROOT / "workflows" / "cohort" / "profiles"


def write_model(path, longest):
    count = len(LABELS)
    weights = [[2.0 if column == label else -0.5 for column in range(len(TRACKS))] for label in range(count)]
    document = {"format": "semicrf-params", "format_version": "1.0", "labels": LABELS, "max_duration": longest,
                "bin_size": BIN_SIZE, "centering": "none",
                "transition": [["-inf" if a == b else -1.0 for b in range(count)] for a in range(count)],
                "duration": {"kind": "negative_binomial", "r": [2.0] * count, "p": [0.2] * count, "tail": [0.9] * count},
                "tracks": [{"name": track} for track in TRACKS],
                "emission": {"weights": weights, "bias": [0.0] * count}}
    path.write_text(json.dumps(document))


def npy_rows(path):
    """Rows of a little-endian float32 array in C order."""
    content = path.read_bytes()
    header = 10 + struct.unpack_from("<H", content, 8)[0]
    columns = len(TRACKS)
    values = struct.unpack_from("<%df" % ((len(content) - header) // 4), content, header)
    return [values[first:first + columns] for first in range(0, len(values), columns)]


def make(program, folder, samples=12, chromosomes=None, longest=40, gap=True):
    """Writes the cohort and config/; returns the names of the samples."""
    chromosomes = chromosomes or {"chr1": 3000, "chr2": 1500}  # bins
    for name in ("tracks", "truth", "config"):
        (folder / name).mkdir(parents=True)
    write_model(folder / "config" / "model.json", longest)
    names = ["sample%02d" % (number + 1) for number in range(samples)]
    sheet = ["sample\ttrack\tpath"]
    for number, sample in enumerate(names):
        lengths = [item for name, bins in chromosomes.items() for item in ("--length", str(bins), "--name", name)]
        tools.run([program, "simulate", "-q", "-p", "config/model.json", "--seed", SEED + number, "-o", "truth/%s.bed" % sample,
                   "--emissions", "tracks/" + sample] + lengths, cwd=folder)
        rows = {name: npy_rows(folder / "tracks" / ("%s.%s.npy" % (sample, name))) for name in chromosomes}
        for column, track in enumerate(TRACKS):
            sections = []
            for name in chromosomes:
                values = [row[column] for row in rows[name]]
                if gap and column == 0:  # a track without values on a twentieth of each chromosome
                    sections += bigwig.fixed_step(name, len(values) // 20 * BIN_SIZE, BIN_SIZE, values[len(values) // 20:])
                else:
                    sections += bigwig.fixed_step(name, 0, BIN_SIZE, values)
            path = "tracks/%s.%s.bw" % (sample, track)
            bigwig.write(folder / path, {name: bins * BIN_SIZE for name, bins in chromosomes.items()}, sections)
            sheet.append("%s\t%s\t../%s" % (sample, track, path))
        for name in chromosomes:
            (folder / "tracks" / ("%s.%s.npy" % (sample, name))).unlink()
    (folder / "config" / "samples.tsv").write_text("\n".join(sheet) + "\n")
    return names


def configure(folder, **settings):
    """config/config.yaml, JSON being YAML."""
    all_settings = {"samples": "config/samples.tsv", "params": "config/model.json", "truth": "truth/{sample}.bed",
                    "threads": 1}
    all_settings.update(settings)
    (folder / "config" / "config.yaml").write_text(json.dumps(all_settings))


def snakemake(folder, *more, cores=2):
    """The command line of the workflow over this cohort."""
    return [tools.tool("snakemake"), "--snakefile", str(SNAKEFILE), "--directory", str(folder), "--cores", str(cores),
            "--rerun-incomplete", "--show-failed-logs"] + [str(item) for item in more]


def is_result(relative):
    """Whether this file of the results is equal in every run: all but logs, times (statistics) and MultiQC's page, which has a date."""
    if relative.parts[0] == "multiqc_data":
        return relative.name.startswith(("multiqc_semicrf", "multiqc_general"))
    return relative.parts[0] not in ("logs", "multiqc.html") and not relative.name.endswith(".stats.json")


def results(folder, name="results"):
    """Bytes of what is equal in every run."""
    top = folder / name
    found = {}
    for path in sorted(top.rglob("*")):
        relative = path.relative_to(top)
        if not path.is_file() or not is_result(relative):
            continue
        with contextlib.suppress(FileNotFoundError):  # a temporary file of a run that goes on
            found[str(relative)] = path.read_bytes()
    return found


def differences(left, right):
    return sorted(name for name in left.keys() | right.keys() if left.get(name) != right.get(name))
