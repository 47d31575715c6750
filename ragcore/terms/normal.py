"""Normal form of a word: case, accents and width folded, then stemmed by its script."""

import re
import threading
import unicodedata
from collections.abc import Callable

import snowballstemmer

# Letters that no Unicode decomposition takes apart.
_LETTERS = str.maketrans(
    {"ø": "o", "đ": "d", "ð": "d", "ł": "l", "ħ": "h", "ŧ": "t", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th", "ŋ": "n"}
)
_IGNORED = dict.fromkeys(map(ord, "\u00ad\u200c\u200d\u0640"))
_ACCENTS = re.compile("[\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670]+")
_ASCII_WORD = re.compile("[a-z]+")
_LATIN = re.compile("[a-z\u00c0-\u024f\u1e00-\u1eff\u0370-\u03ff\u1f00-\u1fff]")


def fold(word: str) -> str:
    """Fold width, case, accents and joiners: ``Ｃａｆé`` gives ``cafe``.

    Marks that carry the vowel (Devanagari and its kin) and й stay, since they tell words apart.
    """
    if word.isascii():
        return word.lower()
    word = unicodedata.normalize("NFKC", word).translate(_IGNORED).casefold()
    if _LATIN.search(word):
        word = unicodedata.normalize("NFKD", word.translate(_LETTERS))
    return _ACCENTS.sub("", word).replace("ё", "е")


class _Stemmers(threading.local):
    """Snowball's stemmers by the first letter's script, each made when first needed.

    Of each thread its own: a stemmer keeps the word that it is at, and searches run in several threads.
    """

    _RANGES = (
        ("a", "z", "english"),
        ("\u0400", "\u052f", "russian"),
        ("\u0370", "\u03ff", "greek"),
        ("\u0600", "\u06ff", "arabic"),
        ("\u0900", "\u097f", "hindi"),
        ("\u0b80", "\u0bff", "tamil"),
        ("\u0530", "\u058f", "armenian"),
    )

    def __init__(self) -> None:
        """Start without any."""
        self._made: dict[str, Callable[[str], str]] = {}

    def stem(self, word: str) -> str:
        """Return the stem, or the word itself when no stemmer knows its script."""
        for first, last, name in self._RANGES:
            if first <= word[0] <= last:
                if name not in self._made:
                    self._made[name] = snowballstemmer.stemmer(name).stemWord
                return self._made[name](word)
        return word


_stemmers = _Stemmers()


def stem(word: str) -> str:
    """Stem a folded word; what holds a digit stays as it is."""
    if not word or not (_ASCII_WORD.fullmatch(word) or (not word.isascii() and word.isalpha())):
        return word
    return _stemmers.stem(word) or word
