"""True segments laid on bins, cut to at most K bins, and as constraints. Standard library only."""


def read_bins(path, bin_size, chromosomes):
    """(chromosome, first bin, end bin, label) of a BED file; ends go to the nearest bin edge, empty segments are left out."""
    with open(path) as file:
        fields = [line.split("\t") for line in file.read().splitlines() if line and not line.startswith("#")]
    segments = []
    for chromosome, begin, end, label in (row[:4] for row in fields if row[0] in chromosomes):
        first, stop = (int(base) + bin_size // 2 for base in (begin, end))
        if stop // bin_size > first // bin_size:
            segments.append((chromosome, first // bin_size, stop // bin_size, label))
    return segments


def cut(segments, longest):
    """The same with no segment above `longest` bins: a longer one becomes the fewest parts that are nearly equal."""
    parts = []
    for chromosome, first, end, label in segments:
        count = -(-(end - first) // longest)
        edges = [first + (end - first) * n // count for n in range(count + 1)]
        parts += [(chromosome, a, b, label) for a, b in zip(edges, edges[1:])]
    return parts


def write_bed(path, segments, bin_size, name="%s"):
    """BED with the label in `name` ("label:%s" makes constraints)."""
    with open(path, "w") as file:
        for chromosome, first, end, label in segments:
            file.write("%s\t%d\t%d\t%s\n" % (chromosome, first * bin_size, end * bin_size, name % label))


def within(segments, chromosome, first, end):
    """The segments that lie in bins [first, end) of a chromosome, cut there."""
    return [(name, max(a, first), min(b, end), label) for name, a, b, label in segments
            if name == chromosome and a < end and b > first]
