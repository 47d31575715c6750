"""The mails that stand below another, newest first, in a quote with marks (``>``) at its end."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from ragcore.mail_lines import QUOTE, attribution_lines

MOST_HEADING = 200
"""Characters of a mail's heading."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Below:
    """A mail that stands below another: its lines from ``start`` to before ``end``, and whose words they are."""

    start: int
    end: int
    heading: str


def quoted_mails(lines: Sequence[str], quotes: Sequence[tuple[int, int]]) -> list[Below]:
    """Return the mails within the quote that ends a mail, as far as the lines above them tell whose words they are.

    One begins where a line of more marks stands than any above it, and none of fewer below it: else somebody answered
    between the lines, and their order is what makes sense of them.

    Args:
        lines: those of the mail, no blanks at their ends.
        quotes: its runs of quoted lines, first and behind the last, in order.
    """
    if not quotes or any(lines[quotes[-1][1] :]):
        return []
    start, end = quotes[-1]
    depths = [_marks(line) for line in lines[start:end]]
    found: list[tuple[int, str]] = []
    deepest, least = 0, _least_from(depths)
    for number, depth in enumerate(depths, start):
        if depth <= deepest or least[number - start] < depth:
            continue
        deepest = depth
        begin, heading = _attribution(lines, number, depth - 1)
        if heading:
            found.append((begin, heading))
    ends = [*(begin for begin, _ in found), end][1:]
    return [Below(start=begin, end=last, heading=told) for (begin, told), last in zip(found, ends, strict=True)]


def _least_from(depths: Sequence[int]) -> list[int]:
    """Return the fewest marks of any line that says something, from each line on to the last."""
    said = [depth or max(depths) for depth in reversed(depths)]
    return list(accumulate(said, min))[::-1]


def _marks(line: str) -> int:
    """Return how many marks a line of a quote begins with; 0 for one that says nothing."""
    words = line.lstrip("> ")
    return line[: len(line) - len(words)].count(">") if words and QUOTE.match(line) else 0


def _attribution(lines: Sequence[str], number: int, depth: int) -> tuple[int, str]:
    """Return where the lines begin that tell whose words stand from a line on, and what they say; "" for none.

    They have as many marks as the mail that quotes, ``depth``.
    """
    above = number
    while above and not lines[above - 1].strip("> "):
        above -= 1
    near = [line.lstrip("> ") if _marks(line) == depth else "" for line in lines[max(0, above - 3) : above]]
    count = attribution_lines(near)
    told = " ".join(near[len(near) - count :]) if count else ""
    return above - count, told.rstrip(":： ")[:MOST_HEADING]
