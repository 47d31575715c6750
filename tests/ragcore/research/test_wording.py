"""A research searches in the languages of the documents, and for what a question leans on, at no cost for others."""

import asyncio
import json
from contextlib import aclosing
from dataclasses import replace
from typing import Any

import pytest

from ragcore.errors import ConfigError, ModelUnreachable
from ragcore.phrases import phrase
from ragcore.prompts import Prompts
from ragcore.research import Limits, Outcome, Progress, StepKind
from ragcore.research.keeping import KeptStep, Reading
from ragcore.research.research import Researcher
from ragcore.tokens import offline_tokenizer
from ragcore.types import Answer, AnswerEvent, Message, Question, ScoredChunk, Support
from tests.fakes import virtual
from tests.fakes.researching import ResearchModel, Say, Shelf, chunk, in_turn, judged, plan, refiner

CHUNKS = (
    chunk("leave", "Up to five unused days of leave may be carried into the next year."),
    chunk("lapse", "Days that were carried over lapse on 31 March."),
    chunk("people", "Maria Keller leads the Lisbon office since 2019."),
)
GERMAN = Question(text="Wie viele ungenutzte Urlaubstage darf ich übertragen?", knowledge_bases=("kb",))
ENGLISH = "How many unused days of leave may be carried over?"
PART, PART_ENGLISH = "Wann verfallen übertragene Urlaubstage?", "When do carried days of leave lapse?"
SAID = (
    Message(role="user", text="Who leads the Lisbon office?"),
    Message(role="assistant", text="Maria Keller leads the Lisbon office [ID:0]."),
)
FOLLOWS = Question(text="And since when does she?", knowledge_bases=("kb",), history=SAID)
ALONE = "Since when does Maria Keller lead the Lisbon office?"


def says(said: Any) -> Say:
    return lambda messages: json.dumps(said)


def german(**scripts: Say) -> ResearchModel:
    usual = {
        "plan": plan(PART),
        "rewrite": says({"translations": {"English": ENGLISH}}),
        "translate": says({"1": {"English": PART_ENGLISH}}),
    }
    return ResearchModel({**usual, **scripts})


def made(shelf: Shelf, model: ResearchModel | None, **given: Any) -> Researcher:
    given.setdefault("refiner", refiner(model) if model else None)
    return Researcher(
        searcher=shelf, embedder=None, tokenizer=offline_tokenizer(), chat_model=model, **given
    )  # fmt: skip


async def run(of: Researcher, question: Question, **given: Any) -> tuple[list[AnswerEvent], Answer]:
    async with aclosing(of.research(question, **given)) as telling:
        events = [event async for event in telling]
    answer = events[-1]
    assert isinstance(answer, Answer)
    return events, answer


async def test_of_a_long_question_what_it_asks_is_put_in_other_words() -> None:
    told = "Unser Team fährt im nächsten Monat zur Messe, und die Agentur wartet auf Antwort. " * 40
    model = german(judge=judged(True))
    shelf = Shelf(CHUNKS)
    question = replace(GERMAN, text=f"{told}{GERMAN.text}")
    await run(made(shelf, model), question)
    assert {one.text: one.searched for one in shelf.asked} == {
        question.text: (GERMAN.text, ENGLISH),
        PART: (PART, PART_ENGLISH),
    }
    (asked,) = model.asked("rewrite")
    assert len(asked.material) < 1_000


async def test_questions_are_searched_in_the_language_of_the_documents_too() -> None:
    later, later_english = "Wer genehmigt mehr Urlaubstage?", "Who approves more days of leave?"
    model = german(
        judge=in_turn(judged(False, later), judged(True)),
        translate=in_turn(says({"1": {"English": PART_ENGLISH}}), says({"1": {"English": later_english}})),
    )
    shelf = Shelf(CHUNKS)
    _, answer = await run(made(shelf, model), GERMAN)
    assert {one.text: one.searched for one in shelf.asked} == {
        GERMAN.text: (GERMAN.text, ENGLISH),
        PART: (PART, PART_ENGLISH),
        later: (later, later_english),
    }
    assert answer.support is Support.CITED
    assert {one.document_id for one in answer.citations} >= {"docs:leave", "docs:lapse"}
    # One call for the question, and one a round for all that is searched for in it.
    assert [len(model.asked(part)) for part in ("rewrite", "translate")] == [1, 2]
    assert model.asked("translate")[0].material == f"1. {PART}"
    assert answer.usage == model.usage
    assert model.asked("answer")[0].material == GERMAN.text


async def test_without_the_model_for_notes_and_answer_the_translation_tells_what_to_quote() -> None:
    def down(_: Any) -> ModelUnreachable:
        return ModelUnreachable("down")

    _, answer = await run(made(Shelf(CHUNKS), german(finding=down, judge=down, answer=down)), GERMAN)
    assert answer.support is Support.CITED
    assert "five unused days of leave" in answer.raw_text


async def test_a_question_that_leans_is_searched_in_words_that_stand_alone() -> None:
    model = ResearchModel({"rewrite": says({"question": ALONE})})
    shelf = Shelf(CHUNKS)
    _, answer = await run(made(shelf, model), FOLLOWS)
    assert [(one.text, one.searched) for one in shelf.asked] == [(FOLLOWS.text, (ALONE,))]
    assert model.asked("finding")[0].material == ALONE
    assert ALONE in model.asked("judge")[0].material
    assert answer.question == FOLLOWS.text
    assert {one.document_id for one in answer.citations} >= {"docs:people"}
    assert not model.asked("translate")


