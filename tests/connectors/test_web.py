"""A crawl of a real local site: which pages are taken, by whose wishes, and what of them."""

from functools import partial
from urllib.parse import quote

import pytest

from connectors.http.pace import Pace
from ragcore.errors import SourceError
from ragcore.links import deep_link
from ragcore.parsing.registry import parse
from ragcore.types import Chunk
from tests.connectors.helpers import listed
from tests.connectors.webs import Run, linked, web
from tests.fakes.website import Website


@pytest.fixture
async def site():
    async with Website() as website:
        yield website


async def taken(site, **changes):
    """Return the paths that a first run takes, by a sync and by a listing alike."""
    run = Run(site, **changes)
    found = await run()
    assert not run.failures
    ids, failures = await listed(web(site, **changes))
    assert run.paths(ids) == found
    assert not failures
    return found


async def test_links_are_followed_each_page_once(site):
    site.page("/", linked("/a", "b", "/a#part", "/A/../a", "mailto:x@y", "javascript:void(0)", "tel:1", "http://[x"))
    site.page("/a", linked("/", "/b", "./c?x=1"))
    site.page("/b", linked())
    site.page("/c?x=1", linked())
    assert await taken(site) == ["/", "/a", "/b", "/c?x=1"]
    assert len(site.asked) == len(set(site.asked)) + 4, "the listing of its own asks once more, and nothing else does"


async def test_a_page_comes_as_it_is_with_type_address_and_date(site):
    site.page("/", linked(text="ä"), modified=1_700_000_000)
    run = Run(site)
    await run()
    (document,) = run.documents.values()
    assert document.id == f"s:{site.url('/')}"
    assert document.url == site.url("/")
    assert "ä" in document.content.decode()
    assert document.media_type == "text/html; charset=utf-8"
    assert document.updated_at.timestamp() == 1_700_000_000
    assert document.readers is None


async def test_a_heading_is_linked_by_its_anchor(site):
    site.page("/guide.php", "<title>T</title><h1>Guide</h1><h2 id='leave'>Leave</h2><p>Ask two weeks ahead.</p>")
    run = Run(site, start_urls=(site.url("/guide.php"),))
    await run()
    (document,) = run.documents.values()
    parsed = parse(document.content, name=document.name, media_type=document.media_type)
    section = next(section for section in parsed.sections if "two weeks" in section.text)
    chunk = Chunk(
        id="c", document_id=document.id, knowledge_base="kb", ordinal=0, text=section.text, title=parsed.title,
        token_count=1, url=document.url, media_type=parsed.media_type, location=section.location,
    )  # fmt: skip
    assert deep_link(chunk).startswith(site.url("/guide.php#leave"))


async def test_only_what_lies_below_a_start_is_taken(site):
    site.page("/docs/index.html", linked("/docs/a", "/docs/sub/b", "/blog/c", "/docsother", "http://127.0.0.2/docs/x"))
    for path in ("/docs/a", "/docs/sub/b", "/blog/c", "/docsother"):
        site.page(path, linked("/blog/c"))
    start = (site.url("/docs/index.html"),)
    assert await taken(site, start_urls=start) == ["/docs/a", "/docs/index.html", "/docs/sub/b"]
    assert await taken(site, start_urls=start, include=("/blog/**",)) == ["/blog/c"]
    assert await taken(site, start_urls=start, exclude=("/docs/sub",)) == ["/docs/a", "/docs/index.html"]
    assert await taken(site, start_urls=start, include=("/docs/**", "127.0.0.1:*/blog/*")) == [
        "/blog/c", "/docs/a", "/docs/index.html", "/docs/sub/b",
    ]  # fmt: skip


async def test_another_host_is_taken_only_if_it_is_named(site):
    async with Website() as other:
        site.page("/", linked(other.url("/x")))
        other.page("/x", linked())
        assert await taken(site) == ["/"]
        assert not other.requests
        run = Run(site, include=("/**", f"127.0.0.1:{other.port}/**"))
        assert len(await run()) == 2


async def test_depth_and_pages_have_a_cap(site):
    for number in range(6):
        site.page(f"/{number or ''}", linked(f"/{number + 1}"))
    assert await taken(site, max_depth=2) == ["/", "/1", "/2"]
    run = Run(site, max_pages=3)
    assert await run() == ["/", "/1", "/2"]
    assert len(site.asked) == 3
    (failure,) = run.failures.values()
    assert "more than 3 addresses" in failure.reason
    assert "max_pages" in failure.mend


async def test_robots_txt_is_kept(site):
    site.page(
        "/robots.txt",
        "User-agent: *\nDisallow: /private\n\nUser-agent: citebot\nDisallow: /secret",
        media_type="text/plain",
    )
    site.page("/", linked("/private", "/secret"))
    site.page("/private", linked())
    site.page("/secret", linked())
    assert await taken(site) == ["/", "/private"]
    assert await taken(site, user_agent="Other") == ["/", "/secret"]
    assert await taken(site, robots=False) == ["/", "/private", "/secret"]
    assert {request.headers["User-Agent"] for request in site.requests} == {"Citebot"}


