"""What was said before a reset, or is in the history already, comes back by no other way: in no process, and not later."""

import pathlib
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta

import pytest

from bots.requests import Ask, Event, Forget
from bots.turn.claims import Claims
from bots.turn.claims.claim import Outcome
from ragcore.errors import ModelUnreachable
from ragcore.stores.database import Database
from ragcore.types import Message
from tests.bots.turn.flows import Flow, Model, answering, flowing
from tests.bots.turn.helpers import THERE, aged, claimed, message
from tests.fakes.platform import Server, asked
from tests.fakes.virtual import run

QUESTION = asked("Is that so?")
THREAD = replace(QUESTION.conversation, thread="t1")
SAID = (Message(role="user", text="Five days lapse."),)


async def say(flow: Flow, number: int, text: str = "Is that so?") -> None:
    """Mention the bot in the thread, in whose beginning others have said something."""
    flow.platform.threads[THREAD] = SAID
    where = replace(QUESTION, conversation=THREAD, text=text, keys=(f"k{number}",), message=f"q{number}")
    assert await flow.turns.receive(where)
    await flow.idle()


def threads(model: Model) -> list[tuple[Message, ...]]:
    return [one.thread for one in model.asked if isinstance(one, Ask)]


@pytest.mark.parametrize("restarted", [False, True])
@pytest.mark.parametrize("before", ["Is that so?", ""])
def test_a_thread_is_not_read_again_after_a_reset(tmp_path: pathlib.Path, before: str, restarted: bool) -> None:
    async def talk() -> None:
        where, model = tmp_path / "claims.sqlite", Model()
        async with flowing(where, model=model) as flow:
            if before:
                await say(flow, 1, before)
            await say(flow, 2, "reset")
            if not restarted:
                await say(flow, 3)
        if restarted:
            async with flowing(where, model=model) as flow:
                await say(flow, 3)
        assert threads(model) == [SAID, ()] if before else [()]
        (forgot,) = [one for one in model.asked if isinstance(one, Forget)]
        assert (forgot.conversation, forgot.reference) == (THREAD, "")

    run(talk())


def test_after_a_restart_a_thread_that_is_remembered_is_not_read_again(tmp_path: pathlib.Path) -> None:
    async def talk() -> None:
        where, model = tmp_path / "claims.sqlite", Model()
        for number in (1, 2):
            async with flowing(where, model=model) as flow:
                await say(flow, number)
        assert threads(model) == [SAID, ()]

    run(talk())


@pytest.mark.parametrize("text", ["help", "sources", "search leave", "Is that so?"])
def test_what_leaves_no_history_leaves_the_thread_to_be_read(text: str) -> None:
    async def script(request: Ask) -> AsyncIterator[Event]:
        if len(model.questions) == 1 and text == QUESTION.text:
            raise ModelUnreachable("no route")
        async for event in answering(request):
            yield event

    model = Model(script)

    async def talk() -> None:
        async with flowing(model=model) as flow:
            await say(flow, 1, text)
            await say(flow, 2)
            assert threads(model)[-1] == SAID

    run(talk())


def test_the_first_question_of_a_thread_still_has_its_words_when_it_is_edited() -> None:
    async def talk() -> None:
        async with flowing() as flow:
            await say(flow, 1)
            for second in (5, 9):
                (claim, *_) = await flow.claims.by_message(THREAD, "q1")
                edited_at = claim.incoming.sent_at + timedelta(seconds=second)
                text = f"Is that so, after {second} seconds?"
                await flow.turns.receive(replace(claim.incoming, keys=("k1",), text=text, edited_at=edited_at))
                await flow.idle()
            assert threads(flow.model) == [SAID] * 3

    run(talk())


def test_what_another_process_answers_after_a_reset_is_not_remembered(tmp_path: pathlib.Path) -> None:
    async def talk() -> None:
        where, server = tmp_path / "claims.sqlite", Server()
        async with (
            flowing(where, server=server, alone=False) as one,
            flowing(where, server=server, alone=False) as other,
        ):
            here = replace(QUESTION, conversation=THREAD)
            await one.turns.receive(replace(here, keys=("k1",), message="q1"))
            await other.turns.receive(replace(here, keys=("k2",), message="q2", text="reset"))
            await other.idle()
            assert one.turns.running()
            await one.idle()
            (claim,) = await one.claims.by_message(THREAD, "q1")
            assert claim.outcome is Outcome.ANSWERED
            assert one.model.turns == {}
            await one.turns.receive(replace(here, keys=("k3",), message="q3"))
            await one.idle()
            assert len(one.model.turns) == 1

    run(talk())


async def test_whether_a_conversation_has_a_history(here: Claims, there: Claims) -> None:
    first, running, elsewhere = (
        await claimed(here, "a"),
        await claimed(here, "b"),
        await here.claim(message("c", where=THERE)),
    )
    assert elsewhere
    assert not await there.past.has_history([running])
    for outcome in Outcome:
        claim = await claimed(here, f"{outcome}")
        await here.finish(claim, outcome)
        had = {Outcome.ANSWERED, Outcome.UNSUPPORTED, Outcome.ABSTAINED, Outcome.RESET}
        assert await there.past.has_history([running]) == bool(
            had & {*list(Outcome)[: list(Outcome).index(outcome) + 1]}
        )
        assert not await there.past.has_history([elsewhere])
    assert await there.past.was_reset_since(first)
    assert not await there.past.was_reset_since(await claimed(here, "d"))
    assert not await there.past.was_reset_since(elsewhere)


async def test_an_edited_question_is_no_history_of_itself(here: Claims, there: Claims) -> None:
    first = await claimed(here, "a")
    await here.finish(first, Outcome.ANSWERED)
    second = await here.claim(message("a2"), replaces=first.reference)
    assert second
    assert not await there.past.has_history(await there.line_of(second))
    assert await there.past.has_history([second])


async def test_a_reset_of_a_thread_outlives_what_was_remembered(here: Claims, databases: tuple[Database, ...]) -> None:
    alone = replace(THERE, thread="")
    for where in (THERE, alone):
        claim = await here.claim(message(f"reset {where.thread}", text="reset", where=where))
        assert claim
        await here.finish(claim, Outcome.RESET)
        await aged(databases[0], claim, timedelta(days=400))
    assert await here.sweep() == 1
    later = await here.claim(message("b", where=THERE))
    assert later
    assert await here.past.has_history([later])
    (kept,) = await here.by_message(THERE, f"reset {THERE.thread}")
    assert kept.incoming.text == ""
