"""What the claims tell, without changing any: who answers a message, in whose place, and where the bot takes part."""

import json
import logging
from datetime import UTC, datetime

from sqlalchemy import ColumnElement, Connection, and_, func, or_, select

from bots.platform import Incoming
from bots.requests import ReadChunk
from bots.turn.claims.claim import Claim, Outcome, question_of
from bots.turn.claims.past import LEAVES_HISTORY
from bots.turn.claims.rows import load, matches, place
from bots.turn.claims.whole import Whole, whole_from_json
from ragcore.history import Transactions
from ragcore.stores.rows import storable
from ragcore.stores.schema import claim_keys, claims
from ragcore.types import ConversationKey

log = logging.getLogger(__name__)

_PLACE = ("platform", "workspace", "channel", "thread")
"""The columns of a conversation."""
LOOKED_BACK = 12
"""Turns before one that are looked at for what its question leans on."""


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

    async def by_key(self, conversation: ConversationKey, key: str) -> Claim | None:
        """Return the claim that answers what arrived under a key; None when nothing did, or it is gone."""
        columns = {name: value for name, value in place(conversation).items() if name in ("platform", "workspace")}
        found = select(claim_keys.c.reference).where(matches(claim_keys, columns), claim_keys.c.key == storable(key))
        reference = await self._database.read(lambda connection: connection.execute(found).scalar())
        return await self.by_reference(reference) if reference else None

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

    async def said_before(self, claim: Claim) -> tuple[tuple[str, str], ...]:
        """Return the questions before a turn in its conversation, with their answers, oldest first.

        Since it was last reset, and of those that were said to the same people as this one.
        """
        line, history = await self.line_of(claim), await self.history_of(claim.incoming.conversation)
        here = or_(*(matches(claims, place(one)) for one in {claim.incoming.conversation, history}))
        answered = claims.c.outcome.in_([outcome.value for outcome in LEAVES_HISTORY])
        earlier = claims.c.created_at < line[0].created_at.astimezone(UTC)
        own = claims.c.reference.in_([one.reference for one in line])
        columns = select(claims.c.reference, claims.c.answer).where(here, answered, earlier, ~own)
        newest = columns.order_by(claims.c.created_at.desc(), claims.c.reference).limit(LOOKED_BACK)

        def read(connection: Connection) -> tuple[tuple[Claim, ...], dict[str, str]]:
            answers = {row.reference: row.answer for row in connection.execute(newest)}
            return self._select(connection, claims.c.reference.in_(answers)), answers

        before, answers = await self._database.read(read)
        replaced = {one.replaces for one in before}
        said: list[tuple[str, str]] = []
        for one in reversed(before):
            if one.outcome is Outcome.RESET:
                break
            question = question_of([one])
            if question and one.reference not in replaced and _same_hear(one.incoming, claim.incoming):
                said.append((question, answers[one.reference]))
        return tuple(reversed(said))

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


def _same_hear(before: Incoming, incoming: Incoming) -> bool:
    """Return whether two questions of a conversation are said to the same: what one person alone sees is theirs."""
    if before.private != incoming.private:
        return False
    return not incoming.private or before.asker.id == incoming.asker.id
