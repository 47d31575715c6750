"""What was said in a conversation: one row a turn, with its citations.

Token counts are taken when a turn is written, so recalling costs no tokenizer. Turns are ordered by their number, which
the database gives out: of two turns at once each is kept, in the order in which they were finished.
"""

import asyncio
import json
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Protocol, TypeVar

from sqlalchemy import ColumnElement, Connection, Row, and_, delete, insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from ragcore.citations.markers import strip
from ragcore.stores.schema import turn_citations, turns
from ragcore.tokens import Tokenizer, offline_tokenizer
from ragcore.types import Answer, Citation, ConversationKey, Message

RECALLED_TURNS = 20
RECALLED_TOKENS = 8_000
REMEMBERED_DAYS = 30.0

SWEEP_SECONDS = 3_600.0
"""How long after one sweep an append makes the next: a bot may run for months."""
SWEPT_TURNS = 500
"""Most turns that one transaction deletes for their age."""

_AUTHOR_CHARACTERS = 200

T = TypeVar("T")
OpenTo = Callable[[Collection[str]], Awaitable[Collection[str]]]
"""Returns those of these documents that may be read."""


class Transactions(Protocol):
    """What the history needs of a database (ragcore.stores.database.Database)."""

    def begin(self) -> AbstractAsyncContextManager[AsyncConnection]:
        """Open a write transaction."""
        ...

    def connect(self) -> AbstractAsyncContextManager[AsyncConnection]:
        """Open a connection for reading."""
        ...

    async def read(self, work: Callable[[Connection], T]) -> T:
        """Run what only reads, in one step."""
        ...

    async def write(self, work: Callable[[Connection], T]) -> T:
        """Run a write transaction in one step."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A question and its answer, as they were; ``[ID:n]`` in ``answer`` is the citation with that id.

    ``rests_on`` are the documents that the answer may repeat: those of its prompt, and of what was recalled into it;
    None where that was not written down. ``given`` are those that gave passages of their own to its prompt, in order,
    each with how many; empty where that was not written down.
    """

    id: int
    conversation: ConversationKey
    question: str
    author: str
    answer: str
    asked_at: datetime
    citations: tuple[Citation, ...] = ()
    rests_on: frozenset[str] | None = None
    given: tuple[tuple[str, int], ...] = ()


