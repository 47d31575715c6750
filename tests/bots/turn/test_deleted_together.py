"""One of several questions that are answered together is deleted: the others are answered, without it, for good."""

import asyncio
import pathlib
from dataclasses import replace
from datetime import timedelta

import pytest

from bots.platform import Incoming
from bots.requests import Ask
from bots.turn.claims import Claims
from bots.turn.claims.claim import Outcome
from ragcore.stores.database import Database
from tests.bots.turn.flows import Flow, Model, answering, final, flowing, outcome, virtual_now
from tests.bots.turn.helpers import HERE, MINE, MovedClock, claimed
from tests.fakes.platform import Server, asked
from tests.fakes.virtual import run

WORDS = ("How many days?", "And for part-timers?", "Or weeks?")
LANES = pytest.mark.parametrize("apart", [False, True], ids=["in one conversation", "each opens one"])


def questions(count: int, *, apart: bool) -> list[Incoming]:
    """Return what one person asks at once."""
    said = [asked(text, message=f"q{n}", sent_at=virtual_now()) for n, text in enumerate(WORDS[:count], 1)]
    if not apart:
        return said
    return [replace(one, conversation=replace(one.conversation, thread=f"reply {one.message}")) for one in said]


async def ask(flow: Flow, said: list[Incoming]) -> None:
    for one in said:
        assert await flow.turns.receive(one)


async def delete(flow: Flow, one: Incoming) -> None:
    # As Discord tells it: without the thread that the message opened.
    await flow.turns.deleted(replace(one.conversation, thread=""), one.message)


def standing(server: Server) -> list[tuple[str, str]]:
    return [(one.reply_to, one.text) for one in server.messages.values() if not one.gone and not one.draft]


@pytest.mark.grid
@LANES
@pytest.mark.parametrize("seconds", [0.0, 1.0, 3.5, 30.0])
@pytest.mark.parametrize("streaming", ["edit", "draft"])
@pytest.mark.parametrize("lives_on", [True, False])
def test_a_further_one_is_left_out_also_by_whoever_takes_over(
    tmp_path_factory: pytest.TempPathFactory, apart: bool, seconds: float, streaming: str, lives_on: bool
) -> None:
    """While it is answered, before and after words are shown, and long after."""
    where, server = tmp_path_factory.mktemp("claims") / "claims.sqlite", Server()
    model = Model(lambda request: answering(request, pause=1.0))

    async def talk() -> None:
        said = questions(3, apart=apart)
        async with flowing(where, server=server, model=model, streaming=streaming) as flow:
            await ask(flow, said)
            await asyncio.sleep(seconds)
            await delete(flow, said[1])
            left = f"{WORDS[0]}\n{WORDS[2]}"
            if lives_on:
                await flow.idle()
                assert standing(server) == [("q1", final(left))]
        async with flowing(where, server=server, streaming=streaming) as flow:
            await flow.turns.connected()
            await flow.idle()
            assert standing(server) == [("q1", final(left))]
            await delete(flow, said[1])
            assert not await flow.turns.receive(said[1])
            await flow.idle()
            assert standing(server) == [("q1", final(left))]
            change = replace(said[2], text="Months?", edited_at=said[2].sent_at + timedelta(seconds=40))
            await flow.turns.receive(change)
            await flow.idle()
            assert standing(server) == [("q1", final(f"{WORDS[0]}\nMonths?"))]
            assert [one.question for one in flow.model.turns.values()] == [f"{WORDS[0]}\nMonths?"]

    run(talk())


@pytest.mark.grid
@LANES
@pytest.mark.parametrize("seconds", [0.0, 1.0, 3.5, 30.0])
@pytest.mark.parametrize("lives_on", [True, False])
def test_without_the_first_the_others_are_answered_where_they_stand(
    tmp_path_factory: pytest.TempPathFactory, apart: bool, seconds: float, lives_on: bool
) -> None:
    where, server = tmp_path_factory.mktemp("claims") / "claims.sqlite", Server()
    model = Model(lambda request: answering(request, pause=1.0))

    async def talk() -> None:
        said = questions(3, apart=apart)
        left = f"{WORDS[1]}\n{WORDS[2]}"
        async with flowing(where, server=server, model=model) as flow:
            await ask(flow, said)
            await asyncio.sleep(seconds)
            await delete(flow, said[0])
            if lives_on:
                await flow.idle()
                assert standing(server) == [("q2", final(left))]
                assert [one.question for one in model.turns.values()] == [left]
        async with flowing(where, server=server, model=model) as flow:
            await flow.turns.connected()
            await flow.idle()
            await delete(flow, said[0])
            assert not any([await flow.turns.receive(one) for one in said])
            await flow.idle()
            assert [one for one in standing(server) if one[0] == "q2"] == [("q2", final(left))]
            if lives_on:
                assert len(standing(server)) == 1
            change = replace(said[2], text="Months?", edited_at=said[2].sent_at + timedelta(seconds=40))
            await flow.turns.receive(change)
            await flow.idle()
            assert ("q2", final(f"{WORDS[1]}\nMonths?")) in standing(server)
            assert await outcome(flow, "q1") is Outcome.WITHDRAWN

    run(talk())


