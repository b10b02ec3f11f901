"""Charts as SVG from columns of numbers: lines on linear or logarithmic axes, dots for patterns. Standard library."""

import math

# The colours of labels in data/demo.params.json, without the light grey; heat maps go from white to HEAT, as those of
# `semicrf enrich` do.
COLOURS = ["#0072b2", "#d55e00", "#009e73", "#e69f00", "#56b4e9", "#cc79a7", "#a6761d", "#000000", "#7f7f7f", "#5e3c99",
           "#b24f00", "#80b1d3"]
HEAT = (0xb2, 0x4f, 0x00)
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 760, 420, 74, 190, 34, 52


def escape(words):
    return words.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def text(x, y, words, anchor="middle", size=12):
    return '<text x="%.1f" y="%.1f" text-anchor="%s" font-size="%d">%s</text>' % (x, y, anchor, size, escape(words))


def document(width, height, title, parts):
    return ('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" role="img">\n'
            '<title>%s</title>\n<rect width="100%%" height="100%%" fill="#ffffff"/>\n%s\n</svg>\n'
            % (width, height, escape(title), "\n".join(parts)))


class Axis:
    def __init__(self, values, low, high, logarithmic):
        self.logarithmic, self.low, self.high = logarithmic, low, high
        self.first, self.last = min(values), max(values)
        if logarithmic:
            self.first, self.last = 10 ** math.floor(math.log10(self.first)), 10 ** math.ceil(math.log10(self.last))
            if self.first == self.last:
                self.last *= 10
        elif self.first == self.last:
            self.last = self.first + 1
        else:
            self.first, self.last = min(self.first, 0) if self.first < self.last / 3 else self.first, self.last

    def place(self, value):
        if self.logarithmic:
            share = math.log(value / self.first) / math.log(self.last / self.first)
        else:
            share = (value - self.first) / (self.last - self.first)
        return self.low + share * (self.high - self.low)

    def ticks(self):
        if self.logarithmic:
            decades = round(math.log10(self.last / self.first))
            step = max(1, decades // 8)
            return [self.first * 10 ** n for n in range(0, decades + 1, step)]
        size = 10 ** math.floor(math.log10((self.last - self.first) / 4))
        size *= next(n for n in (1, 2, 5, 10) if (self.last - self.first) / (n * size) <= 6)
        first = math.ceil(self.first / size)
        return [n * size for n in range(first, math.floor(self.last / size + 1e-9) + 1)]


def lines(title, x_name, y_name, series, log_x=False, log_y=False):
    """`series`: [(name, [(x, y)])]. Points with a value that the axis cannot show are left out."""
    series = [(name, [(x, y) for x, y in points if (x > 0 or not log_x) and (y > 0 or not log_y)]) for name, points in series]
    series = [(name, points) for name, points in series if points]
    x_axis = Axis([x for _, points in series for x, _ in points], LEFT, WIDTH - RIGHT, log_x)
    y_axis = Axis([y for _, points in series for _, y in points], HEIGHT - BOTTOM, TOP, log_y)
    parts = [text(LEFT, 20, title, "start", 14)]
    for tick in y_axis.ticks():
        y = y_axis.place(tick)
        parts.append('<path d="M%d %.1fH%d" stroke="#dddddd"/>' % (LEFT, y, WIDTH - RIGHT))
        parts.append(text(LEFT - 6, y + 4, "%g" % tick, "end", 11))
    for tick in x_axis.ticks():
        x = x_axis.place(tick)
        parts.append('<path d="M%.1f %dv5" stroke="#000000"/>' % (x, HEIGHT - BOTTOM))
        parts.append(text(x, HEIGHT - BOTTOM + 18, "%g" % tick, size=11))
    parts.append('<path d="M%d %dV%dH%d" stroke="#000000" fill="none"/>' % (LEFT, TOP, HEIGHT - BOTTOM, WIDTH - RIGHT))
    parts.append(text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 14, x_name))
    parts.append('<g transform="translate(16 %d) rotate(-90)">%s</g>' % ((TOP + HEIGHT - BOTTOM) / 2, text(0, 0, y_name)))
    for n, (name, points) in enumerate(series):
        colour = COLOURS[n % len(COLOURS)]
        dash = ' stroke-dasharray="5 3"' if n >= len(COLOURS) else ""
        where = " ".join("%.1f,%.1f" % (x_axis.place(x), y_axis.place(y)) for x, y in points)
        parts.append('<polyline points="%s" fill="none" stroke="%s" stroke-width="1.6"%s/>' % (where, colour, dash))
        if len(points) <= 40:
            parts += ['<circle cx="%.1f" cy="%.1f" r="2.4" fill="%s"/>' % (x_axis.place(x), y_axis.place(y), colour)
                      for x, y in points]
        y = TOP + 14 + 17 * n
        parts.append('<path d="M%d %dh18" stroke="%s" stroke-width="2"%s/>' % (WIDTH - RIGHT + 12, y - 4, colour, dash))
        parts.append(text(WIDTH - RIGHT + 36, y, name, "start", 11))
    return document(WIDTH, HEIGHT, title, parts)


def patterns(title, panels, size=150):
    """`panels`: [(name, n, [(row, column)])], side by side, entries black."""
    parts = [text(10, 20, title, "start", 14)]
    for at, (name, n, entries) in enumerate(panels):
        left, top, cell = 10 + at % 3 * (size + 16), 46 + at // 3 * (size + 34), size / n
        parts.append(text(left + size / 2, top - 6, name, size=11))
        rows = {}
        for row, column in entries:
            rows.setdefault(row, []).append(column)
        for row, columns in sorted(rows.items()):
            columns.sort()
            begin = before = columns[0]
            for column in columns[1:] + [None]:
                if column is None or column != before + 1:
                    parts.append('<rect x="%.2f" y="%.2f" width="%.2f" height="%.2f" fill="#0072b2"/>'
                                 % (left + begin * cell, top + row * cell, (before + 1 - begin) * cell, cell))
                    begin = column
                before = column
        parts.append('<rect x="%.1f" y="%.1f" width="%d" height="%d" fill="none" stroke="#000000"/>' % (left, top, size, size))
    return document(26 + min(3, len(panels)) * (size + 16), 60 + (len(panels) + 2) // 3 * (size + 34), title, parts)


def cells(title, x_name, y_name, x_values, y_values, values):
    """A heat map of {(x, y): value in 0..1}, white to blue, the values written into the cells."""
    width, height, left, top = 46, 22, 74, 40
    parts = [text(left, 20, title, "start", 14)]
    for row, y in enumerate(y_values):
        parts.append(text(left - 6, top + row * height + 15, "%g" % y, "end", 11))
        for column, x in enumerate(x_values):
            if (x, y) not in values:
                continue
            share = min(1, max(0, values[x, y]))
            colour = "#%02x%02x%02x" % tuple(round(255 + (end - 255) * share) for end in HEAT)
            parts.append('<rect x="%d" y="%d" width="%d" height="%d" fill="%s"/>' % (left + column * width, top + row * height, width, height, colour))
            parts.append(text(left + column * width + width / 2, top + row * height + 15, "%.2f" % values[x, y], size=10))
    bottom = top + len(y_values) * height
    for column, x in enumerate(x_values):
        parts.append(text(left + column * width + width / 2, bottom + 15, "%g" % x, size=11))
    parts.append(text(left + len(x_values) * width / 2, bottom + 34, x_name))
    parts.append('<g transform="translate(18 %d) rotate(-90)">%s</g>' % ((top + bottom) / 2, text(0, 0, y_name)))
    return document(left + len(x_values) * width + 20, bottom + 48, title, parts)
