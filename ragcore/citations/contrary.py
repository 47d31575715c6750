"""Whether two sentences contradict each other in words: another day, another month, one day or ten, so or not so. Pure.

Strict on purpose, since a source that says the same in other words must not be taken for one that says the contrary:
only sentences whose other content words are the same are compared.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from ragcore.citations.counts import claims_one, counted, may_state_one
from ragcore.citations.days import days_of, months_of, plain_days, plain_months
from ragcore.citations.languages import told_by_itself
from ragcore.citations.names import other_name
from ragcore.citations.polarity import Stance, stance, without_answer
from ragcore.citations.small_words import SMALL_WORDS
from ragcore.terms import Kind, is_stop_word, terms

LEAST = 2
"""Content words that two sentences must share beside what tells them apart."""
_DAY, _MONTH = "weekday", "month of the year"
_LONGEST = 600
"""Characters of a sentence that is compared; a longer one is a list or a table."""
_LIGHT = frozenset({
    "every", "each", "must", "need", "also", "always", "usually", "generally", "normally", "typically", "currently",
    "please", "yes", "today", "therefore", "thus", "own",
    "jeden", "jede", "jeder", "immer", "jedoch", "derzeit", "zurzeit",
})  # fmt: skip
_GERMAN = frozenset(SMALL_WORDS["de"].split()) | {"bleibt", "bleiben", "jeweils"}
_JOINED = re.compile(r"\b(?:and|or|und|oder)\s+([^\W\d_]+)|\b([^\W\d_]+)(?=\s+(?:and|or|und|oder)\b)")
_MOST_CLAUSES = 12
_BEFORE = re.compile(
    r"\b(until|till|by|before|after|from|since|starting|beyond|within|up to|at least|at most|more than|less than|over"
    r"|bis|ab|seit|vor|nach|mindestens|höchstens|innerhalb)\b"
    r"(?: (?:the|end|of|early|late|mid|on|zum|dem|den|\d{1,2}(?:st|nd|rd|th|\.)?)){0,3} \Z",
    re.IGNORECASE,
)
_BEHIND = re.compile(r"\s?(之?前|以前|之?后|以后|起|开始|为止|以上|以内|之?内)|(?: at the)? (onwards?|earliest|latest)")
_NEAR = 32
"""Characters before a value in which its bound stands."""
_APART = 8
"""Two sentences with more words that only one of them has are not held against each other."""
_CLAUSES = re.compile(r"[,;:—–，；：、]\s*")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Value:
    """A day, a month or a count of one that a sentence says: any ``of`` these; ``kind`` tells what is compared."""

    kind: str
    of: frozenset[int]
    start: int
    end: int


class Said:
    """A sentence, analysed once for being compared."""

    def __init__(self, sentence: str) -> None:
        """Take a sentence without markers."""
        self.text = without_answer(sentence).strip()
        self.comparable = len(self.text) <= _LONGEST

    @cached_property
    def stance(self) -> Stance:
        """Return whether it says that something is so."""
        return stance(self.text)

    @cached_property
    def values(self) -> tuple[_Value, ...]:
        """Return the days, months and counts that it plainly says."""
        days = [_Value(kind=_DAY, of=of, start=at[0], end=at[1]) for of, at in plain_days(self.text)]
        months = [_Value(kind=_MONTH, of=of, start=at[0], end=at[1]) for of, at in plain_months(self.text)]
        counts = [_Value(kind=unit, of=frozenset({n}), start=at[0], end=at[1]) for unit, n, at in counted(self.text)]
        return (*days, *months, *counts)

    @cached_property
    def claims(self) -> tuple[_Value, ...]:
        """Return what it claims: of counts only one, since larger numbers are checked as numbers are."""
        ones = [_Value(kind=unit, of=frozenset({1}), start=at[0], end=at[1]) for unit, at in claims_one(self.text)]
        return (*(one for one in self.values if one.kind in (_DAY, _MONTH)), *ones)

    @cached_property
    def rest(self) -> frozenset[str]:
        """Return its content words without what it claims."""
        return words_of(_without(self.text, self.claims))

    @cached_property
    def bare(self) -> frozenset[str]:
        """Return its content words without all values."""
        return words_of(_without(self.text, self.values))

    @cached_property
    def words(self) -> frozenset[str]:
        """Return its content words, those beside its values and, in scripts without spaces, those across them."""
        return self.bare | self.every

    @cached_property
    def every(self) -> frozenset[str]:
        """Return its content words, as they stand."""
        return words_of(self.text)

    @cached_property
    def denied(self) -> frozenset[str]:
        """Return its content words without denials, opposites as one."""
        return words_of(self.stance.said)


def _without(text: str, values: Sequence[_Value]) -> str:
    letters = list(text)
    for one in values:
        letters[one.start : one.end] = " " * (one.end - one.start)
    return "".join(letters)


@lru_cache(maxsize=512)
def words_of(text: str) -> frozenset[str]:
    """Return the words that tell what a sentence is about; German ones without the small words of German."""
    german = told_by_itself(text) == "de"
    return frozenset(
        term.text
        for term in terms(text)
        if term.kind is not Kind.CHARACTER
        and not is_stop_word(term)
        and (written := text[term.start : term.end].lower()) not in _LIGHT
        and not (german and written in _GERMAN)
    )


def says_other(sentence: Said, other: Said, *, whole: str = "", context: Collection[str] = frozenset()) -> bool:
    """Whether another sentence contradicts one in words.

    Args:
        sentence: What is checked.
        other: A sentence of a source.
        whole: All that the sources say: a day, month, count or name that stands anywhere in it is no contradiction.
            Left out, the other sentence is all.
        context: The words of titles and headings, which need not be said again.
    """
    if not (sentence.comparable and other.comparable) or sentence.text == other.text or other.stance.asks:
        return False
    text = whole or other.text
    return (
        _other_value(sentence, other, text, frozenset(context))
        or denied_by(sentence, other, frozenset(context))
        or other_name(sentence.text, other.text, text)
    )


def contradict(one: Said, other: Said) -> bool:
    """Whether two sentences of two sources can't both be true, whichever comes first; both have the same words."""
    if not (one.comparable and other.comparable) or one.stance.asks or other.stance.asks:
        return False
    if len(one.every & other.every) < LEAST or len(one.every ^ other.every) > _APART:
        return False
    names = other_name(one.text, other.text, other.text) and other_name(other.text, one.text, one.text)
    if names or denied_by(one, other) or denied_by(other, one):
        return True
    if not (one.bare <= other.words and other.bare <= one.words):
        return False
    found = [_other_value(*pair, pair[1].text, frozenset()) for pair in ((one, other), (other, one))]
    # What is open from Monday to Saturday is open on Wednesday, but what is open until Friday is not.
    return all(found) or (any(found) and len(one.values) == len(other.values))


