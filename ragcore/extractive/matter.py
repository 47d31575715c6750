"""How well each unit speaks of what was asked: shared words, words that mean the like, and the meaning of the whole."""

import logging
import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ragcore.errors import ModelError
from ragcore.extractive.expectation import Expectation
from ragcore.extractive.likeness import Floats, Likeness, words_to_embed
from ragcore.extractive.options import ExtractOptions
from ragcore.extractive.units import Unit
from ragcore.extractive.words import Word, content, question_words, weights
from ragcore.models.embeddings import Embedder
from ragcore.terms import gaps, language_of
from ragcore.types import Chunk, ScoredChunk

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Matter:
    """A question and the units that may answer it.

    ``weights`` (words,) sum up to 1. ``held`` (units, words) is how far each unit holds each word, ``around``
    (units, words) how far the title and headings above it do; all 0..1. ``felt`` (units,) is the cosine with the
    question, NaN where the embedder was not asked or doesn't know; ``relevance`` (units,) is that of the passage.
    ``scores`` (units,): higher is better.
    """

    units: Sequence[Unit]
    words: Sequence[Word]
    weights: Floats
    held: Floats
    around: Floats
    felt: Floats
    relevance: Floats
    scores: Floats


async def weigh_units(
    question: str,
    units: Sequence[Unit],
    chunks: Sequence[ScoredChunk],
    expectation: Expectation,
    embedder: Embedder | None,
    options: ExtractOptions,
) -> Matter:
    """Return the matter of a question; ``units`` come from ``chunks``, in their order, and are not empty."""
    words = question_words(question, identifier=options.identifier)
    pools = [_pool(_speaks(unit, chunks)) for unit in units]
    places = [content(_place(scored.chunk)) for scored in chunks]
    seen = Counter(term for pool in pools for term in pool)
    rarity = {word.term: math.log(1 + len(units) / (0.5 + seen[word.term])) for word in words}
    weight = np.array(weights(words, rarity))
    above = [unit.chunk for unit in units]
    relevance = np.array([chunks[i].score for i in above])
    worth = 1.0 - options.passage + options.passage * relevance / (relevance.max() or 1.0)

    openings = [_opening(units, pools, chunk) for chunk in range(len(chunks))]
    topics = [{**opening, **place} for opening, place in zip(openings, places, strict=True)]
    plain = Likeness((), None)
    first = _coverage(plain.matrix(words, pools), plain.matrix(words, topics)[above], weight, options) * worth
    ranked = sorted(range(len(units)), key=lambda i: (-first[i], i))
    language = language_of(question)
    known = options.known_languages is None or language in options.known_languages
    compared = [i for i in ranked[: options.embedded] if known and language_of(units[i].text) == language]
    texts = [f"{_place(chunks[units[i].chunk].chunk)}: {units[i].text}" for i in compared]
    alone = words_to_embed(words, [*(pools[i] for i in compared[: options.compared]), *places]) if compared else []
    felt = np.full(len(units), np.nan)
    likeness = plain
    vectors = await _embedded(embedder, [question, *texts, *alone]) if compared else None
    if vectors is not None:
        felt[compared] = np.clip(vectors[1 : 1 + len(texts)] @ vectors[0], 0.0, 1.0)
        likeness = Likeness(alone, vectors[1 + len(texts) :])

    held, around = likeness.matrix(words, pools), likeness.matrix(words, places)[above]
    covered = _coverage(held, likeness.matrix(words, topics)[above], weight, options)
    scores = options.words * covered + options.meaning * np.nan_to_num(felt)
    scores = scores + options.expected * np.array([expectation.met(unit.text) for unit in units])
    asked = {word.term for word in words}
    scores = (scores + options.named * np.array([is_named(unit, asked) for unit in units])) * worth
    scores = _inherited(units, scores, options.inherited) + options.neighbour * _beside(units, scores)
    return Matter(
        units=units,
        words=words,
        weights=weight,
        held=held,
        around=around,
        felt=felt,
        relevance=relevance,
        scores=scores,
    )


async def _embedded(embedder: Embedder | None, texts: Sequence[str]) -> NDArray[np.float32] | None:
    """Return the vectors, None where there is no embedder or it fails, so that words alone must do."""
    if embedder is None:
        return None
    try:
        return await embedder.embed(texts)
    except ModelError as error:
        log.warning("quoting by words alone: the embedder failed: %s", error)
        return None


def follows(before: Unit, unit: Unit) -> bool:
    """Whether a sentence stands right behind another one; lists and rows follow nothing."""
    plain = not (before.items or unit.items or before.alone or unit.alone)
    return plain and before.chunk == unit.chunk and unit.order - before.order == 2


def _opening(units: Sequence[Unit], pools: Sequence[Mapping[str, str]], chunk: int) -> Mapping[str, str]:
    """Return the words of a chunk's first sentence; rows of a table have no such."""
    return next((pools[i] for i, unit in enumerate(units) if unit.chunk == chunk and not unit.alone), {})


def _coverage(held: Floats, around: Floats, weight: Floats, options: ExtractOptions) -> Floats:
    """Return which share of the question's words, by weight, each unit holds, (units,)."""
    covered: Floats = np.maximum(held, options.around * around) @ weight
    return covered


def _pool(text: str) -> dict[str, str]:
    """Return the terms of a text, with what long Chinese words are called for short (年假 for 年休假)."""
    return {**content(text), **{gap: gap for gap in gaps(text)}}


def _place(chunk: Chunk) -> str:
    return " > ".join(dict.fromkeys((chunk.title, *chunk.heading_path)))


def _speaks(unit: Unit, chunks: Sequence[ScoredChunk]) -> str:
    """Return the words by which a unit is found: a list under a heading by that too, a row by the kind of its name."""
    if unit.row is not None:
        return f"{unit.row.name_column} {unit.text}"
    heading = chunks[unit.chunk].chunk.heading_path[-1:]
    return " ".join((*heading, unit.text)) if unit.items else unit.text


def is_named(unit: Unit, asked: Collection[str]) -> bool:
    """Whether a unit is a table's row whose whole name is among the terms asked for."""
    name = content(unit.row.name) if unit.row is not None else {}
    return bool(name) and all(term in asked for term in name)


def _inherited(units: Sequence[Unit], base: Floats, share: float) -> Floats:
    """Add to each leaning unit a share of the score of the unit before it, never to more than that unit has."""
    scores = base.copy()
    for before, i in _neighbours(units):
        if units[i].leans:
            scores[i] = max(scores[i], min(scores[i] + share * scores[before], 0.95 * scores[before]))
    return scores


def _beside(units: Sequence[Unit], base: Floats) -> Floats:
    """Return for each unit the better score of its two neighbours in the same chunk, 0 at the edges."""
    gain: NDArray[np.float64] = np.zeros(len(units))
    for before, i in _neighbours(units):
        gain[i] = max(gain[i], base[before])
        gain[before] = max(gain[before], base[i])
    return gain


def _neighbours(units: Sequence[Unit]) -> list[tuple[int, int]]:
    """Return the indexes of sentences that follow each other; a list may stand between them in the sequence."""
    place = {(unit.chunk, unit.order): i for i, unit in enumerate(units)}
    pairs = ((place.get((unit.chunk, unit.order - 2)), i) for i, unit in enumerate(units))
    return [(before, i) for before, i in pairs if before is not None and follows(units[before], units[i])]
