"""What has changed in a folder is read, and nothing else."""

import asyncio
import os

import pytest

from connectors.files.place import Unread
from connectors.files.reading import Content, read_whole
from connectors.files.walk import version_of
from tests.connectors.helpers import collect, files, known_of, put, settle


async def test_unchanged_files_are_not_read(tmp_path, monkeypatch):
    settle(monkeypatch)
    for number in range(200):
        put(tmp_path, f"{number}.md", str(number))
    documents, _, _, cursor = await collect(files(tmp_path).changes(None, {}))
    monkeypatch.setattr("connectors.files.local.read_whole", lambda *_, **__: pytest.fail("a file was read"))
    again, failures, _, _ = await collect(files(tmp_path).changes(cursor, known_of(documents)))
    assert not again
    assert not failures


async def test_a_change_shows_even_with_the_old_date_and_size(tmp_path, monkeypatch):
    settle(monkeypatch)
    path = put(tmp_path, "a.md", "old")
    documents, _, _, _ = await collect(files(tmp_path).changes(None, {}))
    status = path.stat()
    await asyncio.sleep(0.02)
    replacement = put(tmp_path, "b.md", "new")
    os.utime(replacement, ns=(status.st_atime_ns, status.st_mtime_ns))
    replacement.rename(path)
    documents, _, _, _ = await collect(files(tmp_path).changes(None, known_of(documents)))
    assert documents["s:a.md"].content == b"new"


async def test_a_fresh_file_has_no_version_yet(tmp_path):
    path = put(tmp_path, "a.md")
    status = path.stat()
    newest = max(status.st_mtime_ns, status.st_ctime_ns)
    assert version_of(status, salt="", now=newest + 1_000_000) == ""
    assert version_of(status, salt="", now=newest + 5_000_000_000) != ""
    assert version_of(status, salt="", now=newest - 5_000_000_000) != "", "a clock that is wrong is not waited for"


async def test_another_base_url_makes_every_file_due(tmp_path, monkeypatch):
    settle(monkeypatch)
    put(tmp_path, "a.md")
    documents, _, _, _ = await collect(files(tmp_path).changes(None, {}))
    again, _, _, _ = await collect(files(tmp_path, base_url="https://x.example").changes(None, known_of(documents)))
    assert again.keys() == documents.keys()


def test_a_file_that_changes_while_it_is_read_is_read_again(tmp_path, monkeypatch):
    path = put(tmp_path, "a.md", "one")
    times = [2]

    def status(descriptor, real=os.fstat):
        if times[0]:
            times[0] -= 1
            with path.open("a") as file:
                file.write("more")
        return real(descriptor)

    monkeypatch.setattr("connectors.files.reading.os.fstat", status)
    found = read_whole(path, limit=1000)
    assert isinstance(found, Content)
    assert found.content == b"onemoremore"
    times[0] = 99
    assert read_whole(path, limit=1000) == Unread(
        reason="it kept changing while it was read", mend="sync again when it is complete"
    )
