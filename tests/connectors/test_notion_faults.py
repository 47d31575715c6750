"""What Notion refuses: the pace, the credential, missing rights, and answers in another form."""

import json
from datetime import timedelta
from itertools import pairwise

import pytest
from aiohttp import web

from connectors.notion.api import client_of
from connectors.notion.options import NotionOptions
from ragcore.errors import SourceAuthError, SourceBadReply, SourceError, SourceGone, SourceRateLimited
from tests.connectors.helpers import collect
from tests.connectors.notions import Runs, connector
from tests.servers.notion import NotionServer, block
from tests.servers.serving import stranger


@pytest.fixture
async def server():
    async with NotionServer().serving() as server:
        server.space.page("P", block("toggle", "More", block("paragraph", "text")))
        yield server


def problem(status, code, message="No.", **headers):
    said = {"object": "error", "status": status, "code": code, "message": message}
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    return web.Response(status=status, text=json.dumps(said), content_type="application/json", headers=headers)


@pytest.mark.parametrize(("status", "code"), [(429, "rate_limited"), (529, "service_overload")])
@pytest.mark.parametrize(("headers", "wait"), [({"Retry_After": "17"}, 17.0), ({}, 60.0)])
async def test_it_is_waited_as_long_as_notion_says(server, status, code, headers, wait):
    server.fault = lambda path: problem(status, code, **headers) if path.endswith("/children") else None
    with pytest.raises(SourceRateLimited) as limited:
        await Runs(server)()
    assert limited.value.retry_after == wait


def test_the_pace_is_three_a_second_unless_a_setting_says_otherwise():
    assert client_of(NotionOptions.model_validate({"token": "t"})).options.interval == pytest.approx(1 / 3)
    faster = NotionOptions.model_validate({"token": "t", "requests_per_second": 10})
    assert client_of(faster).options.interval == pytest.approx(0.1)


async def test_a_wrong_token_is_told_as_one_and_not_shown(server):
    server.token = "ntn_other"
    with pytest.raises(SourceAuthError, match=r"refused the token \(401\); check that `token`") as refused:
        await Runs(server)()
    assert "ntn_t1" not in str(refused.value)


@pytest.mark.parametrize(
    ("part", "mend"), [("search", "capability to read content"), ("comments", "capability to read comments")]
)
async def test_a_missing_capability_is_named(server, part, mend):
    server.lacking.add(part)
    with pytest.raises(SourceAuthError, match=mend):
        await Runs(server, comments=True)()


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (lambda: web.json_response({"object": "list"}), SourceBadReply),
        (lambda: web.json_response([1]), SourceBadReply),
        (lambda: web.Response(text="<html>Log in</html>", content_type="text/html"), SourceBadReply),
        (lambda: web.Response(status=302, headers={"Location": "https://x.example/"}), SourceBadReply),
        (lambda: problem(400, "validation_error", "body failed validation"), SourceBadReply),
        (lambda: problem(409, "conflict_error"), SourceError),
        (lambda: web.Response(status=502), SourceError),
    ],
)
async def test_a_search_of_another_form_is_a_typed_fault(server, answer, kind):
    server.fault = lambda path: answer() if path == "search" else None
    with pytest.raises(SourceError) as fault:
        await Runs(server)()
    assert type(fault.value) is kind
    assert fault.value.mend


async def test_a_page_of_another_form_is_named_and_hides_no_other(server):
    bad = server.space.page("Bad")
    server.garbled.add(bad)
    runs = Runs(server)
    assert await runs() == {"P"}
    assert [failure.mend for failure in runs.failures.values()] == ["check `url`"]
    assert runs.failures.keys() == {f"s:pages/{bad}"}
    assert f"s:pages/{bad}" in runs.ids, "it is there"


async def test_when_every_page_fails_it_is_notion_that_does_if_it_says_so_itself(server):
    for number in range(8):
        server.space.page(f"P{number}")
    server.fault = lambda path: web.Response(status=500) if path.endswith("/children") else None
    runs = Runs(server)
    assert await runs() == set()
    assert len(runs.failures) == 9
    server.fault = lambda path: web.Response(status=500) if path.endswith(("/children", "/me")) else None
    with pytest.raises(SourceError):
        await Runs(server)()


