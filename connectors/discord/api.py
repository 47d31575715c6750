"""Discord's REST API v10, as far as reading needs it: pages, limits, and its errors as ours.

Limits: 100 messages a page, 50 requests a second in all, further ones by header (``connectors.discord.rates``); 10,000
requests that end in 401, 403 or 429 within ten minutes close the API to an address
(discord.com/developers/docs/topics/rate-limits).
"""

from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from importlib.metadata import version
from typing import Any, Self, TypeVar
from urllib.parse import urlencode

from pydantic import SecretStr
from yarl import URL

from connectors.discord import payloads
from connectors.discord.options import DiscordOptions
from connectors.discord.rates import Rates, Route, seconds
from connectors.http import HttpClient, HttpOptions, Reply, fault_of, moment
from connectors.http.faults import DEFAULT_WAIT
from ragcore.errors import SourceAuthError, SourceBadReply, SourceError, SourceGone, SourceRateLimited

PAGE = 100
INTERVAL = 0.04
"""Seconds between two requests: half of what Discord lets pass, as the bot itself asks with the same token."""
_LIMIT = 50_000_000  # bytes of one reply
_TOLD = frozenset({400, 401, 403, 404, 429})
_NO_ACCESS = frozenset({50001, 50009, 50013, 50024})
"""Missing access, a verification level that is too high, missing permissions, not for this type of channel."""
_TICK = timedelta(microseconds=1)

T = TypeVar("T")


class NoAccess(SourceAuthError):
    """The bot may not read one channel, or one server: whether that is the whole source, who asked knows."""


@dataclass(slots=True, kw_only=True)
class Api:
    """One session; ``async with`` opens and closes it. Everything raises SourceError."""

    options: DiscordOptions
    interval: float = INTERVAL
    rates: Rates = field(default_factory=Rates)
    now: datetime | None = field(init=False, default=None)
    """The time by Discord's clock, as of its last reply."""
    _client: HttpClient = field(init=False)

    def __post_init__(self) -> None:
        """Prepare the client; nothing is connected yet."""
        bearer = SecretStr(f"Bot {self.options.token.get_secret_value()}")
        self._client = HttpClient(
            HttpOptions(
                headers={"Authorization": bearer},
                trusted=(self.options.api_url,),
                addresses=None,  # whoever runs Citebot named the host
                # The form that is asked for: discord.com/developers/docs/reference#user-agent
                user_agent=f"DiscordBot (citebot, {version('citebot')})",
                interval=self.interval,
            )
        )

    async def __aenter__(self) -> Self:
        """Open the session."""
        await self._client.__aenter__()
        return self

    async def __aexit__(self, *raised: Any) -> None:
        """Close all connections."""
        await self._client.__aexit__(*raised)

    async def application(self) -> payloads.Application:
        """Return the application of the token."""
        return await self._get("applications/@me", "GET /applications/@me", 0, payloads.read_application)

    async def guild(self, server: int) -> payloads.Guild:
        """Return a server."""
        return await self._get(f"guilds/{server}", "GET /guilds/{}", server, payloads.read_guild)

    async def roles_of(self, server: int, member: int) -> frozenset[int]:
        """Return the roles of a member."""
        path = f"guilds/{server}/members/{member}"
        return await self._get(path, "GET /guilds/{}/members/{}", server, payloads.read_roles_of)

    async def channels(self, server: int) -> tuple[payloads.Channel, ...]:
        """Return the channels of a server, those among them that the bot can't see, and no threads."""
        path = f"guilds/{server}/channels"
        return await self._get(path, "GET /guilds/{}/channels", server, payloads.read_channels)

    async def channel(self, channel: int) -> payloads.Channel:
        """Return one channel or thread."""
        return await self._get(f"channels/{channel}", "GET /channels/{}", channel, payloads.read_channel)

    async def active_threads(self, server: int) -> tuple[payloads.Channel, ...]:
        """Return all active threads of a server that the bot may see."""
        path = f"guilds/{server}/threads/active"
        return (await self._get(path, "GET /guilds/{}/threads/active", server, payloads.read_threads)).threads

    async def archived_threads(
        self, channel: int, kind: str, since: datetime
    ) -> AsyncGenerator[tuple[payloads.Channel, ...], None]:
        """Yield the archived threads of a channel, those that were archived last first.

        Args:
            channel: The channel.
            kind: ``public``; ``private``, which wants the permission to manage threads; ``joined``, private ones that
                the bot is a member of.
            since: Those that were archived earlier needn't come: nobody has written in them since then, either. The
                joined ones come in another order, and all.
        """
        path = f"channels/{channel}/{_ARCHIVES[kind]}"
        before, seen = "", set[int]()
        while True:
            query = {"limit": str(PAGE)} | ({"before": before} if before else {})
            page = await self._get(
                f"{path}?{urlencode(query)}", f"GET /channels/{{}}/{_ARCHIVES[kind]}", channel, payloads.read_threads
            )
            new = tuple(one for one in page.threads if one.id not in seen)
            seen |= {one.id for one in new}
            if new:
                yield new
            if not page.has_more or not page.threads:
                return
            last, is_by_id = page.threads[-1], kind == "joined"
            archived = payloads.read_moment(last.archived_at)
            if not is_by_id and archived is not None and archived < since:
                return
            borders = [str(last.id)] if is_by_id else _next_borders(last)
            further = [one for one in borders if one not in {"", before} and (new or one == borders[-1])]
            if not further:  # it turns no page
                return
            before = further[0]

    async def messages(self, channel: int, after: int) -> AsyncGenerator[tuple[payloads.Said, ...], None]:
        """Yield what was said in a channel or thread after an id, oldest first, page by page."""
        while True:
            path = f"channels/{channel}/messages?limit={PAGE}&after={after}"
            page = await self._get(path, "GET /channels/{}/messages", channel, payloads.read_messages)
            is_new = bool(page) and page[-1].id > after
            if is_new:
                yield page
                after = page[-1].id
            if len(page) < PAGE or not is_new:
                return

    async def _get(self, path: str, kind: str, about: int, read: Callable[[Any], T]) -> T:
        route = Route(kind=kind, about=about)
        await self.rates.turn(route)
        found = await self._client.json(f"{self.options.api_url}/{path}", limit=_LIMIT, telling=_TOLD)
        reply = found.reply
        self.now = moment(reply.headers.get("Date", "")) or self.now
        self.rates.learn(route, reply.headers)
        if reply.status in _TOLD:
            raise _fault(reply, found.value)
        try:
            return read(found.value)
        except (KeyError, TypeError, ValueError, AttributeError):
            raise SourceBadReply(
                f"{_where(reply)} answered with something else than was due",
                mend="check `api_url`; try again later",
            ) from None


