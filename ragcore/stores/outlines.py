"""The tables of contents of documents: from the headings of their chunks, and from what a model named."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, bindparam, case, not_, select

from ragcore.contents import Entry, of_headings
from ragcore.stores.database import Database
from ragcore.stores.rows import contents_from, read_json
from ragcore.stores.schema import chunks

MOST_CHUNKS = 5_000
"""Chunks of a document that are looked at for its sections: about 50 ms, and a book of 5,000 pages."""

_NAMED = case((chunks.c.enrichment.contains('"contents":'), chunks.c.enrichment), else_="{}")
_IS_SUMMARY = chunks.c.enrichment.contains('"leaves":')  # it stands behind the document, in no section
_ROWS = (
    select(chunks.c.ordinal, chunks.c.heading_path, _NAMED.label("enrichment"))
    .where(chunks.c.generation == bindparam("generation"), not_(_IS_SUMMARY))
    .order_by(chunks.c.ordinal)
    .limit(MOST_CHUNKS)
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """The sections of a generation of a document in order, and how many chunks it has, at most ``MOST_CHUNKS``."""

    generation: str
    entries: tuple[Entry, ...]
    chunks: int


class Outlines:
    """Reads tables of contents."""

    def __init__(self, database: Database) -> None:
        """Read from an open database."""
        self._database = database

    async def of(self, generations: Sequence[str]) -> list[Outline]:
        """Return the table of contents of each generation; one without entries where it has no sections."""

        def work(connection: Connection) -> list[Outline]:
            return [
                _outline(generation, connection.execute(_ROWS, {"generation": generation}).all())
                for generation in generations
            ]

        return await self._database.read(work)


def _outline(generation: str, rows: Sequence[Row[Any, Any, Any]]) -> Outline:
    paths = [(row.ordinal, tuple(read_json(row.heading_path) or ())) for row in rows]
    named = (
        Entry(ordinal=ordinal, level=len(path) + entry.level, title=entry.title)
        for row, (ordinal, path) in zip(rows, paths, strict=True)
        for entry in contents_from(read_json(row.enrichment), ordinal)
    )
    return Outline(generation=generation, entries=tuple(_in_order(of_headings(paths), named)), chunks=len(rows))


def _in_order(headings: Iterable[Entry], named: Iterable[Entry]) -> list[Entry]:
    """Return both in the order of the document: in a chunk, its headings come first."""
    return sorted((*headings, *named), key=lambda entry: entry.ordinal)
