"""A mail's words and the signature below them: it is cut so that the signature never stands alone."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ragcore.chunking.pieces import ChunkOptions
from ragcore.chunking.places import Places
from ragcore.tokens import Tokenizer
from ragcore.types import Section

_BEGINS = [
    re.compile(found) for found in (r"\n[ \t]*\n(?=\S)", r"\n(?=\S)", r"(?:[.!?]\s+|[。！？]\s*)(?=\S)", r"\s(?=\S)")
]
"""Behind which of the words the last part may begin, from best to worst: paragraphs, lines, sentences, words."""
_REACH = 1_000
"""Characters above a signature among which the last part may begin where not all fits."""
_SURELY_LONG = 8
"""Characters a token from which on words are not counted as a whole."""


def signed(
    places: Places,
    text: str,
    start: int,
    end: int,
    signatures: Sequence[tuple[int, int]],
    options: ChunkOptions,
    tokenizer: Tokenizer,
) -> list[Section]:
    """Return the parts of a section that hold words and the signatures below them.

    That is one where all of it fits into a piece or there is no signature, else two, the signatures in the last one
    with as much of the end of the words as is needed to begin well. Where not even a word fits beside them, they are a
    part of their own.

    Args:
        places: those of the section.
        text: the section's.
        start: where the words begin in it.
        end: behind their end.
        signatures: where each begins and ends; what stands before one may be no part of the words.
        options: how many tokens a piece holds.
        tokenizer: counts.
    """
    if not signatures:
        return [places.part(start, end)]
    below = "".join(text[one:other] for one, other in signatures)
    may_fit = end - start <= options.chunk_tokens * _SURELY_LONG
    for at in (*((start,) if may_fit else ()), *_beginnings(text, start, end)):
        whole = text[at:end] + below
        if tokenizer.count(whole) > options.chunk_tokens:
            continue
        last = places.part(at, signatures[-1][1])
        if last.text != whole:  # a quote stood between, and its printed lines
            last = replace(last, text=whole, lines=())
        return [places.part(start, at), last] if at > start else [last]
    return [places.part(start, end), *(places.part(*one) for one in signatures)]


def _beginnings(text: str, start: int, end: int) -> Iterator[int]:
    first = max(start, end - _REACH)
    for pattern in _BEGINS:
        found = [match.end() for match in pattern.finditer(text, first, len(text[:end].rstrip()))]
        if found:
            yield found[-1]
