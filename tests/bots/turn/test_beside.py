"""Text that is slow to read or to write is read and written in a thread, so that nobody else waits for it."""

import asyncio
import functools
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from bots.rendering.parse import parse_answer, parse_markdown, parse_partial
from bots.requests import Ask, Event, Found, Request, Search
from bots.turn import answering, commands, quotes, replying
from bots.turn.beside import LONG, beside
from ragcore.types import Answer, Delta
from tests.bots.turn.flows import Model, final, flowing
from tests.bots.turn.flows import answering as answering_slowly
from tests.fakes.operations import CHUNKS
from tests.fakes.platform import FakePlatform, asked
from tests.fakes.threads import Threads
from tests.fakes.virtual import run


@pytest.mark.parametrize(("is_long", "paged"), [(False, False), (True, False), (True, True)])
def test_only_what_is_long_is_read_and_written_in_a_thread(
    is_long: bool, paged: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    question = "How many days?" + " Or weeks?" * (LONG // 20 if is_long else 1)
    wanted, threads = final(question), Threads()
    watched, seen = threads.watched, threads.in_loop
    monkeypatch.setattr(answering, "parse_answer", watched("read", parse_answer))
    monkeypatch.setattr(replying, "parse_partial", watched("read while it grows", parse_partial))
    manner = FakePlatform.manner
    monkeypatch.setattr(FakePlatform, "manner", lambda self, one: replace(manner(self, one), paged=paged))
    monkeypatch.setattr(FakePlatform, "render", watched("written", FakePlatform.render))
    monkeypatch.setattr(FakePlatform, "render_partial", watched("shown", FakePlatform.render_partial))

    async def talk() -> None:
        async with flowing(model=Model(lambda request: answering_slowly(request, pause=4.0))) as flow:
            flow.platform.longest = 100_000
            await flow.turns.receive(asked(question))
            await flow.idle()
            assert flow.texts("q1") == [wanted]

    run(talk())
    assert seen["read"] == seen["written"] == {not is_long}
    # It begins short and ends long.
    assert seen["read while it grows"] == seen["shown"] == ({True, False} if is_long else {True})


def longer(answer: Answer) -> Answer:
    """Return the answer with sources whose quotes are long."""
    return replace(answer, citations=tuple(replace(one, quote=one.quote * LONG) for one in answer.citations))


async def at_length(request: Ask) -> AsyncIterator[Event]:
    async for event in answering_slowly(request, pause=0.1):
        yield longer(event) if isinstance(event, Answer) else event


async def cut(request: Ask) -> AsyncIterator[Event]:
    yield Delta(text="Word. " * LONG)
    await asyncio.sleep(30)


def test_what_is_shown_by_a_press_is_read_in_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    threads = Threads()
    monkeypatch.setattr(quotes, "parse_answer", threads.watched("shared", parse_answer))
    monkeypatch.setattr(quotes, "_passages", threads.watched("quotes", quotes._passages))
    everybody = frozenset({"*"})

    async def talk() -> None:
        async with flowing(model=Model(at_length)) as flow:
            await flow.turns.receive(asked("How many days?" + " Or weeks?" * (LONG // 20)))
            await flow.idle()
            ((reference, _),) = flow.model.turns.items()
            assert await flow.turns.quotes(reference, everybody) is not None
            assert (await flow.turns.share(reference, "U1", everybody)).view is not None

    run(talk())
    assert threads.in_loop == {"shared": {False}, "quotes": {False}}


def test_what_was_found_or_was_stopped_is_read_in_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    threads = Threads()
    monkeypatch.setattr(answering, "parse_markdown", threads.watched("stopped", parse_markdown))
    monkeypatch.setattr(commands, "_result", threads.watched("found", commands._result))
    found = Found(chunks=tuple(replace(one, chunk=replace(one.chunk, text=one.chunk.text * LONG)) for one in CHUNKS))

    class Finding(Model):
        async def run(self, request: Request) -> AsyncIterator[Event]:
            if isinstance(request, Search):
                yield found
                return
            async for event in super().run(request):
                yield event

    async def talk() -> None:
        async with flowing(model=Finding(cut)) as flow:
            await flow.turns.receive(asked("search days", message="q1"))
            await flow.idle()
            await flow.turns.receive(asked("How many days?", message="q2"))
            await asyncio.sleep(5)
            assert await flow.turns.stop_in(asked("").conversation, "U1")
            await flow.idle()
            assert "Word." in flow.texts("q2")[0]

    run(talk())
    assert threads.in_loop == {"stopped": {False}, "found": {False}}


@pytest.mark.parametrize(
    ("text", "in_loop"),
    [("Word. " * (LONG // 7), True), ("Five days [ID:2]. " * (LONG // 30), True), ("[" * (LONG // 5), False),
     ("*a " * (LONG // 5), False), ("Word. " * (LONG // 5), False)],
)  # fmt: skip
async def test_marks_make_a_text_slow_to_read_that_is_not_long(text: str, in_loop: bool) -> None:
    threads = Threads()
    await beside(text, functools.partial(threads.watched("read", parse_markdown), text))
    assert threads.in_loop == {"read": {in_loop}}
