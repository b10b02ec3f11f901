"""Mel-frequency cepstral coefficients with their first and second differences: 39 numbers per frame of 10 ms.

The usual recipe (Davis and Mermelstein, 1980), with the conventions of the library python_speech_features 0.6:
pre-emphasis x[t] - 0.97 x[t-1]; windows of 25 ms, Hamming; power spectrum |FFT|^2 / N; 26 triangular filters, equally
spaced in mel from 0 to 8000 Hz; logarithm; orthonormal DCT-II, coefficients 0 to 12. Differences are slopes of
regression lines over five frames. Frame i is centred on the middle of [i, i+1) / 100 seconds.
"""

import numpy

FRAMES_PER_SECOND = 100
WINDOW_SECONDS = 0.025
COEFFICIENTS, FILTERS, HIGHEST = 13, 26, 8000.0
EMPHASIS = 0.97


def mel(hertz):
    return 2595 * numpy.log10(1 + hertz / 700)


def hertz(mels):
    return 700 * (10 ** (mels / 2595) - 1)


def filter_bank(rate, size):
    """(FILTERS, size/2 + 1) weights of the bins of a power spectrum of `size` samples."""
    edges = numpy.floor((size + 1) * hertz(numpy.linspace(0, mel(min(HIGHEST, rate / 2)), FILTERS + 2)) / rate)
    bins = numpy.arange(size // 2 + 1)
    bank = numpy.zeros((FILTERS, len(bins)))
    for n in range(FILTERS):
        low, middle, high = edges[n:n + 3]
        rising = (bins >= low) & (bins < middle)
        falling = (bins >= middle) & (bins < high)
        bank[n, rising] = (bins[rising] - low) / (middle - low)
        bank[n, falling] = (high - bins[falling]) / (high - middle)
    return bank


def dct_matrix(inputs, outputs):
    """(outputs, inputs) of the orthonormal DCT-II."""
    n, k = numpy.arange(inputs), numpy.arange(outputs)[:, None]
    matrix = numpy.sqrt(2 / inputs) * numpy.cos(numpy.pi * k * (2 * n + 1) / (2 * inputs))
    matrix[0] /= numpy.sqrt(2)
    return matrix


def windows(samples, rate):
    """(T, samples of a window): T = all whole frames; outside the signal there are zeros."""
    length = round(WINDOW_SECONDS * rate)
    count = int(len(samples) * FRAMES_PER_SECOND // rate)
    first = numpy.round((numpy.arange(count) + 0.5) * rate / FRAMES_PER_SECOND - length / 2).astype(int)
    before = max(0, -int(first[0])) if count else 0
    padded = numpy.concatenate([numpy.zeros(before), samples, numpy.zeros(length)])
    return padded[(first + before)[:, None] + numpy.arange(length)]


def cepstra(framed, rate):
    """(T, COEFFICIENTS) of windows (T, samples) of a signal that is already emphasised."""
    size = 1 << (framed.shape[1] - 1).bit_length()
    power = numpy.abs(numpy.fft.rfft(framed * numpy.hamming(framed.shape[1]), size)) ** 2 / size
    energies = numpy.maximum(power @ filter_bank(rate, size).T, numpy.finfo(float).eps)
    return numpy.log(energies) @ dct_matrix(FILTERS, COEFFICIENTS).T


def differences(features, reach=2):
    """Slopes over frames t-reach..t+reach; the first and last frame are repeated beyond the ends."""
    padded = numpy.pad(features, ((reach, reach), (0, 0)), mode="edge")
    count = len(features)
    slope = sum(n * (padded[reach + n:reach + n + count] - padded[reach - n:reach - n + count])
                for n in range(1, reach + 1))
    return slope / (2 * sum(n * n for n in range(1, reach + 1)))


def features(samples, rate):
    """(T, 39): coefficients, differences, differences of differences."""
    samples = numpy.asarray(samples, dtype=float)
    emphasised = numpy.append(samples[:1], samples[1:] - EMPHASIS * samples[:-1])
    static = cepstra(windows(emphasised, rate), rate)
    slope = differences(static)
    return numpy.hstack([static, slope, differences(slope)])


def with_context(values, offsets):
    """(T, F·len(offsets)): the frames t + offset side by side; the ends are repeated."""
    index = numpy.arange(len(values))
    return numpy.hstack([values[numpy.clip(index + offset, 0, len(values) - 1)] for offset in offsets])
