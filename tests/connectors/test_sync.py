"""Runs of one source: what they count, leave as it is, and tell of faults, and what dry, full and cut runs do."""

import asyncio
import contextlib
from datetime import timedelta
from pathlib import Path

import pytest

from connectors.base import Origin
from connectors.sync import SyncJob, SyncProgress, forget_source, orphans, sync
from ragcore.chunking import ChunkOptions
from ragcore.errors import ModelUnreachable, SourceAuthError, SourceError, StoreError
from ragcore.ingest import IngestOptions
from ragcore.stores.sources import SourceStates
from tests.connectors.helpers import files, later, live, memory_of, put, run, settle, thirty
from tests.connectors.memory import MemoryConnector
from tests.fakes.embedding import HashEmbedder
from tests.fakes.libraries import opened


@pytest.fixture
async def library(tmp_path):
    async with opened(tmp_path / "data") as found:
        yield found


def counts(report):
    return report.added, report.changed, report.deleted, report.unchanged, len(report.failed)


async def test_added_changed_deleted_unchanged(library):
    memory = memory_of(a="one", b="two", c="three")
    assert counts(await run(library, memory.connector())) == (3, 0, 0, 0, 0)
    assert await live(library) == {"a", "b", "c"}
    memory.put("a", "one more")
    memory.drop("b")
    memory.put("d", "four")
    report = await run(library, memory.connector())
    assert counts(report) == (1, 1, 1, 1, 0)
    assert report.is_success
    assert await live(library) == {"a", "c", "d"}


async def test_an_unchanged_source_is_not_read_parsed_or_embedded(tmp_path):
    embedder = HashEmbedder()
    memory = memory_of(**{f"d{number}": f"text {number}" for number in range(50)})
    async with opened(tmp_path / "data", embedder) as library:
        await run(library, memory.connector())
        embedded, reads = len(embedder.texts), memory.reads
        assert (embedded, reads) == (50, 50)
        assert counts(await run(library, memory.connector())) == (0, 0, 0, 50, 0)
        assert (len(embedder.texts), memory.reads) == (embedded, reads)
        memory.put("d7", "another text")
        assert counts(await run(library, memory.connector())) == (0, 1, 0, 49, 0)
        assert (len(embedder.texts), memory.reads) == (embedded + 1, reads + 1)


async def test_a_run_that_cannot_see_how_the_source_stood_leaves_that_as_it_was(library, monkeypatch):
    memory = memory_of(a="one", b="two")
    await run(library, memory.connector())
    states = SourceStates(library.database)
    before = await states.get("s")
    assert before.cursor
    with monkeypatch.context() as patch:

        async def away(self, name):
            raise StoreError("the database is away")

        patch.setattr(SourceStates, "get", away)
        report = await run(library, memory.connector())
    assert "the database is away" in report.error
    assert await states.get("s") == before
    assert counts(await run(library, memory.connector())) == (0, 0, 0, 2, 0)


async def test_a_full_run_reads_everything_and_embeds_nothing(tmp_path):
    embedder = HashEmbedder()
    memory = memory_of(a="one", b="two")
    async with opened(tmp_path / "data", embedder) as library:
        await run(library, memory.connector())
        report = await run(library, memory.connector(), full=True)
        assert counts(report) == (0, 0, 0, 2, 0)
        assert memory.reads == 4
        assert len(embedder.texts) == 2


async def test_other_options_make_every_document_due(library):
    memory = memory_of(a="one two three", b="two")
    await run(library, memory.connector())
    report = await run(library, memory.connector(), options=IngestOptions(chunk=ChunkOptions(chunk_tokens=77)))
    assert counts(report) == (0, 2, 0, 0, 0)


async def test_a_source_moves_to_another_knowledge_base(library):
    memory = memory_of(a="one", b="two")
    await run(library, memory.connector())
    report = await run(library, memory.connector(), knowledge_base="other")
    assert counts(report) == (0, 2, 0, 0, 0)
    bases = await library.registry.counts_by_knowledge_base()
    assert {name: count.documents for name, count in bases.items()} == {"other": 2}


