"""Questions that are edited, deleted or stopped: their answers follow."""

import asyncio
from datetime import timedelta

import pytest

from bots.turn.claims.claim import Outcome
from bots.words.sentences import word
from tests.bots.turn.flows import (
    MANNERS,
    final,
    flowing,
    outcome,
    virtual_now,
)
from tests.fakes.platform import asked
from tests.fakes.virtual import run


@pytest.mark.parametrize("streaming", MANNERS)
@pytest.mark.parametrize("after", [0.3, 1.0, 5.0])
def test_an_edited_question_is_answered_again_in_place(streaming: str, after: float) -> None:
    async def talk() -> None:
        async with flowing(streaming=streaming, longest=140) as flow:
            sent_at = virtual_now()
            await flow.turns.receive(asked("How many days, tell me all about it?", sent_at=sent_at))
            await asyncio.sleep(after)
            edited = asked("How many?", sent_at=sent_at, edited_at=virtual_now())
            assert await flow.turns.receive(edited)
            assert not await flow.turns.receive(edited)
            await flow.idle()
            assert "".join(flow.texts("q1")) == final("How many?")
            late = virtual_now() + timedelta(minutes=2)
            assert not await flow.turns.receive(asked("Why?", sent_at=sent_at - timedelta(minutes=2), edited_at=late))
            assert list(flow.model.turns.values())[-1].question == "How many?"
            assert len(flow.model.turns) == 1

    run(talk())


@pytest.mark.parametrize("streaming", MANNERS)
@pytest.mark.parametrize("after", [0.0, 0.3, 1.0, 5.0])
def test_a_deleted_question_takes_its_answer_along(streaming: str, after: float) -> None:
    async def talk() -> None:
        async with flowing(streaming=streaming, longest=60) as flow:
            question = asked("How many days?")
            await flow.turns.receive(question)
            await asyncio.sleep(after)
            await flow.turns.deleted(question.conversation, "q1")
            await flow.idle()
            assert flow.texts("q1") == []
            assert await outcome(flow, "q1") is Outcome.WITHDRAWN
            assert flow.model.turns == {}

    run(talk())


def test_a_question_that_is_deleted_before_it_comes_is_not_answered() -> None:
    async def talk() -> None:
        async with flowing() as flow:
            question = asked("How many days?")
            await flow.turns.deleted(question.conversation, "q1")
            assert not await flow.turns.receive(question)
            await flow.idle()
            assert flow.texts("q1") == []

    run(talk())


def test_only_the_asker_or_an_admin_withdraws_and_stops() -> None:
    async def talk() -> None:
        async with flowing() as flow:
            await flow.turns.receive(asked("How many days?"))
            await asyncio.sleep(0.5)
            reference = (await flow.claims.by_message(asked("").conversation, "q1"))[0].reference
            assert not await flow.turns.stop(reference, "U2")
            assert not await flow.turns.stop_in(asked("").conversation, "U2")
            assert await flow.turns.stop(reference, "U1")
            await flow.idle()
            (text,) = flow.texts("q1")
            assert word("stopped") in text
            assert reference in text
            assert await outcome(flow, "q1") is Outcome.STOPPED
            assert not await flow.turns.withdraw(reference, "U2")
            assert await flow.turns.withdraw(reference, "9")
            assert flow.texts("q1") == []

    run(talk())
