"""Method ``presentation``: a slide is a chunk, with its tables, its charts and the speaker's notes.

In a PDF each page is a slide. A slide's chunk may hold more than ``chunk_tokens``: up to ``MOST_TOKENS``, or
``chunk_tokens`` where that is more; what is longer (a page of prose) is cut by ``naive``, as is a document with neither
slides nor pages.
"""

from collections.abc import Sequence
from itertools import groupby

from ragcore.chunking import naive
from ragcore.chunking.joining import joined
from ragcore.chunking.pieces import ChunkOptions, Piece
from ragcore.tokens import Tokenizer
from ragcore.types import Section

MOST_TOKENS = 1_024
"""A crowded slide and two minutes of speech (150 words a minute), twice over."""


def chunk(
    sections: Sequence[Section], options: ChunkOptions, tokenizer: Tokenizer, following: Section | None
) -> list[Piece]:
    """Return the pieces of all slides, in order; needs all sections at once, lest a slide be given in two parts."""
    slides = [(slide, list(group)) for slide, group in groupby(sections, key=_slide)]
    afters = [*(group[0] for _, group in slides), following][1:]
    pieces: list[Piece] = []
    for (slide, group), after in zip(slides, afters, strict=True):
        whole = joined(group, tokenizer, max(MOST_TOKENS, options.chunk_tokens)) if slide else None
        pieces += naive.chunk(group, options, tokenizer, after) if whole is None else [whole]
    return pieces


def _slide(section: Section) -> int:
    return section.location.slide or section.location.page
