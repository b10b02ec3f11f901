"""States of a genome without labels: counts in bins of 200 bases, as arrays, to segments in a BED file and a model for the command.

The counts are simulated. Those of bigWig files are read with, for example, pyBigWig:
    numpy.array(pyBigWig.open("H3K4me3.bw").stats("chr1", type="mean", nBins=length // 200), dtype=float)

usage: numpy_model.py      (writes segments.bed and model.json; then: semicrf decode -p model.json TRACK=FILE.bw ...)
"""

import numpy as np

import semicrf

BIN = 200
TRACKS = ["H3K4me3", "H3K36me3"]
MEANS = np.array([[0.5, 0.5], [12.0, 1.0], [1.0, 6.0]])  # quiet, promoter, gene body: counts in a bin
LENGTHS = [150, 8, 60]  # bins


def simulated(rng, bins):
    """States (bins) and counts (bins, tracks) of one chromosome: quiet, promoter, gene body, quiet, ..."""
    states = np.concatenate([np.full(rng.negative_binomial(4, 4 / (4 + LENGTHS[n % 3])) + 1, n % 3) for n in range(bins // 50)])[:bins]
    return states, rng.poisson(MEANS[states] * rng.gamma(5, 0.2, (len(states), 2))).astype(np.float32)


rng = np.random.default_rng(1)
chromosomes = {"chr1": simulated(rng, 20000), "chr2": simulated(rng, 12000)}
counts = [values for _, values in chromosomes.values()]

# Three states with their durations, from the counts alone.
hsmm = semicrf.HSMM(3, emission="negative-binomial", durations="negative-binomial", max_duration=200, tail=True, threads=2).fit(counts)
print(f"ln P {hsmm.history_[-1]:.0f}, converged: {hsmm.converged_}")
means = hsmm.sizes_ * (1 - hsmm.probabilities_) / hsmm.probabilities_
for state, row in enumerate(means):
    print(f"state {state}: " + ", ".join(f"{track} {mean:.1f}" for track, mean in zip(TRACKS, row)) + " reads in a bin")

# Segments with the probability of their begin.
found = hsmm.segments(counts)
posteriors = hsmm.model_.posteriors(counts, labels=False)
with open("segments.bed", "w", encoding="utf-8") as bed:
    for chromosome, path, posterior in zip(chromosomes, found, posteriors):
        for begin, end, state in path.segments:
            bed.write(f"{chromosome}\t{begin * BIN}\t{end * BIN}\tstate{state}\t{round(1000 * float(posterior.boundary[begin]))}\n")
print(f"{sum(map(len, found))} segments in segments.bed")
hsmm.model_.save("model.json")

# The state with the mean counts that are nearest to each true one.
names = np.argmin(((np.sqrt(means)[:, None] - np.sqrt(MEANS)) ** 2).sum(axis=2), axis=1)
right = np.concatenate([names[path.at_positions()] == states for path, (states, _) in zip(found, chromosomes.values())])
print(f"{right.mean():.1%} of the bins have their true state")
