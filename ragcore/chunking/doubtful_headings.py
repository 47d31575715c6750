"""Which lines such as ``1 Safety``, with text on the very next line, are headings: an entry of a list looks the same.

A chapter has sections: one number that has its ``2.1`` below it is a heading's, and so are those that lead to it or go
on from it one by one, written the same way. Without any such section none is.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise

from ragcore.chunking.heading_lines import HeadingLine, Kind

_FIRST = {0, 1}
"""What the first section of a chapter has behind the chapter's number."""


def confirmed(sure: Mapping[int, HeadingLine], doubtful: Mapping[int, HeadingLine]) -> dict[int, HeadingLine]:
    """Return those in doubt that the sure ones show to be headings.

    Args:
        sure: headings by their place in the document.
        doubtful: lines with one number each, by theirs.
    """
    found: dict[int, HeadingLine] = {}
    decimals = {place: one for place, one in sure.items() if one.kind is Kind.DECIMAL and not one.is_stopped}
    ordered = sorted({**decimals, **doubtful}.items())
    for has_dot in (False, True):
        own = [(place, one) for place, one in ordered if len(one.number) > 1 or _has_dot(one) is has_dot]
        with_sections = _with_sections(own)
        for run in _runs([(place, one) for place, one in own if len(one.number) == 1]):
            if any(place in with_sections for place, _ in run):
                found |= {place: one for place, one in run if place in doubtful}
    return found


def begins_late(found: HeadingLine, following: HeadingLine | None) -> bool:
    """Tell whether ``2`` or ``2.1`` is a heading though none before it was seen: what follows it is the next one."""
    number, after = found.number, following.number if following is not None else ()
    is_first = all(part in _FIRST for part in number[1:])
    goes_on = len(number) > 1 and after in {(*number[:-1], number[-1] + 1), (number[0] + 1,), (number[0] + 1, 1)}
    return is_first and (goes_on or after in {(*number, first) for first in _FIRST})


def _has_dot(found: HeadingLine) -> bool:
    return not found.text.partition(" ")[0].isdecimal()


def _with_sections(ordered: Sequence[tuple[int, HeadingLine]]) -> set[int]:
    """Return the places of the one numbers that have their first section next."""
    return {
        place
        for (place, one), (_, after) in pairwise(ordered)
        if len(one.number) == 1 and after.number in {(*one.number, first) for first in _FIRST}
    }


def _runs(ordered: Sequence[tuple[int, HeadingLine]]) -> list[list[tuple[int, HeadingLine]]]:
    """Return what is numbered one by one, as a list of its own each."""
    runs: list[list[tuple[int, HeadingLine]]] = []
    for place, one in ordered:
        if runs and one.number[0] == runs[-1][-1][1].number[0] + 1:
            runs[-1].append((place, one))
        else:
            runs.append([(place, one)])
    return runs
