"""An answer is shared once, however often and wherever Share is pressed, and whatever becomes of the process."""

from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, or_, select, update

from bots.platform import Share
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

    async def begin(self, reference: str, *, alone: bool = False) -> Share:
        """Record, committed on return, that the answer of a turn is about to be shared, if it is for this press to do.

        Then with its lease; where an earlier press came to no known end, also since when its messages may stand.

        Args:
            reference: That of the turn.
            alone: No other process works on this database: what another one began is not under way any more.

        Raises:
            StoreError: the database failed; nothing is to be shared.
        """

        def begin(connection: Connection) -> Share:
            now = self._clock(connection)
            held = {"owner": self._owner, "lease_until": now + SHARE_SECONDS}
            row: dict[str, Any] = {"reference": reference, "begun_at": datetime.now(UTC), **held}
            insert = inserting(connection, shares).on_conflict_do_nothing().values(row)
            if (lease := connection.execute(insert.returning(shares.c.lease_until)).scalar()) is not None:
                return Share(state="now", lease=lease)
            mine = shares.c.reference == reference
            again = update(shares).where(mine, shares.c.done_at.is_(None), self._free(now, alone=alone)).values(held)
            taken = connection.execute(again.returning(shares.c.lease_until, shares.c.begun_at)).first()
            if taken is not None and (begun := utc(taken.begun_at)) is not None:
                return Share(state="now", since=begun - _APART, lease=taken.lease_until)
            is_done = connection.execute(select(shares.c.done_at).where(mine)).scalar() is not None
            return Share(state="done" if is_done else "going")

        return await self._database.write(begin)

    def _free(self, now: ColumnElement[float], *, alone: bool) -> ColumnElement[bool]:
        ended = shares.c.lease_until <= now
        return or_(ended, shares.c.owner != self._owner) if alone else ended

    async def end(self, reference: str, *, lease: float, done: bool) -> None:
        """Record that all of it is shown; or, not ``done``, that the next press may go on where this one failed.

        Of a press that failed after another one went on with it (its ``lease`` had run out) nothing is recorded.

        Raises:
            StoreError: the database failed; the next press looks what stands.
        """
        values: dict[str, Any] = {"done_at": datetime.now(UTC)} if done else {"lease_until": 0.0}
        which = shares.c.reference == reference
        if not done:
            which = and_(which, shares.c.lease_until == lease)
        ended = update(shares).where(which).values(values)
        await self._database.write(lambda connection: connection.execute(ended))
