"""A research that is broken off goes on from its last step, with the access that its asker has by then."""

import asyncio
import random
from collections.abc import Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from ragcore.errors import StoreError
from ragcore.research import Limits, Progress
from ragcore.research.keeping import KeptStep, Reading
from ragcore.research.records import from_json, to_json
from ragcore.research.research import Researcher
from ragcore.research.values import (
    Claim,
    Contradiction,
    Finding,
    Outcome,
    Plan,
    Step,
    StepKind,
    Verdict,
)
from ragcore.tokens import offline_tokenizer
from ragcore.types import Answer, Location, Question, ScoredChunk, SectionKind, Usage
from tests.fakes import virtual
from tests.fakes.researching import ResearchModel, Shelf, chunk, judged, plan
from tests.soak import scaled

CHUNKS = (
    chunk("one", "The Kestrel was founded in 1990 by Ada Brown. It makes gliders."),
    chunk("two", "Ada Brown was born in Leyton. Leyton is a town."),
    chunk("three", "The Kestrel sold 40 gliders in 2001."),
    chunk("four", "Gliders are sold in Leyton on Mondays."),
)
QUESTION = Question(text="Where was the founder of the Kestrel born?", knowledge_bases=("kb",))


class Steps:
    """Keeps steps in memory, by research and question."""

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], dict[str, KeptStep]] = {}

    async def steps(self, research: str, question: str) -> Sequence[KeptStep]:
        return list(self.kept.get((research, question), {}).values())

    async def keep(self, research: str, question: str, step: KeptStep) -> None:
        await asyncio.sleep(0)
        self.kept.setdefault((research, question), {})[step.key] = step


class Open(Reading):
    """Reads what is not closed."""

    def __init__(self, closed: set[str]) -> None:
        self.closed = closed

    async def again(self, question: Question, scores: Mapping[str, float]) -> dict[str, ScoredChunk]:
        there = {one.id: one for one in CHUNKS if one.id not in self.closed}
        return {one: ScoredChunk(chunk=there[one], score=score) for one, score in scores.items() if one in there}


def scripted(**given: float) -> ResearchModel:
    """Say by its prompt alone what each part says, so that a model which is asked later says the same."""

    def judge(messages: Sequence[object]) -> str:
        told = messages[-1].text  # type: ignore[attr-defined]
        follow = judged(False, "Where was Ada Brown born?", "What sells in Leyton?")
        return (judged(True) if "What sells in Leyton" in told else follow)(messages)  # type: ignore[arg-type, return-value]

    return ResearchModel(
        {"plan": plan("Who founded the Kestrel?", "gliders sold by the Kestrel"), "judge": judge}, **given
    )  # type: ignore[arg-type]


def made(
    model: ResearchModel | None, steps: Steps, closed: set[str] | None = None, shelf: Shelf | None = None
) -> Researcher:
    shut = closed or set()
    return Researcher(
        searcher=shelf or Shelf([one for one in CHUNKS if one.id not in shut]), embedder=None,
        tokenizer=offline_tokenizer(), chat_model=model, limits=Limits(), store=steps, reading=Open(shut),
    )  # fmt: skip


async def whole(researcher: Researcher, question: Question = QUESTION) -> Answer:
    async with aclosing(researcher.research(question, id="r1")) as telling:
        events = [event async for event in telling]
    answer = events[-1]
    assert isinstance(answer, Answer)
    return answer


async def broken_off(researcher: Researcher, draw: random.Random) -> None:
    """Break off at any moment: between two events, or in the middle of a step."""
    task = asyncio.create_task(whole(researcher))
    for _ in range(draw.randint(0, 90)):
        await asyncio.sleep(draw.choice((0.0, 0.0, 0.4)))
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


def prompts(model: ResearchModel, *names: str) -> list[tuple[str, ...]]:
    return [tuple(message.text for message in part.prompt) for part in model.parts if part.name in names]


