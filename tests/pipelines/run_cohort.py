#!/usr/bin/env python3
"""The cohort workflow over 12 small samples on this machine: results, resources, retries, chromosomes, label posteriors, reports.

Results are compared with those of the plain commands. run_stops.py and run_slurm.py have interrupted runs and the cluster.
"""

import gzip
import json
import re

import cohort
import tools


def run(program, folder, *more, check=True, **options):
    return tools.run(cohort.snakemake(folder, *more, **options), check=check, env=tools.environment(program, HOME=str(folder)))


def lines(path):
    return [line for line in gzip.open(path, "rt") if not line.startswith("#")]


def check_whole_runs(program, folder, names):
    """The workflow's files are those of one command per sample; a second run does nothing."""
    cohort.configure(folder)
    done = run(program, folder)
    plan = (folder / "results" / "plan.decode.txt").read_text()
    planned = int(re.search(r"^memory\t(\d+) MiB$", plan, re.MULTILINE).group(1))
    used = {int(found) for found in re.findall(r"mem_mb=(\d+)", done.stdout)}
    tools.expect(any(planned < one <= 2 * planned + 64 for one in used), "mem_mb %s, planned %d" % (sorted(used), planned))
    tools.expect("Nothing to be done" in run(program, folder).stdout, "a second run computes something")
    for sample in (names[0], names[-1]):
        tracks = ["%s=tracks/%s.%s.bw" % (track, sample, track) for track in cohort.TRACKS]
        tools.run([program, "decode", "-q", "-p", "config/model.json", "-o", "own.bed.gz", "--posterior", "own.bg.gz", "--write-index",
                   "--multiqc", "own", "--multiqc-name", sample] + tracks, cwd=folder)
        result = folder / "results" / sample
        for own, name in (("own.bed.gz", "segments.bed.gz"), ("own.bed.gz.tbi", "segments.bed.gz.tbi"),
                          ("own.bg.gz", "boundaries.bedgraph.gz")):
            tools.expect((folder / own).read_bytes() == (result / ("%s.%s" % (sample, name))).read_bytes(), "%s of %s" % (name, sample))
        for path in (folder / "own").iterdir():
            tools.expect(path.read_bytes() == (folder / "results" / "qc" / path.name).read_bytes(), path.name)
            path.unlink()
    general = json.loads((folder / "results" / "qc" / (names[0] + ".semicrf_general_mqc.json")).read_text())["data"][names[0]]
    tools.expect(1 < general["missing"] < 2, "missing values: %s" % general)  # a twentieth of one of three tracks
    f1 = json.loads((folder / "results" / "qc" / (names[0] + ".semicrf_evaluation_mqc.json")).read_text())["data"][names[0]]["macro_f1"]
    tools.expect(0.5 < f1 <= 1, "F1 of a draw from the model against the best path: %s" % f1)
    tools.expect((folder / "results" / "multiqc.html").stat().st_size > 100000, "no MultiQC page")
    return done.stdout


def check_report(program, folder):
    run(program, folder, "--report", "report.zip")
    tools.expect((folder / "report.zip").stat().st_size > 10000, "no Snakemake report")


def check_chromosomes(program, folder, names):
    """Jobs per chromosome give the lines of jobs per sample."""
    tools.tool("bgzip")
    whole = cohort.results(folder)
    (folder / "results").rename(folder / "whole")
    cohort.configure(folder, chromosomes=["chr1", "chr2"], multiqc=False, label_posteriors=False)
    run(program, folder)
    parted = cohort.results(folder)
    for sample in names:
        for kind in ("segments.bed.gz", "boundaries.bedgraph.gz"):
            name = "%s/%s.%s" % (sample, sample, kind)
            tools.expect(gzip.decompress(whole[name]) == gzip.decompress(parted[name]), "%s by chromosome" % name)
        for kind in ("evaluation", "label_f1"):
            name = "qc/%s.semicrf_%s_mqc.json" % (sample, kind)
            tools.expect(whole[name] == parted[name], "%s by chromosome" % name)


