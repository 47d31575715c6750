"""A summary asked for in a chat: by the command or in words, of the thread or the channel, with what it covers."""

import asyncio
import re
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select

from bots.platform import Reach
from bots.requests import Ask, Event, Request, Summarise
from bots.settings import Settings
from bots.settings.model.platforms import TurnSettings
from bots.talk import Span, Talk
from bots.turn.claims.claim import Outcome
from bots.turn.options import TurnOptions, turn_options
from bots.words.gist import GIST_WORDS, LANGUAGES, gist_word
from ragcore.errors import MessageGone, PlatformError, PlatformRateLimited, PlatformUnreachable
from ragcore.gist.summarising import Summariser
from ragcore.gist.values import Said
from ragcore.phrases import phrase
from ragcore.stores.schema import metadata
from ragcore.tokens import offline_tokenizer
from ragcore.types import ConversationKey
from tests.bots.turn.flows import BEGINNING, OPTIONS, Flow, Model, flowing
from tests.fakes.chatting import SayingModel
from tests.fakes.platform import asked
from tests.fakes.virtual import run

NOW = BEGINNING
THREAD = ConversationKey(platform="discord", workspace="G1", channel="C1", thread="q0")


def said(number: int, text: str, author: str = "Ben", *, ago: float = 60.0) -> Said:
    moment = NOW - timedelta(minutes=ago) + timedelta(seconds=number)
    return Said(id=f"m{number}", author=author, text=text, sent_at=moment, url=f"https://chat.example/C1/m{number}")


TALK = (
    said(1, "The release of 4.2 is blocked by the login bug AUTH-117."),
    said(2, "I will fix AUTH-117 by Tuesday.", "Chen"),
    said(3, "summarise this channel please", "Dora"),
    said(4, " "),
    said(5, "Decided: we ship 4.2 on Wednesday, @everyone.", "Anna"),
)
WHOLE = Talk(messages=TALK)


class Backend(Model):
    """Summarises as the real one does; without a model where none is given."""

    def __init__(self, chat: SayingModel | None = None) -> None:
        super().__init__()
        self.summariser = Summariser(model=chat, tokenizer=offline_tokenizer())

    async def run(self, request: Request) -> AsyncIterator[Event]:
        if not isinstance(request, Summarise):
            async for event in super().run(request):
                yield event
            return
        self.asked.append(request)
        async for told in self.summariser.summarise(request.messages, request.language):
            yield told

    @property
    def given(self) -> list[str]:
        return [one.id for request in self.asked if isinstance(request, Summarise) for one in request.messages]


def shown(
    text: str,
    talk: Talk | PlatformError = WHOLE,
    *,
    options: TurnOptions = OPTIONS,
    backend: Backend | None = None,
    **more: Any,
) -> tuple[str, list[Span], Backend, Outcome | None]:
    """Return what stands in answer to a message, and what was asked for it."""
    backend = backend or Backend()

    async def talked() -> tuple[str, list[Span], Outcome | None]:
        async with flowing(model=backend, options=options, now=lambda: NOW) as flow:
            flow.platform.talk = talk
            await flow.turns.receive(asked(text, sent_at=NOW, **more))
            await flow.idle()
            await kept_nothing(flow)
            taken = await flow.claims.by_message(asked("").conversation, "q1") or await flow.claims.by_message(
                THREAD, "q1"
            )
            return "\n".join(flow.texts("q1")), flow.platform.spans, taken[0].outcome if taken else None

    told, spans, ended = run(talked())
    return told, spans, backend, ended


async def kept_nothing(flow: Flow) -> None:
    """Check that no table holds a word of what was said."""
    async with flow.database.connect() as connection:
        for table in metadata.sorted_tables:
            assert "AUTH-117" not in str((await connection.execute(select(table))).all()), table.name


COMMANDED: dict[str, Any] = {"command": "summarise", "reach": Reach.COMMAND}


@pytest.mark.parametrize(("text", "more"), [("", COMMANDED), ("summarise this channel", {})], ids=["command", "words"])
def test_a_channel_is_summarised_for_a_day_if_nobody_says_since_when(text: str, more: dict[str, Any]) -> None:
    told, spans, backend, ended = shown(text, **more)
    assert spans == [Span(thread=False, since=NOW - timedelta(hours=24))]
    assert backend.given == ["m1", "m2", "m5"], "neither what says nothing, nor what asked for a summary"
    assert told.startswith("This channel, 2026-01-02 02:04 to 2026-01-02 02:04 (UTC). Messages: 3, people: 3.")
    assert "(https://chat.example/C1/m5)" in told
    assert gist_word("cut", count=4_000) not in told
    assert "Ben: The release of 4.2 is blocked by the login bug AUTH-117" in told
    assert phrase("messages_quoted", "en") in told
    assert ended is Outcome.SERVED


