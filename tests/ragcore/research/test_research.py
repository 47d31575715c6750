"""A research from the question to its answer: with a model that plays its parts, and without one."""

import asyncio
import re
from collections.abc import Sequence
from contextlib import aclosing
from typing import Any

import pytest

from ragcore.answer import AnswerOptions
from ragcore.errors import ModelRateLimited, ModelUnreachable, SourceRateLimited, StoreError
from ragcore.phrases import phrase
from ragcore.research import Limits, Outcome, Progress, StepKind
from ragcore.research.branches import WITHOUT_WEB
from ragcore.research.research import Researcher
from ragcore.research.sentences import sentence
from ragcore.tokens import offline_tokenizer
from ragcore.types import Answer, AnswerEvent, Delta, Message, Question, ScoredChunk, Support
from tests.fakes.embedding import WordsEmbedder
from tests.fakes.researching import ResearchModel, Shelf, blocks_of, chunk, in_turn, judged, plan, quoting

CHUNKS = (
    chunk("jousting", "Jousting is the official sport of Maryland. It was chosen in 1962."),
    chunk("church", "In Maryland, anglicanism became the established religion in 1692."),
    chunk("church-2", "In Maryland, anglicanism became the established religion in 1702."),
    chunk("leave", "Up to five unused days of leave may be carried into the next year."),
)
JOUSTING = "When did the state whose official sport is jousting make anglicanism its established religion?"


def researcher(shelf: Shelf, model: ResearchModel | None = None, **given: Any) -> Researcher:
    return Researcher(searcher=shelf, embedder=None, tokenizer=offline_tokenizer(), chat_model=model, **given)


def asked(text: str = JOUSTING, **given: Any) -> Question:
    return Question(text=text, knowledge_bases=("kb",), **given)


async def run(of: Researcher, question: Question, **given: Any) -> tuple[list[AnswerEvent], Answer]:
    events: list[AnswerEvent] = []
    async with aclosing(of.research(question, **given)) as telling:
        async for event in telling:
            events.append(event)  # noqa: PERF401
    answers = [event for event in events if isinstance(event, Answer)]
    assert len(answers) == 1
    assert events[-1] is answers[0]
    return events, answers[0]


def steps(events: Sequence[AnswerEvent], kind: StepKind) -> list[tuple[str, Outcome]]:
    ended = [one for one in events if isinstance(one, Progress) and one.outcome is not Outcome.BEGUN]
    return [(one.detail, one.outcome) for one in ended if one.stage == kind]


async def test_it_plans_searches_in_rounds_and_answers_with_citations() -> None:
    verdicts = in_turn(judged(False, "When did Maryland make anglicanism its established religion?"), judged(True))
    model = ResearchModel({"plan": plan("Which state has jousting as its official sport?"), "judge": verdicts})
    shelf = Shelf(CHUNKS)
    events, answer = await run(researcher(shelf, model), asked())
    searched = [question.text for question in shelf.asked]
    # Those of a round come in any order.
    assert set(searched[:2]) == {JOUSTING, "Which state has jousting as its official sport?"}
    assert searched[2:] == ["When did Maryland make anglicanism its established religion?"]
    assert [outcome for _, outcome in steps(events, StepKind.SEARCH)] == [Outcome.DONE] * 3
    assert answer.support is Support.CITED
    assert {citation.document_id for citation in answer.citations} >= {"docs:jousting", "docs:church"}
    assert answer.question == JOUSTING
    assert not answer.notes
    assert [len(model.asked(name)) for name in ("plan", "finding", "judge", "answer")] == [1, 3, 2, 1]
    assert answer.usage == model.usage
    assert {"research", "write", "cite", "total"} <= set(answer.timings_ms)
    # The writer sees what each search found, numbered as the blocks are.
    prompt = model.asked("answer")[0].prompt[0].text
    assert (
        "» Which state has jousting as its official sport?\nJousting is the official sport of Maryland [ID:" in prompt
    )
    assert model.asked("answer")[0].material == JOUSTING


