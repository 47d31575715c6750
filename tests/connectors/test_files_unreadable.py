"""Links, special and huge files, and what cannot be read: told, and never in the way of the rest."""

import asyncio
import errno
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import threading

import pytest

from connectors.base import Estimate
from connectors.files import walk
from connectors.files.place import Unread
from connectors.files.reading import read_whole
from tests.connectors.helpers import collect, files, known_of, listed, names, put

ROOT = pathlib.Path(__file__).resolve().parents[2]


async def test_links_stay_inside_and_nothing_is_found_twice(tmp_path):
    root = tmp_path / "root"
    put(root, "a.md")
    put(root, "sub/b.md")
    put(root, ".data/c.md")
    put(root, ".data/deep/d.md")
    put(tmp_path, "outside/secret.md")
    (root / "out").symlink_to(tmp_path / "outside")
    (root / "out.md").symlink_to(tmp_path / "outside/secret.md")
    (root / "loop").symlink_to(root)
    (root / "sub/up").symlink_to("..")
    (root / ".data/deep/circle").symlink_to(root / ".data")
    (root / "again.md").symlink_to(root / "a.md")
    (root / "sub-again").symlink_to(root / "sub")
    (root / "nowhere.md").symlink_to(root / "gone.md")
    (root / "self.md").symlink_to(root / "self.md")
    (root / "c.md").symlink_to(root / ".data/c.md")
    (root / "data").symlink_to(root / ".data")
    assert await names(root) == ["a.md", "c.md", "data/c.md", "data/deep/d.md", "sub/b.md"]
    link = tmp_path / "link"
    link.symlink_to(root)
    assert "a.md" in await names(link)


async def test_special_files_are_never_opened(tmp_path, monkeypatch):
    put(tmp_path, "a.md")
    os.mkfifo(tmp_path / "fifo.md")
    with socket.socket(socket.AF_UNIX) as listener:
        monkeypatch.chdir(tmp_path)  # an address may have 108 bytes at most
        listener.bind("socket.md")
        assert await asyncio.wait_for(names(tmp_path), 5) == ["a.md"]


def test_a_fifo_in_place_of_a_file_does_not_block(tmp_path):
    os.mkfifo(tmp_path / "x")
    assert read_whole(tmp_path / "x", limit=10) == Unread(
        reason="it is no regular file any more", mend="remove it, or exclude it"
    )


async def test_a_huge_file_is_told_without_being_opened(tmp_path, monkeypatch):
    with (tmp_path / "huge.pdf").open("wb") as file:
        file.truncate(500_000_000)
    put(tmp_path, "a.md")
    monkeypatch.setattr(
        "connectors.files.reading.os.open",
        lambda path, *rest, real=os.open: (
            pytest.fail("opened") if str(path).endswith("huge.pdf") else real(path, *rest)
        ),
    )
    documents, failures, _, _ = await collect(files(tmp_path).changes(None, {}))
    assert documents.keys() == {"s:a.md"}
    assert failures["s:huge.pdf"].reason == "it has 500 MB, more than the limit of 200 MB"
    assert "max_megabytes" in failures["s:huge.pdf"].mend


async def test_a_file_that_vanishes_is_a_failure_and_the_rest_goes_on(tmp_path, monkeypatch):
    put(tmp_path, "a.md")
    put(tmp_path, "b.md")

    def vanish(path, *, limit):
        if path.name == "a.md":
            path.unlink(missing_ok=True)
        return read_whole(path, limit=limit)

    monkeypatch.setattr("connectors.files.local.read_whole", vanish)
    connector = files(tmp_path)
    documents, failures, gone, _ = await collect(connector.changes(None, {}))
    assert documents.keys() == {"s:b.md"}
    assert failures["s:a.md"].reason == "it vanished while it was read"
    assert not gone
    assert (await listed(connector))[0] == {"s:b.md"}
    put(tmp_path, "a.md")
    documents, failures, gone, _ = await collect(files(tmp_path).fetch(["s:a.md", "s:b.md"]))
    assert (documents.keys(), failures, gone) == ({"s:b.md"}, {}, {"s:a.md"})


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (PermissionError(13, "Permission denied"), "it cannot be read: Permission denied"),
        (OSError(5, "Input/output error"), "it cannot be read: Input/output error"),
    ],
)
async def test_an_unreadable_file_is_a_failure(tmp_path, monkeypatch, error, reason):
    put(tmp_path, "a.md")
    put(tmp_path, "b.md")

    def refuse(path, *rest, real=os.open):
        if str(path).endswith("a.md"):
            raise error
        return real(path, *rest)

    monkeypatch.setattr("connectors.files.reading.os.open", refuse)
    documents, failures, _, _ = await collect(files(tmp_path).changes(None, {}))
    assert documents.keys() == {"s:b.md"}
    assert failures["s:a.md"].reason == reason
    assert failures["s:a.md"].mend


