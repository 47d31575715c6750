"""Files in a bucket, over S3's own API as moto serves it: nothing here was tried against a live service."""

import http.client
import itertools
from typing import ClassVar
from urllib.parse import quote

import pytest
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app

from connectors.base import Origin
from connectors.files import FilesConnector, FilesOptions
from tests.connectors.conformance import Conformance
from tests.connectors.world import World
from tests.fakes.ports import free_port
from tests.fakes.wsgi import Answer, Faulty, served

SECRET = "wJalrXUtnFEMI-not-a-real-secret"
SIGNED = "AWS4-HMAC-SHA256 Credential=AKIA/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=none"
BUCKETS = itertools.count()


def refusal(status: str, code: str, *headers: tuple[str, str]) -> Answer:
    body = f'<?xml version="1.0" encoding="UTF-8"?><Error><Code>{code}</Code><Message>{SECRET}</Message></Error>'
    return Answer(status=status, body=body.encode(), headers=(("Content-Type", "application/xml"), *headers))


def is_listing(environ) -> bool:
    return environ["REQUEST_METHOD"] == "GET" and "list-type=2" in environ["QUERY_STRING"]


def is_second_page(environ) -> bool:
    return is_listing(environ) and "continuation-token" in environ["QUERY_STRING"]


class BucketWorld(World):
    """A bucket of a server that speaks S3's API, five keys a page."""

    cannot: ClassVar = {
        "duplicate": "a bucket holds a key once",
        "restrict": "a key's rights are of the service's users, who are no readers",
        "skew": "an ETag is of the content, whatever the time",
        "late": "the listing shows every key, whatever its time",
    }

    def __init__(self, server: Faulty) -> None:
        self.server, self.bucket, self.port = server, f"docs{next(BUCKETS)}", server.port
        self.ask("PUT", "")
        self.keys: dict[str, bytes] = {}
        self.kept: dict[str, bytes] = {}

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def connect(self, origin: Origin, **options: object) -> FilesConnector:
        storage = {"key": "AKIA", "secret": SECRET, "endpoint_url": self.endpoint}
        return FilesConnector(origin, FilesOptions(path=f"s3://{self.bucket}/in", storage_options=storage, **options))

    def ask(self, method: str, key: str, body: bytes | None = None) -> None:
        """Ask the server, which checks no signature: a client of Amazon's would take most of the tests' time."""
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=30)
        connection.request(method, f"/{self.bucket}/{quote(key)}", body=body, headers={"Authorization": SIGNED})
        answer = connection.getresponse()
        assert answer.status < 300, answer.read()
        connection.close()

    def put(self, key: str, content: bytes) -> None:
        self.ask("PUT", key, content)
        self.keys[key] = content

    def drop(self, key: str) -> None:
        self.ask("DELETE", key)
        del self.keys[key]

    async def add(self, name: str, text: str) -> None:
        self.put(f"in/{name}", text.encode())

    change = add

    async def delete(self, name: str) -> None:
        self.drop(f"in/{name}")

    async def rename(self, old: str, new: str) -> None:
        self.put(f"in/{new}", self.keys[f"in/{old}"])
        self.drop(f"in/{old}")

    async def spoil(self, name: str) -> None:
        self.fault_at(name, refusal("403 Forbidden", "AccessDenied"))

    async def vanish(self, name: str) -> None:
        def vanishes(environ):
            if environ["REQUEST_METHOD"] == "GET" and environ["PATH_INFO"].endswith(f"/in/{name}"):
                self.server.fault = None
                self.drop(f"in/{name}")

        self.server.fault = vanishes

    async def break_page(self, status: int = 500) -> None:
        code = {500: "InternalError", 503: "ServiceUnavailable"}[status]
        self.server.fault = lambda environ: refusal(f"{status} Out of order", code) if is_second_page(environ) else None

    async def rate_limit(self, seconds: int) -> None:
        def once(environ):
            if is_second_page(environ):
                self.server.fault = None
                return refusal("429 Too Many Requests", "TooManyRequests", ("Retry-After", str(seconds)))
            return None

        self.server.fault = once

    async def expire_token(self) -> None:
        expired = refusal("400 Bad Request", "ExpiredToken")
        self.server.fault = lambda environ: expired if is_second_page(environ) else None

    async def truncate(self) -> None:
        for key in sorted(self.keys)[2:]:
            self.kept[key] = self.keys[key]
            self.drop(key)

    async def break_form(self) -> None:
        page = Answer(status="200 OK", body=b"<!doctype html><html><body>Log in<br></body></html>")
        self.server.fault = lambda environ: page if is_listing(environ) else None

    async def leave(self) -> None:
        self.port = free_port()

    async def mend(self) -> None:
        self.port, self.server.fault = self.server.port, None
        for key, content in self.kept.items():
            self.put(key, content)
        self.kept.clear()

    def fault_at(self, name: str, answer: Answer) -> None:
        path = f"/in/{name}"
        self.server.fault = lambda environ: answer if environ["PATH_INFO"].endswith(path) else None


@pytest.fixture(scope="module")
def server():
    with served(DomainDispatcherApplication(create_backend_app)) as faulty:
        yield faulty


@pytest.fixture
def world(server, monkeypatch):
    monkeypatch.setenv("MOTO_S3_DEFAULT_MAX_KEYS", "5")
    server.fault = None
    return BucketWorld(server)


class TestBucket(Conformance):
    """The suite, on a bucket."""

    at_length_in_soak = True
