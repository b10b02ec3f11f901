"""The tables of docs/paper.md, each a function of a folder of TSV files that gives Markdown."""

import math

from figures import figure, first, select, speed, table, whole
from groups import algorithms, numbers, peers, times
import claims as claim_table

METHODS = (("edge-tensor", "edge tensor"), ("linear-scan", "linear scan"), ("joint-scan", "joint scan"), ("ring-scan", "ring scan"), ("streaming", "streaming"),
           ("binary-tree", "binary tree"), ("sharded-tree", "sharded tree"), ("block-triangular", "block-triangular"),
           ("reference", "reference (logarithms, factorised)"), ("cpu double", "cpu, double"), ("cpu float", "cpu, float"))
PEERS = (("semicrf", "semicrf"), ("flash-semicrf, PyTorch", "flash-semicrf, PyTorch"), ("flash-semicrf, Triton", "flash-semicrf, Triton"), ("linear scan", "its linear scan"),
         ("vectorised scan", "its vectorised scan"), ("binary tree", "its binary tree"), ("block-triangular", "its block-triangular tree"), ("pytorch-struct, tree", "pytorch-struct, tree"))
NONE = "*no figures yet*"


def claims_of(module):
    def make(folder):
        rows = [row for group in module.GROUPS for row in claim_table.of_group(group, folder)]
        # A bar in a table's text would end the cell.
        return table(("where", "claim", "paper", "here", "bar", "verdict"), [[cell.replace("|", "\\|") for cell in row[:6]] for row in rows])
    return make


def summary(folder):
    found = [claim_table.kind(row[5]) for row in claim_table.all_claims(folder)]
    names = sorted(dict.fromkeys(found), key=lambda name: -found.count(name))
    return table(["verdict"] + names, [["claims"] + ["%d" % found.count(name) for name in names]])


def with_spread(row, name):
    return "%.3f (%.3f)" % (row[name], row[name + "_sd"])


def baselines(folder):
    rows = folder("centring_ablation")

    def segments(row):
        return "/".join("%.0f" % row["segments_%d" % c] for c in range(3))
    lines = []
    for shares in ("75/15/10", "balanced"):
        for noise in sorted({row["noise"] for row in rows}):
            truth, none, mean = (first(rows, proportions=shares, noise=noise, centring=name) for name in ("truth", "none", "mean"))
            lines.append(["%g%s" % (noise, ", balanced" * (shares == "balanced")), segments(truth), segments(none), segments(mean)]
                         + ["%s; %s" % (with_spread(none, name), with_spread(mean, name)) for name in ("accuracy", "rare_f1", "rare_segment_f1")])
    return table(("noise", "truth: segments", "none: segments", "mean: segments", "accuracy: none; mean", "rare F1: none; mean", "rare segment F1: none; mean"), lines)


def trained(folder):
    rows = folder("centring_trained")
    lines = []
    for trained_on in dict.fromkeys(row["trained_on"] for row in rows):
        for tested_on in dict.fromkeys(row["tested_on"] for row in rows):
            none, mean = (first(rows, trained_on=trained_on, tested_on=tested_on, centring=name) for name in ("none", "mean"))
            lines.append([trained_on.replace("varied", "varied shares"), tested_on] + ["%s; %s" % (with_spread(none, name), with_spread(mean, name)) for name in ("accuracy", "rare_f1")]
                         + ["%.0f; %.0f of %.0f" % (none["segments_2"], mean["segments_2"], none["true_segments_2"])])
    return table(("trained on", "tested on", "accuracy: none; mean", "F1 of label 3: none; mean", "segments of label 3: none; mean"), lines)


def bands(folder):
    spans = (("S <= K/2", lambda x: x <= 0.5), ("K/2 < S <= K", lambda x: 0.5 < x <= 1), ("K < S <= 1.25 K", lambda x: 1 < x <= 1.25), ("S > 1.25 K", lambda x: x > 1.25))
    lines = []
    for name, inside in spans:
        rows = [row for row in folder("banded_orderings") if row["K"] == 16 and inside(row["S"] / row["K"])]
        cells = []
        for values in ([row["best/(n-1)"] for row in rows], [row["middle_out"] / (row["n"] - 1) for row in rows]):
            cells.append("%.2f to %.2f, mean %.2f" % (min(values), max(values), sum(values) / len(values)))
        lines.append([name] + cells)
    return table(("K = 16, bandwidth / (n - 1), n = DC", "best of the paper's three", "most neighbours in the middle"), lines)


