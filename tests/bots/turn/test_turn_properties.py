"""Whatever people, the platform and the model do, in whatever order: one whole answer each, or one plain reason."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Literal

from hypothesis import given, settings
from hypothesis import strategies as st

from bots.manner import Streaming
from bots.platform import Incoming
from bots.requests import Ask, Event
from bots.turn.claims.claim import Claim, Outcome, State, messages_of
from ragcore.errors import ModelUnreachable
from ragcore.types import Delta
from tests.bots.turn.flows import Flow, Model, answering, final, flowing, virtual_now
from tests.fakes.platform import Server, asked
from tests.fakes.virtual import run
from tests.soak import scaled

FAULTS = ("unreachable", "dropped", "limited", "ended", "gone", "hangs")


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """After so many seconds something happens to the n-th message (or, with ``new``, there is a new one)."""

    after: float
    act: Literal["ask", "again", "edit", "delete", "stop"]
    number: int
    channel: str
    asker: str
    opens: bool
    """Whether it opens a conversation of its own, or is said in that of its channel."""


STEPS = st.lists(
    st.builds(
        Step,
        after=st.sampled_from((0.0, 0.01, 0.3, 1.0, 2.5, 7.0, 45.0)),
        act=st.sampled_from(("ask", "ask", "ask", "again", "edit", "delete", "stop")),
        number=st.integers(0, 7),
        channel=st.sampled_from(("C1", "C2")),
        asker=st.sampled_from(("U1", "U2")),
        opens=st.booleans(),
    ),
    min_size=1,
    max_size=9,
)
MOODS = st.lists(st.sampled_from(("well", "well", "slow", "fails", "hangs", "breaks off")), min_size=1, max_size=6)
TROUBLE = st.lists(st.sampled_from(("", "", "", *FAULTS)), max_size=25)
LIMITS = {
    "begin": (3, 10.0),
    "change": (4, 5.0),
    "end": (3, 5.0),
    "send": (2, 2.0),
    "status": (5, 5.0),
    "whole": (6, 2.0),
}


def moody(moods: list[str]) -> Model:
    """Return a model that is of another mood with each question."""
    count = 0

    async def script(request: Ask) -> AsyncIterator[Event]:
        nonlocal count
        mood = moods[count % len(moods)]
        count += 1
        if mood == "fails":
            raise ModelUnreachable("no route")
        if mood == "hangs":
            await asyncio.sleep(10**6)
        if mood == "breaks off":
            yield Delta(text="The answer ")
            await asyncio.sleep(3)
            raise ModelUnreachable("the line broke")
        async for event in answering(request, pause=6.0 if mood == "slow" else 0.2):
            yield event

    return Model(script)


class People:
    """Who asks, edits, deletes and stops, as the steps say; remembers what was said."""

    def __init__(self, flow: Flow) -> None:
        self.flow = flow
        self.said: list[Incoming] = []
        self.deleted: set[str] = set()
        self.edits = 0

    async def act(self, step: Step) -> None:
        await asyncio.sleep(step.after)
        if step.act == "ask" or not self.said:
            number = len(self.said)
            question = asked(
                f"Why {number}?", message=f"q{number}", channel=step.channel, asker=step.asker, sent_at=virtual_now()
            )
            if step.opens:
                question = replace(
                    question, conversation=replace(question.conversation, thread=f"reply {question.message}")
                )
            self.said.append(question)
            await self.flow.turns.receive(question)
            return
        at = step.number % len(self.said)
        said = self.said[at]
        match step.act:
            case "again":
                assert not await self.flow.turns.receive(said)
            case "edit" if said.message not in self.deleted:
                self.edits += 1
                # No two edits of one message have the same time.
                moment = virtual_now() + timedelta(microseconds=self.edits)
                change = replace(said, text=f"Edited {self.edits}?", edited_at=moment)
                if await self.flow.turns.receive(change):
                    self.said[at] = change
            case "delete":
                self.deleted.add(said.message)
                await self.flow.turns.deleted(said.conversation, said.message)
            case "stop":
                await self.flow.turns.stop_in(said.conversation, said.asker.id)


async def check(flow: Flow, people: People) -> None:
    """Look at what stands: each message that is still there has its part in one answer, or in one reason."""
    together: dict[str, list[Incoming]] = {}
    turns: dict[str, tuple[Claim, ...]] = {}
    for one in people.said:
        newest, *_ = claims = await flow.claims.by_message(one.conversation, one.message)
        assert all(claim.state is State.DONE for claim in claims)
        if one.message in people.deleted:
            continue
        assert newest.outcome is not Outcome.WITHDRAWN, "what is still there is not withdrawn"
        together.setdefault(newest.reference, []).append(one)
        turns[newest.reference] = await flow.claims.line_of(newest)
    owned: set[str] = set()
    for reference, asked_for in together.items():
        line = turns[reference]
        messages = messages_of(line)
        assert {name: one.text for name, one in messages.items()} == {one.message: one.text for one in asked_for}
        assert {one.asker.id for one in asked_for} == {asked_for[0].asker.id}
        ids = dict.fromkeys(part.sent.id for claim in line for part in claim.sends if part.sent is not None)
        standing = sorted(
            (one for name in ids if not (one := flow.server.messages[name]).gone), key=lambda one: one.number
        )
        assert not owned & {one.id for one in standing}, "no message answers two turns"
        owned |= {one.id for one in standing}
        assert [one.number for one in standing] == list(range(len(standing)))
        assert {one.reply_to for one in standing} & set(messages), "it stands at one of the questions"
        shown = "".join(one.text for one in standing)
        if line[-1].outcome is Outcome.ANSWERED:
            assert shown == final("\n".join(one.text for one in messages.values()))
        else:
            assert line[-1].outcome in {Outcome.FAILED, Outcome.STOPPED}, line[-1]
            assert reference in shown, (line[-1], shown)
    left = {one.id for one in flow.server.messages.values() if not one.gone and not one.draft}
    assert left == owned, "nothing stands that no turn knows of, and nothing for what is deleted"


@settings(max_examples=scaled(60))
@given(
    steps=STEPS,
    moods=MOODS,
    trouble=TROUBLE,
    streaming=st.sampled_from(("edit", "stream", "draft", "none")),
    longest=st.sampled_from((60, 2_000)),
)
def test_every_question_gets_one_answer_or_one_reason(
    steps: list[Step], moods: list[str], trouble: list[str], streaming: Streaming, longest: int
) -> None:
    def fault(name: str, count: int) -> str:
        return trouble[count] if count < len(trouble) and name not in {"status", "withdraw"} else ""

    async def talk() -> None:
        server = Server(limits=LIMITS, fault=fault)
        async with flowing(server=server, model=moody(moods), streaming=streaming, longest=longest) as flow:
            people = People(flow)
            for step in steps:
                await people.act(step)
            await flow.idle()
            assert server.refused == 0
            await check(flow, people)

    run(talk())


@settings(max_examples=scaled(25))
@given(count=st.integers(2, 6), moods=MOODS, after=st.sampled_from((0.0, 2.5)))
def test_a_conversation_is_answered_in_the_order_of_asking(count: int, moods: list[str], after: float) -> None:
    async def talk() -> None:
        async with flowing(model=moody([mood for mood in moods if mood != "fails"] or ["well"])) as flow:
            ended, finish = list[str](), flow.claims.finish

            async def finished(claim: Claim, *outcome: Any, **answer: Any) -> None:
                await finish(claim, *outcome, **answer)
                ended.append(claim.incoming.message)

            flow.claims.finish = finished  # type: ignore[method-assign]
            for number in range(count):
                await asyncio.sleep(after)
                await flow.turns.receive(asked(f"Why {number}?", message=f"q{number}", asker=f"U{number}"))
            await flow.idle()
            assert flow.model.questions == [f"Why {number}?" for number in range(count)]
            assert ended == [f"q{number}" for number in range(count)]

    run(talk())
