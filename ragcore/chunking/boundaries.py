"""Where a text may be cut, and how good a place each is.

Simple rules on purpose: a wrong sentence border only moves a cut. Every pattern is matched in one pass and starts at
the beginning of a run of its characters, so that a megabyte of full stops or blanks costs no more than prose.
"""

import re
from collections.abc import Iterator, Sequence
from enum import IntEnum

from ragcore.characters import is_edge
from ragcore.types import SectionKind


class Strength(IntEnum):
    """How well the text before a boundary stands alone."""

    CHARACTER = 0
    WORD = 1
    CLAUSE = 2
    SENTENCE = 3
    LINE = 4
    PARAGRAPH = 5


_BLANKS = r"[^\S\n]"
_CLOSERS = r"[\"'”’»›)\]}*_）］】」』》〉]{0,4}"
# After a lone capital or digit and a full stop ("J. Smith", "1. Scope") and after the commonest abbreviations a
# sentence seldom ends.
_NO_STOP = r"(?<!\b[A-Z0-9]\.)(?<!\b(?:Dr|Mr|Ms|No|vs|cf|al)\.)(?<!\b(?:Mrs|e\.g|i\.e|Fig|Inc)\.)"
_STOP = rf"(?<![.!?…])[.!?…]++{_NO_STOP}{_CLOSERS}{_BLANKS}++(?=[^\sa-z])"
_WIDE_STOP = rf"(?<![。！？；｡．।۔؟])[。！？；｡．।۔؟]++{_CLOSERS}{_BLANKS}*+"

_PROSE = re.compile(
    rf"(?P<PARAGRAPH>\n(?:{_BLANKS}*+\n)++)|(?P<LINE>\n)|(?P<SENTENCE>{_STOP}|{_WIDE_STOP})",
)
_ROWS = re.compile(r"(?P<LINE>\n)")
_CODE = re.compile(
    rf"(?P<PARAGRAPH>\n(?:{_BLANKS}*+\n)++(?=[^\s)\]}}]))|(?P<LINE>\n(?:{_BLANKS}*+\n)++)|(?P<SENTENCE>\n)"
)

_INNER = (
    _PROSE,
    re.compile(
        rf"(?P<CLAUSE>(?<![,;:—–|])[,;:—–|]++{_CLOSERS}{_BLANKS}++|(?<![，、：])[，、：]++{_CLOSERS}{_BLANKS}*+)"
    ),
    re.compile(r"(?P<WORD>(?<!\s)\s++)"),
)


def boundaries(text: str, kind: SectionKind, delimiters: Sequence[str]) -> Iterator[tuple[int, Strength]]:
    """Yield (offset, strength) of the places where the text may be cut, in order, none at 0; the last is the end.

    Delimiters, when given, replace the rules for prose; blanks after one belong to what it ends, as it does itself.
    None lies within what a reader sees as one character, such as a line break of two.
    """
    end = 0
    for match in _pattern(kind, delimiters).finditer(text):
        if is_edge(text, match.end()):
            end = match.end()
            yield end, Strength[match.lastgroup or "SENTENCE"]
    if end < len(text):
        yield len(text), Strength.PARAGRAPH


def last_boundary(text: str, start: int, end: int) -> tuple[int, Strength]:
    """Return the best place to cut within ``text[start:end]``, not in its first half: the strongest kind, the last.

    ``end`` itself, a boundary between characters, when there is none.
    """
    middle = (start + end + 1) // 2
    for pattern in _INNER:
        found = [match for match in pattern.finditer(text, middle, end) if is_edge(text, match.end())]
        if found:
            strongest = max(found, key=lambda match: (Strength[match.lastgroup or "WORD"], match.end()))
            return strongest.end(), Strength[strongest.lastgroup or "WORD"]
    return end, Strength.CHARACTER


def _pattern(kind: SectionKind, delimiters: Sequence[str]) -> re.Pattern[str]:
    if kind is SectionKind.TABLE:
        return _ROWS
    if kind is SectionKind.CODE:
        return _CODE
    if delimiters:
        return re.compile(rf"(?P<SENTENCE>(?:{'|'.join(map(re.escape, delimiters))}){_BLANKS}*+)")
    return _PROSE
