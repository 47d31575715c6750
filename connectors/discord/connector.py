"""The connector of the source type ``discord``.

Documents are threads, and the days of channels. Days rather than chains of replies: most of what is said in a channel
answers what stands just above it without saying so; a message's id alone tells its day, so that an event leads to the
one document that it concerns; and a day is read by its own messages and no others. A reply repeats what it answers, so
a conversation over midnight is not torn.

A run asks first what there is: channels with permissions, active and archived threads. That tells of each thread
whether it has changed, and of each channel from where on to read. Deletions: what the listing no longer shows, with the
sync's guard; but for channels that are closed to the bot, whose documents are taken back at once.
"""

import logging
import re
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import UTC, date, datetime

from connectors.base import Change, Checkpoint, Failure, Origin, SourceDocument, Tombstone
from connectors.discord.api import INTERVAL, Api, NoAccess
from connectors.discord.documents import Documents
from connectors.discord.listing import threads_of
from connectors.discord.moments import moment_of
from connectors.discord.options import DiscordOptions
from connectors.discord.payloads import SPOKEN_IN, THREADS, Channel
from connectors.discord.reading import Reading
from connectors.discord.server import Server, server_of, who_asks
from connectors.discord.state import State
from ragcore.errors import SourceGone

_NATIVE = re.compile(r"(\d{1,20})(?:/(\d{4}-\d\d-\d\d))?")

log = logging.getLogger(__name__)


@dataclass(slots=True)
class DiscordConnector:
    """Reads some servers. ``interval`` is the least number of seconds between two requests."""

    origin: Origin
    options: DiscordOptions
    interval: float = INTERVAL
    _listed: tuple[set[str], list[Failure]] | None = field(init=False, default=None)
    """The ids that the run's reading found, and what kept it from finding more."""

    async def changes(self, cursor: str | None, known: Mapping[str, str]) -> AsyncGenerator[Change, None]:
        """Yield the threads and days that have changed."""
        self._listed = None
        state = State.from_cursor(cursor, self.options.basis())
        failures: list[Failure] = []
        async with Api(options=self.options, interval=self.interval) as api:
            bot = await who_asks(api)
            servers = [await server_of(api, self.options, number, bot) for number in self._servers()]
            reading = self._reading(api, known, state)
            taken = {number for server in servers for number in server.places}
            state.channels = {number: one for number, one in state.channels.items() if number in taken}
            async with aclosing(self._all(reading, servers)) as changes:
                async for change in changes:
                    if isinstance(change, Failure):
                        failures.append(change)
                    yield change
        state.empty = {number: look for number, look in state.empty.items() if number in reading.seen}
        self._listed = reading.listed, failures
        yield Checkpoint(cursor=state.to_cursor())

    async def list_ids(self) -> AsyncIterator[str | Failure]:
        """Yield the id of every document: those that the run has found; without one all is read to know them."""
        if self._listed is None:
            async with aclosing(self.changes(None, {})) as changes:
                async for _ in changes:
                    pass
        ids, failures = self._listed or (set(), [])
        for identity in ids:
            yield identity
        for failure in failures:
            yield failure

    async def fetch(self, ids: Sequence[str]) -> AsyncIterator[SourceDocument | Tombstone | Failure]:
        """Yield these threads and days as they are now."""
        async with Api(options=self.options, interval=self.interval) as api:
            bot = await who_asks(api)
            servers: dict[int, Server] = {}
            for identity in dict.fromkeys(ids):
                yield await self._fetched(api, bot, servers, identity)

    async def _all(self, reading: Reading, servers: Sequence[Server]) -> AsyncGenerator[Change, None]:
        for failure in self._unmatched(servers):
            yield failure
        for server in servers:
            for change in self._closed(server, reading):
                yield change
            threads: dict[int, Channel] = {}
            since = moment_of(reading.first_message(server))
            async with aclosing(threads_of(reading.api, server, threads, self.origin, since)) as listing:
                async for told in listing:
                    yield told or Checkpoint(cursor=reading.state.to_cursor())
            async with aclosing(reading.threads(server, threads)) as changes:
                async for change in changes:
                    yield change
            for place in server.places.values():
                if place.channel.type in SPOKEN_IN:
                    async with aclosing(reading.days(server, place)) as changes:
                        async for change in changes:
                            yield change

    async def _fetched(
        self, api: Api, bot: int, servers: dict[int, Server], identity: str
    ) -> SourceDocument | Tombstone | Failure:
        gone = Tombstone(id=identity)
        number, day = _parsed(self.origin.native_id(identity))
        try:
            channel = await api.channel(number) if number else None
        except (SourceGone, NoAccess):
            return gone
        if channel is None or channel.guild not in self._servers():
            return gone
        if channel.guild not in servers:
            servers[channel.guild] = await server_of(api, self.options, channel.guild, bot)
        server, reading = servers[channel.guild], self._reading(api, {}, State(basis=""))
        try:
            if day is None and channel.type in THREADS:
                return await reading.thread(server, channel) or gone
            if day is not None and channel.type in SPOKEN_IN:
                return await reading.day(server, channel.id, day) or gone
        except SourceGone:
            pass
        return gone

    def _reading(self, api: Api, known: Mapping[str, str], state: State) -> Reading:
        now, documents = api.now or datetime.now(UTC), Documents(origin=self.origin, options=self.options)
        return Reading(api=api, documents=documents, known=known, state=state, now=now)

    def _servers(self) -> list[int]:
        return list(dict.fromkeys(map(int, self.options.servers)))

    def _unmatched(self, servers: Sequence[Server]) -> Iterator[Failure]:
        """Yield what the settings take and no server has."""
        there = {entry for server in servers for entry in server.matched}
        for entry in dict.fromkeys(self.options.channels):
            if entry not in there:
                yield Failure(
                    id=self.origin.document_id(f"channel {entry}"),
                    reason="no channel or category of this name or id is there",
                    mend="correct it in `channels`, or take it out",
                )

    def _closed(self, server: Server, reading: Reading) -> Iterator[Change]:
        """Yield that the documents of channels are gone which the bot may not read any more, and name the channels."""
        named = {entry.removeprefix("#").casefold() for entry in self.options.channels}
        for channel in server.closed.values():
            ids = reading.indexed_in(channel)
            for identity in ids:
                yield Tombstone(id=identity)
            if ids or {str(channel.id), channel.name.casefold()} & named:
                yield Failure(
                    id=self.origin.document_id(str(channel.id)),
                    reason=f"the bot may not read #{channel.name} and its history, so nothing of it is kept",
                    mend="give the bot View Channel and Read Message History there, or leave it out: `exclude`",
                )


def _parsed(native: str) -> tuple[int, date | None]:
    """Return the channel or thread of a native id, 0 when it is none of ours, and its day, if it has one."""
    found = _NATIVE.fullmatch(native)
    try:
        return (int(found[1]), date.fromisoformat(found[2]) if found[2] else None) if found else (0, None)
    except ValueError:
        return 0, None
