"""Inputs for the tests: arrays, archives and parameter files, sound and damaged."""

import json
import pathlib
import struct
import sys
import warnings
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support" / "files"))
import bigwig  # noqa: E402  pylint: disable=wrong-import-position

FORMATS = {"<f2": "e", "<f4": "f", "<f8": "d"}


def shared_data():
    """The folder of real data beside the repository, which may be absent."""
    return pathlib.Path(__file__).resolve().parents[2].parent / "shared" / "data"


def npy_header(descr="<f4", order=False, shape=(1, 1), version=(1, 0), text=None):
    """The bytes before the data; descr may be a list for a structured type, `text` replaces the dictionary."""
    if text is None:
        shape_text = "(" + "".join("%d, " % n for n in shape) + ")"
        text = "{'descr': %r, 'fortran_order': %r, 'shape': %s, }" % (descr, order, shape_text)
    size_bytes = 2 if version[0] == 1 else 4
    text += " " * (-(8 + size_bytes + len(text) + 1) % 64) + "\n"
    size = struct.pack("<H" if size_bytes == 2 else "<I", len(text))
    return b"\x93NUMPY" + bytes(version) + size + text.encode()


def npy(rows, descr="<f4", order=False, version=(1, 0)):
    """A 2-D array of floats; descr may begin with '>' for the other byte order."""
    code = FORMATS["<" + descr[1:]]
    values = [x for column in zip(*rows) for x in column] if order else [x for row in rows for x in row]
    shape = (len(rows), len(rows[0]))
    return npy_header(descr, order, shape, version) + struct.pack("%s%d%s" % (descr[0], len(values), code), *values)


def npz(path, members, compress=False):
    kind = zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED
    with warnings.catch_warnings(), zipfile.ZipFile(path, "w", kind) as archive:
        warnings.simplefilter("ignore")  # of names given twice: that is a test
        for name, content in members:
            archive.writestr(zipfile.ZipInfo(name), content, compress_type=archive.compression)


def parameters(box, name, base="scores.params.json", **changes):
    """A copy of a parameter file of data/ with some keys replaced; None takes a key away."""
    document = json.loads(box.text(base))
    for key, value in changes.items():
        if value is None:
            document.pop(key, None)
        else:
            document[key] = value
    return box.write(name, json.dumps(document))


def track_parameters(box, name="track.json", tracks=("signal",), labels=("off", "on"), missing="zero", bin_size=10, **more):
    """Two states over tracks: `on` where the signal is above 1."""
    weights = [[0] * len(tracks) if i == 0 else [1] * len(tracks) for i in range(len(labels))]
    document = {"format": "semicrf-params", "format_version": "1.0", "labels": list(labels), "max_duration": 20,
                "bin_size": bin_size, "centering": "none", "transition": [[-1 if a != b else "-inf" for b in labels] for a in labels],
                "duration": {"kind": "uniform"}, "tracks": [{"name": track, "missing": missing} for track in tracks],
                "emission": {"weights": weights, "bias": [0] + [-1] * (len(labels) - 1)}}
    document.update(more)
    return box.write(name, json.dumps(document))


def signal(length=40):
    """0 or 3 per bin, in runs."""
    return [3.0 if (i // 7) % 2 else 0.0 for i in range(length)]


def bigwig_track(box, name, chromosomes=None, sections=None, **options):
    """A bigWig; by default chrA of 400 bases with one value per 10."""
    chromosomes = chromosomes or {"chrA": 400}
    if sections is None:
        sections = bigwig.fixed_step("chrA", 0, 10, signal(chromosomes["chrA"] // 10))
    bigwig.write(box.path(name), chromosomes, sections, **options)
    return name


def patched(content, offset, replacement):
    return content[:offset] + replacement + content[offset + len(replacement):]
