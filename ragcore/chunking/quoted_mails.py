"""The mails that others quote with marks (``>``): whose words they are, and the words without the marks."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from ragcore.mail_lines import QUOTE, attribution_lines

MOST_HEADING = 200
"""Characters of a mail's heading."""
UNTOLD = "(quoted)"
"""The heading of a quote that no line tells the writer of."""
_CONTEXT_LINES = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Below:
    """A mail that stands below another: its lines from ``start`` to before ``end``, and whose words they are.

    ``depth`` is how many mails stand above it: 1 for the one that was answered. ``marks`` is how many marks its lines
    bear; 0 where they bear none.
    """

    start: int
    end: int
    heading: str
    depth: int
    marks: int = 0


def is_context(lines: Sequence[str], start: int, end: int) -> bool:
    """Tell whether a quote is short and has an answer below it, which without it says nothing."""
    below = next((lines[number] for number in range(end, len(lines)) if lines[number]), "")
    return bool(below) and below != "--" and end - start <= _CONTEXT_LINES


def quoted_mails(lines: Sequence[str], quotes: Sequence[tuple[int, int]]) -> list[Below]:
    """Return the mails within the quotes of a mail that aren't there for an answer below them, in order.

    One begins where a line of more marks stands than any above it, and none of fewer below it: else somebody answered
    between the lines, and their order is what makes sense of them. What is quoted in the mail's own words ("It says:")
    is part of them.

    Args:
        lines: those of the mail, no blanks at their ends.
        quotes: its runs of quoted lines, first and behind the last, in order.
    """
    found: list[Below] = []
    for start, end in quotes:
        if not is_context(lines, start, end):
            found += _mails_within(lines, start, end, found[0].heading if found else UNTOLD)
    return found


def unmarked(text: str, marks: int) -> str:
    """Return a text without so many marks, or as many as there are, at the beginning of each line."""
    return re.sub(rf"^(?: ?>){{1,{marks}}} ?", "", text, flags=re.MULTILINE) if marks else text


def _mails_within(lines: Sequence[str], start: int, end: int, untold: str) -> list[Below]:
    depths = [_marks(line) for line in lines[start:end]]
    found: list[tuple[int, str, int]] = []
    deepest, least = 0, _least_from(depths)
    first = next((number for number, depth in enumerate(depths, start) if depth), end)
    for number, depth in enumerate(depths, start):
        if depth <= deepest or least[number - start] < depth:
            continue
        deepest = depth
        begin, heading = _attribution(lines, number, depth - 1)
        if heading:
            found.append((begin, heading, depth))
        elif number == first and not _is_led_to(lines, start):
            found.append((start, untold, depth))
    ends = [*(begin for begin, _, _ in found), end][1:]
    return [
        Below(start=begin, end=last, heading=told, depth=depth, marks=depth)
        for (begin, told, depth), last in zip(found, ends, strict=True)
    ]


def _is_led_to(lines: Sequence[str], start: int) -> bool:
    """Tell whether the mail's own words lead to what stands from a line on."""
    return next((line for line in reversed(lines[:start]) if line), "").endswith((":", "："))


def _least_from(depths: Sequence[int]) -> list[int]:
    """Return the fewest marks of any line that says something, from each line on to the last."""
    most = max(depths)
    said = [depth or most for depth in reversed(depths)]
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
