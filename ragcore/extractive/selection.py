"""Choosing the sentences that answer a question, and setting them as a text with citations."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ragcore.citations import markers
from ragcore.extractive.expectation import Expectation
from ragcore.extractive.units import Unit, units_of
from ragcore.models.embeddings import Embedder
from ragcore.terms import Kind, is_stop_word, language_of, terms
from ragcore.types import Chunk, ScoredChunk


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractOptions:
    """How an extractive answer is chosen; every weight is a share of a score in 0..1."""

    sentences: int = 4
    """At most this many units, besides those that a leaning one brings."""
    chunks: int = 5
    """Units are taken from this many of the best chunks."""
    embedded: int = 32
    """Only so many units, the best by words, are compared by meaning: what an embedder does in a third of a second."""
    words: float = 0.6
    meaning: float = 0.4
    passage: float = 0.5
    """How much a sentence loses for standing in a passage that is worth nothing beside the best one."""
    neighbour: float = 0.12
    """A sentence beside a good one gains: an answer often goes on in the next sentence. Table rows don't go on."""
    inherited: float = 0.5
    """A sentence that opens with a pronoun speaks of what the one before it names, so it inherits of its score."""
    identifier: float = 2.0
    """How much more a code, version or file name of the question weighs than a word as rare."""
    expected: float = 0.15
    """A question for a time, a price, a reason is answered by a sentence that holds one."""
    share_of_best: float = 0.75
    """A further sentence must score at least this share of the best."""
    share_of_missing: float = 0.35
    """The same for one that holds a kind of answer which was asked for and which the chosen ones lack."""
    share_elsewhere: float = 0.9
    """The same for one of another passage: it has to say something of its own, not only sound alike."""
    repeated: float = 0.7
    """A sentence that shares this many of its words with a chosen one says nothing new."""


_DEFAULT_OPTIONS = ExtractOptions()


async def extract(
    question: str, chunks: Sequence[ScoredChunk], embedder: Embedder | None, options: ExtractOptions = _DEFAULT_OPTIONS
) -> str:
    """Return the best-supported whole sentences as a text with ``[ID:n]`` markers, n an index into chunks.

    Best first, none repeated; a sentence that opens with a pronoun brings the one before it, and sentences that
    follow each other in the document keep their order. A table row reads as ``column: value``. "" when no sentence of
    the chunks shares anything with the question.
    """
    considered = chunks[: options.chunks]
    candidates = [unit for index, scored in enumerate(considered) for unit in units_of(scored.chunk, index)]
    if not candidates:
        return ""
    expectation = Expectation(question)
    scores = await _score(question, candidates, considered, expectation, embedder, options)
    return _set(_choose(candidates, scores, expectation, options))


async def _score(
    question: str,
    units: Sequence[Unit],
    chunks: Sequence[ScoredChunk],
    expectation: Expectation,
    embedder: Embedder | None,
    options: ExtractOptions,
) -> NDArray[np.float64]:
    """Return a score for each unit, (n,), higher is better: shared words, meaning, and the passage it stands in."""
    best_passage = max(scored.score for scored in chunks) or 1.0
    passage = np.array([chunks[unit.chunk].score / best_passage for unit in units])
    worth = 1.0 - options.passage + options.passage * passage
    base = options.words * _coverage(question, units, chunks, options.identifier)
    base += options.meaning * await _meaning(question, units, chunks, base * worth, embedder, options.embedded)
    base += options.expected * np.array([expectation.met(unit.text) for unit in units])
    base *= worth
    return _inherit(units, base, options.inherited) + options.neighbour * _beside(units, base)


def _coverage(
    question: str, units: Sequence[Unit], chunks: Sequence[ScoredChunk], identifier: float
) -> NDArray[np.float64]:
    """Return which share of the question's words, the rare ones weighing more, each unit holds.

    A word that only the unit's heading or title has counts half: the sentence stands under it.
    """
    wanted = set(_content(question))
    held = [set(_content(unit.text)) for unit in units]
    around = [set(_content(" ".join((scored.chunk.title, *scored.chunk.heading_path)))) for scored in chunks]
    seen = Counter(term for terms_of_unit in held for term in terms_of_unit & wanted)
    codes = {term.text for term in terms(question) if term.kind is Kind.IDENTIFIER}
    weight = {t: math.log(1 + len(units) / (0.5 + seen[t])) * (identifier if t in codes else 1.0) for t in wanted}
    total = sum(weight.values()) or 1.0
    return np.array(
        [
            sum(weight[t] for t in wanted & own) / total
            + 0.5 * sum(weight[t] for t in (wanted & around[unit.chunk]) - own) / total
            for unit, own in zip(units, held, strict=True)
        ]
    )


async def _meaning(
    question: str,
    units: Sequence[Unit],
    chunks: Sequence[ScoredChunk],
    base: NDArray[np.float64],
    embedder: Embedder | None,
    embedded: int,
) -> NDArray[np.float64]:
    """Return the cosine of question and unit, clipped to 0..1, for the best units; 0 where it says nothing.

    Texts in another language than the question's are not compared: an embedder that knows one language finds
    everything in another one alike.
    """
    found = np.zeros(len(units))
    language = language_of(question)
    ranked = sorted(range(len(units)), key=lambda i: (-base[i], i))[:embedded]
    chosen = [i for i in ranked if language_of(units[i].text) == language]
    if embedder is None or not chosen:
        return found
    texts = [_in_context(units[i], chunks[units[i].chunk].chunk) for i in chosen]
    vectors = await embedder.embed([question, *texts])
    found[chosen] = np.clip(vectors[1:] @ vectors[0], 0.0, 1.0)
    return found


