"""Sections that are read together, joined to one text."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise, takewhile

from ragcore.boxes import few
from ragcore.chunking.pieces import Piece
from ragcore.tokens import Tokenizer
from ragcore.types import Location, Section, SectionKind

_BETWEEN = "\n\n"
_MOST_BLANK_LINES = 8


def joined(sections: Sequence[Section], tokenizer: Tokenizer, limit: int) -> Piece | None:
    """Return all sections as one piece, None where that has more tokens than ``limit``, or no text at all.

    Their texts stand in it as they are, a blank line between them, or as many lines as the document has there. The
    heading path is what theirs have in common. The place is where the first begins, with the rows or lines of all where
    each has some in the same sheet; a lone section's kind stays, several are text.
    """
    filled = [section for section in sections if section.text.strip()]
    if not filled:
        return None
    total = 0
    for section in filled:
        # What is far over the limit is not joined first to be counted: a token has few characters, this is linear.
        total += tokenizer.count(section.text)
        if total > 2 * limit:
            return None
    text = filled[0].text + "".join(_gap(before, after) + after.text for before, after in pairwise(filled))
    tokens = tokenizer.count(text)
    if tokens > limit:
        return None
    return Piece(
        text=text,
        token_count=tokens,
        kind=filled[0].kind if len(filled) == 1 else SectionKind.TEXT,
        heading_path=_common([section.heading_path for section in filled]),
        location=_place(filled),
    )


def _gap(before: Section, after: Section) -> str:
    """Return what stands between two sections: as many line breaks as in the document, where its lines are known."""
    first = _first_line(after)
    lines = first - before.location.last_line if first and before.location.last_line else 0
    return "\n" * lines if 1 <= lines <= _MOST_BLANK_LINES else _BETWEEN


def _first_line(section: Section) -> int:
    """Return the line where the text begins: those of a table count from behind its header."""
    first = section.location.first_line
    return max(1, first - section.header.count("\n")) if first else 0


def _common(paths: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    levels = zip(*paths, strict=False)
    return tuple(names[0] for names in takewhile(lambda names: len(set(names)) == 1, levels))


def _place(sections: Sequence[Section]) -> Location:
    first = sections[0].location
    if len(sections) == 1:
        return first
    places = [section.location for section in sections]
    has_lines = all(place.first_line for place in places)
    has_rows = all(place.first_row and place.sheet == first.sheet for place in places)
    return replace(
        first,
        first_line=_first_line(sections[0]) if has_lines else 0,
        last_line=max(place.last_line for place in places) if has_lines else 0,
        first_row=first.first_row if has_rows else 0,
        last_row=max(place.last_row for place in places) if has_rows else 0,
        boxes=few([box for place in places for box in place.boxes]),
    )
