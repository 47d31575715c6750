"""Two messages of which each opens a conversation, one right after the other: one question, answered at the first."""

import asyncio
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from bots.platform import Incoming, Reach
from bots.requests import Ask, Forget
from bots.turn.claims.claim import Outcome, State
from ragcore.types import ConversationKey
from tests.bots.turn.flows import MANNERS, Flow, Model, answering, final, flowing, virtual_now
from tests.fakes.platform import Server, asked
from tests.fakes.virtual import run

BOTH = "How many days?\nAnd for part-timers?"


def opening(text: str, message: str, *, sent_at: datetime | None = None, **facts: Any) -> Incoming:
    """Return a message at the top of a channel: its answer is to stand in a thread of its own."""
    said = asked(text, message=message, sent_at=sent_at or virtual_now(), **facts)
    return replace(said, conversation=replace(said.conversation, thread=f"reply {message}"))


def both(**facts: Any) -> tuple[Incoming, Incoming]:
    return opening("How many days?", "q1", **facts), opening("And for part-timers?", "q2", **facts)


def edited(message: Incoming, text: str, after: float = 5.0) -> Incoming:
    return replace(message, text=text, edited_at=message.sent_at + timedelta(seconds=after))


def slow() -> Model:
    """Return a model that is silent for three seconds."""
    return Model(lambda ask: answering(ask, pause=3.0))


def standing(flow: Flow) -> list[tuple[str, str]]:
    """Return all that stands, each with the message that it replies to."""
    return [(one.reply_to, one.text) for one in flow.server.messages.values() if not one.gone and not one.draft]


@pytest.mark.parametrize("streaming", MANNERS)
@pytest.mark.parametrize("seconds", [0.0, 1.5])
def test_both_are_answered_at_the_first(streaming: str, seconds: float) -> None:
    async def talk() -> None:
        async with flowing(model=slow(), streaming=streaming) as flow:
            first = opening("How many days?", "q1")
            assert await flow.turns.receive(first)
            await asyncio.sleep(seconds)
            second = opening("And for part-timers?", "q2")
            assert await flow.turns.receive(second)
            assert not await flow.turns.receive(second)
            await flow.idle()
            assert standing(flow) == [("q1", final(BOTH))]
            (claim,) = await flow.claims.by_message(second.conversation, "q2")
            assert claim.incoming == first
            assert claim.also == (second,)

    run(talk())


def test_a_third_goes_on_with_both() -> None:
    async def talk() -> None:
        async with flowing(model=slow()) as flow:
            for number in range(3):
                await flow.turns.receive(opening(f"Why {number}?", f"q{number}"))
                await asyncio.sleep(1.5)
            await flow.idle()
            assert standing(flow) == [("q0", final("Why 0?\nWhy 1?\nWhy 2?"))]

    run(talk())


def test_that_arrive_at_once_are_joined_too() -> None:
    async def talk() -> None:
        async with flowing(model=slow()) as flow:
            await asyncio.gather(*(flow.turns.receive(one) for one in both()))
            await flow.idle()
            assert standing(flow) == [("q1", final(BOTH))]

    run(talk())


@pytest.mark.parametrize(
    "facts",
    [
        {"asker": "U2"},
        {"channel": "C2"},
        {"text": "sources"},
        {"private": True},
        {"reach": Reach.COMMAND, "command": "ask"},
        {"after": 2.5},
        {"sent": -3.5},
        {"thread": "thread 9"},
    ],
)
def test_others_are_questions_of_their_own(facts: dict[str, Any]) -> None:
    """Of somebody else, elsewhere, a command, later, asked long before and told at once, or within a thread."""
    after, sent, thread = (facts.get(name) for name in ("after", "sent", "thread"))
    more = {name: value for name, value in facts.items() if name not in ("after", "sent", "thread", "text")}

    async def talk() -> None:
        async with flowing(model=slow()) as flow:
            await flow.turns.receive(opening("How many days?", "q1"))
            await asyncio.sleep(after or 0.5)
            second = opening(str(facts.get("text", "Why?")), "q2", **more)
            second = replace(second, sent_at=second.sent_at + timedelta(seconds=sent or 0.0))
            if thread:
                second = replace(second, conversation=replace(second.conversation, thread=thread))
            await flow.turns.receive(second)
            await flow.idle()
            assert sorted(to for to, _ in standing(flow)) == ["q1", "q2"]
            assert not any("\n" in question for question in flow.model.questions)

    run(talk())


