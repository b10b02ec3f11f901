"""Table 5, App. A, and arithmetic with numbers that the paper prints."""

import math

from figures import amount, figure, first, whole
from rules import BETTER, CORRECTED, NOT_HERE, REPRODUCED, at_least, at_most, between, exceeds, within

VALIDATION = "semicrf-lab validation"
GRADIENTS = (("S", "2.1e-5"), ("transition", "4.6e-6"), ("duration", "2.6e-6"))


def bound_of_mass(row):
    """The most that sum_{t,c} P(c|t) can be off T, before the engine divides by sum_c P(c|t)."""
    return row["T"] * row["max|sum_c-1|"]


def invariants(claims, rows, long_rows, gradients):
    for engine in ("reference", "cpu double", "cpu float"):
        worst = first(rows, case="a", engine=engine)["max|sum_c-1|"]
        claims.judge("Table 5a", "max |Σ_c P - 1|, " + engine, "1.5e-6", figure(worst), worst, exceeds(1.5e-6), VALIDATION)
    b = first(rows, case="b", engine="cpu float")
    claims.judge("Table 5b", "max |Σ_c P - 1|, float", "1.6e-4", figure(b["max|sum_c-1|"]), b["max|sum_c-1|"], exceeds(1.6e-4, 10), VALIDATION)
    claims.judge("Table 5b", "|Σ_{t,c} P - T|, float, before the engine divides by Σ_c P: T times the row above", "8.1", "<= " + figure(bound_of_mass(b)), bound_of_mass(b),
                 exceeds(8.1, 10), VALIDATION)
    claims.judge("Table 5b", "|Σ_{k,c} k E[segments of c that are k long] - T|, float", "not given", figure(b["length_error"]), b["length_error"], at_most(8.1, BETTER), VALIDATION)
    for mean in (20, 1000):
        row = first(rows, case="b, mean duration %d" % mean, engine="cpu float")
        claims.judge("Table 5b", "max |Σ_c P - 1|, float, mean duration %d" % mean, "not run", figure(row["max|sum_c-1|"]), row["max|sum_c-1|"], exceeds(1.6e-4, 10), VALIDATION)
    for row in long_rows:
        worst = row["max|sum_c-1|"] if row["disagreeing_windows"] == 0 else math.nan
        claims.judge("Table 5b", "the same, T %s, in %g windows that agree" % (figure(row["T"]), row["windows"]), "not run",
                     "%s (mean duration %g)" % (figure(worst), row["mean_duration"]), worst, exceeds(1.6e-4, 10), VALIDATION)
    for name, paper in GRADIENTS:
        for engine in ("cpu double", "cpu float"):
            error = first(gradients, engine=engine, parameter=name)["largest_error/largest_entry"]
            claims.judge("Table 5c", "gradient by %s: largest error / largest entry, %s" % (name, engine), paper, figure(error), error, exceeds(float(paper)), VALIDATION)
    a = first(rows, case="a", engine="reference")
    share = a["segments_per_sequence"] / (a["positions"] / a["B"])
    claims.judge("Table 5a", "segments / positions (how scores were drawn is not said)", "0.970", "%.3f" % share, share, within(0.970, 0.01), VALIDATION)


def training(claims, rows, rounding):
    for row in rows[1:]:
        if row["engine"] == "reference, float scores":
            continue
        note = ""
        if row["engine"] == "cpu float":
            note = "a rounding of Z alone is 1.5e-9 of it"
        claims.judge("Table 5d", "training, %g epochs: relative difference of the final NLL, %s" % (row["epochs"], row["engine"]), "6.4e-10, 1.2e-9",
                     figure(row["relative_difference"]), row["relative_difference"], at_most(1.2e-9), "semicrf-lab training", note)


def training_outside(claims, ours, theirs):
    truth = first(ours, program="semicrf, reference")["final_nll"]
    for row in theirs:
        off = abs(row["final_nll"] - truth) / truth
        claims.judge("Table 5d", "the same training by %s (%g epochs, T %g, C %g, K %g)" % (row["program"] if "," in row["program"] else "its " + row["program"], row["epochs"], row["T"], row["C"], row["K"]),
                     "6.4e-10, 1.2e-9", "NLL %.6f; off by %s" % (row["final_nll"], figure(off)), off, at_most(1.2e-9), "peers/training_peers.py")
    slow = min(row["seconds"] for row in theirs) / first(ours, program="semicrf, cpu double")["seconds"]
    claims.judge("Table 5d", "its training time against ours, one thread", "-", "%s times ours" % figure(slow), slow, at_least(1, BETTER), "peers/training_peers.py")


def rounding(claims, tiles, sums):
    worst = max(row["largest_error/largest_entry"] for row in tiles if row["scale"] == 1)
    claims.judge("A.6", "tiles normalised one by one: error of the gradient by transitions", "10 to 400 %", "%.0f %%, N(0,1) scores" % (100 * worst), worst,
                 between(0.1, 4.0), "semicrf-lab numbers")
    mild = max(row["largest_error/largest_entry"] for row in tiles if row["scale"] == 0.1)
    claims.judge("A.6", "the same with scores of a tenth", "10 to 400 %", "%.0f %%" % (100 * mild), mild, between(0.1, 4.0), "semicrf-lab numbers")
    for name, paper, rule in (("float", "~1e-3", between(1e-4, 1e-2)), ("double", "~1e-10", at_most(1e-10))):
        row = first(sums, accumulator=name)
        error = row["largest_error/largest_entry"]
        claims.judge("A.7", "gradients summed in %s: error / largest entry (T %s, K %g)" % (name, figure(row["T"]), row["K"]), paper, figure(error), error, rule, "semicrf-lab numbers")


