"""What goes wrong with Google Drive: each fault is of the kind that it is, with its mend, and shows no secret."""

import asyncio
import http.client
import json
import ssl

import httplib2
import pytest
from aiohttp import web
from google.auth.exceptions import RefreshError, TransportError
from pydantic import SecretStr

from connectors.base import Origin, SourceDocument
from connectors.google_drive import GOOGLE_DRIVE
from connectors.google_drive.faults import (
    FileForbidden,
    Unexplained,
    expected_errors,
    fault_of,
    refusal,
)
from connectors.google_drive.memory import CorpusMemory, Memory
from connectors.registry import connect, credential, source_type
from ragcore.errors import (
    ConfigError,
    SourceAuthError,
    SourceBadReply,
    SourceError,
    SourceGone,
    SourceRateLimited,
    SourceUnreachable,
)
from tests.connectors.drives import OAUTH, READ, Runs, by_key, refused
from tests.connectors.helpers import collect
from tests.servers.google_drive import DOC, GoogleServer, key_of, problem


@pytest.fixture
async def server():
    async with GoogleServer().serving() as found:
        yield found


@pytest.fixture
def drive(server):
    return server.drive


@pytest.mark.parametrize(
    ("status", "reason", "kind", "told"),
    [
        (401, "authError", SourceAuthError, "refused the credential"),
        (403, "insufficientPermissions", SourceAuthError, READ),
        (403, "accessNotConfigured", SourceAuthError, "enable the Google Drive API"),
        (403, "domainPolicy", SourceAuthError, "the domain's administrator"),
        (403, "forbidden", SourceAuthError, "may not read file f1"),
        (403, "rateLimitExceeded", SourceRateLimited, "60 s"),
        (403, "userRateLimitExceeded", SourceRateLimited, "60 s"),
        (403, "dailyLimitExceeded", SourceRateLimited, "3600 s"),
        (429, "", SourceRateLimited, "60 s"),
        (403, "teamDriveMembershipRequired", SourceAuthError, "may not read file f1"),
        (403, "aReasonOfNextYear", SourceError, "does not say why (403, aReasonOfNextYear)"),
        (404, "notFound", SourceGone, "share it with the account"),
        (410, "", SourceGone, "file f1"),
        (400, "invalid", SourceBadReply, "refused what was asked"),
        (500, "backendError", SourceError, "fault of its own"),
        (503, "", SourceError, "fault of its own"),
    ],
)
def test_a_refusal_is_told_as_what_it_is(status, reason, kind, told):
    error = refused(status, reason)
    assert type(error) in {kind, *kind.__subclasses__()}
    assert told in str(error)
    assert "a secret" not in str(error)
    assert error.mend or isinstance(error, SourceRateLimited)
    assert isinstance(error, SourceAuthError | SourceRateLimited | SourceGone | SourceBadReply) or error.retryable


def test_a_wait_that_is_told_is_kept_to():
    assert refused(403, "userRateLimitExceeded", headers={"Retry-After": "7"}).retry_after == 7.0
    assert refused(503, headers={"Retry-After": "11"}).retry_after == 11.0


@pytest.mark.parametrize(
    "content", [b"", b"<html>no", b"[]", b'{"error": "no"}', b'{"error": {"errors": [1]}}', b"\xff"]
)
def test_a_refusal_in_another_form_is_judged_by_its_status(content):
    whole, one = (refusal(403, {}, content, "file f1", (READ,), of_file=of_file) for of_file in (False, True))
    assert type(whole) is Unexplained, "nothing is known of the credential, so that it is no reason to pause"
    assert whole.retryable
    assert whole.mend
    assert type(one) is FileForbidden
    assert isinstance(refusal(502, {}, content, "file f1", (READ,)), SourceError)


