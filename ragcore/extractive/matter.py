"""How well each unit speaks of what was asked: shared words, words that mean the like, and the meaning of the whole."""

import asyncio
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
    """Return the matter of a question; ``units`` come from ``chunks``, in their order, and are not empty.

    Only the embedder is waited for: all else is done in threads.
    """
    weighing = await asyncio.to_thread(_Weighing, question, units, chunks, expectation, options)
    felt = await _felt(question, weighing.compared, weighing.texts, len(units), embedder)
    alone = await asyncio.to_thread(weighing.told_apart, felt)
    vectors = await _embedded(embedder, alone)
    return await asyncio.to_thread(weighing.matter, felt, alone, vectors)


class _Weighing:
    """The weighing of one question's units, in the parts that lie between what an embedder is asked. Blocks.

    ``compared`` are the units that are best by their words, ``texts`` what each of them says, for its meaning.
    """

    def __init__(
        self,
        question: str,
        units: Sequence[Unit],
        chunks: Sequence[ScoredChunk],
        expectation: Expectation,
        options: ExtractOptions,
    ) -> None:
        """Weigh by words alone."""
        self._question, self._units, self._expectation, self._options = question, units, expectation, options
        words = question_words(question, identifier=options.identifier)
        self._asked = {word.term for word in words}
        self._spoken = [speaks(one, chunks, question, named=is_named(one, self._asked)) for one in units]
        self._pools, self._names = [pool(text) for text in self._spoken], [names_of(unit) for unit in units]
        titles = [place(scored.chunk) for scored in chunks]
        self._places = [content(title) for title in titles]
        self._words = words = without_straddling(
            words, {term for texts in (self._pools, self._places) for one in texts for term in one}
        )
        self._weight = _weights(words, self._pools)
        self._above = [unit.chunk for unit in units]
        self._titles = [titles[i] for i in self._above]
        self._relevance = np.array([chunks[i].score for i in self._above])
        self._worth = 1.0 - options.passage + options.passage * self._relevance / (self._relevance.max() or 1.0)
        openings = [opening(units, self._pools, chunk) for chunk in range(len(chunks))]
        self._topics = [{**opening, **place} for opening, place in zip(openings, self._places, strict=True)]

        kinds = np.array([[float(_says_kind(word.written, unit.text)) for word in words] for unit in units])
        self._kinds = kinds.reshape(len(units), len(words))

        plain = Likeness((), None)
        shared = np.maximum(plain.matrix(words, self._pools, self._names), self._kinds)
        topic = plain.matrix(words, self._topics)[self._above]
        self._by_words = options.words * _coverage(shared, topic, self._weight, options)
        self.compared = self._comparable()
        self.texts = [f"{self._titles[i]}: {units[i].whole}" for i in self.compared]

    def _comparable(self) -> list[int]:
        """Return the indexes of the units that are best by words and in the question's language, if it is known."""
        language, known = language_of(self._question), self._options.known_languages
        if known is not None and language not in known:
            return []
        best = _ranked(self._by_words * self._worth)[: self._options.embedded]
        return [i for i in best if language_of(self._units[i].whole) == language]

    def told_apart(self, felt: Floats) -> list[str]:
        """Return the words that are to be compared by meaning; none where no meaning was."""
        if np.isnan(felt).all():
            return []
        # The very sentence that answers in other words is found by its meaning.
        ranked = _ranked((self._by_words + self._options.meaning * np.nan_to_num(felt)) * self._worth)
        nearest = [i for i in ranked if not np.isnan(felt[i])][: self._options.compared]
        return words_to_embed(self._words, [*(self._pools[i] for i in nearest), *self._places])

    def matter(self, felt: Floats, alone: Sequence[str], vectors: NDArray[np.float32] | None) -> Matter:
        """Return the matter, with what single words (``alone``) mean by their vectors."""
        units, words, options = self._units, self._words, self._options
        likeness = Likeness(alone, vectors)
        held = np.maximum(likeness.matrix(words, self._pools, self._names), self._kinds)
        if not (circumstance(self._question) or is_how_to(self._question)):
            mains = [pool(main_clause(text)) for text in self._spoken]
            told = np.maximum(likeness.matrix(words, mains, self._names), self._kinds)
            held = np.where(
                _tells(units, words, told, options), held, np.maximum(np.minimum(held, told), options.aside * held)
            )
        around, topic = (likeness.matrix(words, texts)[self._above] for texts in (self._places, self._topics))
        scores = options.words * _coverage(held, topic, self._weight, options) + options.meaning * np.nan_to_num(felt)
        counted = _counted(self._question, units, words, held, likeness)
        met = np.array([self._expectation.met(unit.text) for unit in units])
        scores = scores + options.expected * counted * met
        named = np.array([is_named(unit, self._asked) for unit in units])
        scores = (scores + options.named * named) * self._worth
        scores = _inherited(units, scores, options.inherited) + options.neighbour * _beside(units, scores)
        return Matter(
            units=units,
            places=self._titles,
            spoken=[f"{title}: {text}" for title, text in zip(self._titles, self._spoken, strict=True)],
            words=words,
            weights=self._weight,
            held=held,
            around=around,
            felt=felt,
            relevance=self._relevance,
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
    question: str, compared: Sequence[int], texts: Sequence[str], count: int, embedder: Embedder | None
) -> Floats:
    """Return the cosine of some of ``count`` units with the question, (count,), NaN for the others."""
    felt = np.full(count, np.nan)
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
