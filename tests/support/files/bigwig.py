"""A small bigWig reader and writer for test data. Standard library only; little-endian files, no zoom levels.

write(path, chromosomes, sections) takes sections ready made, so that tests can also write files with errors in them.
"""

import struct
import zlib

MAGIC = 0x888FFC26
CHROMOSOME_TREE_MAGIC = 0x78CA8C91
INDEX_MAGIC = 0x2468ACE0
BEDGRAPH, VARIABLE_STEP, FIXED_STEP = 1, 2, 3
ITEMS_PER_SECTION = 1024
INDEX_FANOUT = 64


def fixed_step(chromosome, start, step, values, span=None):
    """Sections for values[i] over [start + i*step, start + i*step + span)."""
    span = step if span is None else span
    sections = []
    for first in range(0, len(values), ITEMS_PER_SECTION):
        part = values[first:first + ITEMS_PER_SECTION]
        begin = start + first * step
        end = begin + (len(part) - 1) * step + span
        body = struct.pack("<%df" % len(part), *part)
        sections.append((chromosome, begin, end, step, span, FIXED_STEP, len(part), body))
    return sections


def variable_step(chromosome, span, items):
    """Sections for (start, value) items, each over [start, start + span)."""
    sections = []
    for first in range(0, len(items), ITEMS_PER_SECTION):
        part = items[first:first + ITEMS_PER_SECTION]
        body = b"".join(struct.pack("<If", *item) for item in part)
        sections.append((chromosome, part[0][0], part[-1][0] + span, 0, span, VARIABLE_STEP, len(part), body))
    return sections


def bedgraph(chromosome, items):
    """Sections for (start, end, value) items."""
    sections = []
    for first in range(0, len(items), ITEMS_PER_SECTION):
        part = items[first:first + ITEMS_PER_SECTION]
        body = b"".join(struct.pack("<IIf", *item) for item in part)
        sections.append((chromosome, part[0][0], part[-1][1], 0, 0, BEDGRAPH, len(part), body))
    return sections


def section_intervals(section):
    """The (start, end, value) triples of one section tuple."""
    _, begin, _, step, span, kind, count, body = section
    if kind == BEDGRAPH:
        return [struct.unpack_from("<IIf", body, 12 * i) for i in range(count)]
    if kind == VARIABLE_STEP:
        items = [struct.unpack_from("<If", body, 8 * i) for i in range(count)]
        return [(start, start + span, value) for start, value in items]
    values = struct.unpack_from("<%df" % count, body)
    return [(begin + i * step, begin + i * step + span, value) for i, value in enumerate(values)]


def _chromosome_tree(names, chromosomes):
    """One leaf: names in order, ids as they come."""
    key_size = max((len(name) for name in names), default=1)
    out = struct.pack("<IIIIQQ", CHROMOSOME_TREE_MAGIC, max(1, len(names)), key_size, 8, len(names), 0)
    out += struct.pack("<BBH", 1, 0, len(names))
    return out + b"".join(name.encode().ljust(key_size, b"\0") + struct.pack("<II", number, chromosomes[name]) for number, name in enumerate(names))


def _index(leaves, offset, end_of_data):
    """The R-tree over leaves (chromosome id, begin, end, data offset, size), to be placed at `offset`."""
    levels = [[leaves[i:i + INDEX_FANOUT] for i in range(0, len(leaves), INDEX_FANOUT)] or [[]]]
    while len(levels[0]) > 1:
        below = levels[0]
        levels.insert(0, [list(range(i, min(i + INDEX_FANOUT, len(below)))) for i in range(0, len(below), INDEX_FANOUT)])
    leaf_level = len(levels) - 1

    def bounds(level, node):
        items = levels[level][node]
        if level == leaf_level:
            if not items:
                return (0, 0, 0, 0)
            return items[0][0], items[0][1], items[-1][0], items[-1][2]
        first, last = bounds(level + 1, items[0]), bounds(level + 1, items[-1])
        return first[0], first[1], last[2], last[3]

    sizes = [[4 + len(items) * (32 if level == leaf_level else 24) for items in nodes] for level, nodes in enumerate(levels)]
    starts, position = [], offset + 48
    for level_sizes in sizes:
        starts.append([])
        for size in level_sizes:
            starts[-1].append(position)
            position += size
    out = struct.pack("<IIQIIIIQII", INDEX_MAGIC, INDEX_FANOUT, len(leaves), *bounds(0, 0), end_of_data, ITEMS_PER_SECTION, 0)
    for level, nodes in enumerate(levels):
        for items in nodes:
            out += struct.pack("<BBH", level == leaf_level, 0, len(items))
            for item in items:
                if level == leaf_level:
                    number, begin, end, where, size = item
                    out += struct.pack("<IIIIQQ", number, begin, number, end, where, size)
                else:
                    out += struct.pack("<IIIIQ", *bounds(level + 1, item), starts[level + 1][item])
    return out


