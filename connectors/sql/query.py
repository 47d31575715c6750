"""The statements that are made of the query of the settings."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import sqlalchemy as sa

BEGINNING = datetime(1800, 1, 1, tzinfo=UTC)
"""What `:since` is when everything is asked for: before all that is kept, and within every database's range."""

_SINCE = re.compile(r"(?<![:\w\\]):since(?![:\w])")
_OTHER = re.compile(r"(?<![:\w\\]):(?!since(?![:\w]))(?=\w+(?![:\w]))")  # what SQLAlchemy would take for a parameter
_LARGEST = 2**63


@dataclass(frozen=True, slots=True)
class Query:
    """A query as it was written; ``sql`` is it without what may stand behind it."""

    written: str
    sql: str = field(init=False)
    is_incremental: bool = field(init=False)

    def __post_init__(self) -> None:
        """Work out whether it asks for what changed since a time."""
        sql = self.written.strip().rstrip("; \t\r\n")
        object.__setattr__(self, "sql", _OTHER.sub(r"\:", sql))
        object.__setattr__(self, "is_incremental", bool(_SINCE.search(sql)))

    def rows(self, since: datetime, *, dialect: str, zone: ZoneInfo) -> sa.TextClause:
        """Return the query itself."""
        return self._bound(self.sql, since, dialect, zone)

    def ids(self, *, dialect: str, zone: ZoneInfo) -> sa.TextClause:
        """Return a query of all ids."""
        return self._bound(self._inner("id"), BEGINNING, dialect, zone)

    def some(self, ids: Sequence[Any], *, dialect: str, zone: ZoneInfo) -> sa.TextClause:
        """Return a query of the rows with these ids, which are ``can_be_looked_up``."""
        statement = self._bound(f"{self._inner('*')} WHERE id IN :citebot_ids", BEGINNING, dialect, zone)
        kind: Any = {int: sa.BigInteger, UUID: sa.Uuid}.get(type(ids[0]), sa.String)
        return statement.bindparams(sa.bindparam("citebot_ids", value=list(ids), expanding=True, type_=kind))

    def _inner(self, columns: str) -> str:
        # The last line may end in a comment; Oracle takes no AS before a table's name.
        return f"SELECT {columns} FROM (\n{self.sql}\n) citebot_rows"

    def _bound(self, sql: str, since: datetime, dialect: str, zone: ZoneInfo) -> sa.TextClause:
        statement = sa.text(sql)
        if not self.is_incremental:
            return statement
        if dialect == "postgresql":
            # Compared with a time that has no zone, it is taken in the session's, which is ``zone``.
            bound: sa.BindParameter[Any] = sa.bindparam("since", value=since, type_=sa.DateTime(timezone=True))
        elif dialect == "sqlite":
            bound = sa.bindparam("since", value=str(_local(since, zone).replace(microsecond=0)))
        else:
            bound = sa.bindparam("since", value=_local(since, zone), type_=sa.DateTime())
        return statement.bindparams(bound)


def can_be_looked_up(ids: Sequence[Any]) -> bool:
    """Tell whether a statement can ask for these ids as they came: texts, numbers or UUIDs, all of one kind."""
    kinds = {type(identity) for identity in ids}
    return len(kinds) == 1 and (
        kinds <= {str, UUID} or (kinds == {int} and all(-_LARGEST <= identity < _LARGEST for identity in ids))
    )


def _local(moment: datetime, zone: ZoneInfo) -> datetime:
    return moment.astimezone(zone).replace(tzinfo=None)
