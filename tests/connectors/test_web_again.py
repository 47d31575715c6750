"""A site that is crawled again: unchanged costs nothing, nothing is lost, and what is gone goes."""

import asyncio
import time
from contextlib import aclosing

import pytest
from aiohttp import web as web_server
from hypothesis import given, settings
from hypothesis import strategies as st

from connectors.base import Checkpoint, Failure
from connectors.sync.patience import Patient
from connectors.web.state import Kind, Memory, Record
from ragcore.errors import SourceAuthError, SourceRateLimited
from ragcore.types import SourceDocument
from tests.connectors.helpers import collect, known_of, listed
from tests.connectors.webs import Run, linked, web
from tests.fakes.website import Website


@pytest.fixture
async def site():
    async with Website() as website:
        website.page("/", linked("/a", "/b"))
        website.page("/a", linked("/c"))
        website.page("/b", linked())
        website.page("/c", linked())
        yield website


async def test_unchanged_pages_are_asked_for_and_not_read(site):
    run = Run(site)
    assert await run() == ["/", "/a", "/b", "/c"]
    read = []
    answer = site._page
    site._page = lambda request, page: read.append(answer(request, page)) or read[-1]
    assert await run() == []
    assert run.held == ["/", "/a", "/b", "/c"]
    assert [response.status for response in read] == [304] * 4
    assert len(site.asked) == 4


async def test_only_a_date_does_as_well(site):
    for path in ("/", "/a", "/b", "/c"):
        site.pages[path].etag, site.pages[path].modified = "", 1_700_000_000
    run = Run(site)
    await run()
    assert await run() == []
    assert all(request.headers.get("If-Modified-Since") for request in site.requests if request.path != "/robots.txt")
    site.page("/b", linked(text="other"), etag="", modified=1_700_000_001)
    assert await run() == ["/b"]


async def test_without_validators_the_content_tells(site):
    for page in site.pages.values():
        page.etag = ""
    run = Run(site)
    await run()
    assert await run() == []


async def test_what_no_reader_sees_is_no_change(site):
    def page(token, text):
        return linked("/c", head=f'<meta name="csrf" content="{token}"><script>t="{token}"</script>', text=text)

    site.page("/a", page("1", "text"))
    run = Run(site)
    await run()
    site.page("/a", page("2", "text"))
    assert await run() == []
    site.page("/a", page("3", "other text"))
    assert await run() == ["/a"]
    site.page("/a", linked("/c", text="other text", title="A title"))
    assert await run() == ["/a"]
    site.page("/a", "<h2 id=one>Head</h2>")
    assert await run() == ["/a"]
    site.page("/a", "<h2 id=two>Head</h2>")
    assert await run() == ["/a"], "an anchor that has changed is a link that has"


async def test_new_changed_moved_and_gone_pages_are_seen(site):
    run = Run(site)
    await run()
    site.page("/b", linked("/d"))
    site.page("/d", linked())
    assert await run() == ["/b", "/d"]
    del site.pages["/c"]
    assert await run() == []
    assert run.held == ["/", "/a", "/b", "/d"]
    site.redirect("/d", "/e", 301)
    site.page("/e", linked())
    assert await run() == ["/e"]
    assert run.held == ["/", "/a", "/b", "/e"]
    site.raises("/e", 410)
    await run()
    assert run.held == ["/", "/a", "/b"]


async def test_a_page_that_nothing_leads_to_any_more_goes(site):
    run = Run(site)
    await run()
    site.page("/a", linked())
    assert await run() == ["/a"]
    assert run.held == ["/", "/a", "/b"]


async def test_a_page_that_is_not_to_be_indexed_any_more_goes(site):
    run = Run(site)
    await run()
    site.page("/b", linked(head='<meta name="robots" content="noindex">'))
    await run()
    assert run.held == ["/", "/a", "/c"]


@pytest.mark.parametrize("status", [500, 502, 503, 401, 403])
async def test_a_page_that_fails_stays_with_all_that_it_leads_to(site, status):
    run = Run(site)
    await run()
    page = site.pages["/a"]
    site.raises("/a", status)
    assert await run() == []
    assert run.failed == ["/a"]
    assert run.held == ["/", "/a", "/b", "/c"]
    # Its links are still known, at the first failure and at later ones: what is new behind them is found.
    for number in range(2):
        site.page("/c", linked(*(f"/new{n}" for n in range(number + 1))))
        site.page(f"/new{number}", linked())
        assert await run() == ["/c", f"/new{number}"]
    site.pages["/a"] = page
    assert await run() == []
    assert run.held == ["/", "/a", "/b", "/c", "/new0", "/new1"]
    assert not run.failures


