"""The server starts, gives each test its own empty database, and speaks through SQLAlchemy."""

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import create_async_engine


async def test_a_database_of_its_own(postgres_url: str) -> None:
    engine = create_async_engine(postgres_url)
    async with engine.begin() as connection:
        await connection.execute(sa.text("CREATE TABLE things (name text)"))
        await connection.execute(sa.text("INSERT INTO things VALUES ('年假')"))
        assert (await connection.execute(sa.text("SELECT name FROM things"))).scalar_one() == "年假"
    await engine.dispose()


async def test_an_empty_one_for_the_next_test(postgres_url: str) -> None:
    engine = create_async_engine(postgres_url)
    async with engine.connect() as connection:
        tables = await connection.execute(
            sa.text("SELECT count(*) FROM information_schema.tables WHERE table_schema = 'public'")
        )
        assert tables.scalar_one() == 0
    await engine.dispose()
