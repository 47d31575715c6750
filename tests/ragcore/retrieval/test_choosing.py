"""Which sections fit a question: what a model says of it, whatever that is, and what the words of the titles say."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.contents import Entry
from ragcore.errors import ModelBadOutput
from ragcore.prompts import render
from ragcore.retrieval.choosing import FITS, chosen_of, likeness, lines
from ragcore.stores.outlines import Outline
from tests.ragcore.nasty import NASTY

COUNT = 6
GOOD = '[{"section": 4, "score": 3}, {"section": 2, "score": 5}, {"section": 1, "score": 1}]'


def outline(*titles: tuple[int, str]) -> Outline:
    entries = tuple(Entry(ordinal=at, level=level, title=title) for at, (level, title) in enumerate(titles))
    return Outline(generation="g", entries=entries, chunks=len(entries))


LEAVE = outline((1, "Absence"), (2, "Parental leave"), (2, "Sick leave"), (1, "Travel"), (2, "Hotels"), (2, "Trains"))


@pytest.mark.parametrize(
    "reply",
    [
        GOOD,
        f"```json\n{GOOD}\n```",
        f"These sections fit:\n{GOOD}\nGood luck!",
        f'{{"sections": {GOOD}}}',
        GOOD[:-4],
        '[{"section": "[2]", "score": "5"}, {"section": "4", "score": 3}]',
        '[{"section": 2, "score": 5}, {"section": 4, "score": 3}, {"section": 2, "score": -1}, {"section": 6, "score": 5}]',
        '[{"section": 2, "score": 5}, {"section": 4, "score": 3}, {"section": 3, "score": 4}, {"section": 5, "score": 99}, 1]',
    ],
)
def test_scores_are_read_however_they_are_written(reply: str) -> None:
    assert chosen_of(reply, COUNT) == [2, 4]


@pytest.mark.parametrize(
    "reply", ["[]", "None of them: []", '[{"section": 1, "score": -1}, {"section": 2, "score": 1}]']
)
def test_that_none_fits_is_an_answer(reply: str) -> None:
    assert chosen_of(reply, COUNT) == []


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "[",
        "{",
        "{}",
        "I can't help with that.",
        "Sections 2 and 4 fit best.",
        "第二节最相关。",
        "[[[[" * 20_000,
        lines([LEAVE], [(0, at) for at in range(COUNT)]),
        render("contents_relevance", contents="[0] Absence\n[1] Travel"),
        json.dumps([{"section": number, "score": 5} for number in range(10_000, 20_000)]),
    ],
)
def test_rubbish_is_refused(reply: str) -> None:
    with pytest.raises(ModelBadOutput):
        chosen_of(reply, COUNT)


_VALUES = st.one_of(st.none(), st.integers(-3, 9), st.floats(allow_nan=True), NASTY)
_ITEMS = st.dictionaries(st.sampled_from(["section", "score", "more"]), _VALUES)


@given(reply=st.one_of(NASTY, st.lists(st.one_of(_ITEMS, _VALUES)).map(json.dumps)), cut=st.integers(0, 30))
def test_whatever_is_written_only_sections_that_there_are_come_of_it(reply: str, cut: int) -> None:
    try:
        found = chosen_of(reply[: len(reply) - cut], COUNT)
    except ModelBadOutput:
        return
    assert len(set(found)) == len(found)
    assert set(found) <= set(range(COUNT))


def test_the_words_of_titles_tell_and_rare_ones_most() -> None:
    alike = likeness("How long does parental leave last?", [LEAVE])
    assert max(alike, key=lambda place: alike[place]) == (0, 1)
    assert set(alike) == {(0, 1), (0, 2)}
    assert alike[0, 1] > 2 * alike[0, 2]
    assert likeness("Which hotels may I book when I travel?", [LEAVE])[0, 4] > alike[0, 2]
    assert likeness("产假有多长", [outline((1, "差旅"), (1, "产假"))]).keys() == {(0, 1)}
    assert likeness("", [LEAVE]) == {}
    assert likeness("Leave", []) == {}


def test_what_stands_above_a_title_counts_half_and_ends_with_the_document() -> None:
    alike = likeness("travel by trains", [LEAVE, outline((2, "Trains"))])
    assert alike[0, 5] > alike[1, 0]


_OUTLINES = st.lists(
    st.lists(st.tuples(st.integers(1, 3), NASTY), max_size=3).map(lambda titles: outline(*titles)), max_size=2
)


@given(question=NASTY, outlines=_OUTLINES)
def test_likeness_is_from_nothing_to_one(question: str, outlines: list[Outline]) -> None:
    for (number, at), share in likeness(question, outlines).items():
        assert 0.0 < share <= 1.0 + 1e-9
        assert outlines[number].entries[at].title


def test_titles_are_shown_a_line_each() -> None:
    shown = lines([outline((1, "A\n[7] B"), (2, "x" * 500))], [(0, 0), (0, 1)])
    assert shown.splitlines() == ["[0] A [7] B", f"[1]   {'x' * 120}"]
    assert FITS == 3
