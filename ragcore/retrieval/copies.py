"""Chunks that say the same but for small differences: the first of them is given out, and the others are told with it.

Two texts are copies when nine in ten of all runs of three words that either has stand in both, and when they have the
same numbers: a price, a date or an error code makes another text, however alike the rest. So does a negation. Of a
short text the title and headings count too, for "Yes." is the same answer to many questions.

Measured on pairs of chunks that were found together for the same question (``faq-zoomcamp``, 6,300 pairs): of pairs
that aren't the same to the letter none shares more than 0.73 of its runs.
"""

import re
from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from typing import TypeVar

from ragcore.types import Chunk

T = TypeVar("T")

SHARED = 0.9
"""Share of their runs of words that two copies have in common."""
RUN = 3
"""Words of a run; a character of Chinese, Japanese or Korean is a word."""
SHORT = 25
"""Words below which title and headings must be the same too."""
GLANCE = 0.5
"""Share of what stands between blanks that two texts must have in common to be compared at all: it costs a tenth."""
CHARACTERS_A_WORD = 12
"""More characters than this for each different word between blanks: a script without blanks, told by its characters."""

_UNSPACED = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+")
_TELLING = re.compile(
    r"\d|^(?:not?|never|none|nor|without|cannot|t|nicht|kein\w*|ohne|ne|pas|sans|sin|не|нет|без)$|[不没沒无無未非勿禁]"
)
"""What makes another text of one that is the same otherwise: numbers and negations (``don't`` is ``don`` and ``t``)."""


def collapsed(chunks: Sequence[Chunk], most: int) -> list[tuple[int, ...]]:
    """Return the places of chunks in groups of copies: each group in order, and the groups by their first.

    The texts of a group are copies of its first one.

    Args:
        chunks: The chunks, best first.
        most: How many groups are wanted; what comes after them is only looked at for copies of these.
    """
    groups: list[list[int]] = []
    firsts: list[_Words] = []
    for place, chunk in enumerate(chunks):
        words = _Words(chunk)
        group = next((number for number, first in enumerate(firsts) if words.are_those_of(first)), None)
        if group is not None:
            groups[group].append(place)
        elif len(groups) < most:
            groups.append([place])
            firsts.append(words)
    return [tuple(group) for group in groups]


class _Words:
    """What of a chunk is compared, each part made when it is needed first."""

    def __init__(self, chunk: Chunk) -> None:
        self._chunk = chunk
        text = chunk.text.casefold()
        blanks = frozenset(text.split())
        if len(text) > CHARACTERS_A_WORD * len(blanks):
            blanks = frozenset(text)
        self._seen = blanks if len(blanks) >= SHORT else frozenset()  # a short one is compared at once

    def are_those_of(self, other: "_Words") -> bool:
        """Return whether the two are copies; a summary is none of what it sums up."""
        if self._chunk.is_summary != other._chunk.is_summary:
            return False
        if self._seen and other._seen and not _alike(self._seen, other._seen, GLANCE):
            return False
        if self._written == other._written:
            return True
        return _alike(self._runs, other._runs, SHARED) and self._telling == other._telling

    @cached_property
    def _written(self) -> list[str]:
        words: list[str] = _WORD.findall(self._chunk.text.casefold())
        if len(words) >= SHORT:
            return words
        above = "\n".join((self._chunk.title, *self._chunk.heading_path))
        return [*_WORD.findall(above.casefold()), "\n", *words]

    @cached_property
    def _runs(self) -> frozenset[tuple[str, ...]]:
        words = self._written
        if len(words) < RUN:
            return frozenset({tuple(words)})
        return frozenset(zip(*(words[start:] for start in range(RUN)), strict=False))

    @cached_property
    def _telling(self) -> Counter[str]:
        return Counter(word for word in self._written if _TELLING.search(word))


def _alike(one: frozenset[T], other: frozenset[T], least: float) -> bool:
    """Return whether two sets share at least this part of all that they hold together; two empty ones do."""
    if min(len(one), len(other)) < least * max(len(one), len(other)):
        return False
    shared = len(one & other)
    return shared >= least * (len(one) + len(other) - shared)