def accuracy(folder):
    shapes = {"a": "a: B %(B)g, T %(T)s, C %(C)g, K %(K)g", "b": "b: B %(B)g, T %(T)s, C %(C)g, K %(K)g"}
    lines = []
    for row in folder("validation_invariants"):
        shape = dict(row, T=whole(row["T"]))
        name = shapes.get(row["case"], row["case"].removeprefix("b, ") + ", B %(B)g, T %(T)s, C %(C)g, K %(K)g, tails") % shape
        lines.append([name, row["engine"], figure(row["max|sum_c-1|"], 2), figure(numbers.bound_of_mass(row), 2), "" if row["length_error"] < 0 else figure(row["length_error"], 2),
                      "%s to %s" % (figure(row["boundary_min"], 2), figure(row["boundary_max"], 2)), whole(row["segments_per_sequence"])])
    for row in folder("validation_long"):
        lines.append(["mean duration %g, T %s, C %g, K %g, tails" % (row["mean_duration"], whole(row["T"]), row["C"], row["K"]), row["engine"], figure(row["max|sum_c-1|"], 2),
                      figure(numbers.bound_of_mass(row), 2), "", "", whole(row["segments"])])
    return table(("shape", "engine", "max \\|Σ_c P - 1\\|", "\\|Σ P - T\\|, at most", "\\|Σ k E[n_k] - T\\|", "boundary posterior", "segments per sequence"), lines)


def training(folder):
    lines = [[row["engine"], "%g" % row["epochs"], "%.6g" % row["final_nll"], figure(row["relative_difference"], 2), figure(row["seconds"])] for row in folder("training")]
    head = folder("training")[0]
    lines = [["T %g, C %g, K %g" % (head["T"], head["C"], head["K"])] + line for line in lines]
    shared = folder("training_shared")
    if shared:
        truth = shared[0]["final_nll"]
        lines += [["T %g, C %g, K %g" % (row["T"], row["C"], row["K"]), row["program"].removeprefix("semicrf, ").replace("linear scan", "flash-semicrf, its linear scan"), "%g" % row["epochs"],
                   "%.6g" % row["final_nll"], figure(abs(row["final_nll"] / truth - 1), 2), figure(row["seconds"])] for row in shared + folder("training_peers")]
    return table(("B 4", "log Z and gradients by", "epochs", "final NLL", "off, relative", "seconds"), lines)


def forward(folder):
    rows = folder("frontier_times")
    T = 1024.0
    shapes = ((8.0, 3), (12.0, 4), (24.0, 4))
    lines = []
    for method, name in METHODS:
        values = [times.nanoseconds(rows, method, T, K) for K, _ in shapes]
        if any(values):
            lines.append([name] + [figure(value) for value in values])
    return table(["nanoseconds per position"] + ["n = %d (K %d, C %d)" % ((K + 1) * C, K, C) for K, C in shapes], lines)


def largest(folder):
    rows = select(folder("frontier_largest"), limit_mib=times.GIB_48)
    lengths = (4096.0, 100000.0, 1000000.0)
    lines = []
    for method, name in METHODS:
        cells = []
        for T in lengths:
            row = first(rows, method=method, T=T)
            cells.append("" if row is None else ("all, " if row["largest_K"] == min(T, 100000) else "") + whole(row["largest_n"]))
        if any(cells):
            lines.append([name] + cells)
    lines.append(["tree that keeps n³ products"] + [whole(times.largest_with_products(T, times.GIB_48 * 2 ** 20)) for T in lengths])
    return table(["largest n, 48 GiB"] + ["T %s" % whole(T) for T in lengths], lines)


def exponents(folder):
    rows = folder("complexity")
    names = dict(METHODS)
    lines = []
    for method in dict.fromkeys(row["method"] for row in rows):
        seconds, size = algorithms.exponents(rows, method)
        lines.append([names.get(method, method.replace("vectorised-scan", "joint scan")), ", ".join("%.2f" % value for value in seconds), ", ".join("%.2f" % value for value in size)])
    return table(("", "seconds: T, K, C", "bytes: T, K, C"), lines)


