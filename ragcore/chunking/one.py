"""Method ``one``: a document is one chunk, for short ones that make sense as a whole: letters, CVs, minutes.

The one chunk may hold more than ``chunk_tokens``: up to ``MOST_TOKENS``, or ``chunk_tokens`` where that is more. A
longer document is cut by ``naive``. Embedders read a long text window by window and average what they find, so that a
single fact in one weighs less than in a short chunk: words find it, meaning less so.
"""

from collections.abc import Sequence

from ragcore.chunking import naive
from ragcore.chunking.joining import joined
from ragcore.chunking.pieces import ChunkOptions, Piece
from ragcore.tokens import Tokenizer
from ragcore.types import Section

MOST_TOKENS = 4_096
"""Half of the window that is assumed of a model whose own is unknown (8,192 tokens): beside the question, the rules and
the reply, one such document still fits the prompt whole."""


def chunk(
    sections: Sequence[Section], options: ChunkOptions, tokenizer: Tokenizer, following: Section | None
) -> list[Piece]:
    """Return the document as one piece, or those of ``naive`` where it is too long; needs all sections at once."""
    whole = joined(sections, tokenizer, max(MOST_TOKENS, options.chunk_tokens))
    return naive.chunk(sections, options, tokenizer, following) if whole is None else [whole]
