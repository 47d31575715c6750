"""The connector of the source type ``notion``.

A document's id is what Notion's interface has it by: ``pages/<id>``, which a row of a database is too, or
``data_sources/<id>``. A run finds out what there is, then reads what it doesn't know in that version.
"""

from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from connectors.base import Change, Checkpoint, Estimate, Failure, Origin, SourceDocument, Tombstone
from connectors.mishaps import Mishaps
from connectors.notion.api import Api, client_of
from connectors.notion.documents import Reader
from connectors.notion.entries import Entry
from connectors.notion.finder import Finder, asked, inner
from connectors.notion.names import Names
from connectors.notion.options import NotionOptions
from connectors.notion.state import Memory
from connectors.notion.survey import Survey
from ragcore.errors import SourceError

_BATCH = 20
"""Documents between two Checkpoints: at the pace of Notion some ten seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """What a run has found, and what it remembers: ``before`` until all is read, ``memory`` after that."""

    finder: Finder
    before: Memory
    memory: Memory


@dataclass(slots=True)
class NotionConnector:
    """Reads what an integration sees."""

    origin: Origin
    options: NotionOptions
    _listed: list[str] | None = field(init=False, default=None)
    """What the run has found that there is."""
    _hiding: dict[str, Failure] = field(init=False, default_factory=dict)
    """What failed in a run that doesn't know what is indexed: it alone may lead to that."""
    _found: _Found | None = field(init=False, default=None)
    """Kept for when the run begins again after a fault: to walk all lists anew would take what Notion was short of."""

    async def changes(self, cursor: str | None, known: Mapping[str, str]) -> AsyncIterator[Change]:
        """Yield what is new or was edited, last edited first, and what is in the trash."""
        self._listed = None
        async with client_of(self.options) as client:
            api = Api(self.options, client)
            if self._found is None:
                before = Memory.from_cursor(cursor, self.options.basis())
                memory = replace(before, queried=dict(before.queried), is_afresh=False)
                finder = Finder.new(self.origin, api, known)
                async for _ in finder.find(memory):
                    yield Estimate(documents=0)  # a sign of life: how many there are is known at the end
                self._found = _Found(finder=finder, before=before, memory=memory)
            found = self._found
            finder = found.finder.again(api, known)
            survey = finder.survey
            for identity in known:
                if inner(self.origin, identity) in survey.trashed:
                    yield Tombstone(id=identity)
            for failure in finder.failures.values():
                self._note(found, failure)
                yield failure
            async for change in self._read(api, finder):
                self._note(found, change)
                yield Checkpoint(cursor=found.before.owing(finder.owed)) if change is None else change
        yield Checkpoint(cursor=found.memory.owing(finder.owed))
        if survey.refused:
            raise survey.refused[0]
        self._listed = [*(self.origin.document_id(entry.native) for entry in survey.entries.values()), *finder.left]

    async def list_ids(self) -> AsyncIterator[str | Failure]:
        """Yield the id of all that there is: what the run has found, else by lists of its own."""
        if self._listed is not None:
            for failure in self._hiding.values():
                yield replace(failure, covers=self.origin.document_id(""))
            for identity in self._listed:
                yield identity
            return
        async with client_of(self.options) as client:
            api = Api(self.options, client)
            finder = Finder.new(self.origin, api, {})
            async for _ in finder.find(Memory(basis="")):
                pass
            if finder.survey.refused:
                raise finder.survey.refused[0]
            for failure in finder.failures.values():
                yield failure
            for entry in finder.survey.entries.values():
                yield self.origin.document_id(entry.native)

    async def fetch(self, ids: Sequence[str]) -> AsyncIterator[SourceDocument | Tombstone | Failure]:
        """Yield these documents as they are now."""
        async with client_of(self.options) as client:
            api = Api(self.options, client)
            survey, mishaps = Survey(api, lambda entry: True), Mishaps(probe=api.greet)
            reader = Reader(self.origin, api, survey, Names(api))
            for identity in dict.fromkeys(ids):
                found: SourceDocument | Failure | None
                try:
                    entry = await asked(survey, self.origin, identity)
                    found = await reader.read(entry) if entry else None
                    mishaps.passed()
                except SourceError as error:
                    found = await mishaps.failure(identity, error, readers=self._readers)
                if found and self._listed is not None:
                    self._listed.append(identity)  # no list need show it, but it is there
                yield found or Tombstone(id=identity)

    @property
    def _readers(self) -> frozenset[str] | None:
        return None if self.options.readers is None else frozenset(self.options.readers)

    def _note(self, found: _Found, change: Change | None) -> None:
        if isinstance(change, Failure) and found.before.is_afresh:
            self._hiding[change.id] = change
        elif isinstance(change, SourceDocument):
            self._hiding.pop(change.id, None)

    async def _read(self, api: Api, finder: Finder) -> AsyncGenerator[SourceDocument | Failure | Estimate | None, None]:
        """Yield what differs from what is known; None after each batch. What is met on the way is read as well."""
        survey, mishaps = finder.survey, finder.mishaps
        reader = Reader(self.origin, api, survey, Names(api))
        queue = deque(entry for entry in survey.entries.values() if finder.is_due(entry))
        total, done = len(queue), 0
        yield Estimate(documents=total)
        while queue:
            entry = queue.popleft()
            try:
                document, met = None, list[Entry | Failure]()
                read = await reader.read(entry)
                # Before the page counts as read: what stands on it is met again only when it is.
                async for one in finder.met(reader.pages, reader.databases):
                    met.append(one)
                    yield Estimate(documents=total)  # a sign of life
                document = read
                mishaps.passed()
                finder.owed.discard(entry.native)
            except SourceError as error:
                identity = self.origin.document_id(entry.native)
                yield await mishaps.failure(identity, error, entry.version, readers=self._readers)
                finder.owed.add(entry.native)
            if document is not None:
                yield document
            for one in met:
                if isinstance(one, Entry):
                    queue.append(one)
                    total += 1
                else:
                    yield one
            reader.pages.clear()
            reader.databases.clear()
            done += 1
            if done % _BATCH == 0:
                yield Estimate(documents=total)
                yield None
