"""How a talk that is longer than the model's window is divided, and the notes of its parts put together. Pure."""

import re
from collections.abc import Sequence

from ragcore.citations import markers
from ragcore.citations.resting import numbered_anew
from ragcore.citations.sentences import split_sentences

_BULLET = re.compile(r"^[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]*$")


def divided(costs: Sequence[int], room: int, most: int) -> tuple[range, ...]:
    """Return the newest stretches of neighbours that each fit the room, in order; ``most`` of them at most.

    One that is larger than the room is a stretch of its own. What comes before all of them is left out.

    Args:
        costs: What each takes, in order.
        room: What a stretch may take.
        most: How many there may be.
    """
    found: list[range] = []
    end = len(costs)
    while end and len(found) < most:
        start, left = end - 1, room - costs[end - 1]
        while start and costs[start - 1] <= left:
            start -= 1
            left -= costs[start]
        found.append(range(start, end))
        end = start
    return tuple(reversed(found))


def only_cited(text: str) -> str:
    """Return a text without the sentences that cite nothing, and without headings and signs that are left alone.

    A line that leads in ("Decided:") goes too: all that is told rests on a message.
    """
    kept = "".join(
        # Of what is left out the ends of lines stay.
        text[one.start : one.end]
        if markers.find(text[one.body : one.body_end])
        else "\n" * text.count("\n", one.body_end, one.end)
        for one in split_sentences(text)
    )
    lines = [line.rstrip() for line in kept.splitlines()]
    return "\n".join(line for line in lines if line and not _BULLET.match(line)).strip()


def put_together(notes: Sequence[Sequence[str]], most: int) -> tuple[str, ...]:
    """Return so many lines of the parts' notes in order, as evenly shared out as can be: the first ones of each."""
    taken = [0] * len(notes)
    for _ in range(most):
        open_ = [part for part in range(len(notes)) if taken[part] < len(notes[part])]
        if not open_:
            break
        taken[min(open_, key=lambda part: (taken[part], part))] += 1
    return tuple(line for part, count in zip(notes, taken, strict=True) for line in part[:count])


def shifted(text: str, by: int) -> str:
    """Return a text whose markers count on from so many."""
    return numbered_anew(text, {marker.id: marker.id + by for marker in markers.find(text)})
