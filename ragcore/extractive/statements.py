"""What was chosen, by statements: each is judged for itself, as words gathered from several say nothing together. Pure.

"Tickets are 6 euros" and "groups book two weeks ahead" hold both words of a question for the ticket of groups, and
neither tells it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ragcore.extractive.likeness import Floats
from ragcore.extractive.matter import Matter, follows


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A unit with those that it leans on.

    ``held`` (words,) is how far these hold each word of the question; ``above`` (words,), how far title, headings and
    the sentence quoted right before it in its paragraph do; both 0..1.
    """

    text: str
    held: Floats
    above: Floats

    @property
    def best(self) -> Floats:
        """How far each word is held by either, (words,), 0..1."""
        return np.maximum(self.held, self.above)


def statements(matter: Matter, chosen: Sequence[int]) -> list[Statement]:
    """Return the statements of the chosen units, one for each unit that no other one leans on."""
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
    beside = [i for i in last if follows(matter.units[i], first) and matter.units[i].paragraph == first.paragraph]
    above = matter.around[group].max(axis=0)
    return Statement(
        text=" ".join(matter.units[i].whole for i in group),
        held=matter.held[group].max(axis=0),
        above=np.maximum(above, matter.held[beside].max(axis=0)) if beside else above,
    )
