"""The way from a question to an answer, with a scripted search and model.

Over 400 lines: one case for each turn that the way may take, over the same few chunks.
"""

import asyncio
import pathlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.answer import Answerer, AnswerOptions
from ragcore.context import default_budget, prompt_tokens
from ragcore.errors import (
    ModelAuthError,
    ModelBadOutput,
    ModelContextTooLong,
    ModelError,
    ModelInterrupted,
    ModelRateLimited,
    ModelRefused,
    ModelUnreachable,
)  # fmt: skip
from ragcore.models.llm import Discard, Finish, Piece, ReasoningPiece, TextPiece
from ragcore.phrases import Phrase, phrase
from ragcore.prompts import render
from ragcore.tokens import offline_tokenizer
from ragcore.types import (
    Answer,
    AnswerEvent,
    Chunk,
    Delta,
    Location,
    Message,
    Question,
    ScoredChunk,
    Status,
    Support,
    Usage,
)

TEXTS = (
    "Up to five unused days may be carried into the next year. They must be taken by 31 March.",
    "The hotel limit is £140 a night in London.",
)


def scored(number: int) -> ScoredChunk:
    chunk = Chunk(
        id=f"g-{number}", document_id=f"handbook:{number}.md", knowledge_base="handbook", ordinal=0, text=TEXTS[number],
        title=f"Document {number}", url=f"https://wiki.example/{number}", token_count=20, heading_path=("Rules",),
        location=Location(anchor="rules"),
    )  # fmt: skip
    return ScoredChunk(chunk=chunk, score=0.9 - number / 10)


@dataclass(frozen=True)
class Found:
    chunks: tuple[ScoredChunk, ...] = (scored(0), scored(1))
    near: tuple[ScoredChunk, ...] = ()
    notes: tuple[Phrase, ...] = ()
    usage: Usage = Usage()


@dataclass
class FakeRetriever:
    found: Found = Found()
    asked: list[Question] = field(default_factory=list)

    async def retrieve(self, question: Question) -> Found:
        self.asked.append(question)
        return self.found


@dataclass
class FakeModel:
    """Plays one script a call: pieces, and errors to raise at their place."""

    scripts: list[list[Piece | ModelError]]
    completion: str = ""
    context_window: int = 8192
    max_tokens: int = 500
    name: str = "fake"
    prompts: list[Sequence[Message]] = field(default_factory=list)

    async def stream(self, messages: Sequence[Message], *, task: str = "answer") -> AsyncIterator[Piece]:
        self.prompts.append(messages)
        for piece in self.scripts.pop(0):
            if isinstance(piece, ModelError):
                raise piece
            yield piece

    async def complete(self, messages: Sequence[Message], *, task: str) -> tuple[str, Usage]:
        self.prompts.append(messages)
        return self.completion, Usage(calls=1)


def answerer(model: FakeModel | None = None, found: Found = Found(), **options: object) -> Answerer:
    return Answerer(
        retriever=FakeRetriever(found), embedder=None, tokenizer=offline_tokenizer(), chat_model=model,
        options=AnswerOptions(**options),  # type: ignore[arg-type]
    )  # fmt: skip


async def ask(
    answerer: Answerer, text: str = "How many unused days may be carried over?"
) -> tuple[list[AnswerEvent], Answer]:
    events = [event async for event in answerer.answer(Question(text=text, knowledge_bases=("handbook",)))]
    answers = [event for event in events if isinstance(event, Answer)]
    assert len(answers) == 1
    assert events[-1] is answers[0]
    return events, answers[0]


def done(reason: str = "stop") -> Finish:
    return Finish(reason=reason, usage=Usage(calls=1, prompt_tokens=10, completion_tokens=5))  # type: ignore[arg-type]


def say(text: str) -> list[Piece | ModelError]:
    return [*(TextPiece(text=letter) for letter in text), done()]


