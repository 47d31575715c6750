"""Questions to GitHub's REST and GraphQL interfaces, with replies of a checked form.

Requests are made one after the other, as GitHub asks for
(https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api).
"""

from collections.abc import AsyncGenerator, Mapping, Set
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import SecretStr, TypeAdapter

from connectors.forge.api import LIMIT, Got, Rest
from connectors.github.faults import explained, limited
from connectors.github.options import GithubOptions
from connectors.http import HttpClient, HttpOptions, Reply
from ragcore.errors import SourceAuthError, SourceBadReply, SourceError

FORGE = "GitHub"
PER_PAGE = 100
"""Entries of one page, the most that GitHub gives."""
_DENIED = frozenset({"FORBIDDEN", "INSUFFICIENT_SCOPES"})

T = TypeVar("T")


@dataclass(slots=True)
class Api:
    """One account's view of one GitHub."""

    options: GithubOptions
    client: HttpClient

    @property
    def has_token(self) -> bool:
        """Whether GraphQL can be asked."""
        return bool(self.options.bearer)

    @property
    def rest(self) -> Rest:
        """The REST interface."""
        return Rest(forge=FORGE, client=self.client, address=self._url, accept="application/vnd.github+json")

    async def get(self, kind: TypeAdapter[T], path: str, *, etag: str = "", passing: Set[int] = frozenset()) -> Got[T]:
        """Ask for JSON, as ``Rest.get`` does."""
        return await self.rest.get(kind, path, etag=etag, passing=passing)

    def pages(self, kind: TypeAdapter[list[T]], path: str) -> AsyncGenerator[list[T], None]:
        """Yield every page of a list."""
        return self.rest.pages(kind, path)

    def checked(self, kind: TypeAdapter[T], value: object) -> T:
        """Return a part of a reply of GraphQL in its form; SourceBadReply when it has another one."""
        return self.rest.checked(kind, value, self.options.graphql)

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
            url, method="POST", body={"query": text, "variables": dict(variables)}, limit=LIMIT
        )
        said = found.value
        if not isinstance(said, dict):
            raise self.rest.malformed(url)
        missing = ""
        for error in said.get("errors") or ():
            missing = _judged(error, found.reply)
        data = said.get("data")
        if not isinstance(data, dict):
            raise self.rest.malformed(url)
        return data, missing

    def _url(self, path: str) -> str:
        return path if path.startswith(("https://", "http://")) else f"{self.options.url}{path}"


def client_of(options: GithubOptions) -> HttpClient:
    """Return a client for the API, to be entered; the token goes to the API's host alone."""
    headers = {"X-GitHub-Api-Version": SecretStr("2022-11-28")}
    if options.bearer:
        headers["Authorization"] = SecretStr(f"Bearer {options.bearer}")
    # Whoever runs Citebot named the host, so it may also be one of their own network.
    return HttpClient(HttpOptions(headers=headers, trusted=(options.url,), addresses=None, explain=explained))


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