async def test_a_failed_document_is_named_until_it_succeeds(library, monkeypatch):
    memory = memory_of(a="one", b="two")
    memory.broken = {"b"}
    report = await run(library, memory.connector())
    assert counts(report) == (1, 0, 0, 0, 1)
    assert (report.failed[0].id, report.failed[0].reason, report.failed[0].mend) == ("s:b", "it is broken", "mend it")
    assert not report.is_success
    # The next scheduled run leaves it alone, and still names it.
    reads = memory.reads
    report = await run(library, memory.connector(), retry=False)
    assert counts(report) == (0, 0, 0, 1, 1)
    assert memory.reads == reads
    memory.broken = set()
    async with later(monkeypatch, timedelta(hours=2)):
        report = await run(library, memory.connector(), retry=False)
    assert counts(report) == (1, 0, 0, 1, 0)
    assert not await library.failures.of_source("s")


async def test_a_failed_document_that_changes_is_tried_at_once(library):
    memory = memory_of(a="one")
    memory.broken = {"a"}
    await run(library, memory.connector())
    memory.broken = set()
    memory.put("a", "mended")
    assert counts(await run(library, memory.connector(), retry=False)) == (1, 0, 0, 0, 0)


async def test_a_failed_document_is_known_as_what_is_indexed_of_it_once_it_is_due(library):
    told = []

    class Told(MemoryConnector):
        def changes(self, cursor, known):
            told.append({identity.removeprefix("s:"): version for identity, version in known.items()})
            return super().changes(cursor, known)

    def connector():
        return Told(memory, memory.connector().origin, 3)

    memory = memory_of(a="one", b="two")
    await run(library, connector())
    indexed = (await library.registry.document("s:a")).version
    memory.put("a", "new")
    memory.put("c", "three")
    memory.broken = {"a", "c"}
    await run(library, connector())
    await run(library, connector(), retry=False)
    assert told[-1].keys() == {"a", "b", "c"}, "what failed isn't tried again before its time"
    assert told[-1]["a"] != indexed
    await run(library, connector(), retry=True)
    assert told[-1].keys() == {"a", "b"}
    assert told[-1]["a"] == indexed
    memory.broken = set()
    memory.put("a", "one")
    assert counts(await run(library, connector(), retry=True)) == (1, 0, 0, 2, 0), "as it is indexed: it is told again"
    assert not await library.failures.of_source("s")


async def test_a_failed_document_keeps_its_old_version(library):
    memory = memory_of(a="one", b="two")
    await run(library, memory.connector())
    memory.put("a", "new")
    memory.broken = {"a"}
    report = await run(library, memory.connector())
    assert counts(report) == (0, 0, 0, 1, 1)
    assert await live(library) == {"a", "b"}
    memory.drop("a")
    memory.broken = set()
    report = await run(library, memory.connector())
    assert counts(report) == (0, 0, 1, 1, 0)


async def test_what_cannot_be_read_anew_is_open_to_nobody_who_lost_it(library):
    memory = memory_of(**dict.fromkeys("abcd", "The merger closes in May."))
    memory.readers = {"b": frozenset({"email:x"}), "c": frozenset({"email:x", "email:y"}), "d": frozenset({"email:x"})}
    await run(library, memory.connector())
    for name, readers in {"a": {"email:x"}, "b": {"email:x", "email:y"}, "c": {"email:x"}, "d": {"email:x"}}.items():
        memory.readers[name] = frozenset(readers)
        memory.put(name, "%PDF-1.7 broken")
    report = await run(library, memory.connector())
    assert {failed.id for failed in report.failed} == {"s:a", "s:b", "s:c", "s:d"}
    assert await live(library) == {"b", "d"}
    assert {failed.id for failed in (await run(library, memory.connector(), retry=False)).failed} == {
        "s:a",
        "s:b",
        "s:c",
        "s:d",
    }
    memory.put("a", "The merger closes in June.")
    assert counts(await run(library, memory.connector())) == (1, 0, 0, 0, 3)
    assert await live(library) == {"a", "b", "d"}


