"""What a model says of names that the rules leave apart: which of them mean the same thing, told by which chunks.

Such a finding rests on two chunks of the same readers, one of each name. It stands as a row with each of them, and
counts while both are live and open: so it goes with either, and shows nobody more than they may read.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, Select, Table, and_, false, func, insert, or_, select

from ragcore.graph.doubtful import Pair, pair_of
from ragcore.stores.database import PAGE, Database
from ragcore.stores.overviews import OF_A_SOURCE
from ragcore.stores.rows import Record, digest, pages
from ragcore.stores.schema import counters, documents, graph_names, graph_relations

SAME = "="
"""Stands before what a name means the same as, in the place of what it is the short form of. No key begins with it."""
_LINES = 12
"""Lines of a name among which the one is chosen that a model is shown."""


@dataclass(slots=True)
class Told:
    """The names that chunks of the same readers tell: how many chunks each, and which the rules hold together."""

    chunks: dict[str, int] = field(default_factory=dict)
    related: set[Pair] = field(default_factory=set)


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Evidence:
    """What a chunk says of a name: the chunk that tells most; ``place`` is where it stands, as in its own row."""

    said: str
    chunk_id: str
    document_id: str
    generation: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Two names that mean the same thing, in chunks of one set of readers."""

    reader_set: str
    pair: Pair
    first: Evidence
    second: Evidence


class Sameness:
    """Reads names that may mean the same, and writes which do."""

    def __init__(self, database: Database) -> None:
        """Read and write in an open database."""
        self._database = database

    async def revision(self, knowledge_base: str) -> int:
        """Return the last switch in a knowledge base, 0 before the first."""
        own = documents.c.knowledge_base == knowledge_base
        newest = select(func.max(documents.c.revision)).where(own, OF_A_SOURCE)
        return await self._database.read(lambda connection: int(connection.scalar(newest) or 0))

    async def is_marked(self, knowledge_base: str, mark: str) -> bool:
        """Return whether what is there was put with this mark."""
        asked = select(counters.c.value).where(counters.c.name == _counter(knowledge_base))
        return await self._database.read(lambda connection: connection.scalar(asked)) == _number(mark)

    async def told(self, knowledge_base: str) -> dict[str, Told]:
        """Return the names of a knowledge base by the set of readers of the chunks that tell them."""
        table = graph_names
        counted = _live(table, table.c.reader_set, table.c.key, func.count(table.c.chunk_id.distinct()))
        counted = counted.where(_own(knowledge_base), table.c.stands_for == "")
        short = _live(table, table.c.reader_set, table.c.key, table.c.stands_for).where(
            _own(knowledge_base), table.c.stands_for > "", ~_is_same()
        )

        def work(connection: Connection) -> dict[str, Told]:
            found: dict[str, Told] = {}
            for reader_set, key, chunks in connection.execute(counted.group_by(table.c.reader_set, table.c.key)):
                found.setdefault(reader_set, Told()).chunks[key] = chunks
            for reader_set, key, long in connection.execute(short.distinct()):
                if reader_set in found:
                    found[reader_set].related.add(pair_of(key, long))
            return found

        return await self._database.read(work)

    async def evidence(self, knowledge_base: str, reader_set: str, keys: Collection[str]) -> dict[str, Evidence]:
        """Return what is said of each name by chunks of one set of readers: the line that says most."""
        names, relations = graph_names, graph_relations

        def work(connection: Connection) -> dict[str, Evidence]:
            lines: dict[str, list[Evidence]] = {}
            for key in sorted(keys):
                told = _live(names, *_place(names)).where(
                    _own(knowledge_base), names.c.reader_set == reader_set, names.c.key == key, names.c.stands_for == ""
                )
                lines[key] = _read(connection, told.order_by(func.length(names.c.said).desc(), names.c.said))
                if not any(line.said for line in lines[key]):
                    said = _live(relations, *_place(relations)).where(
                        relations.c.knowledge_base == knowledge_base,
                        relations.c.reader_set == reader_set,
                        or_(relations.c.source == key, relations.c.target == key),
                    )
                    order = (relations.c.weight.desc(), relations.c.said, relations.c.chunk_id)
                    lines[key] += _read(connection, said.order_by(*order))
            # By what is said before the ids, which change with anything that a document is given.
            return {key: min(some, key=lambda line: (-len(line.said), line)) for key, some in lines.items() if some}

        return await self._database.read(work)

    async def put(self, knowledge_base: str, found: Iterable[Finding], mark: str = "") -> None:
        """Write what means the same, in place of what was found before; of what is not live any more nothing.

        ``mark`` is a digest of all that it was found by; empty: something is lacking.
        """
        name = _counter(knowledge_base)
        rows = [row for one in found for row in _rows(knowledge_base, one)]

        def work(connection: Connection) -> None:
            connection.execute(graph_names.delete().where(_own(knowledge_base), _is_same()))
            live: set[str] = set()
            for page in pages((row["generation"] for row in rows), PAGE):
                some = select(documents.c.generation).where(documents.c.generation.in_(page))
                live.update(connection.scalars(some.where(documents.c.deleted == false())))
            written: Mapping[tuple[str, str, str], Record] = {
                (row["chunk_id"], row["key"], row["stands_for"]): row for row in rows if row["generation"] in live
            }
            if written:
                connection.execute(insert(graph_names), list(written.values()))
            connection.execute(counters.delete().where(counters.c.name == name))
            if mark:
                connection.execute(insert(counters), {"name": name, "value": _number(mark)})

        await self._database.write(work)


def _counter(knowledge_base: str) -> str:
    """Return the name of the row that holds the mark, within the length that it may have."""
    return f"graph_same:{digest(knowledge_base)[:32]}"


def _number(mark: str) -> int:
    """Return a digest as a number that the column takes."""
    return int(mark[:15], 16)


def _rows(knowledge_base: str, found: Finding) -> Iterable[Record]:
    key, other = found.pair.key, found.pair.other
    for name, means, line in ((key, other, found.first), (other, key, found.second)):
        yield {
            "chunk_id": line.chunk_id,
            "key": name,
            "stands_for": f"{SAME}{means}",
            "document_id": line.document_id,
            "knowledge_base": knowledge_base,
            "generation": line.generation,
            "reader_set": found.reader_set,
            "said": "",
        }


def _own(knowledge_base: str) -> Any:
    return graph_names.c.knowledge_base == knowledge_base


def _is_same() -> Any:
    return graph_names.c.stands_for.startswith(SAME)


def _place(table: Table) -> tuple[Any, ...]:
    return table.c.said, table.c.chunk_id, table.c.document_id, table.c.generation


def _live(table: Table, *columns: Any) -> Select[Any]:
    """Return a SELECT of what is live."""
    live = and_(
        documents.c.id == table.c.document_id,
        documents.c.generation == table.c.generation,
        documents.c.deleted == false(),
        OF_A_SOURCE,
    )
    return select(*columns).join(documents, live)


def _read(connection: Connection, query: Select[Any]) -> list[Evidence]:
    return [Evidence(**row._mapping) for row in connection.execute(query.limit(_LINES))]
