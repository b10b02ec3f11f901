"""Speech with exact phoneme times, from the library of espeak-ng (Debian package libespeak-ng1) through ctypes.

The synthesizer tells at which sample each phoneme begins (events of type 7, which espeak_Initialize has to be asked
for). The closure of a stop is a run of zeros that it puts before the phoneme's own sound; TIMIT transcribes closures,
so they are found here, at the sample where they begin, and become phones of their own: CLOSURE.
"""

import ctypes

CLOSURE = "closure"
LIBRARY = "libespeak-ng.so.1"
SYNCHRONOUS, PHONEME_EVENTS, PHONEME = 2, 1, 7  # output mode, option and event type of speak_lib.h
RATE, PITCH = 1, 3                              # espeak_PARAMETER
UTF8 = 1
LEAST_CLOSURE = 0.005                           # seconds of silence


class _Name(ctypes.Union):
    _fields_ = [("number", ctypes.c_int), ("name", ctypes.c_char_p), ("string", ctypes.c_char * 8)]


class _Event(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("identifier", ctypes.c_uint), ("text_position", ctypes.c_int),
                ("length", ctypes.c_int), ("milliseconds", ctypes.c_int), ("sample", ctypes.c_int),
                ("user_data", ctypes.c_void_p), ("id", _Name)]


_CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.POINTER(_Event))


class Missing(Exception):
    """espeak-ng is not there; the text says what to install."""


class Speaker:
    """One per process: the library has one state, which what was spoken before changes a little. A fresh process that speaks
    the same sentences in the same order gets the same samples."""

    def __init__(self):
        try:
            self.library = ctypes.CDLL(LIBRARY)
        except OSError as error:
            raise Missing("%s cannot be loaded; install the Debian package espeak-ng (%s)" % (LIBRARY, error)) from error
        self.rate = self.library.espeak_Initialize(SYNCHRONOUS, 0, None, PHONEME_EVENTS)
        if self.rate <= 0:
            raise Missing("espeak-ng found no data; install the Debian package espeak-ng-data")
        self.samples, self.events = [], []
        self.callback = _CALLBACK(self._take)
        self.library.espeak_SetSynthCallback(self.callback)

    def _take(self, samples, count, events):
        if count > 0:
            self.samples.extend(samples[:count])
        index = 0
        while events[index].type:
            if events[index].type == PHONEME:
                self.events.append((events[index].id.string.decode(), events[index].sample))
            index += 1
        return 0

    def speak(self, text, voice, words_per_minute, pitch):
        """(samples, phones): 16-bit samples and (phoneme, first sample, end) in order, from 0 to the last sample.

        The voice is a name such as "en-us+m3". What lies before the first phoneme is a CLOSURE too: silence.
        """
        if self.library.espeak_SetVoiceByName(voice.encode()) != 0:
            raise ValueError("espeak-ng has no voice %s" % voice)
        self.library.espeak_SetParameter(RATE, words_per_minute, 0)
        self.library.espeak_SetParameter(PITCH, pitch, 0)
        self.samples, self.events = [], []
        coded = text.encode() + b"\0"
        self.library.espeak_Synth(coded, len(coded), 0, 1, 0, UTF8, None, None)
        return self.samples, with_closures(self.samples, self.events, int(LEAST_CLOSURE * self.rate))


def with_closures(samples, events, least):
    """(phoneme, first, end) of (phoneme, first sample) events; runs of at least `least` zeros that end at a phoneme's
    first sample are taken from the phoneme before and become CLOSURE."""
    phones, end = [], len(samples)
    for name, first in reversed(events):
        if first < end:
            phones.append((name, first, end))
            end = first
        silent = end
        while silent > 0 and abs(samples[silent - 1]) <= 1:
            silent -= 1
        if end - silent >= least:
            phones.append((CLOSURE, silent, end))
            end = silent
    if end > 0:
        phones.append((CLOSURE, 0, end))
    return phones[::-1]
