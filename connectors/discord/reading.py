"""Reads what has changed of the threads and channels of a server, given what is known of them."""

from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta

from connectors.base import Change, Checkpoint, Failure, SourceDocument, Tombstone
from connectors.discord.api import Api, NoAccess
from connectors.discord.documents import Documents, Version
from connectors.discord.moments import FIRST_DAY, day_begins, day_of
from connectors.discord.payloads import SPOKEN_IN, Channel, Said
from connectors.discord.server import Place, Server
from connectors.discord.state import ChannelState, State
from connectors.discord.writing import brief
from ragcore.errors import SourceGone

_DAY_LENGTH = len("2026-11-22")
_BATCH = 20
"""Threads that are read between two checkpoints."""


@dataclass(slots=True, kw_only=True)
class Reading:
    """One run's reading. ``now`` is the time by Discord's clock; what it finds to be there stands in ``listed``."""

    api: Api
    documents: Documents
    known: Mapping[str, str]
    state: State
    now: datetime
    listed: set[str] = field(init=False, default_factory=set)
    seen: set[int] = field(init=False, default_factory=set)
    """All threads that were told."""
    _indexed: dict[int, set[date]] = field(init=False, default_factory=dict)
    _by_channel: dict[str, list[str]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        """Find the days and the documents of each channel that are indexed."""
        for identity, version in self.known.items():
            self._by_channel.setdefault(Version.of(version).parent, []).append(identity)
            channel, _, day = self.documents.origin.native_id(identity).partition("/")
            if channel.isdigit() and len(day) == _DAY_LENGTH:
                self._indexed.setdefault(int(channel), set()).add(date.fromisoformat(day))

    async def threads(self, server: Server, threads: Mapping[int, Channel]) -> AsyncGenerator[Change, None]:
        """Yield the threads that have changed, those with the newest messages first."""
        wanted = [one for one in threads.values() if self._takes(server, one)]
        self.seen |= threads.keys()
        read = 0
        for thread in sorted(wanted, key=_newest, reverse=True):
            if self._is_as_known(server, thread):
                continue
            for change in await self._read(server, thread):
                yield change
            read += 1
            if read % _BATCH == 0:
                yield Checkpoint(cursor=self.state.to_cursor())
        yield Checkpoint(cursor=self.state.to_cursor())

    async def thread(self, server: Server, thread: Channel) -> SourceDocument | Failure | None:
        """Read one thread as it is now; None when it holds nothing, or isn't taken. Raises SourceGone."""
        if not self._takes(server, thread):
            return None
        identity, most = self.documents.thread_id(thread.id), self.documents.options.max_messages
        if thread.message_count > most:
            return Failure(
                id=identity,
                reason=f"the thread has {thread.message_count:,} messages",
                mend=f"raise `max_messages`, which is {most:,}, or leave its channel out: `exclude`",
                version=str(self._too_long(server, thread)),
                readers=server.readers_in(thread),
            )
        try:
            return await self.documents.thread(self.api, server, thread)
        except NoAccess as error:
            return Failure(id=identity, reason=error.reason, mend=error.mend, readers=server.readers_in(thread))

    async def day(self, server: Server, channel: int, day: date) -> SourceDocument | Failure | None:
        """Read one day of a channel as it is now; None when it holds nothing, or isn't taken. Raises SourceGone."""
        place = server.places.get(channel)
        if place is None or place.channel.type not in SPOKEN_IN or day < self.first_day(server):
            return None
        try:
            return await self.documents.fetch_day(self.api, server, place, day)
        except NoAccess as error:
            identity = self.documents.day_id(channel, day)
            return Failure(id=identity, reason=error.reason, mend=error.mend, readers=place.readers)

    async def days(self, server: Server, place: Place) -> AsyncGenerator[Change, None]:
        """Yield the days of a channel that have changed."""
        walk = _Walk(reading=self, server=server, place=place, held=self._held(place))
        if walk.is_worth_it or walk.lacking:
            try:
                async with aclosing(walk.changes()) as changes:
                    async for change in changes:
                        yield change
            except SourceGone:  # deleted since it was listed
                self.state.channels.pop(place.channel.id, None)
                return
            except NoAccess as error:
                for change in self._unreadable(place, error):
                    yield change
        self.listed |= {self.documents.day_id(place.channel.id, day) for day in walk.days}

    def indexed_days(self, place: Place) -> Set[date]:
        """Return the days of a channel that are indexed: an event may have led to one that no run has seen."""
        return self._indexed.get(place.channel.id, set())

    def indexed_in(self, channel: Channel) -> Sequence[str]:
        """Return the ids of what is indexed of a channel, its threads among it."""
        return self._by_channel.get(str(channel.id), ())

    def look_back(self, server: Server) -> date:
        """Return the first of the days that every run reads again."""
        options = self.documents.options
        return (self.now.astimezone(server.names.zone) - timedelta(days=options.look_back_days)).date()

    def first_day(self, server: Server) -> date:
        """Return the first day that is taken."""
        days = self.documents.options.history_days
        today = self.now.astimezone(server.names.zone).date()
        return max(FIRST_DAY, today - timedelta(days=days)) if days else FIRST_DAY

    def first_message(self, server: Server) -> int:
        """Return the lowest id of what is taken."""
        return day_begins(self.first_day(server), server.names.zone)

    def _takes(self, server: Server, thread: Channel) -> bool:
        return server.takes(thread, self.documents.options) and _newest(thread) >= self.first_message(server)

    def _is_as_known(self, server: Server, thread: Channel) -> bool:
        """Tell whether a thread needn't be read: the listing tells of no change, and it is too old for edits."""
        identity, seen = self.documents.thread_id(thread.id), self.documents.look_of(server, thread)
        if self.known.get(identity) == str(self._too_long(server, thread)):
            self.listed.add(identity)
            return True
        if _newest(thread) >= day_begins(self.look_back(server), server.names.zone):
            return False
        if replace(Version.of(self.known.get(identity, "")), digest="") == seen:
            self.listed.add(identity)
            return True
        return self.state.empty.get(thread.id) == seen.look

    async def _read(self, server: Server, thread: Channel) -> list[Change]:
        """Return what has become of a thread: nothing, where it is as it was or is gone."""
        identity, seen = self.documents.thread_id(thread.id), self.documents.look_of(server, thread)
        self.state.empty.pop(thread.id, None)
        try:
            found = await self.thread(server, thread)
        except SourceGone:  # deleted since it was listed
            return []
        if found is None:
            self.state.empty[thread.id] = seen.look
            return []
        self.listed.add(identity)
        return [found] if found.version != self.known.get(identity) else []

    def _too_long(self, server: Server, thread: Channel) -> Version:
        seen = self.documents.look_of(server, thread)
        return replace(seen, look=f"{seen.look}-over-{self.documents.options.max_messages}")

    def _unreadable(self, place: Place, error: NoAccess) -> Iterator[Change]:
        channel, readers = place.channel, brief(*sorted(place.readers))
        prefix = self.documents.origin.document_id(f"{channel.id}/")
        yield from self._taken_back([one for one in self.known if one.startswith(prefix)], readers)
        yield Failure(
            id=self.documents.origin.document_id(str(channel.id)),
            reason=f"#{channel.name} can't be read: {error.reason}",
            mend=error.mend,
            covers=prefix,
        )

    def _taken_back(self, ids: Iterable[str], readers: str) -> Iterator[Tombstone]:
        """Yield those documents that can't be read now and stand under other readers than may read them now."""
        for identity in ids:
            if Version.of(self.known.get(identity, "")).readers not in {"", readers}:
                yield Tombstone(id=identity)

    def _held(self, place: Place) -> ChannelState | None:
        """Return how far a channel was read, None when it has to be read from the beginning."""
        held = self.state.channels.get(place.channel.id)
        return held if held is not None and held.look == look_of(place) else None


@dataclass(slots=True, kw_only=True)
class _Walk:
    """Reads one channel from where it is worth it, and puts what it said together by days."""

    reading: Reading
    server: Server
    place: Place
    held: ChannelState | None
    days: set[date] = field(init=False)
    """The days on which something was said, as far as they are known by now."""

    def __post_init__(self) -> None:
        first = self.reading.first_day(self.server)
        held = {*self.held.days, *self.reading.indexed_days(self.place)} if self.held else set()
        self.days = {day for day in held if day >= first}

    @property
    def lacking(self) -> list[date]:
        """The days that held something and are not indexed: lost, or emptied by what an event told."""
        documents, known = self.reading.documents, self.reading.known
        return sorted(day for day in self.days if documents.day_id(self.place.channel.id, day) not in known)

    @property
    def is_worth_it(self) -> bool:
        """Whether there may be anything new, or anything that is read again."""
        back = day_begins(self.reading.look_back(self.server), self.server.names.zone)
        held, newest = self.held, self.place.channel.last_message
        return held is None or newest > held.newest or held.newest >= back

    async def changes(self) -> AsyncGenerator[Change, None]:
        """Yield the days that have changed, with a checkpoint after each page."""
        begin = self._begin()
        zone, newest = self.server.names.zone, self.held.newest if self.held else 0
        self.days = {day for day in self.days if day < begin}
        async for document in self._looked_up(self.lacking):
            yield document
        pending: list[Said] = []
        pages = self.reading.api.messages(self.place.channel.id, day_begins(begin, zone) - 1)
        async with aclosing(pages):
            async for page in pages:
                for said in page:
                    if pending and day_of(pending[-1].id, zone) != day_of(said.id, zone):
                        for document in self._day(pending):
                            yield document
                        newest, pending = max(newest, pending[-1].id), []
                    pending.append(said)
                self._remember(newest)
                yield Checkpoint(cursor=self.reading.state.to_cursor())
        for document in self._day(pending):
            yield document
        # What the channel names as its last message may be deleted: it isn't looked for again and again.
        self._remember(max(newest, self.place.channel.last_message, *(said.id for said in pending[-1:])))
        yield Checkpoint(cursor=self.reading.state.to_cursor())

    async def _looked_up(self, days: Iterable[date]) -> AsyncGenerator[SourceDocument, None]:
        """Yield these days as they are now, and forget those that hold nothing any more."""
        for day in days:
            document = await self.reading.documents.fetch_day(self.reading.api, self.server, self.place, day)
            if document is not None:
                yield document
            else:
                self.days.discard(day)

    def _begin(self) -> date:
        """Return the day from which on the channel is read."""
        first = self.reading.first_day(self.server)
        if self.held is None:
            return first
        return max(first, min(self.reading.look_back(self.server), day_of(self.held.newest, self.server.names.zone)))

    def _day(self, messages: list[Said]) -> Iterator[SourceDocument]:
        """Yield the day of these messages, if it holds something else than before."""
        day = day_of(messages[-1].id, self.server.names.zone) if messages else FIRST_DAY
        document = self.reading.documents.day(self.server, self.place, day, messages)
        if document is not None:
            self.days.add(day)
            if document.version != self.reading.known.get(document.id):
                yield document

    def _remember(self, newest: int) -> None:
        self.reading.state.channels[self.place.channel.id] = ChannelState(
            newest=newest, look=look_of(self.place), days=frozenset(self.days)
        )


def look_of(place: Place) -> str:
    """Return what changes when all documents of a channel do: its name, and who may read it."""
    return brief(place.channel.name, *sorted(place.readers))


def _newest(thread: Channel) -> int:
    """Return the id of the last message of a thread, or of what it began with."""
    return max(thread.last_message, thread.id)
