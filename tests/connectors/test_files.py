import asyncio
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from connectors.base import Origin
from connectors.files import FilesConnector, FilesOptions
from connectors.files.patterns import Selection
from connectors.files.reading import Unread, Whole, read_whole
from connectors.files.walk import version_of
from ragcore.errors import SourceError, SourceGone
from tests.connectors.helpers import collect, files, listed, put, settle

ROOT = pathlib.Path(__file__).resolve().parents[2]


def known_of(documents):
    return {identity: document.version for identity, document in documents.items()}


async def names(root, **options):
    documents, failures, _, _ = await collect(files(root, **options).changes(None, {}))
    assert not failures
    ids, failures = await listed(files(root, **options))
    assert not failures
    assert ids == documents.keys(), "a listing shows what a sync takes"
    return sorted(identity.removeprefix("s:") for identity in ids)


async def test_a_folder_is_read_recursively(tmp_path):
    put(tmp_path, "a.md", "# A")
    put(tmp_path, "sub/deep/b c.txt", "b")
    documents, _, _, _ = await collect(files(tmp_path).changes(None, {}))
    assert documents["s:a.md"].content == b"# A"
    assert documents["s:a.md"].name == "a.md"
    assert documents["s:a.md"].url == (tmp_path / "a.md").as_uri()
    assert documents["s:a.md"].updated_at is not None
    assert documents["s:sub/deep/b c.txt"].url.endswith("/sub/deep/b%20c.txt")


async def test_what_is_no_document_is_left_out(tmp_path):
    for name in ("a.md", "~$a.docx", ".hidden.md", ".git/config", "x/.DS_Store", "b.tmp", "pic.PNG", "Thumbs.db",
                 "node_modules/x.js", "__MACOSX/a.md", "c.md~"):  # fmt: skip
        put(tmp_path, name)
    assert await names(tmp_path) == ["a.md"]
    assert await names(tmp_path, hidden=True) == [".git/config", ".hidden.md", "a.md", "x/.DS_Store"]
    assert await names(tmp_path, include=("*.png",)) == ["pic.PNG"]


@pytest.mark.parametrize(
    ("include", "exclude", "expected"),
    [
        (("*.md",), (), ["a.md", "docs/b.MD", "docs/old/c.md"]),
        (("docs/*.md",), (), ["docs/b.MD"]),
        (("docs/**/*.md",), (), ["docs/b.MD", "docs/old/c.md"]),
        (("docs",), (), ["docs/b.MD", "docs/d.txt", "docs/old/c.md"]),
        (("**",), (), ["a.md", "docs/b.MD", "docs/d.txt", "docs/old/c.md"]),
        ((), ("old",), ["a.md", "docs/b.MD", "docs/d.txt"]),
        ((), ("docs/old/**",), ["a.md", "docs/b.MD", "docs/d.txt"]),
        ((), ("docs/",), ["a.md"]),
        ((), ("/docs",), ["a.md"]),
        ((), ("/old",), ["a.md", "docs/b.MD", "docs/d.txt", "docs/old/c.md"]),
        ((), ("[ab].md",), ["docs/d.txt", "docs/old/c.md"]),
        ((), ("[!ab].*",), ["a.md", "docs/b.MD"]),
        (("?.md",), ("**/old/**",), ["a.md", "docs/b.MD"]),
    ],
)
async def test_patterns(tmp_path, include, exclude, expected):
    for name in ("a.md", "docs/b.MD", "docs/d.txt", "docs/old/c.md"):
        put(tmp_path, name)
    assert await names(tmp_path, include=include, exclude=exclude) == expected


@given(st.text(alphabet="ab*?/[]!.^-&~|\\ \n", max_size=12), st.text(alphabet="ab/.*[]", max_size=8))
def test_any_pattern_is_one_or_is_refused(pattern, path):
    try:
        options = FilesOptions(path="x", include=(pattern,))
    except ValidationError:
        return
    Selection.of(options.include, (), hidden=False).takes(path)


@given(st.lists(st.sampled_from(["a", "b.md", "c"]), min_size=1, max_size=4))
def test_a_path_is_its_own_pattern(parts):
    path = "/".join(parts)
    selection = Selection.of((path,), (), hidden=False)
    assert selection.takes(path)
    assert selection.takes(f"{path}/below")
    assert not selection.takes(f"{path}x")


async def test_base_url_takes_the_path_encoded(tmp_path):
    put(tmp_path, "sub/ä b#?.md")
    for base_url in ("https://wiki.example/{path}", "https://wiki.example/"):
        documents, _, _, _ = await collect(files(tmp_path, base_url=base_url).changes(None, {}))
        assert documents["s:sub/ä b#?.md"].url == "https://wiki.example/sub/%C3%A4%20b%23%3F.md"
    with pytest.raises(ValidationError):
        FilesOptions(path="x", base_url="javascript:alert(1)")


async def test_relative_paths_are_relative_to_the_settings(tmp_path):
    put(tmp_path, "docs/a.md")
    connector = FilesConnector(Origin(source="s", folder=tmp_path), FilesOptions(path="docs"))
    assert (await listed(connector))[0] == {"s:a.md"}


