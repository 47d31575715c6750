"""Claims as rows and rows as claims; the only place that knows how one lies in its tables."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Table, and_, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection

from bots.platform import Incoming
from bots.requests import ReadChunk
from bots.turn.claims.claim import Claim, Outcome, Send, State
from bots.turn.claims.record import incoming_from_json, incoming_to_json, sent_from_json, without_words
from ragcore.links import deep_link
from ragcore.stores.rows import storable, utc
from ragcore.stores.schema import claims, sends
from ragcore.types import Answer, ConversationKey

Clock = Callable[[AsyncConnection | Connection], ColumnElement[float]]
"""Gives the expression for the seconds since 1970 by which leases run; a statement with it may be built once."""
_SHORT = 200
"""Characters of the columns that hold a platform's ids of places."""


def place(conversation: ConversationKey) -> dict[str, str]:
    """Return the columns of a conversation."""
    return {
        "platform": conversation.platform,
        "workspace": storable(conversation.workspace)[:_SHORT],
        "channel": storable(conversation.channel)[:_SHORT],
        "thread": storable(conversation.thread)[:_SHORT],
    }


def matches(table: Table, values: Mapping[str, str]) -> ColumnElement[bool]:
    """Return the condition that all these columns have these values."""
    return and_(*(table.c[name] == value for name, value in values.items()))


def new_row(reference: str, incoming: Incoming, owner: str, now: datetime) -> dict[str, Any]:
    """Return the row of a new claim, its lease aside."""
    return {
        **place(incoming.conversation),
        "reference": reference,
        "message": storable(incoming.message),
        "asker": storable(incoming.asker.id),
        "incoming": incoming_to_json(incoming),
        "state": State.RUNNING.value,
        "owner": owner,
        "attempts": 1,
        "created_at": now,
    }


def without_words_of(written: str) -> dict[str, Any]:
    """Return the columns of a claim without what was said; what a newer version wrote goes altogether."""
    bare = {"answer": "", "chunks": "[]", "whole": ""}
    try:
        return {"incoming": incoming_to_json(without_words(incoming_from_json(written))), **bare}
    except (ValueError, KeyError, TypeError):
        return {"incoming": "{}", **bare}


def inserting(connection: AsyncConnection | Connection, table: Table) -> Any:
    """Return an INSERT that can look at what is there already, in the database's own dialect."""
    return (sqlite if connection.dialect.name == "sqlite" else postgresql).insert(table)


def chunks_to_json(answer: Answer | None) -> str:
    """Return what the prompt of an answer held, in its order: ``[ID:n]`` names the n-th, ``number`` is 0 if uncited."""
    if answer is None:
        return "[]"
    numbers = {citation.id: citation.number for citation in answer.citations}
    held = [
        ReadChunk(
            id=index,
            number=numbers.get(index, 0),
            chunk_id=scored.chunk.id,
            document_id=scored.chunk.document_id,
            title=scored.chunk.title,
            url=deep_link(scored.chunk),
            score=round(scored.score, 6),
        )
        for index, scored in enumerate(answer.chunks)
    ]
    return json.dumps([asdict(chunk) for chunk in held], separators=(",", ":"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """Claims that were read, and by reference why others could not be."""

    claims: tuple[Claim, ...] = ()
    unreadable: Mapping[str, Exception] = field(default_factory=dict)


def load(connection: Connection, rows: Sequence[Row[Any]]) -> Loaded:
    """Return the claims of whole rows, in their order, with what was sent and what was merged into them.

    A newer version may write what this one cannot read.
    """
    references = [row.reference for row in rows]
    if not references:
        return Loaded()
    sent = select(sends).where(sends.c.reference.in_(references)).order_by(sends.c.number)
    parts = connection.execute(sent).all()
    columns = (claims.c.merged_into, claims.c.incoming)
    joined = select(*columns).where(claims.c.merged_into.in_(references))
    others = connection.execute(joined.order_by(claims.c.created_at, claims.c.reference)).all()
    found, unreadable = list[Claim](), dict[str, Exception]()
    for row in rows:
        mine = (part for part in parts if part.reference == row.reference)
        also = (other.incoming for other in others if other.merged_into == row.reference)
        try:
            found.append(_claim(row, mine, also))
        except (ValueError, KeyError, TypeError) as error:
            unreadable[row.reference] = error
    return Loaded(claims=tuple(found), unreadable=unreadable)


def _claim(row: Row[Any], parts: Iterable[Row[Any]], others: Iterable[str]) -> Claim:
    created_at = utc(row.created_at)
    assert created_at is not None
    return Claim(
        reference=row.reference,
        incoming=incoming_from_json(row.incoming),
        created_at=created_at,
        state=State(row.state),
        outcome=Outcome(row.outcome) if row.outcome else None,
        attempts=row.attempts,
        begun=sent_from_json(row.begun),
        sends=tuple(_send(part) for part in parts),
        also=tuple(incoming_from_json(other) for other in others),
        replaces=row.replaces,
    )


def _send(part: Row[Any]) -> Send:
    return Send(number=part.number, key=part.key, done=part.done_at is not None, sent=sent_from_json(part.sent))
