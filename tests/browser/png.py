"""Pictures as PNG: reading 8-bit RGB and RGBA, writing RGB with few colours small. Standard library only."""

import struct
import zlib


def paeth(left, above, corner):
    guess = left + above - corner
    distances = (abs(guess - left), left), (abs(guess - above), above), (abs(guess - corner), corner)
    return min(distances, key=lambda pair: pair[0])[1]


def unfiltered(data, width, height, step):
    """Rows of bytes of the picture, by the filters of PNG."""
    stride, rows, before = width * step, [], bytearray(width * step)
    for y in range(height):
        kind, row = data[y * (stride + 1)], bytearray(data[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
        if kind == 1:
            for i in range(step, stride):
                row[i] = (row[i] + row[i - step]) & 255
        elif kind == 2:
            for i in range(stride):
                row[i] = (row[i] + before[i]) & 255
        elif kind == 3:
            for i in range(stride):
                row[i] = (row[i] + ((row[i - step] if i >= step else 0) + before[i]) // 2) & 255
        elif kind == 4:
            for i in range(stride):
                row[i] = (row[i] + paeth(row[i - step] if i >= step else 0, before[i], before[i - step] if i >= step else 0)) & 255
        rows.append(row)
        before = row
    return rows


def read(path):
    """(width, height, rows), a row being the bytes r, g, b of its pixels."""
    content = path.read_bytes()
    assert content[:8] == b"\x89PNG\r\n\x1a\n", path
    at, packed, palette = 8, b"", None
    while at < len(content):
        size, kind = struct.unpack_from(">I4s", content, at)
        body = content[at + 8:at + 8 + size]
        if kind == b"IHDR":
            width, height, depth, color, _, _, interlaced = struct.unpack(">IIBBBBB", body)
            assert depth == 8 and color in (2, 3, 6) and not interlaced, "%s: depth %d, colour type %d" % (path, depth, color)
        elif kind == b"PLTE":
            palette = body
        elif kind == b"IDAT":
            packed += body
        at += 12 + size
    step = {2: 3, 3: 1, 6: 4}[color]
    rows = unfiltered(zlib.decompress(packed), width, height, step)
    if color == 6:
        rows = [bytearray(b for i in range(0, len(row), 4) for b in row[i:i + 3]) for row in rows]
    elif color == 3:
        rows = [bytearray(b for i in row for b in palette[3 * i:3 * i + 3]) for row in rows]
    return width, height, rows


def chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def write(path, picture):
    """With a palette where there are at most 256 colours, else RGB."""
    width, height, rows = picture
    colors = {}
    for row in rows:
        for x in range(0, 3 * width, 3):
            colors.setdefault(bytes(row[x:x + 3]), len(colors))
    if len(colors) <= 256:
        data = b"".join(b"\0" + bytes(colors[bytes(row[x:x + 3])] for x in range(0, 3 * width, 3)) for row in rows)
        head, palette = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0), chunk(b"PLTE", b"".join(colors))
    else:
        data = b"".join(b"\0" + bytes(row) for row in rows)
        head, palette = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0), b""
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + palette + chunk(b"IDAT", zlib.compress(data, 9)) + chunk(b"IEND", b""))
