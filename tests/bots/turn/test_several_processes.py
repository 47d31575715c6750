"""Two processes on one database: each question is answered once, and what one hands over the other takes up."""

import asyncio
import itertools
import pathlib
import socket
from collections.abc import Collection
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from bots.turn.claims import LEASE_SECONDS
from bots.turn.claims.claim import Claim, Outcome
from bots.words.sentences import word
from ragcore.errors import StoreError
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


def test_stop_that_comes_too_late_stops_nothing_that_is_written_afterwards(tmp_path: pathlib.Path) -> None:
    async def talk() -> None:
        server, where = Server(), tmp_path / "claims.sqlite"
        slow = Model(lambda ask: answering(ask, pause=3.0))
        async with (
            flowing(where, server=server, model=slow, alone=False) as one,
            flowing(where, server=server, alone=False) as other,
        ):
            first = asked("How many day?")
            await one.turns.receive(first)
            (job,) = one.turns._lanes
            await asyncio.sleep(0.1)
            server.latency = 5.0
            while not (job.sending or job.done):  # noqa: ASYNC110 (virtual time)
                await asyncio.sleep(0.1)
            assert await other.turns.stop(job.claim.reference, "U1")
            edited = replace(first, text="How many days?", edited_at=first.sent_at + timedelta(seconds=5))
            assert await one.turns.receive(edited)
            assert job.sending
            await one.idle()
            assert one.texts("q1") == [final("How many days?")]

    run(talk())


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("error", [StoreError("away"), socket.gaierror(-2, "Name or service not known"), None])
def test_who_cannot_keep_a_claim_writes_over_nobody_elses_answer(
    tmp_path: pathlib.Path, error: Exception | None, whole: bool
) -> None:
    async def away(_: object) -> Any:
        if error is not None:
            raise error
        await asyncio.Event().wait()

    async def talk() -> None:
        server, where = Server(), tmp_path / "claims.sqlite"
        slow = Model(lambda ask: answering(ask, pause=15.0))
        async with (
            flowing(where, server=server, model=slow, alone=False) as one,
            flowing(where, server=server, alone=False),
        ):
            one.claims.heartbeat = away  # type: ignore[method-assign]
            if whole:
                one.claims.stops.asked = away  # type: ignore[method-assign]
                one.claims.by_reference = away  # type: ignore[method-assign]
            await one.turns.receive(asked("How many days?"))
            await asyncio.sleep(LEASE_SECONDS)
            (claim,) = await one.claims.by_message(asked("").conversation, "q1")
            assert one.texts("q1") not in ([], [final("How many days?")]), "it was being written"
            await one.claims.release(claim)  # its lease has run out
            ended = len(server.calls)
            while not (end := [name for _, name, _ in server.calls[ended:]].count("end")):  # noqa: ASYNC110
                await asyncio.sleep(0.1)
            assert end == 1
            told = len(server.calls)
            await asyncio.sleep(100)
            assert [name for _, name, _ in server.calls[told:]] == []
            assert one.texts("q1") == [final("How many days?")]
            assert not one.turns.running()

    run(talk())


@pytest.mark.parametrize("kept", [0, 1])
@pytest.mark.parametrize("fault", [None, KeyError("ts")])
def test_nobody_writes_on_past_the_lease_whatever_keeps_the_next_sign_of_life(
    tmp_path: pathlib.Path, kept: int, fault: Exception | None
) -> None:
    signs: list[float] = []

    async def away(*_: object, **__: object) -> Any:
        if fault is not None:
            raise fault
        await asyncio.Event().wait()

    async def talk() -> None:
        slow = Model(lambda ask: answering(ask, pause=15.0))
        async with flowing(tmp_path / "claims.sqlite", model=slow, alone=False) as one:
            began, real = asyncio.get_running_loop().time(), one.claims.heartbeat

            async def sign(held: Collection[Claim]) -> frozenset[str]:
                if len(signs) == kept:
                    return await away()  # type: ignore[no-any-return]
                signs.append(asyncio.get_running_loop().time())
                return await real(held)

            one.claims.heartbeat = sign  # type: ignore[method-assign]
            one.claims.abandoned = away  # type: ignore[method-assign]
            await one.turns.receive(asked("How many days?"))
            (job,) = one.turns._lanes
            await asyncio.sleep(LEASE_SECONDS / 2)
            assert not job.lost
            last = signs[-1] if signs else began
            await asyncio.sleep(last + LEASE_SECONDS * 0.9 - asyncio.get_running_loop().time())
            assert job.lost

    run(talk())


def test_taking_over_that_hangs_once_costs_nobody_a_claim(tmp_path: pathlib.Path) -> None:
    async def talk() -> None:
        slow = Model(lambda ask: answering(ask, pause=30.0))
        async with flowing(tmp_path / "claims.sqlite", model=slow, alone=False) as one:
            real, calls = one.claims.abandoned, itertools.count()

            async def abandoned(platforms: Collection[str], *, alone: bool = False) -> tuple[Claim, ...]:
                if not next(calls):
                    await asyncio.Event().wait()
                return await real(platforms, alone=alone)

            one.claims.abandoned = abandoned  # type: ignore[method-assign]
            await one.turns.receive(asked("How many days?"))
            (job,) = one.turns._lanes
            await one.idle()
            assert next(calls) > 2
            assert not job.lost
            assert one.texts("q1") == [final("How many days?")]

    run(talk())


def test_who_lost_a_claim_unawares_sends_no_answer(tmp_path: pathlib.Path) -> None:
    async def talk() -> None:
        server, where = Server(), tmp_path / "claims.sqlite"
        slow = Model(lambda ask: answering(ask, pause=5.0))
        async with (
            flowing(where, server=server, model=slow, alone=False) as one,
            flowing(where, server=server, alone=False) as other,
        ):
            await one.turns.receive(asked("How many days?"))
            await asyncio.sleep(6.0)
            (claim,) = await one.claims.by_message(asked("").conversation, "q1")
            assert one.texts("q1") != [], "its first words stand"
            await one.claims.release(claim)
            (taken,) = await other.claims.abandoned(["discord"])
            await other.claims.finish(taken, Outcome.ANSWERED)
            one.claims.heartbeat = lambda held: asyncio.sleep(0, frozenset({claim.reference}))  # type: ignore[method-assign, assignment]
            await one.idle()
            assert "end" not in [name for _, name, _ in server.calls]

    run(talk())
