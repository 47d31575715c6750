"""What a search is told of what its audience may not read."""

from collections.abc import Awaitable, Mapping
from typing import Any

from sqlalchemy import text

from ragcore.stores import reader_sets
from ragcore.stores.database import Database
from ragcore.stores.indexes import Permitted
from ragcore.stores.registry import Registry
from ragcore.stores.rows import reader_set_of
from ragcore.stores.staging import Staging
from ragcore.stores.vector_rows import Vectors
from tests.fakes.stored import made, put


async def test_a_search_is_told_what_is_closed_and_told_anew_after_a_switch(
    database: Database,
) -> None:
    registry, staging, vectors = Registry(database), Staging(database), Vectors(database)
    team, board = frozenset({"slack:T", "discord:G"}), frozenset({"slack:T/@U1"})
    await put(staging, vectors, *made("s:open", ["open"]))
    seen: list[Mapping[str, Permitted]] = []

    async def asked(readers: frozenset[str] | None, change: Awaitable[object] | None = None) -> list[Any]:
        async def search(extra: int, filters: Mapping[str, Permitted]) -> list[str]:
            nonlocal change
            seen.append(filters)
            if change is not None:
                await change
                change = None
            return []

        seen.clear()
        await registry.settled_search(["kb", "other"], search, list, readers=readers)
        return list(seen)

    workspace = frozenset({"*", "slack:T"})
    assert await asked(workspace) == [{}], "nothing is closed"
    closing = put(staging, vectors, *made("s:board", ["board"], readers=board))
    mine, others = reader_set_of(team), reader_set_of(board)
    closed = Permitted(sets=frozenset(), closed=frozenset({others}))
    assert await asked(workspace, closing) == [{}, {"kb": closed}], "it was closed under the search"
    await put(staging, vectors, *made("s:team", ["team"], readers=team))
    await put(staging, vectors, *made("s:again", ["again"], readers=frozenset(sorted(team))))
    assert await asked(workspace) == [{"kb": Permitted(sets=frozenset({mine}), closed=frozenset({others}))}]
    assert await asked(workspace | board) == [{}], "all of it is theirs"
    assert await asked(None) == [{}], "the operator"
    nobody = Permitted(sets=frozenset(), closed=frozenset({mine, others}))
    assert await asked(frozenset()) == [{"kb": nobody}]
    await staging.tombstone(["s:board"])
    still = Permitted(sets=frozenset({mine}), closed=frozenset({others}))
    assert await asked(workspace) == [{"kb": still}], "it is gone, and the indexes may still hold it"
    await staging.forget(await staging.garbage())
    assert await asked(workspace) == [{}], "what was closed is swept"
    await put(staging, vectors, *made("s:team", ["team"], readers=board))
    await put(staging, vectors, *made("s:again", ["again"]))
    await staging.forget(await staging.garbage())
    assert await asked(workspace) == [{"kb": closed}]
    await staging.stage(made("s:new", ["new"], readers=frozenset({"slack:T/@U7"}))[1])
    new = reader_set_of(frozenset({"slack:T/@U7"}))
    being_written = Permitted(sets=frozenset(), closed=frozenset({others, new}))
    assert await asked(workspace) == [{"kb": being_written}], "the indexes may hold it before it is live"


async def test_reader_sets_are_read_from_their_own_index(database: Database) -> None:
    """Else each switch in a large knowledge base would cost a look at all of its documents."""
    plan = "EXPLAIN QUERY PLAN " if database.is_sqlite else "EXPLAIN "
    async with database.connect() as connection:
        if not database.is_sqlite:
            await connection.execute(text("SET LOCAL enable_seqscan = off"))
        asked = reader_sets._SETS.params(name="kb")
        query = str(asked.compile(dialect=connection.dialect, compile_kwargs={"literal_binds": True}))
        rows = await connection.execute(text(plan + query))
        assert "documents_by_reader_set" in " ".join(str(tuple(row)) for row in rows)
