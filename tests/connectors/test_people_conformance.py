"""The conformance suite on what people replied, as the database has it."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar

import pytest
from sqlalchemy import delete, insert, update

from connectors.base import Origin
from connectors.people import PeopleConnector
from ragcore.stores.database import Database
from ragcore.stores.people_replies import KeptAnswers
from ragcore.stores.schema import people_replies as replies
from tests.connectors.conformance import Conformance
from tests.connectors.world import World

BEGINNING = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


class PeopleWorld(World):
    """The replies of one knowledge base; a document's name is the question, and its id that of the reply."""

    cannot: ClassVar = dict.fromkeys(
        (
            "late", "duplicate", "restrict", "spoil", "vanish", "break_page", "rate_limit", "expire_token", "truncate",
            "skew", "break_form", "leave", "rename",
        ),
        "it is Citebot's own database, read as one state, whose rows have no readers and keep their ids",
    )  # fmt: skip

    def __init__(self, database: Database) -> None:
        self.database = database
        self.ids: dict[str, str] = {}
        self.moment = BEGINNING

    def connect(self, origin: Origin) -> PeopleConnector:
        return PeopleConnector(origin, KeptAnswers(self.database, "kb"))

    def identity(self, name: str) -> str:
        return self.ids.setdefault(name, f"{len(self.ids):08x}")

    async def add(self, name: str, text: str) -> None:
        when = self.now()
        row = {
            "id": self.identity(name), "reference": "0", "knowledge_base": "kb", "title": name, "platform": "slack",
            "channel": "C", "message": name, "author": "Ada", "text": text, "incoming": "{}", "said_at": when,
            "accepted_at": when, "accepted_by": "", "removed_by": "",
        }  # fmt: skip
        await self._write(insert(replies).values(row))

    async def change(self, name: str, text: str) -> None:
        await self._set(name, text=text, edited_at=self.now())

    async def delete(self, name: str) -> None:
        await self._write(delete(replies).where(replies.c.id == self.identity(name)))

    async def mend(self) -> None:
        """Do nothing: nothing breaks."""

    async def _set(self, name: str, **values: Any) -> None:
        await self._write(update(replies).where(replies.c.id == self.identity(name)).values(**values))

    async def _write(self, statement: Any) -> None:
        async with self.database.begin() as connection:
            await connection.execute(statement)

    def now(self) -> datetime:
        self.moment += timedelta(seconds=1)
        return self.moment


@pytest.fixture
async def world(tmp_path: Any) -> AsyncIterator[PeopleWorld]:
    database = await Database.open(tmp_path / "replies.sqlite")
    yield PeopleWorld(database)
    await database.close()


class TestPeople(Conformance):
    at_length_in_soak = True


async def test_a_reply_is_dated_and_has_its_author(world: PeopleWorld, tmp_path: Any) -> None:
    await world.add("Where do\nbicycles go?", "In the cellar.")
    connector = world.connect(Origin(source="people-kb", folder=tmp_path))
    (document,) = [one async for one in connector.fetch(["people-kb:00000000"])]
    assert document.content.decode() == "# Where do bicycles go?\n\nIn the cellar.\n\n(Ada, 2026-01-02)\n"
    assert (document.title, document.author) == ("Where do bicycles go?", "Ada")
    assert document.updated_at == BEGINNING + timedelta(seconds=1)
    assert document.readers is None, "who reads the knowledge base reads it"


@pytest.mark.parametrize("mark", ["removed_at", "deleted_at"])
async def test_what_is_not_kept_is_no_document(world: PeopleWorld, tmp_path: Any, mark: str) -> None:
    await world.add("a", "A.")
    await world.add("b", "B.")
    await world._set("a", **{mark: BEGINNING})
    await world._set("b", accepted_at=None)
    connector = world.connect(Origin(source="s", folder=tmp_path))
    assert [one async for one in connector.list_ids()] == []
