"""Small input files of every format that the program reads, sound and odd, in one folder and about one genome."""

import gzip
import json
import os
import pathlib
import struct
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "cli"), str(HERE.parent / "cli" / "models"), str(HERE.parent / "support" / "files")]

import bigwig  # noqa: E402
import cases_import  # noqa: E402
import cases_segway  # noqa: E402
from make_inputs import npy, npz  # noqa: E402

LABELS = [["A", "B"], ["A", "B", "C"], ["off", "on"], ["é", "日本", "x y"], ["A|B", "A", "B"], ["a:b", "c,d"], ["L" * 60, "M"]]
STEMS = ["x", "a b", "é", "x:y", "#c", "t.1", "N" * 100, "x=y", "%41"]
NUMBERS = [b"-1", b"0", b"1e999", b"nan", b"inf", b"99999999999999999999", b"1e30", b"-0", b"0x10", b"1,000", b"", b"2147483648", b"1e-320"]


def as_text(rows):
    return "".join("\t".join(map(str, row)) + "\n" for row in rows)


class World:
    """The files of one run by what they are for; odd ones stand beside sound ones of the same role."""

    def __init__(self, folder, random):
        self.folder, self.random = pathlib.Path(folder), random
        self.files = {}  # role: [name]
        self.count = 0
        self.labels = random.choice(LABELS) if random.random() < 0.6 else ["A", "B", "C"]
        self.bin_size = random.choice([1, 1, 10, 200])
        self.tracks = ["t%d" % i for i in range(random.randint(1, 3))]
        self.uses_scores = random.random() < 0.4
        self.chromosomes = {"chr%d" % (i + 1): random.choice([1, 2, 17, 60, 150, 300]) for i in range(random.randint(1, 3))}
        if random.random() < 0.05:
            self.chromosomes = {"s%d" % i: random.randint(1, 3) for i in range(300)}  # many scaffolds
        if random.random() < 0.05:
            self.labels = ["l%d" % i for i in range(random.choice([1, 40, 300]))]
        self.make_models()
        self.make_inputs()
        self.make_intervals()
        self.make_texts()

    # Files -------------------------------------------------------------------------------------------------

    def add(self, role, name, content=None):
        """Writes a file and remembers it; sometimes an odd relative of it, too."""
        if content is not None:
            content = content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content
            (self.folder / name).write_bytes(content)
        self.files.setdefault(role, []).append(name)
        if content is not None and self.random.random() < 0.3:
            odd = "odd%d_%s" % (len(self.files[role]), name)
            (self.folder / odd).write_bytes(self.mutated(content))
            self.files.setdefault("odd " + role, []).append(odd)
        return name

    def pick(self, role):
        """The name of a file for this role: mostly a sound one, newer ones more often."""
        random = self.random
        if random.random() < 0.06:
            return self.odd_path()
        if random.random() < 0.12 and self.files.get("odd " + role):
            return random.choice(self.files["odd " + role])
        if random.random() < 0.03:
            role = random.choice(sorted(self.files))
        names = self.files.get(role) or ["missing"]
        return random.choice(names[-3:] if random.random() < 0.6 else names)

    def odd_path(self):
        return self.random.choice(["missing", ".", "no_folder/x", "/dev/null", "", "-", "pipe", "x" * 300, "empty", "/proc/self/mem", "dangling"])

    def stem(self):
        self.count += 1
        return "%d%s" % (self.count, self.random.choice(STEMS) if self.random.random() < 0.2 else "")

    def mutated(self, content):
        random = self.random
        for _ in range(random.choice([1, 1, 1, 2, 4])):
            content = random.choice(MUTATIONS)(random, content)
        return content

    # Models ------------------------------------------------------------------------------------------------

    def parameters(self, uses_scores):
        random, count = self.random, len(self.labels)
        longest = random.choice([1, 2, 10, 30])
        kind = random.choice(["uniform", "table", "geometric", "poisson", "negative_binomial"])
        score = lambda: round(random.gauss(0, random.choice([1, 1, 30])), 3)
        duration = {"kind": kind}
        if kind == "table":
            duration["bias"] = [[score() for _ in range(count)] for _ in range(longest)]
        if kind in ("geometric", "negative_binomial"):
            duration["p"] = [random.choice([0.1, 0.5, 0.9]) for _ in range(count)]
        if kind == "negative_binomial":
            duration["r"] = [random.choice([0.5, 2, 3]) for _ in range(count)]
        if kind == "poisson":
            duration["lambda"] = [random.choice([0.5, 3, 12]) for _ in range(count)]
        if random.random() < 0.4:
            duration["tail"] = [random.choice([None, 0.5, 0.9]) for _ in range(count)]
        model = {"format": "semicrf-params", "format_version": "1.0", "labels": self.labels, "max_duration": longest, "bin_size": self.bin_size,
                 "centering": random.choice(["mean", "none", "position-max", "mean-preserving"]), "duration": duration,
                 "transition": [["-inf" if a == b and (count > 1 or longest > 300) else score() for b in range(count)] for a in range(count)]}
        if longest == 1 or random.random() < 0.2:
            model["transition"] = [[score() for _ in range(count)] for _ in range(count)]
        if random.random() < 0.2:
            model["start"], model["initial"] = [score() for _ in range(count)], "none"
        if random.random() < 0.2:
            model["format_version"], model["edges"] = "1.1", "censored"
        if not uses_scores:
            model["tracks"] = [{"name": name, "transform": random.choice(["none", "asinh", "log1p"]), "missing": random.choice(["zero", "skip"])}
                               for name in self.tracks]
            model["emission"] = {"weights": [[score() for _ in self.tracks] for _ in range(count)], "bias": [score() for _ in range(count)]}
            if random.random() < 0.3:
                width = 3 * len(self.tracks)
                model["boundary"] = {"window": [-1, 1], "start_weights": [[score() for _ in range(width)] for _ in range(count)], "start_bias": [0] * count,
                                     "end_weights": [[score() for _ in range(width)] for _ in range(count)], "end_bias": [0] * count}
        return json.dumps(model, ensure_ascii=self.random.random() < 0.5)

    def make_models(self):
        for _ in range(2):
            self.add("parameters", self.stem() + ".json", self.parameters(self.uses_scores))
        self.add("odd parameters", self.stem() + ".json", self.parameters(not self.uses_scores))
        self.add("chromhmm", "model_3.txt", cases_import.model_text(*cases_import.SMALL))
        self.add("segway", "params.params", cases_segway.segway_text(subsegs=self.random.choice([1, 2])))

    # Tracks and scores -------------------------------------------------------------------------------------

    def row(self, columns):
        random = self.random
        return [random.choice([0, 0, 1, 2.5, random.random() * 9, -0.5 if self.uses_scores else 0.5]) for _ in range(columns)]

    def make_inputs(self):
        random = self.random
        columns = len(self.labels) if self.uses_scores else len(self.tracks)
        arrays = []
        for name, bins in self.chromosomes.items():
            rows = [self.row(columns) for _ in range(bins)]
            if random.random() < 0.15:
                rows[random.randrange(bins)][random.randrange(columns)] = random.choice([float("-inf"), float("nan"), 1e300, -1e9, 1e30])
            descr = random.choice(["<f4", "<f4", "<f8", ">f4", "<f2"])
            try:
                content = npy(rows, descr, order=random.random() < 0.2)
            except (OverflowError, struct.error):
                content = npy(rows, "<f8")
            arrays.append((name, content))
        self.array_arguments = []
        for name, content in arrays[:5]:
            self.array_arguments.append(name + "=" + self.add("array", self.stem() + ".npy", content))
        archive = self.stem() + ".npz"
        npz(self.folder / archive, [(name + ".npy", content) for name, content in arrays], compress=random.random() < 0.5)
        self.add("archive", archive, (self.folder / archive).read_bytes())
        self.bigwig_arguments = []
        for track in self.labels if self.uses_scores else self.tracks:
            if len(self.bigwig_arguments) == 20:
                break
            self.bigwig_arguments.append(track + "=" + self.add("bigwig", self.stem() + ".bw", self.bigwig_bytes()))
        sheet = "sample\ttrack\tpath\n" + "".join("s1\t%s\n" % argument.replace("=", "\t", 1) for argument in self.bigwig_arguments)
        self.add("sheet", "sheet.tsv", sheet)

    def bigwig_bytes(self):
        random, sections = self.random, []
        lengths = {name: bins * self.bin_size for name, bins in self.chromosomes.items()}
        for name, bins in self.chromosomes.items():
            values = [self.row(1)[0] for _ in range(bins)]
            if random.random() < 0.7:
                sections += bigwig.fixed_step(name, 0, self.bin_size, values)
            elif bins > 3:
                sections += bigwig.bedgraph(name, [(i * self.bin_size, (i + 1) * self.bin_size, v) for i, v in enumerate(values) if i % 4])
        path = self.folder / "temporary.bw"
        bigwig.write(path, lengths, sections or bigwig.fixed_step(name, 0, 1, [1.0]))
        content = path.read_bytes()
        path.unlink()
        return content

    def input_arguments(self):
        random = self.random
        kind = random.random()
        if kind < 0.35:
            chosen = list(self.bigwig_arguments)
        elif kind < 0.7:
            chosen = list(self.array_arguments)
        elif kind < 0.8:
            return ["--samples", self.pick("sheet")]
        else:
            chosen = [self.pick("archive")]
        if random.random() < 0.1:
            chosen[random.randrange(len(chosen))] = self.pick(random.choice(["array", "bigwig", "archive"]))
        if random.random() < 0.03:
            chosen += chosen[:1]
        return chosen

    # Intervals ---------------------------------------------------------------------------------------------

    def tiling(self, gaps=False):
        """Segments of all chromosomes as BED rows."""
        random, rows = self.random, []
        for name, bins in self.chromosomes.items():
            begin, last = 0, None
            while begin < bins:
                end = min(bins, begin + random.randint(1, 12))
                label = random.choice([one for one in self.labels if one != last] or self.labels)
                if not (gaps and random.random() < 0.3):
                    rows.append((name, begin * self.bin_size, end * self.bin_size, label, random.randint(0, 1000), "."))
                begin, last = end, label
        return rows or [("chr1", 0, self.bin_size, self.labels[0], 0, ".")]

    def interval(self):
        name = self.random.choice(list(self.chromosomes))
        length = self.chromosomes[name] * self.bin_size
        begin = self.random.randrange(length)
        return name, begin, self.random.randint(begin + 1, length)

    def region(self):
        name, begin, end = self.interval()
        return self.random.choice([name, "%s:%d-%d" % (name, begin + 1, end), "%s:%d-" % (name, begin + 1), "{%s}:%d-%d" % (name, begin + 1, end)])

    def make_intervals(self):
        random = self.random
        for gaps in (False, True):
            self.add("segments", self.stem() + ".bed", as_text(self.tiling(gaps)))
        self.add("regions", self.stem() + ".bed", as_text(sorted(self.interval() for _ in range(3))))
        self.add("annotation", self.stem() + ".bed", as_text([self.interval() + (random.choice(["g", "h"]), 0, random.choice("+-")) for _ in range(4)]))
        label = lambda: random.choice(self.labels)
        claims = [random.choice(["segment:%s", "label:%s", "within:%s", "starts:%s", "ends:%s", "boundary", "no-boundary"]) for _ in range(5)]
        self.add("claims", self.stem() + ".bed", as_text([self.interval() + (claim % label() if "%" in claim else claim,) for claim in claims]))
        constraints = [random.choice(["label:%s", "not:%s", "boundary", "no-boundary"]) for _ in range(random.randint(1, 3))]
        self.add("constraints", self.stem() + ".bed", as_text([self.interval() + (one % label() if "%" in one else one,) for one in constraints]))

    def make_texts(self):
        random = self.random
        sizes = list(self.chromosomes.items())
        random.shuffle(sizes)
        self.add("sizes", self.stem() + ".sizes", as_text((name, bins * self.bin_size) for name, bins in sizes))
        grid = '"ooTextFile"\n"TextGrid"\n0\n9\n<exists>\n1\n"IntervalTier" "t" 0 9\n2\n0 %g "%s" %g 9 "%s"\n' % (
            1.5, self.labels[0].replace('"', '""'), 1.5, self.labels[-1].replace('"', '""'))
        self.add("textgrid", self.stem() + ".TextGrid", grid)
        self.add("odd segments", self.stem() + ".tsv", "begin\tend\tlabel\n0\t0.5\t%s\n0.5\t1\t%s\n" % (self.labels[0], self.labels[-1]))
        (self.folder / "empty").write_bytes(b"")
        (self.folder / "folder").mkdir()
        os.symlink("nowhere", self.folder / "dangling")

    def make_reads(self):
        random = self.random
        reads = sorted(self.interval() for _ in range(random.choice([0, 3, 40])))
        self.add("reads", self.stem() + ".bed", as_text([one + ("r", 0, random.choice("+-")) for one in reads]))
        self.add("reads", self.stem() + ".sam", "".join("@SQ\tSN:%s\tLN:%d\n" % (name, bins * self.bin_size) for name, bins in self.chromosomes.items())
                 + as_text([("r", random.choice([0, 16, 99, 1024]), one[0], one[1] + 1, random.choice([0, 60]), "%dM" % min(50, one[2] - one[1]), "=", 1, 90, "*", "*")
                            for name in self.chromosomes for one in reads if one[0] == name]))
        self.add("cells", self.stem() + ".cells.tsv", random.choice(["", "barcode\tcluster\n"]) + as_text([("r", random.choice("ab")), ("q", "b")]))


