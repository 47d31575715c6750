"""A quote stands in the chunk to the letter and holds what the sentence says."""

from hypothesis import given
from hypothesis import strategies as st

from ragcore.citations.evidence import Claim, Source, Weights
from ragcore.citations.quotes import MAX_QUOTE, best_quote, joint_quote
from ragcore.types import Chunk


def quote(sentence: str, text: str, overlap: int = 0) -> str:
    source = Source(
        Chunk(
            id="c", document_id="d", knowledge_base="k", ordinal=0, text=text, title="", token_count=1, overlap=overlap
        )
    )
    return best_quote(Claim(sentence), source, Weights([source]))


def test_the_sentence_that_says_it_is_quoted() -> None:
    text = "Herons nest in reeds. The pump stops when the tank is empty. Nobody knows why."
    assert quote("When the tank is empty, the pump stops.", text) == "The pump stops when the tank is empty."


def test_a_neighbour_that_adds_much_is_quoted_with_it() -> None:
    text = "Herons nest in reeds. The pump stops at night. Its tank is then empty. Nobody knows why."
    assert (
        quote("At night the pump stops and its tank is empty.", text)
        == "The pump stops at night. Its tank is then empty."
    )


def test_a_long_sentence_is_cut_at_words_around_what_is_said() -> None:
    text = "word " * 200 + "the pump stops when the tank is empty " + "word " * 200
    found = quote("The pump stops when the tank is empty.", text)
    assert "pump stops when the tank is empty" in found
    assert len(found) <= MAX_QUOTE
    assert f" {found} " in f" {text} "


def test_without_anything_in_common_the_quote_is_how_the_chunk_begins_anew() -> None:
    text = "Said before. New words here. More."
    assert quote("完全无关的句子", text) == "Said before."
    assert quote("完全无关的句子", text, overlap=13) == "New words here."


@given(st.text(max_size=60), st.text(max_size=900), st.integers(0, 50))
def test_a_quote_is_always_part_of_the_chunk(sentence: str, text: str, overlap: int) -> None:
    found = quote(sentence, text, overlap)
    assert found in text
    assert len(found) <= MAX_QUOTE


def test_quotes_of_several_sentences_are_one_as_long_as_that_is_short() -> None:
    first, near, far = "The pump stops.", "Its tank is empty.", "Call the office."
    text = f"{near} {first} " + "x" * MAX_QUOTE + f" {far}"
    assert joint_quote(text, [first, far, near]) == f"{near} {first}"
    assert joint_quote(text, [far, first]) == far
