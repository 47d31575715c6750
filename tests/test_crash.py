"""kill -9 at any moment: the next sync ends in exactly the state of an undisturbed run."""

import asyncio
import contextlib
import json
import os
import pathlib
import random
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from sqlalchemy import select

from ragcore.library import CHROMA, Library
from ragcore.library.recovery import check
from ragcore.stores.health import IndexState
from ragcore.stores.rows import parts_of_entry, reader_set_of
from ragcore.stores.schema import chunks, documents, staged, vector_sums, vectors
from tests.fakes.crashing import Job, sync
from tests.fakes.embedding import HashEmbedder
from tests.fakes.forking import Workers, workers
from tests.soak import scaled

KILLS_IN_A_ROW = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """Where a trial begins, where it is to end, and what an undisturbed run ends with."""

    before: pathlib.Path
    target: dict[str, str]
    job: Job
    undisturbed: dict[str, Any]
    moments: int
    seconds: float


@pytest.fixture(scope="module")
def forked() -> Iterator[Workers]:
    with workers("tests.fakes.crashing") as running:
        yield running


def _texts(count: int, paragraphs: int) -> dict[str, str]:
    return {f"d{n}": "\n\n".join(f"# Part {p}\n\nDocument {n}, {p}." for p in range(paragraphs)) for n in range(count)}


def _scene(
    folder: pathlib.Path,
    forked: Workers,
    job: Job,
    before: dict[str, str],
    target: dict[str, str],
    *,
    embedder: str = "hash",
    readers: str = "",
) -> Scene:
    start, end = folder / "start.json", folder / "end.json"
    start.write_text(json.dumps(before))
    end.write_text(json.dumps(target))
    forked.start(replace(job, folder=str(folder / "before"), state=str(start)))
    assert forked.wait() > 0
    shutil.copytree(folder / "before", folder / "undisturbed")
    job = replace(job, state=str(end), embedder=embedder, readers=readers or job.readers)
    began = time.monotonic()
    forked.start(replace(job, folder=str(folder / "undisturbed")))
    moments = forked.wait()
    seconds = time.monotonic() - began
    state = asyncio.run(_ended(folder / "undisturbed", target, job))
    return Scene(before=folder / "before", target=target, job=job, undisturbed=state, moments=moments, seconds=seconds)


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory, forked: Workers) -> Scene:
    """A few dozen documents: some change, some go, some come."""
    before = _texts(24, 6)
    target = {name: text.replace(", 1.", ", one!") if n % 3 else text for n, (name, text) in enumerate(before.items())}
    for gone in ("d1", "d2", "d3"):
        del target[gone]
    target |= {f"new{n}": f"New document {n}" for n in range(8)}
    return _scene(tmp_path_factory.mktemp("crash"), forked, Job(folder="", state=""), before, target)


@pytest.fixture(scope="module")
def embedder_scene(tmp_path_factory: pytest.TempPathFactory, forked: Workers) -> Scene:
    """Another embedder takes over, and a document changes."""
    before = _texts(8, 4)
    target = {**before, "d1": "Something else."}
    job = Job(folder="", state="")
    return _scene(tmp_path_factory.mktemp("embedder"), forked, job, before, target, embedder="other")


@pytest.fixture(scope="module")
def readers_scene(tmp_path_factory: pytest.TempPathFactory, forked: Workers) -> Scene:
    """Half of the documents are told to others than before, and nothing in them changes."""
    texts = _texts(10, 4)
    job = Job(folder="", state="", readers="slack:T/@U1 *")
    return _scene(tmp_path_factory.mktemp("readers"), forked, job, texts, texts, readers="slack:T/@U2")


@pytest.fixture(scope="module")
def large_scene(tmp_path_factory: pytest.TempPathFactory, forked: Workers) -> Scene:
    """Enough vectors that Chroma takes its time to rewrite its files, which it does after every hundred writes."""
    before = _texts(24, 50)
    target = {
        name: text.replace("Document", "Paper") if n % 2 else text for n, (name, text) in enumerate(before.items())
    }
    job = Job(folder="", state="", sync_threshold=100, dimension=384)
    return _scene(tmp_path_factory.mktemp("large"), forked, job, before, target)


