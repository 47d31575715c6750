"""Two processes on one database: each question is answered once, and what one hands over the other takes up."""

import asyncio
import pathlib
from collections.abc import Collection
from dataclasses import replace
from datetime import timedelta

import pytest

from bots.turn.claims import LEASE_SECONDS
from bots.turn.claims.claim import Outcome
from bots.words.sentences import word
from tests.bots.turn.flows import Model, answering, final, flowing
from tests.fakes.platform import Server, asked
from tests.fakes.virtual import run


def test_an_event_that_reaches_both_is_answered_once(tmp_path: pathlib.Path) -> None:
    async def talk() -> None:
        server, model = Server(), Model()
        where = tmp_path / "claims.sqlite"
        async with (
            flowing(where, server=server, model=model, alone=False) as one,
            flowing(where, server=server, model=model, alone=False) as other,
        ):
            for number in range(4):
                question = asked(f"Why {number}?", message=f"q{number}", channel=f"C{number}")
                took = await asyncio.gather(one.turns.receive(question), other.turns.receive(question))
                assert sorted(took) == [False, True]
            await one.idle()
            await other.idle()
            assert sorted(model.questions) == [f"Why {number}?" for number in range(4)]
            for number in range(4):
                assert one.texts(f"q{number}") == [final(f"Why {number}?")]

    run(talk())


def test_what_is_handed_over_is_finished_in_the_same_message(tmp_path: pathlib.Path) -> None:
    async def talk() -> None:
        server, where = Server(), tmp_path / "claims.sqlite"
        async with flowing(
            where, server=server, model=Model(lambda ask: answering(ask, pause=30.0)), alone=False
        ) as one:
            await one.turns.receive(asked("How many days?"))
            await asyncio.sleep(35)
            assert len(one.texts("q1")) == 1, "its first words stand"
            await one.turns.close(1.0)
            async with flowing(where, server=server, alone=False) as other:
                await asyncio.sleep(LEASE_SECONDS / 2)
                await other.idle()
                assert other.texts("q1") == [final("How many days?")]
                (claim,) = await other.claims.by_message(asked("").conversation, "q1")
                assert claim.outcome is Outcome.ANSWERED
                assert claim.attempts == 2
            assert len(server.messages) == 1

    run(talk())


def test_close_lets_what_is_under_way_come_to_its_end(tmp_path: pathlib.Path) -> None:
    async def talk() -> None:
        async with flowing() as flow:
            await flow.turns.receive(asked("How many days?"))
            await flow.turns.close(20.0)
            assert flow.texts("q1") == [final("How many days?")]

    run(talk())


@pytest.mark.parametrize("sending", [False, True])
def test_of_a_question_that_another_process_hears_deleted_nothing_stays(tmp_path: pathlib.Path, sending: bool) -> None:
    async def talk() -> None:
        server, where = Server(), tmp_path / "claims.sqlite"
        model = Model(lambda ask: answering(ask, pause=0.5 if sending else 60.0))
        async with (
            flowing(where, server=server, model=model, alone=False, streaming="none") as one,
            flowing(where, server=server, model=model, alone=False) as other,
        ):
            one.platform.status_lasts, one.platform.status_has_words = 120.0, True
            await one.turns.receive(asked("How many days?"))
            await asyncio.sleep(0.1)
            assert server.statuses[-1] == ("q1", word("searching_in", names="handbook"))
            server.latency = 5.0
            while sending and not any(job.sending for job in one.turns._lanes):  # noqa: ASYNC110 (virtual time)
                await asyncio.sleep(0.1)
            await asyncio.sleep(1)
            await other.turns.deleted(asked("").conversation, "q1")
            await one.idle()
            assert one.texts("q1") == []
            assert server.statuses[-1] == ("q1", "")

    run(talk())


@pytest.mark.parametrize("stuck", ["begin", "change", "send", "status"])
def test_close_waits_for_no_call_that_hangs(stuck: str) -> None:
    async def talk() -> None:
        async with flowing(model=Model(lambda ask: answering(ask, pause=5.0))) as flow:
            flow.server.fault = lambda name, _: "hangs" if name == stuck else ""
            await flow.turns.receive(asked("How many days?"))
            await asyncio.sleep(8.0)
            began = asyncio.get_running_loop().time()
            await flow.turns.close(2.0)
            assert asyncio.get_running_loop().time() - began < 4.0
            assert not flow.turns.running()

    run(talk())


@pytest.mark.parametrize("by_button", [False, True])
def test_stop_reaches_the_process_that_writes(tmp_path: pathlib.Path, by_button: bool) -> None:
    async def talk() -> None:
        where, model, here = tmp_path / "claims.sqlite", Model(lambda ask: answering(ask, pause=60.0)), asked("")
        async with (
            flowing(where, model=model, alone=False) as one,
            flowing(where, model=model, alone=False) as other,
        ):
            await one.turns.receive(asked("How many days?"))
            await asyncio.sleep(1.0)
            ((claim,), stop) = await other.claims.by_message(here.conversation, "q1"), other.turns.stop
            for asker, may in (("U2", False), ("U1", True)):
                stopped = stop(claim.reference, asker) if by_button else other.turns.stop_in(here.conversation, asker)
                assert await stopped is may
                await asyncio.sleep(3.0)
                assert bool(one.turns.running()) is not may
            assert one.texts("q1")[0].startswith(word("stopped"))
            assert await stop(claim.reference, "U1") is False, "there is nothing to stop any more"

    run(talk())


@pytest.mark.parametrize(
    ("stopped_at", "lag", "here"),
    [(0.1, 0.0, True), (0.1, 0.0, False), (9.0, 1.9, False), (12.0, 0.0, False)],
    ids=["here", "in time", "heard while it is sent", "too late"],
)
def test_what_is_asked_anew_after_stop_is_answered(
    tmp_path: pathlib.Path, stopped_at: float, lag: float, here: bool
) -> None:
    async def talk() -> None:
        server, where = Server(), tmp_path / "claims.sqlite"
        slow = Model(lambda ask: answering(ask, pause=3.0))
        async with (
            flowing(where, server=server, model=slow, alone=False) as one,
            flowing(where, server=server, alone=False) as other,
        ):
            first, real = asked("How many day?"), one.claims.stops.asked

            async def asked_to_stop(references: Collection[str]) -> frozenset[str]:
                return await asyncio.sleep(lag, await real(references))

            one.claims.stops.asked = asked_to_stop  # type: ignore[method-assign]
            await one.turns.receive(first)
            (job,) = one.turns._lanes
            await asyncio.sleep(0.05)
            server.latency = 5.0
            await asyncio.sleep(stopped_at - 0.05)
            assert await (one if here else other).turns.stop(job.claim.reference, "U1")
            while not job.sending:  # noqa: ASYNC110 (virtual time)
                await asyncio.sleep(0.1)
            await asyncio.sleep(0.2)
            edited = replace(first, text="How many days?", edited_at=first.sent_at + timedelta(seconds=5))
            assert await one.turns.receive(edited)
            assert job.sending
            await one.idle()
            assert one.texts("q1") == [final("How many days?")]

    run(talk())
