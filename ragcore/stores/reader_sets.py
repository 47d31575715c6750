"""Which of the documents whose sources told readers an audience may read: the filter of both indexes.

A knowledge base without such documents has no filter and costs next to nothing here: what there is to know of it is
kept, and read again only after a switch in it; but for what is not live, of which there is something only while
documents are being written.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, and_, bindparam, false, func, literal_column, select

from ragcore.stores.database import PAGE
from ragcore.stores.indexes import Permitted
from ragcore.stores.rows import is_open, pages
from ragcore.stores.schema import chunks, documents, staged

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
# Of what is not live, being written or waiting to be swept; the chunks of a generation all have one set.
_NOT_LIVE = (
    select(staged.c.knowledge_base, chunks.c.reader_set)
    .join(chunks, and_(chunks.c.generation == staged.c.generation, chunks.c.ordinal == 0))
    .where(staged.c.knowledge_base.in_(bindparam("names", expanding=True)), chunks.c.reader_set != "")
    .distinct()
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

        Of what stands in the indexes without being live, a set that no live document has counts as closed.

        Args:
            connection: reads; ``newest`` was read on it before.
            newest: the last switch of each knowledge base that is asked.
            readers: who sees what is found; None sees all.
        """
        if readers is None:
            return {}
        filters: dict[str, Permitted] = {}
        not_live = [(row[0], row[1]) for row in connection.execute(_NOT_LIVE, {"names": list(newest)})]
        for name, revision in newest.items():
            told = self._of(connection, name, revision)
            mine = frozenset(reader_set for reader_set, named in told.items() if is_open(named, readers))
            closed = {*told, *(reader_set for base, reader_set in not_live if base == name)} - mine
            if closed:
                filters[name] = Permitted(sets=mine, closed=frozenset(closed))
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