@pytest.mark.parametrize(
    ("text", "long"),
    [
        pytest.param(
            "Hi all, my team travels to the trade fair next month and we have to book rooms soon. "
            "How many unused days may be carried over?",
            False,
            id="led-up-to",
        ),
        pytest.param(
            "How many unused days may be carried over? " + "We went to each of the fairs. " * 900, True, id="long"
        ),
    ],
)
async def test_what_a_message_asks_is_answered_without_a_model(text: str, long: bool) -> None:
    _, bare = await ask(answerer(None, Found(chunks=(scored(0), scored(1)))))
    _, answer = await ask(answerer(None, Found(chunks=(scored(0), scored(1)))), text)
    assert (answer.support, answer.raw_text) == (bare.support, bare.raw_text)
    assert (phrase("question_long", "en") in answer.notes) == long


async def test_without_a_model_the_documents_are_quoted() -> None:
    events, answer = await ask(answerer())
    assert answer.support is Support.CITED
    assert answer.raw_text.startswith("Up to five unused days may be carried into the next year [ID:0].")
    assert [(c.number, c.id, c.document_id, c.url, c.location) for c in answer.citations] == [
        (1, 0, "handbook:0.md", "https://wiki.example/0#rules", "Rules")
    ]
    assert answer.citations[0].quote in TEXTS[0]
    assert answer.notes == (phrase("no_model", "en"),)
    assert [event.stage for event in events if isinstance(event, Status)] == ["search", "write", "cite"]
    assert {"search", "write", "cite", "first_words", "total"} <= set(answer.timings_ms)


async def test_a_model_is_streamed_and_its_bare_sentence_cited() -> None:
    model = FakeModel([[ReasoningPiece(text="hm"), *say("Up to five unused days may be carried into the next year.")]])
    events, answer = await ask(answerer(model))
    assert "".join(event.text for event in events if isinstance(event, Delta)).startswith("Up to five")
    assert "[ID:0]" in answer.raw_text
    assert answer.reasoning == "hm"
    assert answer.usage.prompt_tokens == 10
    assert not answer.notes


async def test_the_prompt_holds_rules_blocks_history_and_the_question_verbatim() -> None:
    model = FakeModel([say("Five days [ID:0].")])
    question = Question(
        text="And until when?", knowledge_bases=("handbook",),
        history=(Message(role="user", text="How many days?"), Message(role="assistant", text="Five.")),
    )  # fmt: skip
    async for _ in answerer(model).answer(question):
        pass
    prompt = model.prompts[0]
    assert [message.role for message in prompt] == ["system", "user", "assistant", "user"]
    assert prompt[-1].text == "And until when?"
    assert "ID: 0\nTitle: Document 0" in prompt[0].text
    assert "\n------\nID: 1\n" in prompt[0].text


async def test_a_past_that_leaves_the_documents_no_room_is_left_out() -> None:
    past = (Message(role="user", text="How many days?"), Message(role="assistant", text="Five, as I said. " * 25))
    needed = offline_tokenizer().count(render("answer_system", quote=True))
    model = FakeModel([say("Five days [ID:0].")], context_window=int((needed + 300) / 0.95), max_tokens=100)
    question = Question(text="And until when?", knowledge_bases=("handbook",), history=past)
    async for _ in answerer(model).answer(question):
        pass
    assert "ID: 0\n" in model.prompts[0][0].text
    assert [message.role for message in model.prompts[0]] == ["system", "user"]


@pytest.mark.parametrize("quote", [True, False])
async def test_the_model_is_told_how_to_cite_when_citations_are_wanted(quote: bool) -> None:
    model = FakeModel([say("Five days [ID:0].")])
    async for _ in answerer(model, quote=quote).answer(Question(text="How many days?", knowledge_bases=("handbook",))):
        pass
    assert (render("citation_rules") in model.prompts[0][0].text) == quote


