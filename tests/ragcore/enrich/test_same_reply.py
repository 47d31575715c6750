"""Whatever a model writes of pairs of names, only what it plainly says of pairs that it was asked about counts."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.enrich.same_reply import same_of
from ragcore.errors import ModelBadOutput
from ragcore.prompts import render
from tests.ragcore.nasty import NASTY


@pytest.mark.parametrize(
    "reply",
    [
        '{"same": [1, 3]}',
        '```json\n{"same": ["1", "3"]}\n```',
        "The pairs that mean the same thing:\n\n[1, 3]\n\nI hope that this helps!",
        '{"same": [3, 1, 1],}',
    ],
)
def test_what_it_says_is_read(reply: str) -> None:
    assert same_of(reply, 3) == {1, 3}


def test_none_is_the_same() -> None:
    assert same_of('{"same": []}', 3) == frozenset()


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "I'm sorry, but I can't help with that.",
        "Pairs 1 and 3 mean the same thing.",
        '{"same": [1, 1',  # half of 12
        '{"same": [1, 13]}',
        '{"same": [0]}',
        '{"same": [-1]}',
        '{"same": [1.5]}',
        '{"same": [true]}',
        '{"same": ["Ann Lee"]}',
        '{"same": "all"}',
        '{"same": {"1": true}}',
        '{"pairs": [1]}',
        render("graph_same"),
        "[" * 5_000,
        json.dumps({"same": list(range(10_000))}),
    ],
)
def test_rubbish_is_refused(reply: str) -> None:
    with pytest.raises(ModelBadOutput):
        same_of(reply, 12)


@given(
    reply=st.one_of(NASTY, st.lists(st.one_of(st.integers(), st.text(max_size=4), st.none())).map(json.dumps)),
    count=st.integers(0, 12),
)
def test_only_pairs_that_were_asked_about_come_of_it(reply: str, count: int) -> None:
    try:
        found = same_of(reply, count)
    except ModelBadOutput:
        return
    assert found <= set(range(1, count + 1))
