"""``citebot run`` keeps an index true while five kinds of source are changed and broken under it, and it is killed."""

import asyncio
import contextlib
import os
import pathlib
import random
import re
from collections.abc import Iterator
from typing import Any

import pytest

from bots.app import open_operations
from bots.requests import Sync
from bots.service import Remote, socket_in
from bots.settings import Settings, load_settings
from connectors import registry
from connectors.registry import options_model
from ragcore.errors import CitebotError
from ragcore.library import Library
from ragcore.reports import SyncReport
from tests.bots.handbook import told
from tests.fakes.five_sources import ANCHOR, FAULTS, Source, five_sources, settings_of
from tests.fakes.forking import Workers, workers
from tests.fakes.syncing import Life, embedder, notes_type
from tests.soak import FIXED, scaled

NAMES = ("d0", "d1", "d2", "d3", "d4", "ü d5")
COMMIT = re.compile("[0-9a-f]{40}")
"""A link to code names the commit at which it was read: what hasn't changed since is linked at an older one."""
SECONDS = 1.2
"""The longest that a process goes on before it is killed in a sync: most syncs are over by then."""


@pytest.fixture(scope="module")
def forked() -> Iterator[Workers]:
    with workers("tests.fakes.syncing") as running:
        yield running


@pytest.fixture(autouse=True)
def as_in_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the fresh index be made with what the processes are made of."""
    real, notes = registry._load, notes_type()
    monkeypatch.setattr(registry, "_load", lambda name: notes if name == "notes" else real(name))
    monkeypatch.setattr("bots.app.parts.open_embedder", embedder)


class Driven:
    """The process, and the sources that it reads."""

    def __init__(self, folder: pathlib.Path, forked: Workers, sources: dict[str, Source], drawn: random.Random) -> None:
        self.folder = folder
        self.forked = forked
        self.sources = sources
        self.drawn = drawn
        self.pid = 0
        self.kills = 0
        self.reports: list[SyncReport] = []
        self.history: list[str] = []

    async def start(self) -> None:
        """Start it, unless it runs."""
        if self.pid:
            return
        self.pid = await asyncio.to_thread(self.forked.start, Life(folder=str(self.folder)))
        async with asyncio.timeout(60):
            while await asyncio.to_thread(socket_in, self.folder / "data") is None:  # noqa: ASYNC110
                await asyncio.sleep(0.02)

    async def kill(self) -> None:
        if self.pid:
            await self.forked.kill(self.pid)
            self.pid = 0
            self.kills += 1

    async def sync(self) -> list[SyncReport]:
        await self.start()
        path = await asyncio.to_thread(socket_in, self.folder / "data")
        assert path is not None
        events = [event async for event in Remote(path).run(Sync())]
        reports = [event for event in events if isinstance(event, SyncReport)]
        self.reports += reports
        return reports

    async def killed_in_sync(self) -> None:
        await self.start()
        syncing = asyncio.create_task(self.sync())
        await asyncio.sleep(self.drawn.uniform(0.0, SECONDS))
        await self.kill()
        with contextlib.suppress(CitebotError):
            await syncing

    async def step(self) -> None:
        """Do one random thing."""
        name, source = self.drawn.choice(list(self.sources.items()))
        document = self.drawn.choice(NAMES)
        what = self.drawn.choices(
            ("write", "delete", "fail", "mend", "sync", "kill in a sync", "kill"), (30, 14, 16, 14, 10, 8, 3)
        )[0]
        fault = self.drawn.choice(FAULTS)
        self.history.append(f"{what} {name} {document} {fault if what == 'fail' else ''}")
        match what:
            case "write":
                words = self.drawn.choices(("valve", "pump", "tank", "filter", "gauge"), k=6)
                source.write(document, f"In the {document} of the {name} stands: {' '.join(words)}.")
            case "delete":
                source.delete(document)
            case "fail":
                source.fail(fault, document)
            case "mend":
                source.mend()
            case "sync":
                await self.sync()
            case "kill in a sync":
                await self.killed_in_sync()
            case _:
                await self.kill()


async def held(library: Library, sources: dict[str, Source]) -> dict[str, Any]:
    """Return what an index holds, after its parts were seen to agree."""
    ids = [identity for name in sources for identity in await library.registry.document_ids(name)]
    documents = await library.registry.documents(ids)
    chunks = await library.registry.chunks_of(ids)
    for base in ("kb", "closed"):
        assert await library.vectors.ids(base) == await library.entries.ids(base)
    assert await library.keywords.ids() == {chunk.id for chunk in chunks}
    return {
        identity: (
            "" if COMMIT.search(document.url) else document.hash,
            document.knowledge_base,
            document.readers,
            [
                (chunk.text, chunk.title, COMMIT.sub("COMMIT", chunk.url))
                for chunk in chunks
                if chunk.document_id == identity
            ],
        )
        for identity, document in documents.items()
    }


async def fresh(settings: Settings, sources: dict[str, Source]) -> dict[str, Any]:
    async with open_operations(settings, mending=False) as operations:
        reports = [event for event in await told(operations, Sync()) if isinstance(event, SyncReport)]
        assert not [report for report in reports if report.error or report.failed]
        return await held(operations._parts.library, sources)


async def drive(folder: pathlib.Path, forked: Workers, steps: int, seed: int) -> Driven:
    async with five_sources(folder) as sources:
        file = folder / "citebot.toml"
        file.write_text(settings_of(sources, "data"), encoding="utf-8")
        driven = Driven(folder, forked, sources, random.Random(seed))
        try:
            for _ in range(steps):
                await driven.step()
            await driven.killed_in_sync()
            for source in sources.values():
                source.mend()
            await driven.sync()
            last = await driven.sync()
        finally:
            await driven.kill()
        assert [(report.source, report.error, report.failed) for report in last if report.error or report.failed] == []
        assert sum(report.added + report.changed + report.deleted for report in last) == 0, "the one before did it all"
        async with open_operations(load_settings(file, source_model=options_model), mending=False) as operations:
            found = await held(operations._parts.library, sources)
        file.write_text(settings_of(sources, "fresh"), encoding="utf-8")
        expected = await fresh(load_settings(file, source_model=options_model), sources)
        assert {f"{name}:" for name in sources} == {identity.partition(":")[0] + ":" for identity in expected}
        assert any(ANCHOR in identity for identity in expected)
        assert found == expected
        return driven


async def checked(folder: pathlib.Path, forked: Workers, steps: int, number: int = 1) -> None:
    drawn = number if FIXED else random.SystemRandom().randrange(1, 1 << 32)
    seed = int(os.environ.get("SEED", "0")) or drawn
    print(f"SEED={seed}")
    driven = await drive(folder, forked, steps, seed)
    assert driven.kills >= 2
    assert driven.reports


async def test_the_index_is_kept_true(tmp_path: pathlib.Path, forked: Workers) -> None:
    """Run it again with ``SEED=...`` of its output."""
    await checked(tmp_path, forked, min(40, max(20, scaled(40))))


@pytest.mark.soak
@pytest.mark.timeout(3600)
async def test_the_index_is_kept_true_at_length(tmp_path: pathlib.Path, forked: Workers) -> None:
    await checked(tmp_path, forked, 300, number=2)
