"""What is special to ``notion``: what a list tells and what it leaves out, rows, roots, and times by the minute.

Long because one made workspace is led through all of them.
"""

from datetime import timedelta

import pytest
from aiohttp import web
from pydantic import ValidationError

from connectors.base import SourceDocument, Tombstone
from connectors.notion.options import NotionOptions
from ragcore.errors import SourceGone, SourceRateLimited
from ragcore.links import deep_link
from tests.connectors.helpers import collect, listed, run
from tests.connectors.notions import Runs, connector
from tests.fakes.embedding import HashEmbedder
from tests.fakes.libraries import opened
from tests.servers.notion import NotionServer, block, spans
from tests.servers.notion.world import ANN, BEN


async def exhaust(changes, told):
    async for change in changes:
        told.append(change)


@pytest.fixture
async def server():
    async with NotionServer().serving() as server:
        yield server


async def test_a_page_carries_what_citing_needs(server):
    server.space.page("Valves", block("heading_1", "Open"), block("paragraph", "Turn left."))
    runs = Runs(server)
    await runs()
    document = runs.document("Valves")
    page = next(iter(server.space.pages.values()))
    assert (document.title, document.url, document.author) == ("Valves", page["url"], "Ann")
    assert document.updated_at.isoformat() == "2026-01-01T12:00:00+00:00"
    assert document.readers is None
    assert document.content.decode() == "# Valves\n\n## Open\n\nTurn left.\n"
    lines = document.content.decode().split("\n")
    blocks = server.space.blocks[page["id"]]
    found = {link.url.partition("#")[2]: lines[link.line - 1] for link in document.permalinks}
    assert found == {
        "": "# Valves",
        blocks[0]["id"].replace("-", ""): "## Open",
        blocks[1]["id"].replace("-", ""): "Turn left.",
    }


async def test_an_unchanged_workspace_costs_its_lists_alone(server):
    server.largest = 25
    for number in range(60):
        server.space.page(f"P{number}", block("paragraph", "text"))
    server.space.database("D")
    runs = Runs(server)
    assert len(await runs()) == 61
    assert await runs() == set()
    assert runs.asked == ["search"] * 3 + [f"data_sources/{next(iter(server.space.sources))}/query"]
    server.space.write(next(iter(server.space.pages)), block("paragraph", "other"))
    assert await runs() == {"P0"}
    assert len(runs.asked) == 6, "the lists, the name of who wrote it, and one page"


async def test_of_what_is_indexed_already_a_run_keeps_the_version_alone(server):
    server.space.row(server.space.database("D"), "Row")
    runs = Runs(server)
    await runs()
    source = connector(server)
    await collect(source.changes(runs.cursor, runs.known))
    entries = source._found.finder.survey.entries.values()
    assert {(entry.title, entry.what) for entry in entries} == {("D", None), ("Row", None)}


async def test_a_row_tells_its_properties(server):
    space = server.space
    source = space.database("Tasks", description="What is to be done", Status="status")
    other = space.page("Depot")
    space.row(
        source,
        "Paint",
        block("paragraph", "Two coats."),
        Status={"id": "s", "type": "status", "status": {"name": "Open"}},
        Tags={"id": "t", "type": "multi_select", "multi_select": [{"name": "red"}, {"name": "blue"}]},
        Price={"id": "n", "type": "number", "number": 12.0},
        Done={"id": "c", "type": "checkbox", "checkbox": False},
        Due={"id": "d", "type": "date", "date": {"start": "2026-02-01", "end": "2026-02-03", "time_zone": None}},
        Who={"id": "w", "type": "people", "people": [{"object": "user", "id": ANN, "name": "Ann"}]},
        Where={"id": "r", "type": "relation", "relation": [{"id": other}], "has_more": False},
        Sum={"id": "f", "type": "formula", "formula": {"type": "string", "string": "12 EUR"}},
        All={"id": "u", "type": "rollup", "rollup": {"type": "array", "array": [{"type": "number", "number": 3}]}},
        Code={"id": "i", "type": "unique_id", "unique_id": {"prefix": "T", "number": 7}},
        Note={"id": "x", "type": "rich_text", "rich_text": spans("See ", {"plain_text": "this", "marks": ["bold"]})},
        Site={"id": "l", "type": "url", "url": "https://x.example/a"},
        Plan={
            "id": "p",
            "type": "files",
            "files": [{"name": "plan.pdf", "type": "file", "file": {"url": "https://s/?key=1"}}],
        },
        Spot={"id": "y", "type": "place", "place": {"name": "Hall", "address": "1 Road", "lat": 1, "lon": 2}},
        Empty={"id": "e", "type": "select", "select": None},
        Press={"id": "b", "type": "button", "button": {}},
        New={"id": "z", "type": "not_known_yet", "not_known_yet": {"a": 1}},
    )
    runs = Runs(server)
    assert await runs() == {"Tasks", "Depot", "Paint"}
    assert runs.text("Paint") == (
        "# Paint\n\nIn the database Tasks.\n\n- Status: Open\n- Tags: red, blue\n- Price: 12\n- Done: no\n"
        "- Due: 2026-02-01 to 2026-02-03\n- Who: Ann\n- Where: Depot\n- Sum: 12 EUR\n- All: 3\n- Code: T-7\n"
        "- Note: See **this**\n- Site: https://x.example/a\n- Plan: plan.pdf\n- Spot: Hall, 1 Road\n\nTwo coats.\n"
    )
    assert runs.document("Paint").metadata == {"database": "Tasks"}
    assert "What is to be done" in runs.text("Tasks")
    assert "- Status" in runs.text("Tasks")


