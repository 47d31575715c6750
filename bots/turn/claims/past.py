"""What became of earlier turns, as their claims tell: whether there is a history, and how much was researched."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from sqlalchemy import ColumnElement, Connection, and_, or_, select

from bots.turn.claims.claim import Claim, Outcome, State
from bots.turn.claims.rows import matches, place
from ragcore.history import Transactions
from ragcore.stores.rows import storable, utc
from ragcore.stores.schema import claims

LEAVES_HISTORY = (Outcome.ANSWERED, Outcome.UNSUPPORTED, Outcome.ABSTAINED, Outcome.RESET)
"""After these there is a history, be it an empty one."""

NO_RESEARCH = (Outcome.LIMITED, Outcome.NOT_ALLOWED, Outcome.LATE, Outcome.IGNORED)
"""What ended so never began to search."""


class Past:
    """The turns before a turn, in its conversation, whichever process took them."""

    def __init__(self, database: Transactions) -> None:
        """Ask the claims of a database."""
        self._database = database

    async def has_history(self, line: Sequence[Claim]) -> bool:
        """Return whether another turn of the conversation than these (``Claims.line_of``) was answered, or reset it.

        Then all that the bot is to know of the conversation is in its history.
        """
        own = [claim.reference for claim in line]
        answered = claims.c.outcome.in_([outcome.value for outcome in LEAVES_HISTORY])
        return await self._has_turn(line[-1], answered, claims.c.reference.not_in(own))

    async def was_reset_since(self, claim: Claim) -> bool:
        """Return whether the conversation was reset after the claim was made."""
        later = claims.c.created_at > claim.created_at.astimezone(UTC)
        return await self._has_turn(claim, claims.c.outcome == Outcome.RESET.value, later)

    async def researches_before(self, claim: Claim, *, seconds: float) -> tuple[datetime, ...]:
        """Return when the same person had something researched on the platform, so long before a claim; oldest first.

        What was asked too often or was not allowed is none, nor what another claim answers. Whichever process took
        them: of two that count at once, the claim that was made first doesn't count the other.
        """
        made = claim.created_at.astimezone(UTC)
        here = place(claim.incoming.conversation)
        wanted = select(claims.c.created_at, claims.c.incoming).where(
            claims.c.created_at > made - timedelta(seconds=seconds),
            or_(claims.c.created_at < made, and_(claims.c.created_at == made, claims.c.reference < claim.reference)),
            matches(claims, {name: here[name] for name in ("platform", "workspace")}),
            claims.c.asker == storable(claim.incoming.asker.id),
            claims.c.state != State.MERGED.value,
            claims.c.outcome.not_in([outcome.value for outcome in NO_RESEARCH]),
        )

        def read(connection: Connection) -> tuple[datetime, ...]:
            rows = connection.execute(wanted.order_by(claims.c.created_at)).all()
            return tuple(when for row in rows if _researches(row.incoming) and (when := utc(row.created_at)))

        return await self._database.read(read)

    async def _has_turn(self, claim: Claim, *which: ColumnElement[bool]) -> bool:
        here = matches(claims, place(claim.incoming.conversation))
        found = select(claims.c.reference).where(here, *which).limit(1)
        return await self._database.read(lambda connection: connection.execute(found).first() is not None)


def _researches(written: str) -> bool:
    try:
        return bool(json.loads(written).get("command") == "research")
    except (ValueError, AttributeError):  # of another version
        return False


def stays() -> ColumnElement[bool]:
    """Return which claims stay for good: the resets of threads, where what was said before could be read again."""
    return and_(claims.c.outcome == Outcome.RESET.value, claims.c.thread != "")
