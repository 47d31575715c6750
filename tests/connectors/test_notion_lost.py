"""What no list of Notion shows is neither lost nor deleted, wherever a run is cut off or fails."""

from contextlib import aclosing

import pytest
from aiohttp import web

from connectors.base import Checkpoint, SourceDocument
from ragcore.chunking import ChunkOptions
from ragcore.errors import SourceRateLimited
from ragcore.ingest import IngestOptions
from tests.connectors.helpers import collect, live, run
from tests.connectors.notions import Runs, connector
from tests.fakes.embedding import HashEmbedder
from tests.fakes.libraries import opened
from tests.servers.notion import NotionServer, block


@pytest.fixture
async def server():
    async with NotionServer().serving() as server:
        yield server


def held(server, title="Inner"):
    """Make a page that no list shows, on one that search does; return its id."""
    inner = server.space.page(title, block("paragraph", "text"))
    server.hidden.add(inner)
    server.space.page("Outer", block("child_page", None, title=title) | {"id": inner})
    return inner


def failing(status, *parts):
    return lambda path: web.Response(status=status) if all(part in path for part in parts) else None


async def until_cut(changes, checkpoints):
    """Return the cursor and the versions of what a run had stored that was cut off after so many Checkpoints."""
    cursor, known, stored = None, {}, {}
    async with aclosing(changes) as told:
        async for change in told:
            if isinstance(change, SourceDocument):
                known[change.id] = change.version
            elif isinstance(change, Checkpoint):
                cursor, stored, checkpoints = change.cursor, dict(known), checkpoints - 1
                if not checkpoints:
                    break
    return cursor, stored


async def test_a_run_that_is_cut_off_owes_what_stands_on_the_pages_that_it_read(server, monkeypatch):
    monkeypatch.setattr("connectors.notion.connector._BATCH", 1)
    inner = held(server)
    cursor, known = await until_cut(connector(server).changes(None, {}), 1)
    assert len(known) == 1
    documents, _, _, cursor = await collect(connector(server).changes(cursor, known))
    assert documents.keys() == {f"s:pages/{inner}"}
    assert inner not in cursor, "it is owed no more"


async def test_a_run_that_is_cut_off_owes_the_databases_that_stand_on_the_pages_that_it_read(server, monkeypatch):
    monkeypatch.setattr("connectors.notion.connector._BATCH", 1)
    space = server.space
    table = space.database("Table")
    row = space.row(table, "Row")
    server.hidden.update((table, row))
    database = space.sources[table]["parent"]["database_id"]
    space.page("Outer", block("child_database", None, title="Table") | {"id": database})
    for cut in (1, 2):
        cursor, known = await until_cut(connector(server).changes(None, {}), cut)
        assert len(known) == cut
        documents, _, _, _ = await collect(connector(server).changes(cursor, known))
        assert documents.keys() | known.keys() >= {f"s:data_sources/{table}", f"s:pages/{row}"}


async def test_a_wait_at_a_page_that_another_one_holds_passes_over_nothing(server):
    inner = held(server)
    server.fault = failing(429, f"pages/{inner}")
    source = connector(server)
    with pytest.raises(SourceRateLimited):
        await collect(source.changes(None, {}))
    server.fault = None
    documents, _, _, _ = await collect(source.changes(None, {}))
    assert f"s:pages/{inner}" in documents


@pytest.mark.parametrize("part", ["pages/", "blocks/"])
async def test_a_page_that_fails_stays_named_and_is_read_later(server, tmp_path, part):
    inner = held(server)
    async with opened(tmp_path / "data", HashEmbedder()) as library:
        server.fault = failing(500, part, inner)
        for _ in range(3):
            report = await run(library, connector(server), retry=False)
            assert [failed.id for failed in report.failed] == [f"s:pages/{inner}"]
        server.fault = None
        for retry in (False, True, False):
            report = await run(library, connector(server), retry=retry)
            assert (report.failed, report.deleted) == ((), 0)
            assert f"pages/{inner}" in await live(library)


@pytest.mark.parametrize("part", ["pages/", "blocks/"])
async def test_a_page_that_failed_once_is_not_deleted_for_that(server, tmp_path, part):
    inner = held(server)
    space = server.space
    async with opened(tmp_path / "data", HashEmbedder()) as library:
        await run(library, connector(server))
        space.write(inner, block("paragraph", "other"))
        server.fault = failing(500, part, inner)
        for retry in (True, False, True):
            assert (await run(library, connector(server), retry=retry)).deleted == 0
        server.fault = None
        assert (await run(library, connector(server))).deleted == 0
        assert f"pages/{inner}" in await live(library)
        chunks = await library.registry.chunks_of([f"s:pages/{inner}"])
        assert "other" in chunks[0].text
        space.trash(inner)
        assert (await run(library, connector(server))).deleted == 1


