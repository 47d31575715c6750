"""Whatever a model writes where a summary was asked for: a short text about the material comes out, or none."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.enrich.summaries import LONGEST, resting_on, summary_of
from ragcore.errors import ModelBadOutput
from ragcore.prompts import render
from ragcore.stores.rows import storable
from ragcore.types import Chunk
from tests.ragcore.nasty import NASTY

MATERIAL = (
    "Handbook\n\nLeave\nParental leave lasts 14 weeks. Form PL-7 goes to the HR portal two months before.\n\n"
    "Sickness\nA doctor's note is due on the fourth day. The health insurance pays from the seventh week on."
)
GOOD = "Parental leave lasts 14 weeks and is asked for with form PL-7. From the fourth day of sickness a note is due."


@pytest.mark.parametrize(
    "reply",
    [
        GOOD,
        f"\n  {GOOD}\n",
        f"Summary: {GOOD}",
        f"**Summary:**\n\n{GOOD}",
        f"Here is a summary of the document: {GOOD}",
        f'"{GOOD}"',
        f"```\n{GOOD}\n```",
        json.dumps({"summary": GOOD}),
        f'```json\n{{"title": "Leave", "summary": "{GOOD}"',
    ],
)
def test_a_summary_is_read_however_it_is_written(reply: str) -> None:
    assert summary_of(reply, MATERIAL) == GOOD


def test_other_scripts() -> None:
    material = "员工手册\n\n年假为15天，须提前两周申请。病假第四天起须提交医生证明。工资每月25日发放。"
    assert summary_of("摘要：年假为15天，病假须提交医生证明。", material) == "年假为15天，病假须提交医生证明。"


@pytest.mark.parametrize(
    "reply",
    [
        "",
        " \n",
        "I'm sorry, but I can't help with that.",
        "As an AI language model I cannot summarise this document.",
        render("summary", words=120),
        MATERIAL,
        MATERIAL + MATERIAL,
        "x" * 50_000,
        "[" * 30_000,
        '{"a":',
        "Parental",
        "El permiso parental dura catorce semanas y se pide con un formulario.",
        ", ".join(f"tag{number}" for number in range(10_000)),
    ],
)
def test_what_is_no_summary_is_refused(reply: str) -> None:
    with pytest.raises(ModelBadOutput):
        summary_of(reply, MATERIAL)


@given(NASTY | st.lists(st.sampled_from(GOOD.split()), max_size=80).map(" ".join))
def test_what_comes_out_is_short_and_never_longer_than_the_material(reply: str) -> None:
    try:
        summary = summary_of(reply, MATERIAL)
    except ModelBadOutput:
        return
    assert 0 < len(summary) <= LONGEST
    assert len(summary) < len(MATERIAL)
    assert summary == storable(summary)


def test_a_summary_that_does_not_end_is_cut_after_a_sentence() -> None:
    material = " ".join(f"Parental leave number {number} lasts 14 weeks for staff." for number in range(200))
    summary = summary_of("Parental leave lasts 14 weeks for staff. " * 100, material)
    assert summary.endswith("for staff.")
    assert LONGEST - 60 < len(summary) <= LONGEST


def chunk(ordinal: int, text: str) -> Chunk:
    return Chunk(
        id=f"g-{ordinal}", document_id="s:a", knowledge_base="kb", ordinal=ordinal, text=text, title="A", token_count=9
    )


def test_a_summary_of_few_rests_on_all_of_them() -> None:
    assert resting_on("Anything.", [chunk(0, "One."), chunk(1, "Two.")], 2) == [0, 1]


def test_a_summary_of_many_rests_on_those_that_bear_out_its_sentences() -> None:
    filling = [chunk(number, f"The canteen serves dish number {number} on weekdays.") for number in range(20)]
    chunks = [*filling[:7], chunk(20, "Parental leave lasts 14 weeks."), *filling[7:], chunk(21, "Form PL-7 is blue.")]
    kept = resting_on("Parental leave lasts 14 weeks. Its form PL-7 is blue.", chunks, 4)
    assert {7, 21} <= set(kept)
    assert len(kept) == 4
    assert kept == sorted(kept)


@given(st.integers(0, 30), st.integers(1, 12), st.text(max_size=80))
def test_never_more_than_are_wanted(count: int, most: int, summary: str) -> None:
    kept = resting_on(summary, [chunk(number, f"Dish {number} costs {number} euros.") for number in range(count)], most)
    assert len(kept) == min(count, most)
    assert kept == sorted(set(kept))
