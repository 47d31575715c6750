"""What is taken down for an answer, by whom, and how much of it somebody may read."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.errors import ModelUnreachable
from ragcore.models.llm import Finish, Piece, TextPiece
from ragcore.models.recorded import RecordedModel
from ragcore.trace import (
    BROKEN_OFF,
    LEFT_OUT,
    MOST_CALLS,
    Call,
    Fate,
    Passage,
    Recorder,
    Search,
    Trace,
    current,
    degraded,
    recorded,
    step,
)
from ragcore.trace_readers import HELD_BY_DOCUMENTS, as_read
from ragcore.types import Answer, Chunk, Image, Message, ScoredChunk, Support, Usage

USAGE = Usage(calls=1, prompt_tokens=7, completion_tokens=2)
ASKED = (Message(role="user", text="What?", images=(Image(media_type="image/png", data="AAAA"),)),)
ANSWER = Answer(question="What?", raw_text="That.", support=Support.CITED)


class Model:
    """Writes two words, or fails."""

    name, context_window, max_tokens = "m", 4096, 256

    def __init__(self, error: Exception | None = None) -> None:
        self._error = error
        self.closed = False

    async def stream(self, messages: Sequence[Message], *, task: str = "answer") -> AsyncIterator[Piece]:
        try:
            yield TextPiece(text="One")
            if self._error:
                raise self._error
            yield TextPiece(text=" two")
            yield Finish(reason="stop", usage=USAGE)
        finally:
            self.closed = True

    async def complete(self, messages: Sequence[Message], *, task: str) -> tuple[str, Usage]:
        if self._error:
            raise self._error
        return "One two", USAGE


async def test_each_recorder_takes_down_its_own_answer_also_in_tasks_and_in_turns() -> None:
    async def work(name: str) -> AsyncGenerator[str]:
        with step(name):
            yield "begun"
            await asyncio.gather(asyncio.to_thread(degraded, name), asyncio.create_task(tell(name)))
        yield "done"

    async def tell(name: str) -> None:
        degraded(f"{name}, in a task")

    mine, yours = Recorder(), Recorder()
    async with aclosing(recorded(work("mine"), mine)) as one, aclosing(recorded(work("yours"), yours)) as other:
        for _ in range(2):
            assert current() is None
            await anext(one)
            assert current() is None
            await anext(other)
    assert current() is None
    for recorder, name in ((mine, "mine"), (yours, "yours")):
        trace = recorder.trace(ANSWER)
        assert [one.name for one in trace.steps] == [name]
        assert sorted(trace.degraded) == [name, f"{name}, in a task"]


async def test_a_generator_that_is_left_is_closed() -> None:
    closed = False

    async def work() -> AsyncGenerator[int]:
        nonlocal closed
        try:
            yield 1
            yield 2
        finally:
            closed = True

    async with aclosing(recorded(work(), Recorder())) as events:
        await anext(events)
    assert closed


async def calls_of(model: Model, *, pieces: int | None = None, whole: bool = False) -> tuple[Call, ...]:
    recorder, taken = Recorder(), RecordedModel(model)

    async def work() -> AsyncGenerator[int]:
        if whole:
            await taken.complete(ASKED, task="rewrite")
            yield 0
            return
        async with aclosing(taken.stream(ASKED)) as stream:  # type: ignore[type-var]
            number = 0
            async for _ in stream:
                number += 1
                if number == pieces:
                    break
        yield 0

    try:
        async with aclosing(recorded(work(), recorder)) as events:
            async for _ in events:
                pass
    except ModelUnreachable:
        pass
    return recorder.trace(ANSWER).calls


async def test_a_call_is_taken_down_however_it_ends() -> None:
    (call,) = await calls_of(Model())
    assert (call.task, call.model, call.reply, call.usage, call.failure) == ("answer", "m", "One two", USAGE, "")
    assert (call.messages, call.pictures) == ((replace(ASKED[0], images=()),), 1), "pictures are counted, not kept"
    assert 0 < call.first <= call.took
    left = Model()
    (call,) = await calls_of(left, pieces=1)
    assert (call.reply, call.failure, left.closed) == ("One", BROKEN_OFF, True)
    (call,) = await calls_of(Model(ModelUnreachable("no")))
    assert (call.reply, call.failure) == ("One", "ModelUnreachable")
    (call,) = await calls_of(Model(), whole=True)
    assert (call.task, call.reply, call.usage, call.failure, call.first) == ("rewrite", "One two", USAGE, "", 0.0)
    (call,) = await calls_of(Model(ModelUnreachable("no")), whole=True)
    assert (call.reply, call.failure) == ("", "ModelUnreachable")


async def test_without_a_recorder_the_model_itself_is_asked() -> None:
    model = RecordedModel(Model())
    assert await model.complete(ASKED, task="rewrite") == ("One two", USAGE)
    assert [piece async for piece in model.stream(ASKED)][-1] == Finish(reason="stop", usage=USAGE)
    assert (model.name, model.context_window, model.max_tokens) == ("m", 4096, 256)


def test_many_calls_do_not_fill_the_memory() -> None:
    recorder = Recorder()
    for _ in range(MOST_CALLS + 3):
        call = recorder.call("answer", "m", ASKED)
        call.failure, call.usage = "", USAGE
    calls = recorder.trace(ANSWER).calls
    assert len(calls) == MOST_CALLS + 3, "all are counted"
    assert [bool(call.messages) for call in calls] == [True] * MOST_CALLS + [False] * 3
    assert calls[-1].failure == LEFT_OUT
    assert recorder.went_well


def test_it_did_not_go_well_where_a_call_or_a_step_failed() -> None:
    recorder = Recorder()
    assert recorder.went_well
    recorder.degraded("the reranker failed")
    assert not recorder.went_well
    recorder = Recorder()
    recorder.call("rewrite", "m", ASKED)
    assert not recorder.went_well, "one that is still under way was not waited for"


DOCUMENTS = st.sampled_from(["doc-a", "doc-b", "doc-c", "doc-d"])
PASSAGES = st.builds(
    lambda document, rests_on, fate: Passage(
        fate=fate,
        chunk_id=f"chunk of {document}",
        document_id=document,
        title=f"title of {document}",
        rests_on=rests_on,
    ),
    DOCUMENTS,
    st.frozensets(DOCUMENTS, max_size=2),
    st.sampled_from(Fate),
)
SEARCHES = st.builds(
    lambda passages: Search(
        text="the-words", beside=("beside-it",), filters=("a: year = 1",), passages=tuple(passages)
    ),
    st.lists(PASSAGES, max_size=3),
)
CALLS = st.builds(
    lambda task: Call(
        task=task,
        model="m",
        began=0.0,
        took=1.0,
        messages=(Message(role="user", text="the-prompt"),),
        reply="the-reply",
    ),
    st.sampled_from([*sorted(HELD_BY_DOCUMENTS), "filter", "web", "research"]),
)
TRACES = st.builds(
    lambda searches, read, calls, rests_on: Trace(
        question="What?",
        asked_at=datetime(2026, 11, 23, tzinfo=UTC),
        searches=tuple(searches),
        read=tuple(read),
        calls=tuple(calls),
        rests_on=rests_on,
    ),
    st.lists(SEARCHES, max_size=2),
    st.lists(PASSAGES, max_size=3),
    st.lists(CALLS, max_size=3),
    st.frozensets(DOCUMENTS, max_size=2),
)


@given(trace=TRACES, open_documents=st.frozensets(DOCUMENTS), covers=st.booleans())
def test_nothing_of_a_closed_document_is_read(trace: Trace, open_documents: frozenset[str], covers: bool) -> None:
    seen = as_read(trace, open_documents, covers=covers)
    closed = trace.documents - open_documents
    shown = repr(seen)
    assert not [one for one in closed if one in shown]
    if closed:
        assert "the-prompt" not in shown
        assert "the-reply" not in shown
        assert "the-words" not in shown
        assert "beside-it" not in shown
    if closed or not covers:
        assert "year" not in shown
        assert all(call.hidden for call in seen.calls if call.task not in HELD_BY_DOCUMENTS)
    else:
        assert seen == trace
    assert len(seen.calls) == len(trace.calls)
    assert [len(search.passages) for search in seen.searches] == [len(search.passages) for search in trace.searches]
    assert seen.hidden == (len(closed) if closed or not covers else 0)


@pytest.mark.parametrize("number", [0, 2])
def test_what_the_prompt_had_no_room_for_is_told(number: int) -> None:
    chunk = Chunk(id="a-0", document_id="s:a", knowledge_base="k", ordinal=0, text="Seven.", title="A", token_count=2)
    given_out = [ScoredChunk(chunk=chunk, score=0.5, ranks={"dense": 1})] * 2
    recorder = Recorder()
    recorder.given(given_out, number)
    read = recorder.trace(ANSWER).read
    assert [one.fate for one in read] == [Fate.READ] * number + [Fate.NO_ROOM] * (2 - number)
    assert read[0].legs == (("dense", 1),)
