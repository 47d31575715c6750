"""Which language a text is in: by its script, and among the languages of the Latin script by their small words."""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from ragcore.citations.small_words import SMALL_WORDS, by_word
from ragcore.terms import language_of

LATIN = "latin"
"""A text of the Latin script whose small words don't tell the language: a table cell, a name, a heading."""
_LANGUAGES = by_word()
_WORD = re.compile(r"[^\W\d_]+")
_ENOUGH = 4000
"""Characters of a long text that are looked at."""
_PLAIN = 2
"""By so many small words one language must lead for a sentence to be told by itself, whatever stands around it."""
_SPARSE = 10
"""A language of the Latin script has at least one of its small words in so many; fewer are chance."""
_SCANT = 3
"""In so few words a single small word of another language than English is as likely a name."""
_PARTICLES = frozenset(
    ["da", "dal", "de", "del", "della", "den", "der", "di", "dos", "du", "el", "la", "le", "van", "von", "y", "e"]
)
"""Between two capitalised words these are part of a name: Rio de Janeiro, Ludwig van Beethoven."""


def tongue(text: str, around: Sequence[str] = ()) -> str:
    """Return the language of a text as a code of two letters, or ``LATIN`` when its script alone is known.

    Args:
        text: A sentence, an answer, a chunk.
        around: Texts that are likely to be in the same language, the nearest first: the answer, the question. They
            decide where the text has too few small words to be told by them.
    """
    language, lead = _told(text)
    if lead >= _PLAIN or language not in (LATIN, *SMALL_WORDS):
        return language
    for other in around:
        nearby, clearly = _told(other)
        if nearby != LATIN and (clearly or nearby not in SMALL_WORDS):
            return nearby
    return language


def asked_in(text: str) -> str:
    """Return the language in which whoever wrote this expects an answer, "en" where nothing tells it."""
    language = tongue(text)
    return "en" if language == LATIN else language


def told_by_itself(text: str) -> str:
    """Return the language that a text itself tells clearly, whatever stands around it; "" where it doesn't."""
    language, lead = _told(text)
    return "" if language == LATIN or (language in SMALL_WORDS and lead < _PLAIN) else language


def shared(one: str, other: str) -> str:
    """Return the language that two texts are both in, as far as can be told; "" when they differ."""
    if one == other:
        return "en" if one == LATIN else one
    known = [language for language in (one, other) if language != LATIN]
    return known[0] if len(known) == 1 and known[0] in SMALL_WORDS else ""


def _told(text: str) -> tuple[str, int]:
    """Return the language of a text by itself, and by how many small words it leads; 0 where the script tells it."""
    by_script = language_of(text)
    if by_script != "en":
        return by_script, 0
    words = _WORD.findall(text[:_ENOUGH].lower() if text.isupper() else text[:_ENOUGH])
    found = [word for word in _spoken(words) if word in _LANGUAGES]
    counts = Counter(language for word in found for language in _LANGUAGES[word])
    ranked = sorted(((count, language) for language, count in counts.items()), reverse=True)
    if not ranked or ranked[0][0] * _SPARSE < len(words):
        return LATIN, 0
    most, best = ranked[0]
    # Neighbours such as Danish and Norwegian share nearly all: either name will do, but English is never a guess.
    english = counts.get("en", 0)
    if best == "en" or english == most:
        lead = english - max((count for count, language in ranked if language != "en"), default=0)
        # Two words that another language has as well are English: that language would show words of its own.
        lead = lead or int(sum("en" in _LANGUAGES[word] for word in set(found)) > 1)
        return ("en", lead) if lead else (LATIN, 0)
    return (best, most - english) if most > 1 or len(words) > _SCANT else (LATIN, 0)


def _spoken(words: Sequence[str]) -> list[str]:
    """Return the words that are no part of a name, in lower case: of those with a capital the first one alone."""
    spoken = [word.lower() for word in words[:1]]
    for index, (before, word) in enumerate(pairwise(words), start=1):
        following = words[index + 1 : index + 2]
        in_name = word in _PARTICLES and before[0].isupper() and following and following[0][0].isupper()
        if word.islower() and not in_name:
            spoken.append(word)
    return spoken
