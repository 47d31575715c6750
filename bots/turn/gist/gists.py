"""What a turn has to say where a summary is asked for: read what was said, have it summarised, tell what it covers.

The reply is seen where it was asked for, or by the asker alone, and only that place is read: nobody learns from it what
they may not read. Messages go to the model as those of a thread do before a question, and nothing of them is kept.
"""

import asyncio
import logging
import math
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Generic

from bots.platform import Button, Incoming, Platform, R
from bots.rendering.clean import clean_line
from bots.rendering.parse import parse_answer
from bots.rendering.tree import Document, Paragraph, Text
from bots.requests import Summarise
from bots.service import Backend
from bots.talk import Span, Talk
from bots.turn.beside import beside
from bots.turn.claims import Claims
from bots.turn.claims.claim import Outcome
from bots.turn.commands import sentence
from bots.turn.gist.asked import Unclear, Wanted, wanted_of
from bots.turn.options import TurnOptions
from bots.turn.written import Written
from bots.words.gist import GistWord, gist_word
from ragcore.errors import MessageGone, PlatformAuthError, PlatformError, PlatformRateLimited, PlatformRefused
from ragcore.gist.values import Limits, Said
from ragcore.types import Answer, Status, Support

log = logging.getLogger(__name__)

LIMITS = Limits()
READ_SECONDS = 90.0
"""How long reading the messages may take, with the times that a platform asks to wait."""
ORDINARY = timedelta(hours=24)
"""How far back a channel is summarised if nobody says since when; a thread is summarised whole."""
READING = "messages"
"""The stage in which messages are read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Covered:
    """What a summary is of: whose messages, from when to when, in the asker's time zone."""

    thread: bool
    first: str
    last: str
    zone: str

    def told(self, language: str, count: int, people: int) -> str:
        """Return it in words, with absolute dates."""
        key: GistWord = "thread" if self.thread else "channel"
        values = {"first": self.first, "last": self.last, "zone": self.zone}
        return gist_word(key, language, count=count, people=people, **values)


