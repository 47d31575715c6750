"""What places share: JSONL, huge files, what an unchanged bucket costs, secrets, missing packages, a fast start."""

import asyncio
import importlib
import io
import json
import pathlib
import ssl
import subprocess
import sys
import zipfile

import fsspec
import pytest
from botocore.exceptions import SSLError

from connectors.base import Origin
from connectors.files import FILES, FilesConnector, FilesOptions
from connectors.files.credential import credential
from connectors.files.remote import Address, is_url
from connectors.files.remote.faults import Kind, fault_of
from connectors.files.remote.infos import info_of
from connectors.registry import connect
from ragcore.errors import ConfigError, SourceAuthError, SourceError
from tests.connectors.helpers import collect, known_of, listed
from tests.connectors.test_files_s3 import SECRET, BucketWorld, server
from tests.fakes.memory_place import FaultyMemory, HttpFault, no_fault
from tests.fakes.wsgi import Answer

ROOT = pathlib.Path(__file__).resolve().parents[2]

__all__ = ["server"]


@pytest.fixture
def bucket(server):
    server.fault = None
    return BucketWorld(server)


@pytest.fixture
def origin(tmp_path):
    return Origin(source="s", folder=tmp_path)


@pytest.fixture
def memory(monkeypatch):
    registered = fsspec.get_filesystem_class("memory")
    fsspec.register_implementation("memory", FaultyMemory, clobber=True)
    FaultyMemory.store.clear()
    FaultyMemory.pseudo_dirs[:] = ["", "/in"]
    FaultyMemory.fault = staticmethod(no_fault)
    monkeypatch.setattr("connectors.files.remote.infos._FRESH", 0.0)
    yield FaultyMemory()
    fsspec.register_implementation("memory", registered, clobber=True)


def in_memory(origin, **options):
    return FilesConnector(origin, FilesOptions(path="memory://in", **options))


def jsonl(*texts):
    return "".join(json.dumps({"id": number, "text": text}) + "\n" for number, text in enumerate(texts)).encode()


# What it costs.


async def test_an_unchanged_bucket_costs_its_listing_and_nothing_else(bucket, origin):
    for number in range(30):
        await bucket.add(f"{number % 3}/{number}.md", f"text {number}")
    bucket.put("in/lines.jsonl", jsonl("one", "two"))
    bucket.put("in/log.jsonl", b'{"level": "info"}\n')
    first = bucket.connect(origin)
    documents, failures, _, cursor = await collect(first.changes(None, {}))
    assert len(documents) == 33
    assert not failures
    bucket.server.asked.clear()
    assert (await listed(first))[0] == documents.keys()
    assert not bucket.server.asked, "a run lists once, and reads no file twice"
    for _ in range(2):
        bucket.server.asked.clear()
        connector = bucket.connect(origin)
        again, failures, _, cursor = await collect(connector.changes(cursor, known_of(documents)))
        assert not again
        assert (await listed(connector))[0] == documents.keys()
        assert len(bucket.server.asked) == 1, "one page of the listing"
    await bucket.change("0/0.md", "changed")
    bucket.server.asked.clear()
    again, _, _, _ = await collect(bucket.connect(origin).changes(cursor, known_of(documents)))
    assert again.keys() == {"s:0/0.md"}
    assert len(bucket.server.asked) == 2


async def test_changed_lines_are_read_from_a_copy(memory, origin):
    memory.pipe_file("/in/a.jsonl", jsonl("one", "two", "three"))
    documents, _, _, cursor = await collect(in_memory(origin).changes(None, {}))
    assert documents["s:a.jsonl#1"].content == b"two"
    memory.pipe_file("/in/a.jsonl", jsonl("one", "changed") + b"{\n")
    connector = in_memory(origin)
    again, failures, _, _ = await collect(connector.changes(cursor, known_of(documents)))
    assert again.keys() == {"s:a.jsonl#1"}
    assert failures.keys() == {"s:a.jsonl#L3"}
    FaultyMemory.fault = staticmethod(lambda call, path: pytest.fail(f"{call} {path}") if call == "get" else None)
    ids, failures = await listed(connector)
    assert ids == {"s:a.jsonl#0", "s:a.jsonl#1"}
    assert failures["s:a.jsonl#L3"].covers == "s:a.jsonl#"
    FaultyMemory.fault = staticmethod(no_fault)
    found, _, gone, _ = await collect(in_memory(origin).fetch(["s:a.jsonl#0", "s:a.jsonl#9"]))
    assert (found.keys(), gone) == ({"s:a.jsonl#0"}, {"s:a.jsonl#9"})