async def test_every_search_is_a_question_of_the_same_asker() -> None:
    shelf = Shelf(CHUNKS)
    question = asked(
        readers=frozenset({"slack:T"}),
        document_ids=("docs:church",),
        history=(Message(role="user", text="Hello there"),),
    )
    await run(
        researcher(shelf, ResearchModel({"plan": plan("official sport jousting"), "judge": judged(True)})), question
    )
    assert len(shelf.asked) == 2
    for one in shelf.asked:
        assert (one.readers, one.knowledge_bases, one.document_ids) == (
            question.readers, question.knowledge_bases, question.document_ids,
        )  # fmt: skip


@pytest.mark.parametrize("times", [1, 40])
async def test_what_it_asks_is_searched_for_apart_from_what_a_message_tells(times: int) -> None:
    told = " ".join(["My team travels to the trade fair next month, and the agency waits for an answer."] * times)
    asks = "Which state has jousting as the official sport?"
    for text in (f"{told} {asks}", f"{asks} {told}"):
        shelf = Shelf(CHUNKS)
        _, answer = await run(researcher(shelf), asked(text))
        (own,) = (one for one in shelf.asked if one.text == text)
        assert own.searched == ((asks, text) if times == 1 else (asks,))
        assert answer.support in {Support.CITED, Support.NEAREST}


async def test_no_sentence_is_embedded_twice() -> None:
    embedder = WordsEmbedder(dimension=32)
    of = Researcher(searcher=Shelf(CHUNKS), embedder=embedder, tokenizer=offline_tokenizer())
    _, answer = await run(of, asked())
    assert answer.citations
    assert embedder.texts
    assert len(embedder.texts) == len(set(embedder.texts))


async def test_without_a_model_what_was_found_leads_on_and_is_quoted() -> None:
    shelf = Shelf(CHUNKS, top=1)
    events, answer = await run(researcher(shelf), asked())
    assert answer.support in {Support.CITED, Support.NEAREST}
    assert answer.notes == (phrase("no_model", "en"),)
    assert {scored.chunk.document_id for scored in answer.chunks} >= {"docs:jousting", "docs:church"}
    assert all(outcome is not Outcome.FAILED for _, outcome in steps(events, StepKind.SEARCH))
    assert any("Maryland" in question.text for question in shelf.asked)


def find_both(messages: Sequence[Message]) -> str:
    """Judge that what was found of the two years cannot both be true."""
    found = messages[-1].text.partition("<found>")[2]
    numbers = [int(found.partition(year)[2].partition("[ID:")[2].partition("]")[0]) for year in ("1692", "1702")]
    return judged(True, contradictions=[(numbers[0], numbers[1])])(messages)  # type: ignore[return-value]


@pytest.mark.parametrize(
    "written", ["Jousting is the official sport of Maryland.", ModelUnreachable("down")], ids=["written", "quoted"]
)
async def test_a_contradiction_is_told_with_both_links(written: str | ModelUnreachable) -> None:
    model = ResearchModel({"judge": find_both, "answer": lambda it: written})
    _, answer = await run(researcher(Shelf(CHUNKS), model), asked())
    assert sentence("contradiction", "en") in answer.raw_text
    told = answer.raw_text.partition(sentence("contradiction", "en"))[2]
    assert "1692 [ID:" in told
    assert "1702 [ID:" in told
    assert {one.document_id for one in answer.citations} >= {"docs:church", "docs:church-2"}


@pytest.mark.parametrize("written", ["Bananas are yellow and grow on tall plants.", "Okay."])
@pytest.mark.parametrize("question", ["", "What is the official sport of Maryland?"])
async def test_what_was_found_stands_beneath_what_nothing_bears_out(written: str, question: str) -> None:
    model = ResearchModel({"answer": lambda it: written})
    events, answer = await run(researcher(Shelf(CHUNKS), model), asked(question) if question else asked())
    head, _, quoted = answer.raw_text.partition(written)
    assert head.strip() == (phrase("unsupported", "en") if written != "Okay." else "")
    assert phrase("quoted", "en") in quoted or phrase("nearest", "en") in quoted
    assert answer.support is Support.NEAREST
    assert answer.citations
    assert {one.id for one in answer.citations} == {int(number) for number in re.findall(r"\[ID:(\d+)\]", quoted)}
    assert "".join(one.text for one in events if isinstance(one, Delta)).startswith(written)