def _other_value(sentence: Said, other: Said, whole: str, context: frozenset[str]) -> bool:
    """Whether the other says the same of another day, month or count, and the whole text nowhere of this one."""
    if sentence.stance.denies != other.stance.denies:
        return False
    if len(sentence.rest & other.words) < LEAST or sentence.rest - other.words - context:
        return False
    return any(_differs(sentence, other, one) and not one.of & _stated(whole, one.kind) for one in sentence.claims)


def _differs(sentence: Said, other: Said, claim: _Value) -> bool:
    """Whether the other plainly says a value of the kind of one that is claimed, bounded alike, and not claimed."""
    own = frozenset[int]().union(*(one.of for one in sentence.values if one.kind == claim.kind))
    bound = _bound(sentence.text, claim)
    return any(not one.of & own and _bound(other.text, one) == bound for one in other.values if one.kind == claim.kind)


def _bound(text: str, value: _Value) -> str:
    """Return the word that makes a value the end of a stretch: what is closed until Friday is closed on Monday."""
    before = _BEFORE.search(text, max(0, value.start - _NEAR), value.start)
    behind = _BEHIND.match(text, value.end)
    return " ".join((found[1] or found[found.re.groups]).lower() for found in (before, behind) if found)


def of_other_times(sentence: Said, other: str) -> bool:
    """Whether another text speaks of other days or months alone than a sentence does."""
    return any(
        not one.of & days
        for one in sentence.claims
        for days in [_stated(other, one.kind)]
        if one.kind in (_DAY, _MONTH) and days
    )


def _stated(whole: str, kind: str) -> frozenset[int]:
    if kind == _DAY:
        return days_of(whole)
    if kind == _MONTH:
        return months_of(whole)
    return frozenset({1}) if may_state_one(whole, kind) else frozenset()


def denied_by(sentence: Said, other: Said, context: frozenset[str] = frozenset()) -> bool:
    """Whether one says that something is so and the other, or a clause of it, in the same words that it is not."""
    if not sentence.stance.clear or other.stance.conditional:
        return False
    return any(
        _opposed(sentence, said, context)
        for said in (other, *(Said(clause) for clause in _CLAUSES.split(other.text)[:_MOST_CLAUSES]))
    )


def _opposed(sentence: Said, other: Said, context: frozenset[str]) -> bool:
    one, two = sentence.stance, other.stance
    if not two.clear or one.denies == two.denies or len(sentence.denied & other.denied) < LEAST:
        return False
    if (one.may and not two.allows) or (two.may and not one.allows):
        return False
    return not sentence.denied - other.denied - context and not other.denied - sentence.denied - context - _joined(
        other
    )


def _joined(said: Said) -> frozenset[str]:
    """Return the words that another one is joined to by "and": what holds of both holds of each."""
    return words_of(" ".join(part for found in _JOINED.finditer(said.text) for part in found.groups() if part))


def bears_out(sentence: Said, other: Said) -> bool:
    """Whether the other sentence has all words of one and denies them, or doesn't, as that one does."""
    return other.comparable and sentence.denied <= other.denied and sentence.stance.denies == other.stance.denies
