"""The map of the house, docs/design.md, and the pages about algorithm and kernels name what is there; the glossary is short; no
room has grown too large. Needs no program."""

import pathlib
import re
import shutil
import subprocess
import sys

from harness import HERE, check

ROOT = HERE.parents[1]
PAGES = ("design.md", "algorithm.md", "cuda.md")
MOST_SOURCES = 16  # a header and its source are one
MOST_WORDS = 30  # of the glossary
MOST_OF_A_CELL = 300  # characters
MOST_OF_USER_PAGES = 25000  # words
SAID_ONCE = 14  # words
SOURCES = {".h", ".cpp", ".cu", ".cuh"}
PATH = re.compile(r"[A-Za-z0-9_.*-]+(/[A-Za-z0-9_.*-]+)*/?")


def files():
    """Every file of the rooms and of the root, as a path relative to it."""
    rooms = ("src", "cuda", "apps", "tests", "docs", "cmake", "packaging", "contrib", "workflows", "data", "python")
    found = [path for path in ROOT.iterdir() if path.is_file()]
    for room in rooms:
        found += [path for path in (ROOT / room).rglob("*") if path.is_file()]
    return [path.relative_to(ROOT) for path in found]


def known_names(found):
    """Names by which a page may call a file or folder: with or without its ending, from the root, from src or from any folder above
    it."""
    names = set()
    for path in found:
        for one in (path, path.with_suffix(""), *path.parents[:-1]):
            text = str(one)
            names |= {text, text.removesuffix("-inl")}
    return names


def is_there(name, names):
    name = name.rstrip("/")
    if re.search(r"\*|\.\.\.|NAME", name):
        pattern = re.compile("(.*/)?" + re.escape(name).replace(r"\*", "[^/]*").replace(r"\.\.\.", ".*").replace("NAME", "[^/]+"))
        return any(pattern.fullmatch(known) for known in names)
    return any(known == name or known.endswith("/" + name) for known in names)


def text_of_pages():
    return "\n\n".join((ROOT / "docs" / name).read_text() for name in PAGES)


def test_paths_of_the_map(box):
    """A name with a slash in one of the pages is a file or a folder."""
    names = known_names(files())
    paths = {code for code in re.findall(r"`([^`\s]+)`", text_of_pages()) if "/" in code and PATH.fullmatch(code)}
    check(len(paths) > 100, "only %d paths found in %s" % (len(paths), ", ".join(PAGES)))
    lost = sorted(path for path in paths if not is_there(path, names))
    check(not lost, "the pages name what is not there: %s" % ", ".join(lost))


def test_names_of_the_map(box):
    """A word with an underscore or in CamelCase in one of the pages is a file, or stands in a source."""
    names = {pathlib.PurePath(name).name for name in known_names(files())}
    text = "\n".join((ROOT / path).read_text() for path in files()
                     if path.suffix in SOURCES | {".py", ".smk", ".sh", ".txt", ".cmake"} and path.parts[0] != "docs")
    words = set(re.findall(r"\w+", text))
    said = set()
    for code in re.findall(r"`([\w:]+)(?:\(\))?`", text_of_pages()):
        said |= {part for part in code.split("::") if "_" in part or re.search("[a-z][A-Z]", part)}
    check(len(said) > 60, "only %d names found in %s" % (len(said), ", ".join(PAGES)))
    lost = sorted(said - names - words)
    check(not lost, "the pages name what no source has: %s" % ", ".join(lost))


def test_glossary_is_short(box):
    page = (ROOT / "docs" / "design.md").read_text()
    rows = page[page.index("## Words"):page.index("## Ownership")].splitlines()
    words = [word for row in rows if row.startswith("| ") for word in row.split("|")[1].split(",")][1:]
    check(15 < len(words) <= MOST_WORDS, "the glossary of docs/design.md has %d words: %s" % (len(words), ",".join(words)))


def test_terms_of_the_field_lead_to_their_files(box):
    """Every term of the table is in the text of the file that the table names for it."""
    page = (ROOT / "docs" / "design.md").read_text()
    rows = page[page.index("## Terms of the field"):page.index("## Words")].splitlines()
    rows = [row.split("|")[1:4] for row in rows if row.startswith("| ") and "`" in row]
    check(len(rows) >= 25, "only %d terms" % len(rows))
    for terms, _, name in rows:
        text = (ROOT / name.strip(" `")).read_text().replace("//", " ")
        text = " ".join(text.split()).lower()
        for term in re.sub(r" \(.*?\)", "", terms).split(","):
            check(term.strip().lower() in text, "%s does not say '%s'" % (name.strip(" `"), term.strip()))