@pytest.mark.parametrize(
    ("error", "kind", "told"),
    [
        (httplib2.ServerNotFoundError("a secret"), SourceUnreachable, "host name is not known"),
        (TransportError(httplib2.ServerNotFoundError("a secret")), SourceUnreachable, "host name is not known"),
        (TransportError("a secret"), SourceUnreachable, "broke off"),
        (ssl.SSLCertVerificationError(1, "a secret"), SourceUnreachable, "certificate"),
        (TransportError(ssl.SSLError(1, "a secret")), SourceUnreachable, "TLS"),
        (TimeoutError("a secret"), SourceUnreachable, "in time"),
        (ConnectionResetError("a secret"), SourceUnreachable, "broke off"),
        (http.client.IncompleteRead(b"a secret"), SourceUnreachable, "broke off"),
        (httplib2.FailedToDecompressContent("a secret", None, b""), SourceUnreachable, "broke off"),
        (ValueError("a secret"), SourceBadReply, "in its own form"),
        (RefreshError("internal_failure: a secret", retryable=True), SourceError, "fault of its own"),
        (RefreshError("a secret"), SourceBadReply, "access tokens"),
        (RefreshError("unauthorized_client: a secret"), SourceAuthError, READ),
    ],
)
def test_an_error_of_the_client_is_told_as_what_it_is(error, kind, told):
    assert isinstance(error, expected_errors())
    if isinstance(error, ssl.SSLCertVerificationError):
        error.verify_message = "self-signed certificate"
    fault = fault_of(error, "file f1", (READ,))
    assert type(fault) is kind
    assert told in str(fault)
    assert "a secret" not in str(fault)
    assert fault.mend


async def test_a_content_that_breaks_off_is_told(server, drive, tmp_path):
    drive.put("a.txt", "Text.")

    async def broken(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nText")
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(broken, "127.0.0.1", 0) as other:
        place = f"http://127.0.0.1:{other.sockets[0].getsockname()[1]}/"
        turned = web.Response(status=302, headers={"Location": place})
        server.fault = lambda request: turned if request.query.get("alt") == "media" else None
        with pytest.raises(SourceUnreachable, match="broke off"):
            await Runs(server, tmp_path)()


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"refresh_token": SecretStr("wrong")}, "invalid_grant"),
        ({"client_secret": SecretStr("wrong")}, "invalid_client"),
    ],
)
async def test_a_wrong_refresh_token_is_told(server, tmp_path, changes, told):
    with pytest.raises(SourceAuthError, match=told) as error:
        await Runs(server, tmp_path, **changes)()
    assert error.value.mend
    assert "wrong" not in str(error.value)


@pytest.mark.parametrize("way", ["subject", "scope"])
async def test_a_delegation_that_is_not_given_is_told(server, tmp_path, way):
    if way == "scope":
        server.granted = frozenset()
    subject = {"subject": "nobody@example.org"} if way == "subject" else {}
    with pytest.raises(SourceAuthError) as error:
        await Runs(server, tmp_path, **by_key(server, **subject))()
    assert ("subject" if way == "subject" else READ) in error.value.mend


@pytest.mark.parametrize(
    ("key", "told"),
    [
        ("{}", "no key of a service account"),
        ("[1]", "can't be read"),
        ('{"type": "service_account", "private_key": "secret"}', "no key of a service account"),
        ("nowhere.json", "can't be read"),
        (".", "can't be read"),
    ],
)
async def test_a_key_that_is_none_is_told_without_being_shown(server, tmp_path, key, told):
    with pytest.raises(SourceAuthError, match=told) as error:
        await Runs(server, tmp_path, **by_key(server) | {"service_account": SecretStr(key)})()
    assert "secret" not in str(error.value)
    assert "`service_account`" in str(error.value)


async def test_a_scope_that_is_lacking_is_named(server, drive, tmp_path):
    server.fault = lambda request: problem(403, "insufficientPermissions")
    with pytest.raises(SourceAuthError, match=r"drive\.readonly"):
        await Runs(server, tmp_path)()


@pytest.mark.parametrize("where", ["api_url", "token_url"])
async def test_a_host_that_cannot_be_reached_is_told(server, tmp_path, where):
    with pytest.raises(SourceUnreachable) as error:
        await Runs(server, tmp_path, **{where: "http://127.0.0.1:9/token"})()
    assert error.value.mend


async def test_html_in_the_place_of_json_is_told(server, drive, tmp_path):
    drive.put("a.md", "Text.")
    server.is_html = True
    with pytest.raises(SourceBadReply, match="in its own form"):
        await Runs(server, tmp_path)()


