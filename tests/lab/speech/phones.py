"""The 39 phones of Lee and Hon (1989), espeak-ng's English phonemes folded onto them, and the error rate of a string.

Lee and Hon fold TIMIT's 61 phones: closures and pauses become sil, zh becomes sh, ao becomes aa, syllabic and flapped
nasals their plain ones. Vowels that espeak-ng writes together with the r after them keep the vowel alone.
"""

import espeak

# From the most to the least sonorous; pictures list them in this order.
CLASSES = [
    ("vowels", "aa ae ah aw ay eh er ey ih iy ow oy uh uw".split()),
    ("glides and liquids", "w y r l".split()),
    ("nasals", "m n ng".split()),
    ("fricatives", "v dh z hh f th s sh".split()),
    ("affricates", "jh ch".split()),
    ("stops", "b d g dx p t k".split()),
    ("silence", ["sil"]),
]
PHONES = [phone for _, phones in CLASSES for phone in phones]

_NAMES = {
    "aa": "A: 0 O: O2 A@ O@ o@", "ae": "a aa", "ah": "V @ @2 a#", "aw": "aU", "ay": "aI aI@ aI3", "eh": "E e@",
    "er": "3 3:", "ey": "eI", "ih": "I I2 I# i@ i@3", "iy": "i i:", "ow": "oU", "oy": "OI", "uh": "U U@", "uw": "u: u",
    "w": "w", "y": "j ;", "r": "r r-", "l": "l @L", "m": "m", "n": "n", "ng": "N",
    "v": "v", "dh": "D", "z": "z", "hh": "h", "f": "f", "th": "T", "s": "s", "sh": "S Z",
    "jh": "dZ", "ch": "tS", "b": "b", "d": "d", "g": "g", "dx": "t#", "p": "p", "t": "t t2", "k": "k",
    "sil": "_ _: _:: " + espeak.CLOSURE,
}
FOLDED = {name: phone for phone, names in _NAMES.items() for name in names.split()}


def fold(name):
    """The phone of an espeak-ng phoneme of American English."""
    try:
        return FOLDED[name]
    except KeyError:
        raise ValueError("espeak-ng's phoneme %r has no phone; add it to phones.py" % name) from None


def frames_of(phones, rate, frames_per_second, frames):
    """Runs (phone, first frame, end frame) that tile [0, frames), from (espeak-ng phoneme, first sample, end).

    Boundaries go to the nearest frame edge. What has no frame left is gone; neighbours of one phone become one run.
    """
    runs = []
    for name, first, end in phones:
        begin, stop = (min(round(sample * frames_per_second / rate), frames) for sample in (first, end))
        if stop <= begin:
            continue
        phone = fold(name)
        if runs and runs[-1][0] == phone:
            runs[-1] = (phone, runs[-1][1], stop)
        else:
            runs.append((phone, begin, stop))
    if runs:
        runs[-1] = (runs[-1][0], runs[-1][1], frames)
    return runs


def edit_distance(left, right):
    """Insertions, deletions and substitutions, one each; for error rates, divide by the length of the true string."""
    row = list(range(len(right) + 1))
    for i, one in enumerate(left, 1):
        diagonal, row[0] = row[0], i
        for j, other in enumerate(right, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (one != other))
    return row[-1]
