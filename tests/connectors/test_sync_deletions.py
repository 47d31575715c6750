"""Deletions in a run: a listing that came back short deletes nothing before it is confirmed; tombstones do."""

import openpyxl
import pytest

from connectors.sync import WAIT
from tests.connectors.helpers import files, later, live, memory_of, put, run, settle, thirty
from tests.fakes.libraries import opened


@pytest.fixture
async def library(tmp_path):
    async with opened(tmp_path / "data") as found:
        yield found


async def test_a_short_listing_deletes_nothing_until_a_later_one_agrees(library, monkeypatch):
    memory = thirty()
    await run(library, memory.connector())
    memory.hidden = {f"d{number:02}" for number in range(11)}
    report = await run(library, memory.connector())
    assert report.deleted == 0
    assert "11 of 30 documents are missing" in report.warnings[0]
    assert report.is_success
    assert (await run(library, memory.connector())).deleted == 0
    async with later(monkeypatch, WAIT):
        report = await run(library, memory.connector())
    assert report.deleted == 11
    assert len(await live(library)) == 19


async def test_a_listing_that_was_a_mistake_deletes_nothing(library, monkeypatch):
    memory = thirty()
    await run(library, memory.connector())
    memory.hidden = set(memory.texts)
    assert (await run(library, memory.connector())).warnings
    memory.hidden = set()
    assert not (await run(library, memory.connector())).warnings
    memory.hidden = set(memory.texts)
    async with later(monkeypatch, WAIT * 2):
        report = await run(library, memory.connector())
    assert report.deleted == 0
    assert len(await live(library)) == 30


async def test_a_full_run_asks_and_deletes(library):
    memory = thirty()
    await run(library, memory.connector())
    memory.hidden = set(memory.texts)
    asked = []

    async def refuse(count):
        asked.append(count)
        return False

    report = await run(library, memory.connector(), full=True, confirm=refuse)
    assert asked == [30]
    assert (report.deleted, len(report.warnings)) == (0, 1)
    report = await run(library, memory.connector(), full=True)
    assert report.deleted == 30
    assert not await live(library)


async def test_a_full_run_does_not_ask_about_few(library):
    memory = thirty()
    await run(library, memory.connector())
    memory.drop("d00")

    async def refuse(count):
        pytest.fail("asked")

    assert (await run(library, memory.connector(), full=True, confirm=refuse)).deleted == 1


async def test_another_folder_in_its_place_deletes_nothing(library, tmp_path, monkeypatch):
    """A share mounted in the wrong place lists much, and none of what was there."""
    settle(monkeypatch)
    for number in range(12):
        put(tmp_path / "right", f"r{number}.md", f"page {number}")
    for number in range(40):
        put(tmp_path / "wrong", f"w{number}.md", f"other {number}")
    docs = tmp_path / "docs"
    docs.symlink_to(tmp_path / "right")
    assert (await run(library, files(docs))).added == 12
    docs.unlink()
    docs.symlink_to(tmp_path / "wrong")
    report = await run(library, files(docs))
    assert (report.added, report.deleted) == (40, 0)
    assert "12 of 12 documents are missing" in report.warnings[0]
    docs.unlink()
    docs.symlink_to(tmp_path / "right")
    report = await run(library, files(docs), full=True)
    assert report.deleted == 40
    assert "40 of 52 documents" in report.warnings[0]


async def test_a_full_run_says_that_it_deleted_much(library):
    memory = thirty()
    await run(library, memory.connector())
    memory.hidden = set(memory.texts)
    report = await run(library, memory.connector(), full=True)
    assert report.deleted == 30
    assert "30 of 30 documents" in report.warnings[0]
    assert "deleted" in report.warnings[0]


async def test_what_stood_in_an_emptied_document_is_deleted(library):
    memory = thirty()
    await run(library, memory.connector())
    memory.put("d03", "  ")
    report = await run(library, memory.connector())
    assert (report.deleted, report.changed, [one.id for one in report.failed]) == (1, 0, ["s:d03"])
    assert "its last version was deleted" in report.failed[0].reason
    assert "d03" not in await live(library)
    again = await run(library, memory.connector(), retry=False)
    assert (again.deleted, [one.id for one in again.failed]) == (0, ["s:d03"])
    memory.put("d03", "text again")
    assert (await run(library, memory.connector())).is_success
    assert "d03" in await live(library)


@pytest.mark.parametrize("lists", [True, False])
async def test_a_source_that_was_emptied_all_over_keeps_its_documents_until_a_later_run_agrees(
    library, monkeypatch, lists
):
    memory = thirty()
    memory.lists = lists
    await run(library, memory.connector())
    for name in memory.texts:
        memory.put(name, "")
    report = await run(library, memory.connector())
    assert report.deleted == 0
    assert "30 of 30 documents are missing from the listing or empty" in report.warnings[0]
    assert (await run(library, memory.connector(), retry=False)).deleted == 0
    memory.put("d07", "text 7")
    async with later(monkeypatch, WAIT):
        report = await run(library, memory.connector(), retry=False)
    assert report.deleted == 29
    assert await live(library) == {"d07"}


async def test_a_document_that_can_not_be_read_keeps_its_last_version(library, tmp_path, monkeypatch):
    settle(monkeypatch)
    for name in ("a", "b", "c"):
        put(tmp_path, f"docs/{name}.md", f"text of {name}")
    await run(library, files(tmp_path / "docs"))
    put(tmp_path, "docs/a.md", b"%PDF-1.7 cut off")
    put(tmp_path, "docs/b.md", b"")
    report = await run(library, files(tmp_path / "docs"))
    assert [one.id for one in report.failed] == ["s:a.md", "s:b.md"]
    assert await live(library) == {"a.md", "c.md"}


async def test_what_could_not_be_read_of_a_document_is_told(library, tmp_path):
    book = openpyxl.Workbook()
    book.active.append(["Name", "Phone"])
    book.active.append(["Ann", "123"])
    book.create_sheet("Salaries").sheet_state = "hidden"
    (tmp_path / "docs").mkdir()
    for number in range(25):
        book.save(tmp_path / f"docs/book{number:02}.xlsx")
    report = await run(library, files(tmp_path / "docs"))
    assert report.is_success
    assert report.warnings[0] == "s:book00.xlsx: hidden sheet left out: Salaries"
    assert report.warnings[20:] == ("5 more remarks like these",)


async def test_a_dry_full_run_counts_what_it_would_delete(library):
    memory = thirty()
    await run(library, memory.connector())
    memory.hidden = set(memory.texts)
    assert (await run(library, memory.connector(), dry_run=True)).deleted == 0
    assert (await run(library, memory.connector(), dry_run=True, full=True)).deleted == 30
    assert len(await live(library)) == 30


async def test_a_source_that_cannot_list_deletes_by_tombstones(library):
    memory = memory_of(a="one", b="two")
    memory.lists = False
    await run(library, memory.connector())
    memory.drop("a")
    report = await run(library, memory.connector())
    assert (report.added, report.changed, report.deleted, report.unchanged, report.failed) == (0, 0, 1, 1, ())
    memory.drop("b")
    memory.put("b", "again")
    report = await run(library, memory.connector())
    assert (report.added, report.changed, report.deleted, report.unchanged, report.failed) == (0, 1, 0, 0, ())
    assert await live(library) == {"b"}
