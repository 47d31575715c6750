"""Which documents are summarised together, and which of these summaries, up to one for all. Pure.

Documents have no order, so a summary tree over them can't gather neighbours (``tree``). And it must not be gathered
anew at each change: k-means, mixture models and agglomeration move the borders of all clusters when one point comes or
goes, and each cluster that changes is a call of the model. Here each part has a rank that its id alone decides, as in a
skip list; one in ``SHARE`` is a leader, and every other joins the leader that it is most alike. So the leaders are a
random sample of the parts, dense where these are dense, and where a part belongs depends on itself and the leaders, and
on nothing else. A cell with more than may be summarised together is split in itself: its two members of the lowest rank
lead, the others join the one that they are more alike, and so on. The leader stands for its group on the next level,
where one in ``SHARE`` of the leaders leads again.

A document that changes changes its group, that which it came from, and those above them: some two calls a level. Only
one that leads moves others.
"""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from ragcore.enrich.tree import Limits
from ragcore.stores.rows import digest

SHARE = 8
"""Parts of which one leads: with what is split, five or six are summarised together on an average."""
BITS = 60
"""Of a rank: the parts of twenty levels."""
SUMMARY_TOKENS = 320
"""What a summary counts for before it is written: twice what it takes as a rule."""
_DIGITS = 6
"""Decimals of a likeness that count: more would be rounding, and might differ from one machine to another."""
_ODD = 0x9E3779B97F4A7C15
_BLOCK = 4_096
"""Parts that are compared with the leaders at once, which bounds the memory that takes."""

Group = tuple[int, ...]
"""Parts of one level that are summarised together, by their places; one alone is not, and goes up as it is."""


def rank_of(name: str) -> int:
    """Return the rank of a document: of ``BITS`` bits, the same wherever it stands."""
    return int(digest("rank", name)[:15], 16)


def levels(
    ranks: Sequence[int], vectors: NDArray[np.float32], tokens: Sequence[int], limits: Limits
) -> list[list[Group]]:
    """Return the groups of each level, the lowest first: those of a level hold each group of the one below once.

    The last level is one group, unless the limits keep it from that. For one part there is no level.

    Args:
        ranks: of each part, no two alike.
        vectors: its unit vectors, float32 ``(n, dim)``.
        tokens: how many tokens it has.
        limits: what may be summarised together. A part that is over them stands alone.

    100,000 parts take a minute, 10,000 a second.
    """
    found: list[list[Group]] = []
    now, bound = (list(ranks), vectors, list(tokens)), 1 << BITS
    while len(now[0]) > 1:
        bound //= SHARE
        groups = _groups(*now, limits, bound)
        if len(groups) == len(now[0]):
            if not bound:
                break
            continue  # each leads, or is too long: another level has fewer leaders
        found.append(groups)
        leaders = [min(group, key=now[0].__getitem__) for group in groups]
        sizes = [now[2][group[0]] if len(group) == 1 else SUMMARY_TOKENS for group in groups]
        now = ([now[0][one] for one in leaders], now[1][leaders], sizes)
    return found


def _groups(
    ranks: Sequence[int], vectors: NDArray[np.float32], tokens: Sequence[int], limits: Limits, bound: int
) -> list[Group]:
    waiting = _cells(ranks, vectors, bound)
    if _fits(range(len(ranks)), tokens, limits):
        waiting = [list(range(len(ranks)))]
    found: list[Group] = []
    while waiting:
        cell = waiting.pop()
        if len(cell) == 1 or _fits(cell, tokens, limits):
            found.append(tuple(cell))
        else:
            waiting += _halves(cell, ranks, vectors)
    return sorted(found)


def _fits(cell: Iterable[int], tokens: Sequence[int], limits: Limits) -> bool:
    sizes = [tokens[at] for at in cell]
    return len(sizes) <= limits.parts and sum(sizes) <= limits.tokens


def _cells(ranks: Sequence[int], vectors: NDArray[np.float32], bound: int) -> list[list[int]]:
    """Return for each leader the parts that are most like it, itself among them; all in one where none leads."""
    leaders = sorted((at for at, rank in enumerate(ranks) if rank < bound), key=ranks.__getitem__)
    if not leaders:
        return [list(range(len(ranks)))]
    place = {at: number for number, at in enumerate(leaders)}
    cells: list[list[int]] = [[] for _ in leaders]
    heads = vectors[leaders].T
    for start in range(0, len(ranks), _BLOCK):
        likeness = np.round(vectors[start : start + _BLOCK] @ heads, _DIGITS)
        for at, nearest in enumerate(likeness.argmax(axis=1).tolist(), start):
            cells[place.get(at, nearest)].append(at)
    return cells


def _halves(cell: Sequence[int], ranks: Sequence[int], vectors: NDArray[np.float32]) -> tuple[list[int], list[int]]:
    """Return the members that are more like the one of the lowest rank, and those more like the next, in order.

    What is as much like both, as copies are, goes by its rank, so that many of the same end in halves, too.
    """
    first, second, *_ = sorted(cell, key=ranks.__getitem__)
    likeness = np.round(vectors[list(cell)] @ vectors[[first, second]].T, _DIGITS).tolist()
    halves: tuple[list[int], list[int]] = ([], [])
    for at, (one, other) in zip(cell, likeness, strict=True):
        if at in (first, second):
            half = at == second
        elif one == other:
            half = bool((ranks[at] ^ ranks[second]) * _ODD >> BITS & 1)  # another draw at each division
        else:
            half = other > one
        halves[half].append(at)
    return halves
