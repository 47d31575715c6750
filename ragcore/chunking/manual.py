"""Method ``manual``: nested numbered headings of a text without markup become the heading path of each chunk.

Such as 1, 1.1 and 1.1.1, Appendix A; 第一章, 一、, （一）. Text may stand on the very next line; below a lone number
such as 1 it may where sections (1.1) show that it is no entry of a list: its own, or those of a chapter that it leads
to or follows. The text is cut at them, and each part as ``naive`` cuts a section. Headings that the format marks
(Markdown, Word styles, larger type in a PDF) stay as they are, but that one numbered 1.1 stands below one numbered 1
whatever their levels; what is found stands below them.
"""

from collections.abc import Sequence
from dataclasses import replace

from ragcore.chunking import naive
from ragcore.chunking.heading_lines import Kind, heading_line
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
    sections = _nested(sections)
    headings = numbered_headings(lines_of(sections), _NUMBERED)
    if len(headings) < _FEWEST:
        headings = []
    return naive.chunk(under_headings(sections, headings), options, tokenizer, following)


def _nested(sections: Sequence[Section]) -> list[Section]:
    """Return the sections under the headings that their numbers stand below: 1.1 below 1, however both are marked.

    Word and PDF often mark all of them as one level, and what reads them sees 1.1 beside 1.
    """
    done: list[Section] = []
    above: list[tuple[tuple[int, ...], str]] = []
    for section in sections:
        path = list(section.heading_path)
        at, number = next(((at, found) for at, text in enumerate(path) if (found := _decimal(text))), (0, ()))
        if number:
            above = [*(one for one in above if _is_below(number, one[0])), (number, path[at])]
            path[at:at] = [text for _, text in above[:-1] if text not in path]
        done.append(replace(section, heading_path=tuple(path)) if len(path) > len(section.heading_path) else section)
    return done


def _decimal(heading: str) -> tuple[int, ...]:
    """Return (2, 1) for a heading such as ``2.1 Terms``, () for any other."""
    found = heading_line(heading)
    return found.number if found is not None and found.kind is Kind.DECIMAL else ()


def _is_below(number: tuple[int, ...], other: tuple[int, ...]) -> bool:
    return len(other) < len(number) and number[: len(other)] == other