async def test_a_document_that_cannot_be_parsed_fails_alone(library, tmp_path):
    put(tmp_path, "docs/good.md", "# Good\n\ntext")
    put(tmp_path, "docs/bad.pdf", b"%PDF-1.7 broken")
    report = await run(library, files(tmp_path / "docs"))
    assert counts(report) == (1, 0, 0, 0, 1)
    assert report.failed[0].id == "s:bad.pdf"
    assert report.failed[0].mend
    (tmp_path / "docs/bad.pdf").unlink()
    report = await run(library, files(tmp_path / "docs"))
    assert counts(report) == (0, 0, 0, 1, 0)


@pytest.mark.parametrize("full", [False, True])
async def test_a_listing_that_ended_in_an_error_deletes_nothing(library, full):
    memory = thirty()
    await run(library, memory.connector())
    memory.drop("d00")
    memory.listing_error = SourceError("the second page failed with 500")
    memory.lists = True
    memory.hidden = {f"d{number:02}" for number in range(1, 30)}
    memory.journal.clear()
    report = await run(library, memory.connector(), full=full)
    assert report.error == "the second page failed with 500"
    assert report.deleted == 0
    assert len(await live(library)) == 30
    state = await SourceStates(library.database).get("s")
    assert state.last_error == report.error
    assert state.last_success_at is not None
    assert state.last_run_at > state.last_success_at


async def test_what_is_covered_by_a_failure_is_not_deleted(library, tmp_path, monkeypatch):
    settle(monkeypatch)
    put(tmp_path, "docs/a.jsonl", '{"id": "1", "text": "one"}\n{"id": "2", "text": "two"}\n{"id": "3", "text": "x"}\n')
    put(tmp_path, "docs/other.md")
    put(tmp_path, "docs/gone.md")
    await run(library, files(tmp_path / "docs"))
    (tmp_path / "docs/gone.md").unlink()
    put(tmp_path, "docs/a.jsonl", '{"id": "1", "text": "one"}\n{"id": "2", "te\n')
    report = await run(library, files(tmp_path / "docs"))
    assert (report.deleted, len(report.failed)) == (1, 1)
    assert await live(library) == {"a.jsonl#1", "a.jsonl#2", "a.jsonl#3", "other.md"}
    put(tmp_path, "docs/a.jsonl", '{"id": "1", "text": "one"}\n{"id": "2", "text": "two!"}\n')
    report = await run(library, files(tmp_path / "docs"))
    assert counts(report) == (0, 1, 1, 2, 0)


async def test_a_missing_folder_deletes_nothing(library, tmp_path):
    put(tmp_path, "docs/a.md", "text")
    await run(library, files(tmp_path / "docs"))
    (tmp_path / "docs").rename(tmp_path / "away")
    report = await run(library, files(tmp_path / "docs"), full=True)
    assert "is not there" in report.error
    assert await live(library) == {"a.md"}
    (tmp_path / "docs").mkdir()  # mounted, and empty
    report = await run(library, files(tmp_path / "docs"))
    assert report.warnings
    assert await live(library) == {"a.md"}


async def test_a_source_that_breaks_keeps_what_came_before(library):
    memory = thirty()
    memory.breaks_after, memory.error = 20, SourceAuthError("the token has expired; renew it")
    report = await run(library, memory.connector())
    assert report.error == "the token has expired; renew it"
    assert report.added == 20
    memory.error = None
    report = await run(library, memory.connector())
    assert counts(report) == (10, 0, 0, 20, 0)
    assert memory.reads == 30, "what was stored is not read again"


async def test_an_unexpected_fault_is_told_without_its_text(library, caplog):
    memory = thirty()
    memory.breaks_after, memory.error = 5, ZeroDivisionError("token=hidden")
    report = await run(library, memory.connector())
    assert report.error == "unexpected ZeroDivisionError; see the log, and please report it"
    assert report.added == 5


async def test_a_listing_that_raises_before_it_begins_is_told_in_the_report_too(library):
    class Hasty(MemoryConnector):
        def list_ids(self):
            raise ZeroDivisionError

    report = await run(library, Hasty(thirty(), Origin(source="s", folder=Path()), 3))
    assert report.error.startswith("unexpected ZeroDivisionError")
    assert (await SourceStates(library.database).get("s")).faults == 1


