"""Reading back what stands on Slack: a thread, our own messages in it, and what was asked while nobody listened."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bots.platform import Incoming, Reach, Sent
from bots.slack.calling import METADATA, Calls
from bots.slack.people import People
from bots.slack.translating import incoming_of, is_ours, moment, plain_text
from ragcore.errors import PlatformError
from ragcore.types import ConversationKey, Message

log = logging.getLogger(__name__)

Json = dict[str, Any]
Ask = Callable[..., Awaitable[AsyncSlackResponse]]

_PAGE = 200
_PAGES = 10
"""How far a thread or a channel is read; 2,000 messages."""
THREADS_BACK = timedelta(hours=24)
"""How old the first message of a thread may be, before what was missed, so that the thread is found by it: no call
lists the threads of a channel, and ``conversations.history`` tells of new replies only beside their first message."""
MOST_THREADS = 50
"""So many threads without a turn of ours are read back in a channel, those with the newest replies."""
_ADDRESSED = (Reach.DIRECT, Reach.MENTION)


class Reader:
    """Reads channels and threads that the bot is in."""

    def __init__(self, calls: Calls, people: People) -> None:
        self._calls = calls
        self._people = people

    async def find(self, incoming: Incoming, key: str) -> Sent | None:
        """Return the message that bears the key, else the stream that this turn has begun.

        A stream bears no key until it ends. Turns of a thread follow one another, and all that we send otherwise
        bears a key: so a message of ours without one, after the question, is the stream of its turn.
        """
        begun: Sent | None = None
        here = incoming.conversation
        if not here.thread:
            return await self._find_in(here.channel, key, incoming.sent_at)
        async for message in self.replies(here.channel, here.thread, oldest=incoming.message):
            if not is_ours(message, self._people.bot) or message.get("ts") == here.thread:
                continue
            found = _key_of(message)
            if found is None:
                begun = Sent(channel=here.channel, id=str(message["ts"]), extra={"stream": "1"})
            elif found == key:
                return Sent(channel=here.channel, id=str(message["ts"]))
        return begun

    async def _find_in(self, channel: str, key: str, since: datetime) -> Sent | None:
        """Return the message of ours in a channel, threads aside and not older than ``since``, that bears the key."""
        async for message in self.history(channel, stamp(since), include_all_metadata=True):
            if is_ours(message, self._people.bot) and _key_of(message) == key:
                return Sent(channel=channel, id=str(message["ts"]))
        return None

    async def stands(self, channel: str, key: str, since: datetime) -> bool:
        """Return whether a message of ours in a channel, threads aside and not older than ``since``, bears the key."""
        return await self._find_in(channel, key, since) is not None

    async def thread(self, incoming: Incoming, limit: int) -> tuple[Message, ...]:
        """Return the last messages before this one, oldest first."""
        here = incoming.conversation
        if limit < 1 or incoming.message == here.thread:
            return ()
        said = [
            message
            async for message in self.replies(here.channel, here.thread, latest=incoming.message)
            if float(message["ts"]) < float(incoming.message) and str(message.get("text") or "").strip()
        ][-limit:]
        users = sorted({str(message["user"]) for message in said if message.get("user")})
        names = dict(zip(users, await asyncio.gather(*map(self._people.name, users)), strict=True))
        return tuple(self._message(message, names) for message in said)

    def _message(self, message: Json, names: Mapping[str, str]) -> Message:
        ours = is_ours(message, self._people.bot)
        author = names.get(str(message.get("user")), str(message.get("username") or ""))
        return Message(
            role="assistant" if ours else "user",
            text=plain_text(str(message["text"])),
            author="" if ours else author,
            sent_at=moment(str(message["ts"])),
        )

    async def missed(self, conversations: Sequence[ConversationKey], since: datetime) -> tuple[Incoming, ...]:
        """Return what was asked since then in these conversations' channels: all of it where a turn of ours was.

        Elsewhere in these channels, threads included, by mentions. Not found is a mention in a thread without a turn of
        ours whose first message is older than ``THREADS_BACK``, or where more than ``MOST_THREADS`` were written in.
        """
        found: dict[str, Incoming] = {}
        ours = [one for one in conversations if one.workspace == self._people.bot.team]
        for channel in dict.fromkeys(one.channel for one in ours):
            threads = [one.thread for one in ours if one.channel == channel and is_ts(one.thread)]
            try:
                async for incoming in self._asked_in(channel, threads, since):
                    found[incoming.keys[0]] = incoming
            except PlatformError as error:
                log.warning("what was asked meanwhile in a channel could not be read: %s", error)
        return tuple(sorted(found.values(), key=lambda one: one.sent_at))

    async def _asked_in(self, channel: str, known: Collection[str], since: datetime) -> AsyncIterator[Incoming]:
        shared = await self._people.is_shared(channel)
        replied: dict[str, float] = {}
        async for message in self.history(channel, stamp(since - THREADS_BACK)):
            if message.get("reply_count"):
                replied[str(message["ts"])] = float(message.get("latest_reply") or message["ts"])
            incoming = self._incoming(channel, message, shared)
            if incoming is not None and incoming.sent_at >= since and incoming.reach in _ADDRESSED:
                yield incoming
        for thread in _threads_to_read(replied, known, since.timestamp()):
            # Without a turn of ours a later word there is for others, and must not hide the mention before it.
            wanted = (*_ADDRESSED, Reach.THREAD) if thread in known else _ADDRESSED
            async for message in self.replies(channel, thread, oldest=stamp(since)):
                # The first message of a thread comes along, however old it is.
                incoming = self._incoming(channel, message, shared)
                if incoming is not None and incoming.sent_at >= since and incoming.reach in wanted:
                    yield incoming

    def _incoming(self, channel: str, message: Json, shared: bool) -> Incoming | None:
        return incoming_of({**message, "channel": channel}, self._people.bot, shared=shared)

    def history(self, channel: str, oldest: str, **more: Any) -> "Pages":
        """Return the messages of a channel, threads aside, the newest first."""
        return Pages(self._calls, self._calls.client.conversations_history, channel=channel, oldest=oldest, **more)

    def replies(
        self,
        channel: str,
        thread: str,
        *,
        oldest: str | None = None,
        latest: str | None = None,
        size: int = _PAGE,
        most: int = _PAGES,
    ) -> "Pages":
        """Return a thread's first message, however old, and its replies, the oldest first.

        Args:
            channel: Where it is.
            thread: Its first message.
            oldest: From when on replies are wanted.
            latest: Until before when.
            size: How many messages a page has at most.
            most: How many pages are read at most.
        """
        ask = self._calls.client.conversations_replies
        within = {"channel": channel, "ts": thread, "oldest": oldest, "latest": latest, "include_all_metadata": True}
        return Pages(self._calls, ask, size=size, most=most, **within)


class Pages:
    """Messages that Slack tells page by page, so many pages at most; to be gone through once.

    ``whole``: they were gone through, and none was left out.
    """

    def __init__(self, calls: Calls, ask: Ask, *, size: int = _PAGE, most: int = _PAGES, **arguments: Any) -> None:
        """``most`` pages are asked for at most, each of ``size`` messages at most."""
        self._calls = calls
        self._ask = ask
        self._size = size
        self._most = most
        self._arguments = arguments
        self.whole = False

    async def __aiter__(self) -> AsyncIterator[Json]:
        cursor: str | None = None
        for _ in range(self._most):
            said = await self._calls.do(self._ask(limit=self._size, cursor=cursor, **self._arguments))
            for message in said.get("messages") or ():
                yield message
            cursor = str((said.get("response_metadata") or {}).get("next_cursor") or "") or None
            if cursor is None:
                self.whole = True
                return


def _key_of(message: Json) -> str | None:
    """Return the key that a message of ours bears, None where it bears none."""
    metadata = message.get("metadata") or {}
    if metadata.get("event_type") != METADATA:
        return None
    return str((metadata.get("event_payload") or {}).get("key") or "")


def _threads_to_read(replied: Mapping[str, float], known: Collection[str], since: float) -> tuple[str, ...]:
    """Return the threads that may hold something new: ours that the channel didn't show, and those with new replies.

    Args:
        replied: The newest reply of each thread whose first message was read.
        known: The threads with a turn of ours.
        since: From when on something may have been missed.
    """
    new = sorted((thread for thread, newest in replied.items() if newest >= since), key=lambda one: -replied[one])
    ours = [thread for thread in new if thread in known]
    others = [thread for thread in new if thread not in known]
    return (*(thread for thread in known if thread not in replied), *ours, *others[:MOST_THREADS])


def stamp(moment: datetime) -> str:
    """Return a time as Slack writes it."""
    return f"{moment.timestamp():.6f}"


def is_ts(thread: str) -> bool:
    """Tell whether it is the id of a message or thread, which is its time."""
    return thread.replace(".", "", 1).isdigit()
