"""What nobody foresaw in a turn: whoever asked still gets an answer or a reason, once, and the next one is served."""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from bots.platform import View
from bots.requests import Ask, Event
from bots.turn import taking
from bots.turn.claims import Claims
from bots.turn.claims.claim import Claim, Outcome
from bots.turn.receiving.order import Job
from bots.turn.waiting import Waiting
from bots.words.sentences import word
from ragcore.errors import StoreError
from ragcore.types import Answer, Delta, Support
from tests.bots.turn.flows import Flow, Model, answering, final, flowing, virtual_now
from tests.fakes.platform import FakePlatform, Server, asked
from tests.fakes.virtual import run


async def outcome(flow: Flow, message: str) -> Outcome | None:
    claims = await flow.claims.by_message(asked("").conversation, message)
    return claims[0].outcome


@pytest.mark.parametrize("name", ["render", "send", "render_partial", "show"])
def test_a_fault_of_ours_in_showing_is_told_and_the_next_question_is_answered(
    name: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    real: Callable[..., Any] = getattr(FakePlatform, name)

    def broken(self: FakePlatform, *arguments: Any, **named: Any) -> Any:
        part = arguments[0] if name.startswith("render") else arguments[1]
        text = str(part.document) if isinstance(part, View) else part.text
        if "answer to 'First" in text:
            raise KeyError("ts")
        return real(self, *arguments, **named)

    monkeypatch.setattr(FakePlatform, name, broken)

    async def talk() -> None:
        async with flowing(model=Model(lambda request: answering(request, pause=2.0))) as flow:  # words grow
            await flow.turns.receive(asked("First, how many days?"))
            await flow.turns.receive(asked("Second, how many days?", message="q2", asker="U2"))
            await asyncio.sleep(20)
            assert flow.texts("q2") == [final("Second, how many days?")]
            (told,) = flow.texts("q1")
            if name in ("render", "send"):
                assert told.startswith(word("went_wrong"))
                assert await outcome(flow, "q1") is Outcome.FAILED
            else:
                assert told == final("First, how many days?")
            assert not flow.turns.running()

    run(talk())
    assert "KeyError: 'ts'" in caplog.text


def test_a_fault_of_ours_in_keeping_the_claims_is_told_and_they_are_kept_on(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    kept: list[frozenset[str]] = []
    real = Claims.heartbeat

    async def broken(self: Claims, held: Collection[Claim]) -> frozenset[str]:
        kept.append(await real(self, held))
        if len(kept) == 1:
            raise KeyError("ts")
        return kept[-1]

    monkeypatch.setattr(Claims, "heartbeat", broken)

    async def talk() -> None:
        async with flowing(model=Model(lambda request: answering(request, pause=25))) as flow:
            await flow.turns.receive(asked("How many days?"))
            await flow.idle()
            assert flow.texts("q1") == [final("How many days?")]

    run(talk())
    assert "KeyError: 'ts'" in caplog.text
    assert len(kept) > 2


def test_a_fault_of_ours_before_a_turn_stops_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(job: Job, *arguments: Any, **named: Any) -> Waiting[Any]:
        if job.incoming.message == "q1":
            raise KeyError("ts")
        return Waiting(job, *arguments, **named)

    monkeypatch.setattr(taking, "Waiting", broken)

    async def talk() -> None:
        async with flowing() as flow:
            with pytest.raises(KeyError):
                await flow.turns.receive(asked("First?"))
            await flow.turns.receive(asked("Second?", message="q2", asker="U2"))
            await flow.idle()
            assert flow.texts("q2") == [final("Second?")]

    run(talk())


@pytest.mark.parametrize("seconds", [0.0, 8.0])
@pytest.mark.parametrize("name", ["intend", "begun", "done", "finish"])
def test_a_database_that_is_away_for_seconds_costs_nobody_the_answer(name: str, seconds: float) -> None:
    async def talk() -> None:
        async with flowing() as flow:
            real, until = getattr(flow.claims, name), list[float]()

            async def away(*arguments: Any, **named: Any) -> Any:
                now = asyncio.get_running_loop().time()
                first = not until
                until.append(now)
                if first or now < until[0] + seconds:
                    raise StoreError("the database failed: the connection was closed")
                return await real(*arguments, **named)

            setattr(flow.claims, name, away)
            await flow.turns.receive(asked("How many days?"))
            await asyncio.sleep(35)
            assert until
            assert flow.texts("q1") == [final("How many days?")]
            assert await outcome(flow, "q1") is Outcome.ANSWERED
            assert flow.server.told == []

    run(talk())


def test_words_that_were_refused_are_no_words() -> None:
    async def slowly(request: Ask) -> AsyncIterator[Event]:
        for _ in range(100):
            await asyncio.sleep(1)
            yield Delta(text="And on it goes. ")
        async for event in answering(request):
            yield event

    async def talk() -> None:
        server = Server(fault=lambda name, _: "refused" if name == "begin" else "")
        async with flowing(server=server, model=Model(slowly)) as flow:
            await flow.turns.receive(asked("How many days?"))
            await asyncio.sleep(40)
            (told,) = flow.texts("q1")
            assert told.startswith(word("too_slow"))

    run(talk())


@pytest.mark.parametrize("fault", ["unreachable", "limited"])
def test_a_part_of_the_former_answer_that_does_not_go_at_once_goes_later(fault: str) -> None:
    async def talk() -> None:
        faults = [fault]

        def failing(name: str, _: int) -> str:
            return faults.pop() if name == "withdraw" and faults else ""

        async with flowing(server=Server(fault=failing), longest=140) as flow:
            question = asked("How many days, tell me all about it?", sent_at=virtual_now())
            await flow.turns.receive(question)
            await flow.idle()
            before = len(flow.texts("q1"))
            edited = replace(question, text="Days?", edited_at=question.sent_at + timedelta(seconds=5))
            await flow.turns.receive(edited)
            await flow.idle()
            assert not faults
            assert len(flow.texts("q1")) < before
            assert "".join(flow.texts("q1")) == final("Days?")
            assert await outcome(flow, "q1") is Outcome.ANSWERED

            faults.append(fault)
            await flow.turns.deleted(question.conversation, "q1")
            assert not faults
            assert flow.texts("q1") == []

    run(talk())


@pytest.mark.parametrize("text", ["", " \n", "\u202e", "\x00\x1b[0m", "[ID:99]", "```\n```", "\ud83d"])
def test_an_answer_that_shows_nothing_is_a_reason(text: str) -> None:
    async def nothing(request: Ask) -> AsyncIterator[Event]:
        yield Delta(text=text)
        yield Answer(question=request.question, raw_text=text, support=Support.EXEMPT)

    async def talk() -> None:
        async with flowing(model=Model(nothing)) as flow:
            await flow.turns.receive(asked("How many days?"))
            await flow.idle()
            (told,) = flow.texts("q1")
            assert told.startswith(word("went_wrong"))
            assert await outcome(flow, "q1") is Outcome.FAILED

    run(talk())
