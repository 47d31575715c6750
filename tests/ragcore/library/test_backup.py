import asyncio
import json
import os
import pathlib
import re
import signal
import stat
import sys
import zipfile
from collections.abc import Iterator

import pytest

from ragcore.errors import ConfigError, StoreError
from ragcore.library import DATABASE
from ragcore.library import backup as backup_module
from ragcore.library.backup import backup, restore
from ragcore.library.recovery import check, mend, recover
from ragcore.stores.database import Database
from ragcore.stores.health import IndexState
from ragcore.stores.lock import hold
from tests.fakes.embedding import HashEmbedder
from tests.fakes.libraries import fill, opened

ROOT = pathlib.Path(__file__).resolve().parents[2]
KILLED = """
import asyncio, os, pathlib, shutil, signal, sys
from ragcore.library.backup import restore

file, data, point = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), int(sys.argv[3])
changes = 0

def watched(change):
    def run(*args, **kwargs):
        global changes
        changes += 1
        if changes == point:
            os.kill(os.getpid(), signal.SIGKILL)
        return change(*args, **kwargs)
    return run

shutil.rmtree = watched(shutil.rmtree)
pathlib.Path.unlink = watched(pathlib.Path.unlink)
pathlib.Path.replace = watched(pathlib.Path.replace)
asyncio.run(restore(file, data))
"""
TEXTS = {f"d{n}": f"# Title {n}\n\nText {n}." for n in range(30)}


async def test_a_backup_taken_while_documents_come_in_is_restored_whole(tmp_path: pathlib.Path) -> None:
    data, file = tmp_path / "data", tmp_path / "to" / "backup.zip"
    file.parent.mkdir()
    async with opened(data) as library:
        await fill(library, TEXTS)
        filling = asyncio.create_task(fill(library, {f"e{n}": f"More {n}" for n in range(200)}))
        await asyncio.sleep(0.05)
        manifest = await backup(library.database, file)
        await filling
        await fill(library, {"d0": "changed after the backup"})
    assert manifest.documents >= 30
    assert [path.name for path in (tmp_path / "to").iterdir()] == ["backup.zip"]
    restored = await restore(file, data)
    assert restored == manifest
    embedder = HashEmbedder()
    async with opened(data, embedder) as library:
        assert {health.state for health in library.health} == {IndexState.DAMAGED}, "the indexes are to be filled"
        async for _ in mend(library):
            pass
        assert {health.state for health in await check(library)} == {IndexState.WELL}
        assert len(await library.registry.document_ids("s")) == manifest.documents
        (chunk,) = await library.registry.chunks_of(["s:d0"])
        assert chunk.text.endswith("Text 0.")
    assert embedder.texts == [], "the vectors came with the backup"


async def test_no_folder_is_made_for_a_backup(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path / "data") as library:
        with pytest.raises(ConfigError, match="there is no folder"):
            await backup(library.database, tmp_path / "nope" / "backup.zip")
    assert not (tmp_path / "nope").exists()