class History:
    """The conversations of one database."""

    def __init__(
        self, database: Transactions, *, tokenizer: Tokenizer | None = None, days: float = REMEMBERED_DAYS
    ) -> None:
        """Remember turns for so many days; with 0 nothing is written or recalled."""
        self._database = database
        self._tokenizer = tokenizer
        self._days = days
        self._next_sweep = 0.0

    async def append(
        self,
        conversation: ConversationKey,
        answer: Answer,
        *,
        author: str = "",
        asked_at: datetime | None = None,
        audience: str = "",
        reference: str = "",
        rests_on: Collection[str] = (),
        typed_by: str = "",
    ) -> int:
        """Write one turn with its citations, both or neither, and return its number; 0 when nothing is remembered.

        ``audience`` names those to whom it was said, as ``recall`` will name them. A turn with the same ``reference``
        is replaced. ``rests_on`` are documents that it may repeat beside those of its prompt. ``typed_by`` names
        who typed the question; "": nobody. Once an hour the oldest of what has expired, in whatever conversation, goes
        in the same transaction.
        """
        if self._days <= 0:
            return 0
        question, text = _storable(answer.question), _storable(answer.raw_text)
        question_tokens, answer_tokens = await asyncio.to_thread(self._count, question, strip(text))
        row = {
            **_columns(conversation),
            "question": question,
            "author": _storable(author)[:_AUTHOR_CHARACTERS],
            "answer": text,
            "question_tokens": question_tokens,
            "answer_tokens": answer_tokens,
            "asked_at": (asked_at or datetime.now(UTC)).astimezone(UTC),
            "audience": audience,
            "reference": reference,
            "rests_on": json.dumps(_passages_by_document(answer, rests_on)),
            "typed_by": _storable(typed_by),
        }
        return await self._database.write(lambda connection: self._append(connection, conversation, row, answer))

    def _append(
        self, connection: Connection, conversation: ConversationKey, row: dict[str, object], answer: Answer
    ) -> int:
        if row["reference"]:
            _delete(connection, and_(_of(conversation), turns.c.reference == row["reference"]))
        turn = int(connection.execute(insert(turns).values(row).returning(turns.c.id)).scalar_one())
        if answer.citations:
            connection.execute(insert(turn_citations), [_citation_row(turn, one, answer) for one in answer.citations])
        if time.monotonic() >= self._next_sweep:
            self._next_sweep = time.monotonic() + SWEEP_SECONDS
            if self._sweep(connection, None) == SWEPT_TURNS:
                self._next_sweep = 0.0  # there may be more: the next append goes on
        return turn

    async def recall(
        self,
        conversation: ConversationKey,
        *,
        tokens: int = RECALLED_TOKENS,
        limit: int = RECALLED_TURNS,
        audience: str = "",
        but: str = "",
        open_to: OpenTo | None = None,
    ) -> tuple[Message, ...]:
        """Return the newest turns that were said to this audience, oldest of them first, each as question and answer.

        A turn that may repeat a document which ``open_to`` doesn't return is left out, and so is one of which nobody
        knows what it rests on: access may have been taken away since.

        Args:
            conversation: Whose.
            tokens: At most so many in all; the first turn that does not fit ends the recall.
            limit: At most so many turns.
            audience: Those who will hear what is made of it, as ``append`` named them.
            but: The reference of a turn that is left out: the one that is being answered again.
            open_to: Tells which documents may be read now; None: all.
        """
        if self._days <= 0:
            return ()
        heard = and_(self._recent(conversation), turns.c.audience == audience)
        if but:
            heard = and_(heard, turns.c.reference != but)
        statement = select(turns).where(heard).order_by(turns.c.id.desc()).limit(limit)
        rows = await self._database.read(lambda connection: connection.execute(statement).all())
        rows = [row for row, readable in zip(rows, await _readable(rows, open_to), strict=True) if readable]
        kept: list[Message] = []
        for row in rows:
            tokens -= row.question_tokens + row.answer_tokens
            if tokens < 0:
                break
            kept += [
                Message(role="assistant", text=strip(row.answer), rests_on=_documents(row) or frozenset()),
                Message(
                    role="user",
                    text=row.question,
                    author=row.author,
                    sent_at=_aware(row.asked_at),
                    typed_by=row.typed_by,
                ),
            ]
        return tuple(reversed(kept))

    async def turns(self, conversation: ConversationKey, *, limit: int = 1) -> tuple[Turn, ...]:
        """Return the newest turns with their citations, newest first."""
        return await self._turns(self._recent(conversation), limit)

    async def by_reference(self, reference: str) -> Turn | None:
        """Return the turn that chat platforms know by this name, None when it is gone."""
        found = await self._turns(and_(turns.c.reference == reference, turns.c.asked_at >= self._oldest(None)), 1)
        return found[0] if found and reference else None

    async def _turns(self, which: ColumnElement[bool], limit: int) -> tuple[Turn, ...]:
        if self._days <= 0:
            return ()
        statement = select(turns).where(which).order_by(turns.c.id.desc()).limit(limit)
        async with self._database.connect() as connection:
            rows = (await connection.execute(statement)).all()
            chosen = turn_citations.c.turn_id.in_([row.id for row in rows])
            ordered = select(turn_citations).where(chosen).order_by(turn_citations.c.turn_id, turn_citations.c.number)
            cited = (await connection.execute(ordered)).all()
        return tuple(_turn(row, [citation for citation in cited if citation.turn_id == row.id]) for row in rows)

    async def forget(self, conversation: ConversationKey, *, reference: str = "") -> int:
        """Delete all turns of the conversation, or the one of the reference, and return how many there were."""
        which = _of(conversation)
        if reference:
            which = and_(which, turns.c.reference == reference)
        return await self._database.write(lambda connection: _delete(connection, which))

    async def expire(self, *, now: datetime | None = None) -> int:
        """Delete the turns older than the days that are remembered, and return how many there were.

        Meant for the start; while it runs, ``append`` keeps up.
        """
        total = 0
        while True:
            swept = await self._database.write(lambda connection: self._sweep(connection, now))
            total += swept
            if swept < SWEPT_TURNS:
                return total

    def _sweep(self, connection: Connection, now: datetime | None) -> int:
        """Delete the oldest expired turns, at most ``SWEPT_TURNS``; not those that another process is deleting."""
        expired = turns.c.asked_at < self._oldest(now)
        oldest = select(turns.c.id).where(expired).order_by(turns.c.asked_at).limit(SWEPT_TURNS)
        ids = connection.execute(oldest.with_for_update(skip_locked=True)).scalars().all()
        if ids:
            connection.execute(delete(turn_citations).where(turn_citations.c.turn_id.in_(ids)))
            connection.execute(delete(turns).where(turns.c.id.in_(ids)))
        return len(ids)

    def _recent(self, conversation: ConversationKey) -> ColumnElement[bool]:
        return and_(_of(conversation), turns.c.asked_at >= self._oldest(None))

    def _oldest(self, now: datetime | None) -> datetime:
        return (now or datetime.now(UTC)).astimezone(UTC) - timedelta(days=max(0.0, self._days))

    def _count(self, question: str, answer: str) -> tuple[int, int]:
        tokenizer = self._tokenizer or offline_tokenizer()
        return tokenizer.count(question), tokenizer.count(answer)


