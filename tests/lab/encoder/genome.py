#!/usr/bin/env python3
"""Genes from the sequence of yeast alone: one encoder under a softmax, a linear chain and a semi-Markov layer, end to end.

    tests/lab/encoder/genome.py --out FOLDER [--data ../shared/data/yeast] [--small] [--device cuda|cpu] [--seeds 3] [--seconds N]

Labels of bases: neither, coding on the forward strand, coding on the reverse one (genes.bed without frames; introns are
neither). Dilated convolutions see 1.5 kb either way. Trained on crops of chromosomes II, V and VIII, half of them
turned round, all alike at first (cross-entropy), then by the likelihood of the layer, whose durations begin at the means
of the training segments. III is decoded in one piece and judged after the last step. Writes genome.tsv (means over the seeds)
and genome_runs.tsv. Without numpy, PyTorch, the package semicrf or the data the exit code is 77.
"""

import gzip
import pathlib
import statistics
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "python")]

try:
    import numpy as np
    import torch

    import learning
except ImportError as error:
    print("skipped: %s" % error)
    sys.exit(77)
from program import mean_and_spread, progress, write_table  # noqa: E402

TRAIN, TEST = ("II", "V", "VIII"), "III"
TURNED = [0, 2, 1]  # labels on the other strand
FULL = dict(width=96, blocks=8, crop=10_000, batch=16, epochs=48, warm=30, steps=12, longest=300)
SMALL = dict(width=8, blocks=2, crop=600, batch=4, epochs=6, warm=2, steps=5, longest=20)
SCALE = 0.2  # of the scores of bases when the layer comes: neighbours are no independent witnesses
RATE, DECAY, PENALTY = 2e-3, 1e-4, 0.0
# Name, layer of learning.py, its arguments; K of the last ones is FULL's.
MODELS = [("softmax", "Softmax", {}), ("chain", "SemiMarkov", dict(longest=1)),
          ("semi", "SemiMarkov", dict(durations="negative-binomial", tail=True)),
          ("semi+heads", "SemiMarkov", dict(durations="negative-binomial", tail=True, heads=True))]
METRICS = ["accuracy", "boundary_f1", "boundary_f1_30", "segment_f1", "segment_f1_iou", "segments", "nll_per_base"]
COLUMNS = ["seed", "model", "K", "labels", *METRICS, "true_segments", "train_loss", "ms_per_step", "decode_s", "weights", "card"]


def read(folder):
    """{chromosome: (bases, labels)} of uint8."""
    number = np.full(256, 4, np.uint8)
    number[np.frombuffer(b"ACGTacgt", np.uint8)] = [0, 1, 2, 3] * 2
    found = {}
    for one in gzip.decompress((folder / "genome.fa.gz").read_bytes()).decode().split(">")[1:]:
        head, _, text = one.partition("\n")
        bases = number[np.frombuffer(text.replace("\n", "").encode(), np.uint8)]
        found[head.split()[0]] = (bases, np.zeros(len(bases), np.uint8))
    for row in (line.split() for line in (folder / "genes.bed").read_text().splitlines()):
        found[row[0]][1][int(row[1]):int(row[2])] = {"CDS+": 1, "CDS-": 2}.get(row[3][:4], 0)
    return found


def crops(chromosomes, given, numbers, device):
    """Batches of an epoch: bases (B, T), lengths, labels (B, T)."""
    sizes = np.array([len(bases) - given["crop"] for bases, _ in chromosomes])
    for _ in range(given["steps"]):
        rows = []
        for one in numbers.choice(len(sizes), given["batch"], p=sizes / sizes.sum()):
            begin = numbers.integers(sizes[one])
            bases, labels = (part[begin:begin + given["crop"]] for part in chromosomes[one])
            if numbers.integers(2):
                bases, labels = np.where(bases < 4, 3 - bases, 4)[::-1], np.take(TURNED, labels)[::-1]
            rows.append((bases, labels))
        bases, labels = (torch.from_numpy(np.stack([row[n] for row in rows]).astype(np.int64)).to(device) for n in (0, 1))
        yield bases, torch.full((given["batch"],), given["crop"]), labels


def mean_lengths(tracks):
    """Of the segments of each label."""
    runs = np.concatenate([learning.runs_of(one.astype(int)) for one in tracks])
    return [float((runs[:, 1] - runs[:, 0])[runs[:, 2] == label].mean()) for label in range(3)]


