"""The source type ``feed``, run after run: what is asked, what is kept, and what goes."""

from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import SecretStr, ValidationError

from connectors.base import Checkpoint, Origin
from connectors.feed import FEED, FeedOptions
from connectors.registry import connect
from ragcore.errors import ConfigError, SourceBadReply, SourceGone, SourceUnreachable
from tests.connectors.feeds import Item, atom, feed, json_feed, rss
from tests.connectors.helpers import collect, known_of, listed
from tests.fakes.website import Website


@pytest.fixture
async def site():
    async with Website() as website:
        yield website


def items(*numbers, text="Text"):
    return [
        Item(guid=f"urn:x:{n}", text=f"{text} {n}", title=f"Title {n}", link=f"https://x.example/{n}") for n in numbers
    ]


class Runs:
    """One run after another, as a sync does them."""

    def __init__(self, site, *paths, **changes):
        self.site, self.paths, self.changes = site, paths, changes
        self.known, self.cursor, self.failures = {}, None, {}

    async def __call__(self):
        self.site.requests.clear()
        connector = self.connector = feed(self.site, *self.paths, **self.changes)
        documents, self.failures, self.gone, self.cursor = await collect(connector.changes(self.cursor, self.known))
        self.known |= known_of(documents)
        self.known = {identity: version for identity, version in self.known.items() if identity not in self.gone}
        return documents

    @property
    def held(self):
        return sorted(identity.removeprefix("s:urn:x:") for identity in self.known)


async def test_an_unchanged_feed_costs_one_short_question(site):
    site.page("/feed.xml", rss(items(1, 2)))
    run = Runs(site)
    assert len(await run()) == 2
    assert not await run()
    assert [request.headers.get("If-None-Match") for request in site.requests] == [
        site.pages["/feed.xml"].validators["ETag"]
    ]


async def test_what_the_index_lacks_is_read_though_nothing_changed(site):
    site.page("/feed.xml", rss(items(1, 2)))
    run = Runs(site)
    await run()
    del run.known["s:urn:x:1"]
    assert (await run()).keys() == {"s:urn:x:1"}


@pytest.mark.parametrize(
    "change", [{"read": "page", "networks": ("127.0.0.1",)}, {"timezone": "Asia/Tokyo"}, {"identify_by": "link"}]
)
async def test_other_settings_read_everything_again(site, change):
    site.page("/feed.xml", rss(items(1, 2)))
    run = Runs(site)
    await run()
    run.changes = change
    await run()
    assert "If-None-Match" not in site.requests[0].headers


async def test_a_document_tells_what_its_entry_does(site):
    site.page("/feed.xml", atom(items(1)))
    (document,) = (await Runs(site)()).values()
    assert (document.title, document.url, document.author) == ("Title 1", "https://x.example/1", "Ann")
    assert (document.content, document.media_type) == (b"Text 1", "text/plain")
    assert document.updated_at == datetime(2026, 3, 10, 10, tzinfo=UTC)
    assert document.readers is None
    assert document.version


async def test_an_entry_that_left_the_feed_is_kept(site):
    run = Runs(site)
    for first in range(4):
        site.page("/feed.xml", rss(items(*range(first, first + 3))))
        await run()
    assert run.held == list("012345")
    assert feed(site).list_ids() is None
    documents, failures, gone, _ = await collect(run.connector.fetch(["s:urn:x:0", "s:urn:x:4", "s:never"]))
    assert documents.keys() == {"s:urn:x:4"}
    assert "no longer shows it" in failures["s:urn:x:0"].reason
    assert gone == {"s:never"}


async def test_an_empty_feed_takes_nothing_away(site):
    run = Runs(site, keep="30d")
    site.page("/feed.xml", rss(items(*range(20))))
    await run()
    site.page("/feed.xml", rss([]))
    await run()
    assert len(run.known) == 20


@asynccontextmanager
async def days_later(monkeypatch, days):
    import connectors.feed.connector as module

    class Clock(datetime):
        @classmethod
        def now(cls, zone=None):
            return datetime.now(zone) + timedelta(days=days)

    with monkeypatch.context() as patch:
        patch.setattr(module, "datetime", Clock)
        yield


async def test_an_entry_goes_some_days_after_the_feed_last_showed_it(site, monkeypatch):
    run = Runs(site, keep="30d")
    site.page("/feed.xml", rss(items(1, 2, 3)))
    await run()
    site.page("/feed.xml", rss(items(2, 3, 4)))
    await run()
    async with days_later(monkeypatch, 29):
        await run()
    assert run.held == list("1234")
    async with days_later(monkeypatch, 31):
        await run()
        assert run.gone == {"s:urn:x:1"}
        await run()
        assert not run.gone
    assert run.held == list("234")


async def test_an_entry_that_comes_back_is_kept_from_then_on(site, monkeypatch):
    run = Runs(site, keep="30d")
    for day, numbers in ((0, (1, 2)), (1, (2,)), (20, (1, 2)), (21, (2,)), (50, (2,)), (52, (2,))):
        site.page("/feed.xml", rss(items(*numbers)))
        async with days_later(monkeypatch, day):
            await run()
        assert run.held == (list("12") if day < 52 else ["2"]), day


