"""Whatever on the platform, in the database or behind takes the time: a plain reason stands in time."""

import asyncio
import pathlib
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from bots.platform import Attachment, Incoming, Reach
from bots.requests import Ask, Describe, Event, Forget, Recall, Request
from bots.turn.options import FileLimits
from bots.turn.replying.withdrawing import CALL_SECONDS
from bots.words.sentences import word
from ragcore.phrases import phrase
from tests.bots.turn.flows import OPTIONS, Flow, Model, flowing, virtual_now
from tests.bots.turn.paces import NEVER, SIGN, Pace, paced, watched
from tests.fakes.platform import asked
from tests.fakes.virtual import run

PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)


async def never(*_: Any, **__: Any) -> Any:
    """Take longer than anybody waits."""
    await asyncio.sleep(NEVER)


class Stuck(Model):
    """Comes to no end with requests of one kind."""

    def __init__(self, kind: type[Request]) -> None:
        super().__init__()
        self.kind = kind

    async def run(self, request: Request) -> AsyncIterator[Event]:
        if isinstance(request, self.kind):
            await never()
        async for event in super().run(request):
            yield event


def in_thread(incoming: Incoming) -> Incoming:
    return replace(incoming, conversation=replace(incoming.conversation, thread="t1"))


async def reason_in_time(flow: Flow, question: Incoming) -> None:
    """Ask, and see a reason within the patience."""
    seen, began = watched(flow), asyncio.get_running_loop().time()
    await flow.turns.receive(question)
    await asyncio.sleep(40)
    assert seen.signs["q1"] - began <= SIGN
    assert seen.whole["q1"] - began <= 40
    (reason,) = flow.texts("q1")
    assert reason.startswith(word("too_slow"))
    assert flow.turns.running() == 0


@pytest.mark.parametrize("paged", [False, True])
@pytest.mark.parametrize("what", ["readers", "thread", "fetch"])
def test_whatever_on_the_platform_takes_the_time_a_reason_stands(
    what: str, paged: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bots.turn.attachments.FETCH_SECONDS", NEVER)
    questions = {
        "readers": asked("Why?", private=True, reach=Reach.DIRECT),
        "thread": in_thread(asked("Why?")),
        "fetch": asked("Why?", attachments=(Attachment(id="f", name="a.txt", size=1),)),
    }

    async def talk() -> None:
        async with flowing() as flow:
            flow.platform.paged = paged
            setattr(flow.platform, what, never)
            await reason_in_time(flow, questions[what])

    run(talk())


def test_a_database_that_takes_the_time_leaves_room_for_a_reason() -> None:
    async def talk() -> None:
        async with flowing() as flow:
            flow.claims.past.has_history = never  # type: ignore[method-assign]
            await reason_in_time(flow, in_thread(asked("Why?")))

    run(talk())


@pytest.mark.parametrize("kind", [Ask, Describe, Recall, Forget])
def test_whatever_the_backend_does_a_reason_stands(tmp_path: pathlib.Path, kind: type[Request]) -> None:
    async def talk() -> None:
        where = tmp_path / "claims.sqlite"
        options = replace(OPTIONS, files=FileLimits(images=True))
        question = asked("Why?", sent_at=virtual_now(), attachments=(Attachment(id="f", name="a.png", size=1),))
        if kind is Recall:
            async with flowing(where, model=Stuck(Ask)) as killed:
                await killed.turns.receive(question)
        async with flowing(where, model=Stuck(kind), options=options) as flow:
            flow.platform.files = {"f": PNG}
            if kind is Recall:
                seen, began = watched(flow), asyncio.get_running_loop().time()
                await flow.turns.connected()
                await asyncio.sleep(40)
                assert seen.whole["q1"] - began <= 40
                return
            if kind is Forget:
                await flow.turns.receive(question)
                await flow.idle()
                question = replace(question, text="Why so?", edited_at=question.sent_at + timedelta(seconds=5))
            await reason_in_time(flow, question)

    run(talk())


def test_words_that_nobody_saw_give_no_more_time() -> None:
    async def talk() -> None:
        async with flowing(model=paced(Pace(silent=1.0, speaking=200.0))) as flow:
            flow.server.fault = lambda name, _: "hangs" if name == "begin" else ""
            await flow.turns.receive(asked("Why?"))
            await asyncio.sleep(40 + CALL_SECONDS)
            (reason,) = flow.texts("q1")
            assert phrase("interrupted") in reason
            assert not flow.turns.running()

    run(talk())
