"""What run.py and genome.py share: encoders, last layers, training, and judging of segmentations.

A last layer takes what the encoder made, (B, T, width), and gives losses, -ln P of the true labels of every sequence (B), and
decoded labels. Sequences are padded; `lengths` (B) are on the host. Peers are called as their pages say and are part of nothing.
"""

import argparse
import math
import pathlib
import sys
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional

import semicrf.torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from pairs import pairs_within  # noqa: E402

CLIP = 5.0         # norm of gradients
TABLES_RATE = 10   # the last layer's transitions and durations learn that much faster than the rest


def arguments(doc, others):
    """Options of both scripts, and `others`: {name: (type, default)}. Makes the folder; `device` is chosen."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda" if torch.cuda.is_available() else "cpu")
    for name, (kind, default) in {"seeds": (int, 3), "seconds": (float, math.inf), **others}.items():
        parser.add_argument("--" + name, type=kind, default=default)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    if options.small:
        torch.set_num_threads(1)
        options.seeds = 1
    return options


class Recurrent(nn.Module):
    """Bidirectional LSTM over padded sequences (B, T, features): (B, T, 2·hidden)."""

    def __init__(self, features, hidden, layers, dropout):
        super().__init__()
        self.width = 2 * hidden
        self.lstm = nn.LSTM(features, hidden, layers, batch_first=True, bidirectional=True, dropout=dropout if layers > 1 else 0)
        self.dropout = nn.Dropout(dropout)

    def forward(self, values, lengths):
        packed = nn.utils.rnn.pack_padded_sequence(values, lengths, batch_first=True, enforce_sorted=False)
        made = nn.utils.rnn.pad_packed_sequence(self.lstm(packed)[0], batch_first=True, total_length=values.shape[1])[0]
        return self.dropout(made)


class Convolutions(nn.Module):
    """Residual dilated convolutions over (B, T) numbers of bases, 0 to 3, 4 for unknown: (B, T, width). From the second block on
    they step by 3, 6, 12, ... bases, in the frame of a codon."""

    def __init__(self, width, blocks, kernel=9, dropout=0.1):
        super().__init__()
        self.width = width
        self.first = nn.Conv1d(4, width, 15, padding=7)
        steps = [1] + [3 << n for n in range(blocks - 1)]
        self.blocks = nn.ModuleList(
            nn.Sequential(nn.BatchNorm1d(width), nn.ReLU(), nn.Conv1d(width, width, kernel, padding=kernel // 2 * step, dilation=step),
                          nn.Dropout(dropout)) for step in steps)

    def forward(self, bases, lengths):
        made = self.first(functional.one_hot(bases.long(), 5)[:, :, :4].transpose(1, 2).float())
        for block in self.blocks:
            made = made + block(made)
        return functional.relu(made).transpose(1, 2)


def valid(lengths, like):
    """(B, T): whether a position of `like` (B, T, ...) belongs to its sequence."""
    return torch.arange(like.shape[1], device=like.device) < lengths.to(like.device)[:, None]


def cross_entropy(scores, lengths, labels):
    return (functional.cross_entropy(scores.transpose(1, 2), labels, reduction="none") * valid(lengths, scores)).sum(1)


class Softmax(nn.Module):
    def __init__(self, width, labels):
        super().__init__()
        self.project = nn.Linear(width, labels)

    def losses(self, made, lengths, labels):
        return cross_entropy(self.project(made), lengths, labels)

    def decode(self, made, lengths):
        best = self.project(made).argmax(2).cpu().numpy()
        return [row[:length] for row, length in zip(best, lengths.tolist())]


class SemiMarkov(nn.Module):
    """The layer of this package. longest: K; 1 without a tail is a linear chain, whose segments are the positions. scale: scores of
    positions are multiplied by it, and it is learned; None: they are not."""

    def __init__(self, width, labels, longest, heads=False, scale=None, **options):
        super().__init__()
        self.heads, self.chain = heads, longest == 1 and not options.get("tail")
        self.labels = labels
        self.scale = 1 if scale is None else nn.Parameter(torch.tensor(scale))
        self.crf = semicrf.torch.SemiCRF(labels, longest, boundary="both" if heads else "none", self_transitions=self.chain, **options)
        self.project = nn.Linear(width, labels * (3 if heads else 1))

    def given(self, made, lengths):
        scores = self.project(made)
        if not self.heads:
            return self.scale * scores, dict(lengths=lengths)
        scores, starts, ends = scores.chunk(3, 2)
        return self.scale * scores, dict(lengths=lengths, start_scores=starts, end_scores=ends)

    def losses(self, made, lengths, labels):
        scores, options = self.given(made, lengths)
        starts = torch.ones_like(labels, dtype=torch.bool) if self.chain else None
        return self.crf.loss(scores, labels, starts=starts, reduction="none", **options)

    def decode(self, made, lengths):
        scores, options = self.given(made, lengths)
        return [one.at_positions() for one in self.crf.decode(scores, **options)]

    def marginals(self, made, lengths):
        scores, options = self.given(made, lengths)
        return self.crf.marginals(scores, **options)


class FlashSemiCRF(nn.Module):
    """flash-semicrf's own module with its own loss and paths. In its loss (0.2.0) a true segment of d positions has the duration
    score of d + 1, so that it is no -ln P: `nll` and `marginals` are those of its scores, by this package. fast: its loss and
    paths by this package, too."""

    def __init__(self, width, labels, longest, backend="streaming", fast=False):
        super().__init__()
        from flash_semicrf.nn import SemiMarkovCRFHead
        self.crf, self.backend, self.fast = SemiMarkovCRFHead(labels, longest), backend, fast
        self.project = nn.Linear(width, labels)

    def tables(self, made):
        """Its scores, which it centres over all positions, padding too, transitions and durations."""
        scores = self.project(made).double()
        return scores - scores.mean(1, keepdim=True), self.crf.transition.double(), self.crf.duration_bias.double()

    def losses(self, made, lengths, labels):
        if not self.fast:
            return self.crf.compute_loss(self.project(made), lengths.to(made.device), labels, backend=self.backend, reduction="none")
        scores, transition, duration = self.tables(made)
        of_next = torch.cat([duration[1:], duration[-1:]])
        return (semicrf.torch.log_partition(scores, transition, duration, lengths=lengths)
                - semicrf.torch.path_score(scores, labels, transition, of_next, lengths=lengths, initial="none"))

    def nll(self, made, lengths, labels):
        given = self.tables(made)
        return (semicrf.torch.log_partition(*given, lengths=lengths)
                - semicrf.torch.path_score(given[0], labels, *given[1:], lengths=lengths))

    def marginals(self, made, lengths):
        return semicrf.torch.marginals(*self.tables(made), lengths=lengths)

    def decode(self, made, lengths):
        if self.fast:
            scores, transition, duration = (one.detach().cpu().numpy() for one in self.tables(made))
            found = semicrf.Model(transition, duration).decode([one[:length] for one, length in zip(scores, lengths.tolist())])
            return [one.at_positions() for one in found]
        found = self.crf.decode_with_traceback(self.project(made), lengths.to(made.device)).segments
        return [np.concatenate([np.full(one.end - one.start + 1, one.label) for one in path]) for path in found]


class PytorchCRF(nn.Module):
    def __init__(self, width, labels):
        super().__init__()
        import torchcrf
        self.crf = torchcrf.CRF(labels, batch_first=True)
        self.project = nn.Linear(width, labels)

    def losses(self, made, lengths, labels):
        return -self.crf(self.project(made), labels, valid(lengths, made), reduction="none")

    def decode(self, made, lengths):
        return [np.asarray(one) for one in self.crf.decode(self.project(made), valid(lengths, made))]


class Network(nn.Module):
    def __init__(self, encoder, layer):
        super().__init__()
        self.encoder, self.layer = encoder, layer

    def losses(self, values, lengths, labels, warming=False):
        """warming: the cross-entropy of the layer's scores, without the layer."""
        made = self.encoder(values, lengths)
        if warming:
            return cross_entropy(self.layer.project(made)[:, :, :self.layer.labels], lengths, labels)
        return self.layer.losses(made, lengths, labels)


