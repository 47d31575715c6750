"""A chat platform in memory: with manners, limits that it enforces, faults on demand, and a journal that outlives us.

``Server`` is the platform itself, ``FakePlatform`` the adapter to it, which like every adapter only translates.
"""

import asyncio
import json
import os
import pathlib
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime, tzinfo
from typing import Any

from bots.manner import Manner, Streaming
from bots.platform import Asker, Attachment, Button, Call, Inbox, Incoming, Limit, Reach, Sent, View
from bots.rendering.markdown import document_markdown
from bots.rendering.steps import growing, step_line
from bots.talk import Span, Talk
from ragcore.errors import (
    MessageGone,
    PlatformError,
    PlatformRateLimited,
    PlatformRefused,
    PlatformUnreachable,
    StreamEnded,
)
from ragcore.types import ConversationKey, Message

SHORT = 4.0
"""Seconds that a status stays."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One message as this platform takes it."""

    text: str
    buttons: tuple[str, ...] = ()


@dataclass(slots=True, kw_only=True)
class Stands:
    """One message on the platform; ``number`` is the part of a final one, -1 while it grows."""

    id: str
    channel: str
    reply_to: str
    text: str
    key: str = ""
    number: int = -1
    stream: bool = False
    draft: bool = False
    gone: bool = False


Fault = Callable[[str, int], str]
"""Given a call's name and how many calls there were, what goes wrong with it ("" for nothing): ``unreachable`` (it does
not arrive), ``dropped`` (it arrives, its receipt does not), ``limited``, ``refused``, ``ended``, ``gone``, ``hangs``."""


def no_fault(_: str, __: int) -> str:
    """Return that all goes well."""
    return ""