def peers_of(name, ours):
    def make(folder):
        rows = peers.measured(folder(name))
        if not rows:
            return NONE
        lines = []
        for shape, scores, passed in dict.fromkeys((peers.shape_of(row), row["scores"], row["pass"]) for row in rows):
            here = [row for row in rows if (peers.shape_of(row), row["scores"], row["pass"]) == (shape, scores, passed)]
            base = first(here, method="semicrf", precision=ours)
            for method, written in PEERS:
                found = first(here, method=method, precision=ours) or first(here, method=method)
                if not found:
                    continue
                ratio = "" if method == "semicrf" or not base else figure(found["seconds"] / base["seconds"]) + " times"
                lines.append([peers.named(shape) + (", " + scores if scores == "long" else ""), passed, written, figure(found["seconds"] * 1e3), speed(found["positions_per_second"]), ratio,
                              "" if not isinstance(found["log_z"], float) else "%.10g" % found["log_z"]])
        # What is the same as in the row above is left out.
        for above, line in reversed(list(zip(lines, lines[1:]))):
            if above[0] == line[0]:
                line[0] = ""
                line[1] = "" if above[1] == line[1] else line[1]
        return table(("shape", "pass", "program", "ms", "positions", "of our time", "log Z"), lines)
    return make


def card(folder):
    rows = folder("card")
    return "Card: %(card)s, driver %(driver)s, PyTorch %(torch)s, Triton %(triton)s." % {key: str(value).removesuffix(".0") for key, value in rows[0].items()} if rows else NONE


def gains(folder):
    rows = folder("low_rank_gain")
    lines = []
    for name in dict.fromkeys(row["data"] for row in rows):
        one, two, three, four = (first(rows, data=name, rank=float(rank)) for rank in (1, 2, 3, 4))
        lines.append(["%s (%s)" % (name, whole(one["segments_judged"])), "%.3f" % -one["nats_per_segment_judged"], "%+.4f (%.4f)" % (two["gain_over_rank_1"], two["standard_error"])]
                     + ["%+.4f" % row["gain_over_rank_1"] if row else "" for row in (three, four)])
    return table(("segments (judged)", "rank 1, nats per segment", "gain of rank 2 (standard error)", "of rank 3", "of rank 4"), lines)


def ranks(folder):
    rows = folder("speech_ranks")
    return table(("corpus", "rank", "segments alone, nats per segment", "NLL per sentence", "phone error rate", "boundary F1, 2 frames", "training, s per pass"),
                 [["%g" % row["seed"], "%g" % row["rank"], "" if row["rank"] == 1 else "%+.3f (%.3f)" % (row["law_gain"], row["law_gain_se"]), "%.2f" % row["nll_per_sentence"], "%.3f" % row["per"],
                   "%.3f" % row["boundary_f1_2"], figure(row["train_cpu_s_per_iteration"])] for row in rows]) if rows else NONE


def speech(folder):
    def value(number):
        return "" if not isinstance(number, float) or math.isnan(number) else "%.4g" % number
    def encoder(row, name):
        found = first(folder("encoder"), number=row["number"])
        return value(found[name]) if found else ""
    return table(("", "paper, K = 1", "paper, K = 30", "linear heads, K = 1", "linear heads, K = 30", "BiLSTM, K = 1", "BiLSTM, K = 30"),
                 [[row["number"], value(row["paper_k1"]), value(row["paper_k30"]), value(row["k1"]), value(row["k30"]), encoder(row, "chain"), encoder(row, "semi")] for row in folder("speech")])


def speech_results(folder):
    """Means over the corpora and their standard deviation; differences within each corpus."""
    def cell(row, name):
        mean, spread = row[name], row[name + "_sd"]
        return figure(mean) + (" ± " + figure(spread, 2) if isinstance(spread, float) else "")

    def paper(value):
        return figure(value) if isinstance(value, float) else ""
    return table(("", "paper, K = 1", "paper, K = 30", "K = 1", "K = 30", "K = 30, heads", "paper's difference", "difference K = 30 to K = 1", "sign"),
                 [[row["number"], paper(row["paper_k1"]), paper(row["paper_k30"]), cell(row, "k1"), cell(row, "k30"), cell(row, "k30_heads"),
                   "%+.3g" % row["difference_paper"] if isinstance(row["difference_paper"], float) else "", "%+.3g ± %s" % (row["difference"], figure(row["difference_sd"], 2)),
                   row["sign"].replace("-", "")] for row in folder("speech")])


