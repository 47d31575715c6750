"""Questions to GitHub's REST and GraphQL interfaces, with replies of a checked form.

Requests are made one after the other, as GitHub asks for
(https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api).
"""

import re
from collections.abc import AsyncGenerator, Mapping, Set
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar

from pydantic import SecretStr, TypeAdapter, ValidationError
from yarl import URL

from connectors.github.faults import explained, limited
from connectors.github.options import GithubOptions
from connectors.http import HttpClient, HttpOptions, Reply, moment, shown
from ragcore.errors import SourceAuthError, SourceBadReply, SourceError

PER_PAGE = 100
"""Entries of one page, the most that GitHub gives."""
_LIMIT = 50_000_000  # bytes of one reply; a tree has 7 MB at most
_NEXT = re.compile(r'<([^>]+)>;[^,]*\brel="?next"?')
_DENIED = frozenset({"FORBIDDEN", "INSUFFICIENT_SCOPES"})

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Got(Generic[T]):
    """A reply: ``value`` is None when nothing has changed (304), or the status was let pass."""

    value: T | None
    status: int
    etag: str
    url: str
    next: str = ""
    """Where the next page is, "" after the last one."""
    date: datetime | None = None
    """GitHub's own time of the reply."""

    @property
    def is_unchanged(self) -> bool:
        """Whether it is still what the ETag stands for."""
        return self.status == 304


@dataclass(slots=True)
class Api:
    """One account's view of one GitHub."""

    options: GithubOptions
    client: HttpClient

    @property
    def has_token(self) -> bool:
        """Whether GraphQL can be asked."""
        return bool(self.options.bearer)

    async def get(self, kind: TypeAdapter[T], path: str, *, etag: str = "", passing: Set[int] = frozenset()) -> Got[T]:
        """Ask for JSON.

        Args:
            kind: The form of the reply.
            path: Below the address of the API, or a whole address, such as that of a next page.
            etag: What an earlier reply was known by: then only a change is answered.
            passing: Statuses from 400 on that are no fault.

        Raises:
            SourceError: One of its kinds.
        """
        headers = {"Accept": "application/vnd.github+json"}
        if etag:
            headers["If-None-Match"] = etag
        found = await self.client.json(self._url(path), headers=headers, limit=_LIMIT, passing=passing)
        reply = found.reply
        is_there = reply.status not in {304, *passing}
        following = _NEXT.search(reply.headers.get("Link", ""))
        return Got(
            value=checked(kind, found.value, reply.url) if is_there else None,
            status=reply.status,
            etag=reply.headers.get("ETag", "") or etag * (reply.status == 304),
            url=reply.url,
            next=following[1] if following else "",
            date=moment(reply.headers.get("Date", "")),
        )

    async def pages(self, kind: TypeAdapter[list[T]], path: str) -> AsyncGenerator[list[T], None]:
        """Yield every page of a list."""
        url, seen = path, set[str]()
        while url and url not in seen:
            seen.add(url)
            got = await self.get(kind, url)
            yield got.value or []
            url = got.next

    async def raw(self, path: str, *, limit: int) -> bytes:
        """Return the bytes of a file."""
        headers = {"Accept": "application/vnd.github.raw+json"}
        return (await self.client.get(self._url(path), limit=limit, headers=headers)).content

    async def query(self, text: str, variables: Mapping[str, object]) -> tuple[dict[str, Any], str]:
        """Ask by GraphQL; return the data and the error of what is not there, "" when everything is.

        Raises:
            SourceError: One of its kinds. An error that names a part which isn't there is none.
        """
        url = self.options.graphql
        found = await self.client.json(
            url, method="POST", body={"query": text, "variables": dict(variables)}, limit=_LIMIT
        )
        said = found.value
        if not isinstance(said, dict):
            raise _malformed(url)
        missing = ""
        for error in said.get("errors") or ():
            missing = _judged(error, found.reply)
        data = said.get("data")
        if not isinstance(data, dict):
            raise _malformed(url)
        return data, missing

    def _url(self, path: str) -> str:
        return path if path.startswith(("https://", "http://")) else f"{self.options.url}{path}"


def checked(kind: TypeAdapter[T], value: object, url: str) -> T:
    """Return a reply's value in its form; SourceBadReply when it has another one."""
    try:
        return kind.validate_python(value)
    except ValidationError:
        raise _malformed(url) from None


def client_of(options: GithubOptions) -> HttpClient:
    """Return a client for the API, to be entered; the token goes to the API's host alone."""
    headers = {"X-GitHub-Api-Version": SecretStr("2022-11-28")}
    if options.bearer:
        headers["Authorization"] = SecretStr(f"Bearer {options.bearer}")
    # Whoever runs Citebot named the host, so it may also be one of their own network.
    trusted = (str(URL(options.url).origin()),)
    return HttpClient(HttpOptions(headers=headers, trusted=trusted, addresses=None, explain=explained))


def _judged(error: object, reply: Reply) -> str:
    """Return the text of an error that means that something isn't there, and raise any other."""
    said = error if isinstance(error, dict) else {}
    kind, text = str(said.get("type", "")), " ".join(str(said.get("message", "no reason")).split())[:200]
    if kind == "NOT_FOUND":
        return text
    if kind == "RATE_LIMITED" or "rate limit" in text.lower():
        raise limited(reply)
    if kind in _DENIED:
        mend = "give it the right to read contents and discussions of the repository"
        raise SourceAuthError(f"GitHub does not let the token read this: {text}", mend=mend)
    if not kind or "timeout" in text.lower() or "went wrong" in text.lower():
        raise SourceError(f"GitHub did not answer: {text}", mend="try again later")
    raise SourceBadReply(f"GitHub did not understand: {text}", mend="check `url`; an old server may lack discussions")


def _malformed(url: str) -> SourceBadReply:
    return SourceBadReply(f"{shown(url)} did not answer as GitHub does", mend="check `url`")
