"""Cut a text into spans within a token budget, at the best places.

Pure and linear: each unit (a sentence, a line) is counted once, then the cuts are chosen together, as a typesetter
breaks a paragraph into lines: the sum over all chunks of how empty each is and how weak the place where it ends.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from ragcore.characters import is_edge
from ragcore.chunking.boundaries import Strength, boundaries, last_boundary
from ragcore.tokens import Tokenizer
from ragcore.types import SectionKind

EMPTINESS = 1.0
WEAKNESS = {
    Strength.PARAGRAPH: 0.0,
    Strength.LINE: 0.02,
    Strength.SENTENCE: 0.1,
    Strength.CLAUSE: 0.3,
    Strength.WORD: 0.6,
    Strength.CHARACTER: 1.0,
}
"""What a cut costs, beside ``EMPTINESS`` for a chunk with nothing in it."""

# A token of English holds 4 to 5 characters; runs of blanks and rules hold up to 128.
_CHARACTERS_A_TOKEN = 16
# Units below this share of the budget, in characters, are joined before anything is counted.
_CRUMB = 16


@dataclass(frozen=True, slots=True)
class Unit:
    """``text[start:end]``, which may be cut from what follows at the given cost."""

    start: int
    end: int
    tokens: int
    strength: Strength


def pack(
    text: str, kind: SectionKind, delimiters: Sequence[str], budget: int, tokenizer: Tokenizer
) -> list[tuple[int, int]]:
    """Return the (start, end) of consecutive spans that tile the text, each within the budget.

    Args:
        text: The text, of any length; the empty text has no span.
        kind: Prose ends at sentences, a table at rows, code at lines.
        delimiters: When given, the strings after which prose may be cut.
        budget: Most tokens in one span.
        tokenizer: Counts them.
    """
    units = _units(text, kind, delimiters, budget, tokenizer)
    spans: list[tuple[int, int]] = []
    for first, last in _groups([unit.tokens for unit in units], [WEAKNESS[unit.strength] for unit in units], budget):
        spans += _within(text, units[first : last + 1], budget, tokenizer)
    return spans


def _units(text: str, kind: SectionKind, delimiters: Sequence[str], budget: int, tokenizer: Tokenizer) -> list[Unit]:
    units: list[Unit] = []
    start = 0
    for end, strength in boundaries(text, kind, delimiters):
        if end - start < budget // _CRUMB and end < len(text) and strength < Strength.PARAGRAPH:
            continue
        tokens = tokenizer.count(text[start:end])
        if tokens <= budget:
            units.append(Unit(start, end, tokens, strength))
        else:
            units += _split(text, Unit(start, end, tokens, strength), budget, tokenizer)
        start = end
    return units


def _split(text: str, unit: Unit, budget: int, tokenizer: Tokenizer) -> list[Unit]:
    """Split what is over budget into about equal parts, each ending at the best boundary of its second half."""
    parts: list[Unit] = []
    start, left = unit.start, unit.tokens
    while left > budget:
        share = -(-left // -(-left // budget))
        end, strength = _part(text, start, unit.end, (min(budget, share + budget // 8), budget), tokenizer)
        tokens = tokenizer.count(text[start:end])
        parts.append(Unit(start, end, tokens, strength))
        start, left = end, left - tokens
        if left <= budget:
            # Parts are counted apart, so what is left is an estimate until now.
            left = tokenizer.count(text[start : unit.end])
    if start < unit.end:
        parts.append(Unit(start, unit.end, left, unit.strength))
    return parts


def _part(text: str, start: int, end: int, limits: tuple[int, int], tokenizer: Tokenizer) -> tuple[int, Strength]:
    """Return where the part that begins at ``start`` ends; the second limit is for a character over the first."""
    for limit in limits:
        head = tokenizer.head(text[start : min(end, start + limit * _CHARACTERS_A_TOKEN)], limit)
        reach = start + max(1, len(head))
        if reach >= end:
            return end, Strength.CHARACTER
        # From the part's beginning, an edge itself: what lies before may be one endless run of flags or marks.
        if is_edge(text[start : reach + 1], reach - start):
            return last_boundary(text, start, reach)
    return reach, Strength.CHARACTER


def _groups(tokens: Sequence[int], weakness: Sequence[float], budget: int) -> list[tuple[int, int]]:
    """Return (first, last) of the runs of units that cost least together, each within the budget by the sum."""
    best = [0.0]
    came_from: list[int] = []
    for last in range(len(tokens)):
        total, cheapest, origin = 0, float("inf"), last
        for first in range(last, -1, -1):
            total += tokens[first]
            if total > budget and first < last:
                break
            empty = 1.0 - min(total, budget) / budget
            cost = best[first] + EMPTINESS * empty * empty + weakness[last]
            if cost < cheapest:
                cheapest, origin = cost, first
        best.append(cheapest)
        came_from.append(origin)
    groups: list[tuple[int, int]] = []
    end = len(tokens)
    while end > 0:
        groups.append((came_from[end - 1], end - 1))
        end = came_from[end - 1]
    return groups[::-1]


def _within(text: str, units: Sequence[Unit], budget: int, tokenizer: Tokenizer) -> list[tuple[int, int]]:
    """Return the span of the units, halved as long as it counts more than its units did one by one."""
    start, end = units[0].start, units[-1].end
    if len(units) == 1 or tokenizer.count(text[start:end]) <= budget:
        return [(start, end)]
    middle = len(units) // 2
    return [
        *_within(text, units[:middle], budget, tokenizer),
        *_within(text, units[middle:], budget, tokenizer),
    ]
