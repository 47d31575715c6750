"""The command ``research`` in a chat: its steps are shown while it goes on, for as long as it may take."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

from bots.platform import Reach
from bots.requests import Ask, Event
from bots.words.sentences import word
from ragcore.research import Outcome, Progress
from tests.bots.turn.flows import Model, answer_to, answering, flowing
from tests.fakes.platform import asked
from tests.fakes.virtual import run

STEPS = (("plan", ""), ("research", "Who founded the Kestrel?"), ("judge", ""), ("research", "Where was she born?"))
SHOWN = (
    word("planning"),
    word("researching", what="Who founded the Kestrel?"),
    word("judging"),
    word("researching", what="Where was she born?"),
)


async def researching(request: Ask) -> AsyncIterator[Event]:
    """Take a hundred seconds, a step every 25."""
    for number, (stage, detail) in enumerate(STEPS):
        yield Progress(stage=stage, detail=detail, round=1, number=number, outcome=Outcome.BEGUN)
        await asyncio.sleep(25.0)
        yield Progress(stage=stage, detail=detail, round=1, number=number, outcome=Outcome.DONE)
    yield answer_to(request.question, "In Leyton.")


def test_its_steps_are_shown_and_its_answer_comes_when_it_is_there() -> None:
    model = Model(researching)

    async def talk() -> None:
        async with flowing(model=model) as flow:
            flow.platform.status_lasts, flow.platform.status_has_words = 120.0, True
            began = asyncio.get_running_loop().time()
            incoming = replace(asked("Where was the founder born?"), command="research", reach=Reach.COMMAND)
            await flow.turns.receive(incoming)
            await flow.idle()
            assert asyncio.get_running_loop().time() - began >= 100.0
            told = [said for _, said in flow.server.statuses]
            assert [said for said in told if said in SHOWN] == list(SHOWN)
            assert "In Leyton." in str(flow.texts("q1")[-1])

    run(talk())
    (request,) = [one for one in model.asked if isinstance(one, Ask)]
    assert request.research
    assert request.question == "Where was the founder born?"
    assert request.reference


def test_a_question_is_no_research() -> None:
    model = Model(answering)

    async def talk() -> None:
        async with flowing(model=model) as flow:
            await flow.turns.receive(asked("Where was the founder born?"))
            await flow.idle()

    run(talk())
    assert [one.research for one in model.asked if isinstance(one, Ask)] == [False]
