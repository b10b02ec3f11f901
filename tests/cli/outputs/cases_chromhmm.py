"""decode --chromhmm-out: the files against segments and posteriors, and ChromHMM's own programs and sagaconf on the folder."""

import random
import re
import shutil
import subprocess

from cases_reads import read_npz
from harness import Skip, bed_rows, check

MARKS, BIN = ["K4", "K27", "CTCF"], 200


def inputs(box, seed=5):
    """Binarised text of two chromosomes."""
    rng = random.Random(seed)
    for chromosome, bins in (("chr2", 900), ("chr10", 400)):
        state, lines = 0, []
        for _ in range(bins):
            if rng.random() < 0.1:
                state = rng.randrange(3)
            lines.append("\t".join(str(int(rng.random() < (0.85 if i == state else 0.06))) for i in range(3)))
        box.write("binarised/K562_%s_binary.txt" % chromosome, "K562\t%s\n%s\n%s\n" % (chromosome, "\t".join(MARKS), "\n".join(lines)))


def learned(box, *options):
    inputs(box)
    box.ok(["learn", "--labels", 3, "--max-iterations", 8, "-o", "model.json", *options, "binarised"])
    return box.ok("decode -p model.json --chromhmm-out out --cell K562 -o segments.bed binarised")


def folder(box):
    return sorted(str(path.relative_to(box.path("out"))) for path in box.path("out").rglob("*") if path.is_file())


def rows_of(text):
    return [line.split("\t") for line in text.splitlines()]


def test_files_of_the_folder(box):
    """Of a model with explicit durations: no model and no transitions."""
    result = learned(box)
    posteriors = ["POSTERIOR/K562_3_%s_posterior.txt" % name for name in ("chr10", "chr2")]
    check(folder(box) == ["K562_3_dense.bed", "K562_3_expanded.bed", "K562_3_segments.bed"] + posteriors + ["emissions_3.txt", "labels_3.txt"] or
          set(folder(box)) == set(["K562_3_dense.bed", "K562_3_expanded.bed", "K562_3_segments.bed", "emissions_3.txt", "labels_3.txt"] + posteriors),
          "%s" % folder(box))
    check("no model and no transitions" in result.stderr and "explicit durations" in result.stderr, result.stderr)
    names = dict(line.split("\t") for line in box.text("out/labels_3.txt").splitlines())
    check(list(names) == ["E1", "E2", "E3"], names)
    joined = []
    for row in bed_rows(box.text("segments.bed")):
        if joined and joined[-1][0] == row[0] and joined[-1][2] == row[1] and joined[-1][3] == row[3]:
            row = [row[0], joined.pop()[1], *row[2:]]
        joined.append(list(row))
    states = rows_of(box.text("out/K562_3_segments.bed"))
    check([[row[0], str(row[1]), str(row[2]), row[3]] for row in joined] == [row[:3] + [names[row[3]]] for row in states], "segments")
    dense = rows_of(box.text("out/K562_3_dense.bed"))
    check(dense[0][0].startswith('track name="K562_3" '), dense[0])
    check([[row[0], row[1], row[2], "E" + row[3]] for row in dense[1:]] == states, "dense")
    check(all(row[6:8] == row[1:3] and re.fullmatch(r"\d+,\d+,\d+", row[8]) for row in dense[1:]), "columns of dense")
    found = set()
    for row in rows_of(box.text("out/K562_3_expanded.bed"))[2:]:
        sizes, starts = ([int(number) for number in field.split(",")] for field in row[10:12])
        check(len(sizes) == len(starts) == int(row[9]) and sizes[0] == 0 and starts[0] == 0 and sizes[-1] == 1 and starts[-1] == int(row[2]) - 1, "%s" % row)
        found |= {(row[0], str(at), str(at + size), "E" + row[3]) for at, size in zip(starts[1:-1], sizes[1:-1])}
    check(found == {tuple(row) for row in states}, "expanded")
    box.ok("posterior -p model.json --labels-out labels.npz -o boundaries.bedgraph binarised")
    for chromosome, wanted in read_npz(box.path("labels.npz")).items():
        rows = rows_of(box.text("out/POSTERIOR/K562_3_%s_posterior.txt" % chromosome))
        check(rows[:2] == [["K562", chromosome], ["E1", "E2", "E3"]] and len(rows) == len(wanted) + 2, "%s" % rows[:2])
        worst = max(abs(float(a) - b) for row, values in zip(rows[2:], wanted) for a, b in zip(row, values))
        check(worst < 2e-6, "posteriors of %s are off by %g" % (chromosome, worst))
    emissions = rows_of(box.text("out/emissions_3.txt"))
    check(emissions[0][1:] == MARKS and [row[0] for row in emissions[1:]] == ["1", "2", "3"], "%s" % emissions[0])
    check(all(0 < float(p) < 1 for row in emissions[1:] for p in row[1:]), "emissions are probabilities")