async def test_restoring_over_nothing_and_over_rubbish(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "backup.zip"
    async with opened(tmp_path / "data") as library:
        await fill(library, TEXTS)
        await backup(library.database, file)
    other = tmp_path / "other"
    await restore(file, other)
    (other / DATABASE).write_bytes(b"rubbish" * 5_000)
    (other / f"{DATABASE}-wal").write_bytes(b"rubbish" * 5_000)
    await restore(file, other)
    async with opened(other) as library:
        assert len(await library.registry.document_ids("s")) == 30


async def test_what_is_no_whole_backup_changes_nothing(tmp_path: pathlib.Path) -> None:
    data, file = tmp_path / "data", tmp_path / "backup.zip"
    async with opened(data) as library:
        await fill(library, TEXTS)
        await backup(library.database, file)
    content = file.read_bytes()
    cut, flipped, text, stranger, newer = (tmp_path / name for name in ("cut", "flipped", "text", "stranger", "newer"))
    cut.write_bytes(content[: len(content) // 2])
    flipped.write_bytes(
        content[: len(content) // 2] + bytes([content[len(content) // 2] ^ 255]) + content[len(content) // 2 + 1 :]
    )
    text.write_text("hello")
    with zipfile.ZipFile(stranger, "w") as archive:
        archive.writestr("readme.txt", "hello")
    with zipfile.ZipFile(file) as old, zipfile.ZipFile(newer, "w") as archive:
        manifest = json.loads(old.read("manifest.json"))
        archive.writestr("manifest.json", json.dumps({**manifest, "schema": "9999"}))
        archive.writestr(DATABASE, old.read(DATABASE))
    mend = "take a file that `citebot backup` wrote"
    mends = {
        cut: mend,
        flipped: "",
        text: mend,
        stranger: mend,
        newer: "newer Citebot",
        tmp_path / "missing": "missing",
    }
    for bad, told in mends.items():
        with pytest.raises(StoreError, match=re.escape(bad.name)) as error:
            await restore(bad, data)
        assert told in str(error.value)
    async with opened(data) as library:
        await recover(library)
        assert list(library.health) == [], "database and indexes are as they were"
        assert len(await library.registry.document_ids("s")) == 30


@pytest.mark.parametrize(
    "point", [pytest.param(point, marks=() if point == 5 else pytest.mark.soak) for point in (2, 3, 4, 5, 6, 7, 9)]
)
async def test_a_restore_that_is_killed_leaves_the_old_or_the_new(tmp_path: pathlib.Path, point: int) -> None:
    """A real process, killed before its n-th change of a file in the data directory; the last point lets it live."""
    data, file = tmp_path / "data", tmp_path / "backup.zip"
    async with opened(data) as library:
        await fill(library, {"d0": "old"})
        await backup(library.database, file)
        await fill(library, {"d0": "new", "d1": "new, too"})
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", KILLED, str(file), str(data), str(point), env={**os.environ, "PYTHONPATH": str(ROOT)}
    )
    code = await process.wait()
    assert code == (0 if point == 9 else -signal.SIGKILL)
    async with opened(data) as library:
        async for _ in mend(library):
            pass
        assert {health.state for health in await check(library)} == {IndexState.WELL}
        texts = [chunk.text for chunk in await library.registry.chunks_of(["s:d0", "s:d1"])]
    assert texts in (["old"], ["new", "new, too"]) if code else texts == ["old"]


async def test_postgresql_is_told_to_use_its_own_tools(postgres_url: str, tmp_path: pathlib.Path) -> None:
    database = await Database.open(postgres_url)
    with pytest.raises(ConfigError, match="pg_dump"):
        await backup(database, tmp_path / "x.zip")
    await database.close()


@pytest.fixture
def open_handed() -> Iterator[None]:
    """Let whatever is created be readable by everybody, unless it says otherwise."""
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.mark.usefixtures("open_handed")
async def test_what_holds_documents_is_for_its_owner_alone_at_every_moment(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    to, data = tmp_path / "to", tmp_path / "data"
    to.mkdir()
    data.mkdir()
    modes: dict[str, set[int]] = {}

    def look(*folders: pathlib.Path) -> None:
        for path in (path for folder in folders for path in folder.iterdir() if path.is_file()):
            modes.setdefault(path.name.rpartition(".")[2], set()).add(stat.S_IMODE(path.stat().st_mode))

    # Whenever a block is hashed or flushed, one of the files has just been written.
    for name in ("_hash", "_flush", "_describe"):
        real = getattr(backup_module, name)
        monkeypatch.setattr(backup_module, name, lambda *given, real=real: (look(to, data), real(*given))[1])
    async with opened(data) as library:
        await fill(library, {"d": "Our salaries."})
        look(data)
        await backup(library.database, to / "backup.zip")
    await restore(to / "backup.zip", data)
    look(to, data)
    assert {"sqlite", "sqlite-wal", "zip"} < modes.keys()
    assert set().union(*modes.values()) == {0o600}, modes


@pytest.mark.usefixtures("open_handed")
async def test_a_new_data_directory_is_for_its_owner_alone(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path / "opened"):
        pass
    async with hold(tmp_path / "held", command="run"):
        pass
    for name in ("opened", "held"):
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o700
