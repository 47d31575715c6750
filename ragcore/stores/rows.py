"""Values as rows and rows as values; the only place that knows how a chunk or a document lies in its table."""

import dataclasses
import hashlib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, Connection, Float, Row, Table, cast, extract, func, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection

from ragcore.contents import Entry
from ragcore.filters import RowValues
from ragcore.graph.values import ChunkGraph, from_json, to_json
from ragcore.stores.schema import chunks, documents
from ragcore.types import Box, Chunk, Leaf, Location, Parent, Permalink, SectionKind

Record = dict[str, Any]
"""One row to be written, by column name."""

_NOTHING = ("{}", "[]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A document as the registry knows it.

    ``hash`` decides whether work is due, ``pipeline`` is the part of it that is ours (parser, chunker, options).
    ``revision`` is the switch that wrote it. ``readers`` is None when the source did not say. ``enriched`` is the
    fingerprint of the enrichment that all its chunks have, empty for none.
    ``metadata`` is what the source tells of it, ``extracted`` what a model read out of it, and ``row_fields`` the
    columns of its tables with a few of their values.
    """

    id: str
    knowledge_base: str
    source: str
    title: str = ""
    url: str = ""
    name: str = ""
    media_type: str = ""
    author: str = ""
    version: str = ""
    hash: str = ""
    pipeline: str = ""
    generation: str = ""
    revision: int = 0
    deleted: bool = False
    chunk_count: int = 0
    token_count: int = 0
    readers: frozenset[str] | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)
    updated_at: datetime | None = None
    indexed_at: datetime | None = None
    enriched: str = ""
    extracted: Mapping[str, str] = field(default_factory=dict)
    row_fields: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def reader_set(self) -> str:
        """Return the id of the set of its readers, empty when its source did not say."""
        return reader_set_of(self.readers)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredChunk:
    """A chunk with what its indexes need besides: where its vector lies, and in which language it is written.

    ``embedded`` is what was embedded in place of its headings and its text; empty: those. ``contents`` are the entries
    of its document's table of contents that begin with it, as a model named them, and ``rows`` the values of the rows
    of a table that it holds. ``graph`` is what a model read out of it for the knowledge graph, None where it named
    nothing.
    """

    chunk: Chunk
    vector_key: str
    language: str
    embedded: str = ""
    contents: tuple[Entry, ...] = ()
    rows: RowValues | None = None
    graph: ChunkGraph | None = None

    @property
    def generation(self) -> str:
        """Return the generation, the first part of the chunk's id."""
        return generation_of(self.chunk.id)

    @property
    def entry(self) -> str:
        """Return the entry of the vector index that this chunk stands behind: one for each text and set of readers."""
        return entry_of(self.vector_key, self.chunk.reader_set)


def is_open(told: Collection[str] | None, readers: Collection[str] | None) -> bool:
    """Return whether one of these readers is among those that a source told, if it told any; readers None see all."""
    return told is None or readers is None or not frozenset(told).isdisjoint(readers)


def reader_set_of(readers: Collection[str] | None) -> str:
    """Return the id of a set of readers, 32 hexadecimal digits, the same for equal sets; empty for None."""
    return "" if readers is None else digest("readers", *sorted(readers))[:32]


def entry_of(vector_key: str, reader_set: str) -> str:
    """Return the id of an entry of the vector index: a text, for those who may read it."""
    return f"{vector_key}.{reader_set}" if reader_set else vector_key


def parts_of_entry(entry: str) -> tuple[str, str]:
    """Return the vector's key and the reader set of an entry."""
    vector_key, _, reader_set = entry.partition(".")
    return vector_key, reader_set


def generation_of(chunk_id: str) -> str:
    """Return the generation that a chunk id ``<generation>-<ordinal>`` names."""
    return chunk_id.rpartition("-")[0]


def generation(document_id: str, knowledge_base: str, document_hash: str) -> str:
    """Return the generation's name, 32 hexadecimal digits: the same work always has the same name."""
    return digest(document_id, knowledge_base, document_hash)[:32]


def digest(*parts: str | bytes) -> str:
    """Return the SHA-256 of the parts, kept apart by their lengths, as 64 hexadecimal digits."""
    hashed = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        hashed.update(len(data).to_bytes(8, "little"))
        hashed.update(data)
    return hashed.hexdigest()


def storable(text: str) -> str:
    """Return the text without what no database takes: NUL, and halves of surrogate pairs."""
    return text.replace("\0", "").encode("utf-8", "ignore").decode("utf-8")


def utc(moment: datetime | None) -> datetime | None:
    """Return the moment in UTC; one without a zone is taken as UTC, which is how SQLite hands it back."""
    if moment is None:
        return None
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def database_clock(connection: AsyncConnection | Connection) -> ColumnElement[float]:
    """Return an expression for the seconds since 1970 by the database's clock, the same in all of a transaction."""
    if connection.dialect.name == "sqlite":
        return (func.julianday("now") - 2440587.5) * 86400.0
    return cast(extract("epoch", func.now()), Float)


CHUNK_COLUMNS = (
    *(c for c in chunks.c if c.name != "generation"),
    documents.c.title,
    documents.c.url,
    documents.c.media_type,
    documents.c.updated_at,
)
"""What chunk_from_row reads: the chunk's own columns, and those that its document lends it."""


def select_chunks() -> Any:
    """Return a SELECT over chunks with what their documents lend them."""
    return select(*CHUNK_COLUMNS).join(documents, documents.c.id == chunks.c.document_id)


def chunk_from_row(row: Row[Any]) -> Chunk:
    """Return the chunk of a row of CHUNK_COLUMNS."""
    enrichment = read_json(row.enrichment)
    return Chunk(
        id=row.id,
        document_id=row.document_id,
        knowledge_base=row.knowledge_base,
        ordinal=row.ordinal,
        text=row.text,
        title=row.title,
        token_count=row.token_count,
        url=row.url,
        media_type=row.media_type,
        kind=SectionKind(row.kind),
        heading_path=tuple(read_json(row.heading_path)),
        location=_location(read_json(row.location)),
        overlap=row.overlap,
        updated_at=utc(row.updated_at),
        keywords=tuple(enrichment.get("keywords", ())),
        questions=tuple(enrichment.get("questions", ())),
        tags=tuple(enrichment.get("tags", ())),
        tag_scores=tuple((tag, score) for tag, score in enrichment.get("tag_scores", ())),
        reader_set=row.reader_set,
        parent=_parent(enrichment.get("parent", ())),
        leaves=tuple(enrichment.get("leaves", ())),
        rests_on=tuple(
            Leaf(chunk_id=chunk_id, document_id=document_id) for chunk_id, document_id in enrichment.get("rests_on", ())
        ),
    )


def _parent(said: Sequence[int]) -> Parent | None:
    return Parent(first=said[0], last=said[1], goes_on=bool(said[2])) if said else None


def _location(said: dict[str, Any]) -> Location:
    permalinks = tuple(Permalink(**link) for link in said.pop("permalinks", ()))
    boxes = tuple(
        Box(page=page, left=left, top=top, right=right, bottom=bottom)
        for page, left, top, right, bottom in said.pop("boxes", ())
    )
    return Location(**said, permalinks=permalinks, boxes=boxes)


def stored_from_row(row: Row[Any]) -> StoredChunk:
    """Return the chunk of a row of CHUNK_COLUMNS with its vector's key and its language."""
    enrichment = read_json(row.enrichment)
    return StoredChunk(
        chunk=chunk_from_row(row),
        vector_key=row.vector_key,
        language=row.language,
        embedded=enrichment.get("embedded", ""),
        contents=contents_from(enrichment, row.ordinal),
        rows=row_values(row.enrichment),
        graph=from_json(enrichment.get("graph")),
    )


def contents_from(enrichment: Mapping[str, Any], ordinal: int) -> tuple[Entry, ...]:
    """Return the entries of the table of contents that begin with a chunk, of what its column ``enrichment`` says."""
    return tuple(Entry(ordinal=ordinal, level=level, title=title) for level, title in enrichment.get("contents", ()))


def row_values(enrichment: str) -> RowValues | None:
    """Return the values of rows in a chunk's column ``enrichment``, None where it has none."""
    said = read_json(enrichment).get("rows") if '"rows":' in enrichment else None
    return RowValues(fields=tuple(said["fields"]), rows=tuple(map(tuple, said["values"]))) if said else None


def chunk_record(stored: StoredChunk) -> Record:
    """Return the row of a chunk."""
    chunk = stored.chunk
    location: dict[str, Any] = {
        f.name: value
        for f in dataclasses.fields(Location)
        if (value := getattr(chunk.location, f.name)) != f.default  # only what is set
    }
    if chunk.location.permalinks:
        location["permalinks"] = [dataclasses.asdict(link) for link in chunk.location.permalinks]
    if chunk.location.boxes:
        location["boxes"] = [dataclasses.astuple(box) for box in chunk.location.boxes]
    enrichment: Record = {
        name: list(value)
        for name, value in (("keywords", chunk.keywords), ("questions", chunk.questions), ("tags", chunk.tags))
        if value
    }
    if chunk.tag_scores:
        enrichment["tag_scores"] = [[tag, score] for tag, score in chunk.tag_scores]
    if stored.embedded:
        enrichment["embedded"] = stored.embedded
    if stored.contents:
        enrichment["contents"] = [[entry.level, storable(entry.title)] for entry in stored.contents]
    if stored.rows:
        enrichment["rows"] = {"fields": list(stored.rows.fields), "values": [list(row) for row in stored.rows.rows]}
    if stored.graph:
        enrichment["graph"] = to_json(stored.graph)
    if chunk.parent:
        enrichment["parent"] = [chunk.parent.first, chunk.parent.last, int(chunk.parent.goes_on)]
    if chunk.leaves:
        enrichment["leaves"] = list(chunk.leaves)
    if chunk.rests_on:
        enrichment["rests_on"] = [[leaf.chunk_id, leaf.document_id] for leaf in chunk.rests_on]
    return {
        "id": chunk.id,
        "document_id": chunk.document_id,
        "generation": stored.generation,
        "knowledge_base": chunk.knowledge_base,
        "ordinal": chunk.ordinal,
        "text": chunk.text,
        "overlap": chunk.overlap,
        "kind": chunk.kind.value,
        "language": stored.language,
        "heading_path": _json(list(chunk.heading_path)),
        "location": _json(location),
        "token_count": chunk.token_count,
        "enrichment": _json(enrichment),
        "vector_key": stored.vector_key,
        "reader_set": chunk.reader_set,
    }


def document_from_row(row: Row[Any]) -> Document:
    """Return the document of a whole row of its table."""
    values: Record = dict(row._mapping)
    readers = values["readers"]
    del values["reader_set"]  # it follows from the readers
    values["readers"] = None if readers is None else frozenset(json.loads(readers))
    values["metadata"] = read_json(values["metadata"])
    values["extracted"] = read_json(values["extracted"])
    values["row_fields"] = {name: tuple(some) for name, some in read_json(values["row_fields"]).items()}
    values["updated_at"] = utc(values["updated_at"])
    values["indexed_at"] = utc(values["indexed_at"])
    return Document(**values)


def document_record(document: Document) -> Record:
    """Return the row of a document."""
    values: Record = {f.name: getattr(document, f.name) for f in dataclasses.fields(Document)}
    values["readers"] = None if document.readers is None else _json(sorted(document.readers))
    values["reader_set"] = document.reader_set
    values["metadata"] = _json(dict(document.metadata))
    values["extracted"] = _json({storable(name): storable(value) for name, value in document.extracted.items()})
    values["row_fields"] = _json({name: list(some) for name, some in document.row_fields.items()})
    values["updated_at"] = utc(document.updated_at)
    values["indexed_at"] = utc(document.indexed_at)
    return values


def vector_bytes(vector: NDArray[np.float32]) -> bytes:
    """Return a vector as float32, little-endian."""
    return vector.astype("<f4", copy=False).tobytes()


def vector_from_bytes(data: bytes) -> NDArray[np.float32]:
    """Return the float32 vector ``(dim,)`` of its bytes; it cannot be written to."""
    return np.frombuffer(data, dtype="<f4").astype(np.float32, copy=False)


async def insert_new(connection: AsyncConnection, table: Table, records: Sequence[Record]) -> None:
    """Insert rows; those whose key is there already are left as they are."""
    if not records:
        return
    dialect = sqlite if connection.dialect.name == "sqlite" else postgresql
    await connection.execute(dialect.insert(table).on_conflict_do_nothing(), list(records))


async def upsert(connection: AsyncConnection, table: Table, records: Sequence[Record]) -> None:
    """Insert rows, or overwrite all columns of those whose key is there already; all records have the same columns."""
    if not records:
        return
    dialect = sqlite if connection.dialect.name == "sqlite" else postgresql
    statement = dialect.insert(table)
    keys = [column.name for column in table.primary_key]
    written = {name: statement.excluded[name] for name in records[0] if name not in keys}
    await connection.execute(statement.on_conflict_do_update(index_elements=keys, set_=written), list(records))


def pages(ids: Iterable[str], size: int) -> Iterable[list[str]]:
    """Cut ids into lists of at most ``size``, each id once, in order."""
    unique = list(dict.fromkeys(ids))
    return (unique[start : start + size] for start in range(0, len(unique), size))


def read_json(written: str) -> Any:
    """Return what JSON says; most columns say that there is nothing."""
    return {} if written in _NOTHING else json.loads(written)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
