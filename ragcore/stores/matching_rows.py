"""Which chunks of tables have a row that meets a filter.

The values of its rows stand with each chunk, and those of all tables that have a column of the filter are read: 3,000
rows of ten columns take 50 ms, and 10 once they are known. What was read of a generation never changes.
"""

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from threading import Lock

from sqlalchemy import Connection, bindparam, select

from ragcore.filters import Condition, Filter
from ragcore.stores.rows import pages, row_values
from ragcore.stores.schema import chunks

KEPT_CELLS = 1_000_000
"""Cells that are kept in memory: about 100 MB."""
_TOGETHER = 20
"""Documents whose rows are read at once."""

_CHUNKS = (
    select(chunks.c.generation, chunks.c.id, chunks.c.enrichment)
    .where(chunks.c.generation.in_(bindparam("generations", expanding=True)))
    .order_by(chunks.c.generation, chunks.c.ordinal)
)

Records = tuple[tuple[str, tuple[dict[str, str], ...]], ...]
"""By chunk, the records of its rows; none for a chunk without rows."""


class MatchingRows:
    """Reads the rows of tables, and keeps what was read lately. Safe to use from several threads."""

    def __init__(self) -> None:
        """Begin with nothing read."""
        self._kept: OrderedDict[str, Records] = OrderedDict()
        self._cells = 0
        self._lock = Lock()

    def chunk_ids(
        self, connection: Connection, known: Mapping[str, Mapping[str, str]], filters: Sequence[Filter]
    ) -> set[str]:
        """Return the chunks that have a row which meets all of the filters, as part of its document.

        A row has the values of its document, too, where it has none of its own; a chunk without rows has those alone.

        Args:
            connection: reads.
            known: what is known of each document, by its generation.
            filters: all are to be met by one row.
        """
        judge = _Judge(filters)
        return {
            chunk_id
            for generation, records in self._read(connection, known)
            for chunk_id, rows in records
            if any(judge.is_met_by(row, known[generation]) for row in rows or ({},))
        }

    def _read(self, connection: Connection, generations: Iterable[str]) -> Iterable[tuple[str, Records]]:
        wanted = list(generations)
        with self._lock:
            kept = {one: self._kept[one] for one in wanted if one in self._kept}
            for one in kept:
                self._kept.move_to_end(one)
        yield from kept.items()
        for page in pages([one for one in wanted if one not in kept], _TOGETHER):
            read: dict[str, list[tuple[str, tuple[dict[str, str], ...]]]] = {one: [] for one in page}
            for generation, chunk_id, enrichment in connection.execute(_CHUNKS, {"generations": page}):
                rows = row_values(enrichment)
                read[generation].append((chunk_id, tuple(rows.records()) if rows else ()))
            for generation, records in read.items():
                self._keep(generation, tuple(records))
                yield generation, tuple(records)

    def _keep(self, generation: str, records: Records) -> None:
        with self._lock:
            if generation in self._kept:
                return
            self._kept[generation] = records
            self._cells += _cells(records)
            while self._cells > KEPT_CELLS and self._kept:
                self._cells -= _cells(self._kept.popitem(last=False)[1])


class _Judge:
    """Filters that many rows are asked about: what a condition says of a value is worked out once."""

    def __init__(self, filters: Sequence[Filter]) -> None:
        memos: dict[Condition, dict[str, bool]] = {}
        self._filters = [
            (all if one.join == "all" else any, [(c, c.name, memos.setdefault(c, {})) for c in one.conditions])
            for one in filters
        ]

    def is_met_by(self, row: Mapping[str, str], document: Mapping[str, str]) -> bool:
        """Return whether a row meets all of the filters; where it has no value, its document's counts."""
        return all(
            join(_said(condition, memo, row.get(name) or document.get(name, "")) for condition, name, memo in asked)
            for join, asked in self._filters
        )


def _said(condition: Condition, memo: dict[str, bool], value: str) -> bool:
    said = memo.get(value)
    if said is None:
        said = memo[value] = condition.is_met_by(value)
    return said


def _cells(records: Records) -> int:
    return sum(len(row) for _, rows in records for row in rows)
