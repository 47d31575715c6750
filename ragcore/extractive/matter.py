"""How well each unit speaks of what was asked: shared words, words that mean the like, and the meaning of the whole."""

import logging
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ragcore.errors import ModelError
from ragcore.extractive.contrasts import says_member
from ragcore.extractive.counting import beside_amounts, counted_by_numbers, has_sign_of, measured
from ragcore.extractive.degrees import grades_alike
from ragcore.extractive.expectation import Expectation, is_of_kind
from ragcore.extractive.families import names_family
from ragcore.extractive.form import (
    circumstance,
    is_how_to,
    main_clause,
    opens_with_condition,
)
from ragcore.extractive.likeness import Floats, Likeness, words_to_embed
from ragcore.extractive.options import ExtractOptions
from ragcore.extractive.pools import is_named, names_of, opening, place, pool, speaks
from ragcore.extractive.units import Unit
from ragcore.extractive.words import LIGHTEST, Word, content, question_words, weights, without_straddling
from ragcore.models.embeddings import Embedder
from ragcore.terms import language_of
from ragcore.types import ScoredChunk

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Matter:
    """A question and the units that may answer it.

    ``weights`` (words,) sum up to 1. ``held`` (units, words) is how far each unit holds each word, ``around``
    (units, words) how far the title and headings above it do; all 0..1. ``felt`` (units,) is the cosine with the
    question, NaN where the embedder was not asked or doesn't know; ``relevance`` (units,) is that of the passage.
    ``counted`` (units,) is how far each speaks of what the question counts or measures, 1 where it does neither.
    ``scores`` (units,): higher is better. ``places`` (units,) is what stands above each, ``spoken`` (units,) all that
    each says, with that.
    """

    units: Sequence[Unit]
    places: Sequence[str]
    spoken: Sequence[str]
    words: Sequence[Word]
    weights: Floats
    held: Floats
    around: Floats
    felt: Floats
    relevance: Floats
    counted: Floats
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
    asked = {word.term for word in words}
    spoken = [speaks(unit, chunks, question, named=is_named(unit, asked)) for unit in units]
    pools, names = [pool(text) for text in spoken], [names_of(unit) for unit in units]
    places = [content(place(scored.chunk)) for scored in chunks]
    words = without_straddling(words, {term for texts in (pools, places) for one in texts for term in one})
    weight = _weights(words, pools)
    above = [unit.chunk for unit in units]
    relevance = np.array([chunks[i].score for i in above])
    worth = 1.0 - options.passage + options.passage * relevance / (relevance.max() or 1.0)
    openings = [opening(units, pools, chunk) for chunk in range(len(chunks))]
    topics = [{**opening, **place} for opening, place in zip(openings, places, strict=True)]

    kinds = np.array([[float(_says_kind(word.written, unit.text)) for word in words] for unit in units])
    kinds = kinds.reshape(len(units), len(words))

    plain = Likeness((), None)
    shared = np.maximum(plain.matrix(words, pools, names), kinds)
    by_words = options.words * _coverage(shared, plain.matrix(words, topics)[above], weight, options)
    felt = await _felt(question, units, chunks, by_words * worth, embedder, options)
    likeness = plain
    if not np.isnan(felt).all():
        # The very sentence that answers in other words is found by its meaning.
        ranked = _ranked((by_words + options.meaning * np.nan_to_num(felt)) * worth)
        nearest = [i for i in ranked if not np.isnan(felt[i])][: options.compared]
        alone = words_to_embed(words, [*(pools[i] for i in nearest), *places])
        likeness = Likeness(alone, await _embedded(embedder, alone))

    held = np.maximum(likeness.matrix(words, pools, names), kinds)
    if not (circumstance(question) or is_how_to(question)):
        told = np.maximum(likeness.matrix(words, [pool(main_clause(text)) for text in spoken], names), kinds)
        held = np.where(
            _tells(units, words, told, options), held, np.maximum(np.minimum(held, told), options.aside * held)
        )
    around, topic = (likeness.matrix(words, texts)[above] for texts in (places, topics))
    scores = options.words * _coverage(held, topic, weight, options) + options.meaning * np.nan_to_num(felt)
    counted = _counted(question, units, words, held, likeness)
    scores = scores + options.expected * counted * np.array([expectation.met(unit.text) for unit in units])
    scores = (scores + options.named * np.array([is_named(unit, asked) for unit in units])) * worth
    scores = _inherited(units, scores, options.inherited) + options.neighbour * _beside(units, scores)
    titles = [place(chunks[unit.chunk].chunk) for unit in units]
    return Matter(
        units=units,
        places=titles,
        spoken=[f"{title}: {text}" for title, text in zip(titles, spoken, strict=True)],
        words=words,
        weights=weight,
        held=held,
        around=around,
        felt=felt,
        relevance=relevance,
        counted=counted,
        scores=scores,
    )


