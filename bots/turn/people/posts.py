"""What is to stand because of questions to people, and who is at it: an outbox that a crash leaves whole."""

import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, and_, or_, select, update

from bots.platform import Sent
from bots.turn.claims.record import sent_from_json, sent_to_json
from bots.turn.claims.rows import Clock, inserting
from bots.turn.people.values import Kind, Post
from ragcore.history import Transactions
from ragcore.stores.schema import people_posts as posts

POST_SECONDS = 60.0
"""How long whoever took a post is left to it; after that the next one looks what stands, and goes on."""


def want(
    connection: Connection,
    kind: Kind,
    reference: str,
    platform: str,
    *,
    reply: str = "",
) -> None:
    """Let something stand, or change what does, in the transaction of what asks for it."""
    row: dict[str, Any] = {
        "key": key_of(kind, reply or reference),
        "kind": kind.value,
        "reference": reference,
        "reply": reply,
        "platform": platform,
        "wanted": 1,
    }
    insert = inserting(connection, posts).values(row)
    again = {"platform": platform, "wanted": posts.c.wanted + 1, "next_at": 0.0, "faults": 0, "gave_up": ""}
    connection.execute(insert.on_conflict_do_update(index_elements=["key"], set_=again))


def key_of(kind: Kind, about: str) -> str:
    """Return the name of a post, which its messages bear: letters and digits."""
    return f"{about}{kind.value}"


def part_key(post: Post, number: int) -> str:
    """Return the key of a message across crashes: at most 25 letters and digits; ``number`` counts from 0."""
    return f"{post.key}{number}"[:25]


class Posts:
    """The posts of one database, as one process sees them; safe to use from many tasks."""

    def __init__(self, database: Transactions, *, owner: str, clock: Clock) -> None:
        """Take posts as ``owner``, the name of this process, by the ``clock`` that leases run by."""
        self._database = database
        self._owner = owner
        self._clock = clock

    async def take(self, platform: str, *, alone: bool = False) -> Post | None:
        """Take what is due on a platform, committed on return; None when nothing is, or others are at it.

        Args:
            platform: Where it is to stand.
            alone: No other process works on this database: what another one took is not under way any more.

        Raises:
            StoreError: the database failed; nothing is taken.
        """

        def take(connection: Connection) -> Post | None:
            now = self._clock(connection)
            free: ColumnElement[bool] = posts.c.lease_until <= now
            if alone:
                free = or_(free, posts.c.owner != self._owner)
            due = and_(
                posts.c.platform == platform,
                posts.c.done < posts.c.wanted,
                posts.c.gave_up == "",
                posts.c.next_at <= now,
                free,
            )
            found = connection.execute(select(posts).where(due).order_by(posts.c.next_at, posts.c.key).limit(1)).first()
            if found is None:
                return None
            held = {"owner": self._owner, "lease_until": now + POST_SECONDS, "begun": 1}
            taken = update(posts).where(posts.c.key == found.key, free).values(held)
            lease = connection.execute(taken.returning(posts.c.lease_until)).scalar()
            return None if lease is None else _post(found, lease)

        return await self._database.write(take)

    async def stands(self, post: Post, sent: Sequence[Sent], *, done: bool = True) -> bool:
        """Record what stands of a post; ``done``: that is all of it. False when another one has taken it over."""
        values: dict[str, Any] = {"sent": json.dumps([sent_to_json(one) for one in sent])}
        first = sent[0] if sent else None
        values |= {"channel": first.channel if first else "", "message": first.id if first else ""}
        if done:
            values |= {"done": post.wanted, "begun": 0, "lease_until": 0.0, "next_at": 0.0, "faults": 0}
        return await self._record(post, values)

    async def later(self, post: Post, seconds: float, *, doubtful: bool) -> None:
        """Let a post be tried again after so long; ``doubtful``: nobody knows whether this try took effect."""

        def put_off(connection: Connection) -> None:
            values = {"next_at": self._clock(connection) + seconds, "lease_until": 0.0, "faults": post.faults + 1}
            values |= {} if doubtful else {"begun": 0}
            connection.execute(update(posts).where(_held(post)).values(values))

        await self._database.write(put_off)

    async def give_up(self, post: Post, why: str) -> bool:
        """Try no more until it is wanted anew; False when it was meanwhile, or another one has taken it over."""
        values = {"gave_up": why, "begun": 0, "lease_until": 0.0}
        if await self._record(post, values, posts.c.wanted == post.wanted):
            return True
        await self.later(post, 0.0, doubtful=False)
        return False

    async def _record(self, post: Post, values: dict[str, Any], *also: ColumnElement[bool]) -> bool:
        statement = update(posts).where(_held(post), *also).values(values)
        return await self._database.write(lambda connection: connection.execute(statement).rowcount > 0)


def _held(post: Post) -> ColumnElement[bool]:
    return and_(posts.c.key == post.key, posts.c.lease_until == post.lease)


def _post(row: Row[Any], lease: float) -> Post:
    stands = (sent_from_json(one) for one in json.loads(row.sent))
    return Post(
        key=row.key,
        kind=Kind(row.kind),
        reference=row.reference,
        reply=row.reply,
        wanted=row.wanted,
        lease=lease,
        sent=tuple(one for one in stands if one is not None),
        doubtful=bool(row.begun),
        faults=row.faults,
    )
