"""Pages and data sources as documents."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field

from connectors.base import Origin, SourceDocument
from connectors.markdown import harmless_words
from connectors.notion.api import Api
from connectors.notion.blocks import Tree
from connectors.notion.entries import Entry
from connectors.notion.ids import id_of
from connectors.notion.names import Names
from connectors.notion.properties import Property, whole
from connectors.notion.replies import COMMENTS, ITEMS, DataSource, Page
from connectors.notion.rich import markdown
from connectors.notion.survey import Survey
from connectors.notion.writing import Node, Writer, Written
from ragcore.errors import SourceBadReply, SourceGone

_UNTITLED = "Untitled"
_SHOWN_COLUMNS = 200
_LONGEST = 450.0
"""Seconds for one document. A run that hears nothing for 600 is ended (``connectors/sync/patience``), and would be at
the same page each time."""


@dataclass(slots=True)
class Reader:
    """Reads documents one by one; ``pages`` and ``databases`` are those that were met on pages, by id."""

    origin: Origin
    api: Api
    survey: Survey
    names: Names
    pages: list[str] = field(default_factory=list)
    databases: list[str] = field(default_factory=list)

    async def read(self, entry: Entry) -> SourceDocument | None:
        """Return a document, None when it vanished since it was told of; SourceError when it can't be read."""
        try:
            async with asyncio.timeout(_LONGEST):
                return await self._read(entry)
        except TimeoutError:
            told = f"Notion takes more than {_LONGEST / 60:.1f} minutes to tell it"
            raise SourceBadReply(told, mend="divide the page, or raise `requests_per_second`") from None

    async def _read(self, entry: Entry) -> SourceDocument | None:
        what, title = entry.what, entry.title or _UNTITLED
        if what is None:
            raise RuntimeError("what is read had not been due")
        if isinstance(what, DataSource):
            written = _database(what, title)
        else:
            try:
                written = await self._page(what, title)
            except SourceGone:
                # What is on it may be missing for another reason than that it is gone: then it must not be passed over.
                if await self.survey.page(entry.id) is None:
                    self.survey.entries.pop(entry.id, None)
                    return None
                raise
        readers = self.api.options.readers
        database = await self._database_of(what) if isinstance(what, Page) else ""
        return SourceDocument(
            id=self.origin.document_id(entry.native),
            source=self.origin.source,
            content=written.content,
            name=f"{entry.id}.md",
            media_type="text/markdown",
            title=title,
            url=what.url,
            author=await self.names.of(what.created_by.id) if what.created_by else "",
            version=entry.version,
            updated_at=what.last_edited_time,
            readers=None if readers is None else frozenset(readers),
            metadata={"database": database} if database else {},
            permalinks=written.permalinks,
        )

    async def _page(self, page: Page, title: str) -> Written:
        about = await self._about(page)
        tree = Tree(self.api)
        nodes = await tree.read(id_of(page.id) or page.id)
        self.pages += map(id_of, tree.pages)
        self.databases += map(id_of, tree.databases)
        for linked in _linked(nodes):
            await self.survey.title_of(linked)
        writer = Writer(url=page.url, titles=self.survey.titles)
        # A long page takes a while to write.
        await asyncio.to_thread(_write, writer, title, about, nodes)
        if self.api.options.comments:
            async for line in self._comments(page):
                writer.block(page.url, line)
        return writer.written()

    async def _about(self, page: Page) -> list[str]:
        """Return the lines that tell a row's properties, and of which database it is one."""
        database = await self._database_of(page)
        lines = [f"In the database {harmless_words(database)}."] if database else []
        told: list[str] = []
        for short in page.properties:
            if short.kind == "title":
                continue
            one = short if short.is_whole else await self._whole(page, short)
            titles = [await self.survey.title_of(id_of(other)) for other in one.pages]
            text = one.text or ", ".join(harmless_words(title) for title in titles if title)
            if text:
                told.append(f"- {harmless_words(one.name)}: {text}")
        return [*lines, *([""] if lines and told else []), *told]

    async def _whole(self, page: Page, short: Property) -> Property:
        items: list[dict[str, object]] = []
        async for part in self.api.pages(ITEMS, f"pages/{id_of(page.id)}/properties/{short.id}"):
            items += part.results
        return whole(short, items)

    async def _database_of(self, what: Page) -> str:
        """Return the title of the data source that a page is a row of, "" when it is none."""
        if what.parent.kind != "data_source_id":
            return ""
        if what.parent.id not in self.survey.titles:
            found = await self.survey.data_source(what.parent.id)
            self.survey.titles.setdefault(what.parent.id, found.title if found else "")
        return self.survey.titles[what.parent.id]

    async def _comments(self, page: Page) -> AsyncGenerator[str, None]:
        is_first = True
        async for part in self.api.pages(COMMENTS, f"comments?block_id={id_of(page.id)}"):
            for comment in part.results:
                words = markdown(comment.rich_text)
                if not words:
                    continue
                if is_first:
                    yield "## Comments"
                is_first = False
                name = (comment.display_name.resolved_name if comment.display_name else "") or ""
                name = name or (await self.names.of(comment.created_by.id) if comment.created_by else "")
                yield f"**{harmless_words(name) or 'Somebody'}**, {comment.created_time:%Y-%m-%d}:\n\n{words}"


def _write(writer: Writer, title: str, about: Sequence[str], nodes: Sequence[Node]) -> None:
    writer.begin(title, about)
    writer.nodes(nodes)


def _database(source: DataSource, title: str) -> Written:
    """Return the document of a database: what it is for, and what its rows have."""
    writer = Writer(url=source.url, titles={})
    writer.begin(title)
    writer.block(source.url, markdown(source.description))
    columns = list(source.properties.items())[:_SHOWN_COLUMNS]
    lines = [
        f"- {harmless_words(column.name or name)}"
        + (f": {harmless_words(' '.join(column.description.split()))}" if column.description else "")
        for name, column in columns
    ]
    writer.block(source.url, "\n".join(["A database of Notion. Its properties:", "", *lines] if lines else []))
    return writer.written()


def _linked(nodes: Sequence[Node]) -> list[str]:
    """Return the ids of the pages that blocks link to without telling their titles."""
    found: list[str] = []
    for node in nodes:
        body = node.block.body
        if node.block.type == "link_to_page" and id_of(body.page_id):
            found.append(id_of(body.page_id))
        found += _linked(node.children)
    return found