def lstm_weights(inputs, hidden, layers):
    """Of a bidirectional LSTM as PyTorch counts them: four gates, two biases, both directions."""
    return 8 * hidden * (inputs + hidden + 2) + (layers - 1) * 8 * hidden * (3 * hidden + 2)


def arithmetic(claims, rows):
    paper = {row["name"]: row["value"] for row in rows}
    where = "arithmetic"
    tensor = 4 * paper["T_3"] * paper["K_3"] * paper["C_3"] ** 2
    claims.judge("3.3", "the edge tensor at T 1M, K 200, C 6, float32", "29 GB", amount(tensor), tensor / paper["edge_tensor_bytes"], within(1, 0.05), where)
    sums = 4 * paper["T_3"] * paper["C_3"]
    claims.judge("3.3", "the prefix sums there", "24 MB", amount(sums), sums / paper["prefix_sums_bytes"], within(1, 0.05), where)
    ring = 8 * paper["K_3"] * paper["C_3"]
    claims.judge("3.3", "the ring there, float64", "10 KB", amount(ring), ring / paper["ring_bytes"], within(1, 0.05), where)

    def workspace(B, T, K, padded, size):
        """B N K C_PAD^2, with N checkpoints every sqrt(T K) positions."""
        return B * math.ceil(T / math.sqrt(T * K)) * K * padded ** 2 * size
    used = workspace(paper["batch"], paper["frames"], paper["K_speech"], paper["C_PAD_speech"], 8)
    claims.judge("6", "gradient workspace of a batch, float64 (float32: half)", "~120 MB", amount(used), used / paper["workspace_bytes"], within(1, 0.1), where)
    used = workspace(paper["B_5b"], paper["T_5b"], paper["K_5b"], paper["C_PAD_5b"], 4)
    sums = 4 * paper["B_5b"] * (paper["T_5b"] + 1) * paper["C_5b"]
    claims.judge("Table 3", "\"the prefix-sum array is the dominant memory term\": workspace / prefix sums at the shape of 5b, float32", "< 1",
                 "%s / %s = %.2f" % (amount(used), amount(sums), used / sums), used / sums, at_least(1, CORRECTED, REPRODUCED), where)
    inputs, hidden, layers = (int(paper["encoder_" + name]) for name in ("inputs", "hidden", "layers"))
    weights = lstm_weights(inputs, hidden, layers) + (2 * hidden + 1) * paper["phones"]
    claims.judge("Table 6", "weights of the encoder (three BiLSTM layers of 256, and a linear head)", "~1.6M", "%.2fM" % (weights / 1e6), weights / paper["encoder_weights"],
                 at_least(1.1, CORRECTED, REPRODUCED), where)
    boundaries = math.exp(paper["h_bdy_before"])
    claims.judge("6", "exp(5.671) boundaries", "295", "%.0f" % boundaries, abs(boundaries - paper["boundaries_before"]), at_least(1, CORRECTED, REPRODUCED), where)
    short = math.log(paper["phones"]) - paper["h_pos"]
    claims.judge("Table 6", "H_pos 3.651 beside an error rate of .22: ln 39 less it", "-", "%.3f: labels at random" % short, short, at_most(0.05, CORRECTED, REPRODUCED), where)
    rate = paper["training_utterances"] / paper["seconds_per_epoch"]
    claims.judge("Table 7", "utterances per second of inference, less those of training", "21.1", "training: %.1f" % rate, abs(rate - paper["utterances_per_second"]),
                 at_most(0.1, CORRECTED, REPRODUCED), where, "it is the rate of training")
    least = min(paper["boundary_least_5a"], paper["boundary_least_5b"])
    claims.judge("Table 5 a, b", "a test of segments: least P(boundary)", "%.2f" % least, "nearly every position is one", least, at_least(0.9, CORRECTED, REPRODUCED), where,
                 "rows of mean duration 20 and 1000 are added")


def genes(claims, rows, said):
    paper = {row["name"]: row["value"] for row in said}
    for kind, column, name in (("exon", "median", "exon_median"), ("intron", "median", "intron_median"), ("intron", "percentile_95", "intron_95")):
        found = first(rows, kind=kind)[column]
        claims.judge("7", "%s of human %ss, bases; here GENCODE v29, chromosome 19" % (column.replace("percentile_95", "95th percentile"), kind), whole(paper[name]), whole(found),
                     found / paper[name], within(1, 0.2), "low_rank/gene_lengths.py", "a chromosome of many short genes")


def elsewhere(claims):
    claims.note("App. D", "∇P and ∇π by the same marginals", "stated", "tests/unit/train, parity: test_gradients", NOT_HERE, "tests of the product, against central differences")
    claims.note("Table 4", "tile sizes; 384 registers against 120", "stated", "", NOT_HERE, "a property of one Triton kernel on one card")
    claims.note("7", "gradients of boundary and content scores are decoupled; modalities are routed to one of them", "stated", "", NOT_HERE, "no experiment in the paper")
    claims.note("Tables 6, 7", "TIMIT with a BiLSTM encoder", "below", "", NOT_HERE, "the corpus is not free; below, the encoder on another corpus")


GROUPS = [("semicrf-lab validation", ("validation_invariants", "validation_long", "validation_gradients"), invariants),
          ("semicrf-lab training", ("training", "training_rounding"), training),
          ("peers/training_peers.py", ("training_shared", "training_peers"), training_outside),
          ("semicrf-lab numbers", ("numbers_tiles", "numbers_accumulators"), rounding),
          ("arithmetic", ("paper_numbers",), arithmetic),
          ("low_rank/gene_lengths.py", ("gene_lengths", "paper_numbers"), genes),
          ("elsewhere", (), elsewhere)]