def _killed(folder: pathlib.Path, forked: Workers, scene: Scene, *, trials: int, in_a_row: int) -> None:
    """Kill at random moments, then go on; in the end all is as if nothing had happened."""
    drawn = random.Random(os.urandom(8))
    for trial in range(trials):
        here = folder / str(trial)
        shutil.copytree(scene.before, here)
        points = [drawn.randint(1, scene.moments) for _ in range(in_a_row)]
        for point in points:
            forked.start(replace(scene.job, folder=str(here), die_at=point))
            forked.wait()
        _assert_same(here, scene, f"killed at {points} of {scene.moments}")


def test_killed_before_and_after_every_kind_of_step(tmp_path: pathlib.Path, forked: Workers, scene: Scene) -> None:
    """Also while it recovers from having been killed."""
    _killed(tmp_path, forked, scene, trials=scaled(2), in_a_row=KILLS_IN_A_ROW)


@pytest.mark.soak
def test_killed_while_another_embedder_takes_over(
    tmp_path: pathlib.Path, forked: Workers, embedder_scene: Scene
) -> None:
    _killed(tmp_path, forked, embedder_scene, trials=scaled(1), in_a_row=1)


@pytest.mark.soak
def test_killed_while_readers_change(tmp_path: pathlib.Path, forked: Workers, readers_scene: Scene) -> None:
    """What is stored, and what both indexes hold, is for the new readers in the end."""
    _killed(tmp_path, forked, readers_scene, trials=scaled(1), in_a_row=KILLS_IN_A_ROW)
    new = reader_set_of({"slack:T/@U2"})
    entries = [parts_of_entry(entry)[1] for entry in readers_scene.undisturbed["vector ids"]]
    assert sorted(set(entries)) == ["", new]
    assert entries.count(new) == 20


@pytest.mark.soak
def test_killed_at_any_time(tmp_path: pathlib.Path, forked: Workers, scene: Scene) -> None:
    drawn = random.Random(os.urandom(8))
    for trial in range(scaled(2)):
        folder = tmp_path / str(trial)
        shutil.copytree(scene.before, folder)
        delays = [drawn.uniform(0, scene.seconds) for _ in range(KILLS_IN_A_ROW)]
        for delay in delays:
            pid = forked.start(replace(scene.job, folder=str(folder)))
            time.sleep(delay)
            _signal(pid, signal.SIGKILL)
            forked.wait()
        _assert_same(folder, scene, f"killed after {delays} of {scene.seconds:.2f} s")


@pytest.mark.soak
def test_killed_while_chroma_rewrites_its_files(tmp_path: pathlib.Path, forked: Workers, large_scene: Scene) -> None:
    """Between its first file and its last: what is left belongs to two states, or ends in the middle."""
    drawn = random.Random(os.urandom(8))
    caught = 0
    for trial in range(4 * scaled(2)):
        folder = tmp_path / str(trial)
        shutil.copytree(large_scene.before, folder)
        # On a busy machine a rewriting may be over before it is seen: then the first that is seen will do.
        rewriting = drawn.randint(1, 3) if trial == caught else 1
        cut = drawn.choice((_is_begun, _is_cut))
        pid = forked.start(replace(large_scene.job, folder=str(folder)))
        caught += _kill_in_rewriting(pid, folder / CHROMA, rewriting, cut)
        forked.wait()
        _assert_same(folder, large_scene, f"killed in rewriting {rewriting}: {cut.__name__}")
        if caught >= scaled(2):
            break
    assert caught, "no kill came while Chroma rewrote its files, so this tested nothing"


