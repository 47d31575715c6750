"""Where nothing answers directly, the answer says so before it quotes what comes nearest."""

import pytest

from ragcore.phrases import LANGUAGES, phrase
from ragcore.types import Delta, Support
from tests.ragcore.answer.test_answer_pipeline import Found, answerer, ask, scored


@pytest.mark.parametrize("language", LANGUAGES)
async def test_what_only_comes_near_is_told_to_be_no_answer(language: str) -> None:
    found = Found(chunks=(scored(0),))
    events, answer = await ask(answerer(None, found, language=language), "How are unused days of directors carried?")
    said = phrase("nearest", language)
    assert answer.support is Support.NEAREST
    assert answer.abstained
    told, _, quoted = answer.raw_text.partition("\n\n")
    assert told == said, "the sentence stands first, and carries no citation"
    assert "[ID:0]" in quoted
    assert [citation.id for citation in answer.citations] == [0]
    # Whoever reads along is told before anything is quoted, and in the same words.
    assert [event.text for event in events if isinstance(event, Delta)] == [answer.raw_text]


async def test_what_only_comes_near_is_told_without_quotes_too() -> None:
    question = "How are unused days of directors carried?"
    _, answer = await ask(answerer(None, Found(chunks=(scored(0),)), quote=False), question)
    assert answer.support is Support.NEAREST
    assert answer.raw_text.startswith(phrase("nearest", "en"))
    assert "[ID:" not in answer.raw_text
    assert not answer.citations
