#!/usr/bin/env python3
"""The paper's speech experiment with its encoder (tables 6 and 7) on the phone corpus of tests/lab/speech.

    tests/lab/encoder/run.py --out FOLDER [--small] [--device cuda|cpu] [--corpus FILE.npz] [--seeds 3] [--seconds N]

A bidirectional LSTM of three layers with 256 states each way, AdamW 1e-3 / 1e-5 with a cosine schedule, 50 epochs of batches of
32, under last layers that differ: semicrf.torch at K = 1 and K = 30, a softmax, and those of flash-semicrf 0.2.0, of its copy of
pytorch-struct's linear scan, and of pytorch-crf, where they are installed. Sentences of the test part are judged after the last
epoch. Writes into FOLDER, as far as it gets:

    encoder_times.tsv     milliseconds of a step and seconds of the paths of the test part, per last layer
    encoder_runs.tsv      a line per training
    encoder.tsv           means over the seeds beside the paper's numbers

--corpus: where the corpus lies; it is made there (by espeak-ng) if it does not. --small: seconds on a processor. --seconds: no
training begins that would end later. Needs numpy, PyTorch and the package semicrf; without them the exit code is 77.
"""

import importlib.util
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "python"), str(HERE.parent / "speech")]

try:
    import numpy as np
    import torch

    import learning
except ImportError as error:
    print("skipped: %s" % error)
    sys.exit(77)
import phones  # noqa: E402
from program import Failed, mean_and_spread, progress, write_table  # noqa: E402

FEATURES = 39
PADDED = 32  # batches have multiples of that many frames: flash-semicrf compiles its kernels anew for every number
SIZES = {"train": 480, "dev": 0, "test": 96}  # sentences
# Of the network and its training: the paper's, and those of --small.
PAPER = dict(hidden=256, layers=3, dropout=0.3, epochs=50, batch=32, rate=1e-3)
SMALL = dict(hidden=12, layers=1, dropout=0.1, epochs=6, batch=8, rate=1e-2)
DECAY, PENALTY = 1e-5, 0.01
# Name, package, K, layer of learning.py, its arguments, whether it is trained for every seed (or for the first, or timed alone).
MODELS = [
    ("chain", "semicrf", 1, "SemiMarkov", {}, "all"),
    ("semi", "semicrf", 30, "SemiMarkov", {}, "all"),
    ("semi+heads", "semicrf", 30, "SemiMarkov", {"heads": True}, "all"),
    ("semi, mean", "semicrf", 30, "SemiMarkov", {"centering": "mean"}, "first"),
    ("softmax", "torch", None, "Softmax", {}, "first"),
    ("pytorch-crf", "torchcrf", 1, "PytorchCRF", {}, "first"),
    ("its loss", "flash_semicrf", 30, "FlashSemiCRF", {"fast": True}, "all"),  # that of flash-semicrf
    ("flash-semicrf", "flash_semicrf", 30, "FlashSemiCRF", {}, "last"),
    ("flash-semicrf, chain", "flash_semicrf", 1, "FlashSemiCRF", {}, "no"),
    ("linear scan", "flash_semicrf", 30, "FlashSemiCRF", {"backend": "dp_standard"}, "no"),
]
# key, name, the paper's K = 1 and K = 30 (table 6)
METRICS = [
    ("per", "phone error rate", 0.219, 0.218), ("accuracy", "frame accuracy", math.nan, math.nan),
    ("boundary_f1", "boundary F1, exact", 0.468, 0.476), ("boundary_f1_1", "boundary F1, 1 frame", math.nan, math.nan),
    ("boundary_f1_2", "boundary F1, 2 frames", 0.914, 0.919), ("segment_f1", "segment F1, exact", 0.207, 0.215),
    ("segment_f1_iou", "segment F1, IoU 0.5", math.nan, math.nan), ("h_bdy", "boundary entropy H_bdy", 5.687, 5.529),
    ("h_pos", "position entropy H_pos", 3.651, 3.651), ("p_true", "mean P(true phone)", math.nan, math.nan),
    ("nll", "NLL per sentence", 183.7, 206.8), ("s_per_epoch", "training, s per pass", 27, 175),
    ("decode_s", "best paths of the test set, s", 32, 7),
]
RUN_COLUMNS = ["seed", "model", "package", "K", "epochs"] + [key for key, *_ in METRICS] + ["first_loss", "train_loss", "segments", "weights"]
TIME_COLUMNS = ["model", "package", "K", "card", "sentences", "frames", "steps_timed", "ms_per_step", "s_per_epoch", "decode_s",
                "sentences_per_s", "kframes_per_s", "peak_GiB", "note"]


