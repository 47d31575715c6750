"""A workspace that is edited, moved, hidden and broken at random: what is held at the end is what a fresh sync finds."""

import asyncio
from contextlib import suppress
from datetime import timedelta

from aiohttp import web
from hypothesis import given, settings
from hypothesis import strategies as st

from ragcore.errors import SourceError
from tests.connectors.notions import Runs
from tests.servers.notion import NotionServer, block
from tests.soak import scaled

NAMES = st.sampled_from("abc")
ROWS = st.sampled_from("rst")
STEPS = st.one_of(
    st.tuples(st.just("page"), NAMES, st.sampled_from("xyz")),
    st.tuples(st.just("page"), NAMES, st.sampled_from("xyz")),
    st.tuples(st.just("row"), ROWS, st.sampled_from("xyz")),
    st.tuples(st.just("property"), ROWS, st.sampled_from("xyz")),
    st.tuples(st.just("move"), NAMES, st.sampled_from(("root", "other"))),
    st.tuples(st.just("trash"), NAMES | ROWS),
    st.tuples(st.just("restore"), NAMES | ROWS),
    st.tuples(st.just("unshare"), NAMES | ROWS),
    st.tuples(st.just("share"), NAMES | ROWS),
    st.tuples(st.just("hide"), ROWS),
    st.tuples(st.just("show"), ROWS),
    st.tuples(st.just("break"), st.sampled_from(("search", "query", "children", "pages/"))),
    st.tuples(st.just("run")),
    st.tuples(st.just("run")),
)


class Edited:
    """Two pages at the top, others below either, and a database below the first."""

    def __init__(self, server: NotionServer, *, is_narrow: bool) -> None:
        self.server, self.space = server, server.space
        server.largest = 4
        self.tops = {name: self.space.page(name) for name in ("root", "other")}
        self.source = self.space.database("Rows", parent=self._in("root"))
        self.ids: dict[str, str] = {}
        self.options = {"pages": (self.tops["root"],)} if is_narrow else {}
        self.runs = Runs(server, **self.options)
        for name in "ab":
            self.page(name, "first")
        for name in "rs":
            self.row(name, "first")

    def _in(self, top):
        return {"type": "page_id", "page_id": self.tops[top]}

    def page(self, name, text):
        if name in self.ids:
            self.space.write(self.ids[name], block("paragraph", text))
        else:
            self.ids[name] = self.space.page(name, block("paragraph", text), parent=self._in("root"))

    def row(self, name, text):
        if name in self.ids:
            self.space.write(self.ids[name], block("toggle", text, block("paragraph", text)))
        else:
            self.ids[name] = self.space.row(self.source, name, block("paragraph", text))

    def property(self, name, text):
        if name in self.ids:
            page = self.space.pages[self.ids[name]]
            page["properties"]["P"] = {"id": "p", "type": "select", "select": {"name": text}}
            self.space.touch(self.ids[name])

    def move(self, name, top):
        if name in self.ids:
            self.space.pages[self.ids[name]]["parent"] = self._in(top)

    def trash(self, name):
        self._mark(name, "in_trash", is_set=True)

    def restore(self, name):
        self._mark(name, "in_trash", is_set=False)

    def _mark(self, name, key, *, is_set):
        if name in self.ids:
            self.space.pages[self.ids[name]][key] = is_set

    def unshare(self, name):
        self.server.lost.add(self.ids.get(name, ""))

    def share(self, name):
        self.server.lost.discard(self.ids.get(name, ""))

    def hide(self, name):
        self.server.hidden.add(self.ids.get(name, ""))

    def show(self, name):
        self.server.hidden.discard(self.ids.get(name, ""))

    def fail(self, part):
        self.server.fault = lambda path: web.Response(status=500) if part in path else None

    async def follow(self):
        with suppress(SourceError):
            await self.runs()
            assert self.runs.ids == self.truth()
        self.server.fault = None

    def truth(self):
        """Return the ids of what is there, shared, and wanted."""
        wanted = self.tops["root"] if self.options else None
        found = {f"s:data_sources/{self.source}"}
        for identity, page in self.space.pages.items():
            above = page["parent"].get("page_id", self.tops["root"] if "data_source_id" in page["parent"] else identity)
            is_there = not page["in_trash"] and identity not in self.server.lost
            found |= {f"s:pages/{identity}"} if is_there and wanted in {None, above} else set()
        return found


async def followed(steps, *, is_narrow, seconds):
    async with NotionServer().serving() as server:
        server.space.clock.step = timedelta(seconds=seconds)
        edited = Edited(server, is_narrow=is_narrow)
        await edited.runs()
        for name, *told in steps:
            match name:
                case "run":
                    await edited.follow()
                case "break":
                    edited.fail(*told)
                case _:
                    getattr(edited, name)(*told)
        server.fault = None
        server.space.clock.now += timedelta(minutes=2)
        await edited.follow()
        fresh = Runs(server, **edited.options)
        await fresh()
        assert {one: held.content for one, held in edited.runs.held.items()} == {
            one: held.content for one, held in fresh.held.items()
        }
        assert edited.runs.known == fresh.known
        assert edited.runs.ids == fresh.ids
        assert await edited.runs() == set(), "and then nothing is new"


@settings(max_examples=scaled(10), deadline=None)
@given(st.lists(STEPS, min_size=6, max_size=30), st.booleans(), st.sampled_from((0, 10, 120, 1_200)))
def test_what_is_held_is_what_a_fresh_sync_finds(steps, is_narrow, seconds):
    """``seconds`` is how long after the last edit the next one comes: Notion tells of them by the minute."""
    asyncio.run(followed(steps, is_narrow=is_narrow, seconds=seconds))
