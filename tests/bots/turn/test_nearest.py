"""An answer that only quotes what comes nearest: shown whole, and counted as a question left without an answer."""

from collections.abc import AsyncIterator

import pytest

from bots.platform import Button, View
from bots.rendering.discord import render_discord
from bots.rendering.parse import parse_answer
from bots.rendering.slack import render_slack
from bots.rendering.telegram import render_telegram
from bots.requests import Ask, Event, Recalled
from bots.turn.claims.claim import Outcome
from bots.turn.quotes import answer_of
from ragcore.phrases import LANGUAGES, phrase
from ragcore.types import Answer, Support
from tests.bots.turn.flows import Model, flowing, outcome
from tests.fakes.operations import CHUNKS, cited
from tests.fakes.platform import asked
from tests.fakes.virtual import run


def near(question: str, language: str = "en") -> Answer:
    text = f"{phrase('nearest', language)}\n\nCarry over five days [ID:2]."
    return Answer(question=question, raw_text=text, support=Support.NEAREST, citations=(cited(1, 2),), chunks=CHUNKS)


def test_it_counts_as_left_without_an_answer_and_its_quotes_can_be_seen() -> None:
    async def script(request: Ask) -> AsyncIterator[Event]:
        yield near(request.question)

    async def talk() -> None:
        async with flowing(model=Model(script)) as flow:
            await flow.turns.receive(asked("Is there a company car?"))
            await flow.idle()
            (told,) = flow.texts("q1")
            assert told.startswith(phrase("nearest"))
            assert "Carry over five days" in told
            assert await outcome(flow, "q1") is Outcome.ABSTAINED

    run(talk())


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_remembered_of_it_tells_that_it_is_none(language: str) -> None:
    answer = near("Is there a company car?", language)
    recalled = Recalled(question=answer.question, answer=answer.raw_text, citations=answer.citations)
    assert answer_of(recalled).support is Support.NEAREST
    plain = Recalled(question=answer.question, answer="Carry over five days [ID:2].", citations=answer.citations)
    assert answer_of(plain).support is Support.CITED


@pytest.mark.parametrize("language", LANGUAGES)
def test_it_is_one_message_on_each_platform_and_its_first_sentence_links_nowhere(language: str) -> None:
    view = View(
        document=parse_answer(near("Is there a company car?", language)),
        reference="89abcdef",
        buttons=(Button.FEEDBACK, Button.QUOTES),
        language=language,
    )
    (slack,) = render_slack(view)
    (discord,) = render_discord(view)
    (telegram,) = render_telegram(view)
    for text in (slack.blocks[0]["text"], discord.content, telegram.html):
        first, _, rest = text.partition("\n\n")
        assert "Carry over" in rest
        assert "[1]" not in first.replace("\\", "")
        assert "[1]" in rest.replace("\\", "")