@settings(max_examples=scaled(4))
@given(seed=st.integers(0, 10**9))
def test_broken_off_at_any_moment_it_asks_nothing_again_that_was_answered(seed: int) -> None:
    draw = random.Random(seed)
    with_model = draw.random() < 0.7

    async def research() -> None:
        before = await whole(made(scripted() if with_model else None, Steps()))
        steps, models = Steps(), [scripted(seconds=draw.choice((0.0, 0.5))) for _ in range(3)]
        shelves = [Shelf(CHUNKS, seconds=draw.choice((0.0, 0.5))) for _ in models]
        kept: set[str] = set()
        for number, (model, shelf) in enumerate(zip(models, shelves, strict=True)):
            researcher = made(model if with_model else None, steps, shelf=shelf)
            if number < 2:
                await broken_off(researcher, draw)
            else:
                answer = await whole(researcher)
            records = [from_json(one.line) for of in steps.kept.values() for one in of.values()]
            searched = {one.step.asked for one in records if one and one.step.kind is StepKind.SEARCH}
            again = kept & {question.text for question in shelf.asked}
            assert not again
            assert len({part.material for part in model.asked("finding")} & kept) == 0
            if kept:
                assert not model.asked("plan")
            kept = searched
        assert answer.raw_text == before.raw_text
        assert answer.citations == before.citations
        assert answer.usage.calls == before.usage.calls
        rounds = [prompt for model in models for prompt in prompts(model, "plan", "judge")]
        under_way = 2  # what is broken off in the middle of a call was not answered
        assert len(rounds) <= len(set(rounds)) + under_way

    virtual.run(research())


async def test_what_was_closed_meanwhile_is_forgotten_with_all_that_rests_on_it() -> None:
    steps, first = Steps(), scripted()
    await whole(made(first, steps))
    model = scripted()
    shelf = Shelf([one for one in CHUNKS if one.id != "one-0"])
    answer = await whole(made(model, steps, {"one-0"}, shelf))
    assert "one-0" not in {scored.chunk.id for scored in answer.chunks}
    assert "1990" not in answer.raw_text
    assert not any("1990" in text for part in model.parts for text in (message.text for message in part.prompt))
    assert not model.asked("plan")  # the plan was made before any document was read
    assert model.asked("judge")
    assert "Who founded the Kestrel?" in {question.text for question in shelf.asked}


async def test_what_is_closed_while_it_goes_on_is_not_written_of() -> None:
    closed: set[str] = set()

    def then_close(messages: Sequence[object]) -> str:
        closed.add("one-0")
        return judged(True)(messages)  # type: ignore[arg-type, return-value]

    model = ResearchModel({"judge": then_close})
    researcher = made(model, Steps(), shelf=Shelf(CHUNKS))
    researcher._reading = Open(closed)
    answer = await whole(researcher)
    assert "one-0" not in {scored.chunk.id for scored in answer.chunks}
    assert answer.citations
    written = model.asked("answer")[0].prompt[0].text
    assert "1990" not in written


async def test_another_question_of_the_same_name_begins_anew() -> None:
    steps = Steps()
    await whole(made(scripted(), steps))
    for other in (
        replace(QUESTION, text="Who founded the Kestrel?"),
        replace(QUESTION, knowledge_bases=("kb", "kb2")),
        replace(QUESTION, document_ids=("docs:one",)),
    ):
        model = scripted()
        await whole(made(model, steps), other)
        assert model.asked("plan")


def test_the_time_before_a_crash_counts() -> None:
    async def research() -> None:
        steps = Steps()
        slow = scripted(seconds=30.0)
        task = asyncio.create_task(whole(made(slow, steps)))
        await asyncio.sleep(100.0)
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        began = asyncio.get_running_loop().time()
        await whole(made(scripted(seconds=30.0), steps))
        assert asyncio.get_running_loop().time() - began <= Limits().seconds - 85.0

    virtual.run(research())


