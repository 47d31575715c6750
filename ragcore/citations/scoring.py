"""From evidence to a verdict: one small logistic model whose weights stand here by name.

The weights were fitted on one half of hagrid-cite (chosen by a hash of the case id; the other half judges), rounded,
and hold for every language and every set alike: ``benchmarks/citations.py`` measures them.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ragcore.citations.evidence import Evidence

BASE = -2.5
COVER = 3.6
"""Nearly all that the sentence says must stand in the chunk: this outweighs the rest."""
RUN = 3.5
"""A long run of the same words in the same order is hardly chance."""
NUMBERS = -0.65
NAMES = -0.6
LEAD = 4.2
"""What another chunk says better was probably taken from there."""
VERBATIM = 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CitationPolicy:
    """What it takes to cite.

    ``insert_at``: the support (0..1) from which a bare sentence gets a citation. ``keep_at``: the chunk's own support
    below which a citation of the model is dropped; lower, since the model read the chunk and we only count words.
    ``similar_at``: the cosine to a sentence of the chunk from which it is kept all the same, as a paraphrase.
    ``within``: how far behind the best chunk, in log-odds, another may be to be cited beside it.
    ``most``: citations a sentence. ``known_languages``: those that the embedder can tell apart, where
    a verdict against the model's citation is trusted; None means all.
    """

    insert_at: float = 0.65
    keep_at: float = 0.2
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
        + NAMES * evidence.missing_names
        + VERBATIM * evidence.verbatim
    )


def odds_among(evidence: Evidence) -> float:
    """Return how likely it is this chunk, among all candidates, that the sentence rests on, as log-odds."""
    return own_odds(evidence) + LEAD * evidence.lead


def probability(log_odds: float) -> float:
    """Return the probability, 0 to 1, that log-odds stand for."""
    return 1 / (1 + math.exp(-log_odds))


def choose(evidence: Sequence[Evidence], policy: CitationPolicy) -> list[int]:
    """Return the chunks to cite for a bare sentence, best first: each over the threshold, and near the best."""
    odds = [odds_among(one) for one in evidence]
    threshold = math.log(policy.insert_at / (1 - policy.insert_at))
    ranked = sorted(range(len(odds)), key=lambda index: (-odds[index], index))
    return [index for index in ranked[: policy.most] if odds[index] >= max(threshold, odds[ranked[0]] - policy.within)]
