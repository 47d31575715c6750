"""What people see when something goes wrong: one whole answer, or a plain reason in time."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta

import pytest

from bots.platform import Incoming
from bots.requests import Ask, Event
from bots.turn.claims.claim import Outcome
from bots.turn.options import Rate
from bots.words.sentences import word
from ragcore.errors import ModelUnreachable, StoreError
from ragcore.phrases import phrase
from ragcore.types import Delta
from tests.bots.turn.flows import (
    MANNERS,
    OPTIONS,
    Model,
    final,
    flowing,
    outcome,
    virtual_now,
    words_for,
)
from tests.fakes.platform import Server, asked
from tests.fakes.virtual import run


def hanging(after: int = 0) -> Model:
    async def hang(request: Ask) -> AsyncIterator[Event]:
        for number in range(after):
            yield Delta(text=f"word {number} ")
        await asyncio.sleep(10**6)
        yield Delta(text="never")

    return Model(hang)


@pytest.mark.parametrize("streaming", MANNERS)
@pytest.mark.parametrize("after", [0, 3])
def test_a_plain_reason_stands_in_time_whatever_the_model_does(streaming: str, after: int) -> None:
    async def talk() -> None:
        async with flowing(streaming=streaming, model=hanging(after)) as flow:
            await flow.turns.receive(asked("How many days?"))
            await asyncio.sleep(40)
            shown = after and streaming != "none"
            assert flow.turns.running() == (1 if shown else 0)
            await flow.idle()
            (text,) = flow.texts("q1")
            assert (phrase("interrupted") if shown else word("too_slow")) in text
            assert await outcome(flow, "q1") is Outcome.FAILED

    run(talk())


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ModelUnreachable("no route to 10.0.0.1"), phrase("model_down")),
        (StoreError("disk full at /srv"), word("index_down")),
        (ZeroDivisionError("division by zero"), word("went_wrong")),
    ],
)
def test_an_error_is_told_in_plain_words_with_the_reference(error: Exception, words: str) -> None:
    async def fail(request: Ask) -> AsyncIterator[Event]:
        raise error
        yield Delta(text="")

    async def talk() -> None:
        async with flowing(model=Model(fail)) as flow:
            await flow.turns.receive(asked("How many days?"))
            await flow.idle()
            (text,) = flow.texts("q1")
            reference = (await flow.claims.by_message(asked("").conversation, "q1"))[0].reference
            assert words in text
            assert reference in text
            assert str(error) not in text

    run(talk())


def test_rates_are_told_with_the_wait() -> None:
    async def talk() -> None:
        options = replace(OPTIONS, user_rate=Rate(questions=2, seconds=60))
        async with flowing(options=options) as flow:
            for number in range(3):
                await flow.turns.receive(asked("Why?", message=f"q{number}"))
                await flow.idle()
            assert flow.texts("q1") == [final("Why?")]
            assert "Please wait 5" in flow.texts("q2")[0]
            assert await outcome(flow, "q2") is Outcome.LIMITED

    run(talk())


@pytest.mark.grid
@pytest.mark.parametrize("fault", ["unreachable", "dropped", "limited", "refused", "ended", "gone", "hangs"])
@pytest.mark.parametrize("streaming", MANNERS)
@pytest.mark.parametrize("call", ["begin", "change", "end", "send"])
def test_one_failure_leaves_one_whole_answer(fault: str, streaming: str, call: str) -> None:
    failed: list[str] = []

    def once(name: str, _: int) -> str:
        if name != call or failed:
            return ""
        failed.append(name)
        return fault

    async def talk() -> None:
        async with flowing(server=Server(fault=once), streaming=streaming, every=0.2) as flow:
            await flow.turns.receive(asked("How many days?"))
            await flow.idle()
            (text,) = flow.texts("q1")
            assert words_for("How many days?").split()[0] in text
            assert " ".join(text.replace("*", "").split())[:40] == " ".join(final("How many days?").split())[:40]

    run(talk())


def test_what_cannot_be_sent_is_marked_and_an_admin_told() -> None:
    def never(name: str, _: int) -> str:
        return "" if name == "status" else "unreachable"

    async def talk() -> None:
        async with flowing(server=Server(fault=never)) as flow:
            await flow.turns.receive(asked("How many days?"))
            await flow.idle()
            assert await outcome(flow, "q1") is Outcome.UNSENT
            ((admin, words),) = flow.server.told
            assert admin == "discord:@9"
            assert (await flow.claims.by_message(asked("").conversation, "q1"))[0].reference in words

    run(talk())


def test_what_was_missed_is_answered_if_it_is_recent() -> None:
    async def talk() -> None:
        async with flowing() as flow:
            await flow.turns.receive(asked("Why?"))
            await flow.idle()
            now = virtual_now()

            def later(message: str, minutes: float) -> Incoming:
                return asked(f"{message}?", message=message, sent_at=now - timedelta(minutes=minutes))

            flow.platform.read_back = (later("old", 16), later("q2", 3), later("q3", 2))
            await flow.turns.connected()
            await flow.idle()
            assert flow.model.questions == ["Why?", "q3?"]

    run(talk())