def _summary(sections):
    covered, low, high, total, squares = 0, None, None, 0.0, 0.0
    for section in sections:
        for start, end, value in section_intervals(section):
            covered += max(0, end - start)
            low = value if low is None else min(low, value)
            high = value if high is None else max(high, value)
            total += value * (end - start)
            squares += value * value * (end - start)
    return struct.pack("<Qdddd", covered, low or 0.0, high or 0.0, total, squares)


def write(path, chromosomes, sections, compress=True):
    """chromosomes: {name: length}, ids in sorted order; sections from fixed_step, variable_step or bedgraph."""
    names = sorted(chromosomes)
    numbers = {name: number for number, name in enumerate(names)}
    sections = sorted(sections, key=lambda section: (numbers[section[0]], section[1]))
    tree = _chromosome_tree(names, chromosomes)
    summary_offset = 64
    tree_offset = summary_offset + 40
    data_offset = tree_offset + len(tree)
    blocks, end_of_data = [struct.pack("<Q", len(sections))], data_offset + 8
    leaves, largest = [], 0
    for chromosome, begin, end, step, span, kind, count, body in sections:
        number = numbers[chromosome]
        block = struct.pack("<IIIIIBBH", number, begin, end, step, span, kind, 0, count) + body
        largest = max(largest, len(block))
        if compress:
            block = zlib.compress(block, 9)
        leaves.append((number, begin, end, end_of_data, len(block)))
        blocks.append(block)
        end_of_data += len(block)
    index_offset = end_of_data
    header = struct.pack("<IHHQQQHHQQIQ", MAGIC, 4, 0, tree_offset, data_offset, index_offset, 0, 0, 0, summary_offset,
                         largest if compress else 0, 0)
    with open(path, "wb") as out:
        out.write(header + _summary(sections) + tree + b"".join(blocks))
        out.write(_index(leaves, index_offset, index_offset))
        out.write(struct.pack("<I", MAGIC))


class Reader:
    """Reads what write() and most other writers produce: chromosomes and the intervals of one chromosome."""

    def __init__(self, path):
        with open(path, "rb") as source:
            self.data = source.read()
        fields = struct.unpack_from("<IHHQQQHHQQIQ", self.data, 0)
        if fields[0] != MAGIC:
            raise ValueError("%s: not a little-endian bigWig" % path)
        self.index_offset, self.compressed = fields[5], fields[10] > 0
        self.chromosomes, self.numbers = {}, {}
        key_size = struct.unpack_from("<I", self.data, fields[3] + 8)[0]
        self._read_tree(fields[3] + 32, key_size)

    def _read_tree(self, offset, key_size):
        is_leaf, _, count = struct.unpack_from("<BBH", self.data, offset)
        for i in range(count):
            item = offset + 4 + i * (key_size + 8)
            if not is_leaf:
                self._read_tree(struct.unpack_from("<Q", self.data, item + key_size)[0], key_size)
                continue
            name = self.data[item:item + key_size].rstrip(b"\0").decode()
            self.numbers[name], self.chromosomes[name] = struct.unpack_from("<II", self.data, item + key_size)

    def _leaves(self, offset, number):
        is_leaf, _, count = struct.unpack_from("<BBH", self.data, offset)
        for i in range(count):
            if is_leaf:
                first, _, last, _, where, size = struct.unpack_from("<IIIIQQ", self.data, offset + 4 + 32 * i)
            else:
                first, _, last, _, where = struct.unpack_from("<IIIIQ", self.data, offset + 4 + 24 * i)
            if not first <= number <= last:
                continue
            if is_leaf:
                yield where, size
            else:
                yield from self._leaves(where, number)

    def intervals(self, chromosome):
        """All (start, end, value) of a chromosome in file order."""
        number = self.numbers[chromosome]
        found = []
        for where, size in self._leaves(self.index_offset + 48, number):
            block = self.data[where:where + size]
            if self.compressed:
                block = zlib.decompress(block)
            owner, begin, end, step, span, kind, _, count = struct.unpack_from("<IIIIIBBH", block, 0)
            if owner == number:
                found += section_intervals((chromosome, begin, end, step, span, kind, count, block[24:]))
        return found
