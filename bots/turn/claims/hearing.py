"""What was said in groups where a platform lets a bot read nothing back: kept as it is heard, for the next mention.

Bounded: so many messages a channel, so many days, and no longer than ``answer.history_days``. What was kept is given
into its own channel alone, and goes with the question that is withdrawn, and with a conversation that is forgotten.
"""

from datetime import UTC, datetime, timedelta
from itertools import takewhile

from sqlalchemy import ColumnElement, Connection, and_, delete, exists, false, or_, select

from bots.platform import Incoming
from bots.turn.claims.claim import State
from bots.turn.claims.past import LEAVES_HISTORY
from bots.turn.claims.rows import inserting, matches, place
from ragcore.history import REMEMBERED_DAYS, Transactions
from ragcore.stores.rows import storable, utc
from ragcore.stores.schema import claims, heard
from ragcore.types import ConversationKey, Message

KEPT_DAYS = 7.0
"""How long a message is kept at most."""
KEPT_MESSAGES = 500
"""How many messages of one channel are kept, the newest."""
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

    async def thread_of(self, conversation: ConversationKey, message: str) -> str | None:
        """Return the thread in which a message of the channel was said, None when it was not heard."""
        found = select(heard.c.thread).where(_channel(conversation), heard.c.message == storable(message))
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