async def test_a_start_that_robots_txt_forbids_is_told(site):
    site.page("/robots.txt", "User-agent: *\nDisallow: /", media_type="text/plain")
    site.page("/", linked())
    with pytest.raises(SourceError, match=r"robots\.txt forbids to read .*; ask the site's owner"):
        await Run(site)()
    assert not site.asked


async def test_a_site_whose_robots_txt_fails_is_not_crawled(site):
    site.raises("/robots.txt", 503)
    site.page("/", linked())
    with pytest.raises(SourceError, match=r"robots\.txt answered with a fault"):
        await Run(site)()
    assert not site.asked
    for status in (401, 403, 404):
        site.raises("/robots.txt", status)
        assert await Run(site)() == ["/"]


async def test_the_beginning_of_a_huge_robots_txt_is_kept(site):
    rules = "User-agent: *\nDisallow: /secret\n" + "# padding\n" * 250_000
    site.page("/robots.txt", rules, media_type="text/plain")
    site.page("/", linked("/secret", "/open"))
    site.page("/secret", linked())
    site.page("/open", linked())
    assert await taken(site) == ["/", "/open"]


async def test_the_delay_of_robots_txt_is_kept(site, monkeypatch):
    waited = []

    async def sleep(seconds):
        waited.append(seconds)

    monkeypatch.setattr("connectors.http.client.Pace", partial(Pace, sleep=sleep))
    site.page("/robots.txt", "User-agent: *\nCrawl-delay: 7", media_type="text/plain")
    site.page("/", linked("/a"))
    site.page("/a", linked())
    assert await Run(site)() == ["/", "/a"]
    assert any(6 < seconds <= 7 for seconds in waited)


@pytest.mark.parametrize(
    ("head", "headers", "found"),
    [
        ('<meta name="robots" content="noindex">', {}, ["/", "/b"]),
        ('<meta name="ROBOTS" content="follow, NoIndex">', {}, ["/", "/b"]),
        ('<meta name="robots" content="nofollow">', {}, ["/", "/a"]),
        ('<meta name="robots" content="none">', {}, ["/"]),
        ('<meta name="citebot" content="noindex">', {}, ["/", "/b"]),
        ('<meta name="googlebot" content="noindex">', {}, ["/", "/a", "/b"]),
        ("", {"X-Robots-Tag": "noindex"}, ["/", "/b"]),
        ("", {"X-Robots-Tag": "noindex, nofollow"}, ["/"]),
        ("", {"X-Robots-Tag": "citebot: noindex"}, ["/", "/b"]),
        ("", {"X-Robots-Tag": "googlebot: noindex"}, ["/", "/a", "/b"]),
        ("", {"X-Robots-Tag": "unavailable_after: 2030-01-01, noindex"}, ["/", "/b"]),
    ],
)
async def test_wishes_of_a_page_are_kept(site, head, headers, found):
    site.page("/", linked("/a"))
    site.page("/a", linked("/b", head=head), headers=headers)
    site.page("/b", linked())
    assert await taken(site) == found


@pytest.mark.parametrize("name", ["Citebot/2.0 (+https://example.org/bot)", "citebot 2.0"])
async def test_wishes_are_addressed_to_the_first_word_of_a_longer_name(site, name):
    site.page("/robots.txt", "User-agent: citebot\nDisallow: /c", media_type="text/plain")
    site.page("/", linked("/a", "/b", "/c"))
    site.page("/a", linked(head='<meta name="citebot" content="noindex">'))
    site.page("/b", linked(), headers={"X-Robots-Tag": "citebot: noindex"})
    site.page("/c", linked())
    assert await taken(site, user_agent=name) == ["/"]
    assert {request.headers["User-Agent"] for request in site.requests} == {name}


async def test_a_link_that_is_not_to_be_followed_is_not(site):
    site.page("/", '<a rel="external nofollow" href="/a">a</a><link rel="next" href="/b"><area href="/c">')
    for path in "abc":
        site.page(f"/{path}", linked())
    assert await taken(site) == ["/", "/b", "/c"]


async def test_a_base_moves_the_links_of_a_page(site):
    site.page("/", '<base href="/docs/"><a href="a">a</a>')
    site.page("/docs/a", linked())
    assert await taken(site) == ["/", "/docs/a"]


async def test_a_canonical_address_holds_its_copies(site):
    site.page("/", linked("/p?print=1", "/p"))
    site.page("/p?print=1", linked(title="P", text="to print", head='<link rel="canonical" href="/p">'))
    site.page("/p", linked(title="P", text="to read", head='<link rel="canonical" href="/p">'))
    assert await taken(site) == ["/", "/p"]


@pytest.mark.parametrize("target", ["/", "/nowhere", "/broken", "http://elsewhere.example/p", "/out/p"])
async def test_a_canonical_address_that_does_not_hold_the_page_loses_none(site, target):
    site.page("/", linked("/p", "/q", title="Home"))
    for name in "pq":
        site.page(f"/{name}", linked(title=name, text=name, head=f'<link rel="canonical" href="{target}">'))
    site.raises("/broken", 500)
    run = Run(site, exclude=("/out",))
    assert await run() == ["/", "/p", "/q"]
    assert await run() == []
    assert run.held == ["/", "/p", "/q"]