def make_corpus(path, sizes, seed=1):
    """The middle frames of speech/corpus.py in half precision: values (frames, 39), labels (frames), ends (sentences), how many
    sentences are for training."""
    from corpus import CONTEXT
    with tempfile.TemporaryDirectory() as made:
        words = [word for part, size in sizes.items() for word in ("--" + part, str(size))]
        done = subprocess.run([sys.executable, HERE.parent / "speech" / "corpus.py", "--seed", str(seed), "--out", made, *words],
                              stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            raise Failed("corpus.py: " + done.stderr.strip())
        values, labels, ends = [], [], []
        for stem in ("fit", "test"):
            rows = {}
            for row in (line.split() for line in pathlib.Path(made, stem + ".bed").read_text().splitlines()):
                rows.setdefault(row[0], []).append((phones.PHONES.index(row[3]), int(row[2]) - int(row[1])))
            with np.load(pathlib.Path(made, stem + ".npz")) as arrays:
                for name in arrays.files:
                    middle = CONTEXT.index(0) * FEATURES
                    values.append(arrays[name][:, middle:middle + FEATURES].astype(np.float16))
                    labels.append(np.concatenate([np.full(frames, phone) for phone, frames in rows[name]]).astype(np.uint8))
                    ends.append(len(values[-1]))
    np.savez_compressed(path, values=np.concatenate(values), labels=np.concatenate(labels), ends=np.cumsum(ends),
                        train=sizes["train"])


class Part:
    """Sentences on a device, padded: values (S, T, 39), lengths (S) on the host, labels (S, T)."""

    def __init__(self, values, labels, device):
        self.lengths = torch.tensor([len(one) for one in labels])
        self.values = torch.nn.utils.rnn.pad_sequence([torch.tensor(one) for one in values], True).float().to(device)
        self.labels = torch.nn.utils.rnn.pad_sequence([torch.tensor(one).long() for one in labels], True).to(device)

    def batch(self, chosen):
        lengths = self.lengths[chosen]
        longest = min(-(-int(lengths.max()) // PADDED) * PADDED, self.values.shape[1])
        return self.values[chosen, :longest], lengths, self.labels[chosen, :longest]

    def batches(self, size, numbers=None):
        """Of sentences of about one length; in an order at random with `numbers`."""
        about = self.lengths.numpy() + (0 if numbers is None else numbers.normal(0, 5, len(self.lengths)))
        chosen = np.array_split(np.argsort(about, kind="stable"), math.ceil(len(about) / size))
        for at in range(len(chosen)) if numbers is None else numbers.permutation(len(chosen)):
            yield self.batch(torch.from_numpy(chosen[at]))


def read_corpus(path, device):
    """(training, test) Part."""
    with np.load(path) as arrays:
        values, labels, ends, train = (arrays[name] for name in ("values", "labels", "ends", "train"))
    values, labels = (np.split(one, ends[:-1]) for one in (values, labels))
    return Part(values[:train], labels[:train], device), Part(values[train:], labels[train:], device)


def network_of(model, seed, given, device):
    torch.manual_seed(seed)
    _, _, longest, layer, options, _ = model
    encoder = learning.Recurrent(FEATURES, given["hidden"], given["layers"], given["dropout"])
    arguments = [encoder.width, len(phones.PHONES)] + [longest] * (layer in ("SemiMarkov", "FlashSemiCRF"))
    return learning.Network(encoder, getattr(learning, layer)(*arguments, **options)).to(device)


def paths(network, test, batch):
    """[(true labels, found labels)] of the sentences of the test part."""
    found = []
    with torch.no_grad():
        for values, lengths, labels in test.batches(batch):
            decoded = network.layer.decode(network.encoder(values, lengths), lengths)
            found += [(true[:length], one) for true, length, one in zip(labels.cpu().numpy(), lengths.tolist(), decoded)]
    return found


def judged(network, test, batch):
    """The numbers of METRICS as far as the layer has them; entropies and P are means over sentences, and over frames."""
    pairs = paths(network, test, batch)
    strings = [[learning.runs_of(one)[:, 2].tolist() for one in pair] for pair in pairs]
    row = {"per": sum(phones.edit_distance(*pair) for pair in strings) / sum(len(true) for true, _ in strings),
           **learning.judge(pairs, (1, 2))}
    boundary, position, sure, nll = [], [], [], []
    with torch.no_grad():
        for values, lengths, labels in test.batches(batch):
            made = network.encoder(values, lengths)
            nll += getattr(network.layer, "nll", network.layer.losses)(made, lengths, labels).tolist()
            if not hasattr(network.layer, "marginals"):
                continue
            found = network.layer.marginals(made, lengths)
            p, starts = found.labels.double().cpu(), found.starts.double().sum(2).cpu()
            for b, length in enumerate(lengths.tolist()):
                q = starts[b, :length] / starts[b, :length].sum()
                boundary.append(float(-torch.xlogy(q, q).sum()))
                position.append(float(-torch.xlogy(p[b, :length], p[b, :length]).sum() / length))
                sure += p[b, :length].gather(1, labels[b, :length, None].cpu())[:, 0].tolist()
    row["nll"] = statistics.fmean(nll)
    if boundary:
        row.update(h_bdy=statistics.fmean(boundary), h_pos=statistics.fmean(position), p_true=float(np.mean(sure)))
    return row


def timed(model, train, test, given, device, enough):
    """A row of encoder_times.tsv: the median of up to 12 steps after two, fewer where `enough` seconds are gone, with the
    batch of middle length."""
    name, package, longest, _, options, _ = model
    row = {"model": name, "package": package, "K": longest, "sentences": len(train.lengths), "frames": int(train.lengths.sum()),
           "card": torch.cuda.get_device_name() if device == "cuda" else "cpu"}
    try:
        network = network_of(model, 1, given, device)
        _, step = learning.make_step(network, given["rate"], DECAY, PENALTY)
        batches, seconds, began = list(train.batches(given["batch"])), [], time.perf_counter()
        if device == "cuda":
            torch.cuda.reset_peak_memory_stats()
        while len(seconds) < 14 and (len(seconds) < 2 or time.perf_counter() - began < enough):
            learning.synchronise(device)
            begin = time.perf_counter()
            step(*batches[len(batches) // 2])
            learning.synchronise(device)
            seconds.append(time.perf_counter() - begin)
        counted = seconds[2:] or seconds[1:]
        row.update(steps_timed=len(counted), ms_per_step=1e3 * statistics.median(counted),
                   s_per_epoch=statistics.median(counted) * len(batches))
        if device == "cuda":
            row["peak_GiB"] = torch.cuda.max_memory_allocated() / 2**30
        if "backend" in options:
            return row  # its paths are flash-semicrf's
        network.eval()
        paths(network, Part([test.values[0].cpu().numpy()], [test.labels[0].cpu().numpy()], device), given["batch"])
        learning.synchronise(device)
        begin = time.perf_counter()
        paths(network, test, given["batch"])
        row["decode_s"] = time.perf_counter() - begin
        row["sentences_per_s"] = len(test.lengths) / row["decode_s"]
        row["kframes_per_s"] = int(test.lengths.sum()) / row["decode_s"] / 1e3
    except Exception as error:  # of any kind where it is a peer's: the others go on
        if package in ("semicrf", "torch"):
            raise
        row["note"] = " ".join(str(error).split())[:120] or type(error).__name__
    return row


def plan(models, seeds):
    """(model, seed) in order."""
    return ([(model, seed) for seed in range(1, seeds + 1) for model in models
             if model[5] == "all" or model[5] == "first" and seed == 1] + [(model, 1) for model in models if model[5] == "last"])


def summary(rows):
    """Rows of encoder.tsv: the paper's numbers beside means and deviations over the seeds; differences of K = 30 within them."""
    table = []
    for key, name, chain_paper, semi_paper in METRICS:
        row = {"number": name, "paper_k1": chain_paper, "paper_k30": semi_paper}
        for model in dict.fromkeys(one["model"] for one in rows):
            found = [one[key] for one in rows if one["model"] == model and key in one]
            if found:
                row[model], row[model + " sd"] = mean_and_spread(found)
        chain, semi = ({one["seed"]: one[key] for one in rows if one["model"] == model and key in one} for model in ("chain", "semi"))
        apart = [semi[seed] - chain[seed] for seed in chain if seed in semi]
        if apart:
            row["difference"], row["difference sd"] = mean_and_spread(apart)
        table.append(row)
    return table


def main():
    options = learning.arguments(__doc__, {"corpus": (pathlib.Path, None), "models": (str, None), "hidden": (int, None),
                                                "layers": (int, None), "epochs": (int, None)})
    ends_at = time.monotonic() + options.seconds
    device = options.device
    corpus = options.corpus or options.out / "corpus.npz"
    if not corpus.exists():
        make_corpus(corpus, {"train": 24, "dev": 0, "test": 6} if options.small else SIZES)
    train, test = read_corpus(corpus, device)
    given = {name: getattr(options, name, None) or value for name, value in (SMALL if options.small else PAPER).items()}
    wanted = options.models.split(";") if options.models else [model[0] for model in MODELS]
    models = [model for model in MODELS if model[0] in wanted and importlib.util.find_spec(model[1]) and (
        not options.small or model[5] in ("all", "first"))]
    times = []
    for model in models:
        times.append(timed(model, train, test, given, device, 0.5 if options.small else 6))
        write_table(options.out / "encoder_times.tsv", TIME_COLUMNS, times)
        progress("%(model)s: %(ms)s ms a step, paths of the test part %(decode)s s %(note)s" % {
            "model": model[0], "ms": times[-1].get("ms_per_step"), "decode": times[-1].get("decode_s"), "note": times[-1].get("note", "")})
    time_of = {row["model"]: row for row in times}
    rows = []
    for model, seed in plan(models, options.seeds):
        name, package, longest, *_ = model
        expected = time_of[name].get("s_per_epoch", math.inf) * given["epochs"]
        if time.monotonic() + expected > ends_at:
            progress("%s, seed %d: left out, it would take %.0f s" % (name, seed, expected))
            continue
        network, numbers = network_of(model, seed, given, device), np.random.default_rng(seed)
        history = learning.train(network, lambda epoch: train.batches(given["batch"], numbers), given["epochs"], given["rate"], DECAY, PENALTY,
                                 device)
        rows.append({"seed": seed, "model": name, "package": package, "K": longest, "epochs": given["epochs"],
                     "weights": sum(one.numel() for one in network.parameters()), "first_loss": history[0][0],
                     "train_loss": history[-1][0],
                     "s_per_epoch": statistics.median(seconds for _, seconds in history), "decode_s": time_of[name].get("decode_s", math.nan),
                     **judged(network, test, given["batch"])})
        write_table(options.out / "encoder_runs.tsv", RUN_COLUMNS, rows)
        names = list(dict.fromkeys(row["model"] for row in rows))
        write_table(options.out / "encoder.tsv", ["number", "paper_k1", "paper_k30"] + [
            word for one in names for word in (one, one + " sd")] + ["difference", "difference sd"], summary(rows))
        progress("%(model)s, seed %(seed)d: PER %(per).4f, boundary F1 %(boundary_f1).4f, segment F1 %(segment_f1).4f, NLL %(nll).2f, "
                 "%(s_per_epoch).3f s an epoch" % rows[-1])
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as error:
        sys.exit(str(error))