@pytest.mark.parametrize(("own", "added"), [("Be kind.", True), ("Be kind. Cite like this: [ID:0].", False)])
async def test_how_to_cite_is_added_to_a_prompt_that_does_not_say(
    own: str, added: bool, tmp_path: pathlib.Path
) -> None:
    file = tmp_path / "own.j2"
    file.write_text(own, encoding="utf-8")
    model = FakeModel([say("Five days [ID:0].")])
    question = Question(text="How many days?", knowledge_bases=("handbook",))
    async for _ in answerer(model, prompt_file=file).answer(question):
        pass
    assert model.prompts[0][0].text.startswith(own)
    assert (render("citation_rules") in model.prompts[0][0].text) == added


async def test_thoughts_that_looked_like_text_are_not_the_answer() -> None:
    thought = TextPiece(text="Let me think. ")
    model = FakeModel([[thought, Discard(text=thought.text), *say("Up to five unused days may be carried over.")]])
    _, answer = await ask(answerer(model))
    assert answer.raw_text.startswith("Up to five")
    assert answer.reasoning == thought.text


async def test_a_marker_is_never_shown_in_halves() -> None:
    model = FakeModel([say("Up to five unused days may be carried into the next year [ID:0]. Done.")])
    events, _ = await ask(answerer(model))
    for event in events:
        if isinstance(event, Delta):
            assert event.text.count("[") == event.text.count("]")


async def test_a_marker_that_the_length_limit_cut_is_never_shown() -> None:
    pieces = [TextPiece(text=letter) for letter in "Up to five unused days may be carried into the next year [ID:0"]
    events, answer = await ask(answerer(FakeModel([[*pieces, done("length")]])))
    shown = "".join(event.text for event in events if isinstance(event, Delta))
    assert shown.rstrip() == "Up to five unused days may be carried into the next year"
    assert answer.raw_text.count("[") == answer.raw_text.count("[ID:0]") == 1


async def test_nothing_relevant_is_told_without_a_call() -> None:
    model = FakeModel([])
    _, answer = await ask(answerer(model, Found(chunks=())))
    assert answer.abstained
    assert answer.raw_text == phrase("empty_response", "en")
    assert not model.prompts
    _, answer = await ask(answerer(None, Found(chunks=()), empty_response="Ask Ann."))
    assert answer.raw_text == "Ask Ann."


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("Wie viele Urlaubstage kann ich übertragen?", "de"),
        ("Сколько дней отпуска?", "ru"),
        ("TW-350?", "en"),
        ("How many days?", "en"),
    ],
)
async def test_nothing_relevant_is_told_in_the_language_of_the_question(question: str, language: str) -> None:
    _, answer = await ask(answerer(None, Found(chunks=())), question)
    assert answer.raw_text == phrase("empty_response", language)


@pytest.mark.parametrize("greeting", ["Hello!", "谢谢", "👍🏽"])
async def test_small_talk_is_exempt(greeting: str) -> None:
    _, answer = await ask(answerer(), greeting)
    assert answer.support is Support.EXEMPT
    assert not answer.citations


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ModelUnreachable("down"), phrase("model_down", "en")),
        (ModelAuthError("key"), phrase("model_set_up_wrong", "en")),
        (ModelError("no such model"), phrase("model_set_up_wrong", "en")),
        (ModelRateLimited("busy", retry_after=39.2), phrase("rate_limited", "en", seconds=40)),
        (ModelRateLimited("quota", retry_after=None), phrase("model_busy", "en")),
        (ModelRefused("HTTP 400: content_filter"), phrase("model_refused", "en")),
        (ModelContextTooLong("long"), phrase("model_failed", "en")),
        (ModelBadOutput("empty", raw=""), phrase("model_failed", "en")),
    ],
)
async def test_a_model_that_fails_before_its_first_word_is_replaced_by_quotes(error: ModelError, told: str) -> None:
    _, answer = await ask(answerer(FakeModel([[error], [error]])))
    assert answer.support is Support.CITED
    assert answer.notes == (told, phrase("quoted", "en"))
    assert answer.usage == Usage(calls=2 if isinstance(error, ModelContextTooLong) else 1), "a call that failed is one"