async def test_copies_leave_nothing_behind(memory, origin, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    memory.pipe_file("/in/a.jsonl", jsonl("one"))
    memory.pipe_file("/in/b.md", b"text")
    FaultyMemory.fault = staticmethod(
        lambda call, path: (_ for _ in ()).throw(HttpFault(500)) if (call, path) == ("get", "/in/b.md") else None
    )
    documents, failures, _, _ = await collect(in_memory(origin).changes(None, {}))
    assert (documents.keys(), failures.keys()) == ({"s:a.jsonl#0"}, {"s:b.md"})
    assert not list(tmp_path.iterdir())


async def test_two_gigabytes_are_told_without_a_byte_of_them(memory, origin, monkeypatch):
    memory.pipe_file("/in/a.md", b"text")
    memory.pipe_file("/in/huge.pdf", b"x")
    real = FaultyMemory.ls

    def ls(self, path, detail=True, **how):
        return [one | ({"size": 2_000_000_000} if "huge" in one["name"] else {}) for one in real(self, path, detail)]

    monkeypatch.setattr(FaultyMemory, "ls", ls)
    FaultyMemory.fault = staticmethod(
        lambda call, path: pytest.fail("read") if "get" in call and "huge" in path else None
    )
    documents, failures, _, _ = await collect(in_memory(origin).changes(None, {}))
    assert documents.keys() == {"s:a.md"}
    assert failures["s:huge.pdf"].reason == "it has 2,000 MB, more than the limit of 200 MB"


async def test_a_file_that_turns_out_larger_than_told_is_given_up(memory, origin, monkeypatch):
    memory.pipe_file("/in/a.md", b"x" * 3_000_000)
    monkeypatch.setattr(FaultyMemory, "blocksize", 100_000)
    real = FaultyMemory.ls
    monkeypatch.setattr(
        FaultyMemory, "ls", lambda self, path, detail=True, **how: [one | {"size": None} for one in real(self, path)]
    )
    _, failures, _, _ = await collect(in_memory(origin, max_megabytes=1).changes(None, {}))
    assert "more than the limit" in failures["s:a.md"].reason


async def test_an_archive_in_a_bucket_is_read_where_it_is(bucket, origin):
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as entries:
        entries.writestr("docs/ü.md", "text")
        entries.writestr("other/b.md", "other")
    bucket.put("docs.zip", archive.getvalue())
    storage = {"s3": {"key": "AKIA", "secret": SECRET, "endpoint_url": bucket.endpoint}}
    options = FilesOptions(path=f"zip://docs::s3://{bucket.bucket}/docs.zip", storage_options=storage)
    documents, failures, _, _ = await collect(FilesConnector(origin, options).changes(None, {}))
    assert {identity: document.content for identity, document in documents.items()} == {"s:ü.md": b"text"}
    assert not failures


# What goes wrong.


async def test_a_server_that_is_down_is_not_asked_for_every_file(memory, origin):
    for number in range(200):
        memory.pipe_file(f"/in/{number}.md", b"text")
    asked = []

    def fault(call, path):
        if call == "get":
            asked.append(path)
            raise HttpFault(503)

    FaultyMemory.fault = staticmethod(fault)
    with pytest.raises(SourceError, match="HTTP 503"):
        await collect(in_memory(origin).changes(None, {}))
    assert len(asked) < 20


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (HttpFault(401), Kind.LOGIN),
        (HttpFault(403), Kind.DENIED),
        (HttpFault(403, x_ratelimit_remaining="0", x_ratelimit_reset="0"), Kind.LIMITED),
        (HttpFault(404), Kind.GONE),
        (HttpFault(429), Kind.LIMITED),
        (HttpFault(502), Kind.SERVER),
        (HttpFault(503, retry_after="9"), Kind.LIMITED),
        (TimeoutError(), Kind.TIMEOUT),
        (ConnectionResetError(104, "reset"), Kind.CUT),
        (FileNotFoundError(2, "no"), Kind.GONE),
        (ssl.SSLCertVerificationError(1, "a-secret-signature"), Kind.TLS),
        (SSLError(endpoint_url="https://x.example?a-secret-signature", error="no"), Kind.TLS),
        (OSError(28, "No space left on device"), Kind.FULL),
        (zipfile.BadZipFile("x"), Kind.DAMAGED),
        (RuntimeError("File 'x' is encrypted, password required"), Kind.LOCKED),
        (OSError("anything"), Kind.OTHER),
    ],
)
def test_errors_are_told_apart_and_their_texts_are_not_shown(error, kind):
    fault = fault_of(error)
    assert fault.kind is kind
    assert fault.mend
    assert "a-secret-signature" not in fault.told() + str(fault.as_error("x://y")) + fault.as_unread().reason


def test_a_wait_is_the_one_that_was_asked_for():
    assert fault_of(HttpFault(429, retry_after="7")).wait == 7.0
    assert 50 < fault_of(HttpFault(429, retry_after="Wed, 21 Oct 2099 07:28:00 GMT")).wait <= 24 * 3600
    assert fault_of(HttpFault(429, retry_after="soon")).wait == 30.0


