"""Random steps on a real folder, a sync after each few: the index always equals that of a fresh full sync."""

import asyncio
import json
import os
import pathlib
import shutil

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from connectors.sync import SyncJob, SyncReport, sync
from ragcore.ingest import IngestOptions
from tests.connectors.helpers import files, put
from tests.fakes.libraries import opened
from tests.soak import scaled

NAMES = ["a.md", "b.md", "ü/c.md", "ü/d.md", "rows.jsonl", "x.pdf"]

names = st.sampled_from(NAMES)
steps = st.lists(
    st.tuples(st.just("write"), names, st.integers(0, 3))
    | st.tuples(st.just("delete"), names, st.just(0))
    | st.tuples(st.just("rename"), names, st.integers(0, len(NAMES) - 1))
    | st.tuples(st.just("touch"), names, st.integers(0, 5))
    | st.tuples(st.just("break"), names, st.just(0))
    | st.tuples(st.just("sneak"), names, st.integers(0, 3))
    | st.tuples(st.just("sync"), st.just(""), st.just(0)),
    min_size=1,
    max_size=14,
)


def content(name, number):
    if name.endswith(".jsonl"):
        return "".join(json.dumps({"id": f"r{row}", "text": f"row {row} of {number}"}) + "\n" for row in range(number))
    if name.endswith(".pdf"):
        return f"# Not a PDF at all\n\nVersion {number}."
    return f"# {name}\n\nVersion {number}."


def take(root, step, name, number):
    """Do one step on the folder; what can't be done is left."""
    path = root / name
    if step == "write":
        put(root, name, content(name, number))
    elif step == "break":
        put(
            root,
            name,
            b'{"id": "r0", "te\n{"id": "r9", "text": "t"}\n' if name.endswith(".jsonl") else b"%PDF-1.4 broken",
        )
    elif step and path.is_file():
        if step == "delete":
            path.unlink()
        elif step == "rename":
            (root / NAMES[number]).parent.mkdir(exist_ok=True)
            path.rename(root / NAMES[number])
        elif step == "touch":
            os.utime(path, (1_700_000_000 + number, 1_700_000_000 + number))
        elif step == "sneak":  # another content of the same size and date
            status = path.stat()
            path.write_bytes(bytes(reversed(path.read_bytes())) if not name.endswith(".jsonl") else path.read_bytes())
            os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


async def synced(library, root, *, full=False):
    job = SyncJob(source="s", type="files", knowledge_base="kb", connector=files(root), options=IngestOptions())
    events = [event async for event in sync(library, job, full=full)]
    report = events[-1]
    assert isinstance(report, SyncReport)
    assert not report.error
    return report


async def shape(library):
    """Return what the index holds, by document."""
    ids = await library.registry.document_ids("s")
    documents = await library.registry.documents(ids)
    chunks = await library.registry.chunks_of(ids)
    held = {
        identity: (document.hash, [chunk.text for chunk in chunks if chunk.document_id == identity])
        for identity, document in documents.items()
    }
    live = sorted(chunk.id for chunk in chunks)
    assert (await library.vectors.ids("kb") if live else set()) == await library.entries.ids("kb")
    assert sorted(await library.keywords.ids()) == live
    return held


async def drive(folder, plan):
    root = folder / "docs"
    root.mkdir()
    put(root, "anchor.md", "always there")  # so that no listing misses everything
    async with opened(folder / "data") as library:
        for step, name, number in plan:
            if step == "sync":
                await synced(library, root)
            else:
                take(root, step, name, number)
        report = await synced(library, root)
        async with opened(folder / "fresh") as other:
            expected_report = await synced(other, root, full=True)
            expected = await shape(other)
        found = await shape(library)
        again = await synced(library, root)
    failed = {one.id for one in report.failed}
    assert failed == {one.id for one in expected_report.failed}
    # What fails now may live on in its last good version; everything else is as a fresh index has it.
    spared = tuple(one.rpartition("#L")[0] + "#" if "#L" in one else one for one in failed)
    assert {one: held for one, held in found.items() if not one.startswith(spared or "?")} == {
        one: held for one, held in expected.items() if not one.startswith(spared or "?")
    }
    assert expected.keys() <= found.keys()
    assert (again.added, again.changed, again.deleted) == (0, 0, 0)


@settings(max_examples=scaled(3), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps)
def test_the_index_follows_the_folder(tmp_path_factory, plan):
    folder = pathlib.Path(tmp_path_factory.mktemp("steps"))
    try:
        asyncio.run(drive(folder, plan))
    finally:
        shutil.rmtree(folder)