@pytest.mark.parametrize(
    ("text", "head"),
    [
        ("summarise this thread", "This thread,"),
        pytest.param("fass diesen Thread zusammen", "Dieser Thread,", marks=pytest.mark.soak),
        pytest.param("总结本帖", "本话题，", marks=pytest.mark.soak),
    ],
)
def test_a_thread_is_summarised_whole_in_the_language_of_whoever_asks(text: str, head: str) -> None:
    told, spans, backend, _ = shown(text, conversation=THREAD)
    assert spans == [Span(thread=True)]
    assert told.startswith(head)
    assert [one.language for one in backend.asked if isinstance(one, Summarise)] == [
        {"T": "en", "D": "de", "本": "zh"}[head[0]]
    ]


def test_in_a_thread_its_channel_can_be_meant_and_a_time_be_named() -> None:
    told, spans, _, _ = shown("summarise this channel since 2026-01-01", conversation=THREAD)
    assert spans == [Span(thread=False, since=NOW.replace(day=1, hour=0, minute=0, second=0))]
    assert told.startswith("This channel")


@pytest.mark.soak
def test_so_many_messages_can_be_named_and_that_there_are_more_is_told() -> None:
    told, spans, backend, _ = shown("last 2 messages", Talk(messages=TALK, whole=False), **COMMANDED)
    assert spans == [Span(thread=False, most=2)]
    assert backend.given == ["m2", "m5"]
    assert gist_word("newest", count=2) in told


def test_a_model_writes_it_and_its_steps_are_shown_however_long_they_take() -> None:
    class Slow(SayingModel):
        async def complete(self, *asked: Any, **more: Any) -> Any:
            await asyncio.sleep(100.0)
            return await super().complete(*asked, **more)

    slow = Slow(lambda rules, material: "- Anna: 4.2 ships on Wednesday, as decided [ID:2].")
    backend = Backend(slow)

    async def talk() -> None:
        async with flowing(model=backend, now=lambda: NOW) as flow:
            flow.platform.talk = Talk(messages=TALK)
            flow.platform.status_lasts, flow.platform.status_has_words = 120.0, True
            await flow.turns.receive(asked("summarise this channel", sent_at=NOW))
            await flow.idle()
            assert gist_word("reading") in [words for _, words in flow.server.statuses]
            assert "4.2 ships on Wednesday" in flow.texts("q1")[-1]
            assert "AUTH" not in flow.texts("q1")[-1].partition("Sources")[0]
            assert flow.turns.meter.tokens["prompt"] == 100, "what it took is counted, though the answer is not kept"

    run(talk())


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (MessageGone("not_in_channel"), gist_word("unreadable")),
        (PlatformRateLimited("slow", retry_after=29.2), gist_word("wait", seconds=30)),
        pytest.param(PlatformUnreachable("away"), gist_word("late"), marks=pytest.mark.soak),
    ],
    ids=["unreadable", "limited", "away"],
)
def test_what_cannot_be_read_is_told(error: PlatformError, told: str) -> None:
    text, _, backend, ended = shown("summarise this channel", error)
    assert text == told
    assert not backend.given
    assert ended is Outcome.SERVED


def test_nothing_said_is_told_with_its_dates() -> None:
    text, _, backend, _ = shown("summarise yesterday", Talk(messages=TALK[2:4]), **COMMANDED)
    assert text == gist_word("nothing", first="2026-01-01 00:00", last="2026-01-02 00:00", zone="UTC")
    assert not backend.asked
    text, _, _, _ = shown("summarise this thread", Talk(messages=()), conversation=THREAD)
    assert text == gist_word("nothing", first="the beginning", last="2026-01-02 03:04", zone="UTC")


def test_what_is_not_understood_is_told_with_what_would_be() -> None:
    for words, more in (("since the dawn of time", COMMANDED), ("summarise this channel since yesterdaay", {})):
        text, spans, backend, _ = shown(words, **more)
        assert text == gist_word("not_understood", words=words.removeprefix("summarise this channel "))
        assert not spans
        assert not backend.asked


def test_what_is_still_to_come_is_told() -> None:
    text, spans, _, _ = shown("since 2026-02-01", **COMMANDED)
    assert text == gist_word("future", first="2026-02-01 00:00", zone="UTC")
    assert not spans


def test_it_can_be_switched_off() -> None:
    off = turn_options(Settings(turns=TurnSettings(summaries=False)))
    assert turn_options(Settings()).summaries
    text, spans, backend, _ = shown("summarise this channel", options=replace(OPTIONS, summaries=off.summaries))
    assert text == gist_word("off")
    assert not spans
    assert not backend.asked
    told, _, _, _ = shown("help", options=replace(OPTIONS, summaries=False))
    assert "summarise" not in told
    assert "summarise this channel since Monday" in shown("help")[0]