async def _readable(rows: Sequence[Row[tuple[object, ...]]], open_to: OpenTo | None) -> list[bool]:
    if open_to is None:
        return [True] * len(rows)
    rest_on = [_documents(row) for row in rows]
    readable = await open_to(frozenset[str]().union(*(known for known in rest_on if known)))
    return [known is not None and known.issubset(readable) for known in rest_on]


def _passages_by_document(answer: Answer, rests_on: Collection[str]) -> dict[str, int]:
    """Return the documents that an answer may repeat, each with how many passages of its own its prompt had.

    Those come first, in the prompt's order. None of their own have the documents behind a summary of many, and those
    of what was recalled.
    """
    counts = Counter(scored.chunk.document_id for scored in answer.chunks if not scored.chunk.rests_on)
    summaries = [scored.chunk for scored in answer.chunks if scored.chunk.rests_on]
    others = {*rests_on, *(one.document_id for one in summaries)}
    others.update(leaf.document_id for one in summaries for leaf in one.rests_on)
    return {**counts, **dict.fromkeys(sorted(others - counts.keys()), 0)}


def _documents(row: Row[tuple[object, ...]]) -> frozenset[str] | None:
    """Return what a turn may repeat; None where that was not written down."""
    return frozenset(json.loads(row.rests_on)) if row.rests_on else None


def _given(row: Row[tuple[object, ...]]) -> tuple[tuple[str, int], ...]:
    """Return the documents with passages in a turn's prompt; of what an older version wrote, a mere list, none."""
    told = json.loads(row.rests_on) if row.rests_on else {}
    return tuple((name, count) for name, count in told.items() if count) if isinstance(told, dict) else ()


def _delete(connection: Connection, which: ColumnElement[bool]) -> int:
    ids = select(turns.c.id).where(which)
    # Turns before their citations, as the sweep does: else the two could each wait for the other.
    connection.execute(ids.with_for_update())
    connection.execute(delete(turn_citations).where(turn_citations.c.turn_id.in_(ids)))
    deleted = connection.execute(delete(turns).where(which))
    return deleted.rowcount


def _columns(conversation: ConversationKey) -> dict[str, str]:
    return {
        "platform": conversation.platform,
        "workspace": conversation.workspace,
        "channel": conversation.channel,
        "thread": conversation.thread,
    }


def _of(conversation: ConversationKey) -> ColumnElement[bool]:
    return and_(*(turns.c[name] == value for name, value in _columns(conversation).items()))


def _citation_row(turn: int, citation: Citation, answer: Answer) -> dict[str, object]:
    within = 0 <= citation.id < len(answer.chunks)
    return {
        "turn_id": turn,
        "number": citation.number,
        "marker": citation.id,
        "chunk_id": citation.chunk_id,
        "document_id": citation.document_id,
        "title": _storable(citation.title),
        "url": _storable(citation.url),
        "location": _storable(citation.location),
        "quote": _storable(citation.quote),
        "score": answer.chunks[citation.id].score if within else 0.0,
    }


def _turn(row: Row[tuple[object, ...]], cited: Sequence[Row[tuple[object, ...]]]) -> Turn:
    return Turn(
        id=row.id,
        conversation=ConversationKey(
            platform=row.platform, workspace=row.workspace, channel=row.channel, thread=row.thread
        ),
        question=row.question,
        author=row.author,
        answer=row.answer,
        asked_at=_aware(row.asked_at),
        citations=tuple(_citation(citation) for citation in cited),
        rests_on=_documents(row),
        given=_given(row),
    )


def _citation(row: Row[tuple[object, ...]]) -> Citation:
    return Citation(
        number=row.number,
        id=row.marker,
        chunk_id=row.chunk_id,
        document_id=row.document_id,
        title=row.title,
        url=row.url,
        location=row.location,
        quote=row.quote,
    )


def _aware(moment: datetime) -> datetime:
    """Return the time in UTC: SQLite keeps no time zone, and we write UTC."""
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def _storable(text: str) -> str:
    """Return the text without what a database refuses: NUL (PostgreSQL) and lone surrogates (both)."""
    return text.replace("\0", "").encode("utf-16", "surrogatepass").decode("utf-16", "replace")
