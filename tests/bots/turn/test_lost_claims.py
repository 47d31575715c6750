"""Claims that a process couldn't keep: it writes no more in time, and over nobody else's answer."""

import asyncio
import itertools
import pathlib
from collections.abc import Awaitable, Callable, Collection
from typing import Any

import pytest

from bots.turn.claims import LEASE_SECONDS
from bots.turn.claims.claim import Claim, Outcome
from ragcore.errors import StoreError
from tests.bots.turn.flows import Flow, Model, answering, final, flowing
from tests.fakes.platform import Server, asked, no_fault
from tests.fakes.virtual import freeze, run


def away(error: Exception | None) -> Callable[..., Awaitable[Any]]:
    """Return what a call does that fails, or comes to no end (None)."""

    async def call(*_: object, **__: object) -> Any:
        if error is not None:
            raise error
        await asyncio.Event().wait()

    return call


def slow(seconds: float) -> Model:
    """Return a model that thinks for so long, and then writes a word in each tenth of that."""
    return Model(lambda ask: answering(ask, pause=seconds))


async def answered_by(other: Flow, one: Flow) -> None:
    """Let the other process answer what one has claimed, as when the lease has run out (by the database's clock)."""
    (claim,) = await one.claims.by_message(asked("").conversation, "q1")
    await one.claims.release(claim)
    (taken,) = await other.claims.abandoned(["discord"])
    await other.claims.finish(taken, Outcome.ANSWERED)


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("error", [StoreError("away"), None])
def test_who_cannot_keep_a_claim_writes_over_nobody_elses_answer(
    tmp_path: pathlib.Path, error: Exception | None, whole: bool
) -> None:
    async def talk() -> None:
        server, where = Server(), tmp_path / "claims.sqlite"
        async with (
            flowing(where, server=server, model=slow(15.0), alone=False) as one,
            flowing(where, server=server, alone=False),
        ):
            one.claims.heartbeat = away(error)  # type: ignore[method-assign]
            if whole:
                one.claims.stops.asked = away(error)  # type: ignore[method-assign]
                one.claims.by_reference = away(error)  # type: ignore[method-assign]
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

    async def talk() -> None:
        async with flowing(tmp_path / "claims.sqlite", model=slow(15.0), alone=False) as one:
            began, real = asyncio.get_running_loop().time(), one.claims.heartbeat

            async def sign(held: Collection[Claim]) -> frozenset[str]:
                if len(signs) == kept:
                    return await away(fault)()  # type: ignore[no-any-return]
                signs.append(asyncio.get_running_loop().time())
                return await real(held)

            one.claims.heartbeat = sign  # type: ignore[method-assign]
            one.claims.abandoned = away(fault)  # type: ignore[method-assign]
            await one.turns.receive(asked("How many days?"))
            (job,) = one.turns._lanes
            await asyncio.sleep(LEASE_SECONDS / 2)
            assert not job.lost
            last = signs[-1] if signs else began
            await asyncio.sleep(last + LEASE_SECONDS * 0.9 - asyncio.get_running_loop().time())
            assert job.lost
            await one.turns.receive(asked("How many weeks?", message="q2"))
            (later,) = one.turns._lanes
            await asyncio.sleep(LEASE_SECONDS * 0.9)
            assert later.lost, "it was asked when the others were lost already"

    run(talk())


@pytest.mark.parametrize("name", ["abandoned", "asked"])
def test_a_look_at_what_others_do_that_hangs_once_costs_nobody_a_claim(tmp_path: pathlib.Path, name: str) -> None:
    async def talk() -> None:
        async with flowing(tmp_path / "claims.sqlite", model=slow(30.0), alone=False) as one:
            whose = one.claims if name == "abandoned" else one.claims.stops
            real, calls = getattr(whose, name), itertools.count()

            async def once(*arguments: Any, **named: Any) -> Any:
                if not next(calls):
                    await asyncio.Event().wait()
                return await real(*arguments, **named)

            setattr(whose, name, once)
            await one.turns.receive(asked("How many days?"))
            (job,) = one.turns._lanes
            await one.idle()
            assert next(calls) > 2
            assert not job.lost
            assert one.texts("q1") == [final("How many days?")]

    run(talk())


def test_who_is_told_to_stop_keeps_what_it_finishes(tmp_path: pathlib.Path) -> None:
    signs: list[float] = []

    async def talk() -> None:
        async with flowing(tmp_path / "claims.sqlite", model=slow(15.0), alone=False) as one:
            loop, real = asyncio.get_running_loop(), one.claims.heartbeat

            async def sign(held: Collection[Claim]) -> frozenset[str]:
                signs.append(loop.time())
                return await real(held)

            await one.turns.receive(asked("How many days?"))
            await asyncio.sleep(LEASE_SECONDS / 3 - 1)
            one.claims.heartbeat = sign  # type: ignore[method-assign]
            one.claims.abandoned = away(KeyError("nothing is taken up any more"))  # type: ignore[method-assign]
            began = loop.time()
            await one.turns.close(90.0)
            assert one.texts("q1") == [final("How many days?")]
            gaps = [after - before for before, after in itertools.pairwise((began, *signs, loop.time()))]
            assert len(gaps) > 3
            assert max(gaps) <= LEASE_SECONDS / 3

    run(talk())