def test_a_long_message_and_threads_that_were_left_out_are_told() -> None:
    talk = Talk(messages=(*TALK, said(6, "AUTH-118 is open. " * 2_000)), threads_left=True)
    told, _, backend, _ = shown("summarise this channel", talk)
    assert gist_word("cut", count=4_000) in told
    assert gist_word("threads") in told
    (request,) = (one for one in backend.asked if isinstance(one, Summarise))
    assert len(request.messages[-1].text) == 4_001


def test_a_question_to_the_documents_stays_one() -> None:
    _, spans, backend, _ = shown("summarise the leave policy")
    assert not spans
    assert [one.question for one in backend.asked if isinstance(one, Ask)] == ["summarise the leave policy"]


def test_in_a_channel_where_it_is_not_addressed_words_are_only_words() -> None:
    _, spans, backend, _ = shown("summarise this channel", reach=Reach.CHANNEL)
    assert not spans
    assert not backend.asked


@pytest.mark.soak
def test_it_needs_no_documents_that_may_be_read() -> None:
    told, spans, _, _ = shown("summarise this channel", options=replace(OPTIONS, readers_of={}))
    assert spans
    assert "AUTH-117" in told


def test_where_nothing_can_be_read_back_what_was_heard_is_summarised() -> None:
    backend = Backend()

    async def talk() -> None:
        async with flowing(model=backend, now=lambda: NOW) as flow:
            there = ConversationKey(platform="discord", workspace="G1", channel="C1", thread="reply m1")
            elsewhere = replace(there, channel="C2")
            old = NOW - timedelta(days=3)
            for number, (text, where, at) in enumerate(
                [
                    ("Too old to tell: AUTH-90.", there, old),
                    ("The release is blocked by AUTH-117.", there, NOW - timedelta(hours=2)),
                    ("Secret of another channel: AUTH-666.", elsewhere, NOW - timedelta(hours=2)),
                ]
            ):
                said = asked(text, message=f"m{number}", conversation=where, sent_at=at)
                await flow.claims.heard.keep(said)
                if number == 1:
                    edited = replace(said, text="The release is blocked by AUTH-118.", edited_at=NOW)
                    await flow.claims.heard.keep(edited)
            flow.platform.talk = Talk(messages=(), heard=True, hidden=True)
            await flow.turns.receive(asked("summarise this channel", sent_at=NOW))
            await flow.idle()
            told = "\n".join(flow.texts("q1"))
            assert backend.given == ["m1"]
            assert "AUTH-118" in told, "as it says after its edit"
            assert "(https://chat.example/C1/m1)" in told
            assert gist_word("heard") in told
            assert gist_word("hidden") in told
            assert gist_word("joined") not in told

    run(talk())


@pytest.mark.parametrize("open_past", [pytest.param(True, marks=pytest.mark.soak), False], ids=["open", "closed"])
def test_what_was_heard_before_somebody_joined_is_for_groups_whose_past_is_open(open_past: bool) -> None:
    backend = Backend()

    async def talk() -> None:
        async with flowing(model=backend, now=lambda: NOW) as flow:
            there = ConversationKey(platform="discord", workspace="G1", channel="C1", thread="reply m1")
            heard, at = flow.claims.heard, NOW - timedelta(hours=2)
            await heard.keep(asked("Old: AUTH-1 is open.", message="m1", conversation=there, sent_at=at))
            await heard.joined(replace(there, thread="reply m2"), "m2", at)
            await heard.joined(replace(there, channel="C2"), "m9", NOW)
            await heard.keep(asked("New: AUTH-2 is open.", message="m3", conversation=there, sent_at=at))
            assert await heard.thread_of(there, "m2") is None
            flow.platform.talk = Talk(messages=(), heard=True, open_past=open_past)
            await flow.turns.receive(asked("summarise this channel", sent_at=NOW))
            await flow.idle()
            assert backend.given == (["m1", "m3"] if open_past else ["m3"])
            assert (gist_word("joined") in "\n".join(flow.texts("q1"))) is not open_past

    run(talk())


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_sentence_is_there_in_each_language_with_the_same_names(language: str) -> None:
    for key in GIST_WORDS:
        names = set(re.findall(r"{(\w+)}", gist_word(key, "en")))
        assert set(re.findall(r"{(\w+)}", gist_word(key, language))) == names
    assert len({gist_word(key, language) for key in GIST_WORDS}) == len(GIST_WORDS)