def synchronise(device):
    if torch.device(device).type == "cuda":
        torch.cuda.synchronize()


def make_step(network, rate, decay, penalty):
    """(AdamW, step): step(values, lengths, labels, positions) returns the mean loss of a sequence, or of a position, as a tensor.
    penalty: of the squares of the tables of the last layer."""
    tables = list(network.layer.crf.parameters()) if hasattr(network.layer, "crf") else []
    of_table = set(map(id, tables))
    others = [one for one in network.parameters() if id(one) not in of_table]
    optimiser = torch.optim.AdamW([{"params": others}, {"params": tables, "lr": rate * TABLES_RATE}], lr=rate, weight_decay=decay)

    def step(values, lengths, labels, positions=False, warming=False):
        optimiser.zero_grad(set_to_none=True)
        losses = network.losses(values, lengths, labels, warming)
        loss = losses.sum() / int(lengths.sum()) if positions else losses.mean()
        (loss + penalty * sum((one ** 2).sum() for one in tables)).backward()
        nn.utils.clip_grad_norm_(network.parameters(), CLIP)
        optimiser.step()
        return loss.detach()

    return optimiser, step


def train(network, batches_of, epochs, rate, decay, penalty, device, positions=False, warm=0):
    """AdamW with a cosine schedule over all epochs, the first `warm` of which warm the encoder. batches_of(epoch): its batches. A
    list of (mean loss, seconds) per epoch."""
    optimiser, step = make_step(network, rate, decay, penalty)
    schedule, history = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, epochs), []
    network.train()
    for epoch in range(epochs):
        synchronise(device)
        begin = time.perf_counter()
        losses = [step(*batch, positions, epoch < warm) for batch in batches_of(epoch)]
        schedule.step()
        mean = float(torch.stack(losses).mean())  # waits for the device
        history.append((mean, time.perf_counter() - begin))
    network.eval()
    return history


