"""Pages that search hides at random, in runs into an index that fail, wait and are cut off: none is lost or kept."""

import asyncio

from aiohttp import web
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from connectors.base import Checkpoint, Failure, SourceDocument, Tombstone
from ragcore.errors import SourceError
from tests.connectors.notions import connector
from tests.servers.notion import NotionServer, block
from tests.soak import scaled

PLACES = st.integers(0, 5)
PARTS = st.sampled_from(("/children", "/query", "pages/", "data_sources/"))
STEPS = st.one_of(
    st.tuples(st.just("make"), PLACES),
    st.tuples(st.just("make"), PLACES),
    st.tuples(st.just("row"), PLACES),
    st.tuples(st.just("edit"), PLACES),
    st.tuples(st.just("hide"), PLACES),
    st.tuples(st.just("hide"), PLACES),
    st.tuples(st.just("show"), PLACES),
    st.tuples(st.just("trash"), PLACES),
    st.tuples(st.just("fail"), PARTS, st.integers(0, 2)),
    st.tuples(st.just("cut"), st.integers(1, 25)),
    st.tuples(st.just("run"), st.booleans()),
    st.tuples(st.just("run"), st.booleans()),
)


class Tree:
    """Pages on pages, and a database with rows; search shows the first page always."""

    def __init__(self, server):
        self.server, self.space, self.edits = server, server.space, 0
        self.above, self.below = {}, {}
        self.top = self.space.page("Top")
        self.source = self.space.database("Rows", parent={"type": "page_id", "page_id": self.top})
        self.database = self.space.sources[self.source]["parent"]["database_id"]
        self.below[self.top] = []
        self.rows = []
        self.write(self.top)

    def pages(self):
        return list(self.below)

    def at(self, place, found):
        return found[place % len(found)]

    def write(self, page):
        self.edits += 1
        inner = [block("child_page", None, title="x") | {"id": one} for one in self.below.get(page, ())]
        if page == self.top:
            inner.append(block("child_database", None, title="Rows") | {"id": self.database})
        blocks = [dict(one) for one in (block("paragraph", f"edit {self.edits}"), *inner)]
        kept = {one: self.space.blocks[one] for one in self.below.get(page, ())}
        self.space.write(page, *blocks)
        self.space.blocks |= kept  # what stands on a page is not on the one above

    def make(self, place):
        above = self.at(place, self.pages())
        page = self.space.page(f"P{len(self.below)}", parent={"type": "page_id", "page_id": above})
        self.below[page] = []
        self.above[page] = above
        self.server.hidden.add(page)
        self.write(page)
        self.below[above].append(page)
        self.write(above)

    def row(self, place):
        self.rows.append(self.space.row(self.source, f"R{place}"))
        self.server.hidden.add(self.rows[-1])

    def edit(self, place):
        self.write(self.at(place, self.pages() + self.rows))

    def hide(self, place):
        self.server.hidden.add(self.at(place, [*self.pages()[1:], self.source, *self.rows]))

    def show(self, place):
        self.server.hidden.discard(self.at(place, [*self.pages()[1:], self.source, *self.rows]))

    def trash(self, place):
        page = self.at(place, [*self.pages(), *self.rows])
        if page == self.top:
            return
        self.space.trash(page)
        if page in self.rows:
            self.rows.remove(page)
            return
        self.below[self.above[page]].remove(page)
        self.write(self.above[page])
        gone = [page]
        for one in gone:
            gone += self.below.pop(one)
        self.server.hidden.update(gone)

    def fail(self, part, number):
        def answer(path):
            return web.Response(status=500) if part in path and hash_of(path) % 3 == number else None

        self.server.fault = answer

    def cut(self, after):
        left = [after]

        def answer(path):
            left[0] -= 1
            return web.Response(status=401) if left[0] <= 0 else None

        self.server.fault = answer

    def truth(self):
        return {f"s:pages/{one}" for one in (*self.below, *self.rows)} | {f"s:data_sources/{self.source}"}


def hash_of(path):
    return sum(path.encode())


class Index:
    """What runs leave behind, as ``connectors/sync`` has it: documents and cursor of a batch go live together."""

    def __init__(self, server):
        self.server, self.cursor = server, None
        self.live, self.failed = {}, {}

    async def run(self, *, retry):
        """Run; return whether it came to its end."""
        source, self.touched, self.now, staged = connector(self.server), set(), {}, {}
        known = {identity: one.version for identity, one in self.live.items()}
        known |= {identity: version for identity, version in self.failed.items() if version}
        due = set(self.failed) if retry else set()
        known = {identity: version for identity, version in known.items() if identity not in due}
        try:
            async for change in source.changes(self.cursor, known):
                self.heard(change, staged)
                if isinstance(change, Checkpoint):
                    self.store(staged)
                    self.cursor = change.cursor
            await self.fetch(source, due - self.touched)
            listed, covers = set(), False
            async for item in source.list_ids():
                if isinstance(item, Failure):
                    self.now[item.id], covers = item, covers or bool(item.covers)
                else:
                    listed.add(item)
            await self.fetch(source, listed - self.touched - self.failed.keys() - self.live.keys())
        except SourceError:
            return False
        there = listed | self.now.keys()
        if not covers:
            self.live = {identity: one for identity, one in self.live.items() if identity in there}
            self.failed = {identity: one for identity, one in self.failed.items() if identity in there}
        return True

    async def fetch(self, source, ids):
        staged = {}
        async for change in source.fetch(sorted(ids)):
            if not isinstance(change, Tombstone):
                self.heard(change, staged)
        self.store(staged)

    def heard(self, change, staged):
        match change:
            case SourceDocument() | Tombstone():
                self.touched.add(change.id)
                staged[change.id] = change
            case Failure():
                self.touched.add(change.id)
                self.now[change.id] = change
                self.failed[change.id] = change.version

    def store(self, staged):
        for identity, one in staged.items():
            self.failed.pop(identity, None)
            self.live.pop(identity, None)
            if isinstance(one, SourceDocument):
                self.live[identity] = one
        staged.clear()


async def followed(steps):
    async with NotionServer().serving() as server:
        tree, index = Tree(server), Index(server)
        for name, *told in steps:
            if name != "run":
                getattr(tree, name)(*told)
                continue
            before = index.live.keys() & tree.truth()
            await index.run(retry=told[0])
            assert before <= index.live.keys(), "nothing that is there goes"
            server.fault = None
        server.fault = None
        for _ in range(2):
            assert await index.run(retry=True)
        assert not index.failed
        assert index.live.keys() == tree.truth()
        for page in tree.pages():
            told = server.space.blocks[page][0]["paragraph"]["rich_text"][0]["plain_text"]
            assert told in index.live[f"s:pages/{page}"].content.decode()


@settings(max_examples=scaled(10), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(STEPS, min_size=8, max_size=24))
def test_what_search_hides_is_neither_lost_nor_kept(monkeypatch, steps):
    monkeypatch.setattr("connectors.notion.connector._BATCH", 1)
    asyncio.run(followed(steps))
