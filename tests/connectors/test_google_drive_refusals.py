"""What Google Drive refuses, with a reason that is known or without: of one file, of all, or for a while."""

import asyncio

import pytest
from aiohttp import web

from connectors.base import Failure, SourceDocument
from connectors.google_drive.faults import FileForbidden, FileRefused, Unexplained
from connectors.google_drive.service import AT_ONCE
from ragcore.errors import SourceAuthError, SourceRateLimited
from tests.connectors.drives import READ, Runs, refused
from tests.connectors.helpers import collect, known_of, listed
from tests.servers.google_drive import GoogleServer, problem, user


@pytest.fixture
async def server():
    async with GoogleServer().serving() as found:
        yield found


@pytest.fixture
def drive(server):
    return server.drive


@pytest.mark.parametrize(
    ("reason", "kind", "told"),
    [
        ("exportSizeLimitExceeded", FileRefused, "10 MB"),
        ("cannotDownloadAbusiveFile", FileRefused, "malware"),
        ("download_restricted_for_revision", FileRefused, "may not download it"),
        ("appNotAuthorizedToFile", FileRefused, "client may not read it"),
        ("forbidden", FileForbidden, "does not give it to this account"),
        ("aReasonOfNextYear", FileForbidden, "(403, aReasonOfNextYear)"),
        ("", FileForbidden, "(403)"),
        ("insufficientPermissions", SourceAuthError, READ),
        ("accessNotConfigured", SourceAuthError, "enable the Google Drive API"),
        ("domainPolicy", SourceAuthError, "the domain's administrator"),
        ("userRateLimitExceeded", SourceRateLimited, "60 s"),
    ],
)
def test_a_refusal_of_one_file_is_that_files_unless_it_is_known_to_be_the_accounts(reason, kind, told):
    error = refused(403, reason, of_file=True)
    assert type(error) is kind
    assert told in str(error)
    assert "a secret" not in str(error)


@pytest.mark.parametrize("way", ["word", "page"])
async def test_a_file_that_google_refuses_for_no_known_reason_fails_alone(server, drive, tmp_path, way):
    top = drive.folder("docs")
    one, other = drive.put("a.txt", "Text.", top), drive.put("b.txt", "Text.", top)
    runs = Runs(server, tmp_path, folders=(top,))
    await runs()
    held = dict(runs.held)

    def fault(request):
        is_it = one in request.path and (way == "page" or request.query.get("alt") == "media")
        return (
            (problem(403, "aReasonOfNextYear") if way == "word" else web.Response(status=403, text="<html>Sorry"))
            if is_it
            else None
        )

    server.fault = fault
    for native in (one, other):
        drive.write(native, "Another text.")
    source = runs.connect()
    known = {identity: document.version for identity, document in held.items()}
    documents, failures, gone, cursor = await collect(source.changes(runs.cursor, known))
    assert (documents.keys(), failures.keys(), gone) == ({f"s:{other}"}, {f"s:{one}"}, set())
    assert failures[f"s:{one}"].mend
    assert (await listed(source))[0] == held.keys(), "it stays"
    found = [change async for change in runs.connect().fetch([f"s:{one}"])]
    assert [type(change) for change in found] == [Failure]
    server.fault = None
    mended, *_ = await collect(runs.connect().changes(cursor, known | known_of(documents)))
    assert mended.keys() <= {f"s:{one}"}
    assert (await collect(runs.connect().fetch([f"s:{one}"])))[0][f"s:{one}"].content == b"Another text."


async def test_where_all_is_refused_for_no_known_reason_the_source_is_out_of_order_and_goes_on(server, drive, tmp_path):
    top = drive.folder("docs")
    for number in range(7):
        drive.put(f"{number}.txt", "Text.", top)
    server.fault = lambda request: (
        problem(403, "aReasonOfNextYear")
        if request.query.get("alt") == "media" or request.path.endswith("/root")
        else None
    )
    with pytest.raises(Unexplained, match="refuses My Drive"):
        await Runs(server, tmp_path, folders=(top,))()
    server.fault = lambda request: problem(403, "aReasonOfNextYear") if request.path.endswith("/files") else None
    with pytest.raises(Unexplained, match="the list of files"):
        await Runs(server, tmp_path, folders=(top,))()


async def test_a_folder_that_is_refused_for_no_known_reason_holds_up_no_other(server, drive, tmp_path):
    tops = [drive.folder("one"), drive.folder("two")]
    inside = [drive.put("a.txt", "Text.", top) for top in tops]
    server.fault = lambda request: problem(403, "aReasonOfNextYear") if request.path.endswith(tops[0]) else None
    told = {}

    async def hear():
        async for change in Runs(server, tmp_path, folders=tuple(tops)).connect().changes(None, {}):
            if isinstance(change, SourceDocument):
                told[change.id] = change

    with pytest.raises(Unexplained, match=tops[0]):
        await hear()
    assert told.keys() == {f"s:{inside[1]}"}


async def test_once_google_asks_to_wait_nothing_more_is_asked(server, drive, tmp_path):
    shared = drive.shared("shared-1")
    for number in range(40):
        drive.put(f"{number}.txt", "Text.", shared, permissions=[user(f"p{number}@x.example")])
    asked = 0

    def fault(request):
        nonlocal asked
        asked += request.path.endswith("/permissions")
        is_over = request.path.endswith("/permissions") and asked > 6
        return problem(429, "rateLimitExceeded", headers={"Retry-After": "7"}) if is_over else None

    server.fault = fault
    with pytest.raises(SourceRateLimited):
        await Runs(server, tmp_path, shared_drives=(shared,))()
    await asyncio.sleep(0.3)
    assert asked <= 6 + 2 * AT_ONCE, "only what was under way"


async def test_a_download_that_is_given_up_asks_for_no_further_piece(server, drive, tmp_path, monkeypatch):
    monkeypatch.setattr("connectors.google_drive.service._PIECE", 1_000)
    drive.put("a.txt", "x" * 60_000)
    pieces = 0

    def fault(request):
        nonlocal pieces
        pieces += request.query.get("alt") == "media"
        if pieces == 2:
            running.cancel()

    server.fault = fault
    running = asyncio.ensure_future(Runs(server, tmp_path)())
    with pytest.raises(asyncio.CancelledError):
        await running
    await asyncio.sleep(0.3)
    assert pieces <= 4
