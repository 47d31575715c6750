"""Each message is answered once: who answers it, how far that came, and who takes over after a crash.

A claim is a row under all the names by which its message may arrive again; the database's primary key decides between
two that come at once. Whoever holds it renews a lease. Leases run by the database's own clock, so the clocks of the
processes don't matter; and as also that one may jump, no safety rests on it: each take-over counts ``attempts`` up,
and whoever held the claim before is refused at its next write (``ClaimLost``), which comes before anything is sent.
"""

import secrets
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from sqlalchemy import ColumnElement, Connection, Update, and_, bindparam, delete, or_, select, tuple_, update
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.sql.dml import ReturningInsert

from bots.platform import Incoming, Sent
from bots.turn.claims.claim import Claim, Outcome, Send, State
from bots.turn.claims.hearing import Heard, heard_as, said_in
from bots.turn.claims.known import KnownClaims
from bots.turn.claims.parting import part, silence
from bots.turn.claims.past import Past, stays
from bots.turn.claims.record import incoming_to_json, sent_to_json, without_words
from bots.turn.claims.rows import Clock, chunks_to_json, inserting, matches, new_row, place, without_words_of
from bots.turn.claims.sharing import Shares
from bots.turn.claims.stopping import Stops
from bots.turn.claims.whole import Whole, whole_to_json
from ragcore.errors import ClaimLost
from ragcore.history import REMEMBERED_DAYS, Transactions
from ragcore.stores.rows import database_clock, storable
from ragcore.stores.schema import claim_keys, claims, heard, sends, shares
from ragcore.types import Answer, ConversationKey

LEASE_SECONDS = 30.0
"""How long a claim stays with whoever holds it; renewed every third of it by ``heartbeat``."""
KEPT = timedelta(hours=48)
"""How long a claim and its keys stay at least: Telegram, the most patient, keeps what it could not deliver for 24 h."""
PAGES_KEPT = timedelta(hours=1)
"""How long somebody may go on to the next page where nothing is remembered (``answer.history_days = 0``)."""
TAKEN_AT_ONCE = 100
SWEPT_AT_ONCE = 500


class _Again(Exception):
    """The transaction is to be begun anew: the reference is taken, or the other claim has just been swept."""