async def test_a_property_of_many_references_is_asked_for_in_whole(server):
    space = server.space
    source = space.database("Tasks")
    pages = [space.page(f"Part {number}") for number in range(40)]
    space.row(
        source,
        "Pump",
        Parts={
            "id": "r",
            "type": "relation",
            "relation": [{"id": page} for page in pages[:25]],
            "all": [{"id": page} for page in pages],
            "has_more": True,
        },
    )
    runs = Runs(server)
    await runs()
    assert "- Parts: " + ", ".join(f"Part {number}" for number in range(40)) in runs.text("Pump")


async def test_a_value_that_is_worked_out_is_no_edit_and_an_edited_one_is(server):
    def told(days, status):
        return {
            "Age": {"id": "f", "type": "formula", "formula": {"type": "number", "number": days}},
            "Status": {"id": "s", "type": "select", "select": {"name": status}},
        }

    space = server.space
    row = space.row(space.database("Tasks"), "Paint", **told(1, "Open"))
    runs = Runs(server)
    await runs()
    space.pages[row]["properties"] |= told(2, "Open")
    assert await runs() == set()
    space.pages[row]["properties"] |= told(3, "Done")  # as a renamed option: no time tells of it
    assert await runs() == {"Paint"}
    assert "- Age: 3" in runs.text("Paint")


async def test_a_page_that_is_renamed_stays_the_same_document(server):
    page = server.space.page("Old name", block("paragraph", "Text."))
    runs = Runs(server)
    await runs()
    server.space.pages[page]["properties"]["Name"]["title"] = spans("New name")
    server.space.touch(page)
    assert await runs() == {"New name"}
    assert (runs.titles, runs.ids) == ({"New name"}, {f"s:pages/{page}"})
    assert runs.text("New name") == "# New name\n\nText.\n"


async def test_an_edit_within_the_same_minute_is_seen(server):
    clock = server.space.clock
    clock.step = timedelta(seconds=10)
    page = server.space.page("P", block("paragraph", "first"))
    runs = Runs(server)
    await runs()
    server.space.write(page, block("paragraph", "second"))
    assert await runs() == {"P"}
    assert "second" in runs.text("P")
    clock.now += timedelta(minutes=2)
    assert await runs() == {"P"}, "once more, now that the minute is over"
    assert await runs() == set()


async def test_an_edit_while_a_page_is_read_is_seen_by_the_next_run(server):
    page = server.space.page("P", block("toggle", "first", block("paragraph", "old")))
    inner = server.space.blocks[page][0]["id"]

    def edit(path):
        if path == f"blocks/{inner}/children":
            server.fault = None
            server.space.write(page, block("paragraph", "new"))

    server.fault = edit
    runs = Runs(server)
    assert await runs() == {"P"}
    assert await runs() == {"P"}
    assert runs.text("P") == "# P\n\nnew\n"
    assert await runs() == set()


async def test_a_passage_is_cited_by_the_block_that_it_stands_in(server, tmp_path):
    blocks = [block("heading_1", "Open"), *(block("paragraph", f"Turn valve {number} left.") for number in range(9))]
    page = server.space.page(
        "Valves", *blocks, block("table", None, block("table_row", None, cells=[spans("M8"), spans("2 kN")]))
    )
    async with opened(tmp_path / "data", HashEmbedder()) as library:
        assert (await run(library, connector(server))).added == 1
        chunks = await library.registry.chunks_of([f"s:pages/{page}"])
    held = server.space.blocks[page]
    for passage, place in (("Turn valve 4 left.", 5), ("Turn valve 8 left.", 9), ("| M8 | 2 kN |", 10)):
        chunk = next(chunk for chunk in chunks if passage in chunk.text)
        url = server.space.pages[page]["url"]
        assert deep_link(chunk, passage) == f"{url}#{held[place]['id'].replace('-', '')}"