class Gists(Generic[R]):
    """Summaries of what was said on one platform."""

    def __init__(self, platform: Platform[R], backend: Backend, claims: Claims, options: TurnOptions) -> None:
        """Ask ``platform`` for what was said, or ``claims`` for what was heard of it, and ``backend`` for the rest."""
        self._options = options
        self._platform = platform
        self._backend = backend
        self._claims = claims

    async def written(self, incoming: Incoming, words: str, language: str) -> AsyncGenerator[Status | Written]:
        """Yield how far it is, and what is to be sent; a reason rather than a platform's error."""
        if not self._options.summaries:
            yield _plain(gist_word("off", language))
            return
        now = incoming.sent_at.astimezone(await self._platform.zone(incoming))
        wanted = wanted_of(words, now, commanded=True)
        if not isinstance(wanted, Wanted):
            unclear = wanted.words if isinstance(wanted, Unclear) else words
            yield _plain(gist_word("not_understood", language, words=unclear))
            return
        if wanted.since is not None and wanted.since > now:
            yield _plain(gist_word("future", language, first=_at(wanted.since), zone=_zone(now)))
            return
        yield Status(stage=READING)
        span = self._span(incoming, wanted, now)
        try:
            async with asyncio.timeout(READ_SECONDS):
                talk = await self._talk(incoming, span)
        except (PlatformError, TimeoutError) as error:
            log.warning("what was said could not be read: %s: %s", type(error).__name__, error)
            yield _plain(_reason(error, language))
            return
        talk = _kept(talk, span, now)
        if not talk.messages:
            first = _at(span.since.astimezone(now.tzinfo)) if span.since else gist_word("always", language)
            last = _at((span.until or now).astimezone(now.tzinfo))
            told = gist_word("nothing", language, first=first, last=last, zone=_zone(now))
            yield _plain(told, *_notes(talk, language))
            return
        read, answer = len(talk.messages), None
        async for event in self._backend.run(Summarise(messages=talk.messages, language=language)):
            if isinstance(event, Answer):
                answer = event
            elif isinstance(event, Status) and event.stage == "read":
                read = int(event.detail)
            elif isinstance(event, Status):
                yield event
        if answer is not None:
            yield await self._told(span, talk, talk.messages[-read:], answer, language)

    async def _told(self, span: Span, talk: Talk, read: Sequence[Said], answer: Answer, language: str) -> Written:
        first, last = read[0].sent_at, read[-1].sent_at
        covered = Covered(thread=span.thread, first=_at(first), last=_at(last), zone=_zone(last))
        notes = _notes(talk, language)
        if any(len(one.text) > LIMITS.longest for one in read):
            notes = (gist_word("cut", language, count=LIMITS.longest), *notes)
        if not talk.whole or len(read) < len(talk.messages):
            notes = (gist_word("newest", language, count=len(read)), *notes)
        if answer.support is Support.ABSTAINED:
            values = {"first": covered.first, "last": covered.last, "zone": covered.zone}
            told = _plain(gist_word("nothing_telling", language, count=len(read), **values), *notes)
            return replace(told, usage=answer.usage)
        head = covered.told(language, len(read), len({one.author for one in read}))
        document = await beside(answer.raw_text, lambda: parse_answer(answer))
        document = replace(
            document,
            blocks=(Paragraph(children=(Text(text=clean_line(head)),)), *document.blocks),
            notes=tuple(map(clean_line, (*answer.notes, *notes))),
        )
        # Without the answer: the turn keeps none of it, neither to go on from nor for those who judge answers.
        return Written(document=document, outcome=Outcome.SERVED, buttons=(Button.DELETE,), usage=answer.usage)

    def _span(self, incoming: Incoming, wanted: Wanted, now: datetime) -> Span:
        thread = wanted.place != "channel" and self._platform.in_thread(incoming)
        since = wanted.since
        if since is None and not thread and not wanted.bounded:
            since = now - ORDINARY
        return Span(thread=thread, since=since, until=wanted.until, most=wanted.most)

    async def _talk(self, incoming: Incoming, span: Span) -> Talk:
        talk = await self._platform.said(incoming, span)
        if not talk.heard:
            return talk
        heard, joined = await self._claims.heard.said(incoming, span, open_past=talk.open_past)
        messages = tuple(replace(one, url=self._platform.permalink(incoming, one.id)) for one in heard)
        return replace(talk, messages=messages, whole=len(messages) <= span.most, joined=joined)


def _kept(talk: Talk, span: Span, now: datetime) -> Talk:
    """Return the newest messages in the span that say something and don't ask for a summary, in the asker's zone."""
    said = tuple(
        # One character more than is read tells that there were more.
        replace(one, text=one.text[: LIMITS.longest + 1], sent_at=one.sent_at.astimezone(now.tzinfo))
        for one in talk.messages
        if one.text.strip() and wanted_of(one.text, now) is None
    )
    return replace(talk, messages=said[-span.most :], whole=talk.whole and len(said) <= span.most)


def _notes(talk: Talk, language: str) -> tuple[str, ...]:
    told: tuple[tuple[GistWord, bool], ...] = (
        ("threads", talk.threads_left),
        ("heard", talk.heard),
        ("joined", talk.joined),
        ("hidden", talk.hidden),
    )
    return tuple(gist_word(key, language) for key, is_so in told if is_so)


def _reason(error: PlatformError | TimeoutError, language: str) -> str:
    if isinstance(error, PlatformRateLimited):
        return gist_word("wait", language, seconds=max(1, math.ceil(error.retry_after)))
    if isinstance(error, PlatformRefused | MessageGone | PlatformAuthError):
        return gist_word("unreadable", language)
    return gist_word("late", language)


def _plain(*sentences: str) -> Written:
    told, *notes = sentences
    document: Document = replace(sentence(told), notes=tuple(map(clean_line, notes)))
    return Written(document=document, outcome=Outcome.SERVED)


def _at(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M}"


def _zone(moment: datetime) -> str:
    """Return the difference to world time, as in ``UTC+01:00``."""
    offset = f"{moment:%z}"
    return f"UTC{offset[:3]}:{offset[3:5]}" if offset.strip("+-0") else "UTC"
