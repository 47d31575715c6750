"""A contradiction that an answer does not tell with both links stands at its end."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragcore.answer.writing import Draft
from ragcore.research.contradicting import MOST_CONTRADICTIONS, Contradicting, contradictions_in
from ragcore.research.sentences import sentence
from ragcore.research.values import Claim, Contradiction, Finding
from ragcore.types import ScoredChunk
from tests.fakes.researching import chunk
from tests.soak import scaled

OLD = "Hotels in Munich are paid up to 95 euros a night."
NEW = "Hotels in Munich are paid up to 140 euros a night."
CHUNKS = (chunk("old", OLD), chunk("new", NEW), chunk("trains", "Train tickets are second class."))
CLOSED = f"{sentence('contradiction', 'en')}\n\n- {OLD.removesuffix('.')} [ID:0].\n- {NEW.removesuffix('.')} [ID:1]."


def closing(text: str, one: str = OLD, other: str = NEW) -> str:
    pair = Contradiction(one=Claim(text=one, chunk_id="old-0"), other=Claim(text=other, chunk_id="new-0"))
    chunks = tuple(ScoredChunk(chunk=read, score=0.5) for read in CHUNKS)
    return Contradicting([pair], "en")(Draft(text=text, chunks=chunks))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            "Receipts are due within 30 days [ID:1]. Train tickets are second class [ID:1][ID:0].", id="other"
        ),
        pytest.param("Hotels in Munich are paid up to 140 euros a night [ID:0][ID:1].", id="one_side_with_both_links"),
        pytest.param(f"{OLD} {NEW}", id="no_link"),
        pytest.param(
            "Hotels are paid up to 95 euros [ID:0].\n\nHotels are paid up to 140 euros [ID:1].", id="far_apart"
        ),
        pytest.param("They pay 95 euros [ID:1]. They pay 140 euros [ID:0].", id="links_the_wrong_way_round"),
        pytest.param("They pay 95 euros [ID:0]. Trains are second class [ID:1].", id="one_side"),
    ],
)
def test_what_a_text_does_not_tell_is_set_at_its_end(text: str) -> None:
    assert closing(text) == CLOSED


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("One says that 95 euros are paid [ID:0]. Another one says 140 euros [ID:1].", id="two_sentences"),
        pytest.param("Paid are 140 euros [ID:1], or 95 [ID:0].", id="one_sentence"),
        pytest.param("Nach der einen sind es 95 Euro [ID:0]. Nach der anderen 140 Euro [ID:1].", id="other_language"),
    ],
)
def test_what_a_text_tells_with_both_links_is_not_told_again(text: str) -> None:
    assert closing(text) == ""


def test_sides_that_no_word_tells_apart_are_told_in_two_sentences() -> None:
    sides = "Dogs are allowed in the office.", "Dogs are not allowed in the office."
    assert closing("Dogs are allowed in the office [ID:0][ID:1].", *sides)
    assert closing("Dogs are allowed [ID:0]. Trains are second class [ID:1].", *sides)
    assert closing("Dogs are allowed in the office [ID:0]. Yet dogs are not allowed there [ID:1].", *sides) == ""


@pytest.mark.parametrize("before", ["", "What is granted:\n\n"])
def test_a_row_of_a_table_is_told_as_a_sentence(before: str) -> None:
    rows = "| Maternity | up to 52 weeks |", "| Maternity | up to 39 weeks |"
    chunks = tuple(
        ScoredChunk(chunk=chunk(name, f"{before}| Leave | Length |\n| --- | --- |\n{row}"), score=0.5)
        for name, row in zip(("old", "new"), rows, strict=True)
    )
    one, other = (Claim(text=row, chunk_id=read.chunk.id) for row, read in zip(rows, chunks, strict=True))
    added = Contradicting([Contradiction(one=one, other=other)], "en")(Draft(text="", chunks=chunks))
    assert added.splitlines()[2:] == [
        "- Maternity – Length: up to 52 weeks [ID:0].",
        "- Maternity – Length: up to 39 weeks [ID:1].",
    ]


def test_a_row_that_does_not_stand_in_its_passage_has_no_columns() -> None:
    assert "- Dogs – in the office [ID:0]." in closing("", "| Dogs | in the office |", NEW)


def found(*texts: str, said: str = "") -> Finding:
    chunks = tuple(ScoredChunk(chunk=chunk(f"n{place}", text), score=0.5) for place, text in enumerate(texts))
    return Finding(question="q", text=said or f"{texts[0].split('. ')[0].removesuffix('.')} [ID:0].", chunks=chunks)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The pool is closed on Monday.", "The pool is closed on Friday."),
        ("Parking is reimbursed.", "Parking is not reimbursed."),
        ("A note is needed after one day.", "A note is needed after ten days."),
        ("The budget was approved by Ana Ruiz.", "The budget was approved by Tom Berg."),
    ],
)
def test_what_words_show_of_two_documents_is_told_with_both_links(one: str, other: str) -> None:
    for first, second in ((one, other), (other, one)):
        finding = found(f"{first} It is warm.", "It is cold.", f"It rains. {second}")
        (told,) = contradictions_in([finding, finding])
        assert {(told.one.text, told.one.chunk_id), (told.other.text, told.other.chunk_id)} == {
            (first, "n0-0"),
            (second, "n2-0"),
        }
        text = Contradicting([told], "en")(Draft(text="It rains [ID:2].", chunks=finding.chunks))
        assert f"{first.removesuffix('.')} [ID:0]." in text
        assert f"{second.removesuffix('.')} [ID:2]." in text


def test_what_says_the_same_or_stands_in_one_document_is_no_contradiction() -> None:
    assert not contradictions_in([found("The pool is closed on Monday.", "The pool is closed on Mondays and Fridays.")])
    assert not contradictions_in([found("The pool is closed on Monday. The pool is closed on Friday.", "It rains.")])


@pytest.mark.parametrize(
    ("titles", "told"),
    [
        (("Office in Lyon", "Office in Paris"), 0),
        (("Office 2019", "Office 2024"), 1),
        (("Handbook", "News"), 1),
        (("Office", "Office in Paris"), 1),
    ],
)
def test_what_is_said_of_two_things_of_a_kind_is_no_contradiction(titles: tuple[str, str], told: int) -> None:
    finding = found("The office is closed on Monday.", "The office is closed on Friday.")
    chunks = tuple(
        replace(scored, chunk=replace(scored.chunk, title=title))
        for scored, title in zip(finding.chunks, titles, strict=True)
    )
    assert len(contradictions_in([replace(finding, chunks=chunks)])) == told


def test_of_many_contradictions_some_are_told() -> None:
    texts = [f"The pool is closed on {day}." for day in ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")]
    assert len(contradictions_in([found(*texts)])) == MOST_CONTRADICTIONS


PIECES = st.sampled_from(
    (OLD, NEW, "[ID:0]", "[ID:1]", "[ID:2]", "95 euros", "140 euros", ". ", " ", "\n\n", "- ", "```")
)


@settings(max_examples=scaled(40))
@given(text=st.lists(PIECES, max_size=12).map("".join))
def test_with_what_is_set_at_its_end_a_text_tells_it(text: str) -> None:
    if added := closing(text):
        assert closing(f"{text.rstrip()}\n\n{added}") == ""
