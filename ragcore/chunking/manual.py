"""Method ``manual``: nested numbered headings of a text without markup become the heading path of each chunk.

Such as 1, 1.1 and 1.1.1, Appendix A; 第一章, 一、, （一）. The text is cut at them, and each part as ``naive`` cuts a
section. Headings that the format marks (Markdown, Word styles, larger type in a PDF) stay as they are; what is found
stands below them.
"""

from collections.abc import Sequence

from ragcore.chunking import naive
from ragcore.chunking.heading_lines import Kind
from ragcore.chunking.pieces import ChunkOptions, Piece
from ragcore.chunking.text_headings import lines_of, numbered_headings, under_headings
from ragcore.tokens import Tokenizer
from ragcore.types import Section

_NUMBERED = frozenset(Kind) - {Kind.NAMED}
_FEWEST = 2
"""One numbered heading alone would stand over all that follows, whose own headings went unseen."""


def chunk(
    sections: Sequence[Section], options: ChunkOptions, tokenizer: Tokenizer, following: Section | None
) -> list[Piece]:
    """Return the pieces of a document, in order; needs all sections at once: a number is judged by those before it."""
    headings = numbered_headings(lines_of(sections), _NUMBERED)
    if len(headings) < _FEWEST:
        headings = []
    return naive.chunk(under_headings(sections, headings), options, tokenizer, following)
