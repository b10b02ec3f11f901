#!/usr/bin/env python3
"""Shows the hub of a run in a genome browser: IGV.js in headless Chromium, at three zoom levels.

usage: show_hub.py --program SEMICRF --packages FOLDER [--update] [--keep FOLDER]

The files are served from the loopback interface with range requests. The pictures must have the colours of the labels
and be docs/pictures/igv-*.png up to a tolerance; --update rewrites these, --keep keeps the pictures of this run. Skipped
(exit code 77) where there is no Chromium or the package that has IGV.js cannot be had.
"""

import argparse
import collections
import functools
import http.server
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(HERE.parent / "peers"))
import packages  # noqa: E402
import png  # noqa: E402

DATA = HERE.parents[1] / "data"
CHROMOSOME, LENGTH = "III", 316620
PLACES = {"whole": (1, 316620), "region": (90001, 121000), "genes": (99001, 106000)}  # first and last base
SIZE = (760, 570)
SEGMENTS = (105, 145)  # rows of the picture that the track of the segments has
PIXELS = 650  # of a track, at least
SEEN = 4  # pixels that a segment must be wide to be asked for
NEAR = 48  # levels of a channel that count as the same: fonts are drawn in slightly different ways
MOST_CHANGED = 0.03  # of the pixels


class Server(http.server.ThreadingHTTPServer):
    """Files of a folder; keeps what was asked for and what the page said."""

    daemon_threads = True

    def __init__(self, folder):
        self.asked, self.said = [], {}
        super().__init__(("127.0.0.1", 0), functools.partial(Handler, directory=str(folder)))


class Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        name, _, query = self.path.partition("?")
        if name in ("/shown", "/failed"):
            self.server.said[name[1:]] = urllib.parse.unquote(query)
            return self.answer(200, b"", {})
        path = pathlib.Path(self.translate_path(self.path))
        self.server.asked.append((name, self.headers.get("Range")))
        if not path.is_file():
            return self.answer(404, b"", {})
        content = path.read_bytes()
        wanted = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range") or "")
        if not wanted:
            return self.answer(200, content, {"Accept-Ranges": "bytes"})
        first = int(wanted[1])
        last = min(len(content) - 1, int(wanted[2]) if wanted[2] else len(content) - 1)
        if first > last:
            return self.answer(416, b"", {})
        return self.answer(206, content[first:last + 1], {"Content-Range": "bytes %d-%d/%d" % (first, last, len(content))})

    def answer(self, code, content, headers):
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Type", self.guess_type(self.path.partition("?")[0]))
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


