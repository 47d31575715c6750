"""Sitemaps of a real local site: each form, and each way in which one can't be believed."""

import gzip

import pytest

from connectors.web.sitemaps import read_sitemap
from ragcore.errors import SourceAuthError, SourceBadReply, SourceError, SourceGone, SourceRateLimited
from tests.connectors.helpers import collect, listed
from tests.connectors.webs import Run, linked, web
from tests.fakes.website import Website

NAMESPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'


def sitemap(*urls, index=False, date="2026-01-01"):
    outer, inner = ("sitemapindex", "sitemap") if index else ("urlset", "url")
    entries = "".join(f"<{inner}><loc>\n  {url}\n</loc><lastmod>{date}</lastmod></{inner}>" for url in urls)
    return f'<?xml version="1.0" encoding="UTF-8"?><{outer} {NAMESPACE}>{entries}</{outer}>'


@pytest.fixture
async def site():
    async with Website() as website:
        for name in "abc":
            website.page(f"/{name}", linked("/linked"))
        website.page("/linked", linked())
        website.page(
            "/sitemap.xml",
            sitemap(website.url("/a"), website.url("/b"), website.url("/a#x")),
            media_type="application/xml",
        )
        yield website


def run_of(site, path="/sitemap.xml", **changes):
    return Run(site, sitemaps=(site.url(path),), **changes)


async def test_its_pages_are_taken_and_their_links_are_not_followed(site):
    run = run_of(site)
    assert await run() == ["/a", "/b"]
    ids, _ = await listed(web(site, sitemaps=(site.url("/sitemap.xml"),)))
    assert run.paths(ids) == ["/a", "/b"]


async def test_it_stands_beside_starts(site):
    run = run_of(site, start_urls=(site.url("/c"),))
    assert await run() == ["/a", "/b", "/c", "/linked"]


async def test_an_index_packed_files_and_text_are_read(site):
    site.page(
        "/index.xml",
        sitemap(*(site.url(path) for path in ("/sitemap.xml", "/more.xml.gz", "/list.txt", "/index.xml")), index=True),
    )
    site.page("/more.xml.gz", gzip.compress(sitemap(site.url("/c")).encode()), media_type="application/x-gzip")
    site.page("/list.txt", f"\ufeff{site.url('/linked')}\r\n\r\n{site.url('/a')}\r\n", media_type="text/plain")
    assert await run_of(site, "/index.xml")() == ["/a", "/b", "/c", "/linked"]
    assert site.asked.count("/index.xml") == 1


async def test_what_lies_too_deep_is_told(site):
    for depth in range(1, 6):
        site.page(f"/{depth}.xml", sitemap(site.url(f"/{depth + 1}.xml"), index=True))
    site.page("/6.xml", sitemap(site.url("/a")))
    with pytest.raises(SourceBadReply, match=r"6\.xml lies deeper than 5 sitemaps .*; name it in `sitemaps`"):
        await run_of(site, "/1.xml")()
    assert await run_of(site, "/2.xml")() == ["/a"]


async def test_unchanged_costs_one_short_question_each(site):
    run = run_of(site)
    await run()
    assert await run() == []
    assert site.asked == ["/sitemap.xml", "/a", "/b"]
    assert all("If-None-Match" in request.headers for request in site.requests[1:])
    assert run.held == ["/a", "/b"]
    site.page("/sitemap.xml", sitemap(site.url("/b"), site.url("/c")))
    assert await run() == ["/c"]
    assert run.held == ["/b", "/c"]


async def test_a_date_of_change_spares_the_question_where_it_is_trusted(site):
    run = run_of(site, trust_lastmod=True)
    assert await run() == ["/a", "/b"]
    site.page("/a", linked(text="changed"))
    assert await run() == []
    assert site.asked == ["/sitemap.xml"]
    assert run.held == ["/a", "/b"]
    site.page("/sitemap.xml", sitemap(site.url("/a"), site.url("/b"), date="2026-01-02"))
    assert await run() == ["/a"]
    assert site.asked == ["/sitemap.xml", "/a", "/b"]
    site.page("/sitemap.xml", sitemap(site.url("/a"), date=""))
    site.page("/a", linked(text="changed again"))
    assert await run() == ["/a"]
    assert run.held == ["/a"]
    site.page("/a", linked(text="without a date"))
    assert await run() == ["/a"]


async def test_a_date_of_change_is_not_trusted_unasked(site):
    run = run_of(site)
    await run()
    site.page("/a", linked(text="changed"))
    assert await run() == ["/a"]


