"""One big document on its way in: it tells how far it is, and can be stopped anywhere."""

import asyncio
import contextlib
import os
import pathlib
import subprocess
import sys
import time
from collections.abc import AsyncIterator

import pytest

from ragcore.ingest import Change, Indexed, IngestOptions, Stage, Underway, ingest
from ragcore.ingest.spool import SLICE
from ragcore.library import Library
from ragcore.library.upkeep import sweep
from ragcore.parsing import worker
from ragcore.types import SourceDocument
from tests.fakes.embedding import HashEmbedder
from tests.fakes.libraries import each, opened
from tests.ragcore.parsing.makers import lines, pdf
from tests.ragcore.test_ingest import in_line

PAGES = 1000


@pytest.fixture
async def library(tmp_path: pathlib.Path) -> AsyncIterator[Library]:
    async with opened(tmp_path / "data") as library:
        yield library


@pytest.fixture(scope="module")
def big() -> bytes:
    return pdf([lines([f"Page {number} tells of valve {number}."] * 4) for number in range(1, PAGES + 1)])


async def one(content: bytes, name: str = "big.pdf") -> AsyncIterator[SourceDocument]:
    yield SourceDocument(id="s:big", source="s", content=content, name=name)


def many_chunks(count: int) -> bytes:
    return "\n\n".join(f"## Part {number}\n\nValve {number} is open." for number in range(count)).encode()


async def test_a_big_document_tells_how_far_it_is(library: Library, big: bytes) -> None:
    events = [event async for event in ingest(library, "kb", one(big))]
    reading = [(e.done, e.total) for e in events if isinstance(e, Underway) and e.stage is Stage.READING]
    embedding = [(e.done, e.total) for e in events if isinstance(e, Underway) and e.stage is Stage.EMBEDDING]
    writing = [(e.done, e.total) for e in events if isinstance(e, Underway) and e.stage is Stage.WRITING]
    assert reading[0] == (0, 0)
    assert len(reading) >= 2
    assert {total for _, total in reading[1:]} == {PAGES}
    assert reading == sorted(reading)
    assert isinstance(events[-1], Indexed)
    assert len(embedding) >= 2
    assert {total for _, total in embedding} == {events[-1].embedded}
    assert embedding == sorted(set(embedding))
    assert writing == [(done, events[-1].chunks) for done in range(0, events[-1].chunks, SLICE)]


async def test_documents_read_ahead_do_not_wait_for_their_news_to_be_heard(library: Library) -> None:
    texts = {f"d{number:03}": f"text {number}" for number in range(60)}
    events = []
    async for event in ingest(library, "kb", each(texts)):
        await asyncio.sleep(0.002)
        events.append(event)
    assert [e.document_id for e in events if isinstance(e, Indexed)] == [f"s:{name}" for name in texts]


@pytest.mark.parametrize("stage", list(Stage))
async def test_a_run_that_is_stopped_half_way_leaves_the_old_version(
    library: Library, big: bytes, stage: Stage
) -> None:
    counts = {Stage.CUTTING: 4500, Stage.EMBEDDING: 200, Stage.WRITING: 600}
    content, name = (big, "big.pdf") if stage is Stage.READING else (many_chunks(counts[stage]), "big.md")
    old = [event async for event in ingest(library, "kb", one(b"The old text.", "old.md"))]
    assert isinstance(old[-1], Indexed)
    pids: list[int] = []
    async with contextlib.aclosing(ingest(library, "kb", one(content, name))) as events:
        async for event in events:
            if isinstance(event, Underway) and event.stage is stage and event.done:
                pids = _workers()
                break
    assert bool(pids) == (stage is Stage.READING)
    assert not _workers()
    assert {chunk.text for chunk in await library.registry.chunks_of(["s:big"])} == {"The old text."}
    assert await sweep(library) == (stage is Stage.WRITING)
    assert await in_line(library) == {"s:big": {"The old text."}}
    again = [event async for event in ingest(library, "kb", one(many_chunks(50), "big.md"))]
    assert isinstance(again[-1], Indexed)
    assert again[-1].change is Change.CHANGED
    await in_line(library)


def _workers() -> list[int]:
    """Return the processes that parse for us now."""
    found = []
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, IndexError, ValueError):
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            if parent == os.getpid() and worker.__name__ in (folder / "cmdline").read_text():
                found.append(int(folder.name))
    return found


async def test_stopping_between_two_slices_of_a_write_leaves_garbage_alone(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = library.staging.stage
    staged = asyncio.Event()
    calls = 0

    async def watched(chunks):  # type: ignore[no-untyped-def]
        nonlocal calls
        calls += 1
        await stage(chunks)
        staged.set()

    monkeypatch.setattr(type(library.staging), "stage", lambda _, chunks: watched(chunks))

    async def work() -> None:
        async for _ in ingest(library, "kb", one(many_chunks(600), "big.md"), IngestOptions()):
            pass

    task = asyncio.create_task(work())
    await staged.wait()
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
    assert calls == 1
    assert await library.registry.document("s:big") is None
    assert await library.staging.garbage() != []
    assert isinstance(library.embedder, HashEmbedder)
    asked = len(library.embedder.texts)
    await work()
    assert len(library.embedder.texts) == asked
    assert set(await in_line(library)) == {"s:big"}


def test_a_worker_whose_parent_was_killed_does_not_go_on_for_ever() -> None:
    busy = f"from {worker.__name__} import end_with_parent; import time; end_with_parent(); print('up', flush=True); time.sleep(60)"
    start = (
        "import subprocess, sys, time; "
        f"child = subprocess.Popen([sys.executable, '-c', {busy!r}], stdout=subprocess.PIPE); "
        "child.stdout.readline(); print(child.pid, flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", start], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        parent.kill()
    until = time.monotonic() + 20
    while _is_running(pid) and time.monotonic() < until:
        time.sleep(0.1)
    assert not _is_running(pid)


def _is_running(pid: int) -> bool:
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