async def test_a_branch_that_fails_is_a_step_with_its_reason() -> None:
    shelf = Shelf(CHUNKS, fails=lambda question: StoreError("sqlite: secret") if "sport" in question.text else None)
    model = ResearchModel({"plan": plan("Which official sport has Maryland?", "anglicanism in Maryland")})
    events, answer = await run(researcher(shelf, model), asked("Tell me about anglicanism in that Maryland, please"))
    failed = [one for one in events if isinstance(one, Progress) and one.outcome is Outcome.FAILED]
    assert [step.reason for step in failed] == [StoreError.user_message]
    assert answer.support is Support.CITED
    assert sentence("failed", "en", count=1) in answer.notes


async def test_when_no_search_could_be_made_that_is_the_answer() -> None:
    shelf = Shelf(CHUNKS, fails=lambda question: StoreError("gone"))
    with pytest.raises(StoreError):
        await run(researcher(shelf, ResearchModel()), asked())


async def test_a_model_that_fails_at_everything_leaves_the_extractive_way() -> None:
    def busy(_: Sequence[Message]) -> ModelRateLimited:
        return ModelRateLimited("429", retry_after=None)

    scripts = dict.fromkeys(("plan", "finding", "judge", "answer"), busy)
    events, answer = await run(researcher(Shelf(CHUNKS), ResearchModel(scripts)), asked())
    assert answer.citations
    assert phrase("model_busy", "en") in answer.notes
    reasons = {one.reason for one in events if isinstance(one, Progress) and one.reason}
    assert reasons == {ModelRateLimited.user_message}


async def test_nothing_found_is_said_and_no_model_writes() -> None:
    model = ResearchModel({"judge": judged(False)})
    _, answer = await run(researcher(Shelf(()), model), asked())
    assert answer.support is Support.ABSTAINED
    assert not model.asked("answer")
    assert not model.asked("finding")


async def test_what_it_took_is_told_once_also_where_something_stands_beside_the_question() -> None:
    model = ResearchModel({"judge": judged(False)})
    _, answer = await run(researcher(Shelf(()), model), asked(beside="a screenshot of jousting"))
    assert answer.support is Support.ABSTAINED
    assert answer.usage == model.usage
    assert answer.usage.calls


@pytest.mark.parametrize("said", ["Hello!", "🎉"])
async def test_small_talk_is_no_research(said: str) -> None:
    shelf = Shelf(CHUNKS)
    events, answer = await run(researcher(shelf, ResearchModel()), asked(said))
    assert answer.support is Support.EXEMPT
    assert events == [answer]
    assert not shelf.asked


class Web:
    def __init__(self, error: Exception | None = None) -> None:
        self.error = error
        self.asked: list[str] = []

    async def search(self, query: str, count: int) -> tuple[ScoredChunk, ...]:
        self.asked.append(query)
        await asyncio.sleep(0)
        if self.error:
            raise self.error
        page = chunk("page", "The Church of England was established in Maryland in 1692.", base=":web")
        return (ScoredChunk(chunk=page, score=0.5),)


async def test_the_web_is_searched_with_what_holds_no_word_of_a_document() -> None:
    verdicts = in_turn(judged(False, "When did Maryland make anglicanism its established religion?"), judged(True))
    model = ResearchModel({"plan": plan("the official sport jousting"), "judge": verdicts})
    web = Web()
    _, answer = await run(researcher(Shelf(CHUNKS), model, web=web), asked())
    assert web.asked == [JOUSTING, "the official sport jousting"]
    assert "docs:page" in {scored.chunk.document_id for scored in answer.chunks}


async def test_of_a_conversation_the_web_hears_the_question_alone() -> None:
    web = Web()
    model = ResearchModel({"plan": plan("the official sport jousting")})
    question = asked(history=(Message(role="assistant", text="The secret project is called Kestrel."),))
    await run(researcher(Shelf(CHUNKS), model, web=web), question)
    assert web.asked == [JOUSTING]


async def test_a_web_that_refuses_leaves_the_documents() -> None:
    web = Web(SourceRateLimited("429", retry_after=60))
    events, answer = await run(researcher(Shelf(CHUNKS), ResearchModel(), web=web), asked())
    assert answer.support is Support.CITED
    done = [one for one in events if isinstance(one, Progress) and one.outcome is Outcome.DONE]
    assert WITHOUT_WEB in {step.reason for step in done if step.stage == StepKind.SEARCH}
    assert phrase("web_unavailable", "en") in answer.notes


