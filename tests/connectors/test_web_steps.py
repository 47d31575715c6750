"""A site that is edited, moved, broken and mended at random: what is held at the end is what a fresh crawl finds."""

import asyncio
from contextlib import suppress

from hypothesis import given, settings
from hypothesis import strategies as st

from ragcore.errors import SourceRateLimited
from tests.connectors.test_web_sitemaps import sitemap
from tests.connectors.webs import Run, linked
from tests.fakes.website import Page, Website
from tests.soak import scaled

PATHS = ("/a", "/b", "/b/", "/c?x=1", "/d/e", "/f", "/g")
path = st.sampled_from(PATHS)
heads = st.one_of(
    st.just(""),
    st.sampled_from(("noindex", "nofollow")).map(lambda wish: f'<meta name="robots" content="{wish}">'),
    path.map(lambda target: f'<link rel="canonical" href="{target}">'),
)
step = st.one_of(
    st.tuples(st.just("page"), path, st.lists(path, max_size=4), st.sampled_from("xyz"), heads),
    st.tuples(st.just("start"), st.lists(path, max_size=4)),
    st.tuples(st.just("map"), st.lists(path, max_size=3)),
    st.tuples(st.just("move"), path, path),
    st.tuples(st.just("drop"), path),
    st.tuples(st.just("break"), path, st.sampled_from((500, 403, 429))),
    st.tuples(st.just("mend")),
    st.tuples(st.just("forget")),
    st.tuples(st.just("run")),
)


class Edited:
    """A site, and the faults that lie over its pages."""

    def __init__(self, site: Website) -> None:
        self.site = site
        self.whole: dict[str, Page | None] = {}
        self.run = self.fresh()
        site.page("/", linked(*PATHS[:2]))
        site.page("/map.xml", sitemap(), media_type="application/xml")

    def fresh(self) -> Run:
        return Run(self.site, start_urls=(self.site.url("/"),), sitemaps=(self.site.url("/map.xml"),))

    def page(self, path, links, title, head):
        self.site.page(path, linked(*links, title=title, text=path, head=head))

    def start(self, links):
        self.site.page("/", linked(*links))

    def map(self, links):
        self.site.page("/map.xml", sitemap(*map(self.site.url, links)), media_type="application/xml")

    def move(self, old, new):
        self.site.redirect(old, new)

    def drop(self, path):
        self.site.pages.pop(path, None)

    def fail(self, path, status):
        self.whole.setdefault(path, self.site.pages.get(path))
        self.site.raises(path, status, **({"Retry_After": "1"} if status == 429 else {}))

    def mend(self):
        for path, page in self.whole.items():
            if page is None:
                self.drop(path)
            else:
                self.site.pages[path] = page
        self.whole.clear()

    async def follow(self):
        with suppress(SourceRateLimited):
            await self.run()


async def followed(steps):
    async with Website() as site:
        edited = Edited(site)
        for name, *given_ in steps:
            match name:
                case "run":
                    await edited.follow()
                case "forget":
                    edited.run.cursor = None
                case "break":
                    edited.fail(*given_)
                case _:
                    if name in {"page", "move", "drop"} and given_[0] in edited.whole:
                        continue  # what is broken is not edited
                    getattr(edited, name)(*given_)
        edited.mend()
        await edited.run()  # goes on with a crawl that had to wait, whose first pages may have changed since
        await edited.run()
        fresh = edited.fresh()
        await fresh()
        assert edited.run.known == fresh.known
        assert await edited.run() == [], "and then nothing is new"


@settings(max_examples=scaled(40), deadline=None)
@given(st.lists(step, max_size=25))
def test_what_is_held_is_what_a_fresh_crawl_finds(steps):
    asyncio.run(followed(steps))