def test_root_holds_no_results(box):
    """What a run in the root leaves there is not taken into the repository."""
    if shutil.which("git") is None:
        return
    listed = subprocess.run(["git", "-C", ROOT, "ls-files"], capture_output=True, text=True)
    kept = re.compile(r"\.[a-z-]+|[A-Z][A-Za-z]*(\.md|\.txt|\.json)?|apt-packages(-[a-z]+)?\.txt|pyproject\.toml")
    lost = [name for name in listed.stdout.splitlines() if "/" not in name and not kept.fullmatch(name)]
    check(not lost, "files in the root that are not its own: %s" % ", ".join(lost[:10]))


def test_rooms_are_small(box):
    """A folder of the product has about fifteen sources at most."""
    rooms = {}
    for path in files():
        if path.suffix in SOURCES and path.parts[0] in ("src", "cuda", "apps"):
            rooms.setdefault(path.parent, set()).add(path.stem.removesuffix("-inl"))
    full = sorted("%s (%d)" % (room, len(stems)) for room, stems in rooms.items() if len(stems) > MOST_SOURCES)
    check(len(rooms) > 40, "only %d folders found" % len(rooms))
    check(not full, "give these folders rooms of their own: %s" % ", ".join(full))


# Every room may include itself and the rooms before it.
ROOMS = ("core log model eval/metrics io reads engine reference sites cpu cuda backends segmentation draw inputs windows analyses outputs runs query "
         "bench train learn genes eval report library apps").split()


def room_of(path):
    """The room of a file, named as an include names it: the longest room that its path begins with."""
    return max((room for room in ROOMS if path.startswith(room + "/")), key=len, default=None)


def includes():
    """(file, file it includes) for all of the product, both as an include names them."""
    for path in files():
        if path.suffix in SOURCES and path.parts[0] in ("src", "cuda", "apps"):
            name = str(path.relative_to("src") if path.parts[0] == "src" else path)
            for included in re.findall(r'^#include "([^"]+)"', (ROOT / path).read_text(), re.M):
                if not included.startswith("hwy/"):
                    yield name, included


def test_no_include_points_up(box):
    """Rooms stand in an order, docs/design.md has it, and nothing includes a room that comes later."""
    found = list(includes())
    check(len(found) > 2000, "only %d includes found" % len(found))
    up = sorted("%s includes %s" % (name, included) for name, included in found
                if ROOMS.index(room_of(included)) > ROOMS.index(room_of(name)))
    check(not up, "\n".join(up))
    page = (ROOT / "docs" / "design.md").read_text()
    page = page[page.index("## Rooms"):]
    rows = re.findall(r"^\| `(?:src/)?([\w/]+)` \|", page[:page.index("| folder |")], re.M)
    told = [room for room in rows if room in ROOMS]
    check(told == ROOMS, "docs/design.md has the rooms in the order %s" % " ".join(told))


def test_what_needs_no_cuda_includes_none(box):
    """Without CUDA the program, its library and the plain sources of cuda/ compile: none reaches its headers."""
    lists = (ROOT / "cuda" / "CMakeLists.txt").read_text()
    plain = re.search(r"semicrf_cuda_tables STATIC(.*?)\)", lists, re.S).group(1).split() + ["engine/no_cuda.cpp"]
    check(len(plain) > 3, "the plain sources of cuda/CMakeLists.txt were not found")
    waiting = [ROOT / "cuda" / name for name in plain]
    waiting += [path for room in ("src", "apps") for path in (ROOT / room).rglob("*.cpp")]
    seen = set()
    for path in waiting:
        for kind, name in re.findall(r'^#include ([<"])([^>"]+)', path.read_text(), re.M):
            check(not name.startswith("cuda_runtime"), "%s needs CUDA" % path.relative_to(ROOT))
            for base in (ROOT, ROOT / "src"):
                if kind == '"' and (base / name).exists() and base / name not in seen:
                    seen.add(base / name)
                    waiting.append(base / name)
    check(ROOT / "cuda" / "passes" / "pass_memory.h" in seen, "the walk does not reach pass_memory.h")


def test_no_circle_of_includes(box):
    """No header includes itself by way of others."""
    graph = {}
    for name, included in includes():
        graph.setdefault(name, []).append(included)
    done = set()

    def visit(name, path):
        check(name not in path, "a circle: %s" % " -> ".join(path[path.index(name):] + [name] if name in path else []))
        if name not in done:
            for included in graph.get(name, ()):
                visit(included, path + [name])
            done.add(name)

    for name in sorted(graph):
        visit(name, [])