# ---- judging: the counts of `semicrf eval`


def runs_of(labels):
    """(n, 3): begin, end, label of the runs of an array of labels."""
    edges = np.concatenate([[0], np.flatnonzero(np.diff(labels)) + 1, [len(labels)]])
    return np.stack([edges[:-1], edges[1:], labels[edges[:-1]]], 1)


def overlapping(truth, found):
    """Pairs of segments of one label whose intersection is at least half of their union."""
    i = j = count = 0
    while i < len(truth) and j < len(found):
        (begin, end, label), (first, last, other) = truth[i], found[j]
        shared, union = min(end, last) - max(begin, first), max(end, last) - min(begin, first)
        if label == other and 2 * shared >= union:
            i, j, count = i + 1, j + 1, count + 1
        elif end <= last:
            i += 1
        else:
            j += 1
    return count


def judge(pairs, tolerances):
    """Numbers over sequences, given as (true labels, found labels) of their positions; F1 of boundaries, exactly and within
    `tolerances`, and of segments, exactly and with IoU of at least 1/2."""
    positions = right = truths = founds = exact = overlap = sequences = 0
    within = dict.fromkeys((0, *tolerances), 0)
    for truth, found in pairs:
        a, b = runs_of(truth), runs_of(found)
        positions, right = positions + len(truth), right + int((truth == found).sum())
        truths, founds, sequences = truths + len(a), founds + len(b), sequences + 1
        exact += len(set(map(tuple, a)) & set(map(tuple, b)))
        overlap += overlapping(a, b)
        for tolerance in within:
            within[tolerance] += pairs_within(a[1:, 0], b[1:, 0], tolerance)

    def f1(matched, both):
        return 2 * matched / both if both else float("nan")

    named = {"boundary_f1" + ("_%d" % tolerance if tolerance else ""): f1(matched, truths + founds - 2 * sequences)
             for tolerance, matched in within.items()}
    return {"accuracy": right / positions, **named, "segment_f1": f1(exact, truths + founds),
            "segment_f1_iou": f1(overlap, truths + founds), "segments": founds}
