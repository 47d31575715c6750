"""Which things of the knowledge graph belong together: those that have much to do with each other. Pure.

Again and again the two communities are joined between whose members there are most relations, for the number of pairs
that they could be between, while that is at least ``DENSITY`` of them. This raises the quality of the constant Potts
model (Traag, Van Dooren and Nesterov 2011), which judges a community by what is within it alone: unlike modularity,
which Louvain's and Leiden's methods raise for the graph as a whole, a change of the graph at one place leaves the
communities elsewhere as they are, and what was written of them.
"""

import heapq
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ragcore.graph.values import HEAVIEST

MOST_MEMBERS = 24
"""Things of a community at most: of more, little of each is left in a summary."""
DENSITY = 0.12
"""Relations for each pair of things that must be between two communities for them to be joined: one thing and its
eight neighbours, or two threes that one relation joins, just are."""
_MOST_TOLD = 3.0
"""What is told again and again of two things counts so much at most."""
_DIGITS = 9
"""Decimals that count: more would be rounding, and might differ from one machine to another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tie:
    """That somewhere two things are said to be related, the keys of their names; ``weight`` is 1 to 10."""

    source: str
    target: str
    weight: int


def strengths_of(ties: Iterable[Tie]) -> dict[tuple[str, str], float]:
    """Return how much any two things have to do with each other, above 0, by their keys in order."""
    found: dict[tuple[str, str], float] = {}
    for tie in ties:
        if tie.source != tie.target:
            pair = (min(tie.source, tie.target), max(tie.source, tie.target))
            # Halved at most by its weight: models weigh as they please.
            found[pair] = found.get(pair, 0.0) + (HEAVIEST + tie.weight) / (2 * HEAVIEST)
    return {pair: min(round(strength, _DIGITS), _MOST_TOLD) for pair, strength in found.items()}


def merged(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return, of names that mean the same thing, by each but the first the first of all that do."""
    first: dict[str, str] = {}

    def of(key: str) -> str:
        while key in first:
            key = first[key]
        return key

    for one, other in pairs:
        low, high = sorted((of(one), of(other)))
        if low != high:
            first[high] = low
    return {key: of(key) for key in first}


def communities_of(strengths: Mapping[tuple[str, str], float], *, most: int = MOST_MEMBERS) -> list[tuple[str, ...]]:
    """Return the communities of at least two things, each of its keys in order, and they by their first keys.

    No thing is in two of them. The order of what is given does not matter. 100,000 relations take about two seconds.

    Args:
        strengths: How much two things have to do with each other, above 0.
        most: How many things a community may have.
    """
    ties: dict[str, dict[str, float]] = {}
    for (one, other), strength in strengths.items():
        ties.setdefault(one, {})[other] = strength
        ties.setdefault(other, {})[one] = strength
    members: dict[str, list[str]] = {key: [key] for key in ties}

    def joining(one: str, other: str) -> tuple[float, str, str, int, int] | None:
        one, other = min(one, other), max(one, other)
        sizes = len(members[one]), len(members[other])
        density = round(ties[one][other] / (sizes[0] * sizes[1]), _DIGITS)
        return (-density, one, other, *sizes) if density >= DENSITY and sum(sizes) <= most else None

    waiting = [found for pair in strengths if (found := joining(*pair))]
    heapq.heapify(waiting)
    while waiting:
        _, one, other, *sizes = heapq.heappop(waiting)
        if one not in members or other not in members or sizes != [len(members[one]), len(members[other])]:
            continue  # one of them was joined with another meanwhile
        members[one] += members.pop(other)
        for beside, strength in ties.pop(other).items():
            del ties[beside][other]
            if beside != one:
                ties[one][beside] = ties[beside][one] = round(ties[one].get(beside, 0.0) + strength, _DIGITS)
        for beside in ties[one]:
            if found := joining(one, beside):
                heapq.heappush(waiting, found)
    return sorted(tuple(sorted(some)) for some in members.values() if len(some) > 1)
