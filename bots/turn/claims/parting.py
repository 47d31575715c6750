"""What becomes of a question's rows when one of the messages that were asked together is deleted."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Row, or_, select, update

from bots.platform import Incoming
from bots.turn.claims.claim import Outcome, State
from bots.turn.claims.record import incoming_from_json, incoming_to_json
from bots.turn.claims.rows import matches, place, without_words_of
from ragcore.stores.rows import storable
from ragcore.stores.schema import claims
from ragcore.types import ConversationKey


def silence(connection: Connection, conversation: ConversationKey, message: str) -> None:
    """Drop what was said in a message of a channel, and in its edits: whoever reads them again finds it left out."""
    columns = place(conversation)
    del columns["thread"]
    which = matches(claims, columns) & (claims.c.message == storable(message))
    rows = connection.execute(select(claims.c.reference, claims.c.incoming).where(which).with_for_update()).all()
    for row in rows:
        bare = _silent(row.incoming)
        connection.execute(update(claims).where(claims.c.reference == row.reference).values(incoming=bare))


def _silent(written: str) -> str:
    """Return a message without what was said in it; of one that a newer version wrote, nothing."""
    try:
        # Who asked stays: the others are theirs too.
        silent = replace(incoming_from_json(written), text="", attachments=(), replied_text="", replied_author="")
        return incoming_to_json(silent)
    except (ValueError, KeyError, TypeError):
        return "{}"


def part(connection: Connection, line: Sequence[str], rest: Mapping[str, Incoming], held: Mapping[str, Any]) -> str:
    """End the turns of a line as withdrawn, and let what was asked together with their question be a turn again.

    Args:
        connection: In a transaction.
        line: The turns, each in the place of the one before it.
        rest: What is left of their messages, by id, as they were last edited.
        held: The columns that make a claim ours: owner and lease.

    Returns:
        The reference of the claim that answers the rest from now on; empty when none of it has a row of its own.
    """
    merged = or_(claims.c.reference.in_(line), claims.c.merged_into.in_(line))
    wanted = select(claims).where(merged).order_by(claims.c.created_at, claims.c.reference).with_for_update()
    rows = connection.execute(wanted).all()
    own: dict[str, Row[Any]] = {}
    for row in rows:
        if row.message in rest and row.reference not in line:
            own.setdefault(row.message, row)
    first = next((own[message].reference for message in rest if message in own), "")
    now = datetime.now(UTC)
    for row in rows:
        values = without_words_of(row.incoming)
        if own.get(row.message) is row:
            values = {"incoming": _again(row, rest[row.message])}
        if row.reference == first:
            values |= {"state": State.RUNNING.value, "merged_into": "", "finished_at": None, **held}
        elif first and row.message in rest:
            # An edit of it, too: whoever looks for the message finds the turn that answers it now.
            values |= {"state": State.MERGED.value, "merged_into": first, "outcome": "", "replaces": ""}
        elif row.reference in line:
            values |= {"state": State.DONE.value, "outcome": Outcome.WITHDRAWN.value, "finished_at": now}
        connection.execute(update(claims).where(claims.c.reference == row.reference).values(values))
    return first


def _again(row: Row[Any], newest: Incoming) -> str:
    """Return a message as it is asked again: in its own words of now, in the place where it stands itself."""
    return incoming_to_json(replace(newest, conversation=incoming_from_json(row.incoming).conversation))
