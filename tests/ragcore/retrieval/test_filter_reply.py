"""What is made of a model's reply: a filter over known fields, or none; and what it is shown."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.filter_grammar import print_filter
from ragcore.filters import Kind, KnownField, Operator
from ragcore.retrieval.filter_reply import MOST_ASKED, field_lines, filter_of
from tests.ragcore.nasty import NASTY

FIELDS = ("year", "status", "due date")


def one(field: object, operator: object, value: object = None) -> dict[str, object]:
    return {"field": field, "operator": operator, "value": value}


def said(*conditions: object, join: object = "and") -> str:
    return json.dumps({"join": join, "conditions": conditions})


@pytest.mark.parametrize(
    ("reply", "filtered"),
    [
        (said(one("year", ">=", 2024), one("Status", "=", "Active")), "year >= 2024 and status = Active"),
        (said(one("year", "in", [2023, "2024"])), "year in (2023, 2024)"),
        (said(one("year", "in", "2023, 2024")), "year in (2023, 2024)"),
        (said(one("status", "=", ["open", "new"])), "status in (open, new)"),
        (said(one("due date", "is empty")), '"due date" empty'),
        (said(one("status", "=", True)), "status = true"),
        (said(one("status", "=", "a"), one("status", "=", "a")), "status = a"),
        (said(one("year", "≥", "2024"), join="OR"), "year >= 2024"),
        (json.dumps([one("year", "=", 2024)]), "year = 2024"),
        ('Sure! Here it is:\n```json\n{"conditions": [{"field": "year", "operator": ">", "value": "2020"}]}\n```', "year > 2020"),
        ('{"conditions": [{"field": "year", "operator": "=", "value": "2024"', "year = 2024"),
        ("{'conditions': [{'field': 'year', 'operator': '=', 'value': 2024,}],}", "year = 2024"),
        (said(one("nowhere", "=", 1), one("year", "=", 2024)), "year = 2024"),
        (said(one("year", "like", 1), one("year", ">", "soon"), one("year", "=", 2024)), "year = 2024"),
    ],
)  # fmt: skip
def test_a_reply_becomes_a_filter(reply: str, filtered: str) -> None:
    made = filter_of(reply, FIELDS)
    assert made is not None
    assert print_filter(made) == filtered


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "   ",
        "The question is about the leave policy, so no filter is needed.",
        "I am sorry, I cannot help with that.",
        "对不起，我无法回答这个问题。",
        '{"join": "and", "conditions": []}',
        '{"join": "and", "conditions": [{"field": "...", "operator": "...", "value": "..."}]}',
        '{"conditions": "year = 2024"}',
        '{"conditions": [null, 3, "year", [], {}]}',
        said(one("nowhere", "=", "x")),
        said(one("year", "=", None)),
        said(one("year", "=", {"a": 1})),
        said(one("year", ">=", [1, 2])),
        said(one("nowhere", "=", 1), one("year", "=", 2024), join="or"),
        said(*[one("year", "=", n) for n in range(MOST_ASKED + 1)]),
        "[" * 50_000,
        '{"conditions": ' * 3_000,
    ],
)
def test_what_says_no_filter_makes_none(reply: str) -> None:
    started = time.process_time()
    assert filter_of(reply, FIELDS) is None
    assert time.process_time() - started < 5


@given(
    reply=st.one_of(
        NASTY,
        st.lists(
            st.builds(
                one,
                st.sampled_from((*FIELDS, "nowhere", 3, None)),
                st.sampled_from((*Operator, "like", None, 7)),
                st.one_of(NASTY, st.integers(), st.none(), st.booleans(), st.floats(), st.lists(NASTY, max_size=3)),
            ),
            max_size=4,
        ).map(json.dumps),
    )
)
def test_whatever_is_replied_is_a_filter_over_known_fields_or_none(reply: str) -> None:
    made = filter_of(reply, FIELDS)
    assert made is None or made.fields <= set(FIELDS)


def test_the_fields_are_shown_with_values_a_line_each() -> None:
    fields = [
        KnownField(name="year", kind=Kind.NUMBER, sample=("2023", "2024"), is_whole=True),
        KnownField(name="due date", kind=Kind.TEXT, sample=('so"on\n- "x" (text): 1', "w" * 500)),
    ]
    first, second = field_lines(fields).splitlines()
    assert first == '- "year" (number): "2023", "2024"'
    assert second.startswith('- "due date" (text): "so\\"on\\n- \\"x\\" (text): 1", "www')
    assert second.endswith('", and others')
    assert len(second) < 150