ENCODER = (("chain", "K = 1"), ("semi", "K = 30"), ("semi+heads", "K = 30, heads"), ("semi, mean", "K = 30, centred"), ("softmax", "softmax"), ("its loss", "flash-semicrf's loss"))


def encoder_of(name, models):
    """Means over seeds, with their standard deviation where there are several; the difference within them."""
    def make(folder):
        def cell(row, column):
            mean, spread = row.get(column), row.get(column + " sd")
            return "" if not isinstance(mean, float) else figure(mean) + (" ± " + figure(spread, 2) if isinstance(spread, float) else "")
        return table(["", "paper, K = 1", "paper, K = 30"] + [title for column, title in ENCODER if column in models] + ["K = 30 less K = 1"],
                     [[row["number"]] + [figure(row[key]) if isinstance(row[key], float) else "" for key in ("paper_k1", "paper_k30")]
                      + [cell(row, column) for column, _ in ENCODER if column in models] + [cell(row, "difference")] for row in folder(name)])
    return make


def encoder_times(folder):
    named = {"chain": "semicrf", "semi": "semicrf", "semi+heads": "semicrf, heads", "semi, mean": "semicrf, centred", "flash-semicrf, chain": "flash-semicrf, PyTorch",
             "flash-semicrf": "flash-semicrf, Triton", "linear scan": "its linear scan"}
    lines = []
    for row in folder("encoder_times"):
        compiles = row["model"] == "flash-semicrf" and row["steps_timed"] == 1
        lines.append([named.get(row["model"], row["model"]), "%g" % row["K"] if isinstance(row["K"], float) else "", "compiles" if compiles else figure(row["ms_per_step"]), "" if compiles else figure(row["s_per_epoch"])]
                     + [figure(row[key]).replace("-", "") for key in ("decode_s", "sentences_per_s", "kframes_per_s", "peak_GiB")])
    return table(("last layer", "K", "ms a step", "s a pass", "paths of the test part, s", "sentences/s", "kframes/s", "peak, GiB"), lines)


def genes_of(name):
    def make(folder):
        def cell(row, column):
            mean, spread = row[column], row[column + " sd"]
            return "" if not isinstance(mean, float) else figure(mean) + (" ± " + figure(spread, 2) if isinstance(spread, float) else "")
        columns = ("accuracy", "boundary_f1", "boundary_f1_30", "segment_f1_iou", "segments", "nll_per_base")
        return table(("last layer", "labels", "base accuracy", "boundary F1, exact", "30 bp", "segment F1, IoU 0.5", "segments", "NLL per base"),
                     [[row["model"], row["labels"]] + [cell(row, column) for column in columns] for row in folder(name)])
    return make


def steps(folder):
    return table(("step", "form", "seconds of processors"), [[row["step"], row["form"], figure(row["processor_seconds"])] for row in folder("steps")])


def makers():
    from groups import algorithms as a, bands as b, centring as c, numbers as n, peers as p, speech as s, times as t
    named = {"claims: section 4": c, "claims: Table 5 and appendix A": n, "claims: appendix B": a, "claims: appendix C": b, "claims: figure 2": t, "claims: peers": p, "claims: speech": s}
    found = {name: claims_of(module) for name, module in named.items()}
    found.update({"summary": summary, "baselines": baselines, "trained": trained, "bands": bands, "accuracy": accuracy, "training": training, "forward": forward, "largest n": largest, "exponents": exponents,
                  "peers on a processor": peers_of("peers", "double"), "peers on a card": peers_of("peers_cuda", "float"), "card": card, "low rank": gains, "ranks": ranks,
                  "tables 6 and 7": speech, "speech results": speech_results, "steps": steps, "encoder": encoder_of("encoder", [name for name, _ in ENCODER[:5]]),
                  "encoder, seeds": encoder_of("encoder_seeds", ("chain", "semi", "semi+heads", "its loss")), "encoder times": encoder_times, "genes": genes_of("genome")})
    return found