def test_once_words_are_shown_it_is_a_question_of_its_own() -> None:
    async def talk() -> None:
        async with flowing() as flow:
            first = opening("How many days?", "q1")
            await flow.turns.receive(first)
            await asyncio.sleep(0.3)
            assert standing(flow), "its first words stand"
            await flow.turns.receive(opening("And for part-timers?", "q2"))
            await flow.idle()
            assert standing(flow) == [("q1", final("How many days?")), ("q2", final("And for part-timers?"))]

    run(talk())


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("after", [0.5, 30.0])
def test_an_edit_of_either_is_answered_in_the_one_message(which: int, after: float) -> None:
    async def talk() -> None:
        async with flowing(model=slow()) as flow:
            questions = both()
            for question in questions:
                await flow.turns.receive(question)
            await asyncio.sleep(after)
            change = edited(questions[which], "Which weeks?")
            assert await flow.turns.receive(change)
            assert not await flow.turns.receive(change)
            await flow.idle()
            words = [question.text for question in questions]
            words[which] = "Which weeks?"
            assert standing(flow) == [("q1", final("\n".join(words)))]
            newest, *_ = await flow.claims.by_message(change.conversation, change.message)
            assert newest.incoming.conversation == questions[0].conversation, "in one lane with what follows"

    run(talk())


def test_an_edit_at_the_same_time_is_in_the_answer() -> None:
    async def talk() -> None:
        async with flowing(model=slow()) as flow:
            first, second = both()
            change = edited(second, "Which weeks?", 0.1)
            await asyncio.gather(*(flow.turns.receive(one) for one in (first, second, change)))
            await flow.idle()
            assert standing(flow) == [("q1", final("How many days?\nWhich weeks?"))]

    run(talk())


def test_what_is_said_in_the_thread_of_the_second_knows_the_answer() -> None:
    """It is answered where it was said, and the history is that of the answer to both."""

    async def talk() -> None:
        async with flowing(model=slow()) as flow:
            first, second = both()
            for question in (first, second):
                await flow.turns.receive(question)
            await flow.idle()
            below = asked("And in May?", message="q3", reach=Reach.THREAD, sent_at=virtual_now())
            await flow.turns.receive(replace(below, conversation=second.conversation))
            await flow.idle()
            assert flow.texts("q3") == [final("And in May?")]
            asks = [one for one in flow.model.asked if isinstance(one, Ask)]
            assert asks[-1].question == "And in May?"
            assert {ask.conversation for ask in asks} == {first.conversation}
            reset = asked("reset", message="q4", reach=Reach.THREAD, sent_at=virtual_now())
            await flow.turns.receive(replace(reset, conversation=second.conversation))
            await flow.idle()
            assert [one.conversation for one in flow.model.asked if isinstance(one, Forget) and not one.reference] == [
                first.conversation
            ]

    run(talk())


async def test_forgetting_the_conversation_forgets_both(tmp_path: Any) -> None:
    here = ConversationKey(platform="discord", workspace="G1", channel="C1")
    async with flowing(tmp_path / "claims.sqlite") as flow:
        claims = []
        for number in (1, 2):
            said = asked("between us", message=f"q{number}")
            claim = await flow.claims.claim(replace(said, conversation=replace(here, thread=f"reply q{number}")))
            assert claim is not None
            claims.append(claim)
        assert await flow.claims.merge(claims[1], claims[0])
        await flow.claims.finish(claims[0], Outcome.ANSWERED)
        assert await flow.claims.forget(claims[1].incoming.conversation) == 1
        assert await flow.claims.forget(claims[0].incoming.conversation) == 1
        found = await flow.claims.by_reference(claims[1].reference)
        assert found is not None
        assert [one.text for one in (found.incoming, *found.also)] == ["", ""]


@pytest.mark.parametrize("seconds", [0.0, 3.0, 3.4])
@pytest.mark.parametrize("streaming", MANNERS)
def test_a_process_that_takes_over_answers_both(
    tmp_path_factory: pytest.TempPathFactory, seconds: float, streaming: str
) -> None:
    where = tmp_path_factory.mktemp("claims") / "claims.sqlite"
    server = Server()

    async def talk() -> None:
        first, second = both(sent_at=virtual_now())
        async with flowing(where, server=server, model=slow(), streaming=streaming) as flow:
            for question in (first, second):
                await flow.turns.receive(question)
            await asyncio.sleep(seconds)
        async with flowing(where, server=server, streaming=streaming) as flow:
            await flow.turns.connected()
            for question in (second, first):
                assert not await flow.turns.receive(question)
            await flow.idle()
            assert standing(flow) == [("q1", final(BOTH))]
            await flow.turns.receive(edited(second, "Which weeks?"))
            await flow.idle()
            assert standing(flow) == [("q1", final("How many days?\nWhich weeks?"))]
            newest, *_ = await flow.claims.by_message(second.conversation, "q2")
            assert newest.state is State.DONE

    run(talk())
