"""An answer is shared once, however often and wherever Share is pressed, and whatever becomes of the process."""

from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Connection, or_, select, update

from bots.platform import Sharing
from bots.turn.claims.rows import Clock, inserting
from ragcore.history import Transactions
from ragcore.stores.rows import utc
from ragcore.stores.schema import shares

SHARE_SECONDS = 60.0
"""How long a press is left to show what is shared; after that the next one looks for it, and goes on."""
_APART = timedelta(minutes=1)
"""So far a platform's clock may be behind ours."""


class Shares:
    """The shared answers of one database, as one process sees them; safe to use from many tasks."""

    def __init__(self, database: Transactions, *, owner: str, clock: Clock) -> None:
        """Share as ``owner``, the name of this process, by the ``clock`` that leases run by."""
        self._database = database
        self._owner = owner
        self._clock = clock

    async def begin(self, reference: str, *, alone: bool = False) -> tuple[Sharing, datetime | None]:
        """Record, committed on return, that the answer of a turn is about to be shared, if it is for this press to do.

        Then, where an earlier press came to no known end, also since when that one's messages may stand.

        Args:
            reference: That of the turn.
            alone: No other process works on this database: what another one began is not under way any more.

        Raises:
            StoreError: the database failed; nothing is to be shared.
        """

        def begin(connection: Connection) -> tuple[Sharing, datetime | None]:
            now = self._clock(connection)
            held = {"owner": self._owner, "lease_until": now + SHARE_SECONDS}
            row: dict[str, Any] = {"reference": reference, "begun_at": datetime.now(UTC), **held}
            insert = inserting(connection, shares).on_conflict_do_nothing().values(row)
            if connection.execute(insert.returning(shares.c.reference)).first() is not None:
                return "now", None
            mine = shares.c.reference == reference
            again = update(shares).where(mine, shares.c.done_at.is_(None), self._free(now, alone=alone)).values(held)
            if begun := utc(connection.execute(again.returning(shares.c.begun_at)).scalar()):
                return "now", begun - _APART
            is_done = connection.execute(select(shares.c.done_at).where(mine)).scalar() is not None
            return ("done" if is_done else "going"), None

        return await self._database.write(begin)

    def _free(self, now: ColumnElement[float], *, alone: bool) -> ColumnElement[bool]:
        ended = shares.c.lease_until <= now
        return or_(ended, shares.c.owner != self._owner) if alone else ended

    async def end(self, reference: str, *, done: bool) -> None:
        """Record that all of it is shown; or, not ``done``, that the next press may go on where this one failed.

        Raises:
            StoreError: the database failed; the next press looks what stands.
        """
        values: dict[str, Any] = {"done_at": datetime.now(UTC)} if done else {"lease_until": 0.0}
        ended = update(shares).where(shares.c.reference == reference).values(values)
        await self._database.write(lambda connection: connection.execute(ended))