@LANES
def test_an_edited_one_is_asked_on_its_own_as_it_was_edited(apart: bool) -> None:
    async def talk() -> None:
        async with flowing() as flow:
            said = questions(2, apart=apart)
            await ask(flow, said)
            await flow.idle()
            change = replace(said[1], text="Which weeks?", edited_at=said[1].sent_at + timedelta(seconds=5))
            await flow.turns.receive(change)
            await flow.idle()
            assert standing(flow.server) == [("q1", final(f"{WORDS[0]}\nWhich weeks?"))]
            await delete(flow, said[0])
            await flow.idle()
            assert standing(flow.server) == [("q2", final("Which weeks?"))]
            again = replace(said[1], text="Months?", edited_at=said[1].sent_at + timedelta(seconds=9))
            await flow.turns.receive(again)
            await flow.idle()
            assert standing(flow.server) == [("q2", final("Months?"))]
            asks = [one for one in flow.model.asked if isinstance(one, Ask)]
            assert asks[-1].conversation == said[1].conversation, "it has a history of its own"

    run(talk())


@pytest.mark.grid
@LANES
@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2)])
@pytest.mark.parametrize("pause", [0.0, 2.0, 20.0])
def test_when_all_are_deleted_nothing_stands(apart: bool, order: tuple[int, ...], pause: float) -> None:
    async def talk() -> None:
        async with flowing() as flow:
            said = questions(3, apart=apart)
            await ask(flow, said)
            await asyncio.sleep(pause)
            for number in order:
                await delete(flow, said[number])
                await asyncio.sleep(pause)
            await flow.idle()
            assert standing(flow.server) == []
            assert flow.model.turns == {}

    run(talk())


@LANES
def test_the_first_and_the_second_deleted_at_once(apart: bool) -> None:
    async def talk() -> None:
        async with flowing() as flow:
            said = questions(3, apart=apart)
            await ask(flow, said)
            await flow.idle()
            await asyncio.gather(delete(flow, said[0]), delete(flow, said[1]))
            await flow.idle()
            assert [text for _, text in standing(flow.server)] == [final(WORDS[2])]

    run(talk())


async def test_what_is_left_out_is_not_read_again(here: Claims, there: Claims, clock: MovedClock) -> None:
    first, second, third = [await claimed(here, key, text=f"text {key}") for key in "abc"]
    for one in (second, third):
        assert await here.merge(one, first)
    assert await here.leave_out(HERE, "b") is None
    again = replace(first.incoming, keys=("without b",))
    made = await here.leave_out(HERE, "b", again=again, replaces=first.reference)
    assert made is not None
    assert await here.leave_out(HERE, "b", again=again, replaces=first.reference) is None, "once"
    clock.seconds += 30
    (taken, _) = await there.abandoned(MINE)
    assert [one.text for one in (taken.incoming, *taken.also)] == ["text a", "", "text c"]
    assert taken.also[0].asker == second.incoming.asker


async def test_who_is_left_of_a_line_is_taken_over(
    here: Claims, there: Claims, databases: tuple[Database, ...], clock: MovedClock, tmp_path: pathlib.Path
) -> None:
    first, second, third = [await claimed(here, key, text=f"text {key}") for key in "abc"]
    for one in (second, third):
        assert await here.merge(one, first)
    rest = {one.incoming.message: one.incoming for one in (second, third)}
    (ended,), (left,) = await here.part([first], rest)
    assert ended.incoming == first.incoming
    assert (left.reference, left.incoming, left.also) == (second.reference, second.incoming, (third.incoming,))
    assert await here.heartbeat([left]) == {left.reference}
    assert await here.heartbeat([first]) == frozenset()
    clock.seconds += 30
    assert await there.abandoned(MINE) == (replace(left, attempts=2),)
    (gone,) = await here.by_message(HERE, "a")
    assert (gone.outcome, gone.incoming.text, gone.also) == (Outcome.WITHDRAWN, "", ())
    assert await here.part([first], {}) == ((gone,), ())
