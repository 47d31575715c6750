"""All that there is: what Notion's search shows, the rows of its databases, and what stands where.

Search isn't promised to be complete, nor to know at once what is new
(https://developers.notion.com/reference/search-optimizations-and-limitations). So rows are asked for in their data
sources too, and a page that another one holds is asked for where no list has it.
"""

from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Set
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from connectors.cursors import since
from connectors.notion.api import ABSENT, MISSING, Api
from connectors.notion.entries import Entry, entry_of
from connectors.notion.ids import id_of
from connectors.notion.replies import (
    BLOCK,
    DATA_SOURCE,
    DATABASE,
    FOUND,
    PAGE,
    Block,
    Database,
    DataSource,
    FoundList,
    Page,
    Parent,
)
from ragcore.errors import SourceBadReply, SourceGone

_BY_EDIT = {"timestamp": "last_edited_time"}
_HIGHEST = 100
"""Steps up that are taken at most from a page to what it stands in."""
_MOST_TITLES = 300
_PATHS = {"page_id": "pages", "block_id": "blocks", "data_source_id": "data_sources", "database_id": "databases"}


@dataclass(slots=True)
class Survey:
    """What one run has found, in the order that it was found: what was edited last comes first."""

    api: Api
    is_due: Callable[[Entry], bool]
    """Tells what is to be read."""
    entries: dict[str, Entry] = field(default_factory=dict)
    """By id."""
    titles: dict[str, str] = field(default_factory=dict)
    trashed: set[str] = field(default_factory=set)
    """Ids of what Notion says to be in the trash, or archived."""
    foreign: set[str] = field(default_factory=set)
    """Ids of what is there and below none of the pages that are wanted."""
    databases: set[str] = field(default_factory=set)
    """Ids of the databases that a data source was seen of."""
    refused: list[SourceGone] = field(default_factory=list)
    _asked_titles: int = 0
    _parents: dict[str, Parent] = field(default_factory=dict)
    _below: dict[str, bool] = field(default_factory=dict)
    _looked: set[str] = field(default_factory=set)

    async def roots(self) -> None:
        """Find the pages and databases that the settings name; ``refused`` is what is to be said of those not there."""
        for identity in self.api.options.pages:
            try:
                await self._root(identity)
            except SourceGone as error:
                self.refused.append(error)

    async def search(self) -> AsyncGenerator[None, None]:
        """Find what search shows, last edited first; where it shows no more, also from the other end.

        Yields after each page, as every list does here: it may take minutes, and tells so that it goes on.
        """
        for direction in ("descending", "ascending"):
            body = {"sort": {"timestamp": "last_edited_time", "direction": direction}}
            is_cut = False
            async for page in self.api.posted(FOUND, "search", body):
                self._noted(page)
                is_cut = page.is_cut
                yield
            if not is_cut:
                break
        for identity in list(self.entries):
            if not await self._is_wanted(identity):
                self.foreign.add(identity)
                del self.entries[identity]
            yield  # what stands in a block is a request of its own

    async def rows(self, source: str, start: datetime | None) -> AsyncGenerator[None, None]:
        """Find the rows of a data source, all or those edited since a time; nothing when it isn't there any more.

        SourceBadReply, once all that can be found is, where some can't.
        """
        edited = {**_BY_EDIT, "last_edited_time": {"on_or_after": start.isoformat()}} if start else None
        first, is_short = "", False
        while True:
            begun = {"timestamp": "created_time", "created_time": {"on_or_after": first}} if first else None
            filters = [one for one in (edited, begun) if one]
            body: dict[str, Any] = {"sorts": [{"timestamp": "created_time", "direction": "ascending"}]}
            if filters:
                body["filter"] = {"and": filters}
            last, is_cut = "", False
            try:
                async for page in self.api.posted(FOUND, f"data_sources/{source}/query", body):
                    last, is_cut = self._noted(page) or last, page.is_cut
                    yield
            except SourceGone:
                return
            if not is_cut or not last:
                break
            # 10,000 rows are told of one question: the next begins at the last of them.
            is_short |= last == first
            first = last if last != first else (datetime.fromisoformat(last) + timedelta(minutes=1)).isoformat()
        if is_short:
            told = "more of its rows were made in the same minute than Notion tells of"
            raise SourceBadReply(told, mend="move rows of that import to a database of their own")

    async def page(self, identity: str, *, passing: Set[int] = ABSENT) -> Entry | None:
        """Ask for one page; None when it isn't there (by a status of ``passing``), not wanted, or in the trash."""
        found = await self.api.get(PAGE, f"pages/{identity}", passing=passing)
        return await self._judged(found) if found else None

    async def data_source(self, identity: str, *, passing: Set[int] = ABSENT) -> Entry | None:
        """Ask for one data source; None as for a page."""
        found = await self.api.get(DATA_SOURCE, f"data_sources/{identity}", passing=passing)
        return await self._judged(found) if found else None

    async def database(self, identity: str) -> list[Entry]:
        """Ask for the data sources of a database that no list has shown; none when it isn't there."""
        found = await self.api.get(DATABASE, f"databases/{identity}", passing=MISSING)
        if found is None or found.in_trash or found.is_archived:
            return []
        self._parents[id_of(identity)] = found.parent
        sources = [id_of(one.id) for one in found.data_sources]
        new = [await self.data_source(one, passing=MISSING) for one in sources if one not in self.entries]
        return [entry for entry in new if entry is not None]

    async def title_of(self, identity: str) -> str:
        """Return the title of a page or data source, "" when the integration may not see it.

        What no list has shown is asked for, up to a limit: rows may refer to thousands that aren't shared.
        """
        if identity not in self.titles and self._asked_titles < _MOST_TITLES:
            self._asked_titles += 1
            found = await self.api.get(PAGE, f"pages/{identity}", passing=MISSING)
            self.titles[identity] = found.title if found else ""
        return self.titles.get(identity, "")

    async def is_buried(self, identity: str) -> bool:
        """Tell whether something stands in what is in the trash, and take note: it has no mark of its own then.

        (Notion speaks of "an archived ancestor" where such a page is to be written.) What a list has shown is not.
        """
        inner = identity
        for _ in range(_HIGHEST):
            parent = self._parents.get(inner)
            if parent is None or parent.kind not in _PATHS or not parent.id:
                break
            if parent.id not in self.trashed and parent.id not in self.entries:
                await self._look_at(parent)
            if parent.id in self.trashed:
                self.trashed.add(identity)
                self.entries.pop(identity, None)
                return True
            if parent.id in self.entries:
                break
            inner = parent.id
        return False

    def _noted(self, page: FoundList) -> str:
        """Take note of what stands on a page of a list; return when the last of it was made."""
        last = ""
        for what in page.results:
            if isinstance(what, Page | DataSource):
                last = what.created_time.isoformat()
                self._told(what)
        return last

    def _told(self, what: Page | DataSource) -> Entry | None:
        self._place(what)
        entry = entry_of(what, self.api.date, self.api.options)
        self.titles[entry.id] = entry.title
        if what.in_trash or what.is_archived:
            self.trashed.add(entry.id)
            self.entries.pop(entry.id, None)
            return None
        self.trashed.discard(entry.id)
        # Of 6 kB that a row weighs its version is a tenth; of what is indexed already nothing else is needed.
        self.entries[entry.id] = entry if self.is_due(entry) else replace(entry, what=None)
        return entry

    async def _judged(self, what: Page | DataSource) -> Entry | None:
        entry = self._told(what)
        if entry is not None and not await self._is_wanted(entry.id):
            self.foreign.add(entry.id)
            del self.entries[entry.id]
            return None
        return entry

    def _place(self, what: Page | DataSource) -> None:
        """Take note of what something stands in."""
        self._parents[id_of(what.id)] = what.parent
        if isinstance(what, DataSource):
            self.databases.add(what.parent.id)
            self._parents.setdefault(what.parent.id, what.database_parent)

    async def _is_wanted(self, identity: str) -> bool:
        """Tell whether something is one of the pages that the settings name, or below one."""
        roots = frozenset(self.api.options.pages)
        if not roots:
            return True
        passed: list[str] = []
        is_below = False
        for _ in range(_HIGHEST):
            if identity in roots or self._below.get(identity):
                is_below = True
                break
            if identity in self._below:
                break
            passed.append(identity)
            parent = self._parents.get(identity)
            if parent is None or parent.kind not in _PATHS or not parent.id:
                break
            if parent.database in roots:
                is_below = True
                break
            await self._look_up(parent)
            identity = parent.id
        self._below |= dict.fromkeys(passed, is_below)
        return is_below

    async def _look_up(self, parent: Parent) -> None:
        """Find what a parent stands in itself, where no list has told it."""
        if parent.id not in self._parents and parent.id not in self.api.options.pages:
            await self._look_at(parent)

    async def _look_at(self, parent: Parent) -> None:
        """Ask for a parent, once: what it stands in itself, and whether it is in the trash."""
        if parent.id in self._looked:
            return
        path = f"{_PATHS[parent.kind]}/{parent.id}"
        found: Page | Block | Database | DataSource | None
        match parent.kind:
            case "page_id":
                found = await self.api.get(PAGE, path, passing=MISSING)
            case "block_id":
                found = await self.api.get(BLOCK, path, passing=MISSING)
            case "database_id":
                found = await self.api.get(DATABASE, path, passing=MISSING)
            case _:
                found = await self.api.get(DATA_SOURCE, path, passing=MISSING)
        if isinstance(found, DataSource):
            self._place(found)
        self._parents[parent.id] = found.parent if found else Parent()
        if found is not None and (found.in_trash or (not isinstance(found, Block) and found.is_archived)):
            self.trashed.add(parent.id)
        self._looked.add(parent.id)

    async def _root(self, identity: str) -> None:
        found = await self.page(identity, passing=MISSING)
        if found is None and identity not in self.trashed:
            sources = await self.database(identity)
            found = sources[0] if sources else await self.data_source(identity, passing=MISSING)
        if found is None:
            where = (
                "is in the trash" if identity in self.trashed else "is not there, or not shared with the integration"
            )
            mend = "share it with the integration (on the page: ···, Connections), or take it out of `pages`"
            raise SourceGone(f"the page or database {identity} {where}", mend=mend)


def due(source: str, queried: Mapping[str, str]) -> datetime | None:
    """Return since when the rows of a data source are to be asked for, None: all."""
    return since(queried.get(source))


def oldest(sources: Iterable[str], queried: Mapping[str, str], most: int) -> list[str]:
    """Return the data sources to ask in a run: all that never were, and of the others those that waited longest."""
    never = [source for source in sources if source not in queried]
    before = sorted((source for source in sources if source in queried), key=lambda source: queried[source])
    return never + before[:most]
