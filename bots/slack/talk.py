"""What was said in a channel or a thread of Slack, for a summary."""

import asyncio
import contextlib
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, timedelta, timezone, tzinfo
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from bots.platform import Incoming
from bots.slack.newest import newest_replies
from bots.slack.people import People
from bots.slack.reading import THREADS_BACK, Reader, is_ts, stamp
from bots.slack.translating import WRITTEN, is_ours, moment, plain_text, without_name
from bots.talk import Span, Talk, local_zone
from ragcore.errors import PlatformRateLimited, PlatformRefused
from ragcore.gist.values import Said

Json = Mapping[str, Any]

MOST_THREADS = 20
"""So many threads are read for a summary of a channel, those with the newest replies: each is a call, of which Slack
allows 50 a minute."""
THREAD_SIZE = 999
"""So many replies of each of them: one page, as large as Slack gives."""
CHANNEL_SECONDS = 40.0
THREADS_SECONDS = 25.0
NAMES_SECONDS = 10.0
"""How long each step may take, Slack's requests to wait included: then it goes on with what there is."""
MOST_NAMES = 200
"""So many people are asked for by name; others are told by their ids."""
_SAID = WRITTEN | {"bot_message"}
_MENTION = re.compile(r"<@(\w+)>")


class Talker:
    """Reads what was said; all raise PlatformError unless they say otherwise."""

    def __init__(self, reader: Reader, people: People) -> None:
        self._reader = reader
        self._people = people

    async def zone(self, user: str) -> tzinfo:
        """Return the time zone that somebody has set, else that of this machine. Never raises."""
        name, offset = await self._people.zone(user)
        with contextlib.suppress(ZoneInfoNotFoundError, ValueError, OSError):  # this machine may know none by name
            return ZoneInfo(name)
        return timezone(timedelta(seconds=offset)) if offset is not None else local_zone()

    async def said(self, incoming: Incoming, span: Span) -> Talk:
        """Return what was said; of a channel with the replies in its threads, as their first messages show them.

        A thread that began more than ``THREADS_BACK`` before the span shows itself by a reply that was sent to the
        channel too, or not at all.
        """
        here = incoming.conversation
        # Who writes in a channel reads it; what answers a command is seen by one person, who may have left meanwhile.
        if incoming.token and not await self._people.may_read(here.channel, incoming.asker.id):
            raise PlatformRefused("Slack does not confirm that the asker may read the channel")
        latest = incoming.message if is_ts(incoming.message) else stamp(incoming.sent_at)
        if span.until is not None:
            latest = min(latest, stamp(span.until), key=float)
        oldest = stamp(span.since) if span.since is not None else "0"

        def counts(message: Json) -> bool:
            return self._counts(message, oldest, latest)

        most, threads_left = span.most + 1, False
        if span.thread:
            found, whole = await newest_replies(self._reader, here.channel, here.thread, oldest, latest, most, counts)
        else:
            found, whole, threads_left = await self._channel(here.channel, oldest, latest, most, counts)
        found.sort(key=lambda message: float(message["ts"]))
        names = await self._names(found[-span.most :])
        said = tuple(self._said(here.channel, message, names) for message in found[-span.most :])
        return Talk(messages=said, whole=whole and len(found) <= span.most, threads_left=threads_left)

    async def _channel(
        self, channel: str, oldest: str, latest: str, most: int, counts: Callable[[Json], bool]
    ) -> tuple[list[Json], bool, bool]:
        """Return the messages, whether they are whole but for threads, and whether replies were left out."""
        found: dict[str, Json] = {}
        threads: dict[str, float] = {}
        began = min(float(oldest), max(0.0, float(oldest) - THREADS_BACK.total_seconds()))
        history = self._reader.history(channel, f"{began:.6f}", latest=latest)
        whole = False
        try:
            async with asyncio.timeout(CHANNEL_SECONDS):
                async for message in history:
                    newest = float(message.get("latest_reply") or message["ts"])
                    if message.get("reply_count") and newest >= float(oldest):
                        threads[str(message["ts"])] = newest
                    if counts(message):
                        found[str(message["ts"])] = message
                    whole = float(message["ts"]) < float(oldest)
                    if len(found) >= most:
                        break
        except (TimeoutError, PlatformRateLimited):
            # Slack tells the newest first, and they are worth more than nothing.
            if not found:
                raise
        whole = whole or history.whole
        reaches = min(map(float, found)) if len(found) >= most else 0.0
        newest_first = sorted((one for one in threads if threads[one] >= reaches), key=lambda one: -threads[one])
        left = len(newest_first) > MOST_THREADS
        try:
            async with asyncio.timeout(THREADS_SECONDS):
                for thread in newest_first[:MOST_THREADS]:
                    replies = self._reader.replies(
                        channel, thread, oldest=oldest, latest=latest, size=THREAD_SIZE, most=1
                    )
                    async for message in replies:
                        if counts(message):
                            found.setdefault(str(message["ts"]), message)
                    left = left or not replies.whole
        except (TimeoutError, PlatformRateLimited):
            left = True
        return list(found.values()), whole, left

    def _counts(self, message: Json, oldest: str, latest: str) -> bool:
        """Tell whether somebody else said it in this time; with replies comes the first message, however old."""
        if str(message.get("subtype") or "") not in _SAID or is_ours(message, self._people.bot):
            return False
        return float(oldest) <= float(message["ts"]) < float(latest)

    async def _names(self, messages: Sequence[Json]) -> Mapping[str, str]:
        users = {str(message["user"]): None for message in messages if message.get("user")}
        users |= {user: None for message in messages for user in _MENTION.findall(str(message.get("text") or ""))}
        asking = {user: asyncio.ensure_future(self._people.name(user)) for user in list(users)[:MOST_NAMES]}
        if asking:
            _, late = await asyncio.wait(asking.values(), timeout=NAMES_SECONDS)
            for one in late:
                one.cancel()
        return {user: one.result() for user, one in asking.items() if one.done() and not one.cancelled()}

    def _said(self, channel: str, message: Json, names: Mapping[str, str]) -> Said:
        user = str(message.get("user") or "")
        profile = message.get("bot_profile") or {}
        text = without_name(str(message.get("text") or ""), self._people.bot)
        text = plain_text(_MENTION.sub(lambda found: f"<@{found[1]}|{names.get(found[1], found[1])}>", text))
        files = [str(file.get("name") or file.get("title") or "") for file in message.get("files") or ()]
        ts = str(message["ts"])
        return Said(
            id=ts,
            author=names.get(user) or str(message.get("username") or profile.get("name") or user),
            text="\n".join([text, *(f"({name})" for name in files if name)]).strip(),
            sent_at=moment(ts).astimezone(UTC),
            url=self.permalink(channel, ts, str(message.get("thread_ts") or "")),
        )

    def permalink(self, channel: str, ts: str, thread: str = "") -> str:
        """Return a message's address, as Slack's "Copy link" gives it; "" where the workspace's is not known."""
        home = self._people.bot.url
        if not home:
            return ""
        link = f"{home.rstrip('/')}/archives/{channel}/p{ts.replace('.', '')}"
        return f"{link}?thread_ts={thread}&cid={channel}" if thread and thread != ts else link