async def test_a_run_that_had_to_wait_goes_on_without_walking_the_lists_again(server):
    for number in range(30):
        server.space.page(f"P{number}")
    asked = 0

    def once(path):
        nonlocal asked
        asked += path.endswith("/children")
        return web.Response(status=429, headers={"Retry-After": "1"}) if asked == 12 else None

    server.fault = once
    source = connector(server)
    with pytest.raises(SourceRateLimited):
        await exhaust(source.changes(None, {}), told := [])
    known = {one.id: one.version for one in told if isinstance(one, SourceDocument)}
    assert len(known) == 11
    documents, _, _, _ = await collect(source.changes(None, known))
    assert len(documents) == 19
    assert server.paths().count("search") == 1
    assert len((await listed(source))[0]) == 30


async def test_rows_that_search_never_shows_are_read_and_kept(server):
    space = server.space
    source = space.database("Tasks")
    rows = [space.row(source, f"Row {number}", block("paragraph", "text")) for number in range(30)]
    server.hidden.update(rows)
    runs = Runs(server)
    assert len(await runs()) == 31
    assert await runs() == set()
    assert len(runs.ids) == 31
    assert not any(path.startswith("pages/") for path in runs.asked), "whole data sources, not single rows"
    space.trash(rows[0])
    server.hidden.add(space.row(source, "New"))
    space.write(rows[1], block("paragraph", "other"))
    assert await runs() == {"New", "Row 1"}
    assert runs.gone == {f"s:pages/{rows[0]}"}
    assert len(runs.ids) == 31


async def test_a_data_source_of_more_rows_than_one_question_gives_is_read_whole(server):
    server.most, server.largest = 10, 5
    source = server.space.database("Tasks")
    for number in range(35):
        server.space.row(source, f"Row {number}")
    assert len(await Runs(server)()) == 36


async def test_a_search_that_shows_the_newest_alone_is_walked_from_the_other_end_too(server):
    server.most = 10
    for number in range(18):
        server.space.page(f"P{number}")
    assert len(await Runs(server)()) == 18


async def test_a_page_that_search_does_not_show_is_found_on_the_one_it_stands_on(server):
    space = server.space
    inner = space.page("Inner", parent={"type": "page_id", "page_id": "x"})
    lost = space.page("Lost")
    outer = space.page("Outer", block("child_page", None, title="Inner") | {"id": inner})
    table = space.database("Table", parent={"type": "page_id", "page_id": outer})
    row = space.row(table, "Row")
    database = space.sources[table]["parent"]["database_id"]
    space.write(
        outer,
        block("child_page", None, title="Inner") | {"id": inner},
        block("toggle", "More", block("child_database", None, title="Table") | {"id": database}),
    )
    server.hidden.update((inner, lost, table, row))
    runs = Runs(server)
    assert await runs() == {"Outer", "Inner", "Table", "Row"}
    assert await runs() == set()
    assert runs.titles == {"Outer", "Inner", "Table", "Row"}, "asked for one by one, and kept"


async def test_more_than_can_be_asked_for_alone_is_kept_until_it_was(server, monkeypatch):
    monkeypatch.setattr("connectors.notion.finder._ASKED_ALONE", 3)
    pages = [server.space.page(f"P{number}") for number in range(10)]
    runs = Runs(server)
    await runs()
    server.hidden.update(pages)
    server.space.trash(sorted(pages)[7])
    gone = set()
    for left in (10, 10, 9, 9):
        await runs()
        gone |= runs.gone
        assert len(runs.ids) == left
    assert gone == {f"s:pages/{sorted(pages)[7]}"}


async def test_what_is_in_the_trash_or_archived_goes_at_once_and_what_is_not_shared_by_the_listing(server):
    space = server.space
    trashed, archived, lost, kept = (space.page(name) for name in ("T", "A", "L", "K"))
    runs = Runs(server)
    await runs()
    space.trash(trashed)
    space.pages[archived]["is_archived"] = True
    server.lost.add(lost)
    await runs()
    assert runs.gone == {f"s:pages/{trashed}", f"s:pages/{archived}"}
    assert runs.ids == {f"s:pages/{kept}"}


async def test_only_the_named_pages_and_what_is_below_them_are_read(server):
    space = server.space
    root = space.page("Root")
    toggle = block("toggle", "More") | {"id": space.new_id()}
    space.write(root, toggle)
    space.page("Child", parent={"type": "block_id", "block_id": toggle["id"]})
    table = space.database("Table", parent={"type": "page_id", "page_id": root})
    row = space.row(table, "Row")
    space.page("Note", parent={"type": "page_id", "page_id": row})
    other = space.page("Other")
    space.page("Below other", parent={"type": "page_id", "page_id": other})
    address = f"https://www.notion.so/team/Root-{root.replace('-', '')}?pvs=4"
    runs = Runs(server, pages=(address,))
    assert await runs() == {"Root", "Child", "Table", "Row", "Note"}
    assert await runs() == set()
    space.pages[row]["parent"] = {"type": "page_id", "page_id": other}
    await runs()
    assert runs.titles == {"Root", "Child", "Table"}, "moved elsewhere, with what is below it"
    ids = [f"s:pages/{other}", f"s:pages/{root}"]
    documents, _, gone, _ = await collect(connector(server, pages=(address,)).fetch(ids))
    assert (set(documents), gone) == ({ids[1]}, {ids[0]})


