"""Method ``book``: chapters, whose titles each chunk carries in its heading path.

They are those of the table of contents, found again in the text; without one, lines such as ``Chapter 3``, ``Part II``,
``Epilogue``, 第三章, 第二回. The text is cut at them, and each part then as ``naive`` cuts a section. Headings that the
format marks (Markdown, Word styles, larger type in a PDF) stay as they are; what is found stands below them, except
below that of the table of contents itself.
"""

from collections.abc import Sequence
from dataclasses import replace

from ragcore.chunking import naive
from ragcore.chunking.contents import contents_headings, is_contents
from ragcore.chunking.heading_lines import Kind
from ragcore.chunking.pieces import ChunkOptions, Piece
from ragcore.chunking.text_headings import lines_of, numbered_headings, under_headings
from ragcore.tokens import Tokenizer
from ragcore.types import Section

_CHAPTERS = frozenset({Kind.PART, Kind.CHAPTER, Kind.APPENDIX, Kind.NAMED, Kind.SECTION})


def chunk(
    sections: Sequence[Section], options: ChunkOptions, tokenizer: Tokenizer, following: Section | None
) -> list[Piece]:
    """Return the pieces of a document, in order; needs all sections at once: its table of contents leads on."""
    lines = lines_of(sections)
    headings = contents_headings(lines) or numbered_headings(lines, _CHAPTERS)
    parts = [_beside_contents(part) for part in under_headings(sections, headings)] if headings else sections
    return naive.chunk(parts, options, tokenizer, following)


def _beside_contents(part: Section) -> Section:
    """Return a part with no table of contents above it in its path: where no marked heading follows, it has no end."""
    path = part.heading_path
    kept = (*(one for one in path[:-1] if not is_contents(one)), *path[-1:])
    return part if kept == path else replace(part, heading_path=kept)
