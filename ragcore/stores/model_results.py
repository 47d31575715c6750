"""What models wrote, kept by all that they were asked with: asking the same again costs a look-up."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import Connection, or_, select

from ragcore.stores.database import PAGE, Database
from ragcore.stores.rows import pages, upsert
from ragcore.stores.schema import model_results
from ragcore.types import Usage

REFUSED = 0
"""What stands for the number of attempts where the endpoint refused the content, which is its answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelResult:
    """One result. ``text`` is empty where none of the ``attempts`` gave something that could be used.

    ``attempts`` is ``REFUSED`` where the endpoint takes no such content.
    """

    key: str
    task: str
    model: str
    text: str
    attempts: int = 1
    usage: Usage = Usage()

    @property
    def is_refused(self) -> bool:
        """Tell whether the endpoint refused the content."""
        return self.attempts == REFUSED


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
                key=row.key, task=row.task, model=row.model, text=row.text, attempts=row.attempts, usage=usage
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

    async def put(self, result: ModelResult) -> None:
        """Keep a result, in place of an older one of its key."""
        record = {
            "key": result.key,
            "task": result.task,
            "model": result.model,
            "text": result.text,
            "attempts": result.attempts,
            "prompt_tokens": result.usage.prompt_tokens,
            "completion_tokens": result.usage.completion_tokens,
            "asked_at": datetime.now(UTC),
        }
        async with self._database.begin() as connection:
            await upsert(connection, model_results, [record])