async def test_robots_txt_names_sitemaps(site):
    named = f"User-agent: *\nDisallow: /b\nSitemap: {site.url('/sitemap.xml')}\nsitemap: /none-is-relative"
    site.page("/robots.txt", named, media_type="text/plain")
    site.page("/none-is-relative", sitemap(site.url("/c")))
    assert await run_of(site, "/robots.txt")() == ["/a", "/c"]


async def test_what_is_gone_or_elsewhere_is_not_listed(site):
    run = run_of(site)
    site.page("/sitemap.xml", sitemap(site.url("/a"), site.url("/nowhere"), "http://elsewhere.example/x", "nonsense"))
    assert await run() == ["/a"]
    assert not run.failures


async def test_patterns_hold_for_it_too(site):
    assert await run_of(site, exclude=("/a",))() == ["/b"]
    assert await run_of(site, include=("/a",))() == ["/a"]


@pytest.mark.parametrize(
    ("status", "headers", "kind"),
    [
        (500, {}, SourceError),
        (404, {}, SourceGone),
        (401, {}, SourceAuthError),
        (429, {"Retry_After": "5"}, SourceRateLimited),
    ],
)
async def test_one_that_fails_ends_the_run_and_is_no_deletion(site, status, headers, kind):
    site.page("/index.xml", sitemap(site.url("/sitemap.xml"), site.url("/second.xml"), index=True))
    site.raises("/second.xml", status, **headers)
    with pytest.raises(kind):
        await run_of(site, "/index.xml")()
    with pytest.raises(kind):
        await listed(web(site, sitemaps=(site.url("/index.xml"),)))


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("<!doctype html><html><body>Log in</body></html>", "a web page|no XML"),
        ("<rss><channel/></rss>", "another kind of XML where a sitemap was due"),
        (sitemap("http://a.example/")[:-12], "breaks off"),
        ("", None),
        ("{}", "is no sitemap"),
        (gzip.compress(sitemap("http://a.example/").encode(), mtime=0)[:-12], "breaks off"),
        (gzip.compress(b"http://a.example/1\nhttp://a.example/2\n" * 500, mtime=0)[:-20], "breaks off"),
        (b"\x1f\x8bnonsense", "cannot be unpacked"),
        (gzip.compress(b"\0" * 60_000_000, mtime=0), "larger than 50 MB"),
    ],
    ids=("page", "feed", "cut", "empty", "json", "cut in gzip", "cut gzip", "no gzip", "bomb"),
)
def test_what_is_no_whole_sitemap_is_told(content, told):
    content = content.encode() if isinstance(content, str) else content
    if told is None:
        assert read_sitemap(content, "http://a.example/sitemap.txt") == ("text", {})
        return
    with pytest.raises(SourceBadReply, match=told) as caught:
        read_sitemap(content, "http://a.example/sitemap.xml?key=s3cret")
    assert caught.value.mend
    assert "s3cret" not in str(caught.value)


def test_entities_of_its_own_are_not_expanded(tmp_path):
    (tmp_path / "secret").write_text("http://a.example/secret")
    bomb = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 20}">' for n in range(1, 9))
    text = (
        f'<!DOCTYPE urlset [<!ENTITY e0 "x">{bomb}<!ENTITY f SYSTEM "file://{tmp_path}/secret">]>'
        f"<urlset {NAMESPACE}><url><loc>http://a.example/&e8;</loc></url><url><loc>&f;</loc></url>"
        f"<url><loc>http://a.example/b</loc></url></urlset>"
    )
    try:
        _, links = read_sitemap(text.encode(), "http://a.example/")
    except SourceBadReply:
        return
    assert "http://a.example/secret" not in links
    assert all(len(link) < 100 for link in links)


def test_pictures_of_a_page_are_no_pages():
    text = (
        f'<urlset {NAMESPACE} xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"><url><loc>http://a.example/p</loc>'
        "<image:image><image:loc>http://a.example/i.png</image:loc></image:image></url></urlset>"
    )
    assert read_sitemap(text.encode(), "http://a.example/") == ("urlset", {"http://a.example/p": ""})


async def test_a_host_whose_robots_txt_fails_is_not_read(site):
    site.raises("/robots.txt", 500)
    with pytest.raises(SourceError, match=r"robots\.txt"):
        await collect(web(site, sitemaps=(site.url("/sitemap.xml"),)).changes(None, {}))
    assert not site.asked
