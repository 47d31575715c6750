"""What was said in groups where a platform lets a bot read nothing back: kept as it is heard, for the next mention.

Bounded: so many messages a channel, so many days, and no longer than ``answer.history_days``. What was kept is given
into its own channel alone, and goes with the question that is withdrawn, and with a conversation that is forgotten.
"""

from datetime import UTC, datetime, timedelta
from itertools import takewhile

from sqlalchemy import ColumnElement, Connection, and_, delete, exists, false, func, or_, select

from bots.platform import Incoming
from bots.talk import Span
from bots.turn.claims.claim import State
from bots.turn.claims.past import LEAVES_HISTORY
from bots.turn.claims.rows import inserting, matches, place
from ragcore.gist.values import Said
from ragcore.history import REMEMBERED_DAYS, Transactions
from ragcore.stores.rows import storable, utc
from ragcore.stores.schema import claims, heard
from ragcore.types import ConversationKey, Message

KEPT_DAYS = 7.0
"""How long a message is kept at most."""
KEPT_MESSAGES = 500
"""How many messages of one channel are kept, the newest."""
_JOINED = "joined"
"""Stands for the thread of a message that tells who came; no conversation has it."""
_LONGEST = 4_000
"""Characters of one message."""


class Heard:
    """The messages that were heard, whichever process heard them; safe to use from many tasks."""

    def __init__(self, database: Transactions, *, days: float = REMEMBERED_DAYS) -> None:
        """Keep messages for ``days``, and no longer than ``KEPT_DAYS``; 0 keeps nothing."""
        self._database = database
        self._days = min(days, KEPT_DAYS)

    async def keep(self, incoming: Incoming) -> None:
        """Keep a message, committed on return; one that is kept already takes the words of its edit.

        Raises:
            StoreError: the database failed; nothing is kept.
        """
        if self._days <= 0:
            return
        row = {
            **place(incoming.conversation),
            "message": storable(incoming.message),
            "author": storable(incoming.asker.name or incoming.asker.id)[:200],
            "text": storable(incoming.text)[:_LONGEST],
            "said_at": incoming.sent_at.astimezone(UTC),
        }

        def keep(connection: Connection) -> None:
            insert = inserting(connection, heard).values(row)
            if incoming.edited_at is not None:
                names = ["platform", "workspace", "channel", "message"]
                connection.execute(insert.on_conflict_do_update(index_elements=names, set_={"text": row["text"]}))
            else:
                connection.execute(insert.on_conflict_do_nothing())
            channel = _channel(incoming.conversation)
            newest_first = select(heard.c.id).where(channel).order_by(heard.c.id.desc())
            beyond = newest_first.offset(KEPT_MESSAGES).limit(1).scalar_subquery()
            connection.execute(delete(heard).where(channel, heard.c.id <= beyond))

        await self._database.write(keep)

    async def joined(self, conversation: ConversationKey, message: str, at: datetime) -> None:
        """Keep when somebody came to a group, committed on return.

        Raises:
            StoreError: the database failed; nothing is kept.
        """
        row = {
            **place(conversation),
            "thread": _JOINED,
            "message": storable(message),
            "author": "",
            "text": "",
            "said_at": at.astimezone(UTC),
        }
        await self._database.write(
            lambda connection: connection.execute(inserting(connection, heard).values(row).on_conflict_do_nothing())
        )

    async def thread_of(self, conversation: ConversationKey, message: str) -> str | None:
        """Return the thread in which a message of the channel was said, None when it was not heard."""
        here = and_(_channel(conversation), heard.c.thread != _JOINED)
        found = select(heard.c.thread).where(here, heard.c.message == storable(message))
        return await self._database.read(lambda connection: connection.execute(found).scalar())

    async def before(self, incoming: Incoming, *, limit: int) -> tuple[Message, ...]:
        """Return what was said in the message's thread before it, since the last question answered there; oldest first.

        What was said earlier than that question was read with it, or stands in the history.
        """
        here = matches(heard, place(incoming.conversation))
        own = heard.c.message == storable(incoming.message)
        said_at = incoming.sent_at.astimezone(UTC)

        def look(connection: Connection) -> tuple[Message, ...]:
            number = connection.execute(select(heard.c.id).where(here, own)).scalar()
            # Platforms tell whole seconds; of those in one second, the order of hearing decides.
            same = and_(heard.c.said_at == said_at, heard.c.id < number) if number is not None else false()
            earlier = select(heard, _is_answered().label("answered")).where(here, ~own)
            newest_first = earlier.where(or_(heard.c.said_at < said_at, same)).order_by(
                heard.c.said_at.desc(), heard.c.id.desc()
            )
            since = takewhile(lambda row: not row.answered, connection.execute(newest_first.limit(limit)).all())
            said = [Message(role="user", text=row.text, author=row.author, sent_at=utc(row.said_at)) for row in since]
            return tuple(reversed(said))

        return await self._database.read(look)

    async def said(self, incoming: Incoming, span: Span, *, open_past: bool) -> tuple[tuple[Said, ...], bool]:
        """Return what was heard where a message stands, itself aside, as it says now after edits; oldest first.

        One more than the span's ``most`` tells that there are more. Unless the group's past is open to who joins later,
        only what was said since the last one did; also return whether more was heard in the span before.
        """
        channel = _channel(incoming.conversation)
        here = matches(heard, place(incoming.conversation)) if span.thread else channel
        wanted = [here, heard.c.thread != _JOINED, heard.c.message != storable(incoming.message)]
        if span.since is not None:
            wanted.append(heard.c.said_at >= span.since.astimezone(UTC))
        if span.until is not None:
            wanted.append(heard.c.said_at < span.until.astimezone(UTC))
        newest = select(heard).where(*wanted).order_by(heard.c.said_at.desc(), heard.c.id.desc()).limit(span.most + 1)
        came = select(func.max(heard.c.id)).where(channel, heard.c.thread == _JOINED)

        def look(connection: Connection) -> tuple[tuple[Said, ...], bool]:
            found = connection.execute(newest).all()
            last = 0 if open_past else connection.execute(came).scalar() or 0
            seen = [row for row in reversed(found) if row.id > last]
            said = tuple(
                # The column is never empty, and so its moment is one.
                Said(id=row.message, author=row.author, text=row.text, sent_at=utc(row.said_at) or incoming.sent_at)
                for row in seen
            )
            return said, len(seen) < len(found)

        return await self._database.read(look)

    async def sweep(self, now: datetime) -> None:
        """Drop what has been kept long enough."""
        oldest = now.astimezone(UTC) - timedelta(days=self._days)
        await self._database.write(lambda connection: connection.execute(delete(heard).where(heard.c.said_at < oldest)))


def said_in(conversation: ConversationKey) -> ColumnElement[bool]:
    """Return the condition that a message was heard in exactly this conversation."""
    return matches(heard, place(conversation))


def heard_as(incoming: Incoming) -> ColumnElement[bool]:
    """Return the condition that it is this message that was heard."""
    return and_(_channel(incoming.conversation), heard.c.message == storable(incoming.message))


def _is_answered() -> ColumnElement[bool]:
    """Return whether a message is a question that was answered, alone or with another one: its words are history."""
    same = and_(*(claims.c[name] == heard.c[name] for name in ("platform", "workspace", "channel", "message")))
    answered = or_(
        claims.c.outcome.in_([outcome.value for outcome in LEAVES_HISTORY]), claims.c.state == State.MERGED.value
    )
    return exists().where(same, answered)


def _channel(conversation: ConversationKey) -> ColumnElement[bool]:
    columns = place(conversation)
    del columns["thread"]
    return matches(heard, columns)