async def test_a_run_that_is_left_has_let_go_of_its_source_by_then(library):
    class Watched(MemoryConnector):
        is_open = False

        async def changes(self, cursor, known):
            self.is_open = True
            try:
                async for change in super().changes(cursor, known):
                    yield change
            finally:
                self.is_open = False

    connector = Watched(thirty(), Origin(source="s", folder=Path()), 3)
    job = SyncJob(source="s", type="t", knowledge_base="kb", connector=connector)
    events = sync(library, job)
    while not connector.is_open:
        await anext(events)
    await events.aclose()
    assert not connector.is_open, "whoever runs it next must find nobody at it"


async def test_an_embedder_out_of_reach_ends_the_run_and_blames_no_document(tmp_path):
    class Unreachable(HashEmbedder):
        async def embed(self, texts):
            raise ModelUnreachable("no connection to http://localhost:1")

    memory = thirty()
    async with opened(tmp_path / "data", Unreachable()) as library:
        report = await run(library, memory.connector())
        assert report.error == "no connection to http://localhost:1"
        assert not report.failed
    async with opened(tmp_path / "data") as library:
        assert counts(await run(library, memory.connector())) == (30, 0, 0, 0, 0)


async def test_a_run_can_be_cancelled_and_goes_on_later(library):
    memory = thirty()
    job = SyncJob(source="s", type="t", knowledge_base="kb", connector=memory.connector())

    three = asyncio.Event()

    async def some():
        async with contextlib.aclosing(sync(library, job)) as events:
            async for event in events:
                if isinstance(event, SyncProgress) and event.done >= 3:
                    three.set()

    task = asyncio.create_task(some())
    await three.wait()
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
    report = await run(library, memory.connector())
    assert report.is_success
    assert len(await live(library)) == 30


async def test_a_dry_run_tells_and_changes_nothing(library):
    memory = memory_of(a="one", b="two", c="three")
    await run(library, memory.connector())
    state = await SourceStates(library.database).get("s")
    memory.put("a", "changed")
    memory.drop("b")
    memory.put("d", "new")
    memory.put("c", "broken now")
    memory.broken = {"c"}
    report = await run(library, memory.connector(), dry_run=True)
    assert (report.added_ids, report.changed_ids, report.deleted_ids) == (("s:d",), ("s:a",), ("s:b",))
    assert [failed.id for failed in report.failed] == ["s:c"]
    assert await live(library) == {"a", "b", "c"}
    assert not await library.failures.of_source("s")
    assert await SourceStates(library.database).get("s") == state
    memory.broken = set()
    assert counts(await run(library, memory.connector())) == (1, 2, 1, 0, 0)


async def test_a_source_without_settings_is_told_and_can_be_forgotten(library):
    memory = memory_of(a="one", b="two")
    await run(library, memory.connector())
    assert await orphans(library, {"s"}) == {}
    assert await orphans(library, {"another"}) == {"s": 2}
    report = await forget_source(library, "s")
    assert report.deleted == 2
    assert await orphans(library, ()) == {}
    assert counts(await run(library, memory.connector())) == (2, 0, 0, 0, 0)


async def test_progress_counts_towards_the_total(library, tmp_path):
    for number in range(5):
        put(tmp_path, f"docs/{number}.md", str(number))
    job = SyncJob(source="s", type="files", knowledge_base="kb", connector=files(tmp_path / "docs"))
    events = [event async for event in sync(library, job) if isinstance(event, SyncProgress)]
    assert [event.done for event in events] == sorted(event.done for event in events)
    assert (events[-1].done, events[-1].total) == (5, 5)


async def test_the_bar_moves_inside_one_big_document(library, tmp_path):
    put(tmp_path, "docs/big.md", "\n\n".join(f"## Part {part}\n\nValve {part} is open." for part in range(600)))
    put(tmp_path, "docs/small.md", "Little.")
    job = SyncJob(source="s", type="files", knowledge_base="kb", connector=files(tmp_path / "docs"))
    events = [event async for event in sync(library, job) if isinstance(event, SyncProgress)]
    reached = [event.reached for event in events]
    assert reached == sorted(reached)
    assert reached[-1] == events[-1].done == 2
    assert len({event.reached for event in events if event.done == 0}) > 3
    assert {event.stage for event in events} == {"", "reading", "embedding", "writing"}
    first = next(event for event in events if event.document_id)
    assert (first.total, first.done, first.document_id) == (2, 0, "s:big.md")
