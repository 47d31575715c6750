"""A server on loopback that speaks ``/rerank`` in any of its forms, and misbehaves as a test scripts it.

    with RerankServer() as server:
        HttpReranker(Endpoint(base_url=server.url, model="fake"))
        server.requests[0].body["documents"]

A text is worth the number that it holds between hashes (``#7#``), over ten; nothing else is read of it.
"""

import json
import re
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, ClassVar, Self

_WORTH = re.compile(r"#(-?\d+)#")
Row = dict[str, Any]


def worth(text: str) -> float:
    """Return what a text is worth, 0 where it holds no number between hashes."""
    found = _WORTH.search(text)
    return int(found[1]) / 10 if found else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a client sent; header names in lower case."""

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]


class RerankServer(ThreadingHTTPServer):
    """``change`` makes the answer of the rows; ``hang`` are seconds before it; ``raw`` is sent instead."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.requests: list[Request] = []
        self.change: Callable[[list[Row]], Any] = lambda rows: {"results": rows}
        self.status, self.raw, self.hang = 200, b"", 0.0
        self.headers: dict[str, str] = {}

    @property
    def url(self) -> str:
        """Return the address to give to a client."""
        return f"http://127.0.0.1:{self.server_port}/v1"

    def __enter__(self) -> Self:
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.shutdown()
        self.server_close()

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing of a client that left before its answer: that is what tests of lateness do."""


class _Handler(BaseHTTPRequestHandler):
    server: RerankServer
    protocol_version: ClassVar[str] = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.requests.append(Request(path=self.path, headers=headers, body=body))
        time.sleep(self.server.hang)
        texts = body.get("documents", body.get("texts", ()))
        name = "relevance_score" if "documents" in body else "score"
        rows = [{"index": index, name: worth(text)} for index, text in enumerate(texts)]
        rows.sort(key=lambda row: -row[name])
        content = self.server.raw or json.dumps(self.server.change(rows)).encode()
        self.send_response(self.server.status)
        for header, value in {**self.server.headers, "content-length": str(len(content))}.items():
            self.send_header(header, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *arguments: object) -> None:
        """Keep quiet."""