def test_a_hidden_markov_model(box):
    """Has a model and transitions, which are those of export."""
    learned(box, "--duration", "geometric")
    check({"model_3.txt", "transitions_3.txt", "emissions_3.txt"} <= set(folder(box)), "%s" % folder(box))
    box.ok("export chromhmm -o exported.txt model.json")
    own, other = (rows_of(box.text(name)) for name in ("out/model_3.txt", "exported.txt"))
    check(own[1:] == other[1:] and own[0][2] == "E", "%s, %s" % (own[0], other[0]))
    moves = rows_of(box.text("out/transitions_3.txt"))
    check(all(abs(sum(map(float, row[1:])) - 1) < 1e-6 for row in moves[1:]), "transitions sum to 1")
    wanted = {(row[1], row[2]): row[3] for row in own if row[0] == "transitionprobs"}
    check({(row[0], to): p for row in moves[1:] for to, p in zip(moves[0][1:], row[1:])} == wanted, "transitions")


def test_what_is_refused(box):
    inputs(box)
    box.ok("learn --labels 2 --max-iterations 3 -o model.json binarised")
    box.fails("decode -p model.json --chromhmm-out out -r chr2:1-20000 binarised", 2, "every bin of chr2", "-r")
    box.ok("decode -p model.json --chromhmm-out out -r chr2 binarised")
    check("POSTERIOR/cell_2_chr2_posterior.txt" in folder(box) and len([name for name in folder(box) if "POSTERIOR" in name]) == 1, "%s" % folder(box))
    check(not box.path("segments.bed").exists(), "without -o there is no other file")
    box.fails("decode -p model.json --chromhmm-out out --cell a/b binarised", 2, "has a /")
    box.fails("decode -p model.json -o x.bed --cell a binarised", 2, "--chromhmm-out")
    box.fails("decode -p model.json --chromhmm-out none/out binarised", 5, "none")
    box.fails("decode -p model.json --best 3 --chromhmm-out other -o x.bed binarised", 2, "--chromhmm-out")
    box.ok("decode -p model.json --chromhmm-out of_sample --sample K562=binarised")
    check(box.path("of_sample/K562_2_segments.bed").exists(), "the cell is the sample")


def chromhmm(box, *words):
    done = subprocess.run(["ChromHMM", *map(str, words)], cwd=box.folder, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False,
                          timeout=120)
    check(done.returncode == 0 and "Exception" not in done.stderr + done.stdout, "ChromHMM %s: %s%s" % (" ".join(map(str, words)), done.stdout, done.stderr))