async def test_a_page_that_breaks_off_while_it_is_read_is_not_taken_for_whole(site):
    run = Run(site)
    await run()

    async def half(request):
        response = web_server.StreamResponse(headers={"Content-Type": "text/html", "Content-Length": "1000"})
        await response.prepare(request)
        await response.write(b"<p>half")
        request.transport.abort()
        return response

    site.pages["/a"] = half
    assert await run() == []
    assert run.failed == ["/a"]
    assert run.held == ["/", "/a", "/b", "/c"]


async def test_a_lost_cursor_loses_no_page_behind_one_that_fails(site):
    run = Run(site)
    await run()
    run.cursor = None
    site.raises("/a", 500)
    assert await run() == []
    assert run.held == ["/", "/a", "/b", "/c"]
    del site.pages["/c"]
    run.cursor = None
    await run()
    assert run.held == ["/", "/a", "/b"], "what answers 404 is gone all the same"
    full = web(site)
    await collect(full.changes(None, {}))
    _, failures = await listed(full)
    assert failures[f"s:{site.url('/a')}"].covers == "s:", "nobody can say what lies behind it"


async def test_what_the_index_lacks_is_read_again(site):
    run = Run(site)
    await run()
    del run.known[f"s:{site.url('/b')}"]
    assert await run() == ["/b"]
    assert sum("If-None-Match" not in request.headers for request in site.requests) == 2, "robots.txt and that page"


async def test_another_setting_forgets_what_was_found(site):
    run = Run(site)
    await run()
    run.changes["exclude"] = ("/c",)
    assert await run() == []
    assert run.held == ["/", "/a", "/b"]
    run.cursor = "nonsense"
    assert await run() == []


async def test_a_changed_copy_is_a_copy_still(site):
    head = '<link rel="canonical" href="/b">'
    site.page("/", linked("/a", "/b", "/b?print=1"))
    site.page("/b", linked(title="B", text="one"))
    site.page("/b?print=1", linked(title="B", text="one", head=head))
    run = Run(site)
    assert await run() == ["/", "/a", "/b", "/c"]
    assert await run() == []
    site.page("/b?print=1", linked(title="B", text="two", head=head))
    assert await run() == []
    del site.pages["/b"]
    assert await run() == ["/b?print=1"]
    assert await run() == []
    assert run.held == ["/", "/a", "/b?print=1", "/c"]


def wide(site, count):
    site.page("/", linked(*(f"/{number}" for number in range(count))))
    for number in range(count):
        site.page(f"/{number}", linked(title=str(number)))


async def test_a_crawl_that_must_wait_goes_on_where_it_was(site):
    wide(site, 150)
    page = site.pages["/100"]
    site.raises("/100", 503, Retry_After="5")
    documents, cursor, stopped = {}, None, None
    try:
        async for change in web(site, connections=1).changes(None, {}):
            if isinstance(change, SourceDocument):
                documents[change.id] = change
            elif isinstance(change, Checkpoint):
                cursor = change.cursor
    except SourceRateLimited as error:
        stopped = error
    assert stopped.retry_after == 5
    assert len(documents) == 101
    site.pages["/100"] = page
    site.requests.clear()
    rest, failures, _, _ = await collect(web(site).changes(cursor, known_of(documents)))
    assert not failures
    assert len(rest) == 50
    assert len(site.asked) == 50, "what was seen before isn't asked for again"


async def test_a_page_that_always_asks_to_wait_keeps_no_other_from_being_read(site):
    wide(site, 20)
    site.page("/", linked("/3", "/limited", "/also", *(f"/{number}" for number in range(20))))
    site.page("/also", linked("/behind"))
    site.page("/behind", linked())
    site.raises("/limited", 429, Retry_After="7")
    waited = []

    async def sleep(seconds):
        waited.append(seconds)

    connector = web(site, connections=1)
    changes = [change async for change in Patient(connector, sleep=sleep).changes(None, {})]
    assert waited == [7]
    assert len([change for change in changes if isinstance(change, SourceDocument)]) == 23
    (failure,) = [change for change in changes if isinstance(change, Failure)]
    assert failure.id == f"s:{site.url('/limited')}"
    assert "asks to wait" in failure.reason
    assert site.asked.count("/limited") == 2
    assert site.asked[-1] == "/limited"
    ids, failures = await listed(connector)
    assert (len(ids), failures.keys()) == (23, {failure.id})


