"""Where there is no answer there is a reason: plain words, what to do, and the reference under which the log has more."""

import re
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, replace

import pytest

from bots.requests import Ask, Event
from bots.turn.claims.claim import Outcome
from bots.turn.options import Rate, TurnOptions
from ragcore.errors import (
    CitebotError,
    ContextTooSmall,
    ModelError,
    ModelRateLimited,
    ModelRefused,
    ModelUnreachable,
)
from ragcore.phrases import phrase
from ragcore.types import Answer, Delta, Support
from tests.bots.turn.flows import OPTIONS, Model, flowing, outcome
from tests.fakes.platform import asked
from tests.fakes.virtual import run

SECRET = "https://10.0.0.1/v1?key=sk-123"
QUESTIONS = {"en": "How many days of leave?", "zh": "年假可以结转多少天？", "de": "Wie viele Tage Urlaub?"}


@dataclass(frozen=True, kw_only=True)
class Case:
    """What there is no answer for, and what is said of it: the words, and what to do, by language."""

    outcome: Outcome
    words: Mapping[str, str]
    advice: Mapping[str, str]
    error: CitebotError | None = None
    options: TurnOptions = OPTIONS
    before: int = 0
    """So many questions are asked before."""
    times: int = 1
    """How long the question is."""


OTHERWISE = {"en": "ask in other words", "zh": "换个说法再问", "de": "mit anderen Worten"}
ADMIN = {"en": "Please tell an administrator", "zh": "告知管理员", "de": "sag der Administration Bescheid"}
LATER = {"en": "try again", "zh": "再试", "de": "noch einmal"}


def limited(words: Mapping[str, str], **rate: Rate) -> Case:
    """Return that a second question within a minute is one too many."""
    return Case(
        outcome=Outcome.LIMITED,
        options=replace(OPTIONS, **rate),
        before=1,
        words=words,
        advice={"en": "Please wait ", "zh": "请等待 ", "de": "Bitte warte "},
    )


ONE = Rate(questions=1, seconds=60)
CASES = {
    "no documents": Case(
        outcome=Outcome.NO_DOCUMENTS,
        options=replace(OPTIONS, readers_of={}),
        words={
            "en": "I have not read any documents yet",
            "zh": "还没有读取任何文档",
            "de": "noch keine Dokumente gelesen",
        },
        advice=ADMIN,
    ),
    "nothing relevant": Case(
        outcome=Outcome.ABSTAINED,
        words={
            "en": "I found nothing about this",
            "zh": "没有找到相关内容",
            "de": "in den Dokumenten nichts gefunden",
        },
        advice=OTHERWISE,
    ),
    "not allowed here": Case(
        outcome=Outcome.NOT_ALLOWED,
        options=replace(OPTIONS, readers_of={"board": ("discord:@7",)}),
        words={
            "en": "no documents here that you may read",
            "zh": "没有您可以阅读的文档",
            "de": "keine Dokumente, die du lesen",
        },
        advice={"en": "Please ask an administrator", "zh": "请联系管理员", "de": "wende dich an die Administration"},
    ),
    "model unreachable": Case(
        outcome=Outcome.FAILED,
        error=ModelUnreachable(f"no route to {SECRET}"),
        words={"en": "cannot be reached", "zh": "无法连接语言模型", "de": "nicht erreichbar"},
        advice=LATER,
    ),
    "model without a use": Case(
        outcome=Outcome.FAILED,
        error=ModelError(f"500 from {SECRET}"),
        words={"en": "gave no usable answer", "zh": "未能给出可用的回答", "de": "keine brauchbare Antwort"},
        advice=OTHERWISE,
    ),
    "model declined": Case(
        outcome=Outcome.FAILED,
        error=ModelRefused(f"refused by {SECRET}"),
        words={"en": "declined to answer", "zh": "拒绝回答", "de": "abgelehnt"},
        advice=OTHERWISE,
    ),
    "over quota, asker": limited(
        {"en": "You have asked a lot just now", "zh": "您刚才提问较多", "de": "Du hast gerade viel gefragt"},
        user_rate=ONE,
    ),
    "over quota, channel": limited(
        {"en": "in this channel", "zh": "此频道刚才提问较多", "de": "In diesem Kanal wurde gerade viel gefragt"},
        channel_rate=ONE,
    ),
    "over quota, model": Case(
        outcome=Outcome.FAILED,
        error=ModelRateLimited(f"429 from {SECRET}", retry_after=90.0),
        words={"en": "The language model is busy", "zh": "语言模型繁忙", "de": "ausgelastet"},
        advice=LATER,
    ),
    "too long, message": Case(
        outcome=Outcome.FAILED,
        times=3_000,
        words={"en": "too long for a question", "zh": "问题太长了", "de": "zu lang für eine Frage"},
        advice={"en": "in fewer words", "zh": "用更少的文字", "de": "mit weniger Worten"},
    ),
    "too long, prompt": Case(
        outcome=Outcome.FAILED,
        error=ContextTooSmall(f"8192 tokens of {SECRET}"),
        words={"en": "too long for a question", "zh": "问题太长了", "de": "zu lang für eine Frage"},
        advice={"en": "in fewer words", "zh": "用更少的文字", "de": "mit weniger Worten"},
    ),
}


@pytest.mark.parametrize("language", QUESTIONS)
@pytest.mark.parametrize("name", CASES)
def test_a_reason_has_plain_words_what_to_do_and_the_reference_of_the_log(
    name: str, language: str, caplog: pytest.LogCaptureFixture
) -> None:
    case = CASES[name]

    async def script(request: Ask) -> AsyncIterator[Event]:
        if case.error is not None:
            raise case.error
        nothing = phrase("empty_response", language)
        yield Delta(text=nothing)
        yield Answer(question=request.question, raw_text=nothing, support=Support.ABSTAINED)

    async def talk() -> None:
        caplog.set_level("INFO")
        async with flowing(options=case.options, model=Model(script)) as flow:
            question = asked(QUESTIONS[language] * case.times)
            question = replace(question, asker=replace(question.asker, language=language))
            for number in range(case.before):
                await flow.turns.receive(replace(question, keys=(f"b{number}",), message=f"b{number}"))
                await flow.idle()
            await flow.turns.receive(question)
            await flow.idle()
            (told,) = flow.texts("q1")
            assert case.words[language] in told
            assert case.advice[language] in told
            (claim,) = await flow.claims.by_message(question.conversation, "q1")
            assert re.findall(r"\b[0-9a-f]{8}\b", told) == [claim.reference]
            assert f"turn {claim.reference}: {case.outcome}" in caplog.text
            assert SECRET not in told
            assert case.error is None or type(case.error).__name__ not in told
            assert len(told) < 250
            assert await outcome(flow, "q1") is case.outcome

    run(talk())


def test_what_is_withheld_is_told_with_what_to_do() -> None:
    async def script(request: Ask) -> AsyncIterator[Event]:
        yield Answer(question=request.question, raw_text=phrase("withheld"), support=Support.UNSUPPORTED)

    async def talk() -> None:
        async with flowing(model=Model(script)) as flow:
            await flow.turns.receive(asked("How many days?"))
            await flow.idle()
            (told,) = flow.texts("q1")
            (claim,) = await flow.claims.by_message(asked("").conversation, "q1")
            assert phrase("withheld") in told
            assert OTHERWISE["en"] in told
            assert claim.reference in told

    run(talk())
