"""Whatever a model writes for a table of contents, its entries are sections of the pieces, or it is refused."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.contents import Entry
from ragcore.enrich.contents_reply import DEEPEST, LONGEST_TITLE, MOST_IN_PIECE, sections_of
from ragcore.enrich.replies import shares_words
from ragcore.errors import ModelBadOutput
from ragcore.prompts import render
from tests.ragcore.nasty import NASTY

PIECES = (
    "Safety\nWear gloves when you open the housing.",
    "The housing is opened with four screws.",
    "Maintenance\nOil the chain each month.",
)
GOOD = '[{"piece": 0, "level": 1, "title": "Safety"}, {"piece": 2, "level": 2, "title": "Maintenance"}]'
BOTH = (Entry(ordinal=0, level=1, title="Safety"), Entry(ordinal=2, level=2, title="Maintenance"))


@pytest.mark.parametrize(
    "reply",
    [
        GOOD,
        f"```json\n{GOOD}\n```",
        f"Here is the table of contents:\n\n{GOOD}\n\nI hope that this helps!",
        f'{{"contents": {GOOD}}}',
        GOOD[:-2],
        GOOD.replace('"', "'"),
        '[{"piece": "2", "level": "2", "title": "## Maintenance"}, {"piece": "[0]", "level": 1, "title": " Safety "}]',
        json.dumps([*json.loads(GOOD), {"piece": 3, "level": 1, "title": "Safety"}, {"piece": 1}, 7, None, "Safety"]),
        json.dumps([*json.loads(GOOD), {"piece": 1, "level": 1, "title": "Einführung"}]),
        json.dumps([*json.loads(GOOD), {"piece": 1, "level": 1, "title": "The housing " * 40}]),
        json.dumps(json.loads(GOOD) * 5_000),
    ],
)
def test_a_table_is_read_however_it_is_written(reply: str) -> None:
    assert sections_of(reply, PIECES) == BOTH


@pytest.mark.parametrize("reply", ["[]", "```json\n[ ]\n```", '{"sections": []}', "No section begins here: []"])
def test_no_section_is_an_answer(reply: str) -> None:
    assert sections_of(reply, PIECES) == ()


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "[",
        "{",
        '[{"piece": 0, "lev',
        "[[[[" * 20_000,
        "I'm sorry, I can't help with that.",
        "The document tells of safety and of maintenance.",
        "1. Safety\n2. Maintenance",
        "\n\n".join(f"[{number}]\n{text}" for number, text in enumerate(PIECES)),
        render("contents"),
        '[{"piece": 0, "level": 1, "title": "安全"}]',
        json.dumps([{"piece": number, "level": 1, "title": "Safety"} for number in range(10_000, 20_000)]),
        json.dumps([{"chapter": "Safety"}]),
    ],
)
def test_what_is_no_table_of_these_pieces_is_refused(reply: str) -> None:
    with pytest.raises(ModelBadOutput) as raised:
        sections_of(reply, PIECES)
    assert raised.value.raw == reply


_VALUES = st.one_of(st.none(), st.integers(-3, 9), st.floats(allow_nan=True), st.sampled_from(PIECES), NASTY)
_ITEMS = st.dictionaries(st.sampled_from(["piece", "level", "title", "more"]), _VALUES)


@given(reply=st.one_of(NASTY, st.lists(st.one_of(_ITEMS, _VALUES)).map(json.dumps)), cut=st.integers(0, 60))
def test_only_sections_of_the_pieces_come_of_it(reply: str, cut: int) -> None:
    try:
        found = sections_of(reply[: len(reply) - cut], PIECES)
    except ModelBadOutput:
        return
    assert [entry.ordinal for entry in found] == sorted(entry.ordinal for entry in found)
    for entry in found:
        assert shares_words(entry.title, PIECES[entry.ordinal])
        assert 1 <= entry.level <= DEEPEST
        assert 0 < len(entry.title) <= LONGEST_TITLE
    for number in range(len(PIECES)):
        assert sum(entry.ordinal == number for entry in found) <= MOST_IN_PIECE
