"""What filters are met by, and how they are written."""

import pathlib
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.errors import ConfigError
from ragcore.filter_grammar import operator_named, parse_filter, print_filter
from ragcore.filters import MOST, MOST_CONDITIONS, ORDERED, Condition, Filter, Kind, Operator, normal, read
from tests.ragcore.filtered import FIELDS, RANKED, conditions, filters, records, texts
from tests.ragcore.nasty import NASTY

_ALL = st.lists(records, max_size=12)


def _met(filtered: Filter, among: list[dict[str, str]]) -> set[int]:
    return {place for place, record in enumerate(among) if filtered.is_met_by(record)}


@given(condition=conditions(), among=_ALL)
def test_a_condition_and_its_opposite_part_what_can_be_compared(
    condition: Condition, among: list[dict[str, str]]
) -> None:
    opposite = condition.opposite
    if opposite is None:
        assert condition.operator in {Operator.STARTS, Operator.ENDS}
        return
    assert opposite.opposite == condition
    left, right = (_met(Filter((one,)), among) for one in (condition, opposite))
    having = {place for place, record in enumerate(among) if read(record.get(condition.name, "")).text}
    if condition.operator in {Operator.EMPTY, Operator.NOT_EMPTY}:
        comparable = set(range(len(among)))
    elif condition.operator.value[0] in "<>":
        kind = condition.values[0].kind
        comparable = {place for place in having if read(among[place][condition.name]).kind is kind}
    else:
        comparable = having
    assert left | right == comparable
    assert not left & right


@given(wanted=st.lists(conditions(), min_size=1, max_size=4), among=_ALL)
def test_and_is_the_intersection_and_or_the_union(wanted: list[Condition], among: list[dict[str, str]]) -> None:
    each = [_met(Filter((condition,)), among) for condition in wanted]
    assert _met(Filter(tuple(wanted), "all"), among) == set.intersection(*each)
    assert _met(Filter(tuple(wanted), "any"), among) == set.union(*each)


@given(filtered=filters)
def test_a_filter_is_read_as_it_was_written(filtered: Filter) -> None:
    again = parse_filter(print_filter(filtered))
    assert again.conditions == filtered.conditions
    assert again.join == filtered.join or len(filtered.conditions) == 1


@given(text=NASTY)
def test_whatever_is_typed_is_a_filter_or_is_refused(text: str) -> None:
    try:
        filtered = parse_filter(text)
    except ConfigError:
        return
    assert parse_filter(print_filter(filtered)) == filtered


@given(text=NASTY)
def test_a_value_has_one_normal_form(text: str) -> None:
    assert normal(normal(text)) == normal(text)
    assert len(normal(text)) <= MOST
    assert read(normal(text)) == read(text)


@given(left=st.sampled_from(RANKED), right=texts)
def test_what_is_ordered_is_less_equal_or_more_if_it_is_of_one_kind(left: str, right: str) -> None:
    met = [Condition("x", sign, left).is_met_by(right) for sign in (Operator.LESS, Operator.EQUAL, Operator.MORE)]
    assert sum(met) == (read(left).kind is read(right).kind)


@pytest.mark.parametrize(
    ("text", "record", "is_met"),
    [
        ("year >= 2024 and status = active", {"year": "2024", "status": "Active"}, True),
        ("year >= 2024 and status = active", {"year": "2023", "status": "Active"}, False),
        ("year >= 2024 or status = active", {"year": "2023", "status": "Active"}, True),
        ('YEAR ≥ "2,024"', {"year": "2024.0"}, True),
        ("updated_at > 2026-01-31", {"updated_at": "2026-02-01T00:10:00+00:00"}, True),
        ("updated_at = 2026-02-01", {"updated_at": "2026-02-01T23:10:00+00:00"}, True),
        ("year > 2020", {"year": "2026-02-01"}, False),
        ("'due date' is not empty", {"due date": "soon"}, True),
        ("labels contains ui", {"labels": "bug, UI"}, True),
        ("labels does not contain ui", {}, False),
        ("labels empty", {}, True),
        ("status != open", {"status": "closed"}, True),
        ("status != open", {}, False),
        ("status in (open, 'in progress')", {"status": "In  Progress"}, True),
        ("status not in (open, done)", {"status": "new"}, True),
        ("状态 = 有效 and 名称 starts with 年", {"状态": "有效", "名称": "年假"}, True),
        ("name ends with .pdf", {"name": "A.PDF"}, True),
        ("id = 007", {"id": "7"}, False),
        ('x = "a \\"b\\""', {"x": 'a "b"'}, True),
    ],
)
def test_what_meets_a_written_filter(text: str, record: dict[str, str], *, is_met: bool) -> None:
    assert parse_filter(text).is_met_by(record) is is_met


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "expected a field"),
        ("year", "expected an operator after 'year'"),
        ("year like 3", "expected an operator"),
        ("year >=", "expected a value"),
        ("year >= soon", "is neither a number nor a YYYY-MM-DD"),
        ("year >= 2024-13", "is no day of the calendar"),
        ("year >= 2024-02-30", "is no day of the calendar"),
        ("status = in progress", "stands in quotes"),
        ("a = 1 and b = 2 or c = 3", "use one of them"),
        ("a = 1 and", "expected a field"),
        ("a in b", "expected a list"),
        ("a in (b", "expected `,` or `)`"),
        ('a = "b', "is a quote missing"),
        ('a = ""', "needs a value"),
        ('"" = 1', "empty name"),
        (" and ".join(["a = 1"] * (MOST_CONDITIONS + 1)), "from 1 to 32 conditions"),
    ],
)
def test_what_is_no_filter_is_refused_with_the_reason(text: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says.replace("(", r"\(").replace(")", r"\)")):
        parse_filter(text)


def test_the_guide_shows_every_operator_as_it_is_read() -> None:
    guide = (pathlib.Path(__file__).parents[2] / "docs" / "filters.md").read_text(encoding="utf-8")
    table = guide.partition("| written |")[2].partition("\n\n")[0]
    shown = [parse_filter(text) for text in re.findall(r"`([^`\n]*)`", table) if " " in text]
    assert {one.operator for filtered in shown for one in filtered.conditions} >= set(Operator) - ORDERED
    assert all(f"`{sign}`" in table or f" {sign} " in table for sign in ORDERED)


def test_every_operator_is_known_by_its_name_and_by_others() -> None:
    assert all(operator_named(operator.value) is operator for operator in Operator)
    assert operator_named("Starts With") is Operator.STARTS
    assert operator_named("≥") is Operator.AT_LEAST
    assert operator_named("like") is None


def test_a_number_of_more_digits_than_a_float_tells_apart_is_text() -> None:
    assert read("123456789012345").kind is Kind.NUMBER
    assert read("12345678901234567890").kind is Kind.TEXT
    assert not Condition("id", Operator.EQUAL, "12345678901234567890").is_met_by("12345678901234567891")


def test_the_made_filters_meet_the_made_records_now_and_then() -> None:
    """Otherwise the properties above would say nothing."""
    met: list[bool] = []

    @given(condition=conditions(), record=records)
    def count(condition: Condition, record: dict[str, str]) -> None:
        met.append(Filter((condition,)).is_met_by(record))

    count()
    assert 0.05 < sum(met) / len(met) < 0.95
    assert set(FIELDS) == {normal(field) for field in FIELDS}