async def test_a_crawl_that_broke_off_looks_again_at_what_it_had_seen(site):
    wide(site, 30)
    site.page("/a", linked())
    site.page("/", linked("/a", *(f"/{number}" for number in range(30)), "/b"))
    run = Run(site, connections=1, headers={"Authorization": "Bearer x"})
    await run()
    site.raises("/b", 401)
    for number in range(3):
        site.page("/a", linked("/c", text=str(number)))
        with pytest.raises(SourceAuthError):
            await run()
        assert run.paths(run.told) == ["/a"], (
            "a source that breaks at the same place each time grows no older before it"
        )


async def test_a_crawl_that_broke_off_long_ago_begins_anew(site, monkeypatch):
    wide(site, 150)
    site.raises("/100", 503, Retry_After="5")
    run = Run(site, connections=1)
    with pytest.raises(SourceRateLimited):
        await run()
    monkeypatch.setattr("connectors.web.state.now", lambda: time.time() + 3 * 3_600)
    site.page("/100", linked())
    await run()
    assert len(site.asked) == 151


@pytest.mark.parametrize("headers", [{"Retry_After": "5"}, {}])
async def test_a_fault_that_stays_brings_no_new_cursor(site, headers):
    """The run takes a new cursor for progress, and would begin again for ever."""
    wide(site, 150)
    site.page("/", linked("/nowhere", "/broken", *(f"/{number}" for number in range(150))))
    site.raises("/broken", 500)
    site.page("/sitemap.xml", "<urlset/>")
    run = Run(
        site, connections=1, start_urls=(site.url("/"),), sitemaps=(site.url("/sitemap.xml"),), headers={"A": "b"}
    )
    site.raises("/100", 429 if headers else 401, **headers)
    cursors = []
    for _ in range(3):
        tags = {path: f'"{path}{len(cursors)}"' for path in ("/sitemap.xml", "/1", "/70", "/99")}
        for path, tag in tags.items():
            site.pages[path].etag = tag
        with pytest.raises((SourceRateLimited, SourceAuthError)):
            await run()
        cursors.append(run.cursor)
    assert cursors[0]
    assert cursors[1] == cursors[2] == cursors[0]


async def test_a_slow_site_is_never_silent_for_long(site, monkeypatch):
    monkeypatch.setattr("connectors.web.connector._SILENCE", 0.0)
    wide(site, 20)
    run = Run(site)
    await run()
    told = [change async for change in web(site).changes(run.cursor, run.known)]
    assert len(told) > 20, "also where nothing is new"


@pytest.mark.parametrize("stop", [1, 2])
async def test_a_crawl_that_was_killed_goes_on_from_its_checkpoint(site, stop):
    wide(site, 200)
    documents, pending, cursor, passed = {}, {}, None, 0
    async with aclosing(web(site).changes(None, {})) as changes:
        async for change in changes:
            if isinstance(change, SourceDocument):
                pending[change.id] = change
            elif isinstance(change, Checkpoint):
                documents |= pending
                pending, cursor, passed = {}, change.cursor, passed + 1
                if passed == stop:
                    break
    site.requests.clear()
    connector = web(site)
    rest, _, _, _ = await collect(connector.changes(cursor, known_of(documents)))
    assert len(documents) == 64 * stop
    assert len(site.asked) == len(rest) == 201 - 64 * stop
    ids, _ = await listed(connector)
    assert ids == documents.keys() | rest.keys()


async def test_a_crawl_that_is_left_ends_its_requests(site):
    wide(site, 50)

    async def waiting(request):
        await asyncio.sleep(60)

    site.pages |= {f"/{number}": waiting for number in range(3, 50)}
    began = time.monotonic()
    async with aclosing(web(site).changes(None, {})) as changes:
        async for change in changes:
            if isinstance(change, SourceDocument) and change.id.endswith("/2"):
                break
    assert time.monotonic() - began < 10


TEXT = st.text(max_size=20)


@settings(max_examples=50)
@given(
    st.dictionaries(
        TEXT,
        st.builds(
            Record, kind=st.sampled_from(Kind), version=TEXT, title=TEXT, canonical=TEXT,
            links=st.lists(TEXT, max_size=5).map(tuple), dates=st.lists(TEXT, max_size=5).map(tuple), told=TEXT,
        ),
        max_size=5,
    ),
    st.sets(TEXT, max_size=3),
)  # fmt: skip
def test_a_cursor_holds_all_that_is_remembered(records, done):
    memory = Memory(basis="b", records=records, done=done)
    assert Memory.from_cursor(memory.to_cursor(), "b") == memory
    assert Memory.from_cursor(memory.to_cursor(), "other") == Memory(basis="other")


@given(st.text())
def test_any_other_text_is_no_cursor(text):
    assert Memory.from_cursor(text, "b") == Memory(basis="b")
