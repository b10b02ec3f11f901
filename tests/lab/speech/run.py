#!/usr/bin/env python3
"""The shape of the paper's speech experiment (tables 6 and 7, figures 3 and 4) on a corpus that anybody can make.

    tests/lab/speech/run.py --program build/release/bin/semicrf --out FOLDER [--small]

TIMIT is not free; corpus.py makes a corpus of 39 phones with espeak-ng. A linear chain (K = 1) and a semi-CRF (K = 30) are
trained on the same features with the same linear head, the semi-CRF also with heads for starts and ends; several corpora
of different seeds give means and standard deviations. Writes into FOLDER:

    speech_runs.tsv         one line per corpus and model
    speech.tsv              the paper's numbers and signs beside ours
    speech_training.tsv     numbers over the iterations of training, first corpus (as figure 3)
    speech_training.svg     the same as a picture
    speech_ranks.tsv        transitions that depend on the duration, as low rank: the semi-CRF with R copies of each label
    speech_posteriors.svg   label and boundary posteriors of one test sentence (as figure 4)

Needs espeak-ng (Debian) and numpy; without them it says so and ends with exit code 77.
"""

import argparse
import json
import math
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "python"))
sys.path.insert(0, str(HERE))

import espeak  # noqa: E402
import models  # noqa: E402
import pictures  # noqa: E402
from program import Failed, Program, mean_and_spread, progress, write_table, write_text  # noqa: E402

MISSING = 77
SENTENCE = "test0003"  # of the picture
# key, name, the paper's K = 1 and K = 30 (tables 6 and 7; nan: not given)
METRICS = [
    ("per", "phone error rate", 0.219, 0.218), ("frame_accuracy", "frame accuracy", math.nan, math.nan),
    ("boundary_f1", "boundary F1, exact", 0.468, 0.476), ("boundary_f1_1", "boundary F1, 1 frame", math.nan, math.nan),
    ("boundary_f1_2", "boundary F1, 2 frames", 0.914, 0.919), ("segment_f1", "segment F1, exact", 0.207, 0.215),
    ("segment_f1_iou", "segment F1, IoU 0.5", math.nan, math.nan),
    ("h_bdy", "boundary entropy H_bdy", 5.687, 5.529), ("exp_h_bdy", "exp H_bdy", 295, 252),
    ("h_pos", "position entropy H_pos", 3.651, 3.651), ("p_true", "mean P(true phone)", math.nan, math.nan), ("nll_per_sentence", "NLL per sentence", 183.7, 206.8),
    ("train_cpu_s_per_iteration", "training, s per pass", 27, 175), ("posterior_cpu_s", "posteriors of the test set, s", math.nan, math.nan),
    ("decode_cpu_s", "best paths of the test set, s", 32, 7),
]
RANK_COLUMNS = ["seed", "rank", "law_gain", "law_gain_se", "per", "boundary_f1", "boundary_f1_2", "segment_f1", "h_bdy",
                "nll_per_sentence", "segments_per_sentence", "iterations", "train_cpu_s_per_iteration", "decode_cpu_s"]
RUN_COLUMNS = ["seed", "model", "K", "sentences", "frames", "left_out", "iterations"] + [key for key, *_ in METRICS] + ["ln_t"]


def make_corpus(folder, seed, sizes):
    """corpus.py in a process of its own, because espeak-ng has a state."""
    folder.mkdir()
    words = [word for part, size in sizes.items() for word in ("--" + part, str(size))]
    made = subprocess.run([sys.executable, HERE / "corpus.py", "--seed", str(seed), "--out", folder, *words],
                          stderr=subprocess.PIPE, text=True)
    if made.returncode != 0:
        raise Failed("corpus.py: " + made.stderr.strip())
    return json.loads((folder / "corpus.json").read_text())


def runs_of(path, sequence, merge=False):
    """[(label, first, end)] of one sequence of a BED file; touching ones of one label are joined where asked for."""
    runs = []
    for row in (line.split("\t") for line in path.read_text().splitlines() if line.startswith(sequence + "\t")):
        first, end, label = int(row[1]), int(row[2]), row[3]
        if merge and runs and runs[-1][0] == label:
            runs[-1] = (label, runs[-1][1], end)
        else:
            runs.append((label, first, end))
    return runs


def values_of(path, sequence, frames):
    """The bedGraph's value of every frame of one sequence."""
    values = [0.0] * frames
    for row in (line.split("\t") for line in path.read_text().splitlines() if line.startswith(sequence + "\t")):
        for frame in range(int(row[1]), int(row[2])):
            values[frame] = float(row[3])
    return values