@pytest.mark.parametrize("by", ["database", "data source"])
async def test_a_database_is_named_by_its_own_address(server, by):
    space = server.space
    table = space.database("Table")
    space.row(table, "Row")
    space.page("Other")
    server.hidden.add(table)
    named = space.sources[table]["parent"]["database_id"] if by == "database" else table
    runs = Runs(server, pages=(f"https://www.notion.so/{named.replace('-', '')}?v={'1' * 32}",))
    assert await runs() == {"Table", "Row"}


async def test_a_named_page_that_is_not_shared_is_told_and_hides_no_other(server):
    page, lost = server.space.page("P"), server.space.page("L")
    server.lost.add(lost)
    runs = Runs(server, pages=(lost, page))
    changes = connector(server, pages=(lost, page)).changes(None, {})
    with pytest.raises(SourceGone, match="not shared with the integration; share it"):
        await exhaust(changes, told := [])
    assert [one.title for one in told if isinstance(one, SourceDocument)] == ["P"]
    server.lost.clear()
    assert await runs() == {"P", "L"}
    server.space.trash(lost)
    with pytest.raises(SourceGone, match="is in the trash"):
        await runs()


async def test_comments_are_read_where_they_are_asked_for(server):
    page = server.space.page("P", block("paragraph", "Text."))
    server.space.comment(page, "Is that so?", BEN)
    runs = Runs(server)
    await runs()
    assert "Is that so?" not in runs.text("P")
    runs = Runs(server, comments=True)
    await runs()
    assert runs.text("P").endswith("Text.\n\n## Comments\n\n**Ben**, 2026-01-01:\n\nIs that so?\n")


async def test_readers_are_those_that_an_operator_names(server):
    server.space.page("P")
    runs = Runs(server, readers=("email:Ann@x.example", "slack:T1/C1"))
    await runs()
    assert runs.document("P").readers == {"email:ann@x.example", "slack:T1/C1"}
    runs.options["readers"] = ("slack:T1/C1",)
    assert await runs() == {"P"}, "other readers are another version"


async def test_an_integration_that_may_not_know_people_names_none(server):
    server.lacking.add("users")
    server.space.page("P")
    server.space.page("Q")
    runs = Runs(server)
    await runs()
    assert runs.document("P").author == ""
    assert sum(path.startswith("users/") for path in runs.asked) == 1


async def test_ids_that_are_none_are_gone_without_a_question(server):
    ids = ["s:never.md", "s:pages/x", "s:things/" + server.space.page("P"), "s:"]
    changes = [change async for change in connector(server).fetch(ids)]
    assert changes == [Tombstone(id=identity) for identity in ids]
    assert not server.asked


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"token": "a b"}, "the secret alone"),
        ({"token": ""}, "the secret alone"),
        ({"pages": ("https://www.notion.so/Handbook",)}, "leads to no page"),
        ({"pages": ("https://[x/",)}, "leads to no page"),
        ({"readers": ("ann",)}, "is no reader"),
        ({"url": "api.notion.com"}, "must be an address"),
        ({"url": "https://me@api.notion.com"}, "must be an address"),
        ({"requests_per_second": 0}, "greater than 0"),
    ],
)
def test_a_wrong_setting_is_named(settings, said):
    with pytest.raises(ValidationError, match=said):
        NotionOptions.model_validate({"token": "ntn_1"} | settings)


@pytest.mark.parametrize(
    "page",
    [
        "59833787-2cf9-4fdf-8782-e53db20768a5",
        "598337872CF94FDF8782E53DB20768A5",
        "https://www.notion.so/team/Tuscan-kale-598337872cf94fdf8782e53db20768a5?pvs=4#abc",
        f"https://www.notion.so/{'1' * 32}?v={'2' * 32}&p=598337872cf94fdf8782e53db20768a5&pm=s",
    ],
)
def test_a_page_is_named_by_its_address_or_id(page):
    options = NotionOptions.model_validate({"token": "ntn_1", "pages": (page,), "url": "https://proxy.example/v1/"})
    assert options.pages == ("59833787-2cf9-4fdf-8782-e53db20768a5",)
    assert options.url == "https://proxy.example"
