"""Stop, pressed in a process that doesn't write the answer: asked of the one that does."""

from collections.abc import Collection

from sqlalchemy import and_, select, update

from bots.turn.claims.claim import Outcome, State
from bots.turn.claims.rows import matches, place
from ragcore.history import Transactions
from ragcore.stores.schema import claims
from ragcore.types import ConversationKey

_RUNNING = claims.c.state == State.RUNNING.value


class Stops:
    """What is asked to stop in one database: a claim that runs and has that outcome already."""

    def __init__(self, database: Transactions) -> None:
        """Read and write in an open database."""
        self._database = database

    async def ask(self, reference: str) -> bool:
        """Ask whoever works on a turn to stop it; False when nobody does."""
        wanted = update(claims).where(claims.c.reference == reference, _RUNNING).values(outcome=Outcome.STOPPED.value)
        told = wanted.returning(claims.c.reference)
        return await self._database.write(lambda connection: connection.execute(told).first() is not None)

    async def asked(self, references: Collection[str]) -> frozenset[str]:
        """Return which of these turns somebody wants stopped."""
        those = and_(claims.c.reference.in_(references), _RUNNING, claims.c.outcome == Outcome.STOPPED.value)
        found = select(claims.c.reference).where(those)
        return await self._database.read(lambda connection: frozenset(connection.execute(found).scalars()))

    async def running_in(self, conversation: ConversationKey) -> str:
        """Return the reference of the turn under way in a conversation, of several the first; empty for none."""
        here = select(claims.c.reference).where(matches(claims, place(conversation)), _RUNNING)
        first = here.order_by(claims.c.created_at, claims.c.reference).limit(1)
        return await self._database.read(lambda connection: connection.execute(first).scalar()) or ""
