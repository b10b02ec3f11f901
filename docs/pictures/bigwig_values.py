"""Reads the values of a small bigWig file of one chromosome: [(first base, end, value)]."""

import pathlib
import struct
import sys
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests" / "support" / "files"))
import bigwig  # noqa: E402  pylint: disable=wrong-import-position


def leaves(data, node):
    """(offset, size) of the sections below a node of the index."""
    is_leaf, count = struct.unpack_from("<BxH", data, node)
    for i in range(count):
        if is_leaf:
            yield struct.unpack_from("<QQ", data, node + 4 + 32 * i + 16)
        else:
            yield from leaves(data, struct.unpack_from("<Q", data, node + 4 + 24 * i + 16)[0])


def values(path):
    data = path.read_bytes()
    index, = struct.unpack_from("<Q", data, 24)
    found = []
    for offset, size in leaves(data, index + 48):
        raw = zlib.decompress(data[offset:offset + size])
        chromosome, begin, end, step, span, kind, count = struct.unpack_from("<IIIIIBxH", raw)
        found += bigwig.section_intervals((chromosome, begin, end, step, span, kind, count, raw[24:]))
    return found
