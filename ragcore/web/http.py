"""What is needed of an HTTP client, which whoever composes gives: connections belong to the house, not to the core.

The client of ``connectors.http`` has this form. It takes bodies up to a limit, follows redirects itself, judges every
address at the moment of connecting to it, and raises kinds of ``SourceError`` alone.
"""

from collections.abc import Callable, Mapping, Set
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol


class Reply(Protocol):
    """What a host answered."""

    @property
    def url(self) -> str:
        """Return the address that answered, after redirects."""
        ...

    @property
    def status(self) -> int:
        """Return the status."""
        ...

    @property
    def headers(self) -> Mapping[str, str]:
        """Return the headers; a name is found in any case."""
        ...

    @property
    def content(self) -> bytes:
        """Return the content, unpacked."""
        ...

    @property
    def media_type(self) -> str:
        """Return the media type in lower case, without parameters."""
        ...

    @property
    def charset(self) -> str:
        """Return the charset that the headers name, "" when they don't."""
        ...


class JsonReply(Protocol):
    """A reply and the value of its JSON."""

    @property
    def reply(self) -> Reply:
        """Return the reply."""
        ...

    @property
    def value(self) -> Any:
        """Return the value; None of a redirect that isn't followed, and of a status that is told without JSON."""
        ...


class JsonHttp(Protocol):
    """Asks for JSON."""

    async def json(
        self,
        url: str,
        *,
        method: str = "GET",
        body: Any = None,
        headers: Mapping[str, str] | None = None,
        limit: int,
        redirects: int = 10,
        telling: Set[int] = frozenset(),
    ) -> JsonReply:
        """Ask for JSON of at most ``limit`` bytes; statuses of ``telling`` are returned, other ones from 400 on raised.

        Raises:
            SourceError: One of its kinds, for whatever keeps a reply from coming.
        """
        ...


class PageHttp(Protocol):
    """Reads addresses; connects to public ones alone, unless whoever made it allowed others."""

    async def get(
        self,
        url: str,
        *,
        limit: int,
        headers: Mapping[str, str] | None = None,
        wanted: Callable[[Any], bool] | None = None,
        redirects: int = 10,
        is_cut: bool = False,
    ) -> Reply:
        """Read an address: ``limit`` bytes of what is ``wanted`` by its head, cut off there if ``is_cut``.

        Raises:
            SourceError: One of its kinds.
        """
        ...


OpenPages = Callable[[], AbstractAsyncContextManager[PageHttp]]
"""Opens a client for the pages of one question; closing it closes every connection."""
