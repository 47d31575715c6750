"""A real local site that fails, refuses or leads inside, and settings that are wrong: each is told, and hides no other."""

import pytest
from aiohttp import web as web_server
from pydantic import ValidationError

from connectors.web import WEB, WebOptions
from ragcore.errors import SourceAuthError, SourceError, SourceGone, SourceRateLimited, SourceUnreachable
from tests.connectors.helpers import collect, known_of
from tests.connectors.webs import Run, linked, options, web
from tests.fakes.ports import free_port
from tests.fakes.website import Website


@pytest.fixture
async def site():
    async with Website() as website:
        yield website


async def test_a_page_that_fails_is_named_and_hides_no_other(site):
    site.page("/", linked("/500", "/401", "/403", "/400", "/large", "/404", "/ok"))
    for status in (500, 401, 403, 400):
        site.raises(f"/{status}", status)
    site.page("/large", b"x" * 2_000_000)
    site.page("/ok", linked())
    run = Run(site, max_megabytes=1)
    assert await run() == ["/", "/ok"]
    assert run.failed == ["/400", "/401", "/403", "/500", "/large"]
    assert all(failure.reason and failure.mend for failure in run.failures.values())
    assert run.listing_failures.keys() == run.failures.keys()


async def test_a_site_that_asks_to_wait_is_told_as_such(site):
    site.page("/", linked("/a"))
    site.raises("/a", 429, Retry_After="9")
    with pytest.raises(SourceRateLimited) as caught:
        await Run(site)()
    assert caught.value.retry_after == 9


async def test_a_refused_credential_is_one_of_the_source(site):
    site.page("/", linked("/a"))
    site.raises("/a", 401)
    with pytest.raises(SourceAuthError):
        await Run(site, headers={"Authorization": "Bearer x"})()
    assert site.requests[-1].headers["Authorization"] == "Bearer x"


async def test_a_start_that_cannot_be_read_is_one_of_the_source(site):
    with pytest.raises(SourceGone, match="is not there; mend `start_urls`"):
        await Run(site)()
    site.raises("/", 500)
    with pytest.raises(SourceError):
        await Run(site)()
    with pytest.raises(SourceUnreachable):
        await collect(web(site, start_urls=(f"http://127.0.0.1:{free_port()}/",)).changes(None, {}))


LOGIN = '<html><body><p>Log in</p><form><input name="p" TYPE="Password"></form></body></html>'


@pytest.mark.parametrize(("headers", "kind"), [({}, SourceError), ({"Cookie": "session=old"}, SourceAuthError)])
async def test_a_page_to_log_in_takes_the_place_of_no_site(site, headers, kind):
    site.page("/docs/", linked("/docs/a"))
    site.page("/docs/a", linked())
    start = {"start_urls": (site.url("/docs/"),), "headers": headers}
    run = Run(site, **start)
    await run()
    site.page("/login?next=docs", LOGIN)
    for path in ("/docs/", "/docs/a"):
        site.redirect(path, "/login?next=docs")
    with pytest.raises(kind, match=r"leads to .*/login, which asks for a password; .*`headers`") as caught:
        await run()
    assert type(caught.value) is kind
    assert run.held == ["/docs/", "/docs/a"]
    # A site that has such a field on every page is read, and so is the page itself where it is named.
    site.page("/docs/", linked("/docs/a") + LOGIN)
    site.page("/docs/a", LOGIN)
    assert await Run(site, **start)() == ["/docs/", "/docs/a"]
    assert await Run(site, start_urls=(site.url("/login?next=docs"),))() == ["/login?next=docs"]


async def test_what_may_not_be_asked_for_any_more_does_not_count_as_gone(site):
    site.page("/", linked("/a", "/b"))
    site.page("/a", linked("/below"))
    site.page("/b", linked())
    site.page("/below", linked())
    run = Run(site, max_pages=4)
    assert await run() == ["/", "/a", "/b", "/below"]
    run.cursor = None  # lost: nobody knows what /a, which fails, leads to
    site.raises("/a", 500)
    site.page("/", linked("/a", "/b", "/new"))
    site.page("/new", linked())
    await run()
    assert "/below" not in site.asked
    assert any(failure.covers == "s:" for failure in run.listing_failures.values())


async def test_a_site_that_stops_answering_ends_the_run(site):
    async def drop(request):
        request.transport.abort()
        return web_server.Response()

    site.page("/", linked(*(f"/{number}" for number in range(40))))
    site.pages |= {f"/{number}": drop for number in range(40)}
    with pytest.raises(SourceUnreachable):
        await Run(site, connections=1)()
    assert sorted(set(site.asked)) == ["/", "/0", "/1", "/2", "/3", "/4"]


async def test_addresses_inside_are_refused(site):
    site.page("/", linked())
    with pytest.raises(SourceUnreachable, match=r'leads to 127\.0\.0\.1, .* allow it: `networks = \["127\.0\.0\.1"\]`'):
        await Run(site, networks=())()
    assert not site.requests
    async with Website() as outside:
        outside.page("/", linked(f"http://127.0.0.3:{site.port}/", "/r"))
        outside.redirect("/r", f"http://127.0.0.3:{site.port}/")
        run = Run(outside, networks=("127.0.0.1",), include=("/**", "127.0.0.3:*/**"))
        assert await run() == ["/"]
        assert "no public address" in next(iter(run.failures.values())).reason
    assert not site.requests


async def test_fetch_takes_what_a_sync_would_take(site):
    site.page("/", linked("/a", "/b", "/c"))
    site.page("/a", linked())
    site.page("/b", linked(head='<meta name="robots" content="noindex">'))
    site.redirect("/c", "/a")
    site.raises("/d", 500)
    ids = [f"s:{site.url(path)}" for path in ("/a", "/b", "/c", "/d", "/e")] + ["s:http://127.0.0.2/x", "s:nonsense"]
    run = Run(site)
    documents, failures, gone, _ = await collect(web(site).fetch(ids))
    assert run.paths(documents) == ["/a"]
    assert run.paths(failures) == ["/d"]
    assert len(gone) == 5
    assert known_of(documents)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({}, "name `start_urls` or `sitemaps`"),
        ({"start_urls": ["example.org"]}, "is no address such as"),
        ({"start_urls": ["ftp://example.org"]}, "is no address such as"),
        ({"start_urls": ["https://u:s3cret@example.org"]}, "put them into `headers`"),
        ({"start_urls": ["https://example.org"], "networks": ["10.0.0.0/99"]}, "10.0.0.0/99"),
        ({"start_urls": ["https://example.org"], "max_pages": 0}, "greater than 0"),
        ({"start_urls": ["https://example.org"], "depth": 3}, "Extra inputs"),
    ],
)
def test_wrong_settings_are_told(wrong, told):
    with pytest.raises(ValidationError, match=told) as caught:
        WebOptions(**wrong)
    assert "s3cret" not in str(caught.value)


def test_a_credential_is_never_shown(site):
    settings = options(site, headers={"Authorization": "s3cret"})
    assert "s3cret" not in repr(settings)
    assert "s3cret" not in repr(web(site, headers={"Authorization": "s3cret"}))


def test_a_changed_credential_is_another_one(site):
    one, two = (options(site, headers={"Authorization": value}) for value in "ab")
    assert WEB.credential(None, one) != WEB.credential(None, two)
    without = options(site, headers={"Authorization": "a"}, exclude=("/private/**",))
    assert WEB.credential(None, one) != WEB.credential(None, without), (
        "what was refused is taken out: the source goes on"
    )
    assert one.basis() == two.basis()
