"""What models wrote, kept by all that they were asked with: asking the same again costs a look-up.

A result is kept while the document that used it last is live and has not become what it is without it; from then on
``KEPT_DAYS``, for who switches a step off and on again. Of documents that share one, that which used it last counts.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from sqlalchemy import ColumnElement, Connection, and_, delete, exists, false, func, not_, or_, select, true, update

from ragcore.stores.database import PAGE, Database
from ragcore.stores.rows import pages, upsert
from ragcore.stores.schema import counters, documents, model_results
from ragcore.types import Usage

KEPT_DAYS = 90
"""Days since its last use after which a result goes that nothing live rests on."""
KEPT_DAYS_OF_ALL = 365
"""And one of a knowledge base as a whole: which of these it rests on is told by nothing but their use."""
PRUNED = "model_results_pruned"
"""The counter of the day (since 1970) on which was looked for such results."""
REFUSED = 0
"""What stands for the number of attempts where the endpoint refused the content, which is its answer."""
UNANSWERED = -1
"""And where nothing came back: it is asked as if for the first time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelResult:
    """One result. ``text`` is empty where none of the ``attempts`` gave something that could be used.

    ``attempts`` is ``REFUSED`` where the endpoint takes no such content, ``UNANSWERED`` where nothing came back.
    ``reason`` says in our words why there is no text.
    """

    key: str
    task: str
    model: str
    text: str
    attempts: int = 1
    usage: Usage = Usage()
    reason: str = ""

    @property
    def is_refused(self) -> bool:
        """Tell whether the endpoint refused the content."""
        return self.attempts == REFUSED


@dataclass(frozen=True, slots=True, kw_only=True)
class Lacking:
    """So many results of a task, asked for so often, that have no text for one ``reason``, "" where nobody knows."""

    task: str
    attempts: int
    reason: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """What needs a result: ``owner`` is a document's id, or what ``of_all`` names, "" for nobody; and what for."""

    owner: str = ""
    purpose: str = ""


def of_all(knowledge_base: str) -> str:
    """Return the owner of what is asked about a knowledge base as a whole; no document's id begins so."""
    return f":{knowledge_base}"


