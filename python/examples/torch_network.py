"""A network that is trained through its segmentation: convolutions with a semi-Markov CRF, beside the same network with a softmax.

usage: torch_network.py      (writes loss.svg where matplotlib is installed)
"""

import numpy as np
import torch

import semicrf.torch

torch.manual_seed(1)
rng = np.random.default_rng(1)
LABELS, POSITIONS, CHANNELS = 3, 300, 4
MEANS = rng.normal(size=(LABELS, CHANNELS))


def batch(count):
    """Noisy signals (B, T, channels) and their labels (B, T): segments of 10 to 30 positions, each of another label."""
    labels = np.empty((count, POSITIONS), int)
    for row in labels:
        at, label = 0, rng.integers(LABELS)
        while at < POSITIONS:
            end = at + rng.integers(10, 31)
            row[at:end] = label
            at, label = end, (label + rng.integers(1, LABELS)) % LABELS
    signal = MEANS[labels] + 1.5 * rng.normal(size=(count, POSITIONS, CHANNELS))
    return torch.tensor(signal, dtype=torch.float32), torch.tensor(labels)


class Encoder(torch.nn.Module):
    """Scores (B, T, LABELS) of signals (B, T, CHANNELS)."""

    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Conv1d(CHANNELS, 16, 5, padding=2), torch.nn.ReLU(), torch.nn.Conv1d(16, LABELS, 5, padding=2))

    def forward(self, signal):
        return self.layers(signal.transpose(1, 2)).transpose(1, 2)


def trained(loss_of, *modules):
    """The losses of each step."""
    optimiser = torch.optim.Adam([parameter for module in modules for parameter in module.parameters()], lr=0.02)
    losses = []
    for _ in range(80):
        optimiser.zero_grad()
        loss = loss_of(*batch(16))
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    return losses


def told(name, found, labels):
    """How right labels (B, T) are, and how many segments they make."""
    changes = (found[:, 1:] != found[:, :-1]).sum().item() + len(found)
    print(f"{name:12} {(found == labels).float().mean().item():.1%} of the positions right, {changes} segments")


encoder, crf = Encoder(), semicrf.torch.SemiCRF(LABELS, 40, durations="table")
losses = trained(lambda signal, labels: crf.loss(encoder(signal), labels), encoder, crf)
plain = Encoder()
trained(lambda signal, labels: torch.nn.functional.cross_entropy(plain(signal).transpose(1, 2), labels), plain)
print(f"loss of a sequence: {losses[0]:.1f} nats at first, {losses[-1]:.1f} after {len(losses)} steps")

signal, labels = batch(50)
with torch.no_grad():
    told("truth", labels, labels)
    told("softmax", plain(signal).argmax(2), labels)
    paths = crf.decode(encoder(signal))
    told("semi-Markov", torch.tensor(np.stack([path.at_positions() for path in paths])), labels)
crf.to_model(["a", "b", "c"]).save("model.json")  # for semicrf.Model and the command

try:
    import matplotlib
except ImportError:
    print("matplotlib is not installed: no loss.svg")
else:
    matplotlib.use("svg")
    from matplotlib import pyplot
    figure, axes = pyplot.subplots(figsize=(5, 3), layout="constrained")
    axes.plot(losses)
    axes.set(xlabel="step", ylabel="negative log likelihood (nats)", ylim=0)
    figure.savefig("loss.svg")
