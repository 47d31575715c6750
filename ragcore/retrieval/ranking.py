"""Candidates in the order of their relevance, before any of them is read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ragcore.retrieval.candidates import Candidates
from ragcore.retrieval.scoring import lifted, relevance, relevance_of_words

RELAXED = 1.5
"""How many times the threshold a chunk must reach when words that stand nowhere are left out of account."""
RELAXED_SHARE = 0.4
"""Share of the question, by weight, that must stand somewhere for the rest to be left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedCandidate:
    """A candidate and its relevance, at most 1; below 0 is what chance reaches too."""

    chunk_id: str
    relevance: float
    found_by: Candidates


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """Candidates of all knowledge bases, best first, and the relevance that they must reach.

    ``relaxed`` says that words which stand nowhere were left out of account, because nothing passed with them;
    ``strict`` is the relevance with all words, by chunk.
    """

    candidates: tuple[RankedCandidate, ...]
    threshold: float
    strict: Mapping[str, float]
    relaxed: bool = False


def rank(groups: Sequence[Candidates], *, weight: float, threshold: float) -> Ranking:
    """Order the candidates; when none reaches the threshold, once more by the relaxed judgement.

    Args:
        groups: The candidates, one group a knowledge base.
        weight: The dense leg's share, 0..1, where it is trusted.
        threshold: The relevance to reach, 0..1.
    """
    ordered = _ordered(groups, weight, relaxed=False)
    relevances = {candidate.chunk_id: candidate.relevance for candidate in ordered}
    strict = Ranking(candidates=ordered, threshold=threshold, strict=relevances)
    if threshold <= 0.0 or (strict.candidates and strict.candidates[0].relevance >= threshold):
        return strict
    known = [group for group in groups if group.weighed and group.weighed.known_share >= RELAXED_SHARE]
    if not known:
        return strict
    relaxed = _ordered(known, weight, relaxed=True)
    return Ranking(candidates=relaxed, threshold=min(1.0, threshold * RELAXED), strict=relevances, relaxed=True)


def _ordered(groups: Sequence[Candidates], weight: float, *, relaxed: bool) -> tuple[RankedCandidate, ...]:
    """Score every group's candidates and sort them together; equals by their ids, so that the order never changes."""
    ranked = [
        RankedCandidate(chunk_id=chunk_id, relevance=float(score), found_by=group)
        for group in groups
        for chunk_id, score in zip(group.ids, _relevances(group, weight, relaxed=relaxed), strict=True)
    ]
    return tuple(sorted(ranked, key=lambda candidate: (-candidate.relevance, candidate.chunk_id)))


def _relevances(group: Candidates, weight: float, *, relaxed: bool) -> NDArray[np.float64]:
    """Return the relevance of each candidate of a group, in the order of its ids; each language is judged apart."""
    ids = group.ids
    coverage = _coverage(group, ids, relaxed=relaxed)
    scores = relevance_of_words(coverage) if coverage is not None else np.zeros(len(ids))
    if group.cosines is not None:
        for language, background in group.backgrounds.items():
            mine = np.array([group.language_of(chunk_id) == language for chunk_id in ids], dtype=bool)
            cosines = np.array([group.cosines.get(chunk_id, background.mean) for chunk_id in ids])[mine]
            scores[mine] = relevance(cosines, None if coverage is None else coverage[mine], background, weight)
    return lifted(scores, np.array([group.exact.get(chunk_id, 0.0) for chunk_id in ids]))


def _coverage(group: Candidates, ids: Sequence[str], *, relaxed: bool) -> NDArray[np.float64] | None:
    """Return the share of the best possible BM25 score, None where words cannot say anything."""
    if group.bm25 is None or group.weighed is None:
        return None
    ceiling = group.weighed.known_ceiling if relaxed else group.weighed.ceiling
    if ceiling <= 0.0:
        return None
    return np.minimum(np.array([group.bm25.get(chunk_id, 0.0) for chunk_id in ids]) / ceiling, 1.0)
