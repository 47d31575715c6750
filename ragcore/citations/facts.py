"""Numbers, codes and names: what a chunk must hold for a sentence to rest on it, in whatever language both are."""

import re
import unicodedata
from functools import lru_cache

from ragcore.citations.numbers import missing_numbers
from ragcore.terms import language_of

_CODE = re.compile(r"[A-Za-z0-9]+(?:[._\-/:@+#][A-Za-z0-9]+)*")
_COUNTED = re.compile(
    r"\d+(?:st|nd|rd|th|s|er|e|h|am|pm|[ap]\.m|k|m|bn|x|[kmgt]?b|[kmc]?m|k?g|°?c|%|v|w|hz|min|sec)?", re.IGNORECASE
)
"""A number with an ending or a unit glued to it is no code: 20th, 1990s, 3pm, 5GB."""
_DIGITS_OF_A_CODE = re.compile(r"\d\d|\d.*\W|\W.*\d|_")
"""More than one digit, or a joint: CO2 and MP3 are words that a text may spell out."""
_FILL = re.compile(r"[\s\-‐‑_'’`*\"“”]+")


def contradicts(sentence: str, text: str, *, alike: bool = False) -> bool:
    """Whether a sentence names a number, code or name that the text lacks, as far as any language lets us see.

    Codes (a digit among letters, a joint inside) are compared everywhere. Names can be compared only where both would
    write them alike, Latin names in a sentence of another script; with ``alike``, both being of one language, names
    are left to the terms, since a text may call the same thing otherwise.
    """
    if missing_numbers(sentence, text)[0]:
        return True
    inside = squeezed(text)
    foreign = not alike and language_of(sentence) != "en"
    return any(squeezed(name) not in inside for name in _names(sentence, foreign))


def _names(sentence: str, foreign: bool) -> list[str]:
    found = []
    for match in _CODE.finditer(sentence):
        word = match[0]
        letters = any(c.isalpha() for c in word)
        digit = _DIGITS_OF_A_CODE.search(word) and not all(
            part.isalpha() or _COUNTED.fullmatch(part) for part in re.split(r"[._\-/:@+#]", word)
        )
        if letters and len(word) > 1 and (digit or "_" in word or (foreign and any(c.isupper() for c in word))):
            found.append(word)
    return found


@lru_cache(maxsize=512)
def squeezed(text: str) -> str:
    """Return the text as two writers would agree on it: width and case folded, without spaces, hyphens and quotes."""
    return _FILL.sub("", unicodedata.normalize("NFKC", text).casefold())