def comments(text):
    """(line number, first line) of every comment of a C++ source; lines below each other, at one column, are one comment."""
    column = None
    for number, line in enumerate(text.splitlines(), 1):
        found = re.search(r'(?<![:"/\w])//+ ?(.*)$', line)
        if not found or line[:found.start()].count('"') % 2:
            column = None
            continue
        if line[:found.start()].strip() or found.start() != column:
            yield number, found.group(1)
        column = found.start()


def test_comments_stand_alone(box):
    """No comment begins with "of": it says what the thing is, "version of the program", and not only whose."""
    wrong, count = [], 0
    for path in files():
        if path.suffix in SOURCES and path.parts[0] in ("src", "cuda", "apps"):
            for number, text in comments((ROOT / path).read_text()):
                count += 1
                if re.match(r"of\b", text, re.I):
                    wrong.append("%s:%d: %s" % (path, number, text))
    check(count > 5000, "only %d comments found" % count)
    check(not wrong, "\n".join(wrong))


def anchors(text):
    """The anchors of a page's headings, as browsers of repositories make them."""
    return {re.sub(r"[^\w -]", "", heading.lower()).strip().replace(" ", "-") for heading in re.findall(r"^#+ (.+)$", text, re.M)}


def test_no_link_is_dead(box):
    """Every link of a page leads to a file; one of the installed pages (README.md, CHANGELOG.md and docs) to a file that is installed,
    as scripts and other folders of the sources are not."""
    pages = [path for path in files() if path.suffix == ".md"]
    dead, count = [], 0
    for path in pages:
        for target in re.findall(r"\]\(([^)\s]+)\)", (ROOT / path).read_text()):
            if re.match("[a-z]+:", target):
                continue
            count += 1
            name, _, anchor = target.partition("#")
            goal = (ROOT / path.parent / name).resolve() if name else ROOT / path
            inside = goal.relative_to(ROOT).as_posix() if goal.is_relative_to(ROOT) else "outside"
            installed = re.fullmatch(r"(README|CHANGELOG|data/README)\.md|docs/.*(?<!\.py)", inside)
            if not goal.is_file() or (anchor and anchor not in anchors(goal.read_text())):
                dead.append("%s links %s, which is not there" % (path, target))
            elif re.match(r"docs/|README|CHANGELOG|data/README", path.as_posix()) and not installed:
                dead.append("%s links %s, which is not installed with it" % (path, target))
    check(count > 100, "only %d links found" % count)
    check(not dead, "\n".join(dead))


def test_pages_named_in_texts_are_there(box):
    """A page that a source, a script or a message names is there."""
    lost = []
    for path in files():
        if path.suffix in SOURCES | {".py", ".sh", ".smk", ".cmake", ".txt", ".md", ".json", ".yaml", ".yml", ".nf"}:
            for name in re.findall(r"(?<![\w/.-])(docs/[\w/-]+\.(?:md|jsonl?|svg|png|py))\b", (ROOT / path).read_text(errors="replace")):
                if not (ROOT / name).exists():
                    lost.append("%s names %s" % (path, name))
    check(not lost, "\n".join(sorted(set(lost))))


def test_named_sections_are_there(box):
    """A section that is named beside a page, as in docs/cuda.md, "Cuts", stands in that page."""
    lost, count = [], 0
    for path in files():
        if path.suffix not in SOURCES | {".py", ".md"}:
            continue
        text = " ".join((ROOT / path).read_text(errors="replace").replace("//", " ").split())
        found = [(ROOT / path.parent / name, title) for name, title in re.findall(r'\]\(([^)\s#:]+\.md)\),? "([^"]+)"', text)]
        found += [(ROOT / name, title) for name, title in re.findall(r'(?<![\w/])(docs/[\w/-]+\.md)(?:,? section \d+)?, "([^"]+)"', text)]
        for page, title in found:
            count += 1
            if title.lower() not in " ".join(page.read_text().split()).lower():
                lost.append('%s: no "%s" in %s' % (path, title, page.name))
    check(count > 30, "only %d named sections found" % count)
    check(not lost, "\n".join(lost))


