"""What bigWig and bigBed files hold, by a plain account of their bytes."""

import struct
import zlib

from harness import check

BIGWIG, BIGBED = 0x888FFC26, 0x8789F2EB


def opened(content, magic):
    """({id: (chromosome, length)}, unpacked data blocks, number before the data, header)."""
    keys = ("magic", "version", "zooms", "tree", "data", "index", "fields", "defined", "columns", "summary", "largest")
    header = dict(zip(keys, struct.unpack_from("<IHHQQQHHQQI", content, 0)))
    check(header["magic"] == magic and header["version"] == 4 and content[-4:] == content[:4] and header["tree"] < header["data"] < header["index"], "header")
    _, _, key, _, count, _ = struct.unpack_from("<IIIIQQ", content, header["tree"])
    names = {}
    at = header["tree"] + 32
    check(content[at] == 1, "the tree has one node")
    for i in range(struct.unpack_from("<H", content, at + 2)[0]):
        name, number, length = struct.unpack_from("<%dsII" % key, content, at + 4 + i * (key + 8))
        names[number] = (name.rstrip(b"\0").decode(), length)
    check(len(names) == count, "%d chromosomes" % count)
    blocks, rest = [], content[header["data"] + 8:header["index"]]
    while rest:
        stream = zlib.decompressobj()
        blocks.append(stream.decompress(rest))
        rest = stream.unused_data
    return names, blocks, struct.unpack_from("<Q", content, header["data"])[0], header


def joined(intervals):
    """Touching intervals of one value as one."""
    found = []
    for chromosome, begin, end, value in intervals:
        if found and found[-1][0] == chromosome and found[-1][2] == begin and found[-1][3] == value:
            begin = found.pop()[1]
        found.append((chromosome, begin, end, value))
    return found


def bigwig_intervals(content):
    """(chromosome, begin, end, value) of all data sections, touching ones of one value as one; the number of zoom levels."""
    names, blocks, count, header = opened(content, BIGWIG)
    check(len(blocks) == count, "%d sections" % count)
    found = []
    for block in blocks:
        chrom, begin, _, step, _, kind, _, items = struct.unpack_from("<IIIIIBBH", block, 0)
        for i in range(items):
            if kind == 3:
                found.append((names[chrom][0], begin + i * step, min(names[chrom][1], begin + (i + 1) * step), struct.unpack_from("<f", block, 24 + 4 * i)[0]))
            else:
                start, end, value = struct.unpack_from("<IIf", block, 24 + 12 * i)
                found.append((names[chrom][0], start, end, value))
    return joined(found), header["zooms"]


def bigbed_lines(content, bed_columns=9):
    """The lines that BED would have; the autoSql text; the list of chromosomes; the number of zoom levels."""
    names, blocks, count, header = opened(content, BIGBED)
    lines = []
    for block in blocks:
        at = 0
        while at < len(block):
            chrom, begin, end = struct.unpack_from("<III", block, at)
            stop = block.index(b"\0", at + 12)
            lines.append("\t".join([names[chrom][0], str(begin), str(end), block[at + 12:stop].decode()]))
            at = stop + 1
    check(len(lines) == count, "%d intervals" % count)
    text = content[header["columns"]:content.index(b"\0", header["columns"])].decode()
    columns = [line.split(";")[0].split()[-1] for line in text.splitlines() if ";" in line]
    check(header["defined"] == bed_columns and header["fields"] == len(columns), "%r, %r" % (header, columns))
    check(not lines or lines[0].count("\t") + 1 == len(columns), "%r has other columns than %r" % (lines[:1], columns))
    return lines, text, [names[number] for number in sorted(names)], header["zooms"]


def index_leaves(content, at):
    """(chromosome, begin, last chromosome, end, offset, bytes) of the blocks of the index at `at`, from left to right."""
    check(struct.unpack_from("<I", content, at)[0] == 0x2468ACE0, "no index")
    leaves, nodes = [], [at + 48]
    while nodes:
        node = nodes.pop(0)
        is_leaf, _, count = struct.unpack_from("<BBH", content, node)
        for i in range(count):
            if is_leaf:
                leaves.append(struct.unpack_from("<IIIIQQ", content, node + 4 + 32 * i))
            else:
                nodes.append(struct.unpack_from("<IIIIQ", content, node + 4 + 24 * i)[4])
    return leaves


def zoom_levels(content):
    """Of each level: its reduction, its number of blocks, and the records (chromosome, begin, end, bases covered, sum)."""
    levels = []
    for level in range(struct.unpack_from("<H", content, 6)[0]):
        reduction, _, data, index = struct.unpack_from("<IIQQ", content, 64 + 24 * level)
        records, leaves = [], index_leaves(content, index)
        for chromosome, begin, last, end, offset, size in leaves:
            block = zlib.decompress(content[offset:offset + size])
            found = [struct.unpack_from("<IIIIffff", block, at) for at in range(0, len(block), 32)]
            check((chromosome, begin) == found[0][:2] and (last, end) == (found[-1][0], found[-1][2]), "an index that has not what its block has")
            records += [(record[0], record[1], record[2], record[3], record[6]) for record in found]
        check(len(records) == struct.unpack_from("<I", content, data)[0], "%d records" % len(records))
        levels.append((reduction, len(leaves), records))
    return levels