def make_hub(program, folder):
    tracks = [str(path) for path in sorted(DATA.glob("codon_*.bw"))]
    command = [str(program), "decode", "-q", "-p", str(DATA / "demo.params.json"), "--hub", str(folder), "--hub-genome", "genome.fa",
               "-o", str(folder.parent / "segments.bed"), *tracks]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        sys.exit("FAILED: %s\n%s" % (" ".join(command), done.stderr))
    line = "N" * 60 + "\n"
    (folder / "genome.fa").write_text(">%s\n%s" % (CHROMOSOME, line * (LENGTH // 60)))
    (folder / "genome.fa.fai").write_text("%s\t%d\t%d\t60\t61\n" % (CHROMOSOME, LENGTH, len(CHROMOSOME) + 2))


def labels_at(segments, first, last):
    """Those of which a segment is wide enough to be seen."""
    found = set()
    for line in segments.read_text().splitlines():
        if not line.startswith("#"):
            _, begin, end, label = line.split("\t")[:4]
            if (min(int(end), last) - max(int(begin), first)) * PIXELS >= SEEN * (last - first):
                found.add(label)
    return found


def chromium():
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if shutil.which(name):
            return name
    packages.skip("there is no Chromium (Debian: chromium, fonts-dejavu-core)")


def take_picture(browser, server, locus, target, profile):
    server.said.clear()
    address = "http://127.0.0.1:%d/page.html?locus=%s" % (server.server_address[1], locus)
    command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--force-device-scale-factor=1",
               "--disable-background-networking", "--disable-component-update", "--no-first-run", "--disable-extensions",
               "--enable-logging=stderr", "--user-data-dir=" + str(profile), "--window-size=%d,%d" % SIZE, "--virtual-time-budget=20000",
               "--screenshot=" + str(target), address]
    done = subprocess.run(command, capture_output=True, text=True, timeout=180)
    if not target.exists():
        sys.exit("FAILED: no picture of %s\n%s" % (locus, done.stderr[-3000:]))
    if "shown" not in server.said:
        sys.exit("FAILED: %s: the page says %r\n%s" % (locus, server.said, done.stderr[-3000:]))
    errors = [line for line in done.stderr.splitlines() if ":CONSOLE" in line and "ERROR" in line.upper().split("CONSOLE")[0]]
    if errors:
        sys.exit("FAILED: errors of the page: %s" % "\n".join(errors))
    return server.said["shown"].split("|")


def colors_of(picture):
    width, _, rows = picture
    return collections.Counter(bytes(row[x:x + 3]) for row in rows for x in range(0, 3 * width, 3))


def changed_share(picture, reference):
    width, height, rows = picture
    if reference[:2] != (width, height):
        return 1.0
    changed = sum(max(abs(a - b) for a, b in zip(row[x:x + 3], other[x:x + 3])) > NEAR
                  for row, other in zip(rows, reference[2]) if row != other for x in range(0, 3 * width, 3))
    return changed / (width * height)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True, type=pathlib.Path)
    parser.add_argument("--packages", required=True)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--keep", type=pathlib.Path)
    arguments = parser.parse_args()
    browser = chromium()
    library = packages.installed(HERE / "requirements.txt", arguments.packages) / "igv_notebook" / "js" / "igv.min.js"
    labels = {label["name"]: bytes.fromhex(label["color"][1:]) for label in json.loads((DATA / "demo.params.json").read_text())["labels"]}
    failures = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary) / "hub"
        make_hub(arguments.program.resolve(), folder)
        shutil.copy(library, folder)
        shutil.copy(HERE / "page.html", folder)
        server = Server(folder)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        for name, (first, last) in PLACES.items():
            locus = "%s:%d-%d" % (CHROMOSOME, first, last)
            begin = time.monotonic()
            target = pathlib.Path(temporary) / (name + ".png")
            tracks = take_picture(browser, server, locus, target, pathlib.Path(temporary) / "profile")
            picture = png.read(target)
            if arguments.keep:
                arguments.keep.mkdir(exist_ok=True)
                png.write(arguments.keep / (name + ".png"), picture)
            if "Segments" not in tracks or "Boundaries" not in tracks:
                failures.append("%s: the browser has the tracks %r" % (name, tracks))
            seen = colors_of((picture[0], picture[1], picture[2][SEGMENTS[0]:SEGMENTS[1]]))
            wanted = labels_at(folder.parent / "segments.bed", first, last)
            missing = [label for label in sorted(wanted) if seen[labels[label]] < 20]
            print("%s: shows %s" % (name, ", ".join(sorted(wanted))))
            if missing:
                failures.append("%s: no colour of %s" % (name, ", ".join(missing)))
            reference = HERE.parents[1] / "docs" / "pictures" / ("igv-%s.png" % name)
            if arguments.update:
                png.write(reference, picture)
            share = changed_share(picture, png.read(reference))
            print("%s: %.2f %% of the pixels differ from the reference, %.1f s" % (name, 100 * share, time.monotonic() - begin))
            if share > MOST_CHANGED:
                failures.append("%s: %.1f %% of the pixels differ from %s" % (name, 100 * share, reference))
        ranges = {name for name, wanted in server.asked if wanted}
        if not {"/segments.bb", "/boundaries.bw"} <= ranges:
            failures.append("files that were read in parts: %r" % sorted(ranges))
        server.shutdown()
    for failure in failures:
        print("FAILED: " + failure)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
