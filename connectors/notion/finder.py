"""What a run does to find all that there is: search, data sources, and what no list has shown one by one."""

from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from connectors.base import Failure, Origin
from connectors.mishaps import Mishaps
from connectors.notion.api import MISSING, Api
from connectors.notion.entries import DATA_SOURCES, PAGES, Entry
from connectors.notion.ids import id_of
from connectors.notion.state import Memory
from connectors.notion.survey import Survey, due, oldest
from ragcore.errors import SourceError

_ASKED_SOURCES = 20
"""Data sources whose edited rows a run asks for, besides those that it sees for the first time."""
_MANY = 20
"""Documents that no list has shown: from so many on, whole data sources are asked instead of single rows."""
_ASKED_ALONE = 300
"""Documents that a run asks for one by one, as no list has shown them; the next run asks for further ones."""


@dataclass(slots=True)
class Finder:
    """Fills ``survey``; ``known`` are the versions of what is indexed, by the ids of documents."""

    origin: Origin
    survey: Survey
    mishaps: Mishaps
    known: Mapping[str, str]
    left: list[str] = field(default_factory=list)
    """Known documents that nothing was heard of and that could not be asked for: they stay."""
    failures: dict[str, Failure] = field(default_factory=dict)
    """Data sources whose rows can't be told, by the id of their document."""
    owed: set[str] = field(default_factory=set)
    """What was heard of and isn't read yet, though no list need show it again, by what Notion has it by."""
    _asked: set[str] = field(default_factory=set)

    @classmethod
    def new(cls, origin: Origin, api: Api, known: Mapping[str, str]) -> "Finder":
        """Return a finder that has found nothing yet."""
        return cls(origin, Survey(api, _due_by(origin, known)), Mishaps(probe=api.greet), known)

    def again(self, api: Api, known: Mapping[str, str]) -> "Finder":
        """Return what was found, to go on from with another client and what is known by now."""
        survey = replace(self.survey, api=api, is_due=_due_by(self.origin, known))
        return replace(self, survey=survey, mishaps=Mishaps(probe=api.greet), known=known)

    async def find(self, memory: Memory) -> AsyncGenerator[None, None]:
        """Find what there is, and note in ``memory`` what was asked; yields after each step."""
        self.owed |= set(memory.owed)
        await self.survey.roots()
        async for _ in self.survey.search():
            yield
        for identity in self._missing():
            if self.origin.native_id(identity).startswith(f"{DATA_SOURCES}/"):
                await self._ask(identity)
                yield
        async for _ in self._rows(memory):
            yield
        missing = self._missing()
        further = [identity for identity in missing if identity > memory.asked]
        now = [*further, *(identity for identity in missing if identity <= memory.asked)][:_ASKED_ALONE]
        for identity in now:
            await self._ask(identity)
            yield
        memory.asked = now[-1] if len(now) < len(missing) else ""
        self.left += sorted(set(missing) - set(now))
        gone = self.survey.trashed | self.survey.foreign
        self.owed -= {native for native in self.owed if native.partition("/")[2] in gone}

    async def met(self, pages: Iterable[str], databases: Iterable[str]) -> AsyncGenerator[Entry | Failure, None]:
        """Yield what stands on pages that were read, no list has shown, and is due; each is asked for once.

        SourceError where a database can't be asked for: nothing but the page that it stands on leads to it.
        """
        survey = self.survey
        for page in pages:
            if page not in survey.entries and page not in self._asked:
                self.owed.add(f"{PAGES}/{page}")
                try:
                    entry = await survey.page(page, passing=MISSING)
                except SourceError as error:
                    yield await self.mishaps.failure(self.origin.document_id(f"{PAGES}/{page}"), error)
                else:
                    if entry and self.is_due(entry):
                        yield entry
                    else:
                        self.owed.discard(f"{PAGES}/{page}")
                self._asked.add(page)
        for database in databases:
            if database not in self._asked and database not in survey.databases:
                before = set(survey.entries)
                for source in await survey.database(database):
                    self.owed.add(source.native)
                    async for _ in survey.rows(source.id, None):
                        pass
                self._asked.add(database)
                for new in survey.entries.keys() - before:
                    if self.is_due(survey.entries[new]):
                        yield survey.entries[new]

    def is_due(self, entry: Entry) -> bool:
        """Tell whether a document is to be read."""
        return self.origin.document_id(entry.native) not in self.failures and self.survey.is_due(entry)

    async def _rows(self, memory: Memory) -> AsyncGenerator[None, None]:
        """Ask data sources for their rows: as many as a run may, or all in whole where search shows too little."""
        sources = [entry.id for entry in self.survey.entries.values() if entry.kind == DATA_SOURCES]
        is_much = len(self._missing()) > _MANY
        for source in sources if is_much else oldest(sources, memory.queried, _ASKED_SOURCES):
            at = self.survey.api.date.isoformat()
            async for _ in self._rows_of(source, None if is_much else due(source, memory.queried)):
                yield
            if self.origin.document_id(f"{DATA_SOURCES}/{source}") not in self.failures:
                memory.queried[source] = at
        memory.queried = {source: at for source, at in memory.queried.items() if source in self.survey.entries}

    async def _rows_of(self, source: str, start: datetime | None) -> AsyncGenerator[None, None]:
        """Ask for the rows of one data source; where they can't be told, its own document tells why."""
        try:
            async for _ in self.survey.rows(source, start):
                yield
            self.mishaps.passed()
        except SourceError as error:
            identity = self.origin.document_id(f"{DATA_SOURCES}/{source}")
            self.failures[identity] = await self.mishaps.failure(identity, error)
            self.owed.add(f"{DATA_SOURCES}/{source}")

    async def _ask(self, identity: str) -> None:
        """Ask for one document; what can't be told for now stays."""
        try:
            if await asked(self.survey, self.origin, identity) is None:
                self.owed.discard(self.origin.native_id(identity))
            self.mishaps.passed()
        except SourceError as error:
            await self.mishaps.failure(identity, error)
            self.left.append(identity)

    def _missing(self) -> list[str]:
        """Return the documents, known or owed, that nothing has been heard of, in order."""
        heard = self.survey.entries.keys() | self.survey.trashed | self.survey.foreign
        kept = set(self.left)
        there = self.known.keys() | set(map(self.origin.document_id, self.owed))
        return sorted(one for one in there if inner(self.origin, one) not in heard and one not in kept)


def _due_by(origin: Origin, known: Mapping[str, str]) -> Callable[[Entry], bool]:
    return lambda entry: not entry.is_settled or known.get(origin.document_id(entry.native)) != entry.version


def inner(origin: Origin, identity: str) -> str:
    """Return Notion's own id of a document."""
    return origin.native_id(identity).partition("/")[2]


async def asked(survey: Survey, origin: Origin, identity: str) -> Entry | None:
    """Ask for one document; None when it isn't there, not wanted, or in the trash."""
    kind, _, own = origin.native_id(identity).partition("/")
    if not own or id_of(own) != own:
        return None
    entry = None
    if kind == PAGES:
        entry = await survey.page(own)
    elif kind == DATA_SOURCES:
        entry = await survey.data_source(own)
    return None if entry is None or await survey.is_buried(own) else entry
