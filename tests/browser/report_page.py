#!/usr/bin/env python3
"""Opens a report in Chromium, without a display: nothing is asked for or complained of, no texts run into each other, and the
page fits windows of 400 and of 1400 pixels in both themes. A page of ten labels with everything that a report can have is
short before its folds are opened.

    report_page.py --program build/release/bin/semicrf [--page report.html] [--keep FOLDER]

--page looks at this page in place of one of the demo tracks; --keep leaves the screenshots in FOLDER. Exit code 77: there is no
chromium (Debian: apt-get install chromium fonts-dejavu-core). Standard library only.
"""

import argparse
import html
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.parse

DATA = pathlib.Path(__file__).resolve().parents[2] / "data"
SKIP = 77
WIDTHS = (400, 1400)
KEPT_HEIGHT = 15000  # pixels of a screenshot
MOST_HEIGHT = 5500  # pixels of a page of ten labels and five tracks, 1400 wide, so that ten tracks and four annotations stay below 6,000
THEMES = {"light": 1, "dark": 0}  # Blink's numbers of preferred colour schemes

# Run in a copy of the page: its height with its folds closed; then, with its folds open, pairs of texts of a picture that share pixels, texts that leave their picture, and whether the
# page is wider than its window.
PROBE = """
<script>
window.addEventListener('load', () => {
  const height = document.documentElement.scrollHeight;
  for (const fold of document.querySelectorAll('details')) fold.open = true;
  const found = {height, unfolded: document.documentElement.scrollHeight, texts: 0, overlaps: [], leaving: [], wide: document.documentElement.scrollWidth - innerWidth, width: innerWidth,
                 dark: matchMedia('(prefers-color-scheme: dark)').matches, background: getComputedStyle(document.body).backgroundColor,
                 contrast: []};
  const channel = v => { v /= 255; return v <= 0.04045 ? v / 12.92 : Math.pow((v + 0.055) / 1.055, 2.4); };
  const luminance = c => { const m = c.match(/[\\d.]+/g).map(Number); return .2126 * channel(m[0]) + .7152 * channel(m[1]) + .0722 * channel(m[2]); };
  const paper = luminance(found.background);
  const contrast = (a, b) => (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
  for (const e of document.querySelectorAll('p,td,th,h1,h2,h3,dt,dd,a,figcaption,caption,summary')) {
    const c = contrast(luminance(getComputedStyle(e).color), paper);
    if (c < 4.5) found.contrast.push([e.tagName, e.textContent.slice(0, 30), c]);
  }
  for (const svg of document.querySelectorAll('svg.picture')) {
    const frame = svg.getBoundingClientRect();
    const boxes = [...svg.querySelectorAll('text')].map(t => [t.textContent, t.getBoundingClientRect(), t]);
    found.texts += boxes.length;
    boxes.forEach(([text, a, t], i) => {
      if (a.left < frame.left - 2 || a.right > frame.right + 2 || a.top < frame.top - 2 || a.bottom > frame.bottom + 2)
        found.leaving.push([svg.getAttribute('aria-label').slice(0, 40), text]);
      if (!t.hasAttribute('style') && contrast(luminance(getComputedStyle(t).fill), paper) < 4.5) found.contrast.push(['text', text]);
      for (const [other, b] of boxes.slice(i + 1)) {
        const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left), high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        // Boxes of lines have room above and below the letters.
        if (wide > 1 && high > 0.3 * Math.min(a.height, b.height)) found.overlaps.push([svg.getAttribute('aria-label').slice(0, 40), text, other]);
      }
    });
  }
  parent.postMessage(JSON.stringify(found), '*');
});
</script>
"""
# Windows of Chromium are not narrower than 500 pixels, frames are. What the probe says is written into the page around it.
FRAME = """<!DOCTYPE html><meta name="color-scheme" content="light dark"><style>body{margin:0}iframe{border:0;display:block}</style>
<iframe src="%s" width="%d" height="%d"></iframe><pre id="probe"></pre>
<script>onmessage = event => { document.getElementById('probe').textContent = event.data; }</script>
"""
# Of the browser itself.
ITS_OWN = {"clients2.google.com", "update.googleapis.com", "accounts.google.com", "optimizationguide-pa.googleapis.com",
           "content-autofill.googleapis.com", "redirector.gvt1.com", "edgedl.me.gvt1.com", "www.google.com", "dl.google.com"}


def chromium(arguments, folder):
    """What it wrote to stdout and to stderr."""
    command = [shutil.which("chromium"), "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-extensions",
               "--no-first-run", "--disable-background-networking", "--user-data-dir=%s" % (folder / "profile")]
    done = subprocess.run(command + arguments, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=240, check=False)
    return done.stdout, done.stderr


def make_page(program, folder):
    tracks = sorted(map(str, DATA.glob("codon_*.bw")))
    params = str(DATA / "demo.params.json")
    subprocess.run([program, "decode", "-q", "-p", params, "-o", folder / "s.bed", "--posterior", folder / "b.bedgraph"] + tracks, check=True)
    subprocess.run([program, "posterior", "-q", "-p", params, "-o", folder / "p.bedgraph", "--labels-out", folder / "l"] + tracks, check=True)
    subprocess.run([program, "report", "-q", "-p", params, "--segments", folder / "s.bed", "--posterior", folder / "b.bedgraph",
                    "--labels-posterior", folder / "l", "--truth", DATA / "genes.bed", "--annotation", "genes=%s" % (DATA / "genes.bed"),
                    "-o", folder / "report.html"] + tracks, check=True)
    return folder / "report.html"


