"""The connector of the source type ``slack``: a document is a thread, or a day of a channel outside of threads.

A channel is read from its newest message back, a few days at each run and the whole kept history now and then. What is
older than what was read is believed to be as it was, until the next whole reading, an event, or ``--full``.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace

from connectors.base import Change, Checkpoint, Failure, Origin, SourceDocument, Tombstone
from connectors.slack.api import Json, Refused
from connectors.slack.ids import Ids, Native, day_id, day_of, day_start, parsed, thread_id
from connectors.slack.messages import Writer, is_thread
from connectors.slack.options import SlackOptions
from connectors.slack.places import Place, chosen
from connectors.slack.session import HIDDEN, Session
from connectors.slack.state import Memory, State
from ragcore.errors import SourceRateLimited

_DAY = 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Held:
    """The documents that are indexed: their versions by id, and their native ids."""

    versions: Mapping[str, str]
    ids: Ids


@dataclass(slots=True)
class SlackConnector:
    """Reads the channels of one workspace."""

    origin: Origin
    options: SlackOptions
    _session: Session = field(init=False)
    _alive: Ids = field(init=False, default_factory=Ids)
    """The documents that were found, or are believed."""
    _done: set[str] = field(init=False, default_factory=set)
    """The channels that this run has read."""
    _tops: dict[tuple[str, bool], str] = field(init=False, default_factory=dict)
    """Where each reading of this run began, "": at the newest message."""
    _is_finished: bool = field(init=False, default=False)
    _is_fresh: bool = field(init=False, default=False)
    """Whether names were learnt anew in this run."""

    def __post_init__(self) -> None:
        """Begin to remember what Slack answers."""
        self._session = Session(self.origin, self.options)

    async def changes(self, cursor: str | None, known: Mapping[str, str]) -> AsyncIterator[Change]:
        """Yield what is new or changed in each channel, newest days first."""
        state = State.from_cursor(cursor, self.options)
        self._session.names.known |= {**state.names, **self._session.names.known}
        self._is_finished = False
        held = _Held(versions=known, ids=Ids.of(map(self.origin.native_id, known)))
        before = self._session.answers.calls
        async with self._session.opened():
            try:
                places, unknown = chosen(self.options, await self._session.places())
                for failure in self._failures(unknown, state):
                    yield failure
                for place in places:
                    if place.id not in self._done:
                        async with aclosing(self._channel(place, state, held)) as changes:
                            async for change in changes:
                                yield change
                        self._done.add(place.id)
                        yield self._reached(state)
            except SourceRateLimited:
                if self._session.answers.calls > before:  # else nothing goes on here, and it is not to be waited again
                    yield self._reached(state, calls=self._session.answers.calls)
                raise
        kept = {place.id for place in places}
        state.channels = {native: one for native, one in state.channels.items() if native in kept or unknown}
        self._is_finished = True
        yield self._reached(state)

    async def list_ids(self) -> AsyncIterator[str | Failure]:
        """Yield the id of every document: as the run found them, else from a reading of the whole kept history."""
        if not self._is_finished:
            async with self._session.opened():
                places, unknown = chosen(self.options, await self._session.places())
                for failure in self._failures(unknown, State.from_cursor(None, self.options)):
                    yield failure
                for place in places:
                    try:
                        await self._list(place)
                    except Refused as error:
                        yield self._closed(place, error)
        for native in sorted(self._alive):
            yield self.origin.document_id(native)

    async def fetch(self, ids: Sequence[str]) -> AsyncIterator[SourceDocument | Tombstone | Failure]:
        """Yield these threads and days as they are now."""
        async with self._session.opened():
            for identity in dict.fromkeys(ids):
                native = self.origin.native_id(identity)
                found = await self._fetched(native)
                if isinstance(found, Tombstone):
                    self._alive.discard(native)
                else:
                    self._alive.add(native)
                yield found

    async def _fetched(self, native: str) -> SourceDocument | Tombstone | Failure:
        identity, named = self.origin.document_id(native), parsed(native)
        gone = Tombstone(id=identity)
        if named is None or named.start < self.options.oldest() or self.options.takes(named.channel) is False:
            return gone
        place = await self._session.place(named.channel)
        if place is None or not self.options.takes(place.id, place.name):
            return gone
        try:
            return await self._document(place, named) or gone
        except Refused as error:
            failure = self._closed(place, error) if error.code in HIDDEN else self._unread(place, identity, error)
            return replace(failure, id=identity)  # what was asked for by its id is answered by it

    async def _document(self, place: Place, named: Native) -> SourceDocument | None:
        if named.ts:
            return await self._session.thread(place, named.ts)
        return await self._session.day(place, named.start)

    async def _channel(self, place: Place, state: State, held: _Held) -> AsyncGenerator[Change, None]:
        """Yield what is new or changed in a channel."""
        memory = state.channels.setdefault(place.id, Memory())
        if (memory.name, memory.readers) != (place.name, sorted(place.readers)):
            closed = set(memory.readers) - place.readers
            memory.name, memory.readers = place.name, sorted(place.readers)
            memory.whole = memory.began = 0.0
            if closed:  # who may read it no longer must not wait until all is read again
                for native in held.ids.within(place.id):
                    yield Tombstone(id=self.origin.document_id(native))
                yield self._reached(state)
        goes_on = memory.began > 0 and (place.id, True) not in self._tops
        is_whole = memory.began > 0 or time.time() - memory.whole >= self.options.recheck_hours * 3_600
        try:
            if is_whole:
                if not self._is_fresh:
                    await self._session.names.refresh(self._session.api)
                    self._is_fresh = True
                if not memory.began:
                    memory.began, memory.top, memory.reached = time.time(), "", ""
                async with aclosing(self._read(place, state, memory, held, is_whole=True)) as changes:
                    async for change in changes:
                        yield change
            if goes_on:
                yield self._reached(state)
            if goes_on or not is_whole:  # what came since the reading began that goes on here
                async with aclosing(self._read(place, state, memory, held, is_whole=False)) as changes:
                    async for change in changes:
                        yield change
        except Refused as error:
            yield self._closed(place, error)

    async def _read(
        self, place: Place, state: State, memory: Memory, held: _Held, *, is_whole: bool
    ) -> AsyncGenerator[Change, None]:
        """Read a channel back to the beginning of the kept history, or for some days, and remember that it was."""
        oldest = start = self.options.oldest()
        if not is_whole and memory.newest:
            start = max(oldest, day_start(float(memory.newest) - self.options.look_back_days * _DAY))
        if (place.id, is_whole) not in self._tops:
            self._tops[place.id, is_whole] = memory.reached if is_whole else ""
            # What was only believed there is now looked for.
            self._alive.discard(*self._alive.within(place.id, start))
        top = self._tops[place.id, is_whole]
        newest, pending = "", dict[str, Json]()
        async for page, is_last in self._session.history(place, start, memory.reached if is_whole else ""):
            pending |= {str(one["ts"]): one for one in page}
            newest = newest or (str(page[0]["ts"]) if page else "")
            if is_whole:
                memory.top = memory.top or newest
            for day, messages in _whole_days(pending, is_last=is_last):
                async for change in self._changed(place, memory, messages, held, again=is_whole and memory.whole > 0):
                    yield change
                for message in messages:
                    del pending[str(message["ts"])]
                if is_whole:
                    memory.reached = f"{int(day)}.000000"
            if is_whole and not is_last:
                yield self._reached(state)
        self._session.answers.forget("conversations.history")
        self._believe(place, held, start=start, top=top, oldest=oldest)
        memory.empty = {ts: version for ts, version in memory.empty.items() if float(ts) >= oldest}
        if is_whole:
            memory.newest, memory.whole = memory.top or memory.newest, memory.began
            memory.began, memory.top, memory.reached = 0.0, "", ""
        else:
            memory.newest = newest or memory.newest

    async def _changed(
        self, place: Place, memory: Memory, messages: Sequence[Json], held: _Held, *, again: bool
    ) -> AsyncIterator[SourceDocument | Failure]:
        """Yield what is new or changed among the threads and in the rest of a day; ``again``: also what can't tell."""
        said = await self._session.writer(place)
        recent = float(memory.top or memory.newest or 0) - self.options.look_back_days * _DAY
        for first in (message for message in messages if is_thread(message)):
            ts, version = str(first["ts"]), said.thread_version(first)
            native = thread_id(place.id, ts)
            is_due = again and float(first.get("latest_reply") or ts) >= recent
            if memory.empty.get(ts) == version and not is_due:
                continue
            if held.versions.get(self.origin.document_id(native)) == version and not is_due:
                self._alive.add(native)
                continue
            found = await self._thread(place, first, version)
            if found is not None:
                self._alive.add(native)
                memory.empty.pop(ts, None)
                yield found
            else:
                self._alive.discard(native)
                memory.empty[ts] = version
        day = await asyncio.to_thread(said.day, messages)
        if day is not None:
            self._alive.add(self.origin.native_id(day.id))
            if held.versions.get(day.id) != day.version:
                yield day

    async def _thread(self, place: Place, first: Json, version: str) -> SourceDocument | Failure | None:
        try:
            return await self._session.thread(place, str(first["ts"]), version=version)
        except Refused as error:
            if error.code in HIDDEN:
                raise
            return self._unread(place, self.origin.document_id(thread_id(place.id, str(first["ts"]))), error, version)

    def _believe(self, place: Place, held: _Held, *, start: float, top: str, oldest: float) -> None:
        """Take for there what was there before, and stands where nothing was read now."""
        above = held.ids.within(place.id, float(top)) if top else []
        for native in (*held.ids.within(place.id, oldest, start), *above):
            self._alive.add(native)

    async def _list(self, place: Place) -> None:
        """Find what documents a channel has; in a thread that is new to us, something is taken to be kept."""
        said: Writer = await self._session.writer(place)
        async for page, _ in self._session.history(place, self.options.oldest()):
            for message in page:
                if is_thread(message):
                    self._alive.add(thread_id(place.id, str(message["ts"])))
                elif said.day([message]) is not None:
                    self._alive.add(day_id(place.id, str(message["ts"])))
        self._session.answers.forget("conversations.history")

    def _reached(self, state: State, calls: int = 0) -> Checkpoint:
        state.names = dict(sorted(self._session.names.known.items()))
        return Checkpoint(cursor=state.to_cursor(calls))

    def _failures(self, unknown: Sequence[str], state: State) -> list[Failure]:
        """Return what of the settings names no channel that the bot is in; what was read of it stays."""
        ids = {memory.name: native for native, memory in state.channels.items()}
        return [
            Failure(
                id=self.origin.document_id(name),
                reason=f'the bot is in no channel "{name}"',
                mend="invite it there (`/invite` and its name), or mend `channels`",
                covers=self.origin.document_id(f"{ids.get(name, name)}/"),
            )
            for name in unknown
        ]

    def _closed(self, place: Place, error: Refused) -> Failure:
        """Return that a channel can't be read, which hides all its documents."""
        mend = f"invite the bot to #{place.name}, or name it in `exclude_channels`"
        return Failure(
            id=self.origin.document_id(place.id),
            reason=f"#{place.name} can't be read: {error.reason}",
            mend=mend if error.code in HIDDEN else error.mend,
            readers=place.readers,
            covers=self.origin.document_id(f"{place.id}/"),
        )

    def _unread(self, place: Place, identity: str, error: Refused, version: str = "") -> Failure:
        return Failure(id=identity, reason=error.reason, mend=error.mend, version=version, readers=place.readers)


def _whole_days(pending: Mapping[str, Json], *, is_last: bool) -> list[tuple[float, list[Json]]]:
    """Return the days that are read to their beginning, newest first: when each began, and its messages, oldest first.

    That of the oldest message isn't, unless nothing older comes.
    """
    days: dict[str, list[Json]] = {}
    for ts in sorted(pending, key=float):
        days.setdefault(day_of(ts), []).append(pending[ts])
    whole = list(days.values())[0 if is_last else 1 :]
    return [(day_start(float(messages[0]["ts"])), messages) for messages in reversed(whole)]