def _kill_in_rewriting(
    pid: int, chroma: pathlib.Path, rewriting: int, cut: Callable[[pathlib.Path, float], bool]
) -> bool:
    """Kill a process while Chroma's files are half written for the n-th time or later; returns whether that came true.

    It is halted first, so that what is seen of the files is what the kill leaves.
    """
    began = seen = time.time()
    while _runs(pid):
        if not cut(chroma, seen):
            continue
        rewriting -= 1
        _signal(pid, signal.SIGSTOP)
        if rewriting <= 0 and cut(chroma, seen):
            _signal(pid, signal.SIGKILL)
            return True
        _signal(pid, signal.SIGCONT)
        while _runs(pid) and cut(chroma, seen):
            time.sleep(0.001)
        seen = max(_stamps(chroma, "*.*"), default=began)
    return False


def _is_begun(chroma: pathlib.Path, since: float) -> bool:
    """Whether the vectors have been written since, and their index, which is written last, has not."""
    index = max(_stamps(chroma, "index_metadata.pickle"), default=0.0)
    return max(_stamps(chroma, "data_level0.bin"), default=0.0) > max(since, index)


def _is_cut(chroma: pathlib.Path, since: float) -> bool:
    """Whether the index of the vectors is being written just now."""
    return any(size == 0 for size in _looks(chroma, "index_metadata.pickle", lambda status: status.st_size))


def _stamps(chroma: pathlib.Path, pattern: str) -> list[float]:
    return _looks(chroma, pattern, lambda status: status.st_mtime)


def _looks(chroma: pathlib.Path, pattern: str, look: Callable[[os.stat_result], float]) -> list[float]:
    found = []
    for path in chroma.glob(f"*/{pattern}"):
        with contextlib.suppress(FileNotFoundError):
            found.append(look(path.stat()))
    return found


def _runs(pid: int) -> bool:
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().split(") ")[1][0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def _signal(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def _assert_same(folder: pathlib.Path, scene: Scene, what: str) -> None:
    state = asyncio.run(_ended(folder, scene.target, scene.job))
    for name, expected in scene.undisturbed.items():
        assert state[name] == expected, f"{name} differs, {what}"
    shutil.rmtree(folder)


async def _ended(folder: pathlib.Path, target: dict[str, str], job: Job) -> dict[str, Any]:
    """Sync once more, undisturbed, and return the state of everything that is stored."""
    library = await Library.open(folder, embedder=HashEmbedder(name=job.embedder, dimension=job.dimension))
    try:
        await sync(library, target, readers=job.readers)
        for health in await check(library):
            assert health.state is IndexState.WELL, health
        return await _state(library)
    finally:
        await library.close()


async def _state(library: Library) -> dict[str, Any]:
    live = [c for c in documents.c if c.name not in {"revision", "indexed_at"}]
    state: dict[str, Any] = {}
    async with library.database.connect() as connection:
        for name, query in {
            "documents": select(*live).where(~documents.c.deleted).order_by(documents.c.id),
            "chunks": select(chunks).order_by(chunks.c.id),
            "vectors": select(vectors).order_by(vectors.c.key),
            "sums": select(vector_sums).order_by(vector_sums.c.language),
            "staged": select(staged),
        }.items():
            state[name] = [tuple(row) for row in await connection.execute(query)]
    state["keyword ids"] = await library.keywords.ids()
    state["keyword revision"] = await library.keywords.revision() == await library.registry.revision()
    state["vector ids"] = await library.vectors.ids("kb")
    state["found"] = await _finds_all(library)
    return state


async def _finds_all(library: Library) -> bool:
    """Whether every live chunk's vector stands in Chroma, as near as it is kept there, and a search finds it."""
    base = (await library.registry.knowledge_bases())["kb"]
    after = ""
    while page := await library.registry.live_page("kb", after=after):
        after = page[-1].chunk.id
        known = await library.vector_rows.get(base.embedder, [stored.vector_key for stored in page])
        kept = await library.vectors._chroma.vectors(base.collection, [stored.entry for stored in page])
        for n, stored in enumerate(page):
            if not np.allclose(kept[stored.entry], known[stored.vector_key], atol=1e-3):
                return False
            if n % 10 == 0:
                hits = await library.vectors.query("kb", known[stored.vector_key], 5)
                if stored.chunk.id not in {hit.chunk_id for hit in hits}:
                    return False
    return True
