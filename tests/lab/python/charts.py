"""Whole charts from columns of numbers: curves with a legend, patterns of matrices, tables of shades. Each is SVG text."""

import svg

HEAT = (0xb2, 0x4f, 0x00)  # as the heat maps of `semicrf enrich`
MOST_DOTS = 40


def ends(values, log):
    """Of an axis. Linear ones begin at 0 where the values come near it."""
    low, high = min(values), max(values)
    if log:
        return low / 1.3, high * 1.3
    return svg.span([min(low, 0) if low < high / 3 else low, high])


def lines(title, x_name, y_name, series, log_x=False, log_y=False):
    """`series`: [(name, [(x, y)])]. Points with a value that the axis cannot show are left out."""
    shown = [(name, [(x, y) for x, y in points if (x > 0 or not log_x) and (y > 0 or not log_y)]) for name, points in series]
    shown = [(name, points) for name, points in shown if points]
    page = svg.Picture(760, 420, title)
    if not shown:
        page.text(74, 20, title + ": no points")
        return page.text_of_file()
    xs, ys = ([point[at] for _, points in shown for point in points] for at in (0, 1))
    panel = svg.Panel(page, (74, 34, 496, 334), ends(xs, log_x), ends(ys, log_y), log_x, log_y)
    panel.axes(title, x_name, y_name=y_name)
    for n, (name, points) in enumerate(shown):
        color, dashed = svg.COLORS[n % len(svg.COLORS)], n >= len(svg.COLORS)
        panel.curve(points, color, dashed, dots=len(points) <= MOST_DOTS)
        page.line([(582, 44 + 17 * n), (600, 44 + 17 * n)], color, 2, dashed)
        page.text(606, 48 + 17 * n, name)
    return page.text_of_file()


def runs(numbers):
    """[first, end) of the stretches of consecutive numbers."""
    found = []
    for number in sorted(numbers):
        if found and found[-1][1] == number:
            found[-1][1] = number + 1
        else:
            found.append([number, number + 1])
    return found


def patterns(title, panels, size=150):
    """`panels`: [(name, n, [(row, column)])], three side by side: n x n matrices, the entries that are there in blue."""
    across = min(3, len(panels))
    page = svg.Picture(26 + across * (size + 16), 60 + (len(panels) + 2) // 3 * (size + 34), title)
    page.text(10, 20, title, size=14)
    for at, (name, n, entries) in enumerate(panels):
        left, top, cell = 10 + at % 3 * (size + 16), 46 + at // 3 * (size + 34), size / n
        page.text(left + size / 2, top - 6, name, "middle")
        rows = {}
        for row, column in entries:
            rows.setdefault(row, []).append(column)
        for row, columns in sorted(rows.items()):
            for first, end in runs(columns):
                page.rectangle(left + first * cell, top + row * cell, (end - first) * cell, cell, svg.COLORS[0])
        page.line([(left, top), (left + size, top), (left + size, top + size), (left, top + size), (left, top)], "#000000", 1)
    return page.text_of_file()


def cells(title, x_name, y_name, x_values, y_values, values):
    """A table of {(x, y): value from 0 to 1}, shaded from white to brown, the values written into the cells."""
    width, height, left, top = 46, 22, 74, 40
    bottom, middle = top + len(y_values) * height, left + len(x_values) * width / 2
    page = svg.Picture(left + len(x_values) * width + 20, bottom + 48, title)
    page.text(left, 20, title, size=14)
    for row, y in enumerate(y_values):
        page.text(left - 6, top + row * height + 15, "%g" % y, "end")
        for column, x in enumerate(x_values):
            if (x, y) in values:
                page.rectangle(left + column * width, top + row * height, width, height, "#%02x%02x%02x" % svg.shade(values[x, y], HEAT))
                page.text(left + column * width + width / 2, top + row * height + 15, "%.2f" % values[x, y], "middle", 10)
    for column, x in enumerate(x_values):
        page.text(left + column * width + width / 2, bottom + 15, "%g" % x, "middle")
    page.text(middle, bottom + 34, x_name, "middle", 12)
    page.text(18, (top + bottom) / 2, y_name, "middle", 12, turn=-90)
    return page.text_of_file()
