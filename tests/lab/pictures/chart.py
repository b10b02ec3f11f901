"""Whole pictures from columns of numbers, by tests/lab/python/svg.py: lines with their names, dots of patterns, tables of
cells. Standard library."""

import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "python"))
import svg  # noqa: E402

COLORS = svg.COLORS + ["#a6761d", "#000000", "#7f7f7f", "#5e3c99", "#b24f00", "#80b1d3"]
HEAT = (0xb2, 0x4f, 0x00)  # the dark end of heat maps, as of `semicrf enrich`
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 760, 420, 74, 190, 42, 52


def ends(values, logarithmic):
    """Of an axis: whole powers of ten, or from zero where that is not far away."""
    low, high = min(values), max(values)
    if logarithmic:
        low, high = 10.0 ** math.floor(math.log10(low)), 10.0 ** math.ceil(math.log10(high))
        return low, high if high > low else low * 10
    if low == high:
        return low, low + 1
    return min(low, 0) if low < high / 3 else low, high


def lines(title, x_name, y_name, series, log_x=False, log_y=False):
    """`series`: [(name, [(x, y)])]. Points with a value that the axis cannot show are left out."""
    series = [(name, [(x, y) for x, y in points if (x > 0 or not log_x) and (y > 0 or not log_y)]) for name, points in series]
    series = [(name, points) for name, points in series if points]
    picture = svg.Picture(WIDTH, HEIGHT, title)
    panel = svg.Panel(picture, (LEFT, TOP, WIDTH - RIGHT - LEFT, HEIGHT - BOTTOM - TOP),
                      ends([x for _, points in series for x, _ in points], log_x),
                      ends([y for _, points in series for _, y in points], log_y), log_x, log_y)
    panel.axes(title, x_name)
    picture.text(16, (TOP + HEIGHT - BOTTOM) / 2, y_name, "middle", 11, turn=-90)
    for n, (name, points) in enumerate(series):
        color, dashed = COLORS[n % len(COLORS)], n >= len(COLORS)
        panel.curve(points, color, dashed, dots=len(points) <= 40)
        y = TOP + 14 + 17 * n
        picture.line([(WIDTH - RIGHT + 12, y - 4), (WIDTH - RIGHT + 30, y - 4)], color, 2, dashed)
        picture.text(WIDTH - RIGHT + 36, y, name)
    return picture.text_of_file()


def bars(title, x_name, groups):
    """`groups`: [(name, [(row, value > 0)])], a colour each; a bar per row and group on a logarithmic axis."""
    rows = list(dict.fromkeys(row for _, values in groups for row, _ in values))
    numbers = [value for _, values in groups for _, value in values]
    left, thick, gap, top = 150, 13, 8, 56
    step = thick * len(groups) + gap
    picture = svg.Picture(WIDTH, top + step * len(rows) + BOTTOM, title)
    low, high = ends(numbers, True)
    width = (WIDTH - left - 90) / math.log10(high / low)
    picture.text(left, 20, title, size=14)
    for n, (name, values) in enumerate(groups):
        picture.rectangle(left + 190 * n, 30, 10, 10, COLORS[n])
        picture.text(left + 190 * n + 15, 39, name)
        for row, value in values:
            y = top + step * rows.index(row) + gap / 2 + thick * n
            picture.rectangle(left, y, width * math.log10(value / low), thick - 2, COLORS[n])
            picture.text(left + width * math.log10(value / low) + 4, y + thick - 3, "%.3g" % value if value < 1000 else "{:,.0f}".format(value), size=9)
    for at, row in enumerate(rows):
        picture.text(left - 6, top + step * at + step / 2 + 4, row, "end")
    power = low
    while power <= high:
        x = left + width * math.log10(power / low)
        picture.line([(x, top + step * len(rows)), (x, top + step * len(rows) + 4)], "#000000", 1)
        picture.text(x, top + step * len(rows) + 17, "%g" % power, "middle", 10)
        power *= 10
    picture.text(left + (WIDTH - left - 90) / 2, top + step * len(rows) + 36, x_name, "middle", 12)
    return picture.text_of_file()


def patterns(title, panels, size=150):
    """`panels`: [(name, n, [(row, column)])], three side by side, entries blue."""
    picture = svg.Picture(26 + min(3, len(panels)) * (size + 16), 60 + (len(panels) + 2) // 3 * (size + 34), title)
    picture.text(10, 20, title, size=14)
    for at, (name, n, entries) in enumerate(panels):
        left, top, cell = 10 + at % 3 * (size + 16), 46 + at // 3 * (size + 34), size / n
        picture.text(left + size / 2, top - 6, name, "middle")
        rows = {}
        for row, column in entries:
            rows.setdefault(row, []).append(column)
        for row, columns in sorted(rows.items()):
            columns.sort()
            begin = before = columns[0]
            for column in columns[1:] + [None]:
                if column is None or column != before + 1:
                    picture.rectangle(left + begin * cell, top + row * cell, (before + 1 - begin) * cell, cell, COLORS[0])
                    begin = column
                before = column
        corners = [(left, top), (left + size, top), (left + size, top + size), (left, top + size), (left, top)]
        picture.line(corners, "#000000", 1)
    return picture.text_of_file()


def cells(title, x_name, y_name, x_values, y_values, values):
    """A heat map of {(x, y): value in 0..1}, the values written into the cells."""
    width, height, left, top = 46, 22, 74, 40
    bottom = top + len(y_values) * height
    picture = svg.Picture(left + len(x_values) * width + 20, bottom + 48, title)
    picture.text(left, 20, title, size=14)
    for row, y in enumerate(y_values):
        picture.text(left - 6, top + row * height + 15, "%g" % y, "end")
        for column, x in enumerate(x_values):
            if (x, y) not in values:
                continue
            share = min(1, max(0, values[x, y]))
            color = "#%02x%02x%02x" % tuple(round(255 + (end - 255) * share) for end in HEAT)
            picture.rectangle(left + column * width, top + row * height, width, height, color)
            picture.text(left + column * width + width / 2, top + row * height + 15, "%.2f" % values[x, y], "middle", 10)
    for column, x in enumerate(x_values):
        picture.text(left + column * width + width / 2, bottom + 15, "%g" % x, "middle")
    picture.text(left + len(x_values) * width / 2, bottom + 34, x_name, "middle", 12)
    picture.text(18, (top + bottom) / 2, y_name, "middle", 12, turn=-90)
    return picture.text_of_file()
