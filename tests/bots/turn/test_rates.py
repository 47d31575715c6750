"""How often is answered: each person, and each channel; whoever asks too fast is told the wait, also by edits."""

import asyncio
import functools
from dataclasses import replace
from datetime import timedelta

import pytest

from bots.platform import Incoming, Reach
from bots.turn.claims.claim import Outcome
from bots.turn.options import Rate, TurnOptions
from bots.turn.receiving.gate import LONGEST_QUESTION
from bots.words.sentences import word
from tests.bots.turn.flows import OPTIONS, Model, answering, final, flowing, outcome, virtual_now
from tests.fakes.platform import asked
from tests.fakes.virtual import run

MANY = Rate(questions=100, seconds=60.0)


def at_most(*, user: Rate = MANY, channel: Rate = MANY) -> TurnOptions:
    return replace(OPTIONS, user_rate=user, channel_rate=channel)


def edited(message: Incoming, text: str, after: float) -> Incoming:
    return replace(message, text=text, edited_at=message.sent_at + timedelta(seconds=after))


def test_a_person_is_told_the_wait_and_answered_after_it() -> None:
    async def talk() -> None:
        async with flowing(options=at_most(user=Rate(questions=2, seconds=60.0))) as flow:
            for number, channel in enumerate(("C1", "C2", "C1")):
                await flow.turns.receive(asked(f"Why {number}?", message=f"q{number}", channel=channel))
                await asyncio.sleep(10)
            await flow.turns.receive(asked("And I?", message="q3", asker="U2"))
            await flow.idle()
            assert flow.texts("q1") == [final("Why 1?")]
            (told,) = flow.texts("q2")
            assert told.startswith(word("user_limit", seconds=40)), "the first of two within 60 s was 20 s before"
            assert await outcome(flow, "q2") is Outcome.LIMITED
            assert flow.texts("q3") == [final("And I?")]
            await asyncio.sleep(40)
            await flow.turns.receive(asked("Now?", message="q4"))
            await flow.idle()
            assert flow.texts("q4") == [final("Now?")]

    run(talk())


def test_a_channel_is_told_the_wait_and_answered_after_it() -> None:
    async def talk() -> None:
        async with flowing(options=at_most(channel=Rate(questions=2, seconds=60.0))) as flow:
            for number in range(3):
                await flow.turns.receive(asked(f"Why {number}?", message=f"q{number}", asker=f"U{number}"))
                await asyncio.sleep(10)
            await flow.turns.receive(asked("Elsewhere?", message="q3", channel="C2"))
            await flow.turns.receive(asked("Alone?", message="q4", asker="U4", reach=Reach.DIRECT, private=True))
            await flow.idle()
            (told,) = flow.texts("q2")
            assert told.startswith(word("channel_limit", seconds=40))
            assert await outcome(flow, "q2") is Outcome.LIMITED
            assert flow.model.questions == ["Why 0?", "Why 1?", "Elsewhere?", "Alone?"]
            await asyncio.sleep(40)
            await flow.turns.receive(asked("Now?", message="q5", asker="U5"))
            await flow.idle()
            assert flow.texts("q5") == [final("Now?")]

    run(talk())


@pytest.mark.parametrize("while_it_is_answered", [True, False])
@pytest.mark.parametrize("limit", ["user_limit", "channel_limit"])
def test_an_edit_counts_and_one_too_many_is_told_the_wait(limit: str, while_it_is_answered: bool) -> None:
    two = Rate(questions=2, seconds=60.0)

    async def talk() -> None:
        model = Model(functools.partial(answering, pause=30.0 if while_it_is_answered else 0.2))
        async with flowing(model=model, options=at_most(**{limit.removesuffix("_limit"): two})) as flow:
            question = asked("How many day?", sent_at=virtual_now())
            await flow.turns.receive(question)
            for seconds, text in ((10, "How many days?"), (20, "How many weeks?")):
                await asyncio.sleep(10)
                assert await flow.turns.receive(edited(question, text, seconds))
                assert not await flow.turns.receive(edited(question, text, seconds)), "which counts nothing"
                if not while_it_is_answered:
                    await flow.idle()
                    assert flow.model.questions[-1] == "How many days?"
            await flow.idle()
            (told,) = flow.texts("q1")
            assert told.startswith(word("user_limit" if limit == "user_limit" else "channel_limit", seconds=40))
            assert await outcome(flow, "q1") is Outcome.LIMITED
            assert "How many weeks?" not in flow.model.questions

    run(talk())


@pytest.mark.parametrize("after", [0.3, 5.0])
def test_an_edit_that_is_too_long_is_told_so_and_a_shorter_one_is_answered(after: float) -> None:
    async def talk() -> None:
        async with flowing() as flow:
            question = asked("How many days?", sent_at=virtual_now())
            await flow.turns.receive(question)
            await asyncio.sleep(after)
            await flow.turns.receive(edited(question, "?" * (LONGEST_QUESTION + 1), after))
            await flow.idle()
            (told,) = flow.texts("q1")
            assert told.startswith(word("too_long"))
            assert len(flow.model.turns) == 0, "the answer to what is no longer asked is not remembered"
            await flow.turns.receive(edited(question, "How many?", after + 5))
            await flow.idle()
            assert flow.texts("q1") == [final("How many?")]

    run(talk())


def test_a_question_that_is_told_to_be_too_long_is_answered_when_it_is_made_shorter_meanwhile() -> None:
    async def talk() -> None:
        async with flowing() as flow:
            flow.server.latency = 3.0
            question = asked("?" * (LONGEST_QUESTION + 1), sent_at=virtual_now())
            await flow.turns.receive(question)
            await asyncio.sleep(1)
            await flow.turns.receive(edited(question, "How many?", 1))
            await flow.idle()
            assert flow.texts("q1") == [final("How many?")]
            assert await outcome(flow, "q1") is Outcome.ANSWERED

    run(talk())
