"""What the knowledge graph says around the names of a question: only what is live, and open to its readers.

Each name is a few steps into an index. With 200,000 relations of 50,000 chunks, a fifth of them closed to the reader, a
question costs about 10 ms, some 50 where it names what stands in thousands of chunks, and 1 where it names nothing.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, Table, and_, false, select

from ragcore.graph.names import Span, longest_first
from ragcore.graph.walking import Around, Named, Related, ends_beyond
from ragcore.stores.database import PAGE, Database
from ragcore.stores.graph_same import SAME
from ragcore.stores.indexes import Matching, Permitted
from ragcore.stores.overviews import COMMUNITIES, OF_A_SOURCE, source_of
from ragcore.stores.rows import pages
from ragcore.stores.schema import documents, graph_names, graph_relations

MOST_NAMED = 6
"""Things of a question from which the graph is walked, as RAGFlow does."""
MOST_KNOWN = 32
"""Names of a question that are looked at for these, the longest first."""
MOST_BEYOND = 24
"""Things that these lead to from which it is walked on."""
OF_NAMED, OF_BEYOND = 100, 12
"""Relations in each direction of a thing that is named, and of one beyond: the weightiest."""
OF_NAME = 12
"""Chunks of a name of which is read what they say of it."""
_READ_AT_MOST = 2_000
"""Rows that are read for so many, where most are closed or left out by a filter."""
_IS_SAME = graph_names.c.stands_for.startswith(SAME)


@dataclass(frozen=True, slots=True, kw_only=True)
class Admitted:
    """What of a knowledge base a question may see: what is open to its readers, and what meets its filters.

    None: all. ``homes`` is the knowledge base of each source.
    """

    only: Permitted | None = None
    matching: Matching | None = None
    homes: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


class Graphs:
    """Reads the knowledge graph."""

    def __init__(self, database: Database) -> None:
        """Read from an open database."""
        self._database = database

    async def known(self, knowledge_bases: Sequence[str], keys: Collection[str]) -> dict[str, list[str]]:
        """Return those of the keys that are names in each knowledge base, whoever may read where they stand."""
        table = graph_names

        def work(connection: Connection) -> dict[str, list[str]]:
            found: dict[str, list[str]] = {}
            for name in knowledge_bases:
                for page in pages(keys, PAGE):
                    asked = select(table.c.key).distinct().where(table.c.knowledge_base == name, table.c.key.in_(page))
                    if rows := connection.scalars(asked).all():
                        found.setdefault(name, []).extend(rows)
            return found

        return await self._database.read(work)

    async def around(
        self, knowledge_base: str, asked: Mapping[str, tuple[Span, ...]], known: Sequence[str], admitted: Admitted
    ) -> Around | None:
        """Return what lies around the things that a question names, up to two steps away; None where it names none.

        Args:
            knowledge_base: where to look.
            asked: the places of each name that may stand in the question.
            known: those of them that are names in this knowledge base.
            admitted: what may be seen. Of the rest nothing counts, neither as a name nor on the way.
        """
        return await self._database.read(
            lambda connection: _View(connection, knowledge_base, admitted).around(asked, known)
        )

    async def reports(self, knowledge_base: str, same: Mapping[str, str], admitted: Admitted) -> list[str]:
        """Return the ids of the reports that are about things that a question names: about most of them first.

        Args:
            knowledge_base: where to look.
            same: the keys of the names, as ``Around`` has them.
            admitted: what may be seen. Whether what a report rests on is, too, the registry knows.
        """
        return await self._database.read(lambda connection: _View(connection, knowledge_base, admitted).reports(same))


class _View:
    """What may be seen of the graph of a knowledge base."""

    def __init__(self, connection: Connection, knowledge_base: str, admitted: Admitted) -> None:
        self._connection = connection
        self._knowledge_base = knowledge_base
        self._admitted = admitted

    def around(self, asked: Mapping[str, tuple[Span, ...]], known: Sequence[str]) -> Around | None:
        names: dict[str, list[Any]] = {}
        for key in sorted(known, key=lambda key: (asked[key][0][0] - asked[key][0][1], key))[:MOST_KNOWN]:
            if rows := self._names(_own_lines(key), OF_NAME):
                names[key] = rows
        named = longest_first(asked, list(names), MOST_NAMED)
        if not named:
            return None
        same = self._same(named)
        near = self._relations(same, OF_NAMED)
        far = self._relations(ends_beyond(near, same, MOST_BEYOND), OF_BEYOND)
        for key in same:
            if key not in names:
                names[key] = self._names(_own_lines(key), OF_NAME)
        said = [
            Named(chunk_id=row.chunk_id, key=row.key, said=row.said) for key in same for row in names[key] if row.said
        ]
        seen = set(near)
        return Around(same=same, names=said, near=near, far=[one for one in far if one not in seen])

    def reports(self, same: Mapping[str, str]) -> list[str]:
        about: dict[str, set[str]] = {}
        for key, named in same.items():
            query = self._of(graph_names, COMMUNITIES).where(graph_names.c.key == key).order_by(graph_names.c.chunk_id)
            for row in self._read(query, OF_NAME):
                about.setdefault(row.chunk_id, set()).add(named)
        return sorted(about, key=lambda chunk_id: (-len(about[chunk_id]), chunk_id))

    def _same(self, named: Sequence[str]) -> dict[str, str]:
        """Return by key the named thing that it means: each itself, its long form, and its short forms.

        A short form that stands for several things, and is asked for, leads to all of them. From one of them it leads
        nowhere: what else it stands for is something else.
        """
        same = {key: key for key in named}
        for key in named:
            for long in self._long_forms(key):
                same.setdefault(long, key)
        for long, key in list(same.items()):
            rows = self._names(graph_names.c.stands_for == long, OF_NAME)
            for short in dict.fromkeys(row.key for row in rows):
                if short not in same and self._long_forms(short) == [long]:
                    same[short] = key
        for name, key in list(same.items()):
            for other in self._meant_by(name):
                same.setdefault(other, key)
        return same

    def _meant_by(self, key: str) -> list[str]:
        """Return what a model says means the same as a name, where both chunks are seen that it says so of."""
        rows = self._names(and_(graph_names.c.key == key, _IS_SAME), OF_NAMED)
        found: dict[str, None] = {}
        for row in rows:
            other = row.stands_for.removeprefix(SAME)
            back = and_(graph_names.c.key == other, graph_names.c.stands_for == f"{SAME}{key}")
            if any(one.reader_set == row.reader_set for one in self._names(back, OF_NAMED)):
                found.setdefault(other)
        return list(found)

    def _long_forms(self, key: str) -> list[str]:
        """Return what a key is the short form of."""
        rows = self._names(and_(graph_names.c.key == key, graph_names.c.stands_for > "", ~_IS_SAME), OF_NAMED)
        return list(dict.fromkeys(row.stands_for for row in rows))

    def _names(self, condition: ColumnElement[bool], most: int) -> list[Any]:
        query = self._of(graph_names).where(condition).order_by(graph_names.c.chunk_id)
        return self._read(query, most)

    def _relations(self, keys: Iterable[str], most: int) -> list[Related]:
        table = graph_relations
        order = (table.c.weight.desc(), table.c.chunk_id.desc(), table.c.number.desc())
        found: dict[tuple[str, int], Related] = {}
        for key in keys:
            for end in (table.c.source, table.c.target):
                for row in self._read(self._of(table).where(end == key).order_by(*order), most):
                    found[row.chunk_id, row.number] = Related(
                        chunk_id=row.chunk_id, source=row.source, target=row.target, said=row.said, weight=row.weight
                    )
        return list(found.values())

    def _of(self, table: Table, kind: str = "") -> Select[Any]:
        """Return a SELECT of what is live and open, of the documents of sources or of a kind of overview."""
        live = and_(
            documents.c.id == table.c.document_id,
            documents.c.generation == table.c.generation,
            documents.c.deleted == false(),
            documents.c.source == source_of(kind) if kind else OF_A_SOURCE,
        )
        query = select(table, documents.c.source.label("home")).join(documents, live)
        query = query.where(table.c.knowledge_base == self._knowledge_base)
        only = self._admitted.only
        if only is None or only.values > PAGE:  # of so many sets each row is judged when it is read
            return query
        if len(only.sets) <= len(only.closed):
            return query.where(table.c.reader_set.in_(["", *sorted(only.sets)]))
        return query.where(table.c.reader_set.not_in(sorted(only.closed)))

    def _read(self, query: Select[Any], most: int) -> list[Any]:
        found: list[Any] = []
        for row in self._connection.execute(query.limit(_READ_AT_MOST)):
            if self._admits(row):
                found.append(row)
                if len(found) == most:
                    break
        return found

    def _admits(self, row: Any) -> bool:
        admitted = self._admitted
        return (
            (admitted.only is None or admitted.only.admits(row.reader_set))
            and (admitted.matching is None or admitted.matching.admits(row.chunk_id))
            and admitted.homes.get(row.home, self._knowledge_base) == self._knowledge_base
        )


def _own_lines(key: str) -> ColumnElement[bool]:
    """Return what a name's rows meet, but those of what a model says that it means."""
    return and_(graph_names.c.key == key, ~_IS_SAME)
