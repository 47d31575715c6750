"""The connector of the source type ``notion``.

A document's id is what Notion's interface has it by: ``pages/<id>``, which a row of a database is too, or
``data_sources/<id>``. A run finds out what there is, then reads what it doesn't know in that version.
"""

from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field

from connectors.base import Change, Checkpoint, Estimate, Failure, Origin, SourceDocument, Tombstone
from connectors.forge.mishaps import Mishaps
from connectors.notion.api import MISSING, Api, client_of
from connectors.notion.documents import Reader
from connectors.notion.entries import DATA_SOURCES, PAGES, Entry
from connectors.notion.ids import id_of
from connectors.notion.names import Names
from connectors.notion.options import NotionOptions
from connectors.notion.state import Memory
from connectors.notion.survey import Survey, due, oldest
from ragcore.errors import SourceError

_BATCH = 20
"""Documents between two Checkpoints: at the pace of Notion some ten seconds."""
_ASKED_SOURCES = 20
"""Data sources whose edited rows a run asks for, besides those that it sees for the first time."""
_MANY = 20
"""Documents that no list has shown: from so many on, whole data sources are asked instead of single rows."""
_ASKED_ALONE = 300
"""Documents that a run asks for one by one, as no list has shown them; the next run asks for further ones."""


@dataclass(slots=True)
class NotionConnector:
    """Reads what an integration sees."""

    origin: Origin
    options: NotionOptions
    _listed: list[str] | None = field(init=False, default=None)
    """What the run has found that there is."""

    async def changes(self, cursor: str | None, known: Mapping[str, str]) -> AsyncIterator[Change]:
        """Yield what is new or was edited, last edited first, and what is in the trash."""
        self._listed = None
        memory = Memory.from_cursor(cursor, self.options.fingerprint())
        before = memory.to_cursor()
        async with client_of(self.options) as client:
            api = Api(self.options, client)
            survey = Survey(api)
            refused = await survey.roots()
            await survey.search()
            left = await self._found(survey, memory, known)
            for identity in known:
                if self._id(identity) in survey.trashed:
                    yield Tombstone(id=identity)
            async for change in self._read(api, survey, known):
                yield Checkpoint(cursor=before) if change is None else change
        yield Checkpoint(cursor=memory.to_cursor())
        if refused:
            raise refused[0]
        self._listed = [*(self.origin.document_id(entry.native) for entry in survey.entries.values()), *left]

    async def list_ids(self) -> AsyncIterator[str | Failure]:
        """Yield the id of all that there is: what the run has found, else by lists of its own."""
        if self._listed is not None:
            for identity in self._listed:
                yield identity
            return
        async with client_of(self.options) as client:
            survey = Survey(Api(self.options, client))
            refused = await survey.roots()
            await survey.search()
            for source in _sources(survey):
                await survey.rows(source, None)
            if refused:
                raise refused[0]
            for entry in survey.entries.values():
                yield self.origin.document_id(entry.native)

    async def fetch(self, ids: Sequence[str]) -> AsyncIterator[SourceDocument | Tombstone | Failure]:
        """Yield these documents as they are now."""
        async with client_of(self.options) as client:
            api = Api(self.options, client)
            survey, mishaps = Survey(api), Mishaps(probe=api.greet)
            reader = Reader(self.origin, api, survey, Names(api))
            for identity in dict.fromkeys(ids):
                found: SourceDocument | Failure | None
                try:
                    entry = await self._entry(survey, identity)
                    found = await reader.read(entry) if entry else None
                    mishaps.passed()
                except SourceError as error:
                    found = await mishaps.failure(identity, error)
                yield found or Tombstone(id=identity)

    async def _found(self, survey: Survey, memory: Memory, known: Mapping[str, str]) -> list[str]:
        """Find what search has not shown; return the known documents that could not all be asked for, and so stay."""
        sources = _sources(survey)
        is_much = len(self._missing(survey, known)) > _MANY
        for source in sources if is_much else oldest(sources, memory.queried, _ASKED_SOURCES):
            at = survey.api.date.isoformat()
            await survey.rows(source, None if is_much else due(source, memory.queried))
            memory.queried[source] = at
        memory.queried = {source: at for source, at in memory.queried.items() if source in survey.entries}
        missing = self._missing(survey, known)
        further = [identity for identity in missing if identity > memory.asked]
        asked = [*further, *(identity for identity in missing if identity <= memory.asked)][:_ASKED_ALONE]
        for identity in asked:
            await self._entry(survey, identity)
        memory.asked = asked[-1] if len(asked) < len(missing) else ""
        return sorted(set(missing) - set(asked))

    async def _read(
        self, api: Api, survey: Survey, known: Mapping[str, str]
    ) -> AsyncGenerator[SourceDocument | Failure | Estimate | None, None]:
        """Yield what differs from what is known; None after each batch. What is met on the way is read as well."""
        reader, mishaps = Reader(self.origin, api, survey, Names(api)), Mishaps(probe=api.greet)
        queue = deque(entry for entry in survey.entries.values() if self._is_due(entry, known))
        total, asked = len(queue), set[str]()
        yield Estimate(documents=total)
        done = 0
        while queue:
            entry = queue.popleft()
            try:
                document = await reader.read(entry)
                mishaps.passed()
                if document is not None:
                    yield document
            except SourceError as error:
                yield await mishaps.failure(self.origin.document_id(entry.native), error, entry.version)
            new = [one for one in await _met(reader, survey, asked) if self._is_due(one, known)]
            queue += new
            total += len(new)
            done += 1
            if done % _BATCH == 0:
                yield Estimate(documents=total)
                yield None

    async def _entry(self, survey: Survey, identity: str) -> Entry | None:
        """Ask for one document; None when it isn't there, not wanted, or in the trash."""
        kind, _, inner = self.origin.native_id(identity).partition("/")
        if id_of(inner) != inner or not inner:
            return None
        if kind == PAGES:
            return await survey.page(inner)
        return await survey.data_source(inner) if kind == DATA_SOURCES else None

    def _is_due(self, entry: Entry, known: Mapping[str, str]) -> bool:
        return not entry.is_settled or known.get(self.origin.document_id(entry.native)) != entry.version

    def _missing(self, survey: Survey, known: Mapping[str, str]) -> list[str]:
        """Return the known documents that nothing has been heard of, in order."""
        heard = survey.entries.keys() | survey.trashed | survey.foreign
        return sorted(identity for identity in known if self._id(identity) not in heard)

    def _id(self, identity: str) -> str:
        return self.origin.native_id(identity).partition("/")[2]


def _sources(survey: Survey) -> list[str]:
    return [entry.id for entry in survey.entries.values() if entry.kind == DATA_SOURCES]


async def _met(reader: Reader, survey: Survey, asked: set[str]) -> list[Entry]:
    """Return what stands on the pages that were read, and no list has shown; each is asked for once."""
    found: list[Entry] = []
    for page in reader.pages:
        if page not in survey.entries and page not in asked:
            asked.add(page)
            entry = await survey.page(page, passing=MISSING)
            found += [entry] if entry else []
    for database in reader.databases:
        if database not in asked and database not in survey.databases:
            asked.add(database)
            for entry in await survey.database(database):
                known = set(survey.entries)
                await survey.rows(entry.id, None)
                found += [entry, *(survey.entries[row] for row in survey.entries.keys() - known)]
    reader.pages.clear()
    reader.databases.clear()
    return found