def test_programs_of_chromhmm(box):
    """They run on the folder, and what they count is there."""
    if not shutil.which("ChromHMM"):
        raise Skip("ChromHMM is not installed")
    learned(box, "--duration", "geometric")
    states = rows_of(box.text("out/K562_3_segments.bed"))
    box.write("coords/promoters.bed", "".join("%s\t%s\t%s\n" % tuple(row[:3]) for row in states if row[3] == "E2"))
    box.write("starts.txt", "".join("%s\t%s\t+\n" % (row[0], row[1]) for row in states if row[3] == "E2"))
    chromhmm(box, "OverlapEnrichment", "-noimage", "out/K562_3_segments.bed", "coords", "overlap")
    rows = rows_of(box.text("overlap.txt"))
    share = {row[0]: float(row[1]) for row in rows[1:4]}
    total = sum(int(row[2]) - int(row[1]) for row in states)
    for state in "123":
        wanted = 100 * sum(int(row[2]) - int(row[1]) for row in states if row[3] == "E" + state) / total
        check(abs(share[state] - wanted) < 1e-3, "OverlapEnrichment: %s, %g" % (rows, wanted))
    check(float(rows[2][2]) > 1 and float(rows[1][2]) == float(rows[3][2]) == 0, "enrichment of the state's own bases: %s" % rows)
    chromhmm(box, "NeighborhoodEnrichment", "-noimage", "out/K562_3_segments.bed", "starts.txt", "around")
    check(len(rows_of(box.text("around.txt"))) == 4, box.text("around.txt"))
    chromhmm(box, "Reorder", "-noimage", "-stateordering", "transition", "out/model_3.txt", "reordered")
    check(box.path("reordered/model_3.txt").exists(), "Reorder")
    chromhmm(box, "CompareModels", "-noimage", "out/emissions_3.txt", "out", "compared")
    check("emissions_3" in box.text("compared.txt"), box.text("compared.txt"))
    chromhmm(box, "EvalSubset", "-noimage", "-readposterior", "out/model_3.txt", "binarised", "out", "subset", "111")
    check(box.listing(".") and any(name.startswith("subset") for name in box.listing(".")), "EvalSubset")
    chromhmm(box, "MakeBrowserFiles", "out/K562_3_segments.bed", "K562_3", "theirs")
    theirs, ours = (rows_of(box.text(name)) for name in ("theirs_dense.bed", "out/K562_3_dense.bed"))
    check([row[:8] for row in theirs] == [row[:8] for row in ours], "dense is not as ChromHMM has it")
    theirs, ours = (rows_of(box.text(name)) for name in ("theirs_expanded.bed", "out/K562_3_expanded.bed"))
    check(sorted(row[:8] + row[9:] for row in theirs[2:]) == sorted(row[:8] + row[9:] for row in ours[2:]), "expanded is not as ChromHMM has it")
    chromhmm(box, "MakeSegmentation", "-printposterior", "-b", BIN, "out/model_3.txt", "binarised", "again")
    for chromosome in ("chr2", "chr10"):
        name = "POSTERIOR/K562_3_%s_posterior.txt" % chromosome
        theirs, ours = rows_of(box.text("again/" + name)), rows_of(box.text("out/" + name))
        check(theirs[:2] == ours[:2] and len(theirs) == len(ours), "%s: %s" % (name, theirs[:2]))
        worst = max(abs(float(a) - float(b)) for one, two in zip(theirs[2:], ours[2:]) for a, b in zip(one, two))
        check(worst < 2e-3, "posteriors of %s are off by %g" % (chromosome, worst))


def test_sagaconf_reads_the_folder(box):
    if not shutil.which("sagaconf"):
        raise Skip("sagaconf is not installed")
    learned(box)
    done = subprocess.run(["sagaconf", "parse", "--saga", "chmm", "out/POSTERIOR", str(BIN), "parsed"], cwd=box.folder, capture_output=True, text=True, check=False)
    check(done.returncode == 0, done.stderr)
    rows = rows_of(box.text("parsed/parsed_posterior.bed"))
    check(rows[0] == ["chr", "start", "end", "posterior1", "posterior2", "posterior3"] and len(rows) == 1301, "%s, %d rows" % (rows[0], len(rows)))
    done = subprocess.run(["sagaconf", "run", "parsed/parsed_posterior.bed", "parsed/parsed_posterior.bed", "self", "--mode", "rvalues"], cwd=box.folder,
                          capture_output=True, text=True, check=False)
    check(done.returncode == 0, done.stderr)
    check(len(rows_of(box.text("self/r_values.bed"))) == 1301, "r-values of a folder against itself")
