#!/usr/bin/env python3
"""What the cap K on durations costs: the paper's own open question, on yeast genes and on chromosome 11.

    tests/lab/cap/run.py --program build/release/bin/semicrf --out FOLDER [--small] [--data ../shared/data] [--only yeast]

For each K two models are trained with the same tracks, heads and iterations: one with a tail (longer segments go on
geometrically) and one without, whose true segments are cut into parts of at most K bins and whose label may follow
itself, which is all that a model without a tail can say of longer segments. Both are judged after neighbours of one
label were joined. NLL is that of the labelling: -log P(every bin has its true label) per bin, summed over all ways to
cut, so that models with different K and with and without a tail can be compared.

Writes FOLDER/cap.tsv, FOLDER/cap.svg. Standard library only; the data are those of ../shared/data.
"""

import argparse
import json
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "python"))

import labels  # noqa: E402
import svg  # noqa: E402
from program import Failed, Program, progress, write_table, write_text  # noqa: E402

COLUMNS = ["data", "K", "tail", "parts", "boundary_f1_exact", "boundary_f1_near", "segment_f1", "accuracy",
           "nll_per_bin", "segments", "true_segments", "iterations", "train_cpu_s_per_iteration", "decode_cpu_s",
           "posterior_cpu_s"]


class DataSet:
    """name, files, bin size, and what is trained on and judged: regions as (chromosome, first bin, end bin)."""

    def __init__(self, name, folder, bin_size, tracks, options, truth, train, judge, near, training):
        self.name, self.folder, self.bin_size, self.tracks, self.options = name, folder, bin_size, tracks, options
        self.truth, self.train, self.judge, self.near, self.training = truth, train, judge, near, training

    def region(self, place):
        return "%s:%d-%d" % (place[0], place[1] * self.bin_size + 1, place[2] * self.bin_size)

    def inputs(self):
        return self.options + sorted(str(path) for path in self.folder.glob(self.tracks))


def data_sets(data, small):
    """The yeast genes, judged on chromosome III as in docs/users/tutorial.md; ChromHMM's states on chromosome 11."""
    yeast = DataSet("yeast", data / "yeast", 3, "codon_*.bw", [], "genes.bed",
                    [("VIII", 0, 30000 if small else 187547)], ("III", 0, 105540), 30,
                    ["--boundary-window=-2,2", "--margin", "0.05"])
    chr11 = DataSet("chr11", data / "chr11_hg18", 200, "GM12878.*.bw", ["--track-pattern", "{sample}.{track}.bw"],
                    "GM12878.chromhmm10.bed", [("chr11", 0, 25000 if small else 50000)],
                    ("chr11", 335000, 400000 if small else 672260), 200, ["--boundary-window=-2,2", "--margin", "0"])
    return [yeast, chr11]


def let_labels_repeat(transition):
    """A label without a long segment in training was never cut, and learned that it cannot follow itself: longer segments
    of it would then be impossible without a tail. It may, as rarely as the rarest label that follows it."""
    for label, row in enumerate(transition):
        if row[label] == "-inf":
            row[label] = min([score for score in row if score != "-inf"], default=0)


def train(program, data, segments, longest, tail, iterations):
    """Writes model.json; (processor seconds per iteration, iterations, true segments after cutting)."""
    known = [part for place in data.train for part in labels.within(segments, *place)]
    parts = known if tail else labels.cut(known, longest)
    labels.write_bed(program.folder / "train.bed", parts, data.bin_size)
    seconds = program.run("train", "--labels", "train.bed", "-b", data.bin_size, "--edges", "complete",
                          *[word for place in data.train for word in ("-r", data.region(place))],
                          "--max-duration", longest, *(["--tail"] if tail else []), *data.training,
                          "--max-iterations", iterations, "-o", "model.json", *data.inputs())
    model = json.loads((program.folder / "model.json").read_text())
    if not tail:
        let_labels_repeat(model["transition"])
        (program.folder / "model.json").write_text(json.dumps(model))
    done = model["training"]["iterations"]
    return seconds / done, done, len(parts)


