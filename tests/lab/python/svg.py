"""Pictures as SVG text: panels with axes and curves, strips of segments, heat maps. Standard library only.

A Picture is a list of SVG elements; a Panel is a rectangle of it with scales of its own. Colours stay apart under
colour blindness.
"""

import base64
import math
import struct
import zlib

COLORS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"]


def escaped(words):
    return str(words).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


class Picture:
    def __init__(self, width, height, title):
        self.width, self.height, self.title, self.parts = width, height, title, []

    def add(self, element):
        self.parts.append(element)

    def text(self, x, y, words, anchor="start", size=11, color="#000000", turn=0):
        turned = ' transform="rotate(%d %.1f %.1f)"' % (turn, x, y) if turn else ""
        self.add('<text x="%.1f" y="%.1f" text-anchor="%s" font-size="%d" fill="%s"%s>%s</text>'
                 % (x, y, anchor, size, color, turned, escaped(words)))

    def rectangle(self, x, y, width, height, fill):
        self.add('<rect x="%.2f" y="%.2f" width="%.2f" height="%.2f" fill="%s"/>' % (x, y, width, height, fill))

    def line(self, points, color, width=1.5, dashed=False):
        self.add('<path d="M%s" fill="none" stroke="%s" stroke-width="%g"%s/>'
                 % ("L".join("%.1f %.1f" % point for point in points), color, width,
                    ' stroke-dasharray="5 3"' if dashed else ""))

    def heat_map(self, x, y, width, height, values):
        """Rows of numbers from 0 to 1, the first row on top, white to dark blue; stored as a PNG of a pixel per number."""
        self.add('<image x="%.1f" y="%.1f" width="%.1f" height="%.1f" preserveAspectRatio="none" '
                 'style="image-rendering:pixelated" href="data:image/png;base64,%s"/>'
                 % (x, y, width, height, base64.b64encode(png(values)).decode()))

    def text_of_file(self):
        return ('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" role="img">\n'
                '<title>%s</title>\n<rect width="100%%" height="100%%" fill="#ffffff"/>\n%s\n</svg>\n'
                % (self.width, self.height, escaped(self.title), "\n".join(self.parts)))


def png(values):
    """A PNG with a colour per value from 0 (white) to 1 (dark blue)."""
    def color(value):
        value = math.sqrt(min(max(value, 0.0), 1.0))  # so that small probabilities can be seen
        return bytes((round(255 - 247 * value), round(255 - 207 * value), round(255 - 148 * value)))

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    rows = b"".join(b"\0" + b"".join(map(color, row)) for row in values)
    header = struct.pack(">IIBBBBB", len(values[0]), len(values), 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b"")


def nice_step(span, parts=6):
    """1, 2 or 5 times a power of ten: about `parts` steps in `span`."""
    rough = span / parts
    power = 10 ** math.floor(math.log10(rough))
    return next(step * power for step in (1, 2, 5, 10) if rough <= step * power * 1.0001)


class Panel:
    """Axes from (x0, x1) and (y0, y1), logarithmic where asked for, in the rectangle left, top, width, height."""

    def __init__(self, picture, box, xs, ys, log_x=False, log_y=False):
        self.picture, (self.left, self.top, self.width, self.height) = picture, box
        self.xs, self.ys, self.log_x, self.log_y = xs, ys, log_x, log_y

    @staticmethod
    def share(value, ends, log):
        low, high = map(math.log, ends) if log else ends
        return ((math.log(value) if log else value) - low) / (high - low)

    def x(self, value):
        return self.left + self.width * self.share(value, self.xs, self.log_x)

    def y(self, value):
        return self.top + self.height * (1 - self.share(value, self.ys, self.log_y))

    def ticks(self, ends, log):
        if log:
            powers = [10.0 ** n for n in range(math.floor(math.log10(ends[0])), math.ceil(math.log10(ends[1])) + 1)]
            parts = (1,) if ends[1] >= 100 * ends[0] else (1, 2, 5)
            steps = [power * part for power in powers for part in parts]
            return [value for value in steps if ends[0] * 0.999 <= value <= ends[1] * 1.001]
        step = nice_step(ends[1] - ends[0])
        return [n * step for n in range(math.ceil(ends[0] / step - 1e-9), math.floor(ends[1] / step + 1e-9) + 1)]

    def axes(self, title, x_name, x_ticks=None):
        self.picture.text(self.left, self.top - 8, title, size=12)
        for value in self.ticks(self.ys, self.log_y):
            self.picture.line([(self.left, self.y(value)), (self.left + self.width, self.y(value))], "#dddddd", 1)
            self.picture.text(self.left - 5, self.y(value) + 4, "%g" % value, "end", 10)
        for value in x_ticks or self.ticks(self.xs, self.log_x):
            self.picture.text(self.x(value), self.top + self.height + 14, "%g" % value, "middle", 10)
        bottom = self.top + self.height
        self.picture.line([(self.left, bottom), (self.left + self.width, bottom)], "#000000", 1)
        self.picture.text(self.left + self.width / 2, bottom + 28, x_name, "middle", 11)

    def curve(self, points, color, dashed=False, dots=True):
        places = [(self.x(x), self.y(y)) for x, y in points]
        if len(places) > 1:
            self.picture.line(places, color, dashed=dashed)
        for x, y in places if dots else []:
            self.picture.add('<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>' % (x, y, color))


def span(values, room=0.06):
    """Ends of an axis that leave some room around the values."""
    low, high = min(values), max(values)
    edge = (high - low) * room or abs(high) * room or 1.0
    return low - edge, high + edge
