"""What the tests of the source type ``google_drive`` use: connectors to a server, and runs that go on from each other."""

import io
import json

import docx
from pydantic import SecretStr

from connectors.base import Checkpoint, Failure, Origin, SourceDocument, Tombstone
from connectors.google_drive import GoogleDriveConnector, GoogleDriveOptions
from connectors.google_drive.faults import refusal
from tests.connectors.helpers import collect, listed
from tests.servers.google_drive import GoogleServer, key_of

READ = "https://www.googleapis.com/auth/drive.readonly"
OAUTH = {"client_id": "c1", "client_secret": SecretStr("s1"), "refresh_token": SecretStr("r1")}


def connector(server: GoogleServer, origin: Origin, **changes: object) -> GoogleDriveConnector:
    place = {"api_url": server.origin, "token_url": server.tokens}
    return GoogleDriveConnector(origin, GoogleDriveOptions.model_validate(OAUTH | place | changes))


def by_key(server: GoogleServer, **changes: object) -> dict[str, object]:
    """Return the settings of a service account in the place of OAuth's."""
    nothing = {"client_id": "", "client_secret": None, "refresh_token": None}
    return nothing | {"service_account": SecretStr(json.dumps(key_of(server.tokens)))} | changes


def office(*paragraphs: str) -> bytes:
    """Return a Word file, as Google makes one of a document of its own."""
    made = docx.Document()
    for paragraph in paragraphs:
        made.add_paragraph(paragraph)
    held = io.BytesIO()
    made.save(held)
    return held.getvalue()


def words(content: bytes) -> str:
    return "\n".join(paragraph.text for paragraph in docx.Document(io.BytesIO(content)).paragraphs)


def refused(status, reason="", *, location="", headers=None, of_file=False):
    """Return what an answer of Google's means."""
    one = {"reason": reason, "location": location, "message": "a secret"}
    content = json.dumps({"error": {"code": status, "message": "a secret", "errors": [one]}}).encode()
    return refusal(status, headers or {}, content, "file f1", (READ,), of_file=of_file)


class Runs:
    """Runs of one source, each with the cursor and the versions of those before it."""

    def __init__(self, server: GoogleServer, folder, **options: object) -> None:
        self.server, self.options = server, options
        self.origin = Origin(source="s", folder=folder)
        self.cursor: str | None = None
        self.held: dict[str, SourceDocument] = {}
        self.asked: list[str] = []
        self.gone: set[str] = set()
        self.failures: dict[str, Failure] = {}

    def connect(self) -> GoogleDriveConnector:
        return connector(self.server, self.origin, **self.options)

    async def __call__(self) -> set[str]:
        """Run; return the native ids of what was yielded, and drop what is no longer listed."""
        source, before = self.connect(), len(self.server.asked)
        told: dict[str, SourceDocument] = {}
        self.gone, self.failures = set(), {}
        async for change in source.changes(self.cursor, {one.id: one.version for one in self.held.values()}):
            if isinstance(change, Checkpoint):
                self.cursor = change.cursor
            elif isinstance(change, SourceDocument):
                told[change.id] = change
            elif isinstance(change, Tombstone):
                self.gone.add(self.origin.native_id(change.id))
            elif isinstance(change, Failure):
                self.failures[self.origin.native_id(change.id)] = change
        ids, _ = await listed(source)
        self.asked = [str(one) for one in self.server.asked[before:]]
        self.held = {identity: one for identity, one in (self.held | told).items() if identity in ids}
        assert ids >= told.keys()
        return {self.origin.native_id(identity) for identity in told}

    async def failed(self) -> dict[str, object]:
        """Return what a run from the beginning can't read, by native id."""
        _, failures, _, _ = await collect(self.connect().changes(None, {}))
        return {self.origin.native_id(identity): failure for identity, failure in failures.items()}

    @property
    def names(self) -> set[str]:
        """What is held, by native id."""
        return {self.origin.native_id(identity) for identity in self.held}

    def text(self, native: str) -> str:
        return self.held[f"s:{native}"].content.decode()

    def readers(self, native: str) -> set[str]:
        found = self.held[f"s:{native}"].readers
        assert found is not None
        return {reader.removeprefix("email:") for reader in found}
