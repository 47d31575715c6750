"""One source's conversation with Slack in one run: who we are there, which channels there are, and their messages.

It outlives a fault in the middle of a run: what was answered isn't asked for again.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from connectors.base import Origin, SourceDocument
from connectors.http import HttpClient
from connectors.slack.api import Answers, Api, Json, Refused, http_options, next_cursor
from connectors.slack.ids import before, day_end
from connectors.slack.messages import Writer, ids_in
from connectors.slack.names import Names
from connectors.slack.options import SlackOptions
from connectors.slack.places import Place, place_of

HIDDEN = frozenset({"not_in_channel", "channel_not_found", "is_archived", "team_not_found"})
"""How Slack refuses a channel that the bot is not in, or that is no longer there."""

_AHEAD = 86_400
"""Seconds by which Slack's clock may go before ours."""


@dataclass(slots=True)
class Session:
    """Asks Slack; ``opened`` lets it. Every method raises as ``Api.call`` does."""

    origin: Origin
    options: SlackOptions
    names: Names = field(default_factory=Names)
    answers: Answers = field(default_factory=Answers)
    _horizon: str = field(default_factory=lambda: f"{int(time.time()) + _AHEAD}.000000")
    _api: Api | None = None

    @asynccontextmanager
    async def opened(self) -> AsyncIterator["Session"]:
        """Hold a connection while inside."""
        async with HttpClient(http_options(self.options.api_url, self.options.token)) as client:
            self._api = Api(client, self.options.api_url, self.answers)
            yield self

    @property
    def api(self) -> Api:
        """The Web API; a RuntimeError outside of ``opened``."""
        if self._api is None:
            raise RuntimeError("the session is used outside of `opened`")
        return self._api

    async def places(self) -> list[Place]:
        """Return the channels that the bot is in."""
        team = str((await self.api.call("auth.test")).get("team_id") or "")
        found: dict[str, Place] = {}
        async for page in self.api.pages("users.conversations", types="public_channel,private_channel"):
            for channel in page.get("channels") or ():
                place = place_of(channel, team)
                if place is not None:
                    found[place.id] = place
        return list(found.values())

    async def place(self, channel: str) -> Place | None:
        """Return one channel; None when the bot isn't in it, or it is none that may be read."""
        team = str((await self.api.call("auth.test")).get("team_id") or "")
        try:
            told: Mapping[str, object] = (await self.api.call("conversations.info", channel=channel)).get(
                "channel"
            ) or {}
        except Refused as error:
            if error.code in HIDDEN:
                return None
            raise
        return place_of(told, team) if told.get("is_member") is not False else None

    async def writer(self, place: Place) -> Writer:
        """Return what writes the documents of a channel, with the names that are known by then."""
        us = await self.api.call("auth.test")
        return Writer(
            origin=self.origin,
            place=place,
            url=str(us.get("url") or "https://slack.com/").rstrip("/") + "/",
            user=str(us.get("user_id") or ""),
            bot=str(us.get("bot_id") or ""),
            bots=self.options.bots,
            names=self.names.known,
        )

    async def history(self, place: Place, start: float, end: str = "") -> AsyncIterator[tuple[list[Json], bool]]:
        """Yield the messages from a time on, before a time stamp, newest first, by page, and whether it is the last.

        ``latest`` is always told: without it the pages begin at the oldest message
        (https://github.com/slackhq/slack-api-docs/issues/4).
        """
        asked = {"channel": place.id, "oldest": before(start), "latest": end or self._horizon}
        async for page in self.api.pages("conversations.history", **asked):
            messages = [one for one in page.get("messages") or () if one.get("ts")]
            await self._learn(messages)
            yield messages, not next_cursor(page)

    async def replies(self, place: Place, first: str) -> list[Json] | None:
        """Return a thread, its first message before its replies; None when it is gone."""
        found: dict[str, Json] = {}
        try:
            async for page in self.api.pages("conversations.replies", channel=place.id, ts=first):
                found |= {str(one["ts"]): one for one in page.get("messages") or () if one.get("ts")}
        except Refused as error:
            if error.code in {"thread_not_found", "message_not_found"}:
                return None
            raise
        messages = sorted(found.values(), key=lambda one: float(one["ts"]))
        if not messages or messages[0]["ts"] != first:
            return None
        await self._learn(messages)
        self.answers.forget("conversations.replies")
        return messages

    async def _learn(self, messages: Sequence[Json]) -> None:
        bots = self.options.bots
        await self.names.learn(self.api, (native for one in messages for native in ids_in(one, bots=bots)))

    async def thread(self, place: Place, ts: str, *, version: str = "") -> SourceDocument | None:
        """Return a thread's document; None when it is gone, has no replies, or nothing in it is kept.

        ``version`` is what its first message told in the channel's history, where that was read.
        """
        messages = await self.replies(place, ts)
        if messages is None or len(messages) < 2:
            return None
        first, said = _counted(messages), await self.writer(place)
        version = version or said.thread_version(first)
        # A thousand messages take a tenth of a second to write.
        return await asyncio.to_thread(said.thread, first, messages[1:], version=version)

    async def day(self, place: Place, start: float) -> SourceDocument | None:
        """Return the document of a day, None when nothing is kept of it."""
        messages: dict[str, Json] = {}
        async for page, _ in self.history(place, start, f"{int(day_end(start))}.000000"):
            messages |= {str(one["ts"]): one for one in page}
        self.answers.forget("conversations.history")
        return await asyncio.to_thread((await self.writer(place)).day, list(messages.values()))


def _counted(messages: Sequence[Json]) -> Json:
    """Return the first message of a thread with what the history tells of its replies."""
    first, replies = messages[0], messages[1:]
    people = list(dict.fromkeys(str(one["user"]) for one in replies if one.get("user")))[:5]
    told = {"reply_count": len(replies), "latest_reply": replies[-1]["ts"], "reply_users": people}
    return {**told, **first}
