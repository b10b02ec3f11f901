"""How sure a segmentation is: probabilities of labels and boundaries, the best segmentations and their weights, in one picture.

usage: uncertainty.py      (writes uncertainty.svg; needs matplotlib)
"""

import matplotlib
import numpy as np

import semicrf

matplotlib.use("svg")
from matplotlib import pyplot  # noqa: E402

LABELS = ["low", "middle", "high"]
LEVELS = np.array([0.0, 1.0, 2.0])
NOISE = 0.7
rng = np.random.default_rng(4)
truth = np.repeat([0, 2, 1, 0, 1, 2], [30, 18, 14, 25, 20, 23])
signal = LEVELS[truth] + NOISE * rng.normal(size=len(truth))

# Densities of the signal under each label, durations that are negative binomial with mean 20.
scores = -0.5 * ((signal[:, None] - LEVELS) / NOISE) ** 2 - np.log(NOISE * np.sqrt(2 * np.pi))
k = np.arange(1, 61)
weights = (k - 1) * np.exp(-(k - 1) / 10)
with np.errstate(divide="ignore"):
    durations = np.repeat(np.log(weights / weights.sum())[:, None], 3, axis=1)
    transition = np.log((1 - np.eye(3)) / 2)
model = semicrf.Model(transition, durations, labels=LABELS, start=np.log([1 / 3] * 3), initial="none")

found = model.posteriors(scores)
best = model.k_best(scores, 5)
samples = model.sample(scores, 2000, seed=1)
print(f"log Z {found.log_partition:.2f}, entropy {model.entropy(scores):.2f} nats")
for rank, path in enumerate(best, 1):
    print(f"{rank}. P = {np.exp(path.log_probability):.3f}, {len(path)} segments, from {path.starts.tolist()}")
numbers = np.bincount([len(path) for path in samples])
print("number of segments: " + ", ".join(f"{n} with P = {count / len(samples):.2f}" for n, count in enumerate(numbers) if count))

figure, (top, middle, boundary, paths) = pyplot.subplots(4, sharex=True, figsize=(8, 7), layout="constrained", height_ratios=[2, 1.2, 1.2, 1.5])
colors = ["#4477aa", "#ccbb44", "#aa3377"]
top.plot(signal, ".", color="0.5")
top.step(np.arange(len(truth)), LEVELS[truth], where="mid", color="black", linewidth=1)
top.set(ylabel="signal, truth")
middle.stackplot(np.arange(len(truth)), found.labels.T, labels=LABELS, colors=colors)
middle.set(ylabel="P(label)", ylim=(0, 1))
middle.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
boundary.bar(np.arange(len(truth)), found.boundary, width=1, color="black")
boundary.set(ylabel="P(start)", ylim=(0, 1))
for rank, path in enumerate(best):
    for begin, end, label in path.segments:
        paths.barh(rank, end - begin, left=begin, color=colors[label], edgecolor="white", height=0.8)
paths.set(yticks=range(len(best)), yticklabels=[f"{np.exp(path.log_probability):.2f}" for path in best], ylabel="P of the best", xlabel="position")
paths.invert_yaxis()
figure.savefig("uncertainty.svg")