# Changes of bytes: (random, content) -> content ----------------------------------------------------------------

def lines_changed(change):
    def changed(random, content):
        lines = content.split(b"\n")
        change(random, lines)
        return b"\n".join(lines)
    return changed


def number_replaced(random, content):
    import re
    found = list(re.finditer(rb"-?\d+(\.\d+)?", content[:20000]))
    if not found:
        return content + b"1"
    one = random.choice(found)
    return content[:one.start()] + random.choice(NUMBERS) + content[one.end():]


def flipped(random, content):
    content = bytearray(content or b"x")
    content[random.randrange(len(content))] ^= 1 << random.randrange(8)
    return bytes(content)


def put_in(piece):
    def changed(random, content):
        at = random.randrange(len(content) + 1)
        return content[:at] + piece + content[at:]
    return changed


MUTATIONS = [
    lambda random, content: b"",
    lambda random, content: b"\xef\xbb\xbf" + content,
    lambda random, content: content.replace(b"\n", b"\r\n"),
    lambda random, content: content.replace(b"\n", b"\r"),
    lambda random, content: content[:random.randrange(len(content) + 1)],
    lambda random, content: gzip.compress(content, mtime=0),
    lambda random, content: gzip.compress(content, mtime=0)[:-random.randint(1, 12)],
    lambda random, content: content + b"\n\n#end\ntrack\n",
    lambda random, content: content.replace(b"\t", b" "),
    lambda random, content: content.replace(b"\t", b"\t\t", 1),
    lambda random, content: content.decode("latin-1").encode("utf-16"),
    lambda random, content: content + b"y" * 100000,
    number_replaced, number_replaced, number_replaced, flipped, flipped,
    put_in(b"\xe9"), put_in(b"\0"), put_in(b"\x1b[31m"), put_in(b"\t"), put_in(b"\n"), put_in("é".encode()), put_in(b"A" * 3000), put_in(b"\""),
    lines_changed(lambda random, lines: lines.insert(random.randrange(len(lines) + 1), random.choice(lines))),
    lines_changed(lambda random, lines: lines.pop(random.randrange(len(lines)))),
    lines_changed(lambda random, lines: random.shuffle(lines)),
    lines_changed(lambda random, lines: lines.insert(0, b"track name=x")),
]
