"""Questions to a site, with replies of a checked form, and what its refusals mean.

Cloud: https://developer.atlassian.com/cloud/confluence/rest/v2/intro/ and
https://developer.atlassian.com/cloud/jira/platform/rest/v3/intro/; Data Center:
https://developer.atlassian.com/server/confluence/rest/ and https://developer.atlassian.com/server/jira/platform/rest/.
"""

from collections.abc import AsyncGenerator, Mapping, Set
from dataclasses import dataclass
from typing import Any, Generic, TypeVar
from urllib.parse import parse_qsl, urlencode, urlsplit

from pydantic import TypeAdapter

from connectors.atlassian.options import AtlassianOptions
from connectors.http import HttpClient, HttpOptions, Reply, checked, json_object, shown
from ragcore.errors import SourceAuthError, SourceBadReply, SourceError

_LIMIT = 100_000_000  # bytes of one reply
_SERVER = "Atlassian"
_LOGIN = "X-Seraph-LoginReason"
"""What a refused credential shows by where anybody may ask: the reply is what a stranger sees."""
_STRANGER = frozenset({"AUTHENTICATED_FAILED", "AUTHENTICATION_DENIED"})

T = TypeVar("T")


class Refused(SourceError):
    """One thing may not be read: what it belongs to may be, and the credential is good."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Got(Generic[T]):
    """A reply; ``value`` is None when its status was let pass."""

    value: T | None
    status: int


@dataclass(slots=True)
class Api:
    """One account's view of one site."""

    options: AtlassianOptions
    client: HttpClient

    async def get(
        self,
        kind: TypeAdapter[T],
        path: str,
        asked: Mapping[str, str | int] | None = None,
        *,
        passing: Set[int] = frozenset(),
    ) -> Got[T]:
        """Ask for JSON.

        Args:
            kind: The form of the reply.
            path: Below the site's address.
            asked: The query.
            passing: Statuses from 400 on that are no fault.

        Raises:
            SourceError: One of its kinds.
        """
        url = self.address(path, asked)
        found = await self.client.json(url, limit=_LIMIT, passing=passing)
        _check_login(found.reply)
        if found.reply.status in passing:
            return Got(value=None, status=found.reply.status)
        return Got(value=checked(kind, found.value, url, server=_SERVER), status=found.reply.status)

    async def post(self, kind: TypeAdapter[T], path: str, body: Mapping[str, Any]) -> T:
        """Ask for JSON by JSON."""
        url = self.address(path)
        found = await self.client.json(url, method="POST", body=dict(body), limit=_LIMIT)
        _check_login(found.reply)
        return checked(kind, found.value, url, server=_SERVER)

    async def pages(
        self, kind: TypeAdapter[T], path: str, asked: Mapping[str, str | int]
    ) -> AsyncGenerator[tuple[T, str], None]:
        """Yield every page of a list that names its next one in ``_links``, with the address that links begin with.

        Of the next page's address the query counts alone: what stands before it differs between the interfaces. A list
        that leads back to a page that was read is no whole one.
        """
        url, seen = self.address(path, asked), set[str]()
        while True:
            if url in seen:
                raise SourceError(f"the pages of {shown(url)} lead in a circle", mend="try again later")
            seen.add(url)
            found = await self.client.json(url, limit=_LIMIT)
            _check_login(found.reply)
            links = found.value.get("_links") if isinstance(found.value, dict) else None
            links = links if isinstance(links, dict) else {}
            yield checked(kind, found.value, url, server=_SERVER), str(links.get("base") or "")
            following = links.get("next")
            if not isinstance(following, str) or not following:
                return
            url = self.address(path, dict(parse_qsl(urlsplit(following).query, keep_blank_values=True)))

    async def file(self, url: str, *, limit: int) -> bytes | None:
        """Return a file of at most so many bytes, None when it is gone; Refused where the account may not read it."""
        reply = await self.client.get(url, limit=limit, passing=frozenset({403, 404}))
        if reply.status == 404:
            return None
        if reply.status == 403:
            raise Refused(f"{shown(url)} may not be read (403)", mend="let the account see it")
        _check_login(reply)
        # To whom it doesn't show a file, a Data Center shows how to log in; on Cloud files are on another host.
        is_elsewhere = urlsplit(reply.url).path != urlsplit(url).path
        if is_elsewhere and reply.media_type == "text/html" and not self.options.is_cloud:
            raise Refused(f"{shown(url)} leads to a page to log in", mend="let the account see it")
        return reply.content

    def address(self, path: str, asked: Mapping[str, str | int] | None = None) -> str:
        """Return an address below the site's."""
        return f"{self.options.site}{path}" + (f"?{urlencode(asked)}" if asked else "")


def client_of(options: AtlassianOptions, *, product: str) -> HttpClient:
    """Return a client for a site, to be entered; the credential goes to its host alone.

    Args:
        options: The site and its credential.
        product: What faults call it.
    """

    def explained(reply: Reply) -> SourceError | None:
        return _explained(reply, product, options)

    # Whoever runs Citebot named the host, so it may also be one of their own network.
    return HttpClient(
        HttpOptions(
            headers={"Authorization": options.authorization},
            trusted=(options.url,),
            addresses=None,
            explain=explained,
        )
    )


def said(content: bytes) -> str:
    """Return what a refusal says of itself, "" when that can't be read."""
    told = json_object(content)
    errors = told.get("errorMessages") or [told.get("message") or ""]
    words = " ".join(str(error) for error in errors) if isinstance(errors, list) else str(errors)
    return " ".join(words.split())[:200]


def _check_login(reply: Reply) -> None:
    if reply.headers.get(_LOGIN, "").upper() in _STRANGER:
        raise SourceAuthError(f"{shown(reply.url)} refused the credential", mend="check `token`, and `email` on Cloud")


def _explained(reply: Reply, product: str, options: AtlassianOptions) -> SourceError | None:
    """Return what a refusal means; None leaves it to its status."""
    if reply.status == 401 or reply.headers.get(_LOGIN, "").upper() in _STRANGER:
        if reply.headers.get("X-Authentication-Denied-Reason"):
            mend = "log in with it in a browser once: the server asks for a captcha"
        elif options.is_cloud:
            mend = "check `email` and `token`; a token expires after a year at most"
        else:
            mend = "check that `token` is a personal access token that has not expired; on Cloud `email` is needed"
        return SourceAuthError(f"{product} refused the credential ({reply.status})", mend=mend)
    why = said(reply.content)
    if reply.status == 400 and why:
        return SourceBadReply(f"{product} did not understand: {why}", mend="check the settings")
    if reply.status == 403 and "Retry-After" not in reply.headers:
        told = f": {why}" if why else ""
        return SourceAuthError(
            f"{product} does not let the account read {shown(reply.url)} (403){told}",
            mend="give the account, and the scopes of its token, the right to read",
        )
    return None
