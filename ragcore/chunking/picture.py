"""Method ``picture``: a picture is one chunk, with a model's description and the words that OCR read in it.

Of a picture with several frames (a fax as TIFF), and of a PDF of scans, each page is one. A chunk may hold more than
``chunk_tokens``: up to ``MOST_TOKENS``, or ``chunk_tokens`` where that is more; what is longer (a page of prose) is cut
by ``naive``. With any other method, description and words are cut apart like the sections of a text.
"""

from collections.abc import Sequence
from itertools import groupby

from ragcore.chunking import naive
from ragcore.chunking.joining import joined
from ragcore.chunking.pieces import ChunkOptions, Piece
from ragcore.tokens import Tokenizer
from ragcore.types import Section

MOST_TOKENS = 1_024
"""A crowded slide or poster, and six sentences on it, twice over."""


def chunk(
    sections: Sequence[Section], options: ChunkOptions, tokenizer: Tokenizer, following: Section | None
) -> list[Piece]:
    """Return the pieces of all pictures, in order; needs all sections at once, lest a picture be given in two parts."""
    pictures = [list(group) for _, group in groupby(sections, key=lambda section: section.location.page)]
    afters = [*(group[0] for group in pictures), following][1:]
    pieces: list[Piece] = []
    for group, after in zip(pictures, afters, strict=True):
        whole = joined(group, tokenizer, max(MOST_TOKENS, options.chunk_tokens))
        pieces += naive.chunk(group, options, tokenizer, after) if whole is None else [whole]
    return pieces
