"""The questions that went to people, and what they said: what is asked for here is committed with what it calls for."""

import asyncio
import secrets
from collections import defaultdict
from collections.abc import Collection
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, and_, delete, func, or_, select, update

from bots.platform import Incoming
from bots.turn.claims.record import incoming_from_json, incoming_to_json
from bots.turn.claims.rows import Clock, inserting
from bots.turn.people.posts import Posts, key_of, want
from bots.turn.people.values import LONGEST_QUESTION, Ask, Kind, Owners, Reply, said_in
from bots.votes import AskedPerson
from ragcore.history import Transactions
from ragcore.stores.rows import database_clock, storable, utc
from ragcore.stores.schema import people_asks as asks
from ragcore.stores.schema import people_posts as posts
from ragcore.stores.schema import people_replies as replies

DAY = timedelta(hours=24)
KEPT = timedelta(days=365)
"""How long a question to people is kept, and what was said to it and is no document."""


class Ledger:
    """The questions and replies of one database, as one process sees them; safe to use from many tasks.

    All of its methods raise StoreError when the database fails; nothing is recorded then.
    """

    def __init__(self, database: Transactions, *, clock: Clock = database_clock) -> None:
        """Read and write in an open database; leases run by the ``clock``."""
        self._database = database
        self.posts = Posts(database, owner=secrets.token_hex(16), clock=clock)
        self._news: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)

    def news(self, platform: str) -> asyncio.Event:
        """Return the event that is set whenever something is wanted on a platform by this process."""
        return self._news[platform]

    async def ask(self, ask: Ask, owners: Owners, *, limit: int) -> AskedPerson:
        """Take a question to owners, once, unless its asker has taken ``limit`` there within a day."""

        def write(connection: Connection) -> AskedPerson:
            if connection.execute(select(asks.c.reference).where(asks.c.reference == ask.reference)).first():
                card = select(posts.c.gave_up).where(posts.c.key == key_of(Kind.CARD, ask.reference))
                if not connection.execute(card).scalar():
                    return "already"
                want(connection, Kind.CARD, ask.reference, owners.platform)
                return "asked"
            lately = and_(asks.c.asker == ask.asker, asks.c.asked_at > ask.asked_at.astimezone(UTC) - DAY)
            if (connection.execute(select(func.count()).where(lately)).scalar() or 0) >= limit:
                return "limited"
            row = {
                "reference": ask.reference,
                "knowledge_base": ask.knowledge_base,
                "asker": storable(ask.asker),
                "question": storable(ask.question)[:LONGEST_QUESTION],
                "incoming": incoming_to_json(replace(ask.incoming, token="")),
                "direct": int(ask.direct),
                "asked_at": ask.asked_at.astimezone(UTC),
            }
            insert = inserting(connection, asks).on_conflict_do_nothing().values(row)
            if not connection.execute(insert).rowcount:
                return "already"
            want(connection, Kind.CARD, ask.reference, owners.platform)
            return "asked"

        told = await self._database.write(write)
        self._tell(owners.platform)
        return told

    async def ask_of(self, reference: str) -> Ask | None:
        """Return a question by its reference, None when it is gone."""

        def read(connection: Connection) -> Ask | None:
            row = connection.execute(select(asks).where(asks.c.reference == reference)).first()
            return None if row is None else _ask(row)

        return await self._database.read(read)

    async def asked_in(self, incoming: Incoming) -> Ask | None:
        """Return the question in whose thread, or to which, a message was written; None for any other message."""
        here = incoming.conversation
        messages = {here.thread.rpartition(" ")[2], incoming.replied_to} - {""}
        named: list[ColumnElement[bool]] = []
        if messages:
            near = and_(posts.c.platform == here.platform, posts.c.channel.in_(_channels(incoming)))
            named.append(and_(near, posts.c.message.in_(messages)))
        if incoming.goes_on:
            # The card's buttons name the turn, as those of its answer do: a reply to that one is for the bot.
            named.append(posts.c.reply == incoming.goes_on)
        if not named:
            return None
        shown = posts.c.kind.in_([Kind.CARD.value, Kind.NOTE.value])
        wanted = select(asks).join(posts, posts.c.reference == asks.c.reference).where(shown, or_(*named)).limit(1)

        def read(connection: Connection) -> Ask | None:
            row = connection.execute(wanted).first()
            return None if row is None else _ask(row)

        return await self._database.read(read)

    async def open_cards(self, platform: str, since: datetime) -> tuple[tuple[str, str], ...]:
        """Return channel and message of the cards on a platform of questions that were asked since then."""
        card = and_(posts.c.platform == platform, posts.c.kind == Kind.CARD.value, posts.c.message != "")
        wanted = select(posts.c.channel, posts.c.message).join(asks, asks.c.reference == posts.c.reference)
        wanted = wanted.where(card, asks.c.asked_at >= since.astimezone(UTC))

        def read(connection: Connection) -> tuple[tuple[str, str], ...]:
            return tuple((row.channel, row.message) for row in connection.execute(wanted))

        return await self._database.read(read)

    async def reply(self, ask: Ask, incoming: Incoming, author: str, by: str) -> bool:
        """Keep what an owner (``by``, called ``author``) said, or how they changed it; False when that was known."""
        text = storable(said_in(incoming))
        here = _message_of(incoming)

        def write(connection: Connection) -> bool:
            known = connection.execute(select(replies).where(_matches(here))).first()
            if known is None:
                identity = secrets.token_hex(4)
                row: dict[str, Any] = {
                    **here,
                    "id": identity,
                    "reference": ask.reference,
                    "knowledge_base": ask.knowledge_base,
                    "title": storable(ask.title),
                    "author": storable(author or by),
                    "text": text,
                    "incoming": incoming_to_json(replace(incoming, text="", token="")),
                    "said_at": incoming.sent_at.astimezone(UTC),
                    "accepted_by": "",
                    "removed_by": "",
                }
                insert = inserting(connection, replies).on_conflict_do_nothing().values(row)
                if not connection.execute(insert).rowcount:
                    return False  # another process heard it at the same time
                want(connection, Kind.COPY, ask.reference, _platform(ask), reply=identity)
                return True
            edited, before = incoming.edited_at, utc(known.edited_at)
            if edited is None or known.text == text or known.deleted_at is not None:
                return False
            if before is not None and edited <= before:
                return False
            change = update(replies).where(replies.c.id == known.id)
            connection.execute(change.values(text=text, edited_at=edited.astimezone(UTC)))
            self._changed(connection, _reply(known), _platform(ask))
            return True

        is_new = await self._database.write(write)
        self._tell(_platform(ask), incoming.conversation.platform)
        return is_new

    async def deleted(self, platform: str, channel: str, message: str) -> bool:
        """Let a reply that its author deleted be gone everywhere; False when the message was none."""
        here = {"platform": platform, "channel": channel, "message": storable(message)}

        def write(connection: Connection) -> tuple[str, ...]:
            found = connection.execute(select(replies).where(_matches(here), replies.c.deleted_at.is_(None))).first()
            if found is None:
                return ()
            connection.execute(update(replies).where(replies.c.id == found.id).values(deleted_at=datetime.now(UTC)))
            written = connection.execute(select(asks.c.incoming).where(asks.c.reference == found.reference)).scalar()
            asked = incoming_from_json(written).conversation.platform if written else ""
            self._changed(connection, _reply(found), asked)
            return (platform, *([asked] if asked else []))

        told = await self._database.write(write)
        self._tell(*told)
        return bool(told)

    def _changed(self, connection: Connection, reply: Reply, asked: str) -> None:
        """Let all that shows a reply show what it is now; ``asked`` is the platform of its asker."""
        where = reply.incoming.conversation.platform
        if asked:
            want(connection, Kind.COPY, reply.reference, asked, reply=reply.id)
        if reply.accepted_at is not None:
            want(connection, Kind.KEPT, reply.reference, where, reply=reply.id)

    async def noted(self, reply: Reply) -> None:
        """Let what became of a reply be told below it."""
        platform = reply.incoming.conversation.platform
        await self._database.write(
            lambda connection: want(connection, Kind.NOTE, reply.reference, platform, reply=reply.id)
        )
        self._tell(platform)

    async def was_sent(self, identity: str) -> bool:
        """Return whether whoever asked has the reply, as it was at some time."""
        copy = and_(posts.c.key == key_of(Kind.COPY, identity), posts.c.done > 0, posts.c.gave_up == "")

        def read(connection: Connection) -> bool:
            return connection.execute(select(posts.c.key).where(copy)).first() is not None

        return await self._database.read(read)

    async def not_reached(self, ask: Ask) -> None:
        """Let whoever asked be told that nobody could be reached."""
        await self._database.write(lambda connection: want(connection, Kind.SORRY, ask.reference, _platform(ask)))
        self._tell(_platform(ask))

    async def reply_of(self, identity: str) -> Reply | None:
        """Return a reply, None when it is gone."""

        def read(connection: Connection) -> Reply | None:
            row = connection.execute(select(replies).where(replies.c.id == identity)).first()
            return None if row is None else _reply(row)

        return await self._database.read(read)

    async def keep(self, identity: str, by: str, *, kept: bool) -> Reply | None:
        """Let a reply be a document, or none any longer; None when it is gone, or deleted at its source."""
        now = datetime.now(UTC)
        change: dict[str, Any] = {"removed_at": now, "removed_by": storable(by)}
        if kept:
            change = {"accepted_at": now, "accepted_by": storable(by), "removed_at": None, "removed_by": ""}

        def write(connection: Connection) -> Reply | None:
            found = connection.execute(select(replies).where(replies.c.id == identity)).first()
            if found is None or found.deleted_at is not None:
                return None
            reply = _reply(found)
            if reply.is_kept is not kept and (kept or reply.accepted_at is not None):
                connection.execute(update(replies).where(replies.c.id == identity).values(change))
                where = reply.incoming.conversation.platform
                for kind in (Kind.KEPT, Kind.NOTE):
                    want(connection, kind, reply.reference, where, reply=identity)
            return reply

        reply = await self._database.write(write)
        if reply is not None:
            self._tell(reply.incoming.conversation.platform)
        return reply

    async def all_replies(self) -> tuple[Reply, ...]:
        """Return all replies that were not deleted, newest first."""

        def read(connection: Connection) -> tuple[Reply, ...]:
            newest = select(replies).where(replies.c.deleted_at.is_(None))
            rows = connection.execute(newest.order_by(replies.c.said_at.desc(), replies.c.id))
            return tuple(_reply(row) for row in rows)

        return await self._database.read(read)

    async def sweep(self, *, now: datetime | None = None) -> int:
        """Delete the questions older than a year, with what was said to them and is no document; return how many."""
        oldest = (now or datetime.now(UTC)).astimezone(UTC) - KEPT
        kept = and_(replies.c.accepted_at.is_not(None), replies.c.removed_at.is_(None), replies.c.deleted_at.is_(None))

        def write(connection: Connection) -> int:
            gone = connection.execute(select(asks.c.reference).where(asks.c.asked_at < oldest)).scalars().all()
            for reference in gone:
                still = select(replies.c.id).where(replies.c.reference == reference, kept)
                ids = connection.execute(still).scalars().all()
                connection.execute(delete(posts).where(posts.c.reference == reference, posts.c.reply.not_in(ids)))
                connection.execute(delete(replies).where(replies.c.reference == reference, ~kept))
                connection.execute(delete(asks).where(asks.c.reference == reference))
            return len(gone)

        return await self._database.write(write)

    def _tell(self, *platforms: str) -> None:
        for platform in platforms:
            self._news[platform].set()