@pytest.mark.parametrize("history", [(), SAID])
async def test_a_question_that_stands_alone_in_the_language_of_the_documents_asks_nothing(
    history: tuple[Message, ...],
) -> None:
    question = Question(text="When do carried days of leave lapse in Lisbon?", knowledge_bases=("kb",), history=history)
    model = ResearchModel({"plan": plan("unused days of leave")})
    shelf = Shelf(CHUNKS)
    await run(made(shelf, model), question)
    assert not any(one.wordings for one in shelf.asked)
    assert not {part.name for part in model.parts} & {"rewrite", "translate"}


async def test_without_a_model_no_call_is_made() -> None:
    model, shelf = german(), Shelf(CHUNKS)
    await run(made(shelf, None, refiner=refiner(model)), GERMAN)
    assert not model.parts
    assert not any(one.wordings for one in shelf.asked)


@pytest.mark.parametrize("seconds", [4.0, 180.0])
def test_words_that_are_late_keep_no_search_waiting_longer_than_they_may(seconds: float) -> None:
    async def research() -> None:
        began = asyncio.get_running_loop().time()
        model, shelf, at = german(), Shelf(CHUNKS), dict[str, float]()
        model.slow = {"rewrite": 500.0, "translate": 500.0}

        def note(question: Question) -> None:
            at[question.text] = asyncio.get_running_loop().time() - began

        shelf.fails = note
        _, answer = await run(made(shelf, model, limits=Limits(seconds=seconds)), GERMAN)
        assert set(at) == {GERMAN.text, PART}
        assert max(at.values()) <= 0.14 * seconds
        assert asyncio.get_running_loop().time() - began <= seconds
        assert answer.usage.calls == len(model.parts)

    virtual.run(research())


def test_the_question_is_put_in_other_words_while_it_is_planned() -> None:
    async def research() -> None:
        model = german()
        model.slow = {"plan": 8.0, "rewrite": 8.0, "translate": 4.0}  # as on small hardware
        began = asyncio.get_running_loop().time()
        events, _ = await run(made(Shelf(CHUNKS), model), GERMAN)
        assert asyncio.get_running_loop().time() - began == pytest.approx(12.0)
        ended = [one.detail for one in events if isinstance(one, Progress) and one.outcome is not Outcome.BEGUN]
        assert ended[1:3] == [GERMAN.text, PART]  # the question itself does not wait for its parts' translations

    virtual.run(research())


@pytest.mark.parametrize("said", ["", "no idea", "{}", "[]", '{"translations": 7, "1": [2]}'])
async def test_a_reply_of_no_use_leaves_the_words_as_they_are(said: str) -> None:
    shelf = Shelf(CHUNKS)
    await run(made(shelf, german(rewrite=lambda _: said, translate=lambda _: said)), GERMAN)
    assert {one.searched for one in shelf.asked} == {(GERMAN.text,), (PART,)}
    assert len(shelf.asked) == 2


async def test_a_template_that_cannot_be_used_leaves_the_words_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = Prompts.render

    def broken(of: Prompts, name: str, **inputs: Any) -> str:
        if name in {"rewrite", "translate_questions"}:
            raise ConfigError("rewrite.j2 cannot be read")
        return whole(of, name, **inputs)

    monkeypatch.setattr(Prompts, "render", broken)
    shelf = Shelf(CHUNKS)
    await run(made(shelf, german()), GERMAN)
    assert {one.searched for one in shelf.asked} == {(GERMAN.text,), (PART,)}
    assert len(shelf.asked) == 2


async def test_gone_on_with_after_a_crash_the_words_are_known() -> None:
    class Steps:
        def __init__(self) -> None:
            self.kept: dict[str, KeptStep] = {}

        async def steps(self, research: str, question: str) -> tuple[KeptStep, ...]:
            return tuple(self.kept.values())

        async def keep(self, research: str, question: str, step: KeptStep) -> None:
            self.kept[step.key] = step

    class Open(Reading):
        def __init__(self) -> None:
            pass

        async def again(self, question: Question, scores: Any) -> dict[str, ScoredChunk]:
            return {one.id: ScoredChunk(chunk=one, score=scores[one.id]) for one in CHUNKS if one.id in scores}

    def down(_: Any) -> ModelUnreachable:
        return ModelUnreachable("down")

    steps = Steps()
    scripts: dict[str, Say] = {"finding": down, "answer": down}
    _, before = await run(made(Shelf(CHUNKS), german(**scripts), store=steps, reading=Open()), GERMAN, id="r")
    model, shelf = german(**scripts), Shelf(CHUNKS)
    events, after = await run(made(shelf, model, store=steps, reading=Open()), GERMAN, id="r")
    assert [part.name for part in model.parts] == ["answer"]
    assert not shelf.asked
    assert after.raw_text == before.raw_text
    assert after.support is Support.CITED
    assert after.usage.calls == before.usage.calls
    assert phrase("quoted", "de") in after.notes
    assert any(isinstance(one, Progress) and one.stage == StepKind.SEARCH for one in events)