async def test_a_block_that_is_not_there_hides_no_other(server):
    inner = next(iter(server.space.pages))
    lost = server.space.blocks[inner][0]["id"]
    server.fault = lambda path: problem(404, "object_not_found") if path == f"blocks/{lost}/children" else None
    runs = Runs(server)
    await runs()
    assert runs.text("P") == "# P\n\n**More**\n"


async def test_blocks_that_are_missing_though_the_page_is_there_are_a_failure(server):
    page = next(iter(server.space.pages))
    server.fault = lambda path: problem(404, "object_not_found") if path == f"blocks/{page}/children" else None
    runs = Runs(server)
    assert await runs() == set()
    assert runs.failures.keys() == {f"s:pages/{page}"}


async def test_a_refused_question_deletes_nothing_when_documents_are_fetched(server):
    page = next(iter(server.space.pages))
    server.fault = lambda path: problem(400, "missing_version", "Notion-Version is not known")
    documents, failures, gone, _ = await collect(connector(server).fetch([f"s:pages/{page}"]))
    assert (documents, gone) == ({}, set())
    assert "Notion-Version is not known" in failures[f"s:pages/{page}"].reason


@pytest.mark.parametrize("limit", ["_MOST", "_MOST_ASKED"])
async def test_a_page_with_too_many_blocks_is_named(server, monkeypatch, limit):
    monkeypatch.setattr(f"connectors.notion.blocks.{limit}", 3)
    inner = [block("toggle", f"{number}", block("paragraph", "text")) for number in range(2)]
    page = server.space.page("Long", *inner, block("toggle", "more", block("toggle", "still", block("paragraph", "x"))))
    runs = Runs(server)
    assert await runs() == {"P"}
    assert runs.failures[f"s:pages/{page}"].mend == "divide the page"


async def test_a_data_source_that_can_not_be_asked_is_named_and_hides_no_other(server):
    space = server.space
    bad, good = space.database("Bad"), space.database("Good")
    rows = [space.row(source, f"Row of {source}") for source in (bad, good)]
    server.hidden.add(rows[0])
    server.fault = lambda path: web.Response(status=500) if path == f"data_sources/{bad}/query" else None
    runs = Runs(server)
    assert await runs() == {"P", "Good", f"Row of {good}"}
    assert runs.failures.keys() == {f"s:data_sources/{bad}"}
    server.fault = None
    assert await runs() == {"Bad", f"Row of {bad}"}
    assert not runs.failures


async def test_what_no_list_shows_and_can_not_be_asked_for_stays(server):
    space = server.space
    page = space.page("Q")
    runs = Runs(server)
    await runs()
    server.hidden.add(page)
    server.fault = lambda path: web.Response(status=500) if path == f"pages/{page}" else None
    await runs()
    assert f"s:pages/{page}" in runs.ids
    assert not runs.gone


async def test_a_page_that_another_one_holds_and_that_can_not_be_asked_for_is_named(server):
    space = server.space
    lost = space.page("Lost")
    server.hidden.add(lost)
    space.page("Outer", block("child_page", None, title="Lost") | {"id": lost})
    server.fault = lambda path: web.Response(status=500) if path == f"pages/{lost}" else None
    runs = Runs(server)
    assert await runs() == {"P", "Outer"}
    assert runs.failures.keys() == {f"s:pages/{lost}"}


@pytest.mark.parametrize("part", ["databases/", "/query"])
async def test_a_page_whose_database_can_not_be_asked_for_is_named_until_it_can(server, part):
    space = server.space
    source = space.database("Inner")
    server.hidden.update((source, space.row(source, "Row")))
    database = space.sources[source]["parent"]["database_id"]
    outer = space.page("Outer", block("child_database", None, title="Inner") | {"id": database})
    server.fault = lambda path: web.Response(status=500) if part in path else None
    runs = Runs(server)
    assert await runs() == {"P"}
    assert runs.failures.keys() == {f"s:pages/{outer}"}
    server.fault = None
    assert await runs() == {"Outer", "Inner", "Row"}


