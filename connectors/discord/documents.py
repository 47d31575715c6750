"""Makes documents of threads, and of what a channel said on a day."""

import asyncio
from collections.abc import Iterable
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import date, timedelta

from connectors.base import Origin, SourceDocument
from connectors.discord.api import Api
from connectors.discord.moments import day_begins
from connectors.discord.options import DiscordOptions
from connectors.discord.payloads import Channel, Said
from connectors.discord.server import Place, Server
from connectors.discord.wording import link
from connectors.discord.writing import brief, digest_of, worth_keeping, write


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """What a document's version tells: its channel, who may read it, how its thread looked in the listing, its text."""

    parent: str = ""
    readers: str = ""
    look: str = ""
    digest: str = ""

    @classmethod
    def of(cls, text: str) -> "Version":
        """Read a version; one that is none tells nothing."""
        parts = text.split(".")
        if len(parts) != 4:
            return cls()
        parent, readers, look, digest = parts
        return cls(parent=parent, readers=readers, look=look, digest=digest)

    def __str__(self) -> str:
        """Return it as text."""
        return f"{self.parent}.{self.readers}.{self.look}.{self.digest}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Documents:
    """Reads and writes the documents of one source."""

    origin: Origin
    options: DiscordOptions

    def thread_id(self, thread: int) -> str:
        """Return the id of a thread's document."""
        return self.origin.document_id(str(thread))

    def day_id(self, channel: int, day: date) -> str:
        """Return the id of what a channel said on a day."""
        return self.origin.document_id(day_native(channel, day))

    def look_of(self, server: Server, thread: Channel) -> Version:
        """Return what the listing tells of a thread's version: the same while nothing but an edit changed it."""
        place = server.places[thread.parent]
        tags = _tags(place.channel, thread)
        told = (thread.name, thread.last_message, thread.message_count, tags, place.channel.name)
        return Version(
            parent=str(thread.parent),
            readers=brief(*sorted(server.readers_in(thread))),
            look=brief(*told, self.options.manner()),
        )

    async def thread(self, api: Api, server: Server, thread: Channel) -> SourceDocument | None:
        """Read a thread; None when it holds nothing."""
        said: list[Said] = []
        async with aclosing(api.messages(thread.id, 0)) as pages:
            async for page in pages:
                said += worth_keeping(page, server.names, bots=self.options.bots)
        place, seen = server.places[thread.parent].channel, self.look_of(server, thread)
        tags = _tags(place, thread)
        return await asyncio.to_thread(
            self._document,
            server,
            str(thread.id),
            head=f"Discord, #{place.name}{f'; {tags}' if tags else ''}",
            title=thread.name,
            url=link(server.id, thread.id),
            said=said,
            place=server.places[thread.parent],
            readers=server.readers_in(thread),
            seen=seen,
        )

    def day(self, server: Server, place: Place, day: date, messages: Iterable[Said]) -> SourceDocument | None:
        """Return what a channel said on a day as a document; None when that is nothing."""
        said = worth_keeping(messages, server.names, bots=self.options.bots)
        channel = place.channel
        return self._document(
            server,
            day_native(channel.id, day),
            head=f"Discord, #{channel.name}",
            title=f"#{channel.name}, {day}",
            url=link(server.id, channel.id, said[0].id if said else 0),
            said=said,
            place=place,
            readers=place.readers,
            seen=Version(parent=str(channel.id), readers=brief(*sorted(place.readers))),
        )

    async def fetch_day(self, api: Api, server: Server, place: Place, day: date) -> SourceDocument | None:
        """Read what a channel said on a day; None when that is nothing."""
        begin, end = day_begins(day, server.names.zone), day_begins(day + timedelta(days=1), server.names.zone)
        said: list[Said] = []
        async with aclosing(api.messages(place.channel.id, begin - 1)) as pages:
            async for page in pages:
                said += [one for one in page if one.id < end]
                if page[-1].id >= end:
                    break
        return self.day(server, place, day, said)

    def _document(
        self,
        server: Server,
        native: str,
        *,
        head: str,
        title: str,
        url: str,
        said: list[Said],
        place: Place,
        readers: frozenset[str],
        seen: Version,
    ) -> SourceDocument | None:
        written = write(head, url, said, server.names, bots=self.options.bots)
        if written is None:
            return None
        document = SourceDocument(
            id=self.origin.document_id(native),
            source=self.origin.source,
            content=written.content,
            name=f"{native.replace('/', '-')}.txt",
            media_type="text/plain",
            title=title,
            url=url,
            author=written.author,
            updated_at=written.updated_at,
            readers=readers,
            metadata={"channel": f"#{place.channel.name}"},
            permalinks=written.permalinks,
        )
        return _versioned(document, seen)


def day_native(channel: int, day: date) -> str:
    """Return the native id of what a channel said on a day."""
    return f"{channel}/{day.isoformat()}"


def _versioned(document: SourceDocument, seen: Version) -> SourceDocument:
    version = replace(seen, digest=digest_of(document))
    return replace(document, version=str(version))


def _tags(channel: Channel, thread: Channel) -> str:
    """Return the tags of a forum's post, by name."""
    return ", ".join(channel.tag_names[tag] for tag in thread.tags if channel.tag_names.get(tag))
