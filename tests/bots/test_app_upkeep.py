"""Deletions that are asked about first, and what the doctor finds and mends."""

import pathlib

import pytest

from bots.app import diagnosing
from bots.requests import (
    BackedUp,
    Backup,
    Check,
    Decide,
    Diagnose,
    Doubt,
    Sync,
)
from ragcore.reports import SyncReport
from tests.bots.handbook import SETTINGS, opened, told


async def test_much_is_deleted_only_when_agreed(home: pathlib.Path) -> None:
    for number in range(14):
        (home / "handbook" / f"page-{number}.txt").write_text(f"Page {number} says something.")
    async with opened(home) as (operations, _):
        await told(operations, Sync())
        for number in range(14):
            (home / "handbook" / f"page-{number}.txt").unlink()

        async def full(agreed: bool) -> SyncReport:
            reports = []
            async for event in operations.run(Sync(sources=("handbook",), full=True, ask_first=True)):
                if isinstance(event, Doubt):
                    assert (event.source, event.documents) == ("handbook", 14)
                    await told(operations, Decide(doubt=event.id, agreed=agreed))
                elif isinstance(event, SyncReport):
                    reports.append(event)
            return reports[0]

        (guarded,) = [e for e in await told(operations, Sync(sources=("handbook",))) if isinstance(e, SyncReport)]
        assert guarded.deleted == 0
        assert guarded.warnings
        assert (await full(agreed=False)).deleted == 0
        assert (await full(agreed=True)).deleted == 14


async def test_documents_of_a_source_without_settings_are_told_and_go_with_a_full_run(home: pathlib.Path) -> None:
    async with opened(home) as (operations, _):
        await told(operations, Sync())
    (home / "citebot.toml").write_text(SETTINGS.rpartition("[[sources]]")[0])
    async with opened(home) as (operations, _):
        reports = [event for event in await told(operations, Sync()) if isinstance(event, SyncReport)]
        assert reports[-1].source == "secret"
        assert "sync --full" in reports[-1].warnings[0]
        reports = [event for event in await told(operations, Sync(full=True)) if isinstance(event, SyncReport)]
        assert (reports[-1].source, reports[-1].deleted) == ("secret", 1)


async def test_the_doctor_tells_of_unused_vectors_when_they_take_much_room(
    home: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(home) as (operations, _):
        await told(operations, Sync())

        async def line() -> list[str]:
            checks = [event for event in await told(operations, Diagnose()) if isinstance(event, Check)]
            return [check.found for check in checks if check.name == "unused vectors"]

        assert await line() == []
        monkeypatch.setattr(diagnosing, "_MUCH", 1)
        assert await line() == []
        for file in (home / "handbook").glob("*.md"):
            file.write_text("# Another text\n\nOf which nobody had heard.")
        await told(operations, Sync())
        (found,) = await line()
        assert "no document uses" in found


def _spoil(data_dir: pathlib.Path) -> None:
    """Write rubbish over what both indexes can't do without."""
    for file in (data_dir / "keywords" / "meta.json", *(data_dir / "chroma").rglob("*.*")):
        if file.is_file():
            file.write_bytes(b"damaged" * 50)


async def test_the_doctor_finds_a_damaged_index_and_mends_it(home: pathlib.Path) -> None:
    async with opened(home) as (operations, _):
        await told(operations, Sync())
        checks = [event for event in await told(operations, Diagnose()) if isinstance(event, Check)]
        assert {check.state for check in checks if check.name.startswith("index")} == {"ok"}
        assert all(check.mend for check in checks if check.state != "ok")
    _spoil(home / ".citebot")
    async with opened(home, mending=False) as (operations, _):
        checks = [event for event in await told(operations, Diagnose()) if isinstance(event, Check)]
        damaged = {check.name: check for check in checks if check.name.startswith("index")}
        assert {"index: keywords", "index: vectors of handbook"} <= damaged.keys()
        for check in damaged.values():
            assert check.state == "fail"
            assert check.found.startswith("it is damaged: ")
            assert "--repair" in check.mend
        checks = [event for event in await told(operations, Diagnose(repair=True)) if isinstance(event, Check)]
        mended = {check.name: (check.state, check.found) for check in checks if check.name.startswith("index")}
        assert mended == dict.fromkeys(damaged, ("ok", "it was damaged, and has been built anew"))
    _spoil(home / ".citebot")
    # Every other start mends by itself.
    async with opened(home) as (operations, _):
        checks = [event for event in await told(operations, Diagnose()) if isinstance(event, Check)]
        assert {check.state for check in checks if check.name.startswith("index")} == {"ok"}
        (file,) = await told(operations, Backup(path=str(home / "backup.zip")))
        assert isinstance(file, BackedUp)
        assert (file.documents, (home / "backup.zip").stat().st_size) == (3, file.size)
        (home / "handbook").rename(home / "gone")
        checks = [event for event in await told(operations, Diagnose()) if isinstance(event, Check)]
        (source,) = [check for check in checks if check.name == "source handbook"]
        assert source.state == "fail"
