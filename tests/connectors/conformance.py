"""What every connector must do, run on each: subclass ``Conformance`` and give its ``world``.

The first half asks the connector alone. The second drives whole runs into a real index, with the source broken under
them, and at the end the index must hold what the source holds. One file, over 400 lines: who writes a connector reads
it from top to bottom as the list of what is asked of it.
"""

import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import ClassVar

import pytest

from connectors.base import Checkpoint, Connector, Origin
from connectors.sync import SyncJob, SyncProgress, SyncReport, sync
from ragcore.errors import SourceAuthError
from ragcore.ingest import remove
from ragcore.library import Library
from ragcore.reports import Fault
from ragcore.types import SourceDocument
from tests.connectors.helpers import collect, listed
from tests.connectors.world import ABILITIES, MANY, NAMES, World
from tests.fakes.embedding import HashEmbedder
from tests.fakes.libraries import opened


class Conformance:
    """The suite; a subclass has a fixture ``world`` that yields a ``World``.

    ``at_length_in_soak``: only what matters most runs in ``make test``, the rest in ``make soak``, as a source whose
    connector another world has gone through at length.
    """

    at_length_in_soak: ClassVar[bool] = False

    @pytest.fixture(autouse=True)
    def _settled(self, world: World, tmp_path) -> None:
        self.world = world
        self.origin = Origin(source="s", folder=tmp_path)
        self.truth: dict[str, str] = {}
        self.waits: list[float] = []

    @pytest.fixture
    async def library(self, tmp_path):
        self.embedder = HashEmbedder()
        async with opened(tmp_path / "data", self.embedder) as library:
            yield library

    # What tests are written with.

    def connect(self) -> Connector:
        return self.world.connect(self.origin)

    def identity(self, name: str) -> str:
        return self.origin.document_id(self.world.identity(name))

    def identities(self) -> set[str]:
        return {self.identity(name) for name in self.truth}

    def able(self, ability: str) -> Callable[..., Awaitable[None]]:
        """Return what the world can do, or skip the test with the reason why it can't."""
        if ability in self.world.cannot:
            pytest.skip(f"{type(self.world).__name__} cannot {ability}: {self.world.cannot[ability]}")
        found: Callable[..., Awaitable[None]] = getattr(self.world, ability)
        return found

    async def add(self, name: str, text: str) -> None:
        await self.world.add(name, text)
        self.truth[name] = text

    async def change(self, name: str, text: str) -> None:
        await self.world.change(name, text)
        self.truth[name] = text

    async def delete(self, name: str) -> None:
        await self.world.delete(name)
        del self.truth[name]

    async def fill(self, count: int = len(NAMES)) -> None:
        for name in [*NAMES, *(f"d{number:02}.md" for number in range(count - len(NAMES)))]:
            await self.add(name, f"The text of {name[:20]} stands here.")

    async def changed(self, cursor=None, known=None):
        return await collect(self.connect().changes(cursor, known or {}))

    async def filled(self):
        await self.fill()
        documents, failures, gone, cursor = await self.changed()
        assert not failures
        assert not gone
        return documents, {identity: document.version for identity, document in documents.items()}, cursor

    def says(self, document: SourceDocument, name: str) -> bool:
        return document.id == self.identity(name) and self.truth[name] in self.world.text_of(document)

    async def run(self, library: Library, *, full: bool = False, retry: bool = True) -> SyncReport:
        events = [event async for event in self.events(library, full=full, retry=retry)]
        assert isinstance(events[-1], SyncReport)
        return events[-1]

    def events(self, library: Library, **how: bool) -> AsyncGenerator[SyncProgress | SyncReport]:
        async def sleep(seconds: float) -> None:
            self.waits.append(seconds)

        job = SyncJob(source="s", type="t", knowledge_base="kb", connector=self.connect())
        return sync(library, job, sleep=sleep, **how)

    async def texts(self, library: Library) -> dict[str, str]:
        chunks = await library.registry.chunks_of(await library.registry.document_ids("s"))
        found: dict[str, str] = {}
        for chunk in chunks:
            found[chunk.document_id] = found.get(chunk.document_id, "") + chunk.text
        return found

    async def check_true(self, library: Library) -> None:
        """Check that the index holds what the source holds, and that another run finds nothing to do."""
        held = await self.texts(library)
        assert held.keys() == self.identities()
        for name, text in self.truth.items():
            assert text in held[self.identity(name)]
        report = await self.run(library)
        assert report.is_success, report
        assert (report.added, report.changed, report.deleted) == (0, 0, 0)
        assert not await library.failures.of_source("s")

    async def check_mended(self, library: Library) -> None:
        """Check that the source is read to its end once it works again."""
        await self.world.mend()
        report = await self.run(library)
        assert report.is_success, report
        await self.check_true(library)

    # The world itself.

    def test_what_the_source_cannot_do_is_declared(self):
        implemented = {name for name in ABILITIES if getattr(type(self.world), name) is not getattr(World, name)}
        assert self.world.cannot.keys() <= ABILITIES
        assert not implemented & self.world.cannot.keys(), "declared, and done all the same"
        assert implemented | self.world.cannot.keys() == ABILITIES, "neither done nor declared"
        assert all(self.world.cannot.values()), "declared without a reason"

    # The connector alone.

    async def test_the_first_sync_yields_everything(self):
        documents, _, _ = await self.filled()
        assert documents.keys() == self.identities()
        for name in NAMES:
            assert self.says(documents[self.identity(name)], name)
            assert documents[self.identity(name)].source == "s"

    async def test_an_empty_source_is_no_error(self):
        documents, failures, gone, _ = await self.changed()
        assert not documents
        assert not failures
        assert not gone

    async def test_nothing_changed_yields_nothing(self):
        _, known, cursor = await self.filled()
        documents, failures, gone, _ = await self.changed(cursor, known)
        assert not documents
        assert not failures
        assert not gone

    async def test_a_change_is_yielded_alone(self):
        _, known, cursor = await self.filled()
        await self.change(NAMES[2], "changed")
        await self.add("new.md", "new")
        documents, _, _, _ = await self.changed(cursor, known)
        assert documents.keys() == {self.identity(NAMES[2]), self.identity("new.md")}
        assert self.says(documents[self.identity(NAMES[2])], NAMES[2])

    async def test_a_deletion_is_seen(self):
        _, known, cursor = await self.filled()
        await self.delete(NAMES[0])
        documents, _, gone, _ = await self.changed(cursor, known)
        assert not documents
        if self.connect().list_ids() is None:
            assert gone == {self.identity(NAMES[0])}
        else:
            ids, _ = await listed(self.connect())
            assert ids == self.identities()

    async def test_everything_comes_again_without_cursor_and_known(self):
        documents, _, _ = await self.filled()
        again, _, _, _ = await self.changed()
        assert again.keys() == documents.keys()

    async def test_nothing_is_lost_after_any_checkpoint(self):
        await self.fill(MANY)
        for stop in range(1, 4):
            kept, cursor, passed = {}, None, 0
            pending = {}
            async with contextlib.aclosing(self.connect().changes(None, {})) as changes:
                async for change in changes:
                    if isinstance(change, Checkpoint):
                        kept |= pending
                        pending, cursor, passed = {}, change.cursor, passed + 1
                        if passed == stop:
                            break
                    elif isinstance(change, SourceDocument):
                        pending[change.id] = change.version
            rest, _, _, _ = await self.changed(cursor, kept)
            assert kept.keys() | rest.keys() == self.identities()

    async def test_fetch_tells_each_id_once(self):
        await self.filled()
        await self.delete(NAMES[3])
        documents, failures, gone, _ = await collect(
            self.connect().fetch([self.identity(name) for name in (NAMES[2], NAMES[3], "never.md")])
        )
        assert documents.keys() == {self.identity(NAMES[2])}
        assert not failures
        assert gone == {self.identity(NAMES[3]), self.identity("never.md")}

    async def test_a_listing_shows_what_a_sync_takes(self):
        documents, _, _ = await self.filled()
        if self.connect().list_ids() is None:
            pytest.skip("the source can't list: its connector says so")
        ids, failures = await listed(self.connect())
        assert ids == documents.keys()
        assert not failures

    async def test_a_refused_credential_is_told_as_one_with_its_mend(self):
        expire = self.able("expire_token")
        await self.fill(MANY)
        await expire()
        with pytest.raises(SourceAuthError) as refused:
            await self.changed()
        assert refused.value.mend

    # Whole runs.

    async def test_runs_follow_what_is_added_changed_and_deleted(self, library):
        await self.fill(MANY)
        report = await self.run(library)
        assert (report.added, report.is_success) == (MANY, True)
        await self.check_true(library)
        embedded = len(self.embedder.texts)
        assert (await self.run(library)).unchanged == MANY
        assert len(self.embedder.texts) == embedded
        await self.change(NAMES[1], "Something else.")
        await self.delete(NAMES[0])
        await self.add("new.md", "Something new.")
        report = await self.run(library)
        assert (report.added, report.changed, report.deleted, report.unchanged) == (1, 1, 1, MANY - 2)
        await self.check_true(library)

    async def test_a_renamed_document_is_another_one_and_embeds_nothing(self, library):
        rename = self.able("rename")
        await self.fill(MANY)
        await self.run(library)
        embedded = len(self.embedder.texts)
        await rename(NAMES[0], "renamed.md")
        self.truth["renamed.md"] = self.truth.pop(NAMES[0])
        report = await self.run(library)
        assert (report.added, report.deleted) == (1, 1)
        assert len(self.embedder.texts) == embedded
        await self.check_true(library)

    @pytest.mark.parametrize("status", [500, 503])
    async def test_a_page_that_fails_loses_nothing_and_deletes_nothing(self, library, status):
        break_page = self.able("break_page")
        await self.fill(MANY)
        await self.run(library)
        for number in range(7):  # more than a page of changes, the deletion the last of them
            await self.change(f"d{number:02}.md", f"Something else {number}.")
        await self.delete("d08.md")
        await break_page(status)
        report = await self.run(library)
        assert (report.fault, report.deleted, report.is_success) == (Fault.UNREACHABLE, 0, False)
        assert len(await library.registry.document_ids("s")) == MANY
        await self.check_mended(library)

    async def test_a_page_that_fails_in_the_first_sync_loses_nothing(self, library):
        break_page = self.able("break_page")
        await self.fill(MANY)
        await break_page()
        assert not (await self.run(library)).is_success
        await self.check_mended(library)

    async def test_it_is_waited_as_long_as_the_source_asks(self, library):
        rate_limit = self.able("rate_limit")
        await self.fill(MANY)
        await rate_limit(7)
        report = await self.run(library)
        assert report.is_success, report
        assert self.waits == [7.0]
        await self.check_true(library)

    async def test_a_long_wait_ends_the_run_and_is_told(self, library):
        rate_limit = self.able("rate_limit")
        await self.fill(MANY)
        await rate_limit(3_600)
        report = await self.run(library)
        assert (report.fault, report.retry_after, self.waits) == (Fault.RATE_LIMITED, 3_600.0, [])
        await self.check_mended(library)

    async def test_a_token_that_expires_half_way_loses_nothing(self, library):
        expire = self.able("expire_token")
        await self.fill(MANY)
        await expire()
        report = await self.run(library)
        assert (report.fault, report.deleted) == (Fault.AUTH, 0)
        assert self.waits == [], "what was refused is not asked for again"
        held = await self.texts(library)
        report = await self.run(library, full=True)
        assert (report.fault, report.deleted) == (Fault.AUTH, 0)
        assert (await self.texts(library)).keys() >= held.keys()
        await self.check_mended(library)

    @pytest.mark.parametrize("ability", ["leave", "break_form"])
    async def test_a_source_out_of_order_is_told_and_loses_nothing(self, library, ability):
        disturb = self.able(ability)
        await self.fill(MANY)
        await self.run(library)
        await self.change(NAMES[1], "Something else.")
        await disturb()
        report = await self.run(library, full=True)
        assert report.fault in {Fault.UNREACHABLE, Fault.GONE, Fault.BAD_REPLY}, report
        assert report.error
        assert "unexpected" not in report.error
        assert len(await library.registry.document_ids("s")) == MANY
        await self.check_mended(library)

    async def test_a_truncated_listing_deletes_nothing(self, library):
        truncate = self.able("truncate")
        await self.fill(MANY)
        await self.run(library)
        await truncate()
        report = await self.run(library)
        assert report.deleted == 0
        assert report.warnings
        assert (await self.texts(library)).keys() == self.identities()
        await self.check_mended(library)

    @pytest.mark.parametrize("seconds", [-5_400, 5_400])
    async def test_a_clock_that_differs_hides_no_change(self, library, seconds):
        skew = self.able("skew")
        await skew(seconds)
        await self.fill()
        await self.run(library)
        for step in range(3):
            await self.change(NAMES[step], f"Something else {step}.")
            await self.add(f"new{step}.md", f"Something new {step}.")
            report = await self.run(library)
            assert (report.added, report.changed) == (1, 1)
        await self.check_true(library)

    async def test_what_the_index_lacks_comes_whatever_the_cursor_says(self, library):
        await self.fill()
        await self.run(library)
        await remove(library, [self.identity(NAMES[1])])
        assert (await self.run(library)).added == 1
        await self.check_true(library)

    async def test_what_comes_late_is_seen(self, library):
        late = self.able("late")
        await self.fill()
        await self.run(library)
        await late("late.md", "Something late.")
        self.truth["late.md"] = "Something late."
        assert (await self.run(library)).added == 1
        await self.check_true(library)

    async def test_a_document_told_twice_is_one(self, library):
        duplicate = self.able("duplicate")
        await self.fill()
        await duplicate(NAMES[1])
        assert (await self.run(library)).added == len(NAMES)
        await self.check_true(library)

    async def test_a_changed_permission_is_a_change(self, library):
        restrict = self.able("restrict")
        await self.fill()
        for addresses in (frozenset({"ann@x.example"}), frozenset({"ann@x.example", "bob@x.example"})):
            await restrict(NAMES[1], addresses)
            await self.run(library)
            held = await library.registry.document(self.identity(NAMES[1]))
            assert held.readers == {f"email:{address}" for address in addresses}
        await self.check_true(library)

    async def test_one_bad_document_is_named_and_hides_no_other(self, library):
        spoil = self.able("spoil")
        await self.fill(MANY)
        await spoil(NAMES[1])
        report = await self.run(library)
        assert [failed.id for failed in report.failed] == [self.identity(NAMES[1])]
        assert report.failed[0].reason
        assert report.failed[0].mend
        assert (report.added, report.is_success, report.error) == (MANY - 1, False, "")
        await self.check_mended(library)

    @pytest.mark.parametrize("failed_before", [pytest.param(False, marks=pytest.mark.soak), True])
    async def test_what_fails_is_closed_to_who_may_not_read_it_any_more(self, library, failed_before):
        restrict, spoil = self.able("restrict"), self.able("spoil")
        ann, bob, cid = (frozenset({f"{name}@x.example"}) for name in ("ann", "bob", "cid"))
        await self.fill()
        await restrict(NAMES[1], ann | bob)
        await self.run(library)
        await spoil(NAMES[1])
        if failed_before:
            await restrict(NAMES[1], ann | bob | cid)
            assert [failed.id for failed in (await self.run(library)).failed] == [self.identity(NAMES[1])]
            assert self.identity(NAMES[1]) in await self.texts(library), "who might read it still may"
        await restrict(NAMES[1], ann | cid)
        report = await self.run(library)
        assert ([failed.id for failed in report.failed], report.deleted) == ([self.identity(NAMES[1])], 1), report
        assert self.identity(NAMES[1]) not in await self.texts(library)
        await self.check_mended(library)

    async def test_a_document_that_goes_while_it_is_read_is_no_fault(self, library):
        vanish = self.able("vanish")
        await self.fill(MANY)
        await vanish(NAMES[1])
        del self.truth[NAMES[1]]
        report = await self.run(library)
        assert not report.error
        await self.check_mended(library)

    @pytest.mark.parametrize("done", [1, 6, 11])
    async def test_a_run_cut_off_between_batches_goes_on(self, library, done):
        await self.fill(MANY)
        async with contextlib.aclosing(self.events(library)) as events:
            async for event in events:
                if isinstance(event, SyncProgress) and event.done >= done:
                    break
        await self.change(NAMES[2], "Something else.")
        await self.delete(NAMES[3])
        await self.check_mended(library)
