"""Sentences by a seeded generator: simple grammar, a word list of our own, no text of anybody's.

A sentence has five to nine words and no comma, so that it has no pause inside.
"""

DETERMINERS = "the a this that some each our their his her your my every another".split()
ADJECTIVES = """red green old young small large tall short quick slow happy quiet loud bright dark heavy light cold warm
    fresh dry wet sharp round square wooden yellow purple early late strong weak clever gentle proud brave strange
    narrow wide smooth rough shallow deep hungry thirsty lovely noisy dusty foggy sunny golden silver royal loyal
    northern southern measured azure usual casual""".split()
NOUNS = """house garden river mountain teacher doctor farmer sailor child mother father brother sister cousin neighbour
    window door table chair lamp kitchen bottle basket hammer ladder engine wagon bicycle horse cow goat sheep dog cat
    mouse fox bird eagle fish spider garage treasure measure vision voice choice noise toy coin oyster cloud storm
    thunder breath cloth thing youth yard yacht onion orange apple peach cherry berry potato butter bread cheese soup
    juice water coffee book picture letter paper pencil judge jacket bridge village church beach match watch shoe sugar
    shadow shirt fashion ocean nation question answer story song machine hour power tower flower town owl school pool
    moon spoon boot wool bush cook foot""".split()
VERBS = """found lost bought sold carried followed watched painted opened closed pushed pulled moved lifted visited
    remembered forgot loved feared heard noticed touched washed fixed built broke caught chased taught measured
    enjoyed joined destroyed avoided owned showed changed reached charged judged polished shook took called wanted
    needed kept left met helped guided warned thanked""".split()
PLACES = """in under over behind beside near above below across through around toward without beneath""".split()
ADVERBS = """quickly slowly often never always again today yesterday together alone early outside usually rarely
    carefully loudly quietly there here soon""".split()
INTRANSITIVE = """slept waited laughed danced worked travelled shouted arrived vanished listened whispered returned
    appeared rested stumbled wandered""".split()


def noun_phrase(numbers):
    words = [numbers.choice(DETERMINERS)]
    if numbers.random() < 0.6:
        words.append(numbers.choice(ADJECTIVES))
    return words + [numbers.choice(NOUNS)]


def sentence(numbers):
    """One sentence; numbers is a random.Random."""
    words = noun_phrase(numbers)
    if numbers.random() < 0.6:
        words += [numbers.choice(VERBS)] + noun_phrase(numbers)
        if numbers.random() < 0.4:
            words.append(numbers.choice(ADVERBS))
    else:
        words += [numbers.choice(INTRANSITIVE), numbers.choice(PLACES)] + noun_phrase(numbers)
    return " ".join(words)


def different_sentences(numbers, count):
    """A list of `count` sentences, no two the same."""
    found = {}
    while len(found) < count:
        found.setdefault(sentence(numbers))
    return list(found)