async def test_a_folder_that_cannot_be_listed_covers_what_is_in_it(tmp_path, monkeypatch):
    put(tmp_path, "a.md")
    put(tmp_path, "closed/b.md")
    real = os.scandir

    def refuse(path):
        if str(path).endswith("closed"):
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr("connectors.files.walk.os.scandir", refuse)
    documents, failures, _, _ = await collect(files(tmp_path).changes(None, {}))
    assert documents.keys() == {"s:a.md"}
    assert failures["s:closed/"].covers == "s:closed/"
    ids, failures = await listed(files(tmp_path))
    assert ids == {"s:a.md"}
    assert failures["s:closed/"].covers == "s:closed/"


READ_WHAT_IS_OPEN = """
import asyncio, pathlib, sys
from tests.connectors.helpers import collect, files
_, failures, _, _ = asyncio.run(collect(files(pathlib.Path(sys.argv[1])).changes(None, {})))
print(*sorted(failures), sep="\\n")
"""


def test_a_closed_folder_and_file_for_real(tmp_path):
    command = [sys.executable, "-c", READ_WHAT_IS_OPEN, str(tmp_path)]
    if os.geteuid() == 0:  # root may read everything, unless it gives that up
        if not shutil.which("setpriv"):
            pytest.skip("root may read everything, and without setpriv (util-linux) it can't give that up")
        command = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search", *command]
    put(tmp_path, "closed/b.md")
    put(tmp_path, "a.md").chmod(0)
    (tmp_path / "closed").chmod(0)
    put(tmp_path, "listed/c.md")
    put(tmp_path, "listed/left out.tmp")
    put(tmp_path, "listed/below/d.md")
    (tmp_path / "listed/link.md").symlink_to(tmp_path / "a.md")
    (tmp_path / "in.md").symlink_to(tmp_path / "closed/b.md")
    (tmp_path / "listed").chmod(0o600)  # its names may be read, and nothing else of what is in it
    try:
        ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=60)
    finally:
        (tmp_path / "closed").chmod(0o700)
        (tmp_path / "listed").chmod(0o700)
    expected = ["s:a.md", "s:closed/", "s:in.md", "s:listed/below", "s:listed/c.md", "s:listed/link.md"]
    assert ran.stdout.split() == expected


@pytest.mark.parametrize("number", [errno.EACCES, errno.EIO, errno.ESTALE, errno.ETIMEDOUT])
async def test_what_cannot_be_looked_at_is_not_taken_for_gone(tmp_path, monkeypatch, number):
    put(tmp_path, "a.md")
    put(tmp_path, "far/b.md")

    class Entry:
        def __init__(self, entry):
            self.name, self.path, self.is_file = entry.name, entry.path, entry.is_file

        def stat(self, *, follow_symlinks):
            if "b.md" in self.name or ".md" not in self.name:
                raise OSError(number, os.strerror(number))
            return os.stat(self.path, follow_symlinks=follow_symlinks)

    real = walk._listed
    monkeypatch.setattr(walk, "_listed", lambda folder: map(Entry, real(folder)))
    ids, failures = await listed(files(tmp_path))
    assert ids == {"s:a.md"}
    assert failures["s:far"].covers == "s:far/"
    assert os.strerror(number) in failures["s:far"].reason
    ids, failures = await listed(files(tmp_path / "far"))
    assert (ids, failures.keys(), failures["s:b.md"].covers) == (set(), {"s:b.md"}, "")


async def test_a_share_that_answers_no_more_takes_no_thread_from_others(tmp_path, monkeypatch):
    put(tmp_path, "a.md")
    answers = threading.Event()
    real = walk._listed
    monkeypatch.setattr(walk, "_listed", lambda folder: answers.wait(60) and real(folder))
    for _ in range(40):  # more than the threads that asyncio shares out
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(collect(files(tmp_path).changes(None, {})), 0.01)
    assert await asyncio.wait_for(asyncio.to_thread(lambda: "free"), 5) == "free"
    answers.set()
    documents, _, _, _ = await collect(files(tmp_path).changes(None, {}))
    assert documents.keys() == {"s:a.md"}


async def test_a_long_walk_is_never_silent_for_long(tmp_path, monkeypatch):
    monkeypatch.setattr("connectors.files.connector._SIGN", 3)
    for number in range(10):
        put(tmp_path, f"{number}.md")
    documents, _, _, _ = await collect(files(tmp_path).changes(None, {}))
    told = [change async for change in files(tmp_path).changes(None, known_of(documents))]
    assert len([change for change in told if isinstance(change, Estimate)]) == 4
