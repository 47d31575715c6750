"""When two names mean the same thing, by rules alone. Pure.

The rules: case, accents, width, punctuation, plural, article, legal form, and short forms that stand in brackets.
``key_of`` gives equal names one key, its words in order. A name stands in a text where its key stands in that of the
text, word by word; of unspaced scripts (Chinese, Japanese, Korean, Thai ...) each character is such a word.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ragcore.terms import is_stop_word
from ragcore.terms.normal import fold
from ragcore.terms.scripts import UNSPACED

LONGEST = 100
"""Characters of a name. What is longer is no name, but a sentence."""
MOST_WORDS = 16
"""Words of a name, or characters of an unspaced script."""
MOST_ASKED = 128
"""Words of a question that are looked at for names."""
_LONGEST_KEY = 200

_WORD = re.compile(rf"[{UNSPACED}]|[^\W_{UNSPACED}]+(?:['’][^\W_{UNSPACED}]+)*")
_IS_UNSPACED = re.compile(rf"[{UNSPACED}]+")
_LATIN = re.compile(r"[a-z]{4,}")
_ENDS_IN_ES = re.compile(r"(?:ss|zz|x|ch|sh)es$")
_DOTTED = re.compile(r"\b(?:[A-Za-z]\.){2,}")
_ARTICLES = frozenset({"the", "a", "an"})
_LEGAL_FORMS = frozenset({"inc", "ltd", "llc", "corp", "plc", "gmbh", "ag"})
# What stands before them is taken as it is found: an expression for it would be tried from each white space anew.
_BRACKETS = re.compile(r"[(（]([^()（）]++)[)）]$")
_BESIDE = (
    r"\s*+[(（]\s*+(?:(?:以下简称|简称|以下簡稱|簡稱)\s*+)?(?:[:：]\s*+)?[\"“”'‘’「]?"
    r"([^()（）\n]{2,60}?)[\"“”'‘’」]?\s*+[)）]"
)

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Word:
    """A word in its normal form, and as it was written."""

    text: str
    written: str


def key_of(name: str) -> str:
    """Return the key of a name, the same for names of the same thing; "" for what is no name.

    No name is what has no letter, consists of function words (unless it is written as an acronym: WHO, IT), is a single
    letter or character, or is longer than a name gets.
    """
    if len(name) > LONGEST:
        return ""
    words = _words(name)
    while len(words) > 1 and words[0].text in _ARTICLES:
        words = words[1:]
    while len(words) > 1 and words[-1].text in _LEGAL_FORMS:
        words = words[:-1]
    return _key(words)


def stands_in(key: str, text: str) -> bool:
    """Return whether a name with this key stands in a text; see ``Text`` for many names."""
    return Text(text).has(key)


class Text:
    """A text that is asked for many names."""

    def __init__(self, text: str) -> None:
        """Cut it into words once."""
        self._written = text
        words = _words(text)
        self._words = f" {' '.join(word.text for word in words)} "
        self._acronyms = frozenset(word.text for word in words if word.written.isupper())

    def has(self, key: str) -> bool:
        """Return whether a name with this key stands in it."""
        is_there = bool(key) and f" {key} " in self._words
        return is_there and (not is_stop_word(key) or key in self._acronyms)

    def short_forms(self, name: str) -> Iterator[tuple[str, str]]:
        """Yield what the text tells in brackets behind a name: the short and the long form, one of them the name.

        ``World Health Organization (WHO)``, ``WHO (World Health Organization)``, ``世界卫生组织（简称世卫组织）``.
        """
        pattern = r"\s+".join(map(re.escape, name.split())) + _BESIDE
        for found in re.finditer(pattern, self._written, re.IGNORECASE):
            beside = found[1].strip()
            if is_short_of(beside, name):
                yield beside, name
            elif is_short_of(name, beside):
                yield name, beside


def parted(name: str) -> tuple[str, str]:
    """Return a name and the other form that it has in brackets, "" where it has none: ``Wide Area Network (WAN)``."""
    found = _BRACKETS.search(name)
    before, inside = (name[: found.start()].rstrip(), found[1].strip()) if found else ("", "")
    if before and "\n" not in before and (is_short_of(inside, before) or is_short_of(before, inside)):
        return before, inside
    return name, ""


def is_short_of(short: str, long: str) -> bool:
    """Return whether a name is made of the first letters of another one, or in Chinese of some of its characters.

    Characters that follow each other in the long one are no sign: 北京大学（北京） tells a place, （北大） a name.
    """
    if len(short) > LONGEST or len(long) > LONGEST:
        return False
    if _IS_UNSPACED.fullmatch(short):
        rest = iter(long)
        return len(short) > 1 and short not in long and all(character in rest for character in short)
    letters = "".join(character for character in short if character.isalnum())
    if sum(map(str.isupper, letters)) < 2 or len(_words(short)) > 1:
        return False
    words = _words(long)
    initials = "".join(word.text[0] for word in words)
    telling = "".join(word.text[0] for word in words if not is_stop_word(word.text))
    return len(words) > 1 and fold(letters) in (initials, telling, f"{initials}s", f"{telling}s")


def names_asked(question: str) -> dict[str, tuple[Span, ...]]:
    """Return every key of a name that may stand in a question, with the places where it would, by words.

    That is each stretch of its first words that could be a name: which of them are names, the graph knows.
    """
    words = _words(question)[:MOST_ASKED]
    shouted = not any(word.written.islower() for word in words)
    found: dict[str, list[Span]] = {}
    for start in range(len(words)):
        for end in range(start + 1, min(start + MOST_WORDS, len(words)) + 1):
            key = _key(words[start:end], shouted=shouted)
            if key:
                found.setdefault(key, []).append((start, end))
    return {key: tuple(spans) for key, spans in found.items()}


def longest_first(asked: Mapping[str, tuple[Span, ...]], known: Sequence[str], most: int) -> list[str]:
    """Return those of the known keys that the question names, at most so many: of names within names the longest."""
    taken: set[int] = set()
    chosen: list[str] = []
    for key in sorted(known, key=lambda key: (asked[key][0][0] - asked[key][0][1], asked[key][0])):
        free = [span for span in asked[key] if taken.isdisjoint(range(*span))]
        if free and len(chosen) < most:
            chosen.append(key)
            taken.update(place for span in free for place in range(*span))
    return chosen


def _words(text: str) -> list[_Word]:
    text = _DOTTED.sub(lambda dotted: dotted[0].replace(".", ""), unicodedata.normalize("NFKC", text))
    found = (match[0] for match in _WORD.finditer(text))
    words = (_Word(_singular(fold(written)), written) for written in found)
    return [word for word in words if word.text]


def _singular(word: str) -> str:
    """Return a word without its possessive and, of Latin script, its plural; a stem would be too short for names."""
    word = word.removesuffix("'s").removesuffix("’s").replace("'", "").replace("’", "")
    if not _LATIN.fullmatch(word) or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies") and len(word) > 4:
        return f"{word[:-3]}y"
    return word[:-2] if _ENDS_IN_ES.search(word) else word[:-1]


def _key(words: Sequence[_Word], *, shouted: bool = False) -> str:
    key = " ".join(word.text for word in words)
    if not 2 <= len(key) <= _LONGEST_KEY or len(words) > MOST_WORDS or not any(map(str.isalpha, key)):
        return ""
    if not all(is_stop_word(word.text) for word in words):
        return key
    is_acronym = len(words) == 1 and len(key) > 1 and words[0].written.isupper() and not shouted
    return key if is_acronym else ""
