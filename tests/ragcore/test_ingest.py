import asyncio
import dataclasses
import os
import pathlib
import signal
from collections.abc import AsyncIterator, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from ragcore.chunking import ChunkOptions, embedding_text
from ragcore.errors import EmbedderMismatch, ModelRefused, ModelUnreachable, SourceError
from ragcore.ingest import (
    Failed,
    Indexed,
    IngestEvent,
    IngestOptions,
    Mark,
    Marked,
    Underway,
    ingest,
    pipeline_of,
    remove,
)
from ragcore.library import Library
from ragcore.parsing import ParseOptions, worker
from ragcore.parsing.worker import ParseWorker, needs_process
from ragcore.stores.health import IndexState
from ragcore.stores.sources import SourceStates
from ragcore.stores.together import Cursor
from ragcore.types import SourceDocument
from tests.fakes.embedding import HashEmbedder
from tests.fakes.libraries import changes, each, failures, fill, opened
from tests.soak import scaled


@pytest.fixture
async def library(tmp_path: pathlib.Path) -> AsyncIterator[Library]:
    async with opened(tmp_path / "data") as library:
        yield library


async def in_line(library: Library) -> dict[str, set[str]]:
    """Check that database and indexes hold the same chunks, and return the live texts by document."""
    live = await library.registry.live_page("kb", limit=100_000)
    ids = {stored.chunk.id for stored in live}
    assert await library.vectors.ids("kb") == {stored.entry for stored in live}
    assert await library.keywords.ids() == ids
    assert await library.keywords.revision() == await library.registry.revision()
    assert await library.staging.garbage() == []
    found: dict[str, set[str]] = {}
    for stored in live:
        found.setdefault(stored.chunk.document_id, set()).add(stored.chunk.text)
    return found


async def test_documents_come_change_and_go(library: Library) -> None:
    first = await fill(library, {"a": "# A\n\nalpha", "b": "# B\n\nbeta", "c": "gamma"})
    assert changes(first) == {"s:a": "added", "s:b": "added", "s:c": "added"}
    embedder = library.embedder
    assert isinstance(embedder, HashEmbedder)
    asked = len(embedder.texts)
    second = await fill(library, {"a": "# A\n\nalpha", "b": "# B\n\nanother", "d": "delta"})
    assert changes(second) == {"s:a": "unchanged", "s:b": "changed", "s:d": "added"}
    assert len(embedder.texts) == asked + 2
    assert await remove(library, ["s:c", "s:never"]) == 1
    texts = await in_line(library)
    assert set(texts) == {"s:a", "s:b", "s:d"}
    assert any("another" in text for text in texts["s:b"])


