"""A question in other words on its way to an answer: what is searched, what is shown, what it costs, and in what order."""

import asyncio
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from ragcore.answer import Answerer
from ragcore.errors import ModelUnreachable, StoreError
from ragcore.refine.refining import RefineOptions, Refiner
from ragcore.tokens import offline_tokenizer
from ragcore.types import Answer, AnswerEvent, Question, Status, Support, Usage
from tests.ragcore.answer.test_answer_pipeline import FakeModel, FakeRetriever, Found, say
from tests.ragcore.refine.test_refining import FOLLOWS, GERMAN, PLAIN, SPENT, Held, Wording, virtually, worded

ALONE = "When did Dr. Maria Santos join?"
DRAWN = Usage(calls=1, prompt_tokens=70, completion_tokens=7)


def answering(
    model: FakeModel, wording: Wording, searcher: Any, held: tuple[str, ...] = ("en",), keyword: bool = False
) -> Answerer:
    asked: Any = wording
    refiner = Refiner(
        model=asked,
        tokenizer=offline_tokenizer(),
        languages=Held(held),
        options=RefineOptions(keyword=keyword),
    )
    return Answerer(retriever=searcher, embedder=None, tokenizer=offline_tokenizer(), chat_model=model, refiner=refiner)


def asked_of(answerer: Answerer, question: Question) -> tuple[list[AnswerEvent], Answer, float]:
    async def ask() -> list[AnswerEvent]:
        return [event async for event in answerer.answer(question)]

    events, took = virtually(ask())
    assert isinstance(events[-1], Answer)
    return events, events[-1], took


def stages(events: list[AnswerEvent]) -> list[str]:
    return [event.stage for event in events if isinstance(event, Status)]


@dataclass
class Drawing(FakeRetriever):
    """A searcher that asks a model first, which takes two seconds, and may be asked ahead."""

    ahead_for: list[Question] = field(default_factory=list)
    given: list[float] = field(default_factory=list)

    async def ahead(self, question: Question, seconds: float) -> tuple[FakeRetriever, Usage]:
        self.ahead_for.append(question)
        self.given.append(seconds)
        await asyncio.sleep(min(2.0, seconds))
        return FakeRetriever(self.found, self.asked), DRAWN

    async def retrieve(self, question: Question) -> Found:
        await asyncio.sleep(2.0)
        return await super().retrieve(question)


def test_a_question_that_stands_alone_is_answered_as_ever() -> None:
    wording, searcher = Wording(worded(ALONE)), FakeRetriever()
    events, answer, _ = asked_of(answering(FakeModel([say("Five days [ID:0].")]), wording, searcher), PLAIN)
    assert wording.prompts == []
    assert stages(events) == ["search", "write", "cite"]
    assert "rewrite" not in answer.timings_ms
    assert searcher.asked == [PLAIN]
    assert answer.usage.calls == 1


def test_the_wording_is_searched_and_the_asker_s_words_are_answered() -> None:
    model, wording, searcher = FakeModel([say("Five days [ID:0].")]), Wording(worded(ALONE)), FakeRetriever()
    events, answer, _ = asked_of(answering(model, wording, searcher), FOLLOWS)
    assert stages(events) == ["rewrite", "search", "write", "cite"]
    assert [one.wordings for one in searcher.asked] == [(ALONE,)]
    assert model.prompts[0][-1].text == FOLLOWS.text
    assert all(ALONE not in message.text for message in model.prompts[0])
    assert answer.question == FOLLOWS.text
    assert answer.usage == SPENT + Usage(calls=1, prompt_tokens=10, completion_tokens=5)
    assert "rewrite" in answer.timings_ms


def test_nothing_found_tells_what_was_spent_all_the_same() -> None:
    searcher = FakeRetriever(Found(chunks=()))
    _, answer, _ = asked_of(answering(FakeModel([]), Wording(worded(ALONE)), searcher), FOLLOWS)
    assert (answer.support, answer.usage) == (Support.ABSTAINED, SPENT)


def test_the_search_asks_beside_what_needs_no_wording_of_it() -> None:
    searcher = Drawing()
    wording = Wording(worded(German=GERMAN), seconds=2.0)
    model = FakeModel([say("Five days [ID:0].")])
    _, answer, took = asked_of(answering(model, wording, searcher, held=("de",)), PLAIN)
    assert took == 2.0
    assert [one.wordings for one in searcher.asked] == [(PLAIN.text, GERMAN)]
    assert searcher.ahead_for == [PLAIN]
    assert answer.usage == SPENT + DRAWN + Usage(calls=1, prompt_tokens=10, completion_tokens=5)


