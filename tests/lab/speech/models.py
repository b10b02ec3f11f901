"""Trains a model on a corpus of corpus.py, decodes and judges it: one dictionary of numbers per model and corpus.

Standard library only. All models have the same tracks and the same training: maximum likelihood, L-BFGS, stopping by the
development sentences.
"""

import json
import math

# name, K, boundary window. At K = 1 every frame starts and ends a segment: a head of its own for them adds nothing.
L2 = 100  # penalty on the weights: the best of 1, 100 and 1000 by the NLL of the development sentences (chain, seed 1)
MODELS = [("chain", 1, "none"), ("semi", 30, "none"), ("semi+heads", 30, "0,0")]


def train(program, folder, development, longest, window, iterations, model="model.json"):
    """Writes the model; processor seconds per iteration, iterations."""
    seconds = program.run("train", "--labels", folder / "fit.bed", "--max-duration", longest,
                          "--boundary-window=" + window, "--margin", "0", "--l2", L2, "--max-iterations", iterations,
                          *[word for name in development for word in ("--val-region", name)], "-o", model,
                          folder / "fit.npz")
    log = json.loads((program.folder / model).read_text())["training"]
    return {"train_cpu_s_per_iteration": seconds / log["iterations"], "iterations": log["iterations"]}


def train_on(program, folder, development, start, truth, iterations, model):
    """Trains transitions, durations, starts and ends of the model `start` further; emissions are held."""
    seconds = program.run("train", "--init", start, "--freeze", "emission", "--labels", truth, "--boundary-window=none",
                          "--margin", "0", "--max-iterations", iterations,
                          *[word for name in development for word in ("--val-region", name)], "-o", model,
                          folder / "fit.npz")
    log = json.loads((program.folder / model).read_text())["training"]
    return {"train_cpu_s_per_iteration": seconds / log["iterations"], "iterations": log["iterations"]}


def write_known(truth, path, copies):
    """The truth as constraints: every frame has its true label, in any of its copies."""
    with open(truth) as source, open(path, "w") as file:
        for line in source:
            name, first, end, label = line.rstrip("\n").split("\t")
            file.write("%s\t%s\t%s\tlabel:%s\n" % (name, first, end, ",".join(copies(label))))


def without_copies(path):
    """Takes the number of the copy (label_1) from the labels of a BED file."""
    rows = [line.split("\t") for line in path.read_text().splitlines()]
    path.write_text("".join("\t".join(row[:3] + [row[3].partition("_")[0]] + row[4:]) + "\n" if len(row) > 3 else row[0] + "\n"
                            for row in rows))


def mean_p_true(truth, prefix, copies):
    """The mean over all frames of P(the true label), from the bedGraph files that --labels-out wrote; of a label that is a sum
    of copies, the sum."""
    frames = {}  # of a label: (sequence, frame)
    for line in truth.read_text().splitlines():
        name, first, end, label = line.split("\t")[:4]
        frames.setdefault(label, set()).update((name, frame) for frame in range(int(first), int(end)))
    total = []
    for label, true in frames.items():
        for copy in copies(label):
            for line in prefix.with_name("%s.%s.bedgraph" % (prefix.name, copy)).read_text().splitlines():
                row = line.split("\t")
                if len(row) == 4:  # else a comment
                    total.append(float(row[3]) * sum((row[0], frame) in true for frame in range(int(row[1]), int(row[2]))))
    return math.fsum(total) / sum(map(len, frames.values()))


def judge(program, folder, model="model.json", copies=lambda label: [label]):
    """Decodes the test sentences; errors, entropies (nats, means over sentences), -ln P(all labels) per sentence, seconds."""
    truth, arrays = folder / "test.bed", folder / "test.npz"
    decode = program.run("decode", "-p", model, "-o", "path.bed", arrays)
    without_copies(program.folder / "path.bed")
    posterior = program.run("posterior", "--no-entropy", "-p", model, "-o", "boundaries.bedgraph", arrays)
    program.run("posterior", "--no-entropy", "-p", model, "-o", "again.bedgraph", "--labels-out", "p", arrays)

    def evaluate(tolerance, *more):
        return program.report("eval", "--truth", truth, "--merge-adjacent", "--tolerance", tolerance, *more, "path.bed")

    near, nearer = (evaluate(tolerance)["overall"] for tolerance in (2, 1))
    entropies = program.report("posterior", "--no-entropy", "-p", model, "-o", "again.bedgraph", arrays,
                               option="--stats")["sequences"]
    write_known(truth, program.folder / "known.bed", copies)
    known = program.report("posterior", "--no-entropy", "-p", model, "-o", "again.bedgraph", "--constraints", "known.bed",
                           "--precision", "double", arrays, option="--stats")
    boundary = math.fsum(one["boundary_entropy"] for one in entropies) / len(entropies)
    return {"per": near["label_sequence"]["error_rate"], "frame_accuracy": near["bases"]["accuracy"],
            "boundary_f1": near["boundaries"]["exact"]["f1"], "boundary_f1_1": nearer["boundaries"]["within"]["f1"],
            "boundary_f1_2": near["boundaries"]["within"]["f1"], "segment_f1": near["segments"]["exact"]["f1"],
            "segment_f1_iou": near["segments"]["overlap"]["f1"], "h_bdy": boundary, "exp_h_bdy": math.exp(boundary),
            "h_pos": math.fsum(one["position_entropy"] for one in entropies) / len(entropies),
            "ln_t": math.fsum(math.log(one["covered"]) for one in entropies) / len(entropies),
            "nll_per_sentence": -known["log_constraint_probability"] / len(entropies),
            "p_true": mean_p_true(truth, program.folder / "p", copies), "decode_cpu_s": decode, "posterior_cpu_s": posterior}
