"""A folder as a source: which documents it has, under which names and addresses."""

import asyncio
import json
import os
import pathlib
import time
import unicodedata

import pytest
from pydantic import ValidationError

from connectors.base import Origin
from connectors.files import FilesConnector, FilesOptions
from ragcore.errors import SourceError, SourceGone
from tests.connectors.helpers import collect, files, listed, names, put


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


async def test_the_home_of_nobody_is_a_folder_that_is_missing(tmp_path):
    connector = FilesConnector(Origin(source="s", folder=tmp_path), FilesOptions(path="~nobody-of-this-name/docs"))
    with pytest.raises(SourceGone, match="~nobody-of-this-name/docs is not there; mend `path`"):
        await collect(connector.changes(None, {}))


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
