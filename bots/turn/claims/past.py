"""What became of a conversation's earlier turns, as its claims tell: whether there is a history, and since when."""

from collections.abc import Sequence
from datetime import UTC

from sqlalchemy import ColumnElement, and_, select

from bots.turn.claims.claim import Claim, Outcome
from bots.turn.claims.rows import matches, place
from ragcore.history import Transactions
from ragcore.stores.schema import claims

LEAVES_HISTORY = (Outcome.ANSWERED, Outcome.UNSUPPORTED, Outcome.ABSTAINED, Outcome.RESET)
"""After these there is a history, be it an empty one."""


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

    async def _has_turn(self, claim: Claim, *which: ColumnElement[bool]) -> bool:
        here = matches(claims, place(claim.incoming.conversation))
        found = select(claims.c.reference).where(here, *which).limit(1)
        return await self._database.read(lambda connection: connection.execute(found).first() is not None)


def stays() -> ColumnElement[bool]:
    """Return which claims stay for good: the resets of threads, where what was said before could be read again."""
    return and_(claims.c.outcome == Outcome.RESET.value, claims.c.thread != "")
