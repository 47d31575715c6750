"""From evidence to a verdict: one small logistic model whose weights stand here by name.

The weights were fitted on one half of hagrid-cite (told by a hash of the case id; the other half judges), then rounded.
They hold for every language and every set alike; ``benchmarks/citations.py`` measures them. What repeats the answer
counts by its fourth power: a sentence that repeats half of its words and adds a fact reports; one that repeats all of
them concludes.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ragcore.citations.evidence import Evidence

BASE = -2.0
COVER = 3.7
"""Nearly all that the sentence says must stand in the chunk."""
RUN = 3.7
"""A long run of the same words in the same order is hardly chance."""
NUMBERS = -0.9
"""A number that the chunk lacks counts beyond the word that it is."""
VERBATIM = 3.3
"""To the letter, it is a quotation."""
LEAD = 5.2
"""What another chunk says better was probably taken from there."""
GIVEN = -6.4
"""A sentence that mostly repeats what the answer has said already concludes rather than reports."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CitationPolicy:
    """What it takes to cite.

    ``insert_at``: the support (0..1) from which a bare sentence gets a citation; ``beside_at``: from which another
    chunk is cited beside the best, no further than ``within`` behind it, in log-odds; ``most``: citations a sentence.
    ``keep_at``: the chunk's own support below which a citation of the model is dropped; lower, since the model read
    the chunk and we only count words. ``similar_at``: the cosine to a sentence of the chunk from which it is kept all
    the same, as a paraphrase. ``known_languages``: those that the embedder can tell apart, where a verdict against
    the model's citation is trusted; None means all.
    """

    insert_at: float = 0.8
    beside_at: float = 0.5
    keep_at: float = 0.3
    similar_at: float = 0.6
    within: float = 3.0
    most: int = 4
    known_languages: frozenset[str] | None = frozenset({"en"})

    def knows(self, language: str) -> bool:
        """Return whether the embedder knows this language."""
        return self.known_languages is None or language in self.known_languages


def own_odds(evidence: Evidence) -> float:
    """Return how likely the chunk supports the sentence, taken by itself, as log-odds: 0 is even."""
    return (
        BASE
        + COVER * evidence.cover
        + RUN * evidence.run
        + NUMBERS * evidence.missing_numbers
        + VERBATIM * evidence.verbatim
    )


def probability(log_odds: float) -> float:
    """Return the probability, 0 to 1, that log-odds stand for."""
    return 1 / (1 + math.exp(-log_odds))


def choose(evidence: Sequence[Evidence], given: float, policy: CitationPolicy) -> list[int]:
    """Return the chunks to cite for a bare sentence, best first: none unless the best is over the threshold.

    Args:
        evidence: Of every chunk.
        given: The share of the sentence, by weight, that the answer has said before it, 0 to 1.
        policy: The thresholds.
    """
    odds = [own_odds(one) + LEAD * one.lead + GIVEN * given**4 for one in evidence]
    ranked = sorted(range(len(odds)), key=lambda index: (-odds[index], index))[: policy.most]
    if not ranked or probability(odds[ranked[0]]) < policy.insert_at:
        return []
    nearest = odds[ranked[0]] - policy.within
    return [index for index in ranked if odds[index] >= nearest and probability(odds[index]) >= policy.beside_at]