class ModelResults:
    """The results of one database."""

    def __init__(self, database: Database) -> None:
        """Read and write in an open database."""
        self._database = database

    async def get(self, key: str) -> ModelResult | None:
        """Return a result, None where the model was never asked."""
        query = select(model_results).where(model_results.c.key == key)

        def work(connection: Connection) -> ModelResult | None:
            row = connection.execute(query).one_or_none()
            if row is None:
                return None
            usage = Usage(calls=1, prompt_tokens=row.prompt_tokens, completion_tokens=row.completion_tokens)
            return ModelResult(
                key=row.key,
                task=row.task,
                model=row.model,
                text=row.text,
                attempts=row.attempts,
                usage=usage,
                reason=row.reason,
            )

        return await self._database.read(work)

    async def known(self, keys: Sequence[str], *, attempts: int) -> set[str]:
        """Return those of the keys that have a result to be used, were refused, or have had so many attempts."""
        found: set[str] = set()
        tried = model_results.c.attempts
        done = or_(model_results.c.text != "", tried == REFUSED, tried >= attempts)
        async with self._database.connect() as connection:
            for page in pages(keys, PAGE):
                query = select(model_results.c.key).where(model_results.c.key.in_(page), done)
                found.update(await connection.scalars(query))
        return found

    async def lacking(self, knowledge_base: str, purpose: str) -> list[Lacking]:
        """Return what live documents of a knowledge base, or all of it, have no text of, the most frequent first."""
        owner, tried, reason = model_results.c.owner, model_results.c.attempts, model_results.c.reason
        live = exists().where(
            documents.c.id == owner, documents.c.knowledge_base == knowledge_base, documents.c.deleted == false()
        )
        theirs = and_(model_results.c.purpose == purpose, or_(owner == of_all(knowledge_base), live))
        count = func.count()
        query = select(model_results.c.task, tried, reason, count).where(theirs, model_results.c.text == "")
        query = query.group_by(model_results.c.task, tried, reason).order_by(count.desc(), reason)
        async with self._database.connect() as connection:
            rows = await connection.execute(query)
            return [Lacking(task=row[0], attempts=row[1], reason=row[2], count=row[3]) for row in rows]

    async def put(self, result: ModelResult, use: Use | None = None) -> None:
        """Keep a result, in place of an older one of its key; it is in use."""
        now, use = datetime.now(UTC), use or Use()
        record = {
            "key": result.key,
            "task": result.task,
            "model": result.model,
            "text": result.text,
            "attempts": result.attempts,
            "prompt_tokens": result.usage.prompt_tokens,
            "completion_tokens": result.usage.completion_tokens,
            "asked_at": now,
            "used_at": now,
            "owner": use.owner,
            "purpose": use.purpose,
            "reason": "" if result.text else result.reason,
        }
        async with self._database.begin() as connection:
            await upsert(connection, model_results, [record])

    async def used(self, keys: Sequence[str], use: Use) -> None:
        """Note that results are in use now."""
        values = {"used_at": datetime.now(UTC), "owner": use.owner, "purpose": use.purpose}
        async with self._database.begin() as connection:
            for page in pages(keys, PAGE):
                await connection.execute(update(model_results).where(model_results.c.key.in_(page)).values(values))

    async def release(self, owners: Sequence[str], purpose: str, before: datetime, *, is_lacking: bool = False) -> None:
        """Note that these no longer rest on what they used before this time alone; or only on what they lacked."""
        kind = model_results.c.text == "" if is_lacking else true()
        await self._release(owners, purpose, and_(kind, model_results.c.used_at < before))

    async def release_due(self, owner: str, purpose: str, before: datetime, *, attempts: int) -> None:
        """Note that nothing of what an owner lacked before this time, asked for less often than this, is due to it."""
        tried, used = model_results.c.attempts, model_results.c.used_at
        due = and_(model_results.c.text == "", tried != REFUSED, tried < attempts)
        await self._release([owner], purpose, and_(due, used < before))

    async def _release(self, owners: Sequence[str], purpose: str, which: ColumnElement[bool]) -> None:
        async with self._database.begin() as connection:
            for page in pages(owners, PAGE):
                theirs = and_(model_results.c.owner.in_(page), model_results.c.purpose == purpose)
                await connection.execute(update(model_results).where(theirs, which).values(owner="", purpose=""))

    async def prune(self, *, now: datetime | None = None) -> int:
        """Drop what nothing live can ask about any more and nobody used lately; looks once a day.

        Returns:
            How many results went.
        """
        now = now or datetime.now(UTC)
        today = int(now.timestamp() // 86_400)

        def is_due(connection: Connection) -> bool:
            pruned = connection.scalar(select(counters.c.value).where(counters.c.name == PRUNED))
            return pruned is None or pruned < today

        if not await self._database.read(is_due):
            return 0
        gone, after = 0, ""
        idle = _idle(now)

        def next_page(connection: Connection) -> list[str]:
            page = select(model_results.c.key).where(model_results.c.key > after, idle)
            return list(connection.scalars(page.order_by(model_results.c.key).limit(PAGE)))

        while True:
            keys = await self._database.read(next_page)
            if keys:
                async with self._database.begin() as connection:
                    # Some may have come into use since they were read.
                    dropped = await connection.execute(delete(model_results).where(model_results.c.key.in_(keys), idle))
                    gone += dropped.rowcount
            if len(keys) < PAGE:
                break
            after = keys[-1]
        async with self._database.begin() as connection:
            await upsert(connection, counters, [{"name": PRUNED, "value": today}])
        return gone


def _idle(now: datetime) -> ColumnElement[bool]:
    """Say that nothing live rests on a result, and that it has not been used for long."""
    used, owner = model_results.c.used_at, model_results.c.owner
    is_there = documents.c.deleted == false()
    document = exists().where(documents.c.id == owner, is_there)
    whole = and_(
        owner.startswith(":"),
        used >= now - timedelta(days=KEPT_DAYS_OF_ALL),
        exists().where(documents.c.knowledge_base == func.substr(owner, 2), is_there),
    )
    return and_(used < now - timedelta(days=KEPT_DAYS), not_(or_(document, whole)))
