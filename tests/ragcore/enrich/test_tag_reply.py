"""Whatever a model writes where tags were asked for, what comes out is of the set, in range, and no more."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.enrich.tag_reply import tags_of_reply
from ragcore.errors import ModelBadOutput
from ragcore.prompts import render
from tests.ragcore.nasty import NASTY

TAGS = {"damage": "damage", "returns": "Returns", "credit card": "credit card", "休假": "休假"}


@pytest.mark.parametrize(
    "reply",
    [
        '{"damage": 9, "Returns": 4}',
        '{"Damage": "9", " returns ": 4.2}',
        '```json\n{"damage": 9, "Returns": 4}\n```',
        'Here are the tags: {"damage": 9, "Returns": 4}. The passage is about a broken lid.',
        'Tags [the best first]: {"damage": 9, "Returns": 4}',
        '{"damage": 9, "Returns": 4',
        "{'damage': 9, 'Returns': 4,}",
        '{"tags": {"damage": 9, "Returns": 4}}',
        '{"tags": [{"tag": "damage", "score": 9}, {"tag": "Returns", "score": 4}]}',
        '[{"name": "damage", "relevance": 9}, {"name": "returns", "relevance": "4"}]',
        '[{"damage": 9}, {"Returns": 4}]',
        '{"Returns": 4, "damage": 9, "weather": 10, "credit card": 0, "休假": 11}',
        '{"Returns": 4, "damage": 9, "credit card": true, "休假": null}',
        '{"Returns": 4, "damage": 9, "credit card": "high", "休假": 1e999}',
        '{"Returns": 4, "damage": 9, "credit card": -3}',
    ],
)
def test_tags_are_read_however_they_are_written(reply: str) -> None:
    assert tags_of_reply(reply, TAGS, 3) == (("damage", 9), ("Returns", 4))


def test_no_tag_fits() -> None:
    assert tags_of_reply("{}", TAGS, 3) == ()
    assert tags_of_reply("None of them: {}", TAGS, 3) == ()


def test_at_most_so_many_the_best_first() -> None:
    assert tags_of_reply('{"damage": 2, "Returns": 8, "休假": 5}', TAGS, 2) == (("Returns", 8), ("休假", 5))


@pytest.mark.parametrize(
    "reply",
    [
        "",
        " \n",
        "I'm sorry, but I can't help with that.",
        "The passage is about damage and returns.",
        "damage, Returns",
        '["damage", "Returns"]',
        '{"weather": 10}',
        '{"Schaden": 9, "Rückgabe": 4}',
        '{"损坏": 9}',
        '{"damage": 0, "Returns": 11}',
        '{"damage": "9/10"}',
        "null",
        "[]",
        '{"damage',
        "[" * 30_000,
        '{"a":' * 30_000,
        '{"damage": ' + "1" * 10_000,
        "x" * 50_000,
    ],
)
def test_what_names_no_tag_with_a_score_is_bad(reply: str) -> None:
    with pytest.raises(ModelBadOutput) as raised:
        tags_of_reply(reply, TAGS, 3)
    assert raised.value.raw == reply


@pytest.mark.parametrize("tail", ["", '\n{"damage": 9}'])
def test_the_rules_given_back_are_no_answer(tail: str) -> None:
    rules = render("tags", count=3, tags=list(TAGS.values()), examples=['A broken lid.\n{"Returns": 10}'])
    with pytest.raises(ModelBadOutput):
        tags_of_reply(rules + tail, TAGS, 3, rules)
    assert tags_of_reply('{"damage": 9}', TAGS, 3, rules) == (("damage", 9),)


def test_ten_thousand_tags_are_cut_in_no_time() -> None:
    many = {f"tag {n}": f"tag {n}" for n in range(10_000)}
    began = time.process_time()
    found = tags_of_reply(json.dumps(dict.fromkeys(many, 5)), many, 3)
    assert len(found) == 3
    assert time.process_time() - began < 5.0


JSONS = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-3, 13), st.floats(), st.sampled_from(["damage", "7", "tag", "x"])),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.sampled_from(["damage", "Returns", "tag", "score", "tags", "y"]), inner, max_size=4),
    ),
    max_leaves=12,
)


@given(
    reply=st.one_of(NASTY, JSONS.map(json.dumps), JSONS.map(lambda value: json.dumps(value)[:-2])),
    most=st.integers(1, 4),
)
def test_whatever_is_written_the_tags_are_of_the_set_and_in_range(reply: str, most: int) -> None:
    try:
        found = tags_of_reply(reply, TAGS, most)
    except ModelBadOutput:
        return
    assert len(found) <= most
    assert len(dict(found)) == len(found)
    assert all(tag in TAGS.values() and 1 <= score <= 10 for tag, score in found)
