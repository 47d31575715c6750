"""What every connector must do, run on each: subclass ``Conformance`` and say how its source is changed."""

import abc

from connectors.base import Checkpoint, Connector
from tests.connectors.helpers import collect, listed

NAMES = ["a.md", "sub/b.md", "ünïcode 文档.md", "with # and ?.md", "x" * 100 + ".md"]


class Conformance(abc.ABC):
    """A source with documents of given names; a native id is such a name."""

    @abc.abstractmethod
    def put(self, name: str, text: str) -> None: ...

    @abc.abstractmethod
    def drop(self, name: str) -> None: ...

    @abc.abstractmethod
    def connect(self) -> Connector: ...

    async def sync(self, cursor=None, known=None):
        return await collect(self.connect().changes(cursor, known or {}))

    async def filled(self):
        for name in NAMES:
            self.put(name, f"text of {name}")
        documents, failures, gone, cursor = await self.sync()
        assert not failures
        assert not gone
        return documents, {identity: document.version for identity, document in documents.items()}, cursor

    async def test_the_first_sync_yields_everything(self):
        documents, _, _ = await self.filled()
        assert documents.keys() == {f"s:{name}" for name in NAMES}
        for name in NAMES:
            document = documents[f"s:{name}"]
            assert document.content == f"text of {name}".encode()
            assert document.source == "s"

    async def test_an_empty_source_is_no_error(self):
        documents, failures, gone, _ = await self.sync()
        assert not documents
        assert not failures
        assert not gone

    async def test_nothing_changed_yields_nothing(self):
        _, known, cursor = await self.filled()
        documents, failures, gone, _ = await self.sync(cursor, known)
        assert not documents
        assert not failures
        assert not gone

    async def test_a_change_is_yielded_alone(self):
        _, known, cursor = await self.filled()
        self.put(NAMES[2], "changed")
        self.put("new.md", "new")
        documents, _, _, _ = await self.sync(cursor, known)
        assert {identity: document.content for identity, document in documents.items()} == {
            f"s:{NAMES[2]}": b"changed",
            "s:new.md": b"new",
        }

    async def test_a_deletion_is_seen(self):
        _, known, cursor = await self.filled()
        self.drop(NAMES[0])
        documents, _, gone, _ = await self.sync(cursor, known)
        assert not documents
        if self.connect().list_ids() is None:
            assert gone == {f"s:{NAMES[0]}"}
        else:
            ids, _ = await listed(self.connect())
            assert ids == {f"s:{name}" for name in NAMES[1:]}

    async def test_a_renamed_document_is_another_one(self):
        _, known, cursor = await self.filled()
        self.drop(NAMES[0])
        self.put("renamed.md", f"text of {NAMES[0]}")
        documents, _, _, _ = await self.sync(cursor, known)
        assert documents.keys() == {"s:renamed.md"}
        ids, _ = await listed(self.connect())
        assert ids == {"s:renamed.md", *(f"s:{name}" for name in NAMES[1:])}

    async def test_everything_comes_again_without_cursor_and_known(self):
        documents, _, _ = await self.filled()
        again, _, _, _ = await self.sync()
        assert again.keys() == documents.keys()

    async def test_what_the_index_lacks_comes_whatever_the_cursor_says(self):
        _documents, known, cursor = await self.filled()
        lacking = f"s:{NAMES[1]}"
        del known[lacking]
        again, _, _, _ = await self.sync(cursor, known)
        assert again.keys() == {lacking}

    async def test_a_crash_after_any_checkpoint_loses_nothing(self):
        for name in NAMES:
            self.put(name, f"text of {name}")
        everything = {f"s:{name}" for name in NAMES}
        for stop in range(1, 4):
            kept, cursor, passed = {}, None, 0
            pending = {}
            async for change in self.connect().changes(None, {}):
                if isinstance(change, Checkpoint):
                    kept |= pending
                    pending, cursor, passed = {}, change.cursor, passed + 1
                    if passed == stop:
                        break
                elif hasattr(change, "content"):
                    pending[change.id] = change.version
            rest, _, _, _ = await self.sync(cursor, kept)
            assert kept.keys() | rest.keys() == everything

    async def test_fetch_tells_each_id_once(self):
        await self.filled()
        self.drop(NAMES[3])
        documents, failures, gone, _ = await collect(
            self.connect().fetch([f"s:{NAMES[2]}", f"s:{NAMES[3]}", "s:never.md"])
        )
        assert documents.keys() == {f"s:{NAMES[2]}"}
        assert not failures
        assert gone == {f"s:{NAMES[3]}", "s:never.md"}

    async def test_a_listing_shows_what_a_sync_takes(self):
        documents, _, _ = await self.filled()
        ids, failures = await listed(self.connect())
        assert ids == documents.keys()
        assert not failures