def judge(program, data, segments):
    """What decode, posterior and eval say of model.json on the judged region."""
    place = ["-r", data.region(data.judge)]
    model = ["-p", "model.json", *place, *data.inputs()]
    decode = program.run("decode", "-o", "path.bed", *model)
    posterior = program.run("posterior", "--no-entropy", "-o", "boundaries.bedgraph", *model)
    labels.write_bed(program.folder / "known.bed", labels.within(segments, *data.judge), data.bin_size, "label:%s")
    known = program.report("posterior", "--no-entropy", "-o", "again.bedgraph", "--precision", "double",
                           "--constraints", "known.bed", *model, option="--stats")
    overall = program.report("eval", "--truth", data.folder / data.truth, *place, "--merge-adjacent", "--tolerance",
                             data.near, "path.bed")["overall"]
    bins = data.judge[2] - data.judge[1]
    return {"boundary_f1_exact": overall["boundaries"]["exact"]["f1"],
            "boundary_f1_near": overall["boundaries"]["within"]["f1"],
            "segment_f1": overall["segments"]["overlap"]["f1"], "accuracy": overall["bases"]["accuracy"],
            "segments": overall["segments"]["exact"]["predicted"], "true_segments": overall["segments"]["exact"]["truth"],
            "nll_per_bin": -known["log_constraint_probability"] / bins,
            "decode_cpu_s": decode, "posterior_cpu_s": posterior}


def picture(rows):
    """A row of panels per data set: F1 of boundaries and segments, NLL, seconds, over K."""
    names = list(dict.fromkeys(row["data"] for row in rows))
    page = svg.Picture(1120, 60 + 250 * len(names), "What the cap K on durations costs")
    for index, (color, words) in enumerate(zip(svg.COLORS, ("with a tail", "without: longer segments are cut"))):
        page.line([(60 + 220 * index, 18), (90 + 220 * index, 18)], color)
        page.text(96 + 220 * index, 22, words)
    panels = [("boundary_f1_near", "boundary F1, near", False), ("segment_f1", "segment F1 (IoU 0.5)", False),
              ("nll_per_bin", "NLL of the labelling per bin", False),
              ("train_cpu_s_per_iteration", "seconds per iteration", True)]
    for number, name in enumerate(names):
        for column, (key, title, log_y) in enumerate(panels):
            ours = [row for row in rows if row["data"] == name]
            values = [row[key] for row in ours]
            ends = (min(values) / 1.3, max(values) * 1.3) if log_y else svg.span(values)
            ks = [row["K"] for row in ours]
            panel = svg.Panel(page, (60 + 270 * column, 70 + 250 * number, 215, 150), (min(ks) / 1.2, max(ks) * 1.2), ends,
                              log_x=True, log_y=log_y)
            panel.axes("%s: %s" % (name, title), "K, bins")
            for color, tail in zip(svg.COLORS, ("yes", "no")):
                panel.curve([(row["K"], row[key]) for row in ours if row["tail"] == tail], color)
    return page.text_of_file()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder for cap.tsv and cap.svg; made where missing")
    parser.add_argument("--small", action="store_true", help="three K, less data, fewer iterations: a few minutes")
    parser.add_argument("--data", type=pathlib.Path, default=HERE.parents[3] / "shared" / "data")
    parser.add_argument("--only", choices=["yeast", "chr11"], help="one data set")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    longest = [10, 100, 1000] if options.small else [10, 30, 100, 300, 1000, 3000]
    iterations = 6 if options.small else 25
    chosen = [one for one in data_sets(options.data.resolve(), options.small) if options.only in (None, one.name)]
    there = [one for one in chosen if one.folder.is_dir()]
    for one in chosen:
        if one not in there:
            print("skipped: %s is not there" % one.folder)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        program = Program(options.program, folder)
        for data in there:
            segments = labels.read_bins(data.folder / data.truth, data.bin_size,
                                        {place[0] for place in data.train + [data.judge]})
            for k, tail in [(1, False)] + [(k, tail) for k in longest for tail in (True, False)]:
                per_iteration, done, parts = train(program, data, segments, k, tail, iterations)
                row = {"data": data.name, "K": k, "tail": "yes" if tail else "no", "parts": parts, "iterations": done,
                       "train_cpu_s_per_iteration": per_iteration, **judge(program, data, segments)}
                rows.append(row)
                progress("%(data)s K=%(K)d tail=%(tail)s: boundary F1 %(boundary_f1_near).3f, segment F1 "
                         "%(segment_f1).3f, NLL %(nll_per_bin).5f, %(train_cpu_s_per_iteration).2f s/iteration" % row)
                write_table(options.out / "cap.tsv", COLUMNS, rows)
    if not rows:
        return 77
    write_text(options.out / "cap.svg", picture(rows))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as error:
        sys.exit(str(error))
