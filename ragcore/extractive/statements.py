"""What was chosen, by statements: each is judged for itself, as words gathered from several say nothing together. Pure.

"Tickets are 6 euros" and "groups book two weeks ahead" hold both words of a question for the ticket of groups, and
neither tells it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ragcore.extractive.likeness import Floats
from ragcore.extractive.matter import Matter, follows
from ragcore.extractive.units import Unit


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A unit with those that it leans on.

    ``units`` are their indexes. ``held`` (words,) is how far these hold each word of the question; ``above`` (words,),
    how far title and headings do; ``topic`` (words,), how far the first sentence of the paragraph does, which says what
    it is about; all 0..1. ``goes_on`` says that it stands right behind the one before it in its
    paragraph.
    """

    units: tuple[int, ...]
    text: str
    held: Floats
    above: Floats
    topic: Floats
    goes_on: bool = False

    @property
    def best(self) -> Floats:
        """How far each word is held by any of these, (words,), 0..1."""
        return np.maximum(np.maximum(self.held, self.above), self.topic)


def statements(matter: Matter, chosen: Sequence[int]) -> list[Statement]:
    """Return the statements of the chosen units, one for each unit that no other one leans on."""
    if not chosen:
        return []
    groups: list[list[int]] = []
    for i in sorted(chosen):
        if groups and matter.units[i].leans and follows(matter.units[groups[-1][-1]], matter.units[i]):
            groups[-1].append(i)
        else:
            groups.append([i])
    before: list[list[int]] = [[], *groups[:-1]]
    return [_statement(matter, group, last[-1:]) for last, group in zip(before, groups, strict=True)]


def _statement(matter: Matter, group: Sequence[int], last: Sequence[int]) -> Statement:
    first = matter.units[group[0]]
    topic = np.zeros(len(matter.words))
    if not (first.items or first.alone):
        topic = matter.held[next(i for i, one in enumerate(matter.units) if _in_paragraph(one, first))]
    return Statement(
        units=tuple(group),
        text=" ".join(matter.units[i].whole for i in group),
        held=matter.held[group].max(axis=0),
        above=matter.around[group].max(axis=0),
        topic=topic,
        goes_on=any(follows(matter.units[i], first) and matter.units[i].paragraph == first.paragraph for i in last),
    )


def _in_paragraph(unit: Unit, other: Unit) -> bool:
    plain = not (unit.items or unit.alone)
    return plain and unit.chunk == other.chunk and unit.paragraph == other.paragraph
