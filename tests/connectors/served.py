"""A world whose source is a server of ``tests/servers``, and the faults that all of these know alike."""

import abc
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from aiohttp import web

from connectors.base import Origin
from tests.connectors.world import World

NOWHERE = "http://127.0.0.1:9"
"""Port 9 takes no connection."""


class ServedWorld(World):
    """Its lists are broken from their second page on.

    The server has ``fault``, which may answer a request in its place, ``is_html``, ``twice``, and what ``faulty`` names.
    """

    faulty: ClassVar[tuple[str, ...]] = ("fault", "is_html", "token", "cut")
    """What the server is broken by, and gets back as it was when it is mended."""
    away: ClassVar[Mapping[str, str]] = {"url": NOWHERE}
    """The settings that lead to no server."""

    def __init__(self, server: Any) -> None:
        self.server = server
        self.is_away = False
        self._sound = {name: getattr(server, name) for name in self.faulty}

    @abc.abstractmethod
    def source(self, origin: Origin, **changes: Any) -> Any:
        """Return a fresh connector to the server, with changes to its settings."""

    @abc.abstractmethod
    def is_list(self, asked: Any) -> bool:
        """Tell whether a request, as ``fault`` is given it, is for a page of a list."""

    @abc.abstractmethod
    def refusal(self, status: int) -> web.Response:
        """Return how the server refuses a request."""

    def revoke(self) -> None:
        """Let the server take another credential than the connector's."""
        self.server.token = "another"

    def connect(self, origin: Origin) -> Any:
        return self.source(origin, **(self.away if self.is_away else {}))

    async def break_page(self, status: int = 500) -> None:
        self._break(lambda: self.refusal(status))

    async def rate_limit(self, seconds: int) -> None:
        def once() -> web.Response:
            self.server.fault = None
            answer = self.refusal(429)
            answer.headers["Retry-After"] = str(seconds)
            return answer

        self._break(once)

    async def expire_token(self) -> None:
        def expired() -> web.Response:
            self.revoke()
            return self.refusal(401)

        self._break(expired)

    async def break_form(self) -> None:
        self.server.is_html = True

    async def leave(self) -> None:
        self.is_away = True

    async def mend(self) -> None:
        self.is_away = False
        for name, value in self._sound.items():
            setattr(self.server, name, value)
        self.server.twice.clear()

    def _break(self, answer: Callable[[], web.Response]) -> None:
        pages = 0

        def fault(asked: Any, *more: Any) -> web.Response | None:
            nonlocal pages
            is_list = self.is_list(asked)
            pages += is_list
            return answer() if is_list and pages >= 2 else None

        self.server.fault = fault