def test_what_was_done_in_the_time_for_searching_is_answered_from_after_it() -> None:
    async def research() -> None:
        steps = Steps()
        before = await whole(made(scripted(), steps))
        for kept in steps.kept.values():
            kept.update({key: replace(one, elapsed=Limits().seconds * 0.66) for key, one in kept.items()})
        model = scripted()
        answer = await whole(made(model, steps, shelf=Shelf(())))
        assert [part.name for part in model.parts] == ["answer"]
        assert answer.raw_text == before.raw_text
        assert answer.notes == before.notes

    virtual.run(research())


def test_what_was_found_before_the_time_was_over_is_kept() -> None:
    class Silent:
        async def search(self, query: str, count: int) -> Sequence[ScoredChunk]:
            await asyncio.sleep(1_000.0)
            return ()

    async def research() -> None:
        steps, shelf = Steps(), Shelf(())
        first = made(None, steps)
        first._web = Silent()
        question = replace(QUESTION, text="Who founded the Kestrel?")
        before = await whole(first, question)
        answer = await whole(made(None, steps, shelf=shelf), question)
        assert answer.citations == before.citations
        assert answer.citations
        assert not shelf.asked

    virtual.run(research())


async def test_what_was_judged_without_a_search_that_is_made_now_is_judged_anew() -> None:
    class Forgetful(Steps):
        async def keep(self, research: str, question: str, step: KeptStep) -> None:
            if step.key == "research:1:1":
                raise StoreError("the disk is full")
            await super().keep(research, question, step)

    steps = Forgetful()
    await whole(made(scripted(), steps))
    model = scripted()
    await whole(made(model, steps))
    assert not model.asked("plan")
    assert model.asked("judge")


def test_a_step_comes_back_as_it_was_kept() -> None:
    scored = tuple(ScoredChunk(chunk=one, score=0.5) for one in CHUNKS[:2])
    place = Location(page=3, anchor="there", first_line=2, last_line=4)
    page = replace(chunk("page", "A page.", base=":web"), location=place, kind=SectionKind.TABLE, overlap=1)
    web = ScoredChunk(chunk=page, score=0.2)
    claims = Claim(text="a \0 \ud800", chunk_id="one-0"), Claim(text="b", chunk_id="two-0")
    cases = (
        Step(kind=StepKind.PLAN, round=1, plan=Plan(questions=("a", "b"), cut=("d", "e"), analysis="c"), usage=Usage(calls=1)),
        Step(
            kind=StepKind.SEARCH, round=2, number=3, asked="a", reason="why", wordings=("b", "c"),
            finding=Finding(question="a", text="x [ID:0].", direct=True, chunks=(*scored, web)),
        ),
        Step(kind=StepKind.SEARCH, round=2, number=4, asked="b", outcome=Outcome.NOTHING, finding=Finding(question="b")),
        Step(
            kind=StepKind.JUDGE, round=1,
            verdict=Verdict(
                enough=False, missing=("c",), cut=("f",), told=False, again=("d", "e"),
                contradictions=(Contradiction(one=claims[0], other=claims[1]),),
            ),
        ),
    )  # fmt: skip
    there = {one.chunk.id: one for one in scored}
    for step in cases:
        line = to_json(step, list(there))
        assert "glider" not in line  # the text of documents is not kept
        record = from_json(line)
        assert record is not None
        assert record.whole(there) == step
    record = from_json(to_json(cases[1], list(there)))
    assert record is not None
    assert record.whole({"one-0": scored[0]}) is None


def test_a_line_of_another_version_is_no_step() -> None:
    for line in ("", "{}", "[]", "null", '{"kind": "plan"}', '{"kind": "dance", "usage": [0, 0, 0]}'):
        assert from_json(line) is None


async def test_steps_that_cannot_be_kept_do_not_end_it() -> None:
    class Full(Steps):
        async def keep(self, research: str, question: str, step: KeptStep) -> None:
            raise StoreError("the disk is full")

    answer = await whole(made(scripted(), Full()))
    assert answer.raw_text == (await whole(made(scripted(), Steps()))).raw_text


async def test_without_an_id_nothing_is_kept() -> None:
    steps = Steps()
    events = [event async for event in made(scripted(), steps).research(QUESTION)]
    assert any(isinstance(event, Progress) for event in events)
    assert not steps.kept
