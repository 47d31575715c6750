"""A WSGI application served on this machine in a thread, that can be told to answer wrongly."""

import contextlib
import logging
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from werkzeug.serving import WSGIRequestHandler, make_server

Environ = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer in place of the application's own."""

    status: str
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(slots=True)
class Faulty:
    """Hands each request to an application, unless ``fault`` has an answer of its own; ``asked`` counts by method."""

    application: Callable[..., Iterable[bytes]]
    fault: Callable[[Environ], Answer | None] | None = None
    asked: list[str] = field(default_factory=list)
    port: int = 0

    def __call__(self, environ: Environ, start_response: Callable[..., Any]) -> Iterable[bytes]:
        self.asked.append(f"{environ['REQUEST_METHOD']} {environ['PATH_INFO']}?{environ['QUERY_STRING']}")
        answer = self.fault(environ) if self.fault else None
        if answer is None:
            return self.application(environ, start_response)
        environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        start_response(answer.status, [("Content-Length", str(len(answer.body))), *answer.headers])
        return [] if environ["REQUEST_METHOD"] == "HEAD" else [answer.body]


class _Silent(WSGIRequestHandler):
    protocol_version = "HTTP/1.1"

    def log(self, *_: object) -> None:
        """Tests tell what they want told."""


@contextlib.contextmanager
def served(application: Callable[..., Iterable[bytes]]) -> Iterator[Faulty]:
    """Serve an application until the context ends."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    faulty = Faulty(application)
    server = make_server("127.0.0.1", 0, faulty, threaded=True, request_handler=_Silent)
    server.daemon_threads = True
    faulty.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield faulty
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