def check_labels(program, folder, names):
    """Label posteriors come with the boundary posterior in one command, and `decode` computes none."""
    cohort.configure(folder, label_posteriors=True, multiqc=False, truth="")
    target = ["results/%s/%s.label_posteriors" % (names[0], names[0]), "results/%s/%s.segments.bed.gz" % (names[0], names[0])]
    tools.run(["rm", "-rf", folder / "results"])
    run(program, folder, *target)
    result = folder / "results" / names[0]
    whole = folder / "whole" / names[0]
    for kind in ("segments.bed.gz", "boundaries.bedgraph.gz"):
        name = "%s.%s" % (names[0], kind)
        columns = [0, 1, 2, 3]  # without the score of a segment, which is 0 here
        first, second = ([[line.split("\t")[c] for c in columns] for line in lines(path / name)] for path in (result, whole))
        tools.expect(first == second, "%s with label posteriors" % name)
    found = sorted(path.name for path in (result / (names[0] + ".label_posteriors")).glob("*.gz"))
    tools.expect(found == sorted("label.%s.bedgraph.gz" % label for label in cohort.LABELS), "label posteriors: %s" % found)
    stats = json.loads((result / (names[0] + ".decode.stats.json")).read_text())
    tools.expect("position_entropy" not in stats["sequences"][0], "decode computes posteriors beside the command posterior")


def stingy_program(program, folder):
    """The program with an eighth of the memory that it is given, which is too little twice; it notes its arguments."""
    (folder / "stingy").mkdir()
    script = folder / "stingy" / "semicrf"
    script.write_text("""#!/bin/bash
echo "$*" >> %s/given.txt
words=("$@")
for i in "${!words[@]}"; do
  if [ "${words[i]}" = --max-memory ]; then given=${words[i + 1]%%M}; words[i + 1]=$((given / 8))M; fi
done
exec %s "${words[@]}"
""" % (folder, program))
    script.chmod(0o755)
    return script


def check_retries(program, folder, names):
    """Exit code 6 is tried again with twice the memory; other errors are not."""
    tools.run(["rm", "-rf", folder / "results"])
    cohort.configure(folder, multiqc=False, truth="")
    target = "results/%s/%s.segments.bed.gz" % (names[0], names[0])
    stingy = stingy_program(program, folder)
    done = run(stingy, folder, "--config", "retries=4", "--", target)
    given = [int(found) for found in re.findall(r"--max-memory (\d+)M", (folder / "given.txt").read_text())]
    tools.expect(len(given) >= 3 and all(b == 2 * a for a, b in zip(given, given[1:])), "memory of attempts: %s" % given)
    tools.expect("exit code 6" not in done.stdout and "not tried again" not in done.stdout, done.stdout[-3000:])
    tools.expect(not (folder / "results" / "logs" / names[0] / (names[0] + ".decode.log.failed")).exists(), "a failure is kept")
    tools.run(["rm", "-rf", folder / "results" / names[0]])
    broken = folder / "tracks" / ("%s.%s.bw" % (names[0], cohort.TRACKS[0]))
    sound = broken.read_bytes()
    broken.write_bytes(sound[:200])
    done = run(program, folder, "--config", "retries=4", "--", target, check=False)
    log = (folder / "results" / "logs" / names[0] / (names[0] + ".decode.log")).read_text()
    tools.expect(done.returncode != 0, "a broken track is decoded")
    tools.expect(log.count("semicrf: error:") == 1 and log.count("not tried again") == 1, "the log of a broken track:\n" + log)
    broken.write_bytes(sound)