class Claims(KnownClaims):
    """The claims of one database, as one process sees them; safe to use from many tasks."""

    def __init__(
        self,
        database: Transactions,
        *,
        days: float = REMEMBERED_DAYS,
        lease: float = LEASE_SECONDS,
        clock: Clock = database_clock,
    ) -> None:
        """Hold claims for ``lease`` seconds at a time.

        Args:
            database: Where the claims stand.
            days: How long what was said is kept (``answer.history_days``); 0 drops it when the turn ends.
            lease: Seconds that a claim of ours is left alone after its last sign of life.
            clock: Gives the expression for the seconds since 1970 by which leases run.
        """
        super().__init__(database)
        self._days = days
        self._lease = lease
        self._clock = clock
        self._owner = secrets.token_hex(16)
        self._built: tuple[ReturningInsert[Any], ReturningInsert[Any]] | None = None
        self.past = Past(database)
        self.stops = Stops(database)
        self.heard = Heard(database, days=days)
        self.shares = Shares(database, owner=self._owner, clock=clock)

    async def claim(self, incoming: Incoming, *, replaces: str = "") -> Claim | None:
        """Claim a message, committed on return; None when one of its keys was claimed before.

        Then its further keys belong to that claim from now on. An edit ``replaces`` the turn of this reference.

        Raises:
            ValueError: the message has no key.
            StoreError: the database failed; nothing is claimed.
        """
        if not incoming.keys:
            raise ValueError("a message without a key cannot be claimed")
        while True:
            reference = secrets.token_hex(4)
            try:
                work = partial(self._claim, incoming=incoming, reference=reference, replaces=replaces)
                return await self._database.write(work)
            except _Again:
                continue

    def _claim(self, connection: Connection, *, incoming: Incoming, reference: str, replaces: str) -> Claim | None:
        where = {name: place(incoming.conversation)[name] for name in ("platform", "workspace")}
        # In order: of two transactions with keys in common none then waits for the other while that waits for it.
        keys = sorted({storable(key) for key in incoming.keys})
        # One by one: SQLAlchemy compiles a statement of several rows anew each time.
        insert_key, insert_claim = self._inserts(connection)
        rows = ({**where, "key": key, "reference": reference} for key in keys)
        new = {key for row in rows if (key := connection.execute(insert_key, row).scalar()) is not None}
        if len(new) < len(keys):
            _point_to_first(connection, where, known=set(keys) - new, new=new)
            return None
        now = datetime.now(UTC)
        row = new_row(reference, incoming, self._owner, now)
        made = connection.execute(insert_claim, {**row, "replaces": replaces})
        if made.first() is None:
            raise _Again
        return Claim(reference=reference, incoming=incoming, created_at=now, replaces=replaces)

    def _inserts(self, connection: Connection) -> tuple[ReturningInsert[Any], ReturningInsert[Any]]:
        """Return the statements for a key and for a claim: when hundreds ask at once, to build them takes a third."""
        if self._built is None:
            insert_key = inserting(connection, claim_keys).on_conflict_do_nothing().returning(claim_keys.c.key)
            insert_claim = inserting(connection, claims).on_conflict_do_nothing().returning(claims.c.reference)
            self._built = insert_key, insert_claim.values(lease_until=self._clock(connection) + self._lease)
        return self._built

    async def heartbeat(self, held: Collection[Claim]) -> frozenset[str]:
        """Renew the leases of claims that are being worked on; return the references of those still held."""
        alive: set[str] = set()
        pairs = [(claim.reference, claim.attempts) for claim in held]
        for start in range(0, len(pairs), TAKEN_AT_ONCE):
            which = tuple_(claims.c.reference, claims.c.attempts).in_(pairs[start : start + TAKEN_AT_ONCE])
            async with self._database.begin() as connection:
                renewed = update(claims).where(which, self._ours()).returning(claims.c.reference)
                until = self._clock(connection) + self._lease
                alive.update((await connection.execute(renewed.values(lease_until=until))).scalars())
        return frozenset(alive)

    async def release(self, claim: Claim) -> None:
        """Hand the claim over: whoever asks for abandoned ones next takes it, without waiting for the lease."""
        async with self._database.begin() as connection:
            await connection.execute(update(claims).where(self._held(claim)).values(lease_until=0.0))

    async def merge(self, claim: Claim, into: Claim) -> bool:
        """Let another running claim of ours answer this message too; False when it no longer can.

        If that was to be stopped, it no longer is: whoever stopped it has asked anew.
        """
        both = select(claims.c.reference).where(or_(self._held(claim), self._held(into)))
        async with self._database.begin() as connection:
            rows = (await connection.execute(both.order_by(claims.c.reference).with_for_update())).scalars().all()
            if claim.reference not in rows:
                raise ClaimLost(f"another process answers {claim.reference}")
            if into.reference not in rows or into.reference == claim.reference:
                return False
            for which in (claims.c.merged_into == claim.reference, claims.c.reference == claim.reference):
                ended = {"state": State.MERGED.value, "merged_into": into.reference, "finished_at": datetime.now(UTC)}
                await connection.execute(update(claims).where(which).values(ended))
            await connection.execute(update(claims).where(claims.c.reference == into.reference).values(outcome=""))
        return True

    async def begun(self, claim: Claim, sent: Sent | None) -> None:
        """Record the message in which the answer grows.

        Raises:
            ClaimLost: somebody else has the claim: what was sent and not recorded is to be taken back.
        """
        values = update(claims).values(begun=sent_to_json(sent) if sent else "")
        await self._database.write(lambda connection: self._write(connection, claim, values))

    async def intend(self, claim: Claim, number: int, key: str) -> None:
        """Record, before it is sent, that part ``number`` (from 0) goes out under this key; ClaimLost: don't send.

        What is known to stand under the number already stays known.
        """
        row = {"reference": claim.reference, "number": number, "key": storable(key), "intended_at": datetime.now(UTC)}
        again = {"key": row["key"], "intended_at": row["intended_at"], "done_at": None}

        def intend(connection: Connection) -> None:
            self._write(connection, claim, update(claims))
            insert = inserting(connection, sends).values(row)
            connection.execute(insert.on_conflict_do_update(index_elements=["reference", "number"], set_=again))

        await self._database.write(intend)

    async def done(self, claim: Claim, number: int, sent: Sent) -> None:
        """Record that the platform took an intended part; ClaimLost as in ``begun``."""
        which = and_(sends.c.reference == claim.reference, sends.c.number == number)
        taken = update(sends).where(which).values(sent=sent_to_json(sent), done_at=datetime.now(UTC))

        def done(connection: Connection) -> None:
            self._write(connection, claim, update(claims))
            connection.execute(taken)

        await self._database.write(done)

    async def adopt(self, claim: Claim, parts: Sequence[Send]) -> None:
        """Record that messages of an earlier answer stand under these numbers, all of them or none; see ``done``."""
        now = datetime.now(UTC)
        rows = [
            {"reference": claim.reference, "number": part.number, "key": storable(part.key), "intended_at": now}
            | {"sent": sent_to_json(part.sent) if part.sent else "", "done_at": now}
            for part in parts
        ]

        def adopt(connection: Connection) -> None:
            self._write(connection, claim, update(claims))
            connection.execute(inserting(connection, sends).on_conflict_do_nothing(), rows)

        await self._database.write(adopt)

    async def keep(self, claim: Claim, whole: Whole) -> None:
        """Keep a whole reply of which a page at a time is shown; ClaimLost as in ``begun``."""
        kept = update(claims).values(whole=whole_to_json(whole))
        await self._database.write(lambda connection: self._write(connection, claim, kept))

    async def finish(self, claim: Claim, outcome: Outcome, *, answer: Answer | None = None) -> None:
        """End the turn; the answer and the passages that it had are kept for those who judge it (bots.turn.feedback).

        Raises:
            ClaimLost: somebody else has the claim, or it ended already.
        """
        values: dict[str, Any] = {"state": State.DONE.value, "outcome": outcome.value, "finished_at": datetime.now(UTC)}
        if outcome in (Outcome.IGNORED, Outcome.RESET) or self._days <= 0:
            values |= _without_words(claim.incoming)
            del values["whole"]  # its asker may have read the first page only, or nothing yet
        elif answer is not None:
            values |= {"answer": storable(answer.raw_text), "chunks": chunks_to_json(answer)}
        ended = update(claims).values(values)
        await self._database.write(lambda connection: self._write(connection, claim, ended))

    async def abandoned(self, platforms: Collection[str], *, alone: bool = False) -> tuple[Claim, ...]:
        """Take over what nobody works on any more, oldest first: with what was begun, sent and merged.

        Call ``heartbeat`` before: a claim of ours that had no sign of life for too long is taken over as well.

        Args:
            platforms: Those that this process serves.
            alone: No other process works on this database (the lock of a ``data_dir`` with SQLite says so): then what
                another one holds is left behind by a process that is gone, and no lease need run out.
        """
        async with self._database.begin() as connection:
            now = self._clock(connection)
            free = claims.c.lease_until <= now
            if alone:
                free = or_(free, claims.c.owner != self._owner)
            running = and_(claims.c.state == State.RUNNING.value, claims.c.platform.in_(list(platforms)))
            known = claims.c.reference.not_in(self._unreadable)
            left = select(claims.c.reference).where(running, free, known).order_by(claims.c.created_at)
            # Two statements: within one, the database may evaluate the choice more than once.
            chosen = await connection.execute(left.limit(TAKEN_AT_ONCE).with_for_update(skip_locked=True))
            found = await connection.run_sync(self._select, claims.c.reference.in_(chosen.scalars().all()))
            taken = update(claims).where(claims.c.reference.in_([claim.reference for claim in found]))
            await connection.execute(
                taken.values(owner=self._owner, attempts=claims.c.attempts + 1, lease_until=now + self._lease)
            )
            return tuple(replace(claim, attempts=claim.attempts + 1) for claim in found)

    async def withdraw(self, reference: str) -> Claim | None:
        """End a claim because its question is gone, whoever holds it, and drop its words; return it as it stood.

        The one who held it meets ClaimLost at its next write. None when there is no such claim, or only
        a newer version can read it.
        """
        async with self._database.begin() as connection:
            lock = select(claims.c.reference).where(claims.c.reference == reference).with_for_update()
            if (await connection.execute(lock)).first() is None:
                return None
            found = await connection.run_sync(self._select, claims.c.reference == reference)
            if not found:
                return None
            claim = found[0]
            values = {"state": State.DONE.value, "outcome": Outcome.WITHDRAWN.value, "finished_at": datetime.now(UTC)}
            ended = update(claims).where(claims.c.reference == reference)
            await connection.execute(ended.values(values | _without_words(claim.incoming)))
            words = or_(*(heard_as(one) for one in (claim.incoming, *claim.also)))
            await connection.execute(delete(heard).where(words))
        return claim

    async def leave_out(
        self, conversation: ConversationKey, message: str, *, again: Incoming | None = None, replaces: str = ""
    ) -> Claim | None:
        """Drop what was said in a message of the channel, which is deleted: no turn answers it from now on.

        In the same step ``again``, what is left of the question, is claimed as ``claim`` does it.
        """
        while True:
            reference = secrets.token_hex(4)

            def work(connection: Connection, reference: str = reference) -> Claim | None:
                silence(connection, conversation, message)
                if again is None:
                    return None
                return self._claim(connection, incoming=again, reference=reference, replaces=replaces)

            try:
                return await self._database.write(work)
            except _Again:
                continue

    async def part(
        self, line: Sequence[Claim], rest: Mapping[str, Incoming]
    ) -> tuple[tuple[Claim, ...], tuple[Claim, ...]]:
        """End a line of turns because the message that they reply to is deleted, and answer ``rest`` without it.

        Returns:
            The turns that ended, as they stood; and the claim of ours that answers the rest, if it has any.
        """
        references = [claim.reference for claim in line]

        def work(connection: Connection) -> tuple[tuple[Claim, ...], tuple[Claim, ...]]:
            which = claims.c.reference.in_(references)
            connection.execute(select(claims.c.reference).where(which).with_for_update())
            ended = self._select(connection, which)
            held = {"owner": self._owner, "lease_until": self._clock(connection) + self._lease}
            first = part(connection, references, rest, held)
            return ended, self._select(connection, claims.c.reference == first)

        return await self._database.write(work)

    async def forget(self, conversation: ConversationKey) -> int:
        """Drop the words of what was answered in a conversation, and return of how many messages."""
        ended = select(claims.c.reference).where(claims.c.state == State.DONE.value)
        over = or_(claims.c.state == State.DONE.value, claims.c.merged_into.in_(ended))
        here = matches(claims, place(conversation))
        answered = select(claims.c.reference).where(here, claims.c.state == State.DONE.value)
        # Also what was merged from a conversation that its message opened.
        which = or_(and_(here, over), claims.c.merged_into.in_(answered))
        async with self._database.begin() as connection:
            rows = (await connection.execute(select(claims.c.reference, claims.c.incoming).where(which))).all()
            bare = [
                {"which": row.reference, **columns}
                for row in rows
                if (columns := without_words_of(row.incoming))["incoming"] != row.incoming
            ]
            if bare:
                forgotten = update(claims).where(claims.c.reference == bindparam("which"))
                await connection.execute(forgotten, bare)
            await connection.execute(update(claims).where(which, claims.c.whole != "").values(whole=""))
            await connection.execute(delete(heard).where(said_in(conversation)))
        return len(bare)

    async def sweep(self, *, now: datetime | None = None) -> int:
        """Delete claims older than what is remembered, those of ignored messages after 48 h; return how many.

        A reset stays as long as its thread may: what was said before it could be read there again.
        """
        total = 0
        now = (now or datetime.now(UTC)).astimezone(UTC)
        await self.heard.sweep(now)
        if self._days <= 0:
            read = and_(claims.c.whole != "", claims.c.created_at < now - PAGES_KEPT)
            async with self._database.begin() as connection:
                await connection.execute(update(claims).where(read).values(whole=""))
        while True:
            async with self._database.begin() as connection:
                swept = await self._sweep(connection, now)
            total += swept
            if swept < SWEPT_AT_ONCE:
                return total

    async def _sweep(self, connection: AsyncConnection, now: datetime) -> int:
        oldest = now - max(KEPT, timedelta(days=self._days))
        ignored = and_(claims.c.outcome == Outcome.IGNORED.value, claims.c.created_at < now - KEPT)
        old = (
            select(claims.c.reference).where(or_(claims.c.created_at < oldest, ignored), ~stays()).limit(SWEPT_AT_ONCE)
        )
        ids: Sequence[str] = (await connection.execute(old.with_for_update(skip_locked=True))).scalars().all()
        for table in (claim_keys, sends, shares, claims):
            await connection.execute(delete(table).where(table.c.reference.in_(ids)))
        return len(ids)

    def _write(self, connection: Connection, claim: Claim, statement: Update) -> None:
        """Write to a claim that we hold, and renew its lease; ClaimLost when we don't."""
        until = self._clock(connection) + self._lease
        written = statement.where(self._held(claim)).values(lease_until=until).returning(claims.c.reference)
        if connection.execute(written).first() is None:
            raise ClaimLost(f"another process answers {claim.reference}, or it was withdrawn")

    def _held(self, claim: Claim) -> ColumnElement[bool]:
        same = and_(claims.c.reference == claim.reference, claims.c.attempts == claim.attempts)
        return and_(same, self._ours())

    def _ours(self) -> ColumnElement[bool]:
        return and_(claims.c.state == State.RUNNING.value, claims.c.owner == self._owner)


def _point_to_first(connection: Connection, where: dict[str, str], *, known: set[str], new: set[str]) -> None:
    here = matches(claim_keys, where)
    found = select(claim_keys.c.reference).where(here, claim_keys.c.key.in_(known)).order_by(claim_keys.c.key)
    first = connection.execute(found.limit(1)).scalar()
    if first is None:
        raise _Again
    if new:
        owned = update(claim_keys).where(here, claim_keys.c.key.in_(new))
        connection.execute(owned.values(reference=first))


def _without_words(incoming: Incoming) -> dict[str, str]:
    """Return the columns of a claim that hold what was said, without it."""
    return {"incoming": incoming_to_json(without_words(incoming)), "answer": "", "chunks": "[]", "whole": ""}
