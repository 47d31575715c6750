"""How readers judged answers, and which questions were left without one: for whoever improves the documents.

A vote keeps a copy of what it judges, with the question and the passages that the answer's prompt held: the claim, and
the history too, may be gone before the vote is read.
"""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import Row, delete, select

from bots.requests import Judgement, ReadChunk, Unanswered
from bots.turn.claims.claim import UNANSWERED, State
from bots.turn.claims.record import words_from_json
from bots.turn.claims.rows import inserting
from bots.votes import Vote
from ragcore.history import Transactions
from ragcore.stores.answer_cache import drop_said
from ragcore.stores.rows import storable, utc
from ragcore.stores.schema import claims, feedback

KEPT = timedelta(days=365)
"""How long a vote is kept."""
LISTED_UNANSWERED = 200
"""Most unanswered questions in one list, the newest."""


class Feedback:
    """The votes of one database, and the questions in it that were left unanswered."""

    def __init__(self, database: Transactions) -> None:
        """Read and write in an open database."""
        self._database = database

    async def vote(self, vote: Vote) -> bool:
        """Keep a vote, in the place of an earlier one of the same voter; False when the answer is long gone.

        Raises:
            StoreError: the database failed.
        """
        now = datetime.now(UTC)
        async with self._database.begin() as connection:
            wanted = select(claims).where(claims.c.reference == vote.reference)
            row = (await connection.execute(wanted)).one_or_none()
            if row is not None and row.merged_into:
                wanted = select(claims).where(claims.c.reference == row.merged_into)
                row = (await connection.execute(wanted)).one_or_none()
            if row is None:
                return False
            others = select(claims.c.incoming).where(claims.c.merged_into == row.reference)
            later = (await connection.execute(others.order_by(claims.c.created_at, claims.c.reference))).scalars()
            judged = {
                "side": vote.side,
                "reason": storable(vote.reason),
                "platform": row.platform,
                "question": _question([row.incoming, *later]),
                "answer": row.answer,
                "chunks": row.chunks,
                "voted_at": now,
            }
            insert = inserting(connection, feedback)
            statement = insert.values(reference=row.reference, voter=storable(vote.voter), **judged)
            if vote.side == "down":
                await connection.run_sync(drop_said, row.answer)
            await connection.execute(
                statement.on_conflict_do_update(index_elements=["reference", "voter"], set_=judged)
            )
        return True

    async def votes(self) -> tuple[Judgement, ...]:
        """Return all votes, newest first."""
        newest = select(feedback).order_by(feedback.c.voted_at.desc(), feedback.c.reference, feedback.c.voter)
        async with self._database.connect() as connection:
            return tuple(_judgement(row) for row in await connection.execute(newest))

    async def unanswered(self, since: datetime | None = None) -> tuple[Unanswered, ...]:
        """Return the questions that were left unanswered, newest first; of what was forgotten none."""
        left = claims.c.outcome.in_([outcome.value for outcome in UNANSWERED])
        done = select(claims).where(claims.c.state == State.DONE.value, left)
        if since is not None:
            done = done.where(claims.c.created_at >= since.astimezone(UTC))
        newest = done.order_by(claims.c.created_at.desc(), claims.c.reference).limit(LISTED_UNANSWERED)
        async with self._database.connect() as connection:
            rows = (await connection.execute(newest)).all()
            joined = select(claims.c.merged_into, claims.c.incoming).where(
                claims.c.merged_into.in_([row.reference for row in rows])
            )
            others = (await connection.execute(joined.order_by(claims.c.created_at, claims.c.reference))).all()
        told = []
        for row in rows:
            later = [other.incoming for other in others if other.merged_into == row.reference]
            if question := _question([row.incoming, *later]):
                told.append(_unanswered(row, question))
        return tuple(told)

    async def sweep(self, *, now: datetime | None = None) -> int:
        """Delete the votes older than a year; return how many there were."""
        oldest = (now or datetime.now(UTC)).astimezone(UTC) - KEPT
        async with self._database.begin() as connection:
            return (await connection.execute(delete(feedback).where(feedback.c.voted_at < oldest))).rowcount


async def listed(database: Transactions) -> tuple[Judgement | Unanswered, ...]:
    """Return what ``citebot feedback`` shows: all votes, then the unanswered questions, each newest first."""
    feedback_in = Feedback(database)
    return (*await feedback_in.votes(), *await feedback_in.unanswered())


def _question(written: list[str]) -> str:
    """Return what was asked in all messages that one turn answers, as the answer's prompt has it: a line each."""
    texts = [words_from_json(one).strip() for one in written]
    return storable("\n".join(text for text in texts if text))


def _judgement(row: Row[Any]) -> Judgement:
    return Judgement(
        reference=row.reference,
        platform=row.platform,
        voter=row.voter,
        side=row.side,
        reason=row.reason,
        question=row.question,
        answer=row.answer,
        chunks=tuple(ReadChunk(**chunk) for chunk in json.loads(row.chunks)),
        voted_at=_known(row.voted_at),
    )


def _unanswered(row: Row[Any], question: str) -> Unanswered:
    return Unanswered(
        reference=row.reference,
        platform=row.platform,
        asker=row.asker,
        question=question,
        outcome=row.outcome,
        asked_at=_known(row.created_at),
    )


def _known(moment: datetime) -> datetime:
    known = utc(moment)
    assert known is not None
    return known