def check_gpu(program, folder):
    """A dry run with `device: gpu`: jobs that compute ask for a GPU and use it, the others ask for none."""
    cohort.configure(folder, device="gpu", multiqc=False)
    tools.run(["rm", "-rf", folder / "results"])
    (folder / "results").mkdir()
    (folder / "results" / "plan.decode.txt").write_text("memory\t300 MiB\n")  # a plan asks for the GPU, too
    # Its file alone counts, not that an earlier run of this folder planned without a GPU.
    said = run(program, folder, "--dry-run", "--printshellcmds", "--resources", "gpu=1", "--rerun-triggers", "mtime").stdout
    jobs = re.findall(r"^rule (\w+):.*?resources: ([^\n]*)\nShell command: ([^\n]*)", said, re.MULTILINE | re.DOTALL)
    tools.expect({"decode", "evaluate", "report"} <= {name for name, _, _ in jobs}, "jobs of a dry run: %s" % jobs)
    for name, resources, command in jobs:
        has = ("gpu=1" in resources, "--device cuda" in command)
        tools.expect(has == ((True, True) if name == "decode" else (False, False)), "%s: %s: %s" % (name, resources, command))
        if name == "decode":  # as planned, a quarter more and 64
            tools.expect("mem_mb=439" in resources and "--max-memory 439M" in command, "%s: %s" % (resources, command))
    tools.run(["rm", "-rf", folder / "results"])


def check_reads(program, folder):
    """A sheet may name BAM files, whose reads every command counts as the model says."""
    work = folder / "reads"
    (work / "config").mkdir(parents=True)
    reads = {path.name.split(".")[1]: path for path in sorted((tools.DATA / "reads").glob("*.bam"))}
    tools.run([program, "learn", "-q", "--labels", 3, "-b", 200, "--max-iterations", 5, "-o", "config/model.json"]
              + ["%s=%s?shift=100" % item for item in reads.items()], cwd=work)
    sheet = ["sample\ttrack\tpath"] + ["E065\t%s\t%s" % item for item in reads.items()]
    (work / "config" / "samples.tsv").write_text("\n".join(sheet) + "\n")
    cohort.configure(work, truth="", multiqc=False)
    run(program, work)
    tools.run([program, "decode", "-q", "-p", "config/model.json", "-o", "own.bed.gz"] + ["%s=%s" % item for item in reads.items()], cwd=work)
    own, result = lines(work / "own.bed.gz"), lines(work / "results" / "E065" / "E065.segments.bed.gz")
    tools.expect(own == result and len(own) > 10, "segments of reads")
    tools.expect((work / "results" / "E065" / "E065.report.html").stat().st_size > 100000, "no report of reads")


def check_form(program, folder):
    tools.run([tools.tool("snakefmt"), "--check", tools.ROOT / "workflows"])
    done = run(program, folder, "--lint", check=False)
    tools.expect("in a good condition" in done.stdout, done.stdout)


def check_options(program):
    """Every option of a command of ours in a rule is one that the command has."""
    rules = tools.ROOT / "workflows" / "cohort" / "workflow" / "rules"
    text = "".join(path.read_text() for path in sorted(rules.glob("*.smk")))
    uses = re.findall(r'semicrf (decode|posterior|eval|report|describe) ((?:[^"]*"\n\s*")*[^"]*)"', text)
    tools.expect({command for command, _ in uses} == {"decode", "posterior", "eval", "report", "describe"}, "commands in rules: %s" % uses)
    for command, options in uses:
        known = re.findall(r"--[a-z][a-z-]*", tools.help_of(program, command))
        if not known:
            print("semicrf %s: not in this program" % command)
            continue
        for option in re.findall(r"--[a-z][a-z-]*", options):
            tools.expect(option in known, "semicrf %s has no %s" % (command, option))


def main():
    options = tools.arguments(__doc__).parse_args()
    tools.tool("snakemake")
    tools.tool("multiqc")
    check_options(options.program)
    with tools.Folder(options.keep) as folder:
        names = cohort.make(options.program, folder)
        (folder / "own").mkdir()
        check_whole_runs(options.program, folder, names)
        check_form(options.program, folder)
        check_report(options.program, folder)
        check_chromosomes(options.program, folder, names)
        check_labels(options.program, folder, names)
        check_retries(options.program, folder, names)
        check_gpu(options.program, folder)
        check_reads(options.program, folder)
    print("12 samples: whole, by chromosome, with label posteriors; retries; report; GPU; from BAM files (seed %d)" % cohort.SEED)


if __name__ == "__main__":
    main()
