from sqlalchemy import Connection, create_engine, text

from ragcore.stores.database import SCHEMA_VERSION, Database
from ragcore.stores.migrations import upgrade
from ragcore.stores.schema import metadata


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


async def test_a_new_database_is_what_the_migrations_lead_to(database: Database) -> None:
    async with database.connect() as connection:
        assert await connection.run_sync(_difference) == []
        assert await connection.scalar(text("SELECT version_num FROM alembic_version")) == SCHEMA_VERSION