@pytest.mark.soak
async def test_a_circle_of_redirects_is_told(server, tmp_path):
    def turned(request):
        return web.Response(status=302, headers={"Location": str(request.url)})

    server.fault = turned
    with pytest.raises(SourceBadReply, match="circle"):
        await Runs(server, tmp_path)()


async def test_a_redirect_to_another_host_is_not_shown_the_credential(server, drive, tmp_path):
    async with GoogleServer().serving() as other:
        seen = []

        def noted(request):
            seen.append(request.headers.get("Authorization"))
            return problem(403)

        other.fault = noted
        place = other.origin.replace("127.0.0.1", "localhost")
        server.fault = lambda request: web.Response(status=302, headers={"Location": f"{place}{request.path_qs}"})
        with pytest.raises(SourceError):
            await Runs(server, tmp_path)()
    assert seen
    assert set(seen) == {None}


async def test_pages_that_lead_in_a_circle_are_told(server, drive, tmp_path):
    drive.put("a.md", "Text.")

    def circle(request):
        return (
            web.json_response({"kind": "drive#fileList", "files": [], "nextPageToken": "l1"})
            if request.path.endswith("/files")
            else None
        )

    server.fault = circle
    with pytest.raises(SourceBadReply, match="circle"):
        await Runs(server, tmp_path)()


@pytest.mark.soak
async def test_a_search_that_google_could_not_complete_deletes_nothing(server, drive, tmp_path):
    drive.put("a.md", "Text.")
    runs = Runs(server, tmp_path)
    await runs()
    server.oldest = 1_000

    def partly(request):
        return (
            web.json_response({"kind": "drive#fileList", "files": [], "incompleteSearch": True})
            if request.path.endswith("/files")
            else None
        )

    server.fault = partly
    with pytest.raises(SourceError, match="could not look through all"):
        await runs()


async def test_what_google_does_not_give_is_named_and_hides_no_other(server, drive, tmp_path):
    made = {
        "large": drive.put("large.txt", "x" * 200_000),
        "kept": drive.put("kept.txt", "Kept.", can_download=False),
        "export": drive.put("Export", b"x" * 10_000_001, mime=DOC),
        "abuse": drive.put("abuse.exe", "Abuse."),
        "fine": drive.put("fine.txt", "Fine."),
    }

    def fault(request):
        is_it = made["abuse"] in request.path and request.query.get("alt") == "media"
        return problem(403, "cannotDownloadAbusiveFile") if is_it else None

    server.fault = fault
    documents, failures, gone, _ = await collect(Runs(server, tmp_path, max_megabytes=0.1).connect().changes(None, {}))
    assert documents.keys() == {f"s:{made['fine']}"}
    assert not gone
    reasons = {name: failures[f"s:{made[name]}"].reason for name in ("large", "kept", "export", "abuse")}
    assert "limit of 0.1 MB" in reasons["large"]
    assert all(f'"{drive.items[made[name]].name}"' in reason for name, reason in reasons.items()), "its id tells nobody"
    assert "not download it" in reasons["kept"]
    assert "10 MB" in reasons["export"]
    assert "malware" in reasons["abuse"]
    assert all(failure.mend and failure.version for failure in failures.values())
    assert not any(made["large"] in str(one) and one.query.get("alt") for one in server.asked), "not asked for"


@pytest.mark.soak
async def test_many_bad_files_in_a_row_are_named_each(server, drive, tmp_path):
    bad = {drive.put(f"{number}.txt", "No.", can_download=False) for number in range(12)}
    runs = Runs(server, tmp_path)
    assert (await runs.failed()).keys() == bad


async def test_a_content_that_is_not_what_was_listed_is_no_document(server, drive, tmp_path):
    one = drive.put("a.txt", "Text.")

    def login(request):
        return web.Response(text="<html>Sign in</html>") if request.query.get("alt") == "media" else None

    server.fault = login
    assert "checksum" in (await Runs(server, tmp_path).failed())[one].reason


async def test_a_file_that_goes_between_listing_and_reading_is_gone(server, drive, tmp_path):
    one, two = drive.put("a.txt", "Text."), drive.put("b.txt", "Text.")
    server.before_reading = lambda item: drive.delete(one) if item.id == one else None
    runs = Runs(server, tmp_path)
    assert await runs() == {two}
    assert runs.gone == {one}


