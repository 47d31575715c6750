"""A claim that is lost while parts of an older answer are taken back: they are left to whoever has it now."""

import asyncio
import pathlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta

import pytest

from bots.turn.claims import LEASE_SECONDS
from bots.turn.claims.claim import Outcome
from ragcore.errors import StoreError
from tests.bots.turn.flows import Flow, Model, answering, final, flowing, virtual_now
from tests.fakes.platform import Server, asked
from tests.fakes.virtual import run

LONG = "How many days may somebody be away who works on three days of the week, and has done so for a year or two?"
"""Its answer takes more messages than that to what it becomes."""


def hangs_once() -> Callable[[str, int], str]:
    """Return the fault of a platform that once doesn't answer when a message is to be taken back."""
    hung: list[int] = []

    def fault(call: str, number: int) -> str:
        if call != "withdraw" or hung:
            return ""
        hung.append(number)
        return "hangs"

    return fault


@asynccontextmanager
async def taking_back(where: pathlib.Path, server: Server) -> AsyncIterator[Flow]:
    """Give a process that wants a part of its answer back, for the question is shorter now, and waits for that."""
    async with flowing(where, server=server, alone=False, longest=200) as one:
        question = asked(LONG, sent_at=virtual_now())
        await one.turns.receive(question)
        await one.idle()
        assert len(one.texts("q1")) == 3
        tried, server.fault = server.tried, hangs_once()
        shorter = replace(question, text="Days?", edited_at=question.sent_at + timedelta(seconds=30))
        await one.turns.receive(shorter)
        while not [name for _, name, _ in server.calls[tried:]].count("end"):  # noqa: ASYNC110 (virtual time)
            await asyncio.sleep(0.1)
        await asyncio.sleep(1.0)
        assert one.turns.running()
        yield one


@pytest.mark.parametrize("pause", [3.0, 12.0], ids=["has ended", "goes on"])
@pytest.mark.parametrize("finds_sent", [True, False])
def test_words_that_arrive_when_another_one_has_looked_for_them_do_not_stay_beside_its_answer(
    tmp_path: pathlib.Path, finds_sent: bool, pause: float
) -> None:
    server, where = Server(), tmp_path / "claims.sqlite"

    def slow_way(step: str) -> None:
        server.latency = 15.0 if step == "before begin" else 0.0

    async def talk() -> None:
        slow = Model(lambda request: answering(request, pause=pause))
        async with (
            flowing(where, server=server, alone=False, finds_sent=finds_sent, mark=slow_way) as one,
            flowing(where, server=server, alone=False, finds_sent=finds_sent, model=slow) as other,
        ):
            await one.turns.receive(asked("How many days?"))
            while not server.latency:  # noqa: ASYNC110 (virtual time)
                await asyncio.sleep(0.1)
            await asyncio.sleep(1.0)
            server.latency = 0.0
            one.claims.heartbeat = away  # type: ignore[method-assign, assignment]
            (claim,) = await one.claims.by_message(asked("").conversation, "q1")
            await one.claims.release(claim)  # its lease has run out
            await other.turns.connected()
            began = [moment for moment, name, _ in server.calls if name == "begin"]
            await asyncio.sleep(16.0)
            assert [name for moment, name, _ in server.calls if name == "begin" and moment not in began]
            assert bool(other.turns.running()) == (pause > 10), "when the words have arrived"
            await other.idle()
            await one.idle()
            assert one.texts("q1") == [final("How many days?")]

    run(talk())


async def away(*_: object) -> frozenset[str]:
    raise StoreError("away")


def test_who_lost_a_claim_takes_nothing_back_in_which_another_one_may_write(tmp_path: pathlib.Path) -> None:
    async def talk() -> None:
        server, where = Server(), tmp_path / "claims.sqlite"
        async with taking_back(where, server) as one, flowing(where, server=server, alone=False) as other:
            one.claims.heartbeat = away  # type: ignore[method-assign, assignment]
            claim = (await one.claims.by_message(asked("").conversation, "q1"))[0]
            await one.claims.release(claim)
            (taken,) = await other.claims.abandoned(["discord"])
            await other.claims.finish(taken, Outcome.ANSWERED)
            await one.idle()
            await asyncio.sleep(3 * LEASE_SECONDS)
            assert "withdraw" not in [name for _, name, _ in server.calls]
            assert len(one.texts("q1")) == 3, "as the other one left them"

    run(talk())


@pytest.mark.parametrize("seconds", [0.0, LEASE_SECONDS / 2])
def test_all_of_an_answer_is_taken_back_when_its_question_is_deleted_meanwhile(
    tmp_path: pathlib.Path, seconds: float
) -> None:
    async def talk() -> None:
        server = Server()
        async with taking_back(tmp_path / "claims.sqlite", server) as one:
            await asyncio.sleep(seconds)
            await one.turns.deleted(asked("").conversation, "q1")
            await one.idle()
            assert one.texts("q1") == []

    run(talk())