def _tells(units: Sequence[Unit], words: Sequence[Word], told: Floats, options: ExtractOptions) -> NDArray[np.bool_]:
    """Return whether what each unit opens with says for what its main clause answers, (units, 1).

    Its main clause then holds a telling word of the question: "if a card is stolen, call 333" tells whom to call.
    """
    telling = [j for j, word in enumerate(words) if word.weight >= LIGHTEST]
    answers = told[:, telling].max(axis=1, initial=0.0, keepdims=True) >= options.met
    conditions = np.array([[opens_with_condition(unit.text)] for unit in units])
    tells: NDArray[np.bool_] = conditions & answers
    return tells


def _says_kind(word: str, text: str) -> bool:
    """Whether a text has what a word only names the kind of, a rate or an extreme, or the family of, without it."""
    return any(says(word, text) for says in (is_of_kind, grades_alike, names_family, says_member, has_sign_of))


async def _felt(
    question: str,
    units: Sequence[Unit],
    chunks: Sequence[ScoredChunk],
    first: Floats,
    embedder: Embedder | None,
    options: ExtractOptions,
) -> Floats:
    """Return the cosine of the units that are best by ``first`` with the question, (units,), NaN for the others."""
    felt = np.full(len(units), np.nan)
    language = language_of(question)
    known = options.known_languages is None or language in options.known_languages
    best = _ranked(first)[: options.embedded] if known else []
    compared = [i for i in best if language_of(units[i].whole) == language]
    texts = [f"{place(chunks[units[i].chunk].chunk)}: {units[i].whole}" for i in compared]
    vectors = await _embedded(embedder, [question, *texts]) if texts else None
    if vectors is not None:
        felt[compared] = np.clip(vectors[1:] @ vectors[0], 0.0, 1.0)
    return felt


def _ranked(scores: Floats) -> list[int]:
    return sorted(range(len(scores)), key=lambda i: (-scores[i], i))


def _weights(words: list[Word], pools: Sequence[Mapping[str, str]]) -> Floats:
    """Return the weights of the words, those that few units hold heavier, (words,)."""
    seen = Counter(term for one in pools for term in one)
    rarity = {word.term: math.log(1 + len(pools) / (0.5 + seen[word.term])) for word in words}
    return np.array(weights(words, rarity))


def _counted(question: str, units: Sequence[Unit], words: Sequence[Word], held: Floats, likeness: Likeness) -> Floats:
    """Return how far each unit speaks of what is counted or measured, (units,): 1 where the question measures nothing.

    A number answers "how many people" only beside people, or what is like them.
    """
    found = measured(question, {word.written for word in words if word.weight >= LIGHTEST})
    if found is None:
        return np.ones(len(units))
    what, count = found
    column = next(j for j, word in enumerate(words) if word.written == what)
    if not count:
        return held[:, column]
    beside = counted_by_numbers if count == "many" else beside_amounts
    of_what = f"{what} of " in question.lower()  # litres of milk aren't told by any litres
    signs = [float(has_sign_of(what, unit.whole) and not of_what) for unit in units]
    return np.maximum(signs, [likeness.of(words[column], content(beside(unit.whole))) for unit in units])


async def _embedded(embedder: Embedder | None, texts: Sequence[str]) -> NDArray[np.float32] | None:
    """Return the vectors, None where there is no embedder or it fails, so that words alone must do."""
    if embedder is None or not texts:
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


def _coverage(held: Floats, around: Floats, weight: Floats, options: ExtractOptions) -> Floats:
    """Return which share of the question's words, by weight, each unit holds, (units,)."""
    covered: Floats = np.maximum(held, options.around * around) @ weight
    return covered


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