async def test_what_was_forgotten_of_the_cursor_is_dated_anew(site, monkeypatch):
    run = Runs(site, keep="30d")
    site.page("/feed.xml", rss(items(1, 2)))
    await run()
    site.page("/feed.xml", rss(items(2)))
    run.cursor = None
    await run()
    async with days_later(monkeypatch, 31):
        await run()
    assert run.held == ["2"]


async def test_a_feed_that_tells_deletions(site):
    run = Runs(site)
    site.page("/feed.xml", atom(items(1, 2)))
    await run()
    site.page("/feed.xml", atom(items(2), gone=["urn:x:1", "urn:x:7"]))
    await run()
    assert run.gone == {"s:urn:x:1"}
    site.page("/feed.xml", atom(items(1, 2), gone=["urn:x:1"]))
    assert (await run()).keys() == {"s:urn:x:1"}, "one that is shown again is there again"
    assert not run.gone


async def test_listed_alone_lists_what_is_shown(site):
    site.page("/feed.xml", rss(items(1, 2), "/more.xml"))
    site.page("/more.xml", rss(items(3)))
    ids, failures = await listed(feed(site, keep="listed"))
    assert ids == {"s:urn:x:1", "s:urn:x:2", "s:urn:x:3"}
    assert not failures


async def test_a_feed_that_breaks_off_hides_what_it_doesnt_show(site):
    site.page("/feed.xml", rss(items(1, 2, 3)))
    run = Runs(site, keep="listed")
    await run()
    site.page("/feed.xml", rss(items(1, 2, 3), "").partition('<guid isPermaLink="false">urn:x:3')[0])
    assert not await run()
    (failure,) = run.failures.values()
    assert "breaks off after 2 entries" in failure.reason
    _, failures = await listed(run.connector)
    assert [one.covers for one in failures.values()] == ["s:"]
    site.page("/feed.xml", rss(items(1, 2, 3)))
    _, _, gone, _ = await collect(feed(site).fetch([failure.id]))
    assert gone == {failure.id}, "what was wrong with the feed is forgotten once it is whole"


@pytest.mark.parametrize("form", [rss, atom, json_feed])
async def test_pages_are_followed_to_the_cap_and_never_in_a_circle(site, form):
    for number in range(5):
        site.page(f"/p{number}", form(items(number), site.url(f"/p{(number + 1) % 5}")))
    assert len(await Runs(site, "/p0")()) == 5
    assert len(site.requests) == 5
    assert len(await Runs(site, "/p0", max_pages=3)()) == 3
    site.page("/p0", form(items(0), "/p0"))
    assert len(await Runs(site, "/p0")()) == 1


@settings(max_examples=8, deadline=None)
@given(st.lists(st.integers(0, 9), unique=True, max_size=9), st.integers(1, 4), st.sampled_from([rss, atom, json_feed]))
async def test_however_a_feed_is_split_into_pages_it_holds_the_same(numbers, size, form):
    async with Website() as site:
        whole = items(*numbers)
        site.page("/whole", form(whole))
        pages = [whole[first : first + size] for first in range(0, len(whole), size)] or [[]]
        for number, page in enumerate(pages):
            following = site.url(f"/p{number + 1}") if number + 1 < len(pages) else ""
            site.page(f"/p{number}", form(page, following))
        assert await Runs(site, "/p0")() == await Runs(site, "/whole")()


async def test_one_bad_feed_of_several_is_named_and_hides_no_other(site):
    site.page("/a.xml", rss(items(1)))
    site.raises("/b.xml?token=hidden", 500)
    site.page("/c.json", json_feed(items(2)))
    run = Runs(site, "/a.xml", "/b.xml?token=hidden", "/c.json", keep="listed")
    assert (await run()).keys() == {"s:urn:x:1", "s:urn:x:2"}
    (failure,) = run.failures.values()
    assert failure.id.startswith(f"s:{site.url('/b.xml')}?")
    assert "500" in failure.reason
    assert "hidden" not in repr(failure)
    _, failures = await listed(run.connector)
    assert [one.covers for one in failures.values()] == ["s:"]


@pytest.mark.parametrize(("status", "error"), [(404, SourceGone), (500, Exception)])
async def test_no_feed_that_can_be_read_is_an_error(site, status, error):
    for path in ("/a.xml", "/b.xml"):
        site.raises(path, status)
    with pytest.raises(error):
        await Runs(site, "/a.xml", "/b.xml")()


async def test_a_guid_that_comes_twice_is_the_newest_of_its_entries(site):
    old = Item(guid="urn:x:1", text="Old", link="https://x.example/1", updated="2026-01-01T00:00:00Z")
    new = Item(guid="urn:x:1", text="New", link="https://x.example/1", updated="2026-02-01T00:00:00Z")
    for several in ([old, new], [new, old]):
        site.page("/feed.xml", atom(several))
        (document,) = (await Runs(site)()).values()
        assert document.content == b"New"