async def test_the_web_answers_where_the_documents_cannot_be_searched() -> None:
    shelf = Shelf(CHUNKS, fails=lambda question: StoreError("gone"))
    _, answer = await run(researcher(shelf, ResearchModel(), web=Web()), asked())
    assert {citation.document_id for citation in answer.citations} == {"docs:page"}


async def test_what_the_endpoint_cannot_be_reached_for_is_told_like_anywhere() -> None:
    model = ResearchModel({"answer": lambda it: ModelUnreachable("down")})
    _, answer = await run(researcher(Shelf(CHUNKS), model), asked())
    assert answer.notes[:2] == (phrase("model_down", "en"), phrase("quoted", "en"))
    assert answer.citations


async def test_without_quotes_no_marker_is_shown() -> None:
    model = ResearchModel({"answer": lambda it: "Jousting is the official sport of Maryland."})
    _, answer = await run(researcher(Shelf(CHUNKS), model, options=AnswerOptions(quote=False)), asked())
    assert "[ID:" not in answer.raw_text
    assert "[ID:" not in model.asked("answer")[0].prompt[0].text.partition("What several searches")[2].split("\nID:")[0]


async def test_the_answer_is_over_all_that_was_read() -> None:
    model = ResearchModel({"plan": plan("unused days of leave"), "answer": quoting})
    _, answer = await run(researcher(Shelf(CHUNKS), model, limits=Limits()), asked())
    assert {one.chunk.document_id for one in answer.chunks} == {one.document_id for one in CHUNKS}


TRAVEL = chunk("travel", "Travel is approved by the team lead. Trips are booked two weeks ahead.")
CLOSING = chunk("closing", "Accounts are closed on the last working day of a month.")
SICKNESS = chunk("sickness", "Sick leave is told to the team lead before nine o'clock.")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Who approves travel, and when are accounts closed?", ("approved by the team lead", "last working day")),
        ("When are accounts closed? Who approves travel?", ("last working day", "approved by the team lead")),
    ],
)
async def test_without_a_model_each_part_of_a_question_is_answered(text: str, said: tuple[str, str]) -> None:
    _, answer = await run(researcher(Shelf((TRAVEL, CLOSING, SICKNESS), top=1)), asked(text))
    assert answer.support is Support.CITED
    assert answer.raw_text.index(said[0]) < answer.raw_text.index(said[1])
    assert {citation.document_id for citation in answer.citations} == {"docs:travel", "docs:closing"}
    assert answer.notes == (phrase("no_model", "en"),)


async def test_a_part_that_nothing_answers_is_named_beside_what_was_answered() -> None:
    text = "Who approves travel, and who must be told about sick leave in Leyton?"
    _, answer = await run(researcher(Shelf((TRAVEL, SICKNESS), top=1)), asked(text))
    first, _, rest = answer.raw_text.partition(f"\n\n{phrase('nearest', 'en')}\n\n")
    assert first == "Travel is approved by the team lead [ID:1]."
    assert rest == "Sick leave is told to the team lead before nine o'clock [ID:0]."
    assert answer.support is Support.CITED
    assert sentence("missing", "en", what="who must be told about sick leave in Leyton?") in answer.notes


async def test_what_is_asked_for_again_is_not_told_as_missing_where_the_answer_cites_what_it_found() -> None:
    again, unknown = "Which state has jousting as its official sport?", "Who invented the zeppelin?"
    model = ResearchModel({"plan": plan(again, unknown), "judge": judged(False, again, unknown)})
    _, answer = await run(researcher(Shelf(CHUNKS), model), asked())
    assert sentence("lacking", "en") in answer.notes
    assert sentence("missing", "en", what=unknown) in answer.notes
    # An answer that cites but the church does not tell which state it is.
    model = ResearchModel({**model.scripts, "answer": _church})
    _, answer = await run(researcher(Shelf(CHUNKS), model), asked())
    assert {citation.document_id for citation in answer.citations} == {"docs:church"}
    assert sentence("missing", "en", what=f"{again}; {unknown}") in answer.notes


def _church(messages: Sequence[Message]) -> str:
    number = next(number for number, text in blocks_of(messages) if "1692" in text)
    return f"In Maryland, anglicanism became the established religion in 1692 [ID:{number}]."
