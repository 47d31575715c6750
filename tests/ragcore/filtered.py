"""Made records and filters: few fields and values, so that conditions are met now and then."""

import random

from hypothesis import strategies as st

from ragcore.filters import ORDERED, WITH_VALUES, WITHOUT_VALUE, Condition, Filter, Operator
from ragcore.stores.rows import storable
from tests.ragcore.nasty import FRAGMENTS

FIELDS = ("year", "status", "due date", "状态")
RANKED = ("2024", "2024.0", "-3", "12,000", "2026-11-23", "2026-11-23T08:00:00Z", "1999-01-01", "0")
WORDS = (
    "active",
    "Active ",
    "ACT",
    "in progress",
    "有效",
    "2024-13-45",
    "007",
    "1234567890123456",
    "a,b",
    'say "x"',
    "%",
    "_",
)

names = st.sampled_from((*FIELDS, "Year", " Due  Date"))
texts = st.sampled_from((*RANKED, *WORDS, "and", "empty", "\\", "o'brien"))
odd = st.one_of(texts, st.sampled_from(FRAGMENTS), st.text(max_size=8))
ODD = (*RANKED, *WORDS, "and", "empty", "\\", "o'brien", *FRAGMENTS, "")
records = st.dictionaries(st.sampled_from(FIELDS), st.one_of(odd, st.just("")), max_size=4)


@st.composite
def conditions(draw: st.DrawFn) -> Condition:
    """Draw a condition that can be."""
    operator = draw(st.sampled_from(Operator))
    field = draw(names)
    if operator in WITHOUT_VALUE:
        return Condition(field, operator)
    if operator in WITH_VALUES:
        return Condition(field, operator, tuple(draw(st.lists(texts, min_size=1, max_size=3))))
    return Condition(field, operator, draw(st.sampled_from(RANKED) if operator in ORDERED else texts))


filters = st.builds(Filter, st.lists(conditions(), min_size=1, max_size=3).map(tuple), st.sampled_from(("all", "any")))


def drawn_record(draw: random.Random) -> dict[str, str]:
    """Draw a record without hypothesis, for worlds that are costly to build."""
    return {field: storable(draw.choice(ODD)) for field in draw.sample(FIELDS, draw.randint(0, len(FIELDS)))}


def drawn_filter(draw: random.Random) -> Filter:
    """Draw a filter without hypothesis."""
    return Filter(tuple(_drawn_condition(draw) for _ in range(draw.randint(1, 3))), draw.choice(("all", "any")))


def _drawn_condition(draw: random.Random) -> Condition:
    operator, field = draw.choice(list(Operator)), draw.choice((*FIELDS, "source", "title", "nowhere"))
    if operator in WITHOUT_VALUE:
        return Condition(field, operator)
    if operator in WITH_VALUES:
        return Condition(field, operator, tuple(draw.choices((*RANKED, *WORDS), k=draw.randint(1, 3))))
    return Condition(field, operator, draw.choice(RANKED if operator in ORDERED else (*RANKED, *WORDS)))
