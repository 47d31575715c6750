"""Answers that are kept for a while, by all that they were written from: who asks the same is told the same again.

A row stands or falls by its key, which holds everything that an answer depends on (``bots.app.keeping``); nothing here
knows what is in it. A row is written in one step, so a crash leaves it or not, and of two processes that keep an answer
to the same the later one's stands.
"""

import hashlib
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from sqlalchemy import Connection, and_, delete, select
from sqlalchemy.dialects import postgresql, sqlite

from ragcore.stores.database import Database
from ragcore.stores.rows import storable
from ragcore.stores.schema import kept_answers, turns
from ragcore.types import ConversationKey

MOST = 5_000
"""Answers that are kept at most; the oldest go first."""


class AnswerCache:
    """The kept answers of one database, each for so many seconds."""

    def __init__(
        self, database: Database, *, seconds: float, now: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        """Keep answers for ``seconds``; ``now`` tells the time."""
        self._database = database
        self._seconds = seconds
        self._now = now

    async def find(self, key: str) -> str | None:
        """Return what was kept under the key, None where nothing is, or not any more."""
        now = self._now()
        # What was kept in the future was kept by a clock that has been set back since.
        wanted = select(kept_answers.c.answer).where(
            kept_answers.c.key == key, kept_answers.c.kept_at > self._oldest(now), kept_answers.c.kept_at <= now
        )
        return await self._database.read(lambda connection: connection.execute(wanted).scalar())

    async def keep(self, key: str, said: str, answer: str) -> None:
        """Keep an answer; ``said`` are its words, by which a vote finds it again. What is too old goes."""
        now = self._now()
        row = {"key": key, "said": fingerprint(said), "answer": answer, "kept_at": now}

        def work(connection: Connection) -> None:
            dialect = sqlite if connection.dialect.name == "sqlite" else postgresql
            again = {name: row[name] for name in ("said", "answer", "kept_at")}
            insert = dialect.insert(kept_answers).values(row)
            connection.execute(insert.on_conflict_do_update(index_elements=["key"], set_=again))
            connection.execute(delete(kept_answers).where(kept_answers.c.kept_at <= self._oldest(now)))
            newest = select(kept_answers.c.kept_at).order_by(kept_answers.c.kept_at.desc())
            last = connection.execute(newest.offset(MOST).limit(1)).scalar()
            if last is not None:
                connection.execute(delete(kept_answers).where(kept_answers.c.kept_at <= last))

        await self._database.write(work)

    async def drop(self, key: str) -> None:
        """Keep what stands under the key no longer."""
        await self._database.write(
            lambda connection: connection.execute(delete(kept_answers).where(kept_answers.c.key == key))
        )

    async def forget(self, conversation: ConversationKey, reference: str = "") -> None:
        """Drop what was answered in a conversation, or in its turn with the reference alone; before that is forgotten.

        Whoever shares such an answer by having asked the same loses nothing but time.
        """
        which = and_(
            turns.c.platform == conversation.platform,
            turns.c.workspace == conversation.workspace,
            turns.c.channel == conversation.channel,
            turns.c.thread == conversation.thread,
        )
        if reference:
            which = and_(which, turns.c.reference == reference)

        def work(connection: Connection) -> None:
            for answer in connection.execute(select(turns.c.answer).where(which)).scalars().all():
                drop_said(connection, answer)

        await self._database.write(work)

    async def expire(self) -> None:
        """Drop what is too old."""
        oldest = self._oldest(self._now())
        await self._database.write(
            lambda connection: connection.execute(delete(kept_answers).where(kept_answers.c.kept_at <= oldest))
        )

    def _oldest(self, now: datetime) -> datetime:
        return now - timedelta(seconds=self._seconds)


def drop_said(connection: Connection, said: str) -> None:
    """Drop every kept answer in these words: somebody found it bad, or wants it forgotten."""
    if said:
        connection.execute(delete(kept_answers).where(kept_answers.c.said == fingerprint(said)))


def fingerprint(said: str) -> str:
    """Return what tells an answer by its words, as databases hold them."""
    return hashlib.sha256(storable(said).encode()).hexdigest()
