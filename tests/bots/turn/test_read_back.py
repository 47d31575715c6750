"""What was asked while nobody listened: of each conversation the newest that was not taken yet is answered."""

import asyncio
from dataclasses import replace
from datetime import timedelta

from bots.platform import Incoming, Reach
from bots.turn.turns import Turns
from ragcore.types import ConversationKey
from tests.bots.turn.flows import Flow, final, flowing, virtual_now
from tests.fakes.platform import asked
from tests.fakes.virtual import run


def before(minutes: float, message: str, **facts: object) -> Incoming:
    """Return a question of so many minutes ago."""
    return asked(f"About {message}?", message=message, sent_at=virtual_now() - timedelta(minutes=minutes), **facts)


async def catch_up(flow: Flow, *missed: Incoming) -> None:
    flow.platform.read_back = missed
    await flow.turns.connected()
    await flow.idle()


def test_of_many_the_newest_of_each_conversation_is_answered() -> None:
    async def talk() -> None:
        async with flowing() as flow:
            for channel in ("C1", "C2"):
                await flow.turns.receive(asked("Before?", message=f"q0 {channel}", channel=channel))
            await flow.idle()
            there = before(9, "q4", channel="C2")
            await catch_up(flow, before(3, "q3"), before(5, "q1"), before(4, "q2"), there)
            assert [flow.texts(f"q{number}") for number in (1, 2)] == [[], []]
            assert flow.texts("q3") == [final("About q3?")]
            assert flow.texts("q4") == [final("About q4?")]

    run(talk())


def test_one_that_was_taken_hides_none_that_was_missed() -> None:
    """Asked once the bot was back, and told before what stands in the channel was read."""

    async def talk() -> None:
        async with flowing() as flow:
            newest = before(1, "q3")
            await flow.turns.receive(newest)
            await flow.idle()
            await catch_up(flow, before(5, "q1"), before(4, "q2"), newest)
            assert flow.texts("q1") == []
            assert flow.texts("q2") == [final("About q2?")]
            assert flow.texts("q3") == [final("About q3?")]
            await catch_up(flow, newest)
            assert flow.model.questions == ["About q3?", "About q2?"]

    run(talk())


def test_an_edit_that_was_missed_hides_no_question_nor_is_hidden_by_one() -> None:
    async def talk() -> None:
        async with flowing() as flow:
            first, second = before(0.9, "q1"), before(0.8, "q2", asker="U2")
            await flow.turns.receive(first)
            await flow.turns.receive(second)
            await flow.idle()
            changed = [
                replace(one, text=f"Now {one.message}?", edited_at=one.sent_at + timedelta(seconds=5))
                for one in (first, second)
            ]
            await catch_up(flow, *changed, before(0.85, "q3"))
            assert [flow.texts(f"q{number}") for number in (1, 2, 3)] == [
                [final("Now q1?")],
                [final("Now q2?")],
                [final("About q3?")],
            ]

    run(talk())


def test_replies_of_one_chain_are_one_conversation() -> None:
    async def talk() -> None:
        async with flowing() as flow:
            chain = ConversationKey(platform="discord", workspace="G1", channel="C1", thread="reply q0")
            await flow.turns.receive(asked("Before?", message="q0", conversation=chain))
            await flow.idle()
            (claim,) = await flow.claims.by_message(chain, "q0")
            known = {"reach": Reach.REPLY, "goes_on": claim.reference}
            # A step further down the chain, all that a message shows is the one before it.
            deeper = replace(chain, thread="reply q9")
            await flow.turns.receive(asked("There?", message="q9", conversation=deeper))
            await flow.idle()
            await catch_up(
                flow, before(5, "q1", conversation=chain, **known), before(4, "q2", conversation=deeper, **known)
            )
            assert flow.texts("q1") == []
            assert flow.texts("q2") == [final("About q2?")]

    run(talk())


def test_what_arrives_while_it_is_read_back_is_answered_once() -> None:
    async def talk() -> None:
        async with flowing() as flow:
            await flow.turns.receive(asked("Before?", message="q0"))
            await flow.idle()
            missed = before(2, "q1")
            flow.platform.read_back = (missed,)
            turns: Turns[object] = flow.turns
            await asyncio.gather(turns.connected(), turns.receive(missed), turns.connected())
            await flow.idle()
            assert flow.texts("q1") == [final("About q1?")]
            assert flow.model.questions == ["Before?", "About q1?"]

    run(talk())