def test_user_pages_are_short_and_say_things_once(box):
    """All pages for users together have at most 25,000 words, and no fourteen of them, code left out, follow each other twice."""
    pages = {page.name: page.read_text() for page in sorted((ROOT / "docs/users").glob("*.md"))}
    count = sum(len(text.split()) for text in pages.values())
    check(count <= MOST_OF_USER_PAGES, "docs/users has %d words, %d at most: move what no user needs to docs" % (count, MOST_OF_USER_PAGES))
    places = {}
    for page, text in pages.items():
        prose = "\n".join(line for line in re.sub(r"```.*?```", "", text, flags=re.S).splitlines() if not line.startswith("    "))
        words = re.findall(r"[A-Za-z0-9'-]+", prose.lower())
        for i in range(len(words) - SAID_ONCE + 1):
            places.setdefault(" ".join(words[i:i + SAID_ONCE]), []).append(page)
    twice = ["%s: %s" % (" and ".join(where), text) for text, where in places.items() if len(where) > 1]
    check(not twice, "\n".join(twice))


def test_no_table_cell_is_long(box):
    """A cell of a table has at most 300 characters: what needs more is a sentence below the table."""
    wrong = []
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        for number, line in enumerate(page.read_text().splitlines(), 1):
            if line.startswith("|"):
                longest = max(len(cell.strip()) for cell in re.split(r"(?<!\\)\|", line))
                if longest > MOST_OF_A_CELL:
                    wrong.append("%s:%d has a cell of %d characters" % (page.relative_to(ROOT), number, longest))
    check(not wrong, "\n".join(wrong))


def test_one_version(box):
    """The version of CMakeLists.txt is the newest one of CHANGELOG.md, with its date, and that of contributions and workflows."""
    version = re.search(r"project\(semicrf VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)
    headings = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(), re.M)
    check(headings[0] == "[Unreleased]" and re.fullmatch(r"\[%s\] - 20\d\d-\d\d-\d\d" % re.escape(version), headings[1]),
          "CHANGELOG.md begins with %s; the version is %s" % (", ".join(headings[:2]), version))
    wrong, count = [], 0
    for path in files():
        if path.parts[0] in ("contrib", "workflows") and path.suffix in (".yml", ".yaml", ".nf"):
            for found in re.findall(r"semicrf ?[:=]+([\d.]+\d)|^  version: \"([\d.]+)\"|set version = \"([\d.]+)\"", (ROOT / path).read_text(), re.M):
                count += 1
                if "".join(found) != version:
                    wrong.append("%s has version %s" % (path, "".join(found)))
    check(count > 15, "only %d versions found" % count)
    check(not wrong, "\n".join(wrong))


def test_performance_page_is_made_of_its_figures(box):
    """docs/performance.md is what tests/bench/performance_page.py makes of docs/performance.jsonl, in at most 200 lines."""
    script = ROOT / "tests" / "bench" / "performance_page.py"
    run = subprocess.run([sys.executable, "-B", str(script), "--check"], capture_output=True, text=True)
    check(run.returncode == 0, run.stderr)
    check((ROOT / "docs" / "performance.md").read_text().count("\n") <= 200, "docs/performance.md has more than 200 lines")


def test_sections_of_lab_notes_are_dated(box):
    """Every section of docs/lab-notes.md begins with its dates and commits."""
    sections = (ROOT / "docs" / "lab-notes.md").read_text().split("\n## ")[1:]
    check(len(sections) > 30, "only %d sections found" % len(sections))
    undated = [section.splitlines()[0] for section in sections
               if not re.match(r"[^\n]+\n\n\*20\d\d-\d\d-\d\d[^*]*`[0-9a-f]{8}`[^*]*\*\n", section)]
    check(not undated, "docs/lab-notes.md: no date and commit below the heading of %s" % ", ".join(undated))


def test_a_type_has_one_definition(box):
    """No two headers define a type of one name in the same namespace: the linker would take either for both."""
    found = {}
    for path in files():
        if path.suffix not in (".h", ".cuh") or path.parts[0] not in ("src", "cuda", "apps"):
            continue
        text = (ROOT / path).read_text()
        for match in re.finditer(r"^(?:class|struct|enum class) (\w+)[^;{:]*(?: : [^;{]*)?\{", text, re.M):
            spaces = re.findall(r"^namespace ([\w:]+) \{", text[:match.start()], re.M)
            found.setdefault((spaces[-1] if spaces else "", match.group(1)), set()).add(str(path))
    check(len(found) > 500, "only %d types found" % len(found))
    # The namespace of an instruction set begins a second time in each file.
    twice = sorted("%s::%s in %s" % (*name, " and ".join(sorted(paths))) for name, paths in found.items() if len(paths) > 1)
    check(not twice, "\n".join(twice))