def _in_context(unit: Unit, chunk: Chunk) -> str:
    return f"{chunk.heading_path[-1]}: {unit.text}" if chunk.heading_path else unit.text


def _inherit(units: Sequence[Unit], base: NDArray[np.float64], share: float) -> NDArray[np.float64]:
    """Add to each leaning unit a share of the score of the unit before it, never to more than that unit has."""
    scores = base.copy()
    for i in range(1, len(units)):
        if units[i].leans and _follows(units[i - 1], units[i]):
            scores[i] = max(scores[i], min(scores[i] + share * scores[i - 1], 0.95 * scores[i - 1]))
    return scores


def _follows(before: Unit, unit: Unit) -> bool:
    return before.chunk == unit.chunk and before.order + 1 == unit.order


def _beside(units: Sequence[Unit], base: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return for each unit the better score of its two neighbours in the same chunk, 0 at the edges."""
    gain = np.zeros(len(units))
    for i in range(1, len(units)):
        if _follows(units[i - 1], units[i]) and not units[i].row:
            gain[i] = max(gain[i], base[i - 1])
            gain[i - 1] = max(gain[i - 1], base[i])
    return gain


def _choose(
    units: Sequence[Unit], scores: NDArray[np.float64], expectation: Expectation, options: ExtractOptions
) -> list[Unit]:
    """Return the chosen units in reading order: best first, but neighbours as they stand in the document."""
    ranked = sorted(range(len(units)), key=lambda i: (-scores[i], i))
    best = ranked[0]
    chosen: list[int] = []
    for i in ranked:
        share = options.share_of_best if units[i].chunk == units[best].chunk else options.share_elsewhere
        if scores[i] >= share * scores[best]:
            chosen += _fresh(units, i, chosen, options)
    for i in ranked:
        # A question may ask two things at once: "when, and why?"
        missing = expectation.missing([units[j].text for j in chosen])
        near = units[i].chunk == units[best].chunk and scores[i] >= options.share_of_missing * scores[best]
        if near and missing.met(units[i].text):
            chosen = chosen[: options.sentences - 1] + _fresh(units, i, chosen, options)
    return [units[i] for run in _runs(units, chosen[: options.sentences]) for i in run]


def _fresh(units: Sequence[Unit], i: int, chosen: Sequence[int], options: ExtractOptions) -> list[int]:
    """Return what choosing a unit adds: itself after those that it leans on; nothing if that was said already."""
    needed = _with_what_it_leans_on(units, i)
    said = {units[j].text for j in (*chosen, *needed[:-1])}
    if units[i].text in said or any(_repeats(units[i], units[j], options) for j in chosen if j not in needed):
        return []
    return [j for j in needed if j not in chosen and units[j].text not in {units[k].text for k in chosen}]


def _with_what_it_leans_on(units: Sequence[Unit], i: int) -> list[int]:
    """Return the unit's index after those of the units that it can't stand without, at most two back."""
    needed = [i]
    while len(needed) < 3 and units[needed[0]].leans and needed[0] > 0:
        before = units[needed[0] - 1]
        if not _follows(before, units[needed[0]]):
            break
        needed.insert(0, needed[0] - 1)
    return needed


def _runs(units: Sequence[Unit], chosen: Sequence[int]) -> list[list[int]]:
    """Group what was chosen into runs of neighbours, each in the document's order, in the order of first mention."""
    runs: list[list[int]] = []
    for i in sorted(chosen):
        if runs and runs[-1][-1] == i - 1 and _follows(units[i - 1], units[i]):
            runs[-1].append(i)
        else:
            runs.append([i])
    return sorted(runs, key=lambda run: min(chosen.index(i) for i in run))


def _repeats(unit: Unit, other: Unit, options: ExtractOptions) -> bool:
    mine, theirs = set(_content(unit.text)), set(_content(other.text))
    return len(mine & theirs) >= options.repeated * max(1, min(len(mine), len(theirs)))


def _content(text: str) -> list[str]:
    """Return the terms that carry meaning: no stop words, no single characters of scripts that pairs cover."""
    return [term.text for term in terms(text) if term.kind is not Kind.CHARACTER and not is_stop_word(term.text)]


_SENTENCE_STOP = re.compile(r"[.!?。！？…]+[\"'”’」』)）]*$")


def _set(units: Sequence[Unit]) -> str:
    """Write the units as one text, each with its marker before the final stop; a new passage is a new paragraph."""
    parts: list[str] = []
    for before, unit in zip([None, *units], units, strict=False):
        if before is not None:
            parts.append(_gap(before, unit))
        parts.append(_cited(unit))
    return "".join(parts)


def _gap(before: Unit, unit: Unit) -> str:
    if before.chunk != unit.chunk:
        return "\n\n"
    return "" if language_of(before.text) in {"zh", "ja"} else " "


def _cited(unit: Unit) -> str:
    stop = _SENTENCE_STOP.search(unit.text)
    end = stop.start() if stop else len(unit.text)
    said = unit.text[:end].rstrip()
    return said + markers.spaced(said + ".", len(said), markers.marker(unit.chunk)) + unit.text[end:]
