"""The steps of a research: listed in the message that the answer takes the place of, and folded away beneath it."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from itertools import pairwise

import pytest

from bots.platform import Reach
from bots.requests import Ask, Event
from bots.turn.claims.claim import Outcome as Ended
from bots.turn.steps import LONGEST, StepsTaken
from bots.words.captions import CAPTIONS, LANGUAGES, caption
from bots.words.sentences import word
from ragcore.research import Outcome, Progress
from tests.bots.turn.flows import Flow, Model, answer_to, flowing, outcome
from tests.fakes.platform import asked
from tests.fakes.virtual import run

WHO, WHERE = "Who founded the Kestrel?", "Where was she born?"


def step(stage: str, ended: Outcome | None = None, *, number: int = 0, detail: str = "", found: int = 0) -> Progress:
    outcome = ended or Outcome.BEGUN
    reason = "out of time" if ended is Outcome.FAILED else "it is busy" if ended and stage == "plan" else ""
    return Progress(stage=stage, detail=detail, round=1, number=number, outcome=outcome, found=found, reason=reason)


TOLD = (
    step("plan"),
    step("plan", Outcome.DONE, found=2),
    step("research", detail=WHO),
    step("research", number=1, detail=WHERE),
    step("research", Outcome.FAILED, number=1, detail=WHERE),
    step("research", Outcome.DONE, detail=WHO, found=4),
    step("judge"),
)
FOLDED = (
    "(✓ Planning the searches (sub-questions: 2; it is busy))",
    f"(✓ Searching: {WHO} (passages: 4))",
    f"(✗ Searching: {WHERE} (failed: out of time))",
    "(✗ Judging what was found)",
)


async def researching(request: Ask) -> AsyncIterator[Event]:
    """Take a step every 25 seconds; the last comes to no end."""
    for one in TOLD:
        yield one
        await asyncio.sleep(25.0)
    yield answer_to(request.question, "In Leyton.")


@pytest.mark.parametrize("streaming", ["edit", "draft"])
def test_they_are_listed_while_it_goes_on_and_folded_under_its_answer(streaming: str) -> None:
    async def talk() -> list[str]:
        seen: list[str] = []
        async with flowing(model=Model(researching), streaming=streaming) as flow:
            await flow.turns.receive(asked(f"research: {WHERE}"))
            while flow.turns.running():
                await asyncio.sleep(5.0)
                seen += [one.text for one in flow.server.messages.values() if not one.gone]
            (text,) = flow.texts("q1")
            assert "In Leyton." in text
            assert tuple(line for line in text.splitlines() if line.startswith("(")) == FOLDED
            return seen

    seen = run(talk())
    assert any(f"… Searching: {WHO}" in text and f"… Searching: {WHERE}" in text for text in seen)
    assert any("✓ Planning the searches (sub" in text and f"✗ Searching: {WHERE} (failed" in text for text in seen)


def test_a_draft_is_shown_again_before_it_goes_by_itself() -> None:
    async def talk() -> list[float]:
        async with flowing(model=Model(researching), streaming="draft") as flow:
            await flow.turns.receive(asked(f"research: {WHERE}"))
            await flow.idle()
            return [moment for moment, name, _ in flow.server.calls if name in ("begin", "change", "send")]

    shown = run(talk())
    assert max(later - before for before, later in pairwise(shown)) < 30.0


def test_the_first_words_are_those_of_the_answer() -> None:
    async def talk(flow: Flow) -> None:
        await flow.turns.receive(asked(f"research: {WHERE}"))
        await flow.idle()

    async def whole() -> None:
        async with flowing(model=Model(researching)) as flow:
            await talk(flow)
            assert flow.turns.meter.first_words.count == 0, "it came in one"
            assert flow.turns.meter.first_sign.count == 1

    run(whole())


def test_stop_ends_it_at_once() -> None:
    ended: list[float] = []

    async def endless(request: Ask) -> AsyncIterator[Event]:
        yield TOLD[0]
        try:
            await asyncio.sleep(1_000.0)
        finally:
            ended.append(asyncio.get_running_loop().time())

    async def talk() -> None:
        async with flowing(model=Model(endless)) as flow:
            await flow.turns.receive(asked(f"research: {WHERE}"))
            await asyncio.sleep(20.0)
            (shown,) = flow.server.standing("q1")
            assert "… Planning the searches" in shown.text
            (claim,) = await flow.claims.by_message(asked("").conversation, "q1")
            pressed = asyncio.get_running_loop().time()
            assert await flow.turns.stop(claim.reference, "U1")
            await flow.idle()
            assert await outcome(flow, "q1") is Ended.STOPPED
            assert ended[0] - pressed < 0.1
            (text,) = flow.texts("q1")
            assert text.startswith(word("stopped"))

    run(talk())


def test_where_a_reply_can_not_grow_they_are_the_status() -> None:
    async def talk() -> None:
        async with flowing(model=Model(researching)) as flow:
            flow.platform.status_lasts, flow.platform.status_has_words = 120.0, True
            await flow.turns.receive(replace(asked(WHERE), command="research", reach=Reach.COMMAND))
            await flow.idle()
            assert word("researching", what=WHERE) in [said for _, said in flow.server.statuses]
            assert [name for _, name, _ in flow.server.calls if name != "status"] == ["send"]

    run(talk())


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_a_model_asks_is_one_short_line(language: str) -> None:
    steps = StepsTaken(language)
    steps.take(step("research", detail="a\n# b\u202e" + "x" * 10_000))
    assert steps.going is not None
    (line,) = steps.going.lines
    assert len(line.words) < LONGEST + 40
    assert "\n" not in line.words
    assert "\u202e" not in line.words
    assert steps.going.title.startswith(caption("steps", language))
    assert set(CAPTIONS) >= {"sub_questions", "passages", "nothing", "failed"}


def test_before_the_first_step_there_is_nothing_to_show() -> None:
    assert StepsTaken("en").going is None
    assert StepsTaken("en").ended is None
