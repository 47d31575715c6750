"""Made records and filters: few fields and values, so that conditions are met now and then."""

from hypothesis import strategies as st

from ragcore.filters import ORDERED, WITH_VALUES, WITHOUT_VALUE, Condition, Filter, Operator
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