@dataclass(slots=True, kw_only=True)
class Server:
    """The platform itself. ``journal``: a file in which all that stands is kept for the next process."""

    limits: Mapping[str, tuple[int, float]] = field(default_factory=dict)
    fault: Fault = no_fault
    latency: float = 0.0
    journal: pathlib.Path | None = None
    messages: dict[str, Stands] = field(default_factory=dict)
    calls: list[tuple[float, str, str]] = field(default_factory=list)
    statuses: list[tuple[str, str]] = field(default_factory=list)
    told: list[tuple[str, str]] = field(default_factory=list)
    refused: int = 0
    """Calls refused because of a limit, faults on demand aside."""
    tried: int = 0
    """Calls made, whatever became of them."""
    _windows: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    def __post_init__(self) -> None:
        if self.journal is not None and self.journal.exists():
            for line in self.journal.read_text("utf-8").splitlines():
                one = Stands(**json.loads(line))
                self.messages[one.id] = one

    async def took(self, name: str, buckets: tuple[str, ...]) -> str:
        """Take a call: enforce the limits, and return what is to go wrong behind the platform's door."""
        if self.latency:
            await asyncio.sleep(self.latency)
        now = asyncio.get_running_loop().time()
        fault = self.fault(name, self.tried)
        self.tried += 1
        if fault == "unreachable":
            raise PlatformUnreachable("no connection")
        if fault == "hangs":
            await asyncio.sleep(3_600)
        for bucket in buckets:
            calls, seconds = self.limits.get(bucket.split(":")[0], (10**9, 1.0))
            window = [moment for moment in self._windows[bucket] if moment > now - seconds]
            if len(window) >= calls:
                self.refused += 1
                raise PlatformRateLimited("too many calls", retry_after=window[0] + seconds - now)
            self._windows[bucket] = [*window, now]
        self.calls.append((now, name, buckets[0] if buckets else ""))
        if fault == "limited":
            raise PlatformRateLimited("too many calls", retry_after=3.0)
        if fault == "refused":
            raise PlatformRefused("not this")
        return fault

    def put(self, one: Stands) -> None:
        """Let a message stand, or change."""
        self.messages[one.id] = one
        if self.journal is not None:
            descriptor = os.open(self.journal, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
            os.write(descriptor, (json.dumps(asdict(one)) + "\n").encode())
            os.close(descriptor)

    def standing(self, reply_to: str) -> list[Stands]:
        """Return the messages that answer this one, drafts aside, as they were first sent."""
        return [m for m in self.messages.values() if m.reply_to == reply_to and not m.gone and not m.draft]


class FakePlatform:
    """The adapter; ``name`` is that of a real platform, so that settings can name its places."""

    def __init__(
        self,
        server: Server,
        *,
        streaming: Streaming = "edit",
        every: float = 1.0,
        finds_sent: bool = True,
        longest: int = 2_000,
        members: Mapping[str, frozenset[str]] | None = None,
        name: str = "discord",
        mark: Callable[[str], None] = lambda _: None,
    ) -> None:
        """``mark`` is told of each moment at which a process could be killed."""
        self.server = server
        self.streaming: Streaming = streaming
        self.every = every
        self.finds_sent = finds_sent
        self.longest = longest
        self.members = members or {}
        self.threads: dict[ConversationKey, tuple[Message, ...]] = {}
        self.files: dict[str, bytes] = {}
        self.read_back: tuple[Incoming, ...] = ()
        self.notice = ""
        self.limited = 0
        self.suggests = False
        self.status_lasts = SHORT
        self.status_has_words = False
        self.paged = False
        self.talk: Talk | PlatformError = Talk(messages=(), heard=True)
        """What is read back for a summary, or why it can't be."""
        self.spans: list[Span] = []
        self.suggested: list[tuple[str, ...]] = []
        """The prompts of each whole reply."""
        self.offered: list[tuple[Button, ...]] = []
        """Its buttons."""
        self._name = name
        self._mark = mark

    @property
    def name(self) -> str:
        return self._name

    async def serve(self, inbox: Inbox) -> None:
        await inbox.connected()
        await asyncio.Event().wait()

    def manner(self, incoming: Incoming) -> Manner:
        streaming: Streaming = "none" if incoming.reach is Reach.COMMAND else self.streaming
        return Manner(
            streaming=streaming,
            every=self.every,
            finds_sent=self.finds_sent,
            status_lasts=self.status_lasts,
            status_has_words=self.status_has_words,
            suggests=self.suggests and incoming.reach is Reach.DIRECT,
            paged=self.paged,
            shares=incoming.private and incoming.reach is Reach.COMMAND,
            notice="mention_needed" if self.notice else "",
        )

    def _buckets(self, incoming: Incoming, call: Call) -> tuple[str, ...]:
        kind = {"status": "status", "begin": "begin", "change": "change", "end": "end", "send": "send"}[call.value]
        return (f"{kind}:{incoming.conversation.channel}", "whole")

    def limits(self, incoming: Incoming, call: Call, begun: Sent | None = None) -> tuple[Limit, ...]:
        return tuple(
            Limit(bucket=bucket, calls=limit[0], seconds=limit[1], kept=limit[0] // 4)
            for bucket in self._buckets(incoming, call)
            if (limit := self.server.limits.get(bucket.split(":")[0])) is not None
        )

    def render(self, view: View) -> tuple[Part, ...]:
        self.suggested.append(view.prompts)
        self.offered.append(view.buttons)
        steps = view.document.steps
        text = document_markdown(view.document) + "".join(
            f"\n({step_line(one)})" for one in (steps.lines if steps else ())
        )
        buttons = tuple(button.value for button in view.buttons)
        pieces = [text[at : at + self.longest] for at in range(0, len(text), self.longest)] or [""]
        return (*(Part(text=piece) for piece in pieces[:-1]), Part(text=pieces[-1], buttons=buttons))

    def render_partial(self, view: View) -> Part:
        shown = view.document if self.streaming == "stream" else growing(view.document, self.longest)
        return Part(text=document_markdown(shown)[: self.longest], buttons=("stop",))

    async def status(self, incoming: Incoming, words: str) -> None:
        await self.server.took("status", self._buckets(incoming, Call.STATUS))
        self.server.statuses.append((incoming.message, words))

    async def show(self, incoming: Incoming, part: Part, *, begun: Sent | None, key: str) -> Sent:
        call = Call.BEGIN if begun is None else Call.CHANGE
        self._mark(f"before {call.value}")
        fault = await self.server.took(call.value, self._buckets(incoming, call))
        if begun is None:
            stands = self._new(incoming, part, key)
            stands.stream, stands.draft = self.streaming == "stream", self.streaming == "draft"
        else:
            stands = self._known(begun)
            if stands.stream and (fault == "ended" or not part.text.startswith(stands.text)) and not begun.ended:
                stands.stream = False
                self.server.put(stands)
                raise StreamEnded("the stream is over")
            if fault == "gone":
                self.server.put(replace(stands, gone=True))
                raise MessageGone("it is gone")
            stands = replace(stands, text=part.text)
        return await self._put(stands, fault, call.value)

    async def send(self, incoming: Incoming, part: Part, *, begun: Sent | None, key: str, number: int) -> Sent:
        if begun is not None and begun.draft:
            self.server.put(replace(self._known(begun), gone=True))
            begun = None
        call = Call.SEND if begun is None else Call.END
        self._mark(f"before {call.value}")
        fault = await self.server.took(call.value, self._buckets(incoming, call))
        assert len(part.text) <= self.longest
        if begun is None:
            stands = replace(self._new(incoming, part, key), number=number)
        else:
            stands = self._known(begun)
            if stands.stream and fault == "ended" and not begun.ended:
                self.server.put(replace(stands, stream=False))
                raise StreamEnded("the stream is over")
            if fault == "gone":
                self.server.put(replace(stands, gone=True))
                raise MessageGone("it is gone")
            stands = replace(stands, text=part.text, number=number, stream=False)
        return await self._put(stands, fault, call.value)

    def _new(self, incoming: Incoming, part: Part, key: str) -> Stands:
        number = len(self.server.messages) + 1
        return Stands(
            id=f"m{number}",
            channel=incoming.conversation.channel,
            reply_to=incoming.message,
            text=part.text,
            key=key,
        )

    def _known(self, sent: Sent) -> Stands:
        stands = self.server.messages[sent.id]
        if stands.gone:
            raise MessageGone("it is gone")
        return stands

    async def _put(self, stands: Stands, fault: str, call: str) -> Sent:
        self.server.put(stands)
        if fault == "dropped":
            raise PlatformUnreachable("the connection broke")
        self._mark(f"after {call}")
        return Sent(channel=stands.channel, id=stands.id, draft=stands.draft)

    async def find(self, incoming: Incoming, key: str) -> Sent | None:
        for one in self.server.messages.values():
            if self.finds_sent and one.key == key and not one.gone and not one.draft:
                return Sent(channel=one.channel, id=one.id)
        return None

    async def withdraw(self, incoming: Incoming, sent: Sent) -> None:
        await self.server.took("withdraw", ())
        if sent.id in self.server.messages:
            self.server.put(replace(self.server.messages[sent.id], gone=True))

    async def thread(self, incoming: Incoming, *, limit: int) -> tuple[Message, ...]:
        return self.threads.get(incoming.conversation, ())[-limit:]

    def in_thread(self, incoming: Incoming) -> bool:
        return bool(incoming.conversation.thread) and not incoming.opens

    async def zone(self, incoming: Incoming) -> tzinfo:
        return UTC

    async def said(self, incoming: Incoming, span: Span) -> Talk:
        self.spans.append(span)
        if isinstance(self.talk, Talk):
            return self.talk
        raise self.talk

    def permalink(self, incoming: Incoming, message: str) -> str:
        return f"https://chat.example/{incoming.conversation.channel}/{message}"

    async def readers(self, incoming: Incoming) -> frozenset[str]:
        return self.members.get(incoming.asker.id, frozenset({"*"}))

    async def fetch(self, incoming: Incoming, attachment: Attachment, *, limit: int) -> bytes:
        content = self.files.get(attachment.id)
        if content is None or len(content) > limit:
            raise PlatformRefused("there is no such file, or it is too large")
        return content

    async def tell(self, person: str, words: str) -> None:
        self.server.told.append((person, words))

    async def direct(self, person: str) -> ConversationKey:
        return ConversationKey(platform=self._name, channel=f"direct {person.rpartition('@')[2]}")

    async def seen_in(self, conversation: ConversationKey) -> frozenset[str]:
        here = f"{self._name}:{conversation.workspace}/{conversation.channel}"
        return frozenset({"*", f"{self._name}:{conversation.workspace}", here})

    async def called(self, asker: Asker) -> str:
        return asker.name or asker.id

    async def missed(self, conversations: tuple[ConversationKey, ...], since: datetime) -> tuple[Incoming, ...]:
        return tuple(one for one in self.read_back if one.conversation in conversations and one.sent_at >= since)


def asked(
    text: str,
    *,
    message: str = "q1",
    channel: str = "C1",
    asker: str = "U1",
    sent_at: datetime | None = None,
    **more: Any,
) -> Incoming:
    """Return a question as this platform's events become one."""
    values: dict[str, Any] = {
        "keys": (message,),
        "conversation": ConversationKey(platform="discord", workspace="G1", channel=channel),
        "message": message,
        "asker": Asker(id=asker, name="Ann", language="en"),
        "text": text,
        "reach": Reach.MENTION,
        "sent_at": sent_at or datetime.now(UTC),
        "seen_by": frozenset({"*", "discord:G1", f"discord:G1/{channel}"}),
    }
    return Incoming(**(values | more))