async def test_a_single_file_is_a_source_too(tmp_path):
    path = put(tmp_path, "a.md", "x")
    assert await names(path) == ["a.md"]


async def test_unchanged_files_are_not_read(tmp_path, monkeypatch):
    settle(monkeypatch)
    for number in range(200):
        put(tmp_path, f"{number}.md", str(number))
    documents, _, _, cursor = await collect(files(tmp_path).changes(None, {}))
    monkeypatch.setattr("connectors.files.connector.read_whole", lambda *_, **__: pytest.fail("a file was read"))
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

    monkeypatch.setattr("connectors.files.connector.read_whole", vanish)
    documents, failures, _, _ = await collect(files(tmp_path).changes(None, {}))
    assert documents.keys() == {"s:b.md"}
    assert failures["s:a.md"].reason == "it vanished while it was read"


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
from tests.connectors.test_files import collect, files
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
    try:
        ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=60)
    finally:
        (tmp_path / "closed").chmod(0o700)
    assert ran.stdout.split() == ["s:a.md", "s:closed/"]


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
    assert isinstance(found, Whole)
    assert found.content == b"onemoremore"
    times[0] = 99
    assert read_whole(path, limit=1000) == Unread(
        reason="it kept changing while it was read", mend="sync again when it is complete"
    )


async def test_a_missing_folder_is_an_error_and_never_empty(tmp_path):
    for connector in (files(tmp_path / "none"), files(tmp_path / "none/deeper")):
        with pytest.raises(SourceGone, match="is not there; mend `path`"):
            await collect(connector.changes(None, {}))
        with pytest.raises(SourceGone):
            await listed(connector)
        with pytest.raises(SourceGone):
            await collect(connector.fetch(["s:a.md"]))
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(SourceError, match="neither a folder nor a file"):
        await listed(files(tmp_path / "fifo"))


async def test_names_are_composed_and_twins_are_told(tmp_path):
    composed, apart = unicodedata.normalize("NFC", "é.md"), unicodedata.normalize("NFD", "é.md")
    put(tmp_path, apart, "apart")
    documents, _, _, _ = await collect(files(tmp_path).changes(None, {}))
    assert documents[f"s:{composed}"].content == b"apart"
    put(tmp_path, composed, "composed")
    documents, failures, _, _ = await collect(files(tmp_path).changes(None, {}))
    assert documents.keys() == {f"s:{composed}"}
    assert [failure.mend for failure in failures.values()] == ["rename one of them"]
    assert not failures.keys() & documents.keys()


async def test_a_name_that_is_no_utf8_is_told(tmp_path):
    put(tmp_path, "a.md")
    try:
        os.mknod(os.fsencode(tmp_path) + b"/caf\xe9.md")
        os.mkdir(os.fsencode(tmp_path) + b"/d\xff")
    except OSError:
        pytest.skip("this file system takes only UTF-8")
    documents, failures, _, _ = await collect(files(tmp_path).changes(None, {}))
    assert documents.keys() == {"s:a.md"}
    assert failures["s:caf\\xe9.md"].reason == "its name is not valid UTF-8"
    assert failures["s:d\\xff"].covers == "s:d\\xff/"
    json.dumps([failure.id for failure in failures.values()]).encode("utf-8")


async def test_folders_may_be_nested_deeper_than_calls(tmp_path):
    folder = tmp_path
    for _ in range(400):  # what a recursion with three calls a folder could not do
        folder = folder / "d"
        folder.mkdir()
    put(tmp_path, "a.md")
    put(folder, "b.md")
    assert await names(tmp_path) == ["a.md", "d/" * 400 + "b.md"]


async def test_fetch_reads_by_id(tmp_path):
    put(tmp_path, "a.md", "A")
    put(tmp_path, "b.md", "B")
    put(tmp_path, ".c.md", "C")
    documents, failures, gone, _ = await collect(files(tmp_path).fetch(["s:a.md", "s:.c.md", "s:../x", "s:none"]))
    assert {identity: document.content for identity, document in documents.items()} == {"s:a.md": b"A"}
    assert not failures
    assert gone == {"s:.c.md", "s:../x", "s:none"}


async def test_the_event_loop_is_never_held(tmp_path):
    for number in range(2000):
        put(tmp_path, f"{number % 50}/{number}.md", "x" * 1000)
    # The loop's own CPU time, since the machine is shared with other tests.
    longest, last = 0.0, time.thread_time()

    async def watch():
        nonlocal longest, last
        while True:
            await asyncio.sleep(0.001)
            now = time.thread_time()
            longest, last = max(longest, now - last), now

    watcher = asyncio.create_task(watch())
    await collect(files(tmp_path).changes(None, {}))
    watcher.cancel()
    assert longest < 0.3, "alone it is some milliseconds"


def test_options_are_checked():
    with pytest.raises(ValidationError):
        FilesOptions(path="x", include=("[z-a]",))
    with pytest.raises(ValidationError):
        FilesOptions(path="")
    with pytest.raises(ValidationError):
        FilesOptions(path="x", max_megabytes=0)
    assert pathlib.Path(FilesOptions(path="x").path) == pathlib.Path("x")