async def test_secrets_stand_in_no_message_and_no_log(bucket, origin, caplog):
    caplog.set_level(0)
    await bucket.add("a.md", "text")
    refused = Answer(
        status="403 Forbidden",
        body=f"<Error><Code>SignatureDoesNotMatch</Code><Message>{SECRET}</Message></Error>".encode(),
    )
    bucket.server.fault = lambda environ: refused
    connector = bucket.connect(origin)
    with pytest.raises(SourceAuthError, match="SignatureDoesNotMatch") as caught:
        await collect(connector.changes(None, {}))
    assert SECRET not in f"{caught.value} {connector!r}"
    ours = [record.getMessage() for record in caplog.records if record.levelname in {"INFO", "WARNING", "ERROR"}]
    assert SECRET not in "".join(ours)


async def test_a_place_without_a_credential_says_so(bucket, origin, monkeypatch):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("HOME", "/nonexistent")
    options = FilesOptions(path="s3://some/in", storage_options={"endpoint_url": bucket.endpoint})
    with pytest.raises(SourceAuthError, match="asks for a credential"):
        await collect(FilesConnector(origin, options).changes(None, {}))


def test_a_login_in_an_address_is_not_shown():
    address = Address(url="sftp://ann:p%40ss-word@host/x", options={"passphrase": "long-phrase"})
    assert address.shown() == "sftp://host/x"
    assert "word" not in repr(address)
    assert "phrase'" not in repr(FilesOptions(path="s3://b", storage_options={"secret": "long-phrase"}))


async def test_a_missing_package_is_named_with_its_extra(origin, monkeypatch):
    real = importlib.import_module

    def missing(name, *rest):
        if name in {"s3fs", "gcsfs", "adlfs", "sshfs", "webdav4.fsspec", "smbprotocol"}:
            raise ModuleNotFoundError(name)
        return real(name, *rest)

    monkeypatch.setattr("connectors.files.remote.schemes.importlib.import_module", missing)
    for scheme, extra in {
        "s3": "s3",
        "gs": "gcs",
        "az": "azure",
        "sftp": "sftp",
        "webdav": "webdav",
        "smb": "smb",
    }.items():
        with pytest.raises(ConfigError, match=rf'pip install "citebot\[{extra}\]"'):
            await collect(FilesConnector(origin, FilesOptions(path=f"{scheme}://x/y")).changes(None, {}))
    with pytest.raises(ConfigError, match=r"citebot\[s3\]"):
        await collect(FilesConnector(origin, FilesOptions(path="zip://::s3://x/y.zip")).changes(None, {}))


async def test_what_is_no_place_is_refused(origin):
    for path, told in {"http://x.example/y": "WebDAV", "s4://bucket": "there are"}.items():
        with pytest.raises(ConfigError, match=told):
            await collect(FilesConnector(origin, FilesOptions(path=path)).changes(None, {}))
    with pytest.raises(ConfigError, match="storage_options: kee"):
        await collect(
            FilesConnector(origin, FilesOptions(path="sftp://127.0.0.1/x", storage_options={"kee": "x"})).changes(
                None, {}
            )
        )


def test_paths_and_urls_are_told_apart():
    assert is_url("s3://b/x")
    assert is_url("zip://docs::a.zip")
    for path in ("docs", "./a::b", "/srv/x", "C:\\docs", "file:///srv/x", "local://x"):
        assert not is_url(path), path


def test_a_file_url_is_a_folder_of_this_machine(tmp_path):
    (tmp_path / "a.md").write_text("text")
    connector = connect("files", Origin(source="s", folder=tmp_path), {"path": tmp_path.as_uri()})
    documents, _, _, _ = asyncio.run(collect(connector.changes(None, {})))
    assert documents.keys() == {"s:a.md"}


def test_a_mended_key_file_is_another_credential(tmp_path, monkeypatch):
    key = tmp_path / "key"
    key.write_text("old")
    options = FilesOptions(path="sftp://host/x", storage_options={"client_keys": [str(key)]})
    before = credential(None, options)
    assert before == FILES.credential(None, options)
    key.write_text("other")
    assert credential(None, options) != before
    before = credential(None, options)
    monkeypatch.setenv("AWS_SESSION_TOKEN", "new")
    assert credential(None, options) != before


def test_infos_of_all_clients_are_read():
    gcs = info_of(
        {"name": "b/a", "size": 3, "type": "file", "etag": "x", "generation": "1", "updated": "2026-01-02T03:04:05Z"}
    )
    assert gcs.modified == 1767323045.0
    assert gcs.version(salt="s", is_exact=True)
    bare = info_of({"name": "a", "size": 3, "type": "file"})
    assert bare.version(salt="s", is_exact=True) == "", "nothing tells whether it changed"
    ftp = info_of({"name": "a", "size": 3, "type": "file", "modify": "20260102030405"})
    assert ftp.version(salt="s", is_exact=False)


def test_the_start_does_not_pay_for_the_clients():
    code = (
        "import sys, connectors.files; "
        "print(sorted({'fsspec', 's3fs', 'botocore', 'asyncssh', 'webdav4', 'aiohttp'} & set(sys.modules)))"
    )
    ran = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60)
    assert ran.stdout.strip() == "[]"