@pytest.mark.parametrize("written", ["", " \n", "[ID:0].", "[ID:0", "[ID:99]"])
@pytest.mark.parametrize("end", ["stop", "length"])
async def test_a_model_that_only_thinks_is_replaced_by_quotes(written: str, end: str) -> None:
    """That it wrote no word is no sign that the documents hold nothing."""
    _, answer = await ask(answerer(FakeModel([[ReasoningPiece(text="hm"), TextPiece(text=written), done(end)]])))
    assert answer.support is Support.CITED
    assert answer.raw_text.startswith("Up to five unused days may be carried into the next year [ID:0].")
    assert answer.notes == (phrase("model_failed", "en"), phrase("quoted", "en"))
    assert (answer.usage.completion_tokens, answer.reasoning) == (5, "hm")


async def test_an_answer_that_a_policy_cut_says_so() -> None:
    _, answer = await ask(answerer(FakeModel([[TextPiece(text="Five unused days [ID:0]."), done("refused")]])))
    assert answer.notes == (phrase("model_declined", "en"),)


async def test_a_prompt_found_too_long_is_fitted_tighter_once() -> None:
    model = FakeModel([[ModelContextTooLong("long")], say("Up to five unused days may be carried into the next year.")])
    _, answer = await ask(answerer(model))
    assert answer.support is Support.CITED
    assert len(model.prompts) == answer.usage.calls == 2


async def test_a_broken_or_cut_stream_keeps_what_was_written_and_says_so() -> None:
    start = TextPiece(text="Up to five unused days may be carried into the next year. ")
    _, answer = await ask(answerer(FakeModel([[start, ModelInterrupted("cut")]])))
    assert answer.raw_text.startswith("Up to five")
    assert answer.notes == (phrase("interrupted", "en"),)
    assert answer.usage.calls == 1
    assert answer.usage.prompt_tokens > answer.usage.completion_tokens == offline_tokenizer().count(start.text)
    _, answer = await ask(answerer(FakeModel([[start, done("length")]])))
    assert answer.notes == (phrase("length_cut", "en"),)


@given(cut=st.integers(1, len(TEXTS[0])), end=st.sampled_from(["length", "refused", "broken"]))
def test_half_a_sentence_at_the_end_of_what_broke_off_is_neither_cited_nor_branded(cut: int, end: str) -> None:
    written = TEXTS[0][:cut]
    last = ModelInterrupted("cut") if end == "broken" else done(end)
    _, answer = asyncio.run(ask(answerer(FakeModel([[TextPiece(text=written), last]]))))
    whole = TEXTS[0].index(".")
    assert answer.support is (Support.CITED if cut > whole else Support.EXEMPT)
    half = answer.raw_text[answer.raw_text.find(".") + 1 :] if cut > whole else answer.raw_text
    assert ("[ID:" in half) is (cut == len(TEXTS[0]))


async def test_an_unsupported_answer_is_marked_or_withheld() -> None:
    claim = "Penguins inherited the lighthouse of Alexandria in 1973 from Napoleon."
    _, answer = await ask(answerer(FakeModel([say(claim)])))
    assert answer.support is Support.UNSUPPORTED
    assert answer.raw_text == f"{phrase('unsupported', 'en')}\n\n{claim}"
    _, answer = await ask(answerer(FakeModel([say(claim)]), unsupported="withhold"))
    assert claim not in answer.raw_text


