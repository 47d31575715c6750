"""Which live documents meet a filter, and by which fields they can be told apart.

Each condition is one stretch of an index, so that it costs what meets it: 3 ms for 5,000 of 50,000 documents.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, and_, func, literal, not_, or_, select, true

from ragcore.filters import (
    SHOWN,
    Condition,
    Filter,
    Kind,
    KnownField,
    Operator,
    Value,
    field_name,
    normal,
    read,
    spread,
)
from ragcore.stores.database import PAGE, Database
from ragcore.stores.indexes import Matching, Permitted
from ragcore.stores.matching_rows import MatchingRows
from ragcore.stores.rows import pages
from ragcore.stores.schema import document_values as table
from ragcore.stores.schema import documents
from ragcore.stores.value_rows import ALL, ROWS

_STRANGE = table.alias("strange")

_FEW_MEET = frozenset({Operator.EQUAL, Operator.IN})
"""Asked first: where they leave few documents, the other conditions are only asked of these."""


SAMPLED = 300
"""Values of a field, each with a set of readers, that are looked at for a sample of it."""
SAMPLED_TABLES = 20
"""Documents whose tables are looked at for a sample of a column."""
SAMPLED_DOCUMENTS = 300
"""Documents that are looked at for samples of all fields, where filters or named documents narrow what may be shown."""


class DocumentValues:
    """Reads what filters compare."""

    def __init__(self, database: Database) -> None:
        """Read from an open database."""
        self._database = database
        self._rows = MatchingRows()

    async def matching(
        self,
        knowledge_base: str,
        filters: Sequence[Filter],
        only: Permitted | None = None,
        document_ids: Sequence[str] = (),
        homes: Mapping[str, str] = MappingProxyType({}),
    ) -> Matching:
        """Return what meets all of the filters, of what ``only`` admits, and of these documents, if any are given.

        ``homes`` is the knowledge base of each source: what still stands in another one, from before, is left out.
        """

        def work(connection: Connection) -> Matching:
            return self._matching(_Documents(connection, knowledge_base, only, homes), filters, document_ids)

        return await self._database.read(work)

    def _matching(self, found: "_Documents", filters: Sequence[Filter], document_ids: Sequence[str]) -> Matching:
        named = found.named(document_ids) if document_ids else None
        for one in filters:
            met = _met(found, one)
            named = met if named is None else named & met
        met_whole = found.all() if named is None else named
        fields = frozenset[str]().union(*(one.fields for one in filters))
        tables = found.with_rows(fields)
        if document_ids:
            tables &= found.named(document_ids)
        rows = self._rows.chunk_ids(found.connection, found.values(tables, fields), filters) if tables else set()
        return Matching(generations=frozenset(met_whole - tables), chunk_ids=frozenset(rows))

    async def fields(
        self,
        knowledge_base: str,
        only: Permitted | None = None,
        names: Sequence[str] = (),
        most: int = 24,
        *,
        filters: Sequence[Filter] = (),
        document_ids: Sequence[str] = (),
        homes: Mapping[str, str] = MappingProxyType({}),
    ) -> list[KnownField]:
        """Return the fields that documents of a knowledge base have, by name, with values of what may be looked at.

        That is what ``matching`` finds, told the same. Fields with these names, if any are given; at most ``most``. Of
        a table that meets the filters by single rows no value is given: the others of its rows don't meet them.
        """

        def work(connection: Connection) -> list[KnownField]:
            found = _Documents(connection, knowledge_base, only, homes)
            if not filters and not document_ids:
                return _fields(found, names, most)
            return _fields_of(found, self._matching(found, filters, document_ids).generations, names, most)

        return await self._database.read(work)


def _fields(found: "_Documents", names: Sequence[str], most: int) -> list[KnownField]:
    """Return the fields of all documents, with values."""
    asked = select(table.c.text, table.c.kind, table.c.reader_set).distinct().order_by(table.c.text).limit(SAMPLED)

    def all_names() -> Iterator[str]:
        # Step by step through the index: each name is one look-up, however many documents have it.
        name: str | None = ""
        while name is not None:
            name = found.connection.scalar(select(func.min(table.c.field)).where(found.base, table.c.field > name))
            if name is not None:
                yield name

    known: list[KnownField] = []
    for name in map(field_name, names) if names else all_names():
        values = asked.where(found.base, found.at_home, table.c.field == name, table.c.text > "")
        rows = found.connection.execute(values).all()
        if one := _beside(_sampled(rows, name, found.only), _column(found, name)):
            known.append(one)
        if len(known) == most:
            break
    return known


def _fields_of(found: "_Documents", generations: frozenset[str], names: Sequence[str], most: int) -> list[KnownField]:
    """Return the fields of some documents, with values of a few of them, evenly drawn."""
    drawn = spread(sorted(generations), SAMPLED_DOCUMENTS)
    ids = found.ids(drawn)
    kept = select(table.c.field, table.c.text, table.c.kind, table.c.reader_set)
    rows = found.connection.execute(kept.where(table.c.document_id.in_(ids), found.base)).all() if ids else ()
    told: dict[str, list[Any]] = {}
    for row in rows:
        told.setdefault(row.field, []).append(row)
    known: list[KnownField] = []
    for name in map(field_name, names) if names else sorted(told):
        values = sorted({row for row in told.get(name, ()) if row.text}, key=lambda row: row.text)
        one = _beside(_sampled(values, name, found.only), _column(found, name, ids))
        if one is not None:
            known.append(one if len(drawn) == len(generations) else replace(one, is_whole=False))
    return known[:most]


def _beside(values: KnownField | None, column: KnownField | None) -> KnownField | None:
    """Return what is known of a field from values of documents and from a column of their tables."""
    return values.beside(column, SHOWN) if values and column else values or column


def _column(found: "_Documents", name: str, among: Sequence[str] | None = None) -> KnownField | None:
    """Return what a few documents, ``among`` these, tell of a column of their tables; None: none open to us has it."""
    having = select(table.c.document_id, table.c.reader_set).where(
        found.base, found.at_home, table.c.field == name, table.c.kind == ROWS, table.c.text == ""
    )
    if among is not None:
        having = having.where(table.c.document_id.in_(among))
    rows = found.connection.execute(having.limit(SAMPLED)).all()
    ids = [row.document_id for row in rows if found.admits(row.reader_set)][:SAMPLED_TABLES]
    asked = select(documents.c.row_fields).where(documents.c.id.in_(ids))
    told = found.connection.scalars(asked) if ids else ()
    samples = [json.loads(said).get(name, ()) for said in told]
    values = sorted({text for sample in samples for text in sample})
    if not values:
        return None
    kinds = {read(text).kind for text in values}
    whole = len(rows) <= SAMPLED_TABLES and len(values) <= SHOWN
    kind = kinds.pop() if len(kinds) == 1 else Kind.TEXT
    return KnownField(name=name, kind=kind, sample=spread(values, SHOWN), is_whole=whole)


def _sampled(rows: Sequence[Any], name: str, only: Permitted | None) -> KnownField | None:
    """Return what the rows (text, kind, reader set) tell of a field, None where no value may be read."""
    open_to = [row for row in rows if only is None or only.admits(row.reader_set)]
    if not open_to:
        return None
    values = sorted({row.text for row in open_to})
    kinds = {row.kind for row in open_to}
    whole = len(rows) < SAMPLED and len(values) <= SHOWN
    kind = Kind(kinds.pop()) if len(kinds) == 1 else Kind.TEXT
    return KnownField(name=name, kind=kind, sample=spread(values, SHOWN), is_whole=whole)


class _Documents:
    """The documents of a knowledge base by their generations, of which only some may be read."""

    def __init__(
        self, connection: Connection, knowledge_base: str, only: Permitted | None, homes: Mapping[str, str]
    ) -> None:
        self.connection = connection
        self._name = knowledge_base
        self.base = table.c.knowledge_base == knowledge_base
        self.only = only
        self.at_home = self._at_home(sorted(name for name, home in homes.items() if home != knowledge_base))

    def _at_home(self, others: Sequence[str]) -> ColumnElement[bool]:
        """Say that a document is of none of these sources, which belong elsewhere."""
        if not others:
            return true()
        # By the value, of which there is an index, and then to the letter.
        strange = (
            select(_STRANGE.c.generation)
            .join(documents, documents.c.id == _STRANGE.c.document_id)
            .where(_STRANGE.c.knowledge_base == self._name, _STRANGE.c.field == ALL)
            .where(_STRANGE.c.text.in_(sorted({normal(name) for name in others})), documents.c.source.in_(others))
        )
        # Nearly always there is none.
        none = self.connection.execute(strange.limit(1)).first() is None
        return true() if none else table.c.generation.not_in(strange)

    def admits(self, reader_set: str) -> bool:
        """Return whether documents with this reader set may be read."""
        return self.only is None or self.only.admits(reader_set)

    def ids(self, generations: Sequence[str]) -> list[str]:
        """Return the ids of some documents, of at most PAGE."""
        asked = select(table.c.document_id).where(self.base, table.c.field == ALL, table.c.generation.in_(generations))
        return list(self.connection.scalars(asked))

    def all(self) -> set[str]:
        """Return all of them."""
        return self._read([self._of(ALL)])

    def named(self, ids: Iterable[str]) -> set[str]:
        """Return those with one of these ids."""
        return self._read(self._of(ALL).where(table.c.document_id.in_(page)) for page in pages(ids, PAGE))

    def with_rows(self, fields: Iterable[str]) -> set[str]:
        """Return those whose tables have a column of one of these names."""
        asked = (self._of(field).where(table.c.kind == ROWS, table.c.text == "") for field in sorted(fields))
        return self._read(asked)

    def values(self, generations: Iterable[str], fields: Iterable[str]) -> dict[str, dict[str, str]]:
        """Return what is known of some documents in these fields, by generation and field."""
        found: dict[str, dict[str, str]] = {generation: {} for generation in generations}
        asked = select(table.c.generation, table.c.text).where(self.base, table.c.text > "")
        for field in sorted(fields):
            for page in pages(sorted(found), PAGE):
                query = asked.where(table.c.field == field, table.c.generation.in_(page))
                for generation, text in self.connection.execute(query):
                    found[generation][field] = text
        return found

    def meeting(self, condition: Condition, within: set[str] | None) -> set[str]:
        """Return those that meet a condition, of a few if they are given."""
        if condition.operator is Operator.EMPTY:
            having = self._read([self._near(within, condition.name).where(table.c.text > "")])
            return (self.all() if within is None else within) - having
        return self._read([self._near(within, condition.name).where(_as_sql(condition))])

    def _near(self, within: set[str] | None, field: str) -> "Select[str, str]":
        query = self._of(field)
        return query if within is None else query.where(table.c.generation.in_(sorted(within)))

    def _of(self, field: str) -> "Select[str, str]":
        # As one text: 50,000 rows take 60 ms, and cut out of one 12.
        listed = func.aggregate_strings(table.c.generation, ",")
        where = (self.base, self.at_home, table.c.field == field)
        if self.only is None:
            return select(listed, literal("")).where(*where)
        return select(listed, table.c.reader_set).where(*where).group_by(table.c.reader_set)

    def _read(self, queries: "Iterable[Select[str, str]]") -> set[str]:
        found: set[str] = set()
        for listed, reader_set in (row for query in queries for row in self.connection.execute(query)):
            if listed and self.admits(reader_set):
                found.update(listed.split(","))
        return found


def _met(found: _Documents, asked: Filter) -> set[str]:
    """Return the generations of the documents that meet a filter by what is known of them."""
    if asked.join == "any":
        return set.union(*(found.meeting(condition, None) for condition in asked.conditions))
    met: set[str] | None = None
    for condition in sorted(asked.conditions, key=lambda one: one.operator not in _FEW_MEET):
        met_too = found.meeting(condition, met if met is not None and len(met) <= PAGE else None)
        met = met_too if met is None else met & met_too
    return met or set()


def _as_sql(condition: Condition) -> ColumnElement[bool]:
    """Say a condition on a value that is there, as ``Condition.is_met_by`` would judge it."""
    asked = condition.values
    first = asked[0] if asked else Value("", Kind.TEXT)
    same_kind, has_text, rank = table.c.kind == first.kind.value, table.c.text > "", first.rank or 0.0
    among = or_(*map(_equal, asked)) if asked else true()
    said: dict[Operator, ColumnElement[bool]] = {
        Operator.EQUAL: among,
        Operator.IN: among,
        Operator.NOT_EQUAL: and_(has_text, not_(among)),
        Operator.NOT_IN: and_(has_text, not_(among)),
        Operator.CONTAINS: table.c.text.contains(first.text, autoescape=True),
        Operator.NOT_CONTAINS: and_(has_text, not_(table.c.text.contains(first.text, autoescape=True))),
        Operator.STARTS: table.c.text.startswith(first.text, autoescape=True),
        Operator.ENDS: table.c.text.endswith(first.text, autoescape=True),
        Operator.NOT_EMPTY: has_text,
        Operator.MORE: and_(same_kind, table.c.rank > rank),
        Operator.LESS: and_(same_kind, table.c.rank < rank),
        Operator.AT_LEAST: and_(same_kind, table.c.rank >= rank),
        Operator.AT_MOST: and_(same_kind, table.c.rank <= rank),
    }
    return said[condition.operator]


def _equal(value: Value) -> ColumnElement[bool]:
    if value.rank is None:
        # Of the kind nothing is said: the text decides it, and the other index would be chosen.
        return table.c.text == value.text
    # A row without a rank is not equal to one: said so, since what is neither true nor false cannot be turned round.
    return and_(table.c.kind == value.kind.value, table.c.rank.is_not(None), table.c.rank == value.rank)