def make_ten_labels(program, folder):
    """Learned labels with posteriors, a truth and two annotations: every section has something to show."""
    chromatin = DATA / "chromatin"
    tracks = ["--track-pattern", "{sample}.{track}.bw"] + sorted(map(str, chromatin.glob("E065.*.bw")))

    def run(*arguments):
        subprocess.run([program, arguments[0], "-q", *arguments[1:], *tracks], check=True)

    run("learn", "--labels", "10", "--max-iterations", "3", "--restarts", "1", "-o", folder / "learned.json")
    names = [word for i in range(1, 11) for word in ("--rename-label", "%d=E%d" % (i, i))]  # eight of them as in the truth
    subprocess.run([program, "edit", folder / "learned.json", *names, "-o", folder / "m.json"], check=True)
    run("decode", "-p", folder / "m.json", "-o", folder / "s.bed", "--posterior", folder / "b.bw")
    run("posterior", "-p", folder / "m.json", "-o", folder / "p.bw", "--labels-out", folder / "l")
    run("report", "-p", folder / "m.json", "--segments", folder / "s.bed", "--posterior", folder / "b.bw", "--labels-posterior", folder / "l",
        "--truth", chromatin / "states.bed", "--annotation", "TSS=%s" % (chromatin / "peaks.bed"),
        "--annotation", "states=%s" % (chromatin / "states.bed"), "-o", folder / "ten.html")
    return folder / "ten.html"


def requests_of(log):
    """Addresses that a net log of Chromium has requests for."""
    text = log.read_text(errors="replace")
    return sorted(set(re.findall(r'"url":"([^"]*)"', text)))


def with_probe(text):
    return re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", text).replace("</body>", PROBE + "</body>")


def in_theme(theme):
    return "--blink-settings=preferredColorScheme=%d" % THEMES[theme]


def look(probed, width, theme, folder, most_height=None):
    """The problems of a page with the probe in a window of that width."""
    frame = folder / "frame.html"
    frame.write_text(FRAME % (probed.as_uri(), width, 1200))
    dom, _ = chromium(["--window-size=%d,1300" % max(width, 500), in_theme(theme), "--virtual-time-budget=20000", "--dump-dom", frame.as_uri()], folder)
    match = re.search(r'<pre id="probe">(.*?)</pre>', dom, re.S)
    if not match:
        return ["%d %s: the page was not read" % (width, theme)]
    found = json.loads(html.unescape(match[1]))
    print(width, theme, {key: found[key] if isinstance(found[key], (int, str, bool)) else len(found[key]) for key in found})
    where = "%d pixels, %s: " % (found["width"], theme)
    problems = [where + "texts overlap: %s" % pair for pair in found["overlaps"][:5]]
    problems += [where + "a text leaves its picture: %s" % pair for pair in found["leaving"][:5]]
    problems += [where + "contrast: %s" % one for one in found["contrast"][:5]]
    if found["wide"] > 0:
        problems.append(where + "the page is %d pixels wider than the window" % found["wide"])
    if most_height and found["height"] >= most_height:
        problems.append(where + "the page is %d pixels high before its folds are opened, %d at most" % (found["height"], most_height))
    if found["dark"] != (theme == "dark") or found["texts"] < 100:
        problems.append(where + "%s" % {key: found[key] for key in ("dark", "texts")})
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=pathlib.Path, required=True)
    parser.add_argument("--page", type=pathlib.Path)
    parser.add_argument("--keep", type=pathlib.Path)
    options = parser.parse_args()
    if not shutil.which("chromium"):
        print("SKIP: there is no chromium")
        return SKIP
    problems = []
    with tempfile.TemporaryDirectory(prefix="semicrf-browser-") as name:
        folder = pathlib.Path(name)
        page = options.page or make_page(options.program.resolve(), folder)
        probed = folder / "probed.html"
        probed.write_text(with_probe(page.read_text()))
        log = folder / "net.json"
        _, errors = chromium(["--enable-logging=stderr", "--v=0", "--log-net-log=%s" % log, "--window-size=1400,1000",
                              "--screenshot=%s" % (folder / "whole.png"), page.resolve().as_uri()], folder)
        console = [line for line in errors.splitlines() if ":CONSOLE" in line]
        problems += ["console: " + line for line in console]
        problems += ["request: " + url for url in requests_of(log) if not url.startswith(("file:", "data:", "chrome:"))
                     and urllib.parse.urlsplit(url).hostname not in ITS_OWN]
        for width in WIDTHS:
            for theme in THEMES:
                problems += look(probed, width, theme, folder)
                if options.keep:
                    options.keep.mkdir(exist_ok=True)
                    frame = folder / "frame.html"
                    frame.write_text(FRAME % (page.resolve().as_uri(), width, KEPT_HEIGHT))
                    chromium(["--window-size=%d,%d" % (max(width, 500), KEPT_HEIGHT), in_theme(theme),
                              "--screenshot=%s" % (options.keep.resolve() / ("%d-%s.png" % (width, theme))), frame.as_uri()], folder)
        if not options.page:
            ten = folder / "probed-ten.html"
            ten.write_text(with_probe(make_ten_labels(options.program.resolve(), folder).read_text()))
            problems += look(ten, max(WIDTHS), "light", folder, MOST_HEIGHT)
    print("\n".join(problems) or "ok")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