@pytest.mark.parametrize(
    ("completion", "kept"),
    [
        ("Carrying over: five [ID:0].", True),
        ("Carrying over: six [ID:0].", False),
    ],
)
async def test_the_citation_pass_may_add_citations_and_nothing_else(completion: str, kept: bool) -> None:
    model = FakeModel([say("Carrying over: five.")], completion=completion)
    _, answer = await ask(answerer(model, citation_plus=True))
    assert "six" not in answer.raw_text
    assert "five" in answer.raw_text
    assert len(model.prompts) == 2
    assert answer.usage.calls == 2
    assert ("[ID:0]" in answer.raw_text) >= kept


async def test_the_citation_pass_fits_its_own_prompt_too() -> None:
    """RAGFlow fits only the answer's prompt, and sends what it asks besides as long as it comes."""
    written = "Carrying over: five. " * 40
    many = tuple(
        replace(scored(number % 2), chunk=replace(scored(number % 2).chunk, text=TEXTS[number % 2] * 20))
        for number in range(8)
    )
    model = FakeModel([say(written)], completion=written, context_window=4096)
    await ask(answerer(model, Found(chunks=many), citation_plus=True))
    tokenizer = offline_tokenizer()
    rules, text = model.prompts[1]
    room = default_budget(4096) - tokenizer.count(written)
    assert prompt_tokens(model.prompts[1], tokenizer) <= room
    assert text.text == written
    assert render("citation_plus") in rules.text
    assert 0 < rules.text.count("\nTitle: Document") < len(many)


async def test_an_index_that_is_being_rebuilt_is_told() -> None:
    _, answer = await ask(answerer(None, Found(notes=("index_rebuilding",))))
    assert phrase("index_rebuilding", "en") in answer.notes


async def test_without_quotes_nothing_is_cited_but_all_is_checked() -> None:
    _, answer = await ask(answerer(None, quote=False))
    assert "[ID:" not in answer.raw_text
    assert not answer.citations
    assert answer.support is Support.CITED


async def test_only_known_addresses_may_become_links() -> None:
    _, answer = await ask(answerer())
    assert answer.allowed_urls == {"https://wiki.example/0", "https://wiki.example/1"}


async def test_chunks_that_came_near_get_a_second_look() -> None:
    """They are believed when a sentence of theirs says what is asked, and else nothing relevant was found."""
    found = Found(chunks=(), near=(scored(1),))
    _, answer = await ask(answerer(found=found), "What is the hotel limit in London?")
    assert answer.raw_text == "The hotel limit is £140 a night in London [ID:0]."
    _, answer = await ask(answerer(found=found), "Is breakfast in the hotel refunded?")
    assert answer.abstained


@pytest.mark.parametrize("last", [Found(usage=Usage(calls=2)), Found(chunks=(), usage=Usage(calls=2))])
async def test_what_a_search_took_that_found_nothing_counts(last: Found) -> None:
    retriever = FakeRetriever()
    answers = [Found(chunks=(), usage=Usage(calls=1)), last]

    async def retrieve(question: Question) -> Found:
        return answers.pop(0)

    retriever.retrieve = retrieve  # type: ignore[method-assign]
    answerer = Answerer(retriever=retriever, embedder=None, tokenizer=offline_tokenizer())
    question = Question(text="How many unused days?", knowledge_bases=("handbook",), beside="Days may be carried over.")
    *_, answer = [event async for event in answerer.answer(question)]
    assert isinstance(answer, Answer)
    assert answer.usage == Usage(calls=3)
    assert answer.abstained is not bool(last.chunks)


async def test_a_quote_may_come_from_a_chunk_that_only_came_near() -> None:
    found = Found(chunks=(scored(0),), near=(scored(1),))
    _, answer = await ask(answerer(found=found), "What is the hotel limit in London?")
    assert [citation.document_id for citation in answer.citations] == ["handbook:1.md"]


async def test_a_model_that_is_down_is_told_also_where_nothing_can_be_quoted() -> None:
    model = FakeModel([[ModelUnreachable("down")]])
    _, answer = await ask(answerer(model), "What colour is the door of the canteen?")
    assert answer.abstained
    assert answer.notes == (phrase("model_down", "en"),)
