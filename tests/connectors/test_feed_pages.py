"""The source type ``feed`` with ``read = "page"``: the pages that entries link to."""

import pytest
from pydantic import SecretStr

from ragcore.errors import SourceAuthError, SourceRateLimited
from tests.connectors.feeds import Item, feed, rss
from tests.connectors.helpers import collect, known_of
from tests.fakes.website import Website


@pytest.fixture
async def site():
    async with Website() as website:
        website.page(
            "/feed.xml", rss([Item(guid="urn:x:1", text="Summary", title="One", link=website.url("/one#part"))])
        )
        website.page("/one", "<html><title>Page one</title><body><p>The whole text</p></body></html>")
        yield website


async def read(site, cursor=None, known=None, **changes):
    return await collect(feed(site, read="page", **changes).changes(cursor, known or {}))


async def test_the_page_is_the_document(site):
    documents, failures, _, cursor = await read(site)
    assert not failures
    document = documents["s:urn:x:1"]
    assert b"The whole text" in document.content
    assert document.media_type == "text/html; charset=utf-8"
    assert (document.title, document.url) == ("One", site.url("/one#part"))
    site.requests.clear()
    assert not (await read(site, cursor, known_of(documents)))[0]
    assert site.asked == ["/feed.xml"]


async def test_a_page_behind_a_redirect_stands_where_it_leads(site):
    site.redirect("/one", "/moved")
    site.page("/moved", "# Moved", media_type="text/markdown")
    document = (await read(site))[0]["s:urn:x:1"]
    assert (document.url, document.content, document.name) == (site.url("/moved"), b"# Moved", "moved.md")


async def test_a_page_that_is_gone_leaves_the_entrys_own_text(site):
    site.raises("/one", 410)
    assert b"Summary" in (await read(site))[0]["s:urn:x:1"].content


async def test_a_page_that_is_gone_with_all_its_text_is_gone(site):
    site.page("/feed.xml", rss([Item(guid="urn:x:1", text="", link=site.url("/nowhere"))]))
    documents, failures, gone, _ = await read(site)
    assert (documents, failures, gone) == ({}, {}, {"s:urn:x:1"})


@pytest.mark.parametrize("status", [403, 401, 500])
async def test_a_page_that_fails_is_named_and_hides_no_other(site, status):
    entries = [Item(guid=f"urn:x:{n}", text="Summary", link=site.url(path)) for n, path in enumerate(("/one", "/two"))]
    site.page("/feed.xml", rss(entries))
    site.raises("/two", status)
    documents, failures, _, cursor = await read(site)
    assert documents.keys() == {"s:urn:x:0"}
    assert failures.keys() == {"s:urn:x:1"}
    assert failures["s:urn:x:1"].mend
    known = known_of(documents) | {failure.id: failure.version for failure in failures.values()}
    assert (await read(site, cursor, known))[1] == {}, "not asked again while the entry stays and no try is due"
    site.page("/two", "<p>Two</p>")
    del known["s:urn:x:1"]
    assert (await read(site, cursor, known))[0].keys() == {"s:urn:x:1"}


async def test_a_credential_that_is_refused_ends_the_run(site):
    site.raises("/one", 401)
    with pytest.raises(SourceAuthError):
        await read(site, headers={"Authorization": SecretStr("x")})


async def test_a_host_that_asks_to_wait_is_waited_for(site):
    site.raises("/one", 429, Retry_After="7")
    with pytest.raises(SourceRateLimited) as limited:
        await read(site)
    assert limited.value.retry_after == 7


async def test_a_link_into_the_network_is_refused(site):
    site.page("/feed.xml", rss([Item(guid="urn:x:1", text="Summary", link="http://[::1]:9/admin")]))
    documents, failures, _, _ = await read(site)
    assert not documents
    assert "no public address" in failures["s:urn:x:1"].reason


async def test_a_credential_goes_to_no_page_of_another_host(site):
    async with Website() as other:
        site.page("/feed.xml", rss([Item(guid="urn:x:1", text="Summary", link=other.url("/page"))]))
        other.page("/page", "<p>Text</p>")
        assert (await read(site, headers={"Authorization": SecretStr("x")}))[0]
        assert all("Authorization" not in request.headers for request in other.requests)


async def test_robots_txt_is_kept_unless_told_otherwise(site):
    site.page("/robots.txt", "User-agent: *\nDisallow: /one", media_type="text/plain")
    assert "robots.txt" in (await read(site))[1]["s:urn:x:1"].reason
    assert (await read(site, robots=False))[0]


@pytest.mark.parametrize(("kind", "words"), [("image/png", "image/png"), ("video/mp4", "video/mp4")])
async def test_a_page_of_another_kind_is_named(site, kind, words):
    site.page("/one", b"x" * 100, media_type=kind)
    failure = (await read(site))[1]["s:urn:x:1"]
    assert words in failure.reason
    assert 'read = "entry"' in failure.mend


async def test_a_page_that_is_too_large_is_named(site):
    site.page("/one", "<p>" + "x" * 20_000)
    failure = (await read(site, max_megabytes=0.01))[1]["s:urn:x:1"]
    assert "larger" in failure.reason
    assert failure.mend == "raise `max_megabytes`"