async def test_a_file_of_several_pieces_is_whole(server, drive, tmp_path, monkeypatch):
    monkeypatch.setattr("connectors.google_drive.service._PIECE", 1_000)
    one = drive.put("a.txt", "x" * 4_500)
    runs = Runs(server, tmp_path)
    await runs()
    assert runs.text(one) == "x" * 4_500


async def test_fetch_tells_what_is_outside_as_gone(server, drive, tmp_path):
    top, other = drive.folder("docs"), drive.folder("other")
    inner = drive.put("a.md", "In.", drive.folder("deep", drive.folder("inner", top)))
    trashed = drive.put("t.md", "Trash.", top, trashed=True)
    outer = drive.put("b.md", "Out.", other)
    source = Runs(server, tmp_path, folders=(top,)).connect()
    found = {one.id: one async for one in source.fetch([f"s:{one}" for one in (inner, trashed, outer, top, "no/such")])}
    assert [identity for identity, one in found.items() if isinstance(one, SourceDocument)] == [f"s:{inner}"]
    assert len(found) == 5


# Settings.


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"refresh_token": ""}, "needs `service_account`, or"),
        ({"service_account": "key.json"}, "give either"),
        ({"subject": "ann@example.org"}, "needs a `service_account`"),
        ({"subject": "ann"}, "no e-mail address"),
        ({"folders": ["My folder"]}, "is no folder"),
        ({"folders": ["abc", "https://drive.google.com/drive/folders/abc"]}, "named twice"),
        ({"readers": ["ann"]}, "is no reader"),
        ({"readers_of": {"nobody at all": []}}, "neither a group nor a domain"),
        ({"readers_of": {"link": ["x"]}}, "is no reader"),
        ({"include": ["[z-a]"]}, "is no pattern"),
        ({"api_url": "ftp://x"}, "must be an address"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_a_wrong_setting_is_named(tmp_path, changes, told):
    with pytest.raises(ConfigError, match=told):
        connect("google_drive", Origin(source="s", folder=tmp_path), OAUTH | changes)


def test_the_missing_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr("connectors.google_drive.options.importlib.util.find_spec", lambda name: None)
    with pytest.raises(ConfigError, match=r"pip install 'citebot\[google\]'"):
        connect("google_drive", Origin(source="s", folder=tmp_path), OAUTH)


def test_a_credential_is_another_one_when_its_file_changes(tmp_path):
    key = tmp_path / "key.json"
    origin, settings = Origin(source="s", folder=tmp_path), {"service_account": str(key)}
    told = [credential("google_drive", origin, settings)]
    key.write_text(json.dumps(key_of("http://127.0.0.1:9/token")))
    told.append(credential("google_drive", origin, settings))
    told.append(credential("google_drive", origin, OAUTH))
    assert len(set(told)) == 3
    assert source_type("google_drive") is GOOGLE_DRIVE


def test_a_key_file_is_looked_for_from_the_settings_folder(tmp_path, monkeypatch):
    monkeypatch.chdir("/")
    key = tmp_path / "keys" / "key.json"
    key.parent.mkdir()
    origin, settings = Origin(source="s", folder=tmp_path), {"service_account": "keys/key.json"}
    told = [credential("google_drive", origin, settings)]
    for account in ("one@x.example", "another@x.example"):
        key.write_text(json.dumps(key_of("http://127.0.0.1:9/token") | {"client_email": account}))
        told.append(credential("google_drive", origin, settings))
    assert len(set(told)) == 3, "another key ends the pause"


def test_a_memory_is_what_it_was_and_no_other_settings():
    corpus = CorpusMemory(token="t1", roots={"a": "1"}, documents={"x": 0, "y": 12})
    memory = Memory(basis="b", corpora={"": corpus, "d": CorpusMemory(documents={"z": 0})}, groups={"g": "1"})
    again = Memory.from_cursor(memory.to_cursor(), "b")
    assert again.corpora == {"": corpus}, "what has to be listed again anyway isn't kept"
    assert again.groups == {"g": "1"}
    assert Memory.from_cursor(memory.to_cursor(), "c") == Memory(basis="c")
