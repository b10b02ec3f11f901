#!/usr/bin/env python3
"""Writes the tables and pictures of docs/paper.md, and the results of speech in docs/paper-experiments.md, from docs/paper:

    tests/lab/page.py            # writes the page and the pictures
    tests/lab/page.py --check    # says what of them is not what the figures make
    tests/lab/page.py --take build/paper   # first takes the tables of a run of `make paper` into docs/paper

A table of the page lies between "<!-- table NAME -->" and "<!-- end -->"; page/tables.py has the function of every name. A verdict is
computed from the figures by page/groups, with a bar that is printed beside it.
"""

import argparse
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE / "page"), str(HERE / "pictures")]

import draw  # noqa: E402
import figures  # noqa: E402
import tables  # noqa: E402

PAGE, FIGURES, PICTURES = ROOT / "docs/paper.md", ROOT / "docs/paper", ROOT / "docs/pictures"
PAGES = (PAGE, ROOT / "docs/paper-experiments.md")
# Names of pictures on the page and in build/paper. The patterns come from large tables of entries and are copied by hand.
DRAWN = {"paper-rare-f1": "centring_rare_f1", "paper-bandwidths": "banded_heat", "paper-forward": "frontier_A_T1024", "paper-length": "frontier_E", "paper-memory": "frontier_C",
         "paper-largest": "frontier_D_49152MiB"}
KEPT = ("banded_bounds", "banded_counted", "banded_fill_in", "banded_orderings", "banded_peers", "banded_powers", "card", "centring_ablation", "centring_example", "centring_peaks",
        "centring_position_max", "centring_trained", "complexity", "durations", "encoder", "encoder_seeds", "encoder_times", "frontier_largest", "frontier_long", "frontier_memory", "frontier_times", "gene_lengths", "genome", "low_rank_cost",
        "low_rank_gain", "numbers_accumulators", "numbers_short", "numbers_tiles", "peers", "peers_cuda", "semirings", "speech", "speech_ranks", "speech_training", "steps", "training",
        "training_peers", "training_rounding", "training_shared", "validation_gradients", "validation_invariants", "validation_long")
BLOCK = re.compile(r"(<!-- table (.+?) -->\n).*?(\n<!-- end -->)", re.DOTALL)


def filled(text, folder):
    """The page with every table written anew. KeyError: a table that no function makes."""
    makers = tables.makers()
    return BLOCK.sub(lambda found: found.group(1) + "\n" + makers[found.group(2)](folder) + "\n" + found.group(3), text)


def pictures(path):
    made = {}
    for draw_some in (draw.banded, draw.centring, draw.frontier):
        made.update(draw_some(path))
    return {name: made[source] for name, source in DRAWN.items()}


def loose_tables(text):
    """The lines of tables that no script writes."""
    return [line for line in BLOCK.sub("", text).splitlines() if line.startswith("|")]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--take", type=pathlib.Path, help="a folder of tables")
    options = parser.parse_args()
    if options.take:
        for name in KEPT:
            source = options.take / (name + ".tsv")
            if source.exists():
                (FIGURES / source.name).write_bytes(source.read_bytes())
    folder = figures.Folder(FIGURES)
    wanted = {path: filled(path.read_text(), folder) for path in PAGES}
    wanted.update({PICTURES / (name + ".svg"): picture for name, picture in pictures(FIGURES).items()})
    if options.check:
        wrong = [str(path.relative_to(ROOT)) for path, content in wanted.items() if path.read_text() != content]
        loose = loose_tables(PAGE.read_text())
        if wrong:
            print("page.py: error: not what docs/paper makes: %s; run tests/lab/page.py" % ", ".join(wrong), file=sys.stderr)
        if loose:
            print("page.py: error: docs/paper.md: a table that no script writes: %s" % loose[0], file=sys.stderr)
        return 1 if wrong or loose else 0
    for path, content in wanted.items():
        if path.read_text() != content:
            path.write_text(content)
            print("wrote %s" % path.relative_to(ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