_ARCHIVES: Mapping[str, str] = {
    "public": "threads/archived/public",
    "private": "threads/archived/private",
    "joined": "users/@me/threads/archived/private",
}


def _next_borders(last: payloads.Channel) -> list[str]:
    """Return before what the next page may begin: a tick later than it must, as several may be archived together."""
    found = payloads.read_moment(last.archived_at)
    return [] if found is None else [(found + _TICK).isoformat(), last.archived_at]


def _fault(reply: Reply, value: Any) -> SourceError:
    """Return the error that a refusal means: discord.com/developers/docs/topics/opcodes-and-status-codes#json."""
    told = value if isinstance(value, dict) else {}
    code, where = told.get("code"), _where(reply)
    if reply.status == 401:
        mend = "set the bot's token, which the Developer Portal makes under Bot, Reset Token"
        return SourceAuthError("Discord refused the token (401)", mend=mend)
    if reply.status == 429:
        # The body tells it to the millisecond, the header in whole seconds.
        wait = seconds(told.get("retry_after")) or seconds(reply.headers.get("Retry-After", "")) or DEFAULT_WAIT
        whole = "everything" if told.get("global") else "this"
        return SourceRateLimited(f"Discord asks to wait {wait:.0f} s with {whole} (429)", retry_after=wait)
    if reply.status == 404:
        return SourceGone(f"{where} is not there (404)", mend="check the id")
    if reply.status == 403 and code in _NO_ACCESS:
        return NoAccess(
            f"the bot may not read {where} ({code})",
            mend="give it View Channel and Read Message History there, or leave it out: `exclude`",
        )
    return fault_of(reply.status, {}, reply.url) or SourceBadReply(f"{where} refused the request ({reply.status})")


def _where(reply: Reply) -> str:
    return f"Discord's {URL(reply.url).path.partition('/v10/')[2] or URL(reply.url).path}"
