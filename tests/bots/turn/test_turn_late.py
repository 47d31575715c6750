"""Messages that come in another order than they were written, or long after: each is answered once, or told why not."""

from dataclasses import replace
from datetime import timedelta

import pytest

from bots.platform import Reach
from bots.turn.claims.claim import Outcome
from bots.turn.options import ChannelRule, place
from bots.words.sentences import word
from tests.bots.turn.flows import OPTIONS, final, flowing, virtual_now
from tests.fakes.platform import Server, asked
from tests.fakes.virtual import run


def test_an_edit_that_comes_before_its_message_is_answered_once() -> None:
    async def talk() -> None:
        async with flowing() as flow:
            first = asked("How many day?")
            edited = replace(first, text="How many days?", edited_at=first.sent_at + timedelta(seconds=5))
            await flow.turns.receive(edited)
            await flow.idle()
            assert not await flow.turns.receive(first)
            assert not await flow.turns.receive(edited)
            await flow.idle()
            assert flow.texts("q1") == [final("How many days?")]
            assert flow.model.questions == ["How many days?"]

    run(talk())


def test_a_question_asked_and_edited_while_nobody_listened_is_answered() -> None:
    async def talk() -> None:
        async with flowing() as flow:
            await flow.turns.receive(asked("Before?", message="q0"))
            await flow.idle()
            sent_at = virtual_now() - timedelta(minutes=5)
            first = asked("How many day?", sent_at=sent_at)
            edited = replace(first, text="How many days?", edited_at=sent_at + timedelta(minutes=2))
            flow.platform.read_back = (edited,)
            await flow.turns.connected()
            await flow.idle()
            assert flow.texts("q1") == [final("How many days?")]
            assert not await flow.turns.receive(first)
            await flow.turns.connected()
            await flow.idle()
            assert flow.texts("q1") == [final("How many days?")]

    run(talk())


def test_what_waited_too_long_is_told_so_and_not_answered() -> None:
    async def talk() -> None:
        async with flowing(server=Server(latency=0.3)) as flow:
            for number in range(9):
                sent_at = virtual_now() - timedelta(hours=9, minutes=-number)
                await flow.turns.receive(asked(f"Old {number}?", message=f"old{number}", sent_at=sent_at))
            await flow.turns.receive(asked("New?", message="new", sent_at=virtual_now()))
            await flow.idle()
            told = [text for number in range(9) for text in flow.texts(f"old{number}")]
            # The first is being told already when the others come, which are told together.
            assert len(told) == 2
            assert all(text.startswith(word("late")) for text in told)
            assert flow.texts("new") == [final("New?")]
            assert flow.model.questions == ["New?"]
            (claim,) = await flow.claims.by_message(asked("").conversation, "old0")
            assert claim.outcome is Outcome.LATE

    run(talk())


@pytest.mark.parametrize("left", [False, True])
def test_who_opened_a_chat_while_nobody_listened_is_greeted(left: bool) -> None:
    async def talk() -> None:
        options = replace(OPTIONS, channels={place(asked("").conversation): ChannelRule(respond="off")})
        async with flowing(options=options) as flow:
            sent_at = virtual_now() - timedelta(days=1)
            opened = asked("", reach=Reach.COMMAND, command="start", private=True, sent_at=sent_at)
            if left:
                claim = await flow.claims.claim(opened)
                assert claim is not None
                await flow.claims.release(claim)
                await flow.turns.connected()
            else:
                await flow.turns.receive(opened)
            await flow.idle()
            (text,) = flow.texts("q1")
            assert text.startswith(word("greeting"))

    run(talk())
