"""The prompt that a model is sent leaves room for the answer: at most 95 % of its window, less the answer's reserve."""

import asyncio
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragcore.context import prompt_tokens
from ragcore.errors import ModelContextTooLong
from ragcore.phrases import phrase
from ragcore.prompts import render
from ragcore.tokens import offline_tokenizer
from ragcore.types import Answer, ChunkPart, Location, Message, Question, ScoredChunk, SectionKind
from tests.ragcore.answer.test_answer_pipeline import TEXTS, FakeModel, Found, answerer, say, scored
from tests.soak import scaled

TOKENIZER = offline_tokenizer()
ASKED = "How many unused days may be carried over?"


def large(number: int, times: int) -> ScoredChunk:
    """Return a chunk that says the same thing so many times."""
    one = scored(number % 2)
    return replace(one, chunk=replace(one.chunk, text=f"{TEXTS[number % 2]} " * times))


def prompts_of(model: FakeModel, chunks: int, times: int, rounds: int) -> list[int]:
    """Ask in a conversation of so many rounds with so many chunks; return the sizes of the prompts, in tokens."""
    said = [Message(role="user", text="And then? " * 9), Message(role="assistant", text="Then so. " * 9)]
    found = Found(chunks=tuple(large(number, times) for number in range(chunks)))
    question = Question(text=ASKED, knowledge_bases=("handbook",), history=tuple(said * rounds))

    async def ask() -> list[object]:
        return [event async for event in answerer(model, found).answer(question)]

    assert isinstance(asyncio.run(ask())[-1], Answer)
    for prompt in model.prompts:
        assert prompt[0].text.startswith(render("answer_system", quote=True))
        assert "ID: 0\nTitle: Document" in prompt[0].text
        assert prompt[-1].text == ASKED
    return [prompt_tokens(prompt, TOKENIZER) for prompt in model.prompts]


@settings(max_examples=scaled(8), deadline=None)
@given(
    window=st.integers(4_096, 16_384), reserve=st.integers(1, 1_024), chunks=st.integers(1, 12),
    times=st.integers(1, 20), rounds=st.integers(0, 12),
)  # fmt: skip
def test_the_prompt_and_the_answer_fit_the_window(
    window: int, reserve: int, chunks: int, times: int, rounds: int
) -> None:
    model = FakeModel([say("Five days [ID:0].")], context_window=window, max_tokens=reserve)
    (size,) = prompts_of(model, chunks, times, rounds)
    assert size <= int(0.95 * window) - reserve


def widened(number: int, around: int) -> ScoredChunk:
    """Return a chunk that stands in the middle of a parent, with so many sentences before it and behind."""
    one, filling = scored(number), "The canteen serves soup, and nobody knows why it is so. " * around
    place = ChunkPart(start=0, ordinal=1, kind=SectionKind.TEXT, location=Location())
    parts = (
        place,
        replace(place, start=len(filling), ordinal=one.chunk.ordinal),
        replace(place, start=len(filling) + len(one.chunk.text) + 1, ordinal=2),
    )
    return replace(one, chunk=replace(one.chunk, text=f"{filling}{one.chunk.text} {filling}", parts=parts))


@pytest.mark.parametrize("around", [2, 20, 400])
def test_of_a_parent_too_large_for_the_prompt_the_chunk_that_was_found_stays(around: int) -> None:
    found = Found(chunks=tuple(widened(number, around) for number in range(2)))
    model = FakeModel([say("Five days [ID:0].")], context_window=4_096, max_tokens=256)

    async def ask() -> list[object]:
        question = Question(text=ASKED, knowledge_bases=("handbook",))
        return [event async for event in answerer(model, found).answer(question)]

    answer = asyncio.run(ask())[-1]
    assert isinstance(answer, Answer)
    (prompt,) = model.prompts
    assert prompt_tokens(prompt, TOKENIZER) <= int(0.95 * 4_096) - 256
    assert all(TEXTS[number] in prompt[0].text for number in range(2))
    is_whole = around < 400
    assert ("soup" in prompt[0].text) == is_whole
    assert [bool(one.chunk.parts) for one in answer.chunks] == [is_whole] * 2, "what is told is what the model read"
    assert answer.citations[0].quote in answer.chunks[0].chunk.text


@pytest.mark.parametrize("place", ["before", "behind"])
def test_of_a_question_that_leaves_no_passage_room_both_ends_are_sent_and_it_is_told(place: str) -> None:
    pasted = "We went through each of the bills. " * 850
    text = f"{ASKED} {pasted}" if place == "before" else f"{pasted} {ASKED}"
    model = FakeModel([say("Five days [ID:0].")], context_window=8_192, max_tokens=512)

    async def ask() -> list[object]:
        question = Question(text=text, knowledge_bases=("handbook",))
        return [event async for event in answerer(model, Found(chunks=(scored(0), scored(1)))).answer(question)]

    answer = asyncio.run(ask())[-1]
    assert isinstance(answer, Answer)
    (prompt,) = model.prompts
    assert ASKED in prompt[-1].text
    assert TEXTS[0] in prompt[0].text
    assert prompt_tokens(prompt, TOKENIZER) <= int(0.95 * 8_192) - 512
    assert answer.notes == (phrase("question_long", "en"),)
    assert answer.question == text


@pytest.mark.parametrize("window", [4_096, 8_192])
def test_what_is_found_too_long_is_sent_shorter_the_second_time(window: int) -> None:
    scripts = [[ModelContextTooLong("long")], say("Five days [ID:0].")]
    first, second = prompts_of(FakeModel(scripts, context_window=window), chunks=40, times=6, rounds=0)
    assert second < 0.9 * first
