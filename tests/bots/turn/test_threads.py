"""A conversation goes on: in threads, and by replies to an answer."""

from dataclasses import replace

from bots.platform import Reach
from bots.requests import Ask
from ragcore.types import Message
from tests.bots.turn.flows import flowing
from tests.fakes.platform import asked
from tests.fakes.virtual import run


def test_a_mention_in_the_middle_of_a_thread_reads_the_thread_once() -> None:
    async def talk() -> None:
        async with flowing() as flow:
            question = asked("Is that so?")
            here = replace(question.conversation, thread="t1")
            said = (Message(role="user", text="Five days lapse."),)
            flow.platform.threads[here] = said
            for number in range(2):
                await flow.turns.receive(
                    replace(question, conversation=here, keys=(f"k{number}",), message=f"q{number}")
                )
                await flow.idle()
            assert [one.thread for one in flow.model.asked if isinstance(one, Ask)] == [said, ()]

    run(talk())


def test_a_thread_is_answered_without_a_mention_where_the_bot_takes_part() -> None:
    async def talk() -> None:
        async with flowing() as flow:
            question = asked("How many days?")
            here = replace(question.conversation, thread="t1")
            further = replace(question, conversation=here, reach=Reach.THREAD)
            assert not await flow.turns.receive(replace(further, keys=("k0",), message="q0"))
            await flow.turns.receive(replace(further, keys=("k1",), message="q1", reach=Reach.MENTION))
            await flow.idle()
            assert await flow.turns.receive(replace(further, keys=("k2",), message="q2"))
            await flow.idle()
            assert len(flow.model.questions) == 2
            (claim,) = await flow.claims.by_message(here, "q2")
            assert claim.incoming.conversation == here

    run(talk())


def test_a_reply_to_an_answer_goes_on_with_its_conversation() -> None:
    async def talk() -> None:
        async with flowing() as flow:
            first = asked("How many days?")
            await flow.turns.receive(first)
            await flow.idle()
            (claim,) = await flow.claims.by_message(first.conversation, "q1")
            alone = replace(first.conversation, thread="alone")
            for number, (reference, where, expected) in enumerate(
                [
                    (claim.reference, alone, first.conversation),
                    ("00000000", alone, alone),
                    (claim.reference, replace(alone, channel="C9"), replace(alone, channel="C9")),
                ],
                start=2,
            ):
                further = replace(
                    first, conversation=where, goes_on=reference, keys=(f"k{number}",), message=f"q{number}"
                )
                assert await flow.turns.receive(further)
                await flow.idle()
                (taken,) = await flow.claims.by_message(where, f"q{number}")
                assert taken.incoming.conversation == expected

    run(talk())