async def test_a_guid_of_different_entries_is_named_with_what_helps(site):
    told = [Item(guid="1", text=f"Text {n}", link=f"https://x.example/{n}") for n in range(3)]
    site.page("/feed.xml", rss([*told, *items(7)]))
    run = Runs(site)
    assert (await run()).keys() == {"s:urn:x:7"}
    (failure,) = run.failures.values()
    assert failure.id == f"s:{site.url('/feed.xml')}#1"
    assert "3 entries" in failure.reason
    assert 'identify_by = "link"' in failure.mend
    run.known[failure.id] = failure.version  # as a sync that doesn't try it again yet
    assert not await run()
    assert not run.failures
    assert len(await Runs(site, identify_by="link")()) == 4


async def test_entries_without_id_and_link_are_counted(site):
    site.page(
        "/feed.xml",
        '<rss version="2.0"><channel><item><title>A</title></item><item><title>B</title></item></channel></rss>',
    )
    run = Runs(site)
    assert not await run()
    (failure,) = run.failures.values()
    assert failure.reason.startswith("2 of the entries")


async def test_ids_of_two_feeds_never_meet_unless_they_are_worldwide(site):
    site.page("/a.xml", rss([Item(guid="1", text="A"), Item(guid="urn:x:1", text="Same")]))
    site.page("/b.xml", rss([Item(guid="1", text="B"), Item(guid="urn:x:1", text="Same")]))
    assert len(await Runs(site, "/a.xml", "/b.xml")()) == 3


async def test_a_credential_goes_to_the_hosts_that_were_named_alone(site):
    async with Website() as other:
        site.page("/feed.xml", rss(items(1), other.url("/next.xml")))
        other.page("/next.xml", rss(items(2)))
        run = Runs(site, headers={"Authorization": SecretStr("Bearer hidden")})
        assert len(await run()) == 2
        assert site.requests[0].headers["Authorization"] == "Bearer hidden"
        assert "Authorization" not in other.requests[0].headers


async def test_a_private_address_is_refused_unless_it_is_allowed(site):
    site.page("/feed.xml", rss(items(1)))
    with pytest.raises(SourceUnreachable, match="no public address"):
        await Runs(site, networks=())()


async def test_a_feed_that_is_too_large_is_refused(site):
    site.page("/feed.xml", rss([Item(guid="1", text="x" * 20_000)]))
    with pytest.raises(SourceBadReply, match=r"larger than the limit of 0.01 MB; raise `max_megabytes`"):
        await Runs(site, max_megabytes=0.01)()


async def test_each_checkpoint_holds_what_came_before_it(site):
    for number in range(3):
        site.page(f"/p{number}", rss(items(number), site.url(f"/p{number + 1}") if number < 2 else ""))
    cursors = [c.cursor async for c in feed(site, "/p0").changes(None, {}) if isinstance(c, Checkpoint)]
    assert len(set(cursors)) >= 3
    site.requests.clear()
    await collect(feed(site, "/p0").changes(cursors[0], known_of(await Runs(site, "/p0")())))
    assert site.requests[-3].headers.get("If-None-Match")
    assert not site.requests[-2].headers.get("If-None-Match")


@pytest.mark.parametrize("cursor", ["", "x", "c-not-base85~", "0" * 40])
async def test_a_cursor_that_cannot_be_read_is_none(site, cursor):
    site.page("/feed.xml", rss(items(1)))
    documents, *_ = await collect(feed(site).changes(cursor, {}))
    assert len(documents) == 1


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"urls": []}, "urls"),
        ({"urls": ["feed.xml"]}, "address 1 is none"),
        ({"urls": ["https://x.example/", "https://a:hidden@x.example/"]}, "address 2 holds a name or password"),
        ({"keep": "30 days"}, "keep"),
        ({"keep": "0d"}, "keep"),
        ({"timezone": "Mars"}, "Europe/Berlin"),
        ({"networks": ["x"]}, "networks"),
        ({"read": "all"}, "read"),
    ],
)
def test_wrong_settings_are_refused_by_name(tmp_path, wrong, told):
    with pytest.raises(ConfigError) as refused:
        connect("feed", Origin(source="news", folder=tmp_path), {"urls": ["https://x.example/"]} | wrong)
    assert told in str(refused.value)
    assert "hidden" not in str(refused.value)


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ValidationError, match=r"pip install 'citebot\[feed\]'"):
        FeedOptions(urls=("https://x.example/",))


def test_another_credential_is_another_fingerprint():
    told = {
        FEED.credential(None, FeedOptions.model_validate(options))
        for options in (
            {"urls": ["https://x.example/?token=a"]},
            {"urls": ["https://x.example/?token=b"]},
            {"urls": ["https://x.example/?token=a"], "headers": {"Authorization": "a"}},
            {"urls": ["https://x.example/?token=a"], "headers": {"Authorization": "b"}},
        )
    }
    assert len(told) == 4
