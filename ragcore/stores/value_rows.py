"""The table of what filters compare: written in the commit that makes a document live, changes it or deletes it."""

from collections.abc import Iterator, Sequence

from sqlalchemy import delete, insert
from sqlalchemy.ext.asyncio import AsyncConnection

from ragcore.filters import field_name, read
from ragcore.stores.overviews import is_overview
from ragcore.stores.rows import Document, Record, pages, utc
from ragcore.stores.schema import document_values

ROWS = "rows"
"""The kind of a field that is a column of the document's tables."""
ALL = "source"
"""The field that every document has."""

_PAGE = 500


def values_of(document: Document) -> dict[str, str]:
    """Return what is known of a document by field: what it is, what its source tells of it, what a model read there.

    In this order: of a field that several know, the first counts.
    """
    updated_at = utc(document.updated_at)
    known = {
        ALL: document.source,
        "title": document.title,
        "author": document.author,
        "media_type": document.media_type,
        "name": document.name,
        "updated_at": updated_at.isoformat() if updated_at else "",
    }
    found: dict[str, str] = {}
    for values in (known, document.metadata, document.extracted):
        for name, text in values.items():
            if (field := field_name(name)) and read(text).text:
                found.setdefault(field, text)
    return found


async def put_values(connection: AsyncConnection, documents: Sequence[Document]) -> None:
    """Write the values of documents, in place of those that they had.

    Summaries of many documents have none: a filter is to choose among the documents of sources.
    """
    await drop_values(connection, [document.id for document in documents])
    records = [record for one in documents if not is_overview(one.source) for record in _records(one)]
    if records:
        await connection.execute(insert(document_values), records)


async def drop_values(connection: AsyncConnection, document_ids: Sequence[str]) -> None:
    """Delete the values of documents."""
    for page in pages(document_ids, _PAGE):
        await connection.execute(delete(document_values).where(document_values.c.document_id.in_(page)))


def _records(document: Document) -> Iterator[Record]:
    place: Record = {
        "document_id": document.id,
        "knowledge_base": document.knowledge_base,
        "generation": document.generation,
        "reader_set": document.reader_set,
    }
    for field, text in values_of(document).items():
        value = read(text)
        yield {**place, "field": field, "kind": value.kind.value, "text": value.text, "rank": value.rank}
    for field in sorted({field_name(name) for name in document.row_fields} - {""}):
        yield {**place, "field": field, "kind": ROWS, "text": "", "rank": None}
