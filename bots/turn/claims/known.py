"""What the claims tell, without changing any: who answers a message, in whose place, and where the bot takes part."""

import json
import logging
from datetime import UTC, datetime

from sqlalchemy import ColumnElement, Connection, and_, func, select

from bots.requests import ReadChunk
from bots.turn.claims.claim import Claim, Outcome
from bots.turn.claims.rows import load, matches, place
from bots.turn.claims.whole import Whole, whole_from_json
from ragcore.history import Transactions
from ragcore.stores.rows import storable
from ragcore.stores.schema import claims
from ragcore.types import ConversationKey

log = logging.getLogger(__name__)

_PLACE = ("platform", "workspace", "channel", "thread")
"""The columns of a conversation."""


class KnownClaims:
    """The claims of one database, for whoever looks at them; safe to use from many tasks."""

    def __init__(self, database: Transactions) -> None:
        """Look into ``database``."""
        self._database = database
        self._unreadable: set[str] = set()
        """What a newer version wrote, as far as it was met."""

    async def by_reference(self, reference: str) -> Claim | None:
        """Return the claim of a reference, or the one that it was merged into; None when it is gone."""

        def read(connection: Connection) -> tuple[Claim, ...]:
            into = select(claims.c.merged_into).where(claims.c.reference == reference)
            wanted = connection.execute(into).scalar() or reference
            return self._select(connection, claims.c.reference == wanted)

        found = await self._database.read(read)
        return found[0] if found else None

    async def by_message(self, conversation: ConversationKey, message: str) -> tuple[Claim, ...]:
        """Return the claims that answer a message of the channel, in whatever thread, newest first.

        More than one when it, or another one that it is answered together with, was edited and answered again. One that
        was merged is given as the claim that answers it.
        """
        columns = place(conversation)
        del columns["thread"]
        found = select(claims.c.reference, claims.c.merged_into).where(
            matches(claims, columns), claims.c.message == storable(message)
        )

        def read(connection: Connection) -> tuple[Claim, ...]:
            ids = {row.merged_into or row.reference for row in connection.execute(found)}
            newer = ids
            while newer:
                edited = select(claims.c.reference, claims.c.merged_into).where(claims.c.replaces.in_(newer))
                newer = {row.merged_into or row.reference for row in connection.execute(edited)} - ids
                ids |= newer
            return self._select(connection, claims.c.reference.in_(ids))

        return tuple(reversed(await self._database.read(read)))

    async def history_of(self, conversation: ConversationKey) -> ConversationKey:
        """Return the conversation in whose history one is remembered.

        It is another one where the message that opened this one was merged into that one's.
        """
        opener = conversation.thread.rpartition(" ")[2]
        if not opener:
            return conversation
        answers = claims.alias()
        here = and_(matches(claims, place(conversation)), claims.c.message == storable(opener))
        found = select(*(answers.c[name] for name in _PLACE)).where(here, claims.c.merged_into == answers.c.reference)
        row = await self._database.read(lambda connection: connection.execute(found.limit(1)).first())
        return ConversationKey(**row._mapping) if row is not None else conversation

    async def line_of(self, claim: Claim) -> tuple[Claim, ...]:
        """Return the turns whose place a claim takes, each that of the one before it, and last the claim itself."""
        line = [claim]
        while line[0].replaces and (earlier := await self.by_reference(line[0].replaces)) is not None:
            if earlier in line:
                break
            line.insert(0, earlier)
        return tuple(line)

    async def prompt_of(self, reference: str) -> tuple[ReadChunk, ...]:
        """Return the passages that the answer's prompt held, cited or not."""
        async with self._database.connect() as connection:
            held = (await connection.execute(select(claims.c.chunks).where(claims.c.reference == reference))).scalar()
        return tuple(ReadChunk(**chunk) for chunk in json.loads(held or "[]"))

    async def whole_of(self, reference: str) -> Whole | None:
        """Return the reply of which one message shows a page, None when there is none, or it is forgotten."""
        async with self._database.connect() as connection:
            kept = (await connection.execute(select(claims.c.whole).where(claims.c.reference == reference))).scalar()
        return whole_from_json(kept or "")

    async def takes_part(self, conversation: ConversationKey) -> bool:
        """Return whether a message of exactly this conversation, its thread included, was ever for the bot."""
        here = and_(matches(claims, place(conversation)), claims.c.outcome != Outcome.IGNORED.value)
        async with self._database.connect() as connection:
            return (await connection.execute(select(claims.c.reference).where(here).limit(1))).first() is not None

    async def active_conversations(self, platform: str, since: datetime) -> tuple[ConversationKey, ...]:
        """Return the conversations with a turn since then, the one with the newest first."""
        columns = [claims.c[name] for name in _PLACE]
        turn = and_(claims.c.platform == platform, claims.c.outcome != Outcome.IGNORED.value)
        recent = select(*columns).where(turn, claims.c.created_at >= since.astimezone(UTC)).group_by(*columns)
        async with self._database.connect() as connection:
            rows = (await connection.execute(recent.order_by(func.max(claims.c.created_at).desc(), *columns))).all()
        return tuple(ConversationKey(**row._mapping) for row in rows)

    def _select(self, connection: Connection, which: ColumnElement[bool]) -> tuple[Claim, ...]:
        """Return these claims, oldest first; one that a newer version wrote is left out, and told once."""
        rows = select(claims).where(which).order_by(claims.c.created_at, claims.c.reference)
        loaded = load(connection, connection.execute(rows).all())
        for reference, error in loaded.unreadable.items():
            if reference not in self._unreadable:
                self._unreadable.add(reference)
                log.warning(
                    "turn %s was written by a newer version of Citebot and is left to it: run that version again, or "
                    "ask the question anew (%s: %s)",
                    reference,
                    type(error).__name__,
                    error,
                )
        return loaded.claims