async def test_unchanged_content_is_not_even_read(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = {"a": "# A\n\nalpha", "b": "beta"}
    await fill(library, texts)
    monkeypatch.setattr("ragcore.ingest.reader.prepare", None)
    again = await fill(library, {**texts, "b": "another"})
    assert changes(again) == {"s:a": "unchanged", "s:b": "failed"}, "what has changed is read, as far as it goes"


async def test_what_was_embedded_once_is_never_embedded_again(library: Library) -> None:
    embedder = library.embedder
    assert isinstance(embedder, HashEmbedder)
    texts = {f"d{n}": f"# Title {n}\n\nparagraph {n}" for n in range(20)}
    await fill(library, texts)
    asked = len(embedder.texts)
    await remove(library, [f"s:{name}" for name in texts])
    back = await fill(library, texts)
    assert set(changes(back).values()) == {"added"}
    smaller = IngestOptions(chunk=ChunkOptions(chunk_tokens=64))
    cut = await fill(library, texts, smaller)
    assert set(changes(cut).values()) == {"changed"}, "another chunk size is work"
    assert len(embedder.texts) == asked, "but these chunks come out the same"
    assert sum(event.embedded for event in cut if isinstance(event, Indexed)) == 0
    await in_line(library)


@pytest.mark.parametrize(
    "text",
    ["# Leave\n\nFive days may be carried over.\n\n## Sickness\n\nTell your lead.", "It has no title but its name."],
)
async def test_a_document_under_another_name_is_not_embedded_again(library: Library, text: str) -> None:
    embedder = library.embedder
    assert isinstance(embedder, HashEmbedder)
    await fill(library, {"old": text})
    asked = len(embedder.texts)
    assert changes(await fill(library, {"new": text})) == {"s:new": "added"}
    await remove(library, ["s:old"])
    assert len(embedder.texts) == asked > 0
    assert set(await in_line(library)) == {"s:new"}


async def test_a_new_address_or_reader_is_a_change_that_embeds_nothing(library: Library) -> None:
    embedder = library.embedder
    assert isinstance(embedder, HashEmbedder)
    source = SourceDocument(id="s:a", source="s", content=b"text", name="a.md", url="https://example.org/1")
    for changed, expected in (
        (source, "added"),
        (source, "unchanged"),
        (dataclasses.replace(source, url="https://example.org/2"), "changed"),
        (dataclasses.replace(source, url="https://example.org/2", readers=frozenset()), "changed"),
        (dataclasses.replace(source, url="https://example.org/2", readers=frozenset({"*"})), "changed"),
        (dataclasses.replace(source, url="https://example.org/2", readers=frozenset({"*"}), version="2"), "unchanged"),
    ):
        events = [event async for event in ingest(library, "kb", _one(changed))]
        assert changes(events) == {"s:a": expected}
    assert len(embedder.texts) == 1
    (chunk,) = await library.registry.chunks_of(["s:a"])
    assert chunk.url == "https://example.org/2"
    pipeline = pipeline_of(IngestOptions(), tokenizer=_tokenizer_name())
    known = await library.registry.known_versions("s", knowledge_base="kb", pipeline_of=lambda *_: pipeline)
    assert known == {"s:a": "2"}


def _tokenizer_name() -> str:
    from ragcore.tokens import offline_tokenizer

    return offline_tokenizer().name


async def _one(*documents: SourceDocument) -> AsyncIterator[SourceDocument]:
    for document in documents:
        yield document


async def test_a_document_moves_to_another_knowledge_base(library: Library) -> None:
    await fill(library, {"a": "alpha"})
    assert changes([e async for e in ingest(library, "other", each({"a": "alpha"}))]) == {"s:a": "changed"}
    assert await library.vectors.ids("kb") == set()
    assert len(await library.vectors.ids("other")) == 1
    assert await library.vector_rows.sums("kb") == {}


async def test_bad_documents_are_told_and_the_rest_goes_on(library: Library) -> None:
    events = await fill(library, {"a": "alpha", "empty": b"", "broken": b"%PDF-1.7\nnothing", "b": "beta"})
    assert changes(events) == {"s:a": "added", "s:empty": "failed", "s:broken": "failed", "s:b": "added"}
    assert all(failed.reason and failed.mend for failed in failures(events).values())
    kept = await library.failures.of_source("s")
    assert set(kept) == {"s:empty", "s:broken"}
    await fill(library, {"broken": b"%PDF-1.7\nnothing"})
    assert (await library.failures.of_source("s"))["s:broken"].attempts == 2
    await fill(library, {"broken": "now text", "empty": "too"})
    assert await library.failures.of_source("s") == {}
    await in_line(library)


async def test_documents_are_told_in_their_order(library: Library) -> None:
    """Whoever keeps a source's cursor counts on it: what is told has all before it stored."""
    await fill(library, {f"same{n}": f"same {n}" for n in range(40)})
    texts: dict[str, str | bytes] = {}
    for n in range(40):
        texts |= {f"new{n}": f"new {n}", f"same{n}": f"same {n}"}
        texts |= {f"bad{n}": b""} if n % 10 == 0 else {}
    events = await fill(library, texts)
    assert [event.document_id for event in events] == [f"s:{name}" for name in texts]
    assert {e.document_id[2:5] for e in events if isinstance(e, Failed)} == {"bad"}


async def test_the_old_version_stays_when_the_new_one_cannot_be_read(library: Library) -> None:
    await fill(library, {"a": "alpha"})
    assert changes(await fill(library, {"a": b"%PDF-1.7\nnothing"})) == {"s:a": "failed"}
    assert await in_line(library) == {"s:a": {"alpha"}}


class Refusing(HashEmbedder):
    """Refuses texts with a certain word, as an endpoint's policy may, or is not there at all."""

    away = False

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self.away:
            raise ModelUnreachable("no connection")
        if any("forbidden" in text for text in texts):
            raise ModelRefused("policy")
        return await super().embed(texts)


async def test_one_document_that_cannot_be_embedded_fails_alone(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path, Refusing()) as library:
        events = await fill(library, {"a": "alpha", "x": "forbidden", "b": "beta"})
        assert changes(events) == {"s:a": "added", "s:x": "failed", "s:b": "added"}
        await in_line(library)


async def test_an_embedder_that_is_away_ends_the_run_and_changes_nothing(tmp_path: pathlib.Path) -> None:
    embedder = Refusing()
    async with opened(tmp_path, embedder) as library:
        await fill(library, {"a": "alpha"})
        embedder.away = True
        with pytest.raises(ModelUnreachable):
            await fill(library, {"a": "changed", "b": "beta"})
        assert await in_line(library) == {"s:a": {"alpha"}}
        assert await library.failures.of_source("s") == {}


async def test_a_source_that_breaks_keeps_what_came_before(library: Library) -> None:
    async def breaking() -> AsyncIterator[SourceDocument]:
        async for document in each({"a": "alpha", "b": "beta"}):
            yield document
        raise SourceError("gone")

    events: list[IngestEvent] = []

    async def collect() -> None:
        async for event in ingest(library, "kb", breaking()):
            events.append(event)  # noqa: PERF401 - what came before the error counts

    with pytest.raises(SourceError, match="gone"):
        await collect()
    assert changes(events) == {"s:a": "added", "s:b": "added"}
    await in_line(library)


async def test_a_document_that_comes_twice_ends_as_its_last_version(library: Library) -> None:
    async def twice() -> AsyncIterator[SourceDocument]:
        for text in ("one", "two", "one", "three", "three"):
            async for document in each({"a": text}):
                yield document

    events = [event async for event in ingest(library, "kb", twice()) if not isinstance(event, Underway)]
    assert len(events) == 5
    assert await in_line(library) == {"s:a": {"three"}}


async def test_a_document_that_changes_back_within_one_run_ends_as_its_last_version(library: Library) -> None:
    await fill(library, {"a": "one"})

    async def there_and_back() -> AsyncIterator[SourceDocument]:
        for text in ("two", "one"):
            async for document in each({"a": text}):
                yield document

    async for _ in ingest(library, "kb", there_and_back()):
        pass
    assert await in_line(library) == {"s:a": {"one"}}


async def test_a_document_that_is_gone_and_comes_back_within_one_run_stays(library: Library) -> None:
    await fill(library, {"a": "one", "b": "two"})

    async def gone_and_back() -> AsyncIterator[SourceDocument | Mark]:
        yield Mark(gone=("s:a", "s:b", "s:unknown"))
        async for document in each({"a": "one"}):
            yield document
        yield Mark(cursor=Cursor(source="s", value="7"))

    told = [event async for event in ingest(library, "kb", gone_and_back()) if isinstance(event, Marked)]
    assert [event.deleted for event in told] == [("s:a", "s:b"), ()]
    assert await in_line(library) == {"s:a": {"one"}}
    assert (await SourceStates(library.database).get("s")).cursor == "7"


async def test_another_embedder_is_refused(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path) as library:
        await fill(library, {"a": "alpha"})
    async with opened(tmp_path, HashEmbedder(name="other", dimension=8)) as library:
        assert [health.state for health in library.health] == [IndexState.MISMATCHED]
        with pytest.raises(EmbedderMismatch):
            await fill(library, {"b": "beta"})


async def test_one_large_document_is_written_in_slices(library: Library) -> None:
    text = "\n\n".join(f"# Heading {n}\n\nParagraph {n} speaks of {n * 7919}." for n in range(700))
    (event,) = await fill(library, {"large": text})
    assert isinstance(event, Indexed)
    assert event.chunks >= 700
    assert event.embedded == event.chunks
    await in_line(library)


async def test_stopping_half_way_leaves_nothing_to_see(library: Library) -> None:
    await fill(library, {"a": "alpha"})
    texts = {f"d{n}": f"text {n}\n\n" * 40 for n in range(60)}

    async def run() -> None:
        await fill(library, texts)

    for delay in (0.0, 0.01, 0.05, 0.1, 0.2):
        task = asyncio.create_task(run())
        await asyncio.sleep(delay)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert "alpha" in (await library.registry.chunks_of(["s:a"]))[0].text
    await fill(library, texts)
    assert len(await in_line(library)) == 61


@pytest.mark.parametrize("leg", ["vectors", "keywords"])
async def test_a_reader_sees_one_version_at_any_time(library: Library, leg: str) -> None:
    """Hundreds of changes under a reader who never stops: never no version, never two."""
    names = [f"d{n}" for n in range(12)]
    await fill(library, {name: f"{name} version 0" for name in names})
    done = False
    looked = 0

    async def search(extra: int, _: object) -> list[str]:
        if leg == "keywords":
            return list(await library.keywords.ids())  # as a search that finds everything
        vector = np.asarray((await library.embedder.embed(["anything"]))[0])
        hits = await library.vectors.query("kb", vector, 12 + extra)
        return [hit.chunk_id for hit in hits]

    async def read() -> None:
        nonlocal looked
        while not done:
            _, live = await library.registry.settled_search(["kb"], search, list)
            seen = sorted(chunk.document_id for chunk in live.values())
            assert seen == sorted(f"s:{name}" for name in names)
            looked += 1

    reading = asyncio.create_task(read())
    rounds = scaled(8)
    for version in range(1, rounds + 1):
        # Some documents go back and forth between two versions, some are always new.
        await fill(
            library, {name: f"{name} version {version if n % 2 else version % 2}" for n, name in enumerate(names)}
        )
        if reading.done():
            break
    done = True
    await reading
    assert looked > rounds
    await in_line(library)


async def test_reading_goes_to_a_process_when_it_could_hurt() -> None:
    assert needs_process(b"%PDF-1.7")
    assert needs_process(b"PK\x03\x04...")
    assert needs_process(b"x" * 10_000_000)
    assert not needs_process(b"# Title\n\nText")


async def test_a_parser_that_crashes_or_hangs_fails_one_document(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    pids: list[int] = []
    asked = ParseWorker._asked

    async def killed(self: ParseWorker, request: tuple[bytes, str, str, ParseOptions]) -> asyncio.subprocess.Process:
        self._process = self._process or await worker._start(None)
        pids.append(self._process.pid)
        if request[1] == "crash.md":
            os.kill(self._process.pid, signal.SIGSEGV)
        if request[1] == "hang.md":
            os.kill(self._process.pid, signal.SIGSTOP)
        return await asked(self, request)

    monkeypatch.setattr(ParseWorker, "_asked", killed)
    long = "Some words. " * 20_000
    options = IngestOptions(seconds_per_step=20)
    events = await fill(library, {"a": long + "a", "crash": long + "b", "c": long + "c"}, options)
    assert changes(events) == {"s:a": "added", "s:crash": "failed", "s:c": "added"}
    assert "SIGSEGV" in failures(events)["s:crash"].reason
    assert len(set(pids)) == 2
    events = await fill(library, {"hang": long + "d"}, IngestOptions(seconds_per_step=1))
    assert "no further for 1 seconds" in failures(events)["s:hang"].reason
    with pytest.raises(ProcessLookupError):
        os.kill(pids[-1], 0)
    await in_line(library)


async def test_nul_and_half_characters_do_no_harm(library: Library) -> None:
    (event,) = await fill(library, {"a": b"before\x00after"})
    assert isinstance(event, Indexed | Failed)
    await in_line(library)


async def test_texts_are_embedded_with_title_and_headings(library: Library) -> None:
    await fill(library, {"a": "# Title\n\n## Part\n\nSome text."})
    embedder = library.embedder
    assert isinstance(embedder, HashEmbedder)
    (chunk,) = await library.registry.chunks_of(["s:a"])
    assert embedder.texts == [embedding_text(chunk.title, chunk.heading_path, chunk.text)]