async def test_what_was_fetched_is_listed(server):
    inner = held(server)
    source = connector(server)
    outer = {f"s:pages/{one}": "" for one in server.space.pages if one != inner}
    documents, _, _, cursor = await collect(source.changes(None, outer))
    known = {identity: document.version for identity, document in documents.items() if identity in outer}
    source = connector(server)
    await collect(source.changes(cursor, known))
    await collect(source.fetch([f"s:pages/{inner}"]))
    assert f"s:pages/{inner}" in {identity async for identity in source.list_ids()}


@pytest.mark.parametrize("place", ["page", "toggle", "data source", "database"])
async def test_what_stands_in_something_in_the_trash_goes_with_it(server, place):
    """Notion marks what was put there alone; search shows none of both."""
    space = server.space
    above = space.page("Above")
    table = space.database("Table", parent={"type": "page_id", "page_id": above})
    toggle = block("toggle", "More") | {"id": space.new_id()}
    holder = space.page("Holder", toggle, parent={"type": "page_id", "page_id": above})
    kept = space.page("Kept")
    inner = {
        "page": space.page("Inner", parent={"type": "page_id", "page_id": holder}),
        "toggle": space.page("Inner", parent={"type": "block_id", "block_id": toggle["id"]}),
        "data source": space.row(table, "Inner"),
        "database": space.row(table, "Inner"),
    }[place]
    runs = Runs(server)
    await runs()
    assert f"s:pages/{inner}" in runs.ids
    server.hidden.update({*space.pages, *space.sources} - {kept})
    if place == "database":
        space.databases[space.sources[table]["parent"]["database_id"]]["in_trash"] = True
    else:
        space.trash({"data source": table}.get(place, above))
    server.fault = failing(404, "/query")
    await runs()
    assert f"s:pages/{inner}" in runs.gone
    assert f"s:pages/{inner}" not in runs.ids
    documents, _, gone, _ = await collect(connector(server).fetch([f"s:pages/{inner}", f"s:pages/{kept}"]))
    assert (documents.keys(), gone) == ({f"s:pages/{kept}"}, {f"s:pages/{inner}"})


@pytest.mark.parametrize("part", ["query", "children"])
@pytest.mark.parametrize("is_cut", [False, True])
async def test_what_only_something_that_fails_leads_to_outlives_a_run_from_the_beginning(
    server, tmp_path, monkeypatch, part, is_cut
):
    monkeypatch.setattr("connectors.notion.connector._BATCH", 1)
    space = server.space
    last = space.page("Last", block("paragraph", "read last"))
    hidden = held(server) if part == "children" else space.row(space.database("Table"), "Row")
    server.hidden.add(hidden)
    fails = next(iter(space.sources)) if part == "query" else list(space.pages)[-1]
    options = IngestOptions(chunk=ChunkOptions(chunk_tokens=64))
    async with opened(tmp_path / "data", HashEmbedder()) as library:
        await run(library, connector(server))
        server.fault = failing(500, part, fails)
        if is_cut:
            server.fault = lambda path: failing(401, last)(path) or failing(500, part, fails)(path)
            assert (await run(library, connector(server), options=options)).error
            server.fault = failing(500, part, fails)
        report = await run(library, connector(server), options=options, retry=False)
        assert (report.error, report.deleted) == ("", 0)
        assert f"pages/{hidden}" in await live(library)
        server.fault = None
        report = await run(library, connector(server), options=options)
        assert (report.deleted, report.failed) == (0, ())
        assert f"pages/{hidden}" in await live(library)
        server.lost.add(last)
        assert (await run(library, connector(server), options=options)).deleted == 1


async def test_a_page_on_one_that_fails_for_another_reason_is_read_with_what_stands_on_it(server):
    space = server.space
    inner = held(server)
    innermost = space.page("Innermost")
    server.hidden.add(innermost)
    space.write(inner, block("child_page", None, title="Innermost") | {"id": innermost})
    table = space.database("Table")
    server.hidden.add(table)
    outer = next(one for one in space.pages if one not in server.hidden)
    space.blocks[outer].append(
        {"type": "child_database", "id": space.sources[table]["parent"]["database_id"], "child_database": {}}
    )
    server.fault = failing(500, "databases/")
    documents, failures, _, _ = await collect(connector(server).changes(None, {}))
    assert failures.keys() == {f"s:pages/{outer}"}
    assert documents.keys() == {f"s:pages/{inner}", f"s:pages/{innermost}"}