def test_a_search_that_fails_leaves_no_call_behind() -> None:
    class Failing(Drawing):
        async def ahead(self, question: Question, seconds: float) -> tuple[FakeRetriever, Usage]:
            await asyncio.sleep(1.0)
            raise StoreError("gone")

    wording = Wording(worded(German=GERMAN), seconds=2.0)
    answerer = answering(FakeModel([]), wording, Failing(), held=("de",))

    async def ask() -> None:
        with pytest.raises(StoreError):
            async for _ in answerer.answer(PLAIN):
                pass
        assert wording.broken_off == 1

    virtually(ask())


def test_of_a_question_that_leans_the_search_asks_by_its_wording() -> None:
    searcher, model = Drawing(), FakeModel([say("Five days [ID:0].")])
    _, answer, took = asked_of(answering(model, Wording(worded(ALONE), seconds=2.0), searcher), FOLLOWS)
    assert [one.asked for one in searcher.ahead_for] == [ALONE]
    assert [one.asked for one in searcher.asked] == [ALONE]
    assert (searcher.given, took) == ([1.0], 3.0), "the time is one for all that is done before the search"
    assert answer.usage.calls == 3


def test_what_the_search_asks_first_has_the_same_time_where_nothing_else_is_done() -> None:
    searcher, model = Drawing(), FakeModel([say("Five days [ID:0].")])
    events, answer, _ = asked_of(answering(model, Wording(), searcher), PLAIN)
    assert (searcher.given, searcher.ahead_for) == ([3.0], [PLAIN])
    assert stages(events) == ["search", "write", "cite"]
    assert answer.usage == DRAWN + Usage(calls=1, prompt_tokens=10, completion_tokens=5)
    beside = Drawing(Found(chunks=()))
    asked_of(answering(FakeModel([]), Wording(), beside), replace(PLAIN, beside="ERR_CONN_104"))
    assert (len(beside.ahead_for), len(beside.asked)) == (1, 2), "asked once, also where it is searched for twice"


def test_without_the_model_the_translation_finds_the_sentence() -> None:
    german = replace(PLAIN, text="Wie viele unbenutzte Tage darf ich in das nächste Jahr mitnehmen?")
    english = "How many unused days may be carried into the next year?"
    gone = FakeModel([[ModelUnreachable("gone")], [ModelUnreachable("gone")]])
    answerer = answering(gone, Wording(worded(English=english)), FakeRetriever(), held=("en",))
    _, answer, _ = asked_of(answerer, german)
    assert answer.support is Support.CITED
    assert "Up to five unused days may be carried" in answer.raw_text
    near = Found(chunks=(), near=Found().chunks[:1])
    answerer = answering(gone, Wording(worded(English=english)), FakeRetriever(near), held=("en",))
    assert "five unused days" in asked_of(answerer, german)[1].raw_text, "and what came near is looked at by it, too"


def test_a_direct_quote_by_a_later_wording_goes_before_one_that_only_comes_near() -> None:
    german = replace(PLAIN, text="Dürfen employees im Januar unused days carried haben?")
    english = "How many unused days may be carried into the next year?"
    answerer = answering(
        FakeModel([[ModelUnreachable("gone")]]), Wording(worded(English=english)), FakeRetriever(), held=("en",)
    )
    alone = answering(FakeModel([[ModelUnreachable("gone")]]), Wording(), FakeRetriever(), held=("en",))
    assert asked_of(alone, german)[1].support is Support.NEAREST, "its own words find no direct answer"
    assert asked_of(answerer, german)[1].support is Support.CITED


def test_what_stands_beside_a_question_goes_with_its_wording() -> None:
    searcher = FakeRetriever(Found(chunks=()))
    beside = replace(FOLLOWS, beside="ERR_CONN_104")
    asked_of(answering(FakeModel([]), Wording(worded(ALONE)), searcher), beside)
    assert [one.wordings for one in searcher.asked] == [(ALONE,), (f"{ALONE}\nERR_CONN_104",)]


def test_keywords_go_into_the_search() -> None:
    searcher, model = FakeRetriever(), FakeModel([say("Five days [ID:0].")])
    wording = Wording(keywords='["opening hours"]')
    events, _, _ = asked_of(answering(model, wording, searcher, keyword=True), PLAIN)
    assert stages(events)[0] == "rewrite"
    assert [(one.wordings, one.keywords) for one in searcher.asked] == [((), ("opening hours",))]
