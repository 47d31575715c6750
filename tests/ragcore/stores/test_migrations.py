import contextlib
import pathlib
import sqlite3

from sqlalchemy import Connection, create_engine, text
from sqlalchemy.ext.asyncio import create_async_engine

from ragcore.library import DATABASE
from ragcore.library.recovery import check, mend
from ragcore.stores.database import SCHEMA_VERSION, Database
from ragcore.stores.health import IndexState
from ragcore.stores.migrations import upgrade
from ragcore.stores.schema import metadata
from tests.fakes.embedding import HashEmbedder
from tests.fakes.libraries import fill, opened


def _difference(connection: Connection) -> list[object]:
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    return list(compare_metadata(MigrationContext.configure(connection, opts={"compare_type": True}), metadata))


def test_the_migrations_lead_to_the_schema() -> None:
    """A change of schema.py needs a file in migrations/versions (and a new SCHEMA_VERSION)."""
    engine = create_engine("sqlite://")
    with engine.begin() as connection:
        upgrade(connection, None)
        assert _difference(connection) == []
        assert connection.scalar(text("SELECT version_num FROM alembic_version")) == SCHEMA_VERSION
    engine.dispose()


async def test_the_migrations_lead_to_the_schema_on_postgresql(postgres_url: str) -> None:
    engine = create_async_engine(postgres_url)
    async with engine.begin() as connection:
        await connection.run_sync(upgrade, None)
        assert await connection.run_sync(_difference) == []
        assert await connection.scalar(text("SELECT version_num FROM alembic_version")) == SCHEMA_VERSION
    await engine.dispose()


async def test_a_database_of_the_first_schema_is_brought_up_to_date(tmp_path: pathlib.Path) -> None:
    """Its rows stay, and its index, which had an entry for each chunk, is built anew without embedding."""
    async with opened(tmp_path) as library:
        await fill(library, {f"d{n}": f"Text {n}" for n in range(30)})
        live = await library.registry.live_page("kb")
        base = (await library.registry.knowledge_bases())["kb"]
        await library.vectors._chroma.drop(base.collection)
    with contextlib.closing(sqlite3.connect(tmp_path / DATABASE)) as connection:
        for statement in (
            *(f"DROP TABLE {name}" for name in ("sends", "claim_keys", "claims", "feedback", "heard")),
            "DROP INDEX turns_by_reference",
            "ALTER TABLE sources DROP COLUMN lease_until",
            "ALTER TABLE turns DROP COLUMN audience",
            "ALTER TABLE turns DROP COLUMN reference",
            "ALTER TABLE turns DROP COLUMN rests_on",
            "ALTER TABLE turn_citations DROP COLUMN marker",
            "DROP INDEX chunks_by_generation",
            "DROP INDEX chunks_by_vector",
            "DROP INDEX documents_by_knowledge_base",
            "CREATE INDEX chunks_by_document ON chunks (document_id, generation, ordinal)",
            "CREATE INDEX chunks_by_vector ON chunks (vector_key)",
            "CREATE INDEX documents_by_knowledge_base ON documents (knowledge_base)",
            "UPDATE alembic_version SET version_num = '0001'",
        ):
            connection.execute(statement)
        connection.commit()
    embedder = HashEmbedder()
    async with opened(tmp_path, embedder) as library:
        async with library.database.connect() as reading:
            assert await reading.run_sync(_difference) == []
        async for _ in mend(library):
            pass
        assert {health.state for health in await check(library)} == {IndexState.WELL}
        assert await library.registry.live_page("kb") == live
        assert embedder.texts == []


async def test_a_new_database_is_what_the_migrations_lead_to(database: Database) -> None:
    async with database.connect() as connection:
        assert await connection.run_sync(_difference) == []
        assert await connection.scalar(text("SELECT version_num FROM alembic_version")) == SCHEMA_VERSION