def _channels(incoming: Incoming) -> Collection[str]:
    """Return the ids under which a platform may know the channel that a message stands in."""
    here = incoming.conversation
    return {here.channel, *([incoming.extra["here"]] if "here" in incoming.extra else [])}


def _platform(ask: Ask) -> str:
    return ask.incoming.conversation.platform


def _message_of(incoming: Incoming) -> dict[str, str]:
    here = incoming.conversation
    return {"platform": here.platform, "channel": here.channel, "message": storable(incoming.message)}


def _matches(here: dict[str, str]) -> ColumnElement[bool]:
    return and_(*(replies.c[name] == value for name, value in here.items()))


def _ask(row: Row[Any]) -> Ask:
    return Ask(
        reference=row.reference,
        knowledge_base=row.knowledge_base,
        asker=row.asker,
        question=row.question,
        incoming=incoming_from_json(row.incoming),
        asked_at=_known(row.asked_at),
        direct=bool(row.direct),
    )


def _reply(row: Row[Any]) -> Reply:
    return Reply(
        id=row.id,
        reference=row.reference,
        knowledge_base=row.knowledge_base,
        title=row.title,
        author=row.author,
        text=row.text,
        incoming=incoming_from_json(row.incoming),
        said_at=_known(row.said_at),
        edited_at=utc(row.edited_at),
        deleted_at=utc(row.deleted_at),
        accepted_at=utc(row.accepted_at),
        removed_at=utc(row.removed_at),
    )


def _known(moment: datetime) -> datetime:
    known = utc(moment)
    assert known is not None
    return known
