"""Which of the documents whose sources told readers an audience may read: the filter of both indexes.

A knowledge base without such documents has no filter and costs nothing here: what there is to know of it is kept, and
read again only after a switch in it.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, bindparam, false, func, literal_column, select

from ragcore.stores.database import PAGE
from ragcore.stores.indexes import Permitted
from ragcore.stores.rows import is_open, pages
from ragcore.stores.schema import documents

# As the index over them says it, to the letter: only then is it used.
_TOLD = (
    documents.c.knowledge_base == bindparam("name"),
    documents.c.reader_set != literal_column("''"),
    documents.c.deleted == false(),
)
_SETS = select(documents.c.reader_set).where(*_TOLD).distinct()
_READERS = (
    select(documents.c.reader_set, func.min(documents.c.readers))
    .where(*_TOLD, documents.c.reader_set.in_(bindparam("sets", expanding=True)))
    .group_by(documents.c.reader_set)
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    """The readers of each set in a knowledge base, as of a revision."""

    revision: int
    readers: Mapping[str, frozenset[str]]


class ReaderSets:
    """Remembers which sets of readers each knowledge base has. Safe to use from several threads."""

    def __init__(self) -> None:
        """Begin with nothing known."""
        self._known: dict[str, _Known] = {}

    def permitted(
        self, connection: Connection, newest: Mapping[str, int], readers: frozenset[str] | None
    ) -> dict[str, Permitted]:
        """Return the filter of each knowledge base in which something is closed to these readers.

        Args:
            connection: reads; ``newest`` was read on it before.
            newest: the last switch of each knowledge base that is asked.
            readers: who sees what is found; None sees all.
        """
        if readers is None:
            return {}
        filters: dict[str, Permitted] = {}
        for name, revision in newest.items():
            told = self._of(connection, name, revision)
            mine = frozenset(reader_set for reader_set, named in told.items() if is_open(named, readers))
            if len(mine) < len(told):
                filters[name] = Permitted(sets=mine, closed=frozenset(told) - mine)
        return filters

    def _of(self, connection: Connection, name: str, revision: int) -> Mapping[str, frozenset[str]]:
        known = self._known.get(name)
        if known is None or known.revision != revision:
            before = known.readers if known is not None else {}
            sets = list(connection.scalars(_SETS, {"name": name}))
            told = {one: before[one] for one in sets if one in before}
            told |= _read(connection, name, [one for one in sets if one not in before])
            known = self._known[name] = _Known(revision=revision, readers=told)
        return known.readers


def _read(connection: Connection, name: str, sets: Sequence[str]) -> dict[str, frozenset[str]]:
    return {
        row[0]: frozenset(json.loads(row[1]))
        for page in pages(sets, PAGE)
        for row in connection.execute(_READERS, {"name": name, "sets": page})
    }
