"""Questions to GitLab's REST interface, version 4, with replies of a checked form."""

from collections.abc import AsyncGenerator, Set
from dataclasses import dataclass
from typing import TypeVar

from pydantic import SecretStr, TypeAdapter

from connectors.forge.api import Got, Rest
from connectors.gitlab.faults import explained
from connectors.gitlab.options import GitlabOptions
from connectors.http import HttpClient, HttpOptions, Reply

FORGE = "GitLab"
PER_PAGE = 100
"""Entries of one page, the most that GitLab gives."""
_ROOT = "/api/v4"
_LARGER = "exclude it, or raise max_megabytes"

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Api:
    """One token's view of one GitLab."""

    options: GitlabOptions
    client: HttpClient

    async def get(self, kind: TypeAdapter[T], path: str, *, etag: str = "", passing: Set[int] = frozenset()) -> Got[T]:
        """Ask for JSON, as ``Rest.get`` does."""
        return await self._rest.get(kind, path, etag=etag, passing=passing)

    def pages(self, kind: TypeAdapter[list[T]], path: str) -> AsyncGenerator[list[T], None]:
        """Yield every page of a list."""
        return self._rest.pages(kind, path)

    def replies(
        self, kind: TypeAdapter[list[T]], path: str, *, passing: Set[int] = frozenset()
    ) -> AsyncGenerator[Got[list[T]], None]:
        """Yield the reply of every page of a list, as ``Rest.replies`` does."""
        return self._rest.replies(kind, path, passing=passing)

    async def raw(self, path: str, *, limit: int, passing: Set[int] = frozenset()) -> Reply:
        """Return a file; without its content where a header tells that it is larger than ``limit`` bytes.

        ``passing`` are statuses from 400 on that are no fault.
        """

        def is_small(reply: Reply) -> bool:
            return size_of(reply) <= limit

        return await self.client.get(self._address(path), limit=limit, wanted=is_small, passing=passing, larger=_LARGER)

    @property
    def _rest(self) -> Rest:
        return Rest(forge=FORGE, client=self.client, address=self._address)

    def _address(self, path: str) -> str:
        # Behind a proxy GitLab may tell addresses of another scheme or host than it is reached by, in its links too.
        tail = path.partition(_ROOT)[2] if path.startswith(("https://", "http://")) else path
        return f"{self.options.url}{_ROOT}{tail}"


def size_of(reply: Reply) -> int:
    """Return the size of a file in bytes, 0 where no header tells it."""
    size = reply.headers.get("X-Gitlab-Size", "")
    return int(size) if size.isascii() and size.isdigit() else 0


def client_of(options: GitlabOptions) -> HttpClient:
    """Return a client for the API, to be entered; the token goes to the API's host alone."""
    headers = {"Authorization": SecretStr(f"Bearer {options.bearer}")} if options.bearer else {}
    # Whoever runs Citebot named the host, so it may also be one of their own network.
    return HttpClient(HttpOptions(headers=headers, trusted=(options.url,), addresses=None, explain=explained))