async def test_pages_that_name_each_other_as_canonical_are_not_lost(site):
    site.page("/", linked("/p", "/q"))
    site.page("/p", linked(title="P", head='<link rel="canonical" href="/q">'))
    site.page("/q", linked(title="P", head='<link rel="canonical" href="/p">'))
    assert await taken(site) == ["/", "/p", "/q"]


async def test_a_slash_at_the_end_makes_no_other_page(site):
    site.page("/", linked("/a", "/a/", "/b/", "/b", "/c", "/c/"))
    site.page("/a", linked())
    site.page("/a/", linked())
    site.redirect("/b", "/b/", 301)
    site.page("/b/", linked())
    site.page("/c/", linked())  # /c is not there
    assert await taken(site) == ["/", "/a", "/b/", "/c/"]


async def test_parameters_that_track_make_no_other_page(site):
    site.page("/", linked("/a?utm_source=x&id=1", "/a?id=1&fbclid=y", "/a?id=2"))
    site.page("/a?id=1", linked())
    site.page("/a?id=2", linked())
    assert await taken(site) == ["/", "/a?id=1", "/a?id=2"]
    site.page("/a", linked())
    assert await taken(site, ignore_query=("*",)) == ["/", "/a"]


async def test_a_redirect_is_the_page_that_it_leads_to(site):
    site.page("/", linked("/old", "/away", "/soon"))
    site.redirect("/old", "/new?utm_source=x", 301)
    site.page("/new", linked())
    site.redirect("/away", "http://127.0.0.2/x")
    site.page("/soon", '<meta http-equiv="refresh" content="0; url=/later">')
    site.page("/later", linked())
    assert await taken(site) == ["/", "/later", "/new"]


async def test_a_start_that_moves_takes_its_new_folder_along(site):
    site.page("/en/", linked("a", "/de/"))
    site.page("/en/a", linked())
    site.page("/de/", linked())
    site.redirect("/start/", "/en/")
    assert await taken(site, start_urls=(site.url("/start/"),)) == ["/en/", "/en/a"]


async def test_a_start_that_lacks_the_slash_of_its_folder_means_that_folder(site):
    site.redirect("/docs", "/docs/", 301)
    site.page("/docs/", linked("/docs/a", "/b"))
    site.page("/docs/a", linked("/"))
    site.page("/b", linked())
    assert await taken(site, start_urls=(site.url("/docs"),)) == ["/docs/", "/docs/a"]
    assert await taken(site, start_urls=(site.url("/docs"), site.url("/b"))) == ["/b", "/docs/", "/docs/a"]


async def test_a_start_that_leads_to_another_host_is_told(site):
    site.redirect("/", "http://login.example/?next=x")
    with pytest.raises(SourceError, match=r"leads to login\.example; name .* in `start_urls` if it is meant"):
        await Run(site)()


async def test_a_circle_of_redirects_is_named(site):
    site.page("/", linked("/a", "/0"))
    site.redirect("/a", "/b")
    site.redirect("/b", "/a")
    for number in range(20):
        site.redirect(f"/{number}", f"/{number + 1}")
    run = Run(site)
    assert await run() == ["/"]
    assert len(run.failures) == 2
    reasons = {failure.reason for failure in run.failures.values()}
    assert reasons == {"it redirects in a circle", "it redirects more than 10 times"}
    assert all(failure.mend for failure in run.failures.values())
    assert len(site.asked) < 20


async def test_documents_of_other_kinds_are_taken_and_parts_of_pages_are_not(site):
    site.page("/", linked("/a.pdf", "/b?d=1", "/c.png", "/d", "/e", "/f.css", "/notes.md", "/g"))
    site.page("/a.pdf", b"%PDF-1.4 ...", media_type="application/pdf")
    site.page("/b?d=1", b"%PDF-1.4 ...", media_type="application/pdf")
    site.page("/d", b"x" * 10, media_type="video/mp4")
    site.page("/e", b"{}", media_type="application/json")
    site.page("/notes.md", "# Notes", media_type="application/octet-stream")
    site.page("/g", "plain", media_type="text/plain")
    run = Run(site)
    assert await run() == ["/", "/a.pdf", "/b?d=1", "/g", "/notes.md"]
    assert {document.name for document in run.documents.values()} == {
        "index.html",
        "a.pdf",
        "b.pdf",
        "notes.md",
        "g.txt",
    }
    assert not {"/c.png", "/f.css"} & set(site.asked)


@pytest.mark.parametrize("charset", ["windows-1251", "shift_jis", "gb18030"])
async def test_links_and_text_are_read_in_the_page_s_own_charset(site, charset):
    text = {"windows-1251": "страница", "shift_jis": "ページ", "gb18030": "页面"}[charset]
    site.page("/", linked(f"/{text}").encode(charset), media_type=f"text/html; charset={charset}")
    site.page(f"/{quote(text)}", linked(title=text))
    assert await taken(site) == ["/", f"/{quote(text)}"]
