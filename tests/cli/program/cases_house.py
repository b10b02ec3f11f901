"""The map of the house, docs/design.md, names what is there, and no room has grown too large. Needs no program."""

import pathlib
import re

from harness import HERE, check

ROOT = HERE.parents[1]
MOST_SOURCES = 16  # a header and its source are one
SOURCES = {".h", ".cpp", ".cu", ".cuh"}
PATH = re.compile(r"[A-Za-z0-9_.*-]+(/[A-Za-z0-9_.*-]+)*/?")


def files():
    """Every file of the rooms and of the root, as a path relative to it."""
    rooms = ("src", "cuda", "apps", "tests", "docs", "cmake", "packaging", "contrib", "workflows", "data")
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


def test_paths_of_the_map(box):
    """A name with a slash in docs/design.md is a file or a folder."""
    names = known_names(files())
    page = (ROOT / "docs" / "design.md").read_text()
    paths = {code for code in re.findall(r"`([^`\s]+)`", page) if "/" in code and PATH.fullmatch(code)}
    check(len(paths) > 100, "only %d paths found in docs/design.md" % len(paths))
    lost = sorted(path for path in paths if not is_there(path, names))
    check(not lost, "docs/design.md names what is not there: %s" % ", ".join(lost))


def test_names_of_the_map(box):
    """A word with an underscore or in CamelCase in docs/design.md is a file, or stands in a source."""
    names = {pathlib.PurePath(name).name for name in known_names(files())}
    text = "\n".join((ROOT / path).read_text() for path in files()
                     if path.suffix in SOURCES | {".py", ".smk", ".sh"} and path.parts[0] != "docs")
    words = set(re.findall(r"\w+", text))
    page = (ROOT / "docs" / "design.md").read_text()
    said = set()
    for code in re.findall(r"`([\w:]+)(?:\(\))?`", page):
        said |= {part for part in code.split("::") if "_" in part or re.search("[a-z][A-Z]", part)}
    check(len(said) > 60, "only %d names found in docs/design.md" % len(said))
    lost = sorted(said - names - words)
    check(not lost, "docs/design.md names what no source has: %s" % ", ".join(lost))


def test_rooms_are_small(box):
    """A folder of the product has about fifteen sources at most."""
    rooms = {}
    for path in files():
        if path.suffix in SOURCES and path.parts[0] in ("src", "cuda", "apps"):
            rooms.setdefault(path.parent, set()).add(path.stem.removesuffix("-inl"))
    full = sorted("%s (%d)" % (room, len(stems)) for room, stems in rooms.items() if len(stems) > MOST_SOURCES)
    check(len(rooms) > 40, "only %d folders found" % len(rooms))
    check(not full, "give these folders rooms of their own: %s" % ", ".join(full))