def test_who_is_told_to_stop_and_cannot_keep_its_claims_writes_no_more(tmp_path: pathlib.Path) -> None:
    async def talk() -> None:
        async with flowing(tmp_path / "claims.sqlite", model=slow(15.0), alone=False) as one:
            one.claims.heartbeat = away(StoreError("away"))  # type: ignore[method-assign]
            await one.turns.receive(asked("How many days?"))
            (job,) = one.turns._lanes
            await asyncio.sleep(LEASE_SECONDS / 2)
            began = asyncio.get_running_loop().time()
            await one.turns.close(90.0)
            assert asyncio.get_running_loop().time() - began < LEASE_SECONDS / 3
            assert job.lost

    run(talk())


def test_who_is_told_to_stop_waits_for_no_database(tmp_path: pathlib.Path) -> None:
    async def talk() -> None:
        async with flowing(tmp_path / "claims.sqlite", model=slow(15.0), alone=False) as one:
            for number in range(3):
                await one.turns.receive(asked("How many days?", message=f"q{number}", channel=f"C{number}"))
            await asyncio.sleep(1.0)
            one.claims.release = one.claims.heartbeat = away(None)  # type: ignore[method-assign]
            began = asyncio.get_running_loop().time()
            await one.turns.close(2.0)
            assert asyncio.get_running_loop().time() - began < 4.0

    run(talk())


@pytest.mark.parametrize("name", ["send", "end"])
def test_who_is_cut_off_from_everything_writes_nothing_when_it_is_back(tmp_path: pathlib.Path, name: str) -> None:
    async def talk() -> None:
        calls: list[str] = []

        def fault(call: str, _: int) -> str:
            calls.append(call)
            return "unreachable" if name in calls else ""

        server, where = Server(fault=fault), tmp_path / "claims.sqlite"
        streaming = "none" if name == "send" else "edit"
        async with (
            flowing(where, server=server, alone=False, streaming=streaming) as one,
            flowing(where, server=server, alone=False) as other,
        ):
            await one.turns.receive(asked("How many days?"))
            while name not in calls:  # noqa: ASYNC110 (virtual time)
                await asyncio.sleep(0.1)
            one.claims.heartbeat = one.claims.intend = away(StoreError("away"))  # type: ignore[method-assign]
            await asyncio.sleep(LEASE_SECONDS)
            await answered_by(other, one)
            told, server.fault = len(server.calls), no_fault
            await one.idle()
            assert [name for _, name, _ in server.calls[told:]] == []

    run(talk())


@pytest.mark.parametrize("asleep_at", [3.0, 21.0])
def test_who_wakes_after_its_lease_writes_nothing(tmp_path: pathlib.Path, asleep_at: float) -> None:
    async def talk() -> None:
        server, where = Server(), tmp_path / "claims.sqlite"
        async with (
            flowing(where, server=server, model=slow(15.0), alone=False, every=5.0) as one,
            flowing(where, server=server, alone=False) as other,
        ):
            await one.turns.receive(asked("How many days?"))
            await asyncio.sleep(asleep_at)  # before the first words, or among them
            await answered_by(other, one)
            told = len(server.calls)
            freeze(LEASE_SECONDS)
            await one.idle()
            assert [name for _, name, _ in server.calls[told:]] == []

    run(talk())


def test_who_lost_a_claim_unawares_sends_no_answer(tmp_path: pathlib.Path) -> None:
    async def talk() -> None:
        server, where = Server(), tmp_path / "claims.sqlite"
        async with (
            flowing(where, server=server, model=slow(5.0), alone=False) as one,
            flowing(where, server=server, alone=False) as other,
        ):
            await one.turns.receive(asked("How many days?"))
            await asyncio.sleep(6.0)
            (job,) = one.turns._lanes
            assert one.texts("q1") != [], "its first words stand"
            await answered_by(other, one)
            one.claims.heartbeat = lambda held: asyncio.sleep(0, frozenset({job.claim.reference}))  # type: ignore[method-assign, assignment]
            await one.idle()
            assert "end" not in [name for _, name, _ in server.calls]

    run(talk())


def test_who_comes_back_leaves_the_message_in_which_another_one_answered(tmp_path: pathlib.Path) -> None:
    async def talk() -> None:
        server, where = Server(), tmp_path / "claims.sqlite"
        async with (
            flowing(where, server=server, model=slow(15.0), alone=False) as one,
            flowing(where, server=server, alone=False) as other,
        ):
            calls = ("begun", "heartbeat", "done", "finish", "by_reference")
            real = {name: getattr(one.claims, name) for name in calls}
            for name in ("begun", "heartbeat"):
                setattr(one.claims, name, away(StoreError("away")))
            await one.turns.receive(asked("How many days?"))
            while not one.texts("q1"):  # noqa: ASYNC110
                await asyncio.sleep(0.1)
            for name in calls:
                setattr(one.claims, name, away(StoreError("away")))
            await asyncio.sleep(LEASE_SECONDS)
            (claim,) = await other.claims.by_message(asked("").conversation, "q1")
            await one.claims.release(claim)  # its lease has run out
            await other.turns.connected()
            await other.idle()
            assert one.texts("q1") == [final("How many days?")]
            for name, call in real.items():
                setattr(one.claims, name, call)
            await asyncio.sleep(2 * LEASE_SECONDS)
            assert one.texts("q1") == [final("How many days?")]

    run(talk())
