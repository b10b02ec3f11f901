#!/usr/bin/env python3
"""A phone corpus out of text: sentences, voices, noise, features, labels.

    tests/lab/speech/corpus.py --seed 1 --train 320 --dev 40 --test 80 --out FOLDER

writes fit.npz, fit.bed (training, development), test.npz, test.bed: per frame of 10 ms 13 MFCC with first and second
differences of the frames at the offsets CONTEXT, and a sequence per sentence; and corpus.json, which says what is spoken.

Nothing in it is recorded. espeak-ng speaks the sentences of sentences.py in several voices, at several speeds and
pitches; each recording gets a slope of its spectrum (a channel) and noise of its own. Training, development and test
share no sentence and no voice, as TIMIT's speakers are apart. The same seed gives the same corpus.
"""

import argparse
import dataclasses
import json
import pathlib
import random
import sys

import numpy

import espeak
import mfcc
import phones
import sentences

LANGUAGE = "en-us"
# Variants of espeak-ng's voice whose closures are silent (breathy ones fill them with noise).
VOICES = {
    "train": """m1 m3 m4 m5 m7 f1 belinda linda Lee Mike Denis quincy Andrea anika Jacky john max rob robert sandro travis zac
        shelby victor""".split(),
    "dev": "m6 aunty iven pedro".split(),
    "test": "m8 grandma steph paul Alex norbert".split(),
}
SPEEDS, PITCHES = (150, 230), (25, 75)     # words per minute; espeak-ng's own scale from 0 to 100
NOISE_DB = (10, 30)                        # power of the speech over that of the noise
SLOPE_DB = 3                               # per octave, the most that a channel tilts the spectrum either way
SILENCE = (0.05, 0.2)                      # seconds before and after a sentence
LONGEST = 30                               # frames; sentences with a longer phone are left out, as K = 30 has no tail
CONTEXT = (-6, -3, 0, 3, 6)                # frames


@dataclasses.dataclass
class Utterance:
    """One sentence: features (T, 39), runs (phone, first frame, end frame) that tile it."""
    name: str
    text: str
    voice: str
    features: numpy.ndarray
    runs: list


def coloured(numbers, count, slope, rate):
    """Noise whose power falls by 3·slope dB per octave above 100 Hz; mean power 1."""
    spectrum = numpy.fft.rfft(numbers.standard_normal(count))
    spectrum /= numpy.maximum(numpy.fft.rfftfreq(count, 1 / rate), 100) ** (slope / 2)
    noise = numpy.fft.irfft(spectrum, count)
    return noise / numpy.sqrt(numpy.mean(noise ** 2))


def tilted(samples, slope_db, rate):
    """The signal through a channel that gains slope_db per octave above 100 Hz."""
    octaves = numpy.log2(numpy.maximum(numpy.fft.rfftfreq(len(samples), 1 / rate), 100) / 1000)
    return numpy.fft.irfft(numpy.fft.rfft(samples) * 10 ** (slope_db * octaves / 20), len(samples))


def record(speaker, text, voice, numbers, name):
    """One Utterance; numbers is a numpy random generator. None where a phone is longer than LONGEST frames."""
    samples, spoken = speaker.speak(text, "%s+%s" % (LANGUAGE, voice), int(numbers.integers(*SPEEDS)),
                                    int(numbers.integers(*PITCHES)))
    before, after = (int(seconds * speaker.rate) for seconds in numbers.uniform(*SILENCE, 2))
    signal = numpy.concatenate([numpy.zeros(before), numpy.asarray(samples, dtype=float), numpy.zeros(after)])
    signal = tilted(signal, numbers.uniform(-SLOPE_DB, SLOPE_DB), speaker.rate)
    power = numpy.mean(signal[before:len(signal) - after] ** 2)
    noise = coloured(numbers, len(signal), numbers.uniform(0, 1), speaker.rate)
    signal += noise * numpy.sqrt(power / 10 ** (numbers.uniform(*NOISE_DB) / 10))
    whole = ([(espeak.CLOSURE, 0, before)] + [(phone, first + before, end + before) for phone, first, end in spoken] +
             [(espeak.CLOSURE, len(signal) - after, len(signal))])
    values = mfcc.features(signal, speaker.rate)
    runs = phones.frames_of(whole, speaker.rate, mfcc.FRAMES_PER_SECOND, len(values))
    if max(end - first for _, first, end in runs) > LONGEST:
        return None
    return Utterance(name, text, voice, values, runs)


def make(seed, sizes):
    """{"train": [Utterance], ...} with sizes[part] utterances, and the number of sentences that were left out."""
    speaker = espeak.Speaker()
    texts = sentences.different_sentences(random.Random(seed), 2 * sum(sizes.values()))
    numbers = numpy.random.default_rng(seed)
    corpus, left_out = {}, 0
    for part, size in sizes.items():
        corpus[part] = []
        while len(corpus[part]) < size:
            voice = VOICES[part][len(corpus[part]) % len(VOICES[part])]
            made = record(speaker, texts.pop(), voice, numbers, "%s%04d" % (part, len(corpus[part]) + 1))
            left_out += made is None
            corpus[part] += [made] if made else []
    return corpus, left_out


def normalise(corpus):
    """Every feature with mean 0 and deviation 1 over the training frames, as in the paper."""
    frames = numpy.concatenate([one.features for one in corpus["train"]])
    mean, deviation = frames.mean(axis=0), frames.std(axis=0)
    for part in corpus.values():
        for one in part:
            one.features = (one.features - mean) / deviation


def write(utterances, stem):
    """stem.npz of (T, 39·len(CONTEXT)) float32 tracks and stem.bed of runs; a sequence per utterance."""
    numpy.savez(stem.with_suffix(".npz"), **{one.name: mfcc.with_context(one.features, CONTEXT).astype(numpy.float32)
                                             for one in utterances})
    with open(stem.with_suffix(".bed"), "w") as file:
        for one in utterances:
            for phone, first, end in one.runs:
                file.write("%s\t%d\t%d\t%s\n" % (one.name, first, end, phone))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    for part in VOICES:
        parser.add_argument("--" + part, type=int, required=True, help="sentences")
    options = parser.parse_args()
    corpus, left_out = make(options.seed, {part: getattr(options, part) for part in VOICES})
    normalise(corpus)
    write(corpus["train"] + corpus["dev"], options.out / "fit")
    write(corpus["test"], options.out / "test")
    parts = {part: [{"name": one.name, "text": one.text, "voice": one.voice, "frames": len(one.features),
                     "phones": len(one.runs)} for one in spoken] for part, spoken in corpus.items()}
    (options.out / "corpus.json").write_text(json.dumps({"seed": options.seed, "left_out": left_out, "parts": parts}))


if __name__ == "__main__":
    try:
        main()
    except espeak.Missing as error:
        sys.exit(str(error))