def picture(program, folder, corpus):
    """The picture of one test sentence, from the models NAME.json."""
    import numpy
    spoken = next(one for one in corpus["parts"]["test"] if one["name"] == SENTENCE)
    with numpy.load(folder / "test.npz") as arrays:
        numpy.save(program.folder / "one.npy", arrays[SENTENCE])
    decoded, posteriors, boundaries = {}, {}, {}
    for name, _ in pictures.SHOWN:
        model = json.loads((program.folder / (name + ".json")).read_text())
        program.run("posterior", "-p", name + ".json", "-o", "one.bedgraph", "--labels-out", "labels.npy", "--no-entropy",
                    SENTENCE + "=one.npy")
        program.run("decode", "-p", name + ".json", "-o", "one.bed", SENTENCE + "=one.npy")
        labels = [one["name"] if isinstance(one, dict) else one for one in model["labels"]]
        posteriors[name] = [dict(zip(labels, map(float, row))) for row in numpy.load(program.folder / "labels.npy")]
        boundaries[name] = values_of(program.folder / "one.bedgraph", SENTENCE, spoken["frames"])
        decoded[name] = runs_of(program.folder / "one.bed", SENTENCE, merge=True)
    return pictures.sentence(spoken["text"], runs_of(folder / "test.bed", SENTENCE), decoded, posteriors, boundaries)


def convergence(program, folder, development, steps):
    """Rows over the iterations: every number of iterations is a training of its own, from the start."""
    rows = []
    for name, longest, window in models.MODELS[:2]:
        for iterations in steps:
            done = models.train(program, folder, development, longest, window, iterations, "step.json")
            rows.append({"model": name, "K": longest, **models.judge(program, folder, "step.json"), **done})
    return rows


def summary(runs):
    """Rows of speech.tsv: means and deviations over the corpora, paired differences, signs."""
    def values(model, key):
        return [run[key] for run in runs if run["model"] == model]
    rows = []
    for key, name, chain_paper, semi_paper in METRICS:
        chain, semi = values("chain", key), values("semi", key)
        difference = mean_and_spread([b - a for a, b in zip(chain, semi)])
        paper = semi_paper - chain_paper
        row = {"number": name, "paper_k1": chain_paper, "paper_k30": semi_paper, "difference_paper": paper,
               "difference": difference[0], "difference_sd": difference[1], "corpora": len(chain)}
        for model, column in (("chain", "k1"), ("semi", "k30"), ("semi+heads", "k30_heads")):
            row[column], row[column + "_sd"] = mean_and_spread(values(model, key))
        if not math.isnan(paper) and paper != 0:
            sign = (difference[0] > 0) - (difference[0] < 0)
            row["sign"] = "the same" if sign == (paper > 0) - (paper < 0) else "the other"
        rows.append(row)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder for the results; made where missing")
    parser.add_argument("--small", action="store_true", help="two small corpora, few iterations: a few minutes")
    parser.add_argument("--corpora", type=int, help="how many (default: 3; 2 with --small)")
    options = parser.parse_args()
    try:
        import ranks  # needs numpy, as corpus.py does
        espeak.Speaker()
    except (ImportError, espeak.Missing) as error:
        print("skipped: %s" % error)
        return MISSING
    options.out.mkdir(parents=True, exist_ok=True)
    sizes = {"train": 60, "dev": 10, "test": 20} if options.small else {"train": 240, "dev": 32, "test": 72}
    iterations, steps = (15, [1, 4]) if options.small else (40, [1, 3, 10, 120])
    runs, rank_rows = [], []
    with tempfile.TemporaryDirectory() as temporary:
        program = Program(options.program, temporary)
        for seed in range(1, 1 + (options.corpora or (2 if options.small else 3))):
            folder = program.folder / ("corpus%d" % seed)
            corpus = make_corpus(folder, seed, sizes)
            development = [one["name"] for one in corpus["parts"]["dev"]]
            for name, longest, window in models.MODELS:
                done = models.train(program, folder, development, longest, window, iterations, name + ".json")
                row = {"seed": seed, "model": name, "K": longest, "left_out": corpus["left_out"],
                       "sentences": sum(sizes.values()), "frames": sum(one["frames"] for part in corpus["parts"].values()
                                                                       for one in part),
                       **done, **models.judge(program, folder, name + ".json")}
                runs.append(row)
                progress("corpus %(seed)d, %(model)s: PER %(per).3f, boundary F1 %(boundary_f1).3f, segment F1 "
                         "%(segment_f1).3f, H_bdy %(h_bdy).3f, %(train_cpu_s_per_iteration).2f s/iteration" % row)
                write_table(options.out / "speech_runs.tsv", RUN_COLUMNS, runs)
            for row in ranks.experiment(program, folder, corpus, iterations // 4):
                rank_rows.append({"seed": seed, **row})
                progress("corpus %(seed)d, rank %(rank)d: law %(law_gain)+.3f nats, PER %(per).3f, boundary F1 %(boundary_f1).3f, "
                         "NLL %(nll_per_sentence).2f" % rank_rows[-1])
                write_table(options.out / "speech_ranks.tsv", RANK_COLUMNS, rank_rows)
            if seed == 1:
                write_text(options.out / "speech_posteriors.svg", picture(program, folder, corpus))
                rows = convergence(program, folder, development, steps) + runs[:2]
                write_table(options.out / "speech_training.tsv", ["model", "K", "iterations"] + [key for key, *_ in METRICS],
                            rows)
                write_text(options.out / "speech_training.svg", pictures.training(rows))
            write_table(options.out / "speech.tsv",
                        ["number", "paper_k1", "paper_k30", "difference_paper", "k1", "k1_sd", "k30", "k30_sd", "k30_heads",
                         "k30_heads_sd", "difference", "difference_sd", "sign", "corpora"], summary(runs))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as error:
        sys.exit(str(error))