async def test_a_database_that_search_does_not_show_is_asked_for_its_rows(server):
    space = server.space
    source = space.database("Hidden")
    space.row(source, "First")
    runs = Runs(server)
    await runs()
    server.hidden.update((source, space.row(source, "Second")))
    assert await runs() == {"Second"}
    assert f"s:data_sources/{source}" in runs.ids


async def test_a_list_that_begins_anew_ends(server):
    told = {"object": "list", "results": [], "has_more": True, "next_cursor": "again"}
    server.fault = lambda path: web.json_response(told) if path == "search" else None
    assert await Runs(server)() == set()
    assert len(server.asked) == 2


async def test_the_token_goes_to_no_other_host(server):
    async with stranger() as (target, shown):
        server.fault = lambda path: web.Response(status=302, headers={"Location": target}) if "pages" in path else None
        with pytest.raises(SourceError):
            await collect(connector(server, pages=(next(iter(server.space.pages)),)).changes(None, {}))
    assert shown == [None]


async def test_a_run_that_is_refused_lists_nothing(server):
    page = next(iter(server.space.pages))
    server.lost.add(page)
    with pytest.raises(SourceGone):
        async for _ in connector(server, pages=(page,)).list_ids():
            pass


async def test_a_run_gives_signs_of_life_while_it_finds_out_what_stands_below_the_named_pages(server):
    space = server.space
    root = space.page("Root")
    toggles = [block("toggle", f"{number}") | {"id": space.new_id()} for number in range(12)]
    space.write(root, *toggles)
    for toggle in toggles:
        space.page("Child", parent={"type": "block_id", "block_id": toggle["id"]})
    changes = connector(server, pages=(root,)).changes(None, {})
    asked = [0, *[len(server.asked) async for _ in changes]]
    assert max(after - before for before, after in pairwise(asked)) <= 4


async def test_a_page_that_takes_too_long_is_named_and_ends_no_run(server, monkeypatch):
    monkeypatch.setattr("connectors.notion.documents._LONGEST", 0.0)
    page = next(iter(server.space.pages))
    runs = Runs(server)
    assert await runs() == set()
    assert "divide the page" in runs.failures[f"s:pages/{page}"].mend
    documents, failures, _, _ = await collect(connector(server).fetch([f"s:pages/{page}"]))
    assert (documents, failures.keys()) == ({}, {f"s:pages/{page}"})


async def test_nothing_where_something_was_due_is_as_if_it_were_left_out(server):
    space = server.space
    nothing = dict.fromkeys(("url", "in_trash", "is_archived", "created_by", "icon", "properties"))
    space.pages[space.page("Bare")] |= nothing | {"parent": {"type": None}}
    source = space.database("Table")
    space.sources[source] |= nothing | {"description": None, "database_parent": None}
    look = {"annotations": None, "href": None, "mention": None, "type": None}
    empty = dict.fromkeys(("caption", "language", "checked", "url", "name", "title", "external", "rich_text"))
    told = [{"plain_text": "Words."} | look]
    blocks = [
        block("paragraph", told),
        block("code", told, caption=None, language=None),
        *(block(kind, None, **empty) for kind in ("bookmark", "image", "child_page", "table_row", "to_do", "file")),
    ]
    space.page("Full", *blocks)
    runs = Runs(server)
    assert await runs() == {"P", "Untitled", "Table", "Full"}
    assert not runs.failures
    assert runs.text("Full").startswith("# Full\n\nWords.\n\n```\nWords.\n```")


async def test_more_rows_of_one_minute_than_a_question_gives_are_told_and_hide_no_later_ones(server):
    space = server.space
    server.most, server.largest = 10, 5
    source = space.database("Imported")
    step, space.clock.step = space.clock.step, timedelta()
    rows = [space.row(source, f"Row {number}") for number in range(12)]
    space.clock.step = step
    space.clock.now += step
    later = [space.row(source, f"Later {number}") for number in range(12)]
    server.hidden.update(rows + later)
    runs = Runs(server)
    assert await runs() == {
        "P",
        *(f"Row {number}" for number in range(10)),
        *(f"Later {number}" for number in range(12)),
    }
    assert runs.failures.keys() == {f"s:data_sources/{source}"}
    assert "same minute" in runs.failures[f"s:data_sources/{source}"].reason
