"""A question with no knowledge base to ask: told so, or answered by the model alone where that is allowed, and marked."""

import pytest

from ragcore.answer import Answerer, AnswerOptions
from ragcore.errors import ModelRateLimited, ModelUnreachable
from ragcore.phrases import phrase
from ragcore.tokens import offline_tokenizer
from ragcore.types import Answer, AnswerEvent, Delta, Message, Question, Status, Support
from tests.ragcore.answer.test_answer_pipeline import FakeModel, FakeRetriever, Found, done, say

ASKED = Question(
    text="What is the boiling point of water?",
    knowledge_bases=(),
    history=(Message(role="user", text="Hello chemistry"),),
)
MARK = phrase("plain_chat", "en")


async def answered(
    model: FakeModel | None, question: Question = ASKED, **options: object
) -> tuple[list[AnswerEvent], Answer, FakeRetriever]:
    searcher = FakeRetriever(Found(chunks=()))
    answerer = Answerer(
        retriever=searcher, embedder=None, tokenizer=offline_tokenizer(), chat_model=model,
        options=AnswerOptions(**options),  # type: ignore[arg-type]
    )  # fmt: skip
    events = [event async for event in answerer.answer(question)]
    assert isinstance(events[-1], Answer)
    return events, events[-1], searcher


async def test_it_is_told_so_and_no_model_is_asked() -> None:
    model = FakeModel([say("100 °C")])
    _, answer, _ = await answered(model)
    assert (answer.support, answer.raw_text) == (Support.ABSTAINED, phrase("empty_response", "en"))
    assert model.prompts == []


@pytest.mark.parametrize("unsupported", ["mark", "withhold"])
async def test_where_it_is_allowed_the_model_answers_under_a_mark(unsupported: str) -> None:
    model = FakeModel([say("100 °C [ID:0], see https://evil.example/.")])
    events, answer, searcher = await answered(model, plain_chat=True, unsupported=unsupported)
    assert answer.raw_text == f"{MARK}\n\n100 °C, see https://evil.example/."
    assert (answer.support, answer.citations, answer.allowed_urls) == (Support.UNSUPPORTED, (), frozenset())
    assert "".join(event.text for event in events if isinstance(event, Delta)).startswith(f"{MARK}\n\n1")
    assert [event.stage for event in events if isinstance(event, Status)] == ["write"]
    assert searcher.asked == []
    assert answer.usage.calls == 1
    texts = [message.text for message in model.prompts[0]]
    assert texts[1:] == ["Hello chemistry", ASKED.text]
    assert "[ID:" not in texts[0]


async def test_what_has_knowledge_bases_is_searched_all_the_same() -> None:
    model = FakeModel([say("100 °C")])
    with_one = Question(text=ASKED.text, knowledge_bases=("handbook",))
    _, answer, searcher = await answered(model, with_one, plain_chat=True)
    assert (answer.support, len(searcher.asked), model.prompts) == (Support.ABSTAINED, 1, [])


async def test_a_greeting_stays_a_greeting_and_without_a_model_there_is_no_chat() -> None:
    _, greeted, _ = await answered(FakeModel([]), Question(text="Hi!", knowledge_bases=()), plain_chat=True)
    assert greeted.support is Support.EXEMPT
    _, answer, _ = await answered(None, plain_chat=True)
    assert answer.support is Support.ABSTAINED


@pytest.mark.parametrize(
    ("model", "told"),
    [
        (FakeModel([[ModelUnreachable("gone")]]), "model_down"),
        (FakeModel([[ModelRateLimited("busy", retry_after=None)]]), "model_busy"),
        (FakeModel([[done()]]), "model_failed"),
        (FakeModel([say("100 °C")], context_window=60), "model_set_up_wrong"),
    ],
    ids=["gone", "busy", "no word", "small"],
)
async def test_a_model_that_fails_is_told(model: FakeModel, told: str) -> None:
    _, answer, _ = await answered(model, plain_chat=True)
    assert (answer.support, answer.notes) == (Support.ABSTAINED, (phrase(told, "en"),))  # type: ignore[arg-type]
    assert answer.usage.calls == len(model.prompts)
