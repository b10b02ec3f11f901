"""The two pictures of the speech experiment: posteriors of one sentence, and numbers over the iterations of training."""

import phones
import svg

LEFT, WIDTH = 190, 900
SHOWN = [("chain", "K = 1"), ("semi", "K = 30")]
FRAME_MS = 10


def strip(page, y, runs, frames, words):
    """Segments with their names, in two shades in turn."""
    page.text(LEFT - 8, y + 12, words, "end")
    for index, (phone, first, end) in enumerate(runs):
        left, width = LEFT + WIDTH * first / frames, WIDTH * (end - first) / frames
        page.rectangle(left, y, width, 16, ("#d9e8f3", "#f6e3d5")[index % 2])
        if width > 5 * len(phone):
            page.text(left + width / 2, y + 12, phone, "middle", 8)


def heat_map(page, y, posteriors, runs, words):
    """Label posteriors, a row per phone, the most sonorous on top; true boundaries as lines. The y below it."""
    row, frames = 7, len(posteriors)
    height = row * len(phones.PHONES)
    page.text(LEFT, y - 5, words, size=12)
    page.heat_map(LEFT, y, WIDTH, height, [[frame[phone] for frame in posteriors] for phone in phones.PHONES])
    top = y
    for name, members in phones.CLASSES:
        page.text(LEFT - 34, top + row * len(members) / 2 + 4, name, "end", 10)
        page.line([(LEFT - 30, top), (LEFT + WIDTH, top)], "#bbbbbb", 0.5)
        for n, phone in enumerate(members):
            page.text(LEFT - 4, top + row * (n + 1) - 1, phone, "end", 7)
        top += row * len(members)
    for _, first, _ in runs[1:]:
        x = LEFT + WIDTH * first / frames
        page.line([(x, y), (x, y + height)], "#d55e00", 0.6, dashed=True)
    return y + height


def sentence(text, truth, decoded, posteriors, boundaries):
    """SVG text. decoded, posteriors and boundaries by the names of SHOWN: runs; per frame {phone: P}; per frame P."""
    frames = len(boundaries[SHOWN[0][0]])
    page = svg.Picture(LEFT + WIDTH + 20, 870, "Label and boundary posteriors of one sentence")
    page.text(LEFT, 20, '"%s"' % text, size=13)
    strip(page, 32, truth, frames, "true phones")
    for index, (name, words) in enumerate(SHOWN):
        strip(page, 52 + 20 * index, decoded[name], frames, "best path, %s" % words)
    y = 112
    for name, words in SHOWN[::-1]:
        y = heat_map(page, y, posteriors[name], truth, "P(phone | sound), %s; dashed: true boundaries" % words) + 26
    panel = svg.Panel(page, (LEFT, y + 10, WIDTH, 110), (0, frames * FRAME_MS / 1000), (0, 1.05))
    panel.axes("P(a segment starts here)", "seconds")
    for _, first, _ in truth[1:]:
        panel.curve([(first * FRAME_MS / 1000, 0), (first * FRAME_MS / 1000, 1.05)], "#d55e00", dashed=True, dots=False)
    for color, (name, words) in zip((svg.COLORS[4], svg.COLORS[0]), SHOWN):
        panel.curve([((n + 0.5) * FRAME_MS / 1000, value) for n, value in enumerate(boundaries[name])], color, dots=False)
        page.text(LEFT - 8, y + (30 if name == "chain" else 90), words, "end", 11, color)
    return page.text_of_file()


def training(rows):
    """SVG text of rows {model, iterations, per, boundary_f1, segment_f1, h_bdy} of one corpus."""
    page = svg.Picture(1120, 260, "Numbers over the iterations of training")
    for column, (key, title) in enumerate([("per", "phone error rate"), ("boundary_f1", "boundary F1, exact"),
                                           ("segment_f1", "segment F1, exact"), ("h_bdy", "boundary entropy, nats")]):
        panel = svg.Panel(page, (60 + 270 * column, 60, 215, 150), (0.9, max(row["iterations"] for row in rows) * 1.1),
                          svg.span([row[key] for row in rows]), log_x=True)
        panel.axes(title, "iterations")
        for color, (name, _) in zip((svg.COLORS[4], svg.COLORS[0]), SHOWN):
            panel.curve(sorted((row["iterations"], row[key]) for row in rows if row["model"] == name), color)
    for index, (color, (_, words)) in enumerate(zip((svg.COLORS[4], svg.COLORS[0]), SHOWN)):
        page.line([(60 + 100 * index, 18), (90 + 100 * index, 18)], color)
        page.text(96 + 100 * index, 22, words)
    return page.text_of_file()
