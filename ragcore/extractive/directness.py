"""Whether a statement plainly answers a question, or what was chosen is only near to it. Pure.

A statement answers plainly when it, with what stands above it, holds the telling words of the question, and the kind of
answer that is waited for. A word that it lacks may be the very one that makes another thing of what is asked: the
company's car, the calibration of a meter, how a password is reset.
"""

from collections.abc import Collection, Sequence

import numpy as np

from ragcore.extractive.agents import names_nobody
from ragcore.extractive.counting import measured
from ragcore.extractive.degrees import degrees
from ragcore.extractive.expectation import Expectation, has_number, is_of_kind
from ragcore.extractive.form import (
    action,
    asks_whether,
    circumstance,
    is_of_another,
    questions,
    takes_anything,
)
from ragcore.extractive.matter import Matter
from ragcore.extractive.measures import is_past_bound, keeps_rate
from ragcore.extractive.options import ExtractOptions
from ragcore.extractive.pools import pool
from ragcore.extractive.statements import Statement, statements
from ragcore.extractive.words import LIGHTEST, TIMES, Word, content


def is_direct(question: str, matter: Matter, chosen: Sequence[int], options: ExtractOptions) -> bool:
    """Whether one of the chosen statements plainly answers the question, or each that it asks at once."""
    if _tells_no_circumstance(question, matter.words):
        return False
    said = statements(matter, chosen)
    following = [*(one if one.goes_on else None for one in said[1:]), None]
    return all(
        any(_answers(asked, matter, one, after, options) for one, after in zip(said, following, strict=False))
        for asked in questions(question)
    )


def is_near(
    question: str, matter: Matter, chosen: Sequence[int], options: ExtractOptions, *, sure: bool = True
) -> bool:
    """Whether one of the chosen statements is of the matter, or of one that the question asks at once.

    It holds one of the telling words by itself, and enough of them, or is near in meaning; where it isn't ``sure`` that
    the passages are relevant at all, both. Extremes and comparisons are no matter: "most" says nothing about what there
    is most of.
    """
    said = statements(matter, chosen)
    return any(_is_of(asked, matter, one, options, sure=sure) for asked in questions(question) for one in said)


def _is_of(question: str, matter: Matter, one: Statement, options: ExtractOptions, *, sure: bool) -> bool:
    telling = [j for j in _telling(matter.words, question) if not any(degrees(matter.words[j].written))]
    if not telling or one.held[telling].max() < options.met:
        return False
    weights = matter.weights[telling]
    share = float(one.best[telling] @ weights) / float(weights.sum())
    felt = float(np.fmax.reduce(matter.felt[list(one.units)]))  # NaN only where all are
    if np.isnan(felt):
        return share >= (options.enough_near if sure else options.enough_near_alone)
    by_words, by_meaning = share >= options.enough_near, felt >= options.felt_near
    if not sure:
        return by_words and by_meaning
    return (by_words and felt >= options.felt_at_all) or (by_meaning and share >= options.some_near)


def _telling(words: Sequence[Word], question: str) -> list[int]:
    """Return the indexes of the telling words that stand in a question."""
    of_it = content(question)
    return [j for j, word in enumerate(words) if word.weight >= LIGHTEST and word.term in of_it]


def _tells_no_circumstance(question: str, words: Sequence[Word]) -> bool:
    """Whether the question has a clause of which no word is left to find: "before I take a week off"."""
    when = content(circumstance(question))
    return bool(when) and not any(
        words[j].term in when and words[j].term not in TIMES for j in _telling(words, question)
    )


def _answers(question: str, matter: Matter, one: Statement, after: Statement | None, options: ExtractOptions) -> bool:
    """Whether a statement holds what is asked; the kind of answer may stand in the one right ``after`` it."""
    rest = after.text if after else ""
    if not _is_of_the_kind(question, matter, one, rest):
        return False
    if takes_anything(question) and _holds_its_code(matter.words, one):
        return True
    telling = _telling(matter.words, question)
    counted = matter.counted[[*one.units, *(after.units if after else ())]]
    if counted.max() < options.met and measured(question, {matter.words[j].written for j in telling}):
        return False
    exact = asks_whether(question)
    own = [j for j in telling if (_stands(matter, one, j) if exact else _held(one, j, options))]
    by_topic = [j for j in telling if j not in own and one.topic[j] >= 1.0]
    # What the paragraph is about may be left unsaid, not what is said of it.
    met = {*own, *(by_topic if len(by_topic) <= len(own) else ())}
    if not _does_it(question, matter, one, own):
        return False
    missing = [
        matter.words[j]
        for j in telling
        if j not in met
        and not _across(matter.words, met, j)
        and not (rest and is_of_kind(matter.words[j].written, rest))
    ]
    spare = 0 if exact else int(_size([matter.words[j] for j in telling])) // options.words_a_spare
    return _size(missing) <= spare and not any(_is_particular(word) for word in missing)


def _held(one: Statement, j: int, options: ExtractOptions) -> bool:
    """Whether a statement holds a word itself, or one of like meaning, or the title and headings have it exactly."""
    return max(float(one.held[j]), float(np.floor(one.above[j]))) >= options.met


def _is_of_the_kind(question: str, matter: Matter, one: Statement, rest: str) -> bool:
    """Whether a statement gives such a thing as is asked for: a time, a price, somebody, so much a day."""
    return (
        Expectation(question).given(f"{one.text} {rest}")
        and not names_nobody(question, one.text)
        and not is_of_another(question, one.text)
        and not is_past_bound(question, one.text)
        and keeps_rate(question, " ".join(matter.spoken[i] for i in one.units))
    )


def _does_it(question: str, matter: Matter, one: Statement, own: Collection[int]) -> bool:
    """Whether a statement holds what is to be done, in a question how to do it; true in any other.

    Where the question leaves open what is to be done, a row of a table seldom tells it.
    """
    done = next(iter(content(action(question))), None)
    if done is None:
        return True
    telling = next((j for j in _telling(matter.words, question) if matter.words[j].term == done), None)
    return not all(matter.units[i].row for i in one.units) if telling is None else telling in own


def _size(words: Sequence[Word]) -> float:
    """Return how many words these are: the parts of a compound aren't counted, and two pairs of characters are one."""
    whole = [word for word in words if not any(word is not other and word.written in other.written for other in words)]
    return sum(0.5 if word.across else 1.0 for word in whole)


def _is_particular(word: Word) -> bool:
    """Whether a word is a name or a number: however long the question, it is of this one."""
    return word.names or has_number(word.written)


def _holds_its_code(words: Sequence[Word], one: Statement) -> bool:
    """Whether the question has a code, and the statement holds each."""
    codes = [j for j, word in enumerate(words) if word.is_code]
    return bool(codes) and bool(one.held[codes].min() >= 1.0)


def _stands(matter: Matter, one: Statement, j: int) -> bool:
    """Whether a word itself stands in a statement or above it."""
    return any(matter.words[j].term in pool(matter.spoken[i]) for i in one.units)


def _across(words: Sequence[Word], met: Collection[int], j: int) -> bool:
    """Whether a pair of characters only stands across the border of two others that are met."""
    term = words[j].term
    beside = [words[k].term for k in met if words[k].term in words[j].across]
    return any(other[-1] == term[0] for other in beside) and any(other[0] == term[-1] for other in beside)
