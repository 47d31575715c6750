"""Whatever a model writes for a schema, only values of its fields and their types come of it, or it is refused."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.enrich.metadata_reply import LONGEST, facts_of
from ragcore.enrich.options import MetadataField
from ragcore.errors import ConfigError, ModelBadOutput
from ragcore.filters import Kind, read
from ragcore.prompts import render
from tests.ragcore.nasty import NASTY

FIELDS = (
    MetadataField(name="Year", description="the year it is about", type="number"),
    MetadataField(name="department", description="the one that wrote it"),
    MetadataField(name="valid from", description="the day from which it counts", type="date"),
)
GOOD = '{"Year": 2024, "department": "Legal", "valid from": "2024-02-01"}'
FACTS = {"Year": "2024", "department": "Legal", "valid from": "2024-02-01"}


@pytest.mark.parametrize(
    "reply",
    [
        GOOD,
        f"```json\n{GOOD}\n```",
        f"Here is the card:\n{GOOD}\nIs there anything else?",
        f'{{"metadata": {GOOD}}}',
        f"[{GOOD}]",
        GOOD[:-2],
        GOOD.replace('"', "'"),
        '{"valid from": "2024-02-01T10:00:00", "DEPARTMENT": " Legal\\n", "year": "2024", "colour": "red"}',
    ],
)
def test_a_card_is_read_however_it_is_written(reply: str) -> None:
    assert facts_of(reply, FIELDS) == FACTS


@pytest.mark.parametrize(
    ("said", "facts"),
    [
        ({}, {}),
        ({"Year": None, "department": "", "valid from": "unknown"}, {}),
        ({"Year": "soon", "department": "Legal", "valid from": "in spring"}, {"department": "Legal"}),
        ({"Year": True, "department": False, "valid from": 7}, {}),
        ({"Year": [2024], "department": {"name": "Legal"}}, {}),
        ({"Year": "2,024", "valid from": "2024-02-30"}, {"Year": "2,024"}),
        ({"department": ["Legal", "Sales", "Legal", None, 3]}, {"department": "Legal, Sales, 3"}),
        ({"department": "Legal " * 100, "Year": 2024.5}, {"Year": "2024.5"}),
        ({"department": "法务部", "Year": "not stated"}, {"department": "法务部"}),
    ],
)
def test_wrong_types_are_dropped_and_absent_fields_stay_absent(said: object, facts: dict[str, str]) -> None:
    assert facts_of(json.dumps(said), FIELDS) == facts


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "{",
        '{"Ye',
        "[]",
        "[[[[" * 20_000,
        "I'm sorry, I can't help with that.",
        "The document is by Legal and of 2024.",
        "Year: 2024\ndepartment: Legal",
        '{"error": "no document"}',
        json.dumps({f"field {number}": number for number in range(10_000)}),
        render("document_metadata", fields="- Year (number): the year it is about"),
    ],
)
def test_what_is_no_card_is_refused(reply: str) -> None:
    with pytest.raises(ModelBadOutput) as raised:
        facts_of(reply, FIELDS)
    assert raised.value.raw == reply


_VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), NASTY, st.dates().map(str)),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=4,
)
_CARDS = st.dictionaries(st.one_of(st.sampled_from([field.name for field in FIELDS]), NASTY), _VALUES, max_size=4)


@given(reply=st.one_of(NASTY, _CARDS.map(json.dumps)), cut=st.integers(0, 20))
def test_each_value_is_of_its_type(reply: str, cut: int) -> None:
    try:
        facts = facts_of(reply[: len(reply) - cut], FIELDS)
    except ModelBadOutput:
        return
    kinds = {"number": Kind.NUMBER, "date": Kind.DATE}
    types = {field.name: field.type for field in FIELDS}
    assert list(facts) == [field.name for field in FIELDS if field.name in facts]
    for name, value in facts.items():
        assert 0 < len(value) <= LONGEST
        assert value == " ".join(value.split())
        assert types[name] == "text" or read(value).kind is kinds[types[name]]


@pytest.mark.parametrize("wrong", [{"name": " "}, {"description": ""}, {"type": "year"}])
def test_a_field_that_cannot_be_asked_for_is_refused(wrong: dict[str, str]) -> None:
    with pytest.raises(ConfigError):
        MetadataField(**({"name": "year", "description": "the year"} | wrong))  # type: ignore[arg-type]
