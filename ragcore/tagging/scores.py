"""From rows that a text resembles to its tags, each with a score of 1 to 10. Pure.

A tag counts by how much more of what was found has it than the tag set as a whole. So does RAGFlow's ``tag_content``
(rag/nlp/search.py): a tenth of ``(c + 1) / (n + 1000)`` over ``(C + 1) / (N + 1000)``, rounded, where a tag stands c
times among n tags of the rows found and C times among the N of all. With its 1000 no tag of a set below some thousand
rows ever comes to 1, so that a model is asked about every chunk; and a row counts the same whether it is about the same
matter or shares a word. Here rows count by their relevance, and the score says how far the tag's share of what was
found lies above its usual share, on the way to all of it.
"""

import math
from collections.abc import Mapping, Sequence

TagScores = tuple[tuple[str, int], ...]
"""Tags with their scores, 1 to 10, the best first; each tag once."""

LOWEST, HIGHEST = 1, 10
"""Scores as RAGFlow's rules ask a model for them."""


def scores_of(found: Sequence[tuple[Sequence[str], float]], usual: Mapping[str, float], most: int) -> TagScores:
    """Return the tags of a text.

    Args:
        found: The tags of each row that it resembles, and the row's relevance, above 0.
        usual: The share of all rows, 0..1 and below 1, that has each tag.
        most: How many tags at most.
    """
    weights: dict[str, float] = {}
    for tags, relevance in found:
        for tag in tags:
            weights[tag] = weights.get(tag, 0.0) + relevance
    total = sum(relevance for _, relevance in found)
    gains = {tag: (weight / total - usual[tag]) / (1.0 - usual[tag]) for tag, weight in weights.items()}
    ordered = sorted(gains, key=lambda tag: (-gains[tag], tag))
    scored = ((tag, round(HIGHEST * gains[tag])) for tag in ordered[:most])
    return tuple((tag, score) for tag, score in scored if score >= LOWEST)


def likeness(one: TagScores, other: TagScores) -> float:
    """Return the cosine of two texts by their tags, 0..1; 0 where either has none."""
    mine, theirs = dict(one), dict(other)
    if not mine or not theirs:
        return 0.0
    shared = sum(score * theirs.get(tag, 0) for tag, score in mine.items())
    return min(1.0, shared / (math.hypot(*mine.values()) * math.hypot(*theirs.values())))