def run(model, seed, chromosomes, given, device, small):
    """Rows of genome_runs.tsv: the best path, and of the layers the most probable label of every base."""
    name, layer, options = model
    if layer == "SemiMarkov":
        options = {"longest": given["longest"], "scale": SCALE, **options}
    torch.manual_seed(seed)
    torch.backends.cudnn.benchmark = True
    encoder = learning.Convolutions(given["width"], given["blocks"])
    network = learning.Network(encoder, getattr(learning, layer)(encoder.width, 3, **options)).to(device)
    if options.get("tail"):
        with torch.no_grad():
            means = torch.tensor(mean_lengths([chromosomes[one][1] for one in TRAIN]))
            for one in (network.layer.crf.duration_log_odds, network.layer.crf.tail_log_odds):
                one.copy_(torch.log(means))
    numbers = np.random.default_rng(seed)
    training = [chromosomes[one] for one in TRAIN]
    history = learning.train(network, lambda epoch: crops(training, given, numbers, device), given["epochs"], RATE, DECAY, PENALTY,
                             device, True, 0 if layer == "Softmax" else given["warm"])
    bases, truth = chromosomes[TEST]
    if small:
        bases, truth = bases[:5000], truth[:5000]
    values, labels = (torch.from_numpy(one.astype(np.int64))[None].to(device) for one in (bases, truth))
    lengths = torch.tensor([len(bases)])
    with torch.no_grad():
        nll = float(network.losses(values, lengths, labels)[0]) / len(bases)
        learning.synchronise(device)
        begin = time.perf_counter()
        made = network.encoder(values, lengths)
        found = {"best path": network.layer.decode(made, lengths)[0]}
        seconds = time.perf_counter() - begin
        if layer == "SemiMarkov":
            found["most probable"] = network.layer.marginals(made, lengths).labels[0].argmax(1).cpu().numpy()
    row = {"seed": seed, "model": name, "K": options.get("longest"), "nll_per_base": nll, "decode_s": seconds,
           "true_segments": len(learning.runs_of(truth)), "train_loss": history[-1][0],
           "ms_per_step": 1e3 * statistics.median(took for _, took in history) / given["steps"],
           "weights": sum(one.numel() for one in network.parameters()), "card": torch.cuda.get_device_name() if device == "cuda" else "cpu"}
    return [{"labels": kind, **row, **learning.judge([(truth, one)], (30,))} for kind, one in found.items()]


def summary(rows):
    table = []
    for model in dict.fromkeys((row["model"], row["K"], row["labels"]) for row in rows):
        of_model = [row for row in rows if (row["model"], row["K"], row["labels"]) == model]
        table.append({**dict(zip(("model", "K", "labels"), model)), "seeds": len(of_model)})
        for key in [*METRICS, "ms_per_step", "decode_s"]:
            table[-1][key], table[-1][key + " sd"] = mean_and_spread([row[key] for row in of_model])
    return table


def main():
    options = learning.arguments(__doc__, {"data": (pathlib.Path, HERE.parents[3] / "shared" / "data" / "yeast"),
                                           **dict.fromkeys(("width", "blocks", "crop", "batch"), (int, None))})
    try:
        chromosomes = read(options.data)
    except OSError as error:
        print("skipped: %s" % error)
        return 77
    given = {name: getattr(options, name, None) or value for name, value in (SMALL if options.small else FULL).items()}
    began, rows, longest = time.monotonic(), [], 0.0
    for seed in range(1, 1 + options.seeds):
        for model in MODELS:
            begin = time.monotonic()
            if begin + longest > began + options.seconds:
                progress("%s, seed %d: left out" % (model[0], seed))
                continue
            rows += run(model, seed, chromosomes, given, options.device, options.small)
            longest = max(longest, time.monotonic() - begin)
            write_table(options.out / "genome_runs.tsv", COLUMNS, rows)
            write_table(options.out / "genome.tsv", ["model", "K", "labels", "seeds"] + [
                word for key in [*METRICS, "ms_per_step", "decode_s"] for word in (key, key + " sd")], summary(rows))
            progress("%(model)s, %(labels)s, seed %(seed)d: accuracy %(accuracy).4f, boundary F1 %(boundary_f1).4f, 30 bp %(boundary_f1_30).4f, "
                     "segment F1 %(segment_f1).4f, IoU %(segment_f1_iou).4f, %(segments)d segments, %(ms_per_step).1f ms a step" % rows[-1])
    return 0


if __name__ == "__main__":
    sys.exit(main())
