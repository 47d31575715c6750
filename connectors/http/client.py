"""Requests to source systems: checked addresses, a pace for each host, bodies up to a limit, and typed faults.

    options = HttpOptions(headers={"Authorization": SecretStr("...")}, trusted=("https://api.example",))
    async with HttpClient(options) as client:
        reply = await client.get("https://api.example/file", limit=1_000_000)
        items = (await client.json("https://api.example/items", limit=1_000_000)).value

A request is sent once (again only if a connection that was kept open turned out to be closed): whether and when to try
again is the sync's to decide.
"""

import asyncio
import json
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Any, Self

import aiohttp
from pydantic import SecretStr
from yarl import URL

from connectors.http.addresses import AddressRule
from connectors.http.faults import fault_of, of_exception, shown
from connectors.http.names import Names
from connectors.http.pace import Pace
from ragcore.errors import SourceBadReply, SourceError

_PIECE = 65_536
_LARGE = 500_000  # bytes of JSON, which take some 5 ms to read
_MOST_REDIRECTS = 10
_REDIRECTS = frozenset((301, 302, 303, 307, 308))
_USER_AGENT = "Citebot"
_LONGEST_HEADER = 32_768

_EXPLANATION = 8_192  # bytes of a refusal's content that are read to explain it
_LARGER = "ask for less at once, or leave it out"

Wanted = Callable[["Reply"], bool]
Explain = Callable[["Reply"], SourceError | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpOptions:
    """How a source is asked.

    ``headers`` hold the credential and are sent to the ``trusted`` origins alone (``https://host:port``), also after a
    redirect. ``addresses`` of None means that any address may be reached, and that proxies named by the environment
    are used: for hosts that an operator named, never for addresses found in a page. ``interval`` is the least number of
    seconds between two requests to one host, ``connections`` how many may be under way to it at once, ``timeout`` the
    seconds that a whole request may take, ``silence`` those between two pieces of it. ``explain`` is shown a refusal
    (from 400 on) with the beginning of its content, and returns what it means there; None leaves it to its status.
    """

    headers: Mapping[str, SecretStr] = field(default_factory=dict)
    trusted: tuple[str, ...] = ()
    addresses: AddressRule | None = field(default_factory=AddressRule)
    user_agent: str = _USER_AGENT
    interval: float = 0.0
    connections: int = 4
    timeout: float = 300.0
    silence: float = 60.0
    connecting: float = 15.0
    explain: Explain | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a host answered; ``url`` is the address that answered, after redirects. ``content`` is unpacked."""

    url: str
    status: int
    headers: Mapping[str, str]
    content: bytes = b""

    @property
    def media_type(self) -> str:
        """The media type in lower case, without parameters."""
        return self.headers.get("Content-Type", "").partition(";")[0].strip().lower()

    @property
    def charset(self) -> str:
        """The charset that the headers name, "" when they don't."""
        return aiohttp.helpers.parse_mimetype(self.headers.get("Content-Type", "")).parameters.get("charset", "")

    def headers_named(self, name: str) -> tuple[str, ...]:
        """Return every header of this name, in order."""
        return tuple(value for key, value in self.headers.items() if key.lower() == name.lower())

    @property
    def target(self) -> str:
        """Where a redirect leads, as an absolute address without a fragment; "" when this is none, or to nowhere."""
        place = self.headers.get("Location", "")
        if self.status not in _REDIRECTS or not place:
            return ""
        try:
            return str(URL(self.url, encoded=True).join(URL(place)).with_fragment(None))
        except ValueError:
            return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonReply:
    """A reply whose content is JSON, and its value."""

    reply: Reply
    value: Any


@dataclass(slots=True)
class HttpClient:
    """One session of requests for one run of a source; ``async with`` opens and closes it."""

    options: HttpOptions
    _session: aiohttp.ClientSession | None = field(init=False, default=None, repr=False)
    _paces: dict[str, Pace] = field(init=False, default_factory=dict)
    _trusted: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        """Take the origins of what is trusted, whatever path stands behind them."""
        self._trusted = frozenset(str(URL(url).origin()) for url in self.options.trusted)

    async def __aenter__(self) -> Self:
        """Open the session; nothing is connected yet."""
        rule, options = self.options.addresses, self.options
        connector = aiohttp.TCPConnector(
            limit_per_host=options.connections,
            use_dns_cache=False,
            resolver=Names(),
            socket_factory=rule.open_socket if rule else None,
        )
        self._session = aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            headers={"User-Agent": options.user_agent},
            timeout=aiohttp.ClientTimeout(
                total=options.timeout, sock_connect=options.connecting, sock_read=options.silence
            ),
            max_line_size=_LONGEST_HEADER,
            max_field_size=_LONGEST_HEADER,
            trust_env=rule is None,  # a proxy would connect to what we can't check
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close all connections."""
        if self._session is not None:
            await self._session.close()

    async def get(
        self,
        url: str,
        *,
        limit: int,
        headers: Mapping[str, str] | None = None,
        wanted: Wanted | None = None,
        redirects: int = _MOST_REDIRECTS,
        passing: Set[int] = frozenset(),
        is_cut: bool = False,
        telling: Set[int] = frozenset(),
        larger: str = _LARGER,
    ) -> Reply:
        """Read an address.

        Args:
            url: An absolute address of http or https.
            limit: The most bytes of content, unpacked, that are taken.
            headers: Headers of this request alone, such as conditions.
            wanted: Looks at the reply before its content is read; False leaves the content unread, and empty.
            redirects: How many are followed; with 0 a redirect is returned as it is.
            passing: Statuses from 400 on that are returned instead of raised, without their content.
            is_cut: Whether content over the limit is cut off, instead of refused.
            telling: Statuses from 400 on that are returned with their content, which says more than the status.
            larger: What its owner can do where the content is over the limit.

        Raises:
            SourceError: One of its kinds, for every status from 400 on and for whatever keeps a reply from coming.
        """
        seen = {url}
        while True:
            reply = await self._send(
                "GET",
                url,
                limit=limit,
                headers=headers or {},
                wanted=wanted,
                passing=passing,
                telling=telling,
                is_cut=is_cut,
                larger=larger,
            )
            if not reply.target or not redirects:
                return reply
            url = reply.target
            if url in seen:
                raise SourceBadReply(f"{shown(url)} redirects in a circle", mend="mend the site, or leave it out")
            if len(seen) > redirects:
                raise SourceBadReply(f"{shown(url)} redirects more than {redirects} times", mend="check the address")
            seen.add(url)

    async def json(
        self,
        url: str,
        *,
        method: str = "GET",
        body: Any = None,
        headers: Mapping[str, str] | None = None,
        limit: int,
        redirects: int = _MOST_REDIRECTS,
        passing: Set[int] = frozenset(),
        telling: Set[int] = frozenset(),
    ) -> JsonReply:
        """Ask for JSON, sending ``body`` as JSON where there is one; SourceBadReply when something else comes.

        A reply without content (304, 204, a redirect that isn't followed, a status of ``passing``) has the value None,
        and so has one of a status of ``telling`` that isn't JSON. Redirects are followed for GET alone; with
        ``redirects`` of 0 none is.
        """
        asked = {"Accept": "application/json", **(headers or {})}
        if method == "GET":
            reply = await self.get(
                url, limit=limit, headers=asked, redirects=redirects, passing=passing, telling=telling
            )
        else:
            reply = await self._send(
                method, url, limit=limit, headers=asked, body=body, passing=passing, telling=telling
            )
        if reply.status in {204, 304} or reply.target or reply.status in passing:
            return JsonReply(reply=reply, value=None)
        try:
            return JsonReply(reply=reply, value=await _loaded(reply.content))
        except (ValueError, RecursionError):
            if reply.status in telling:
                return JsonReply(reply=reply, value=None)
            what = "a web page" if reply.content.lstrip()[:1] == b"<" else "something else"
            raise SourceBadReply(
                f"{shown(reply.url)} answered with {what} where JSON was due",
                mend="check the address; where a page to log in came, check the credential",
            ) from None

    def slow_down(self, url: str, interval: float) -> None:
        """Keep at least so many seconds between two requests to this address's host from now on."""
        self._pace(url).slow_down(interval)

    def _pace(self, url: str) -> Pace:
        return self._paces.setdefault(URL(url, encoded=True).authority, Pace(interval=self.options.interval))

    async def _send(
        self,
        method: str,
        url: str,
        *,
        limit: int,
        headers: Mapping[str, str],
        wanted: Wanted | None = None,
        passing: Set[int] = frozenset(),
        telling: Set[int] = frozenset(),
        body: Any = None,
        is_cut: bool = False,
        larger: str = _LARGER,
    ) -> Reply:
        if self._session is None:
            raise RuntimeError("the client is used outside of `async with`")
        try:
            address = URL(url)
            await self._pace(url).turn()
            sent = {**self._private(address), **headers}
            async with self._session.request(
                method, address, headers=sent, json=body, allow_redirects=False
            ) as response:
                found = Reply(url=url, status=response.status, headers=response.headers)
                fault = None if found.status in telling else fault_of(found.status, found.headers, url)
                if fault is not None and found.status not in passing:
                    raise await self._explained(found, response) or fault
                if fault or found.target or (wanted is not None and not wanted(found)):
                    response.close()  # what is not wanted is not read
                    return found
                content = await _read(response, limit, url, is_cut=is_cut, larger=larger)
                return Reply(url=url, status=found.status, headers=found.headers, content=content)
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise of_exception(error, url) from None  # its text may hold what the address held

    async def _explained(self, refusal: Reply, response: aiohttp.ClientResponse) -> SourceError | None:
        """Return what a refusal means at this host, None when the host has no way of its own to tell it."""
        if self.options.explain is None:
            return None
        content = bytearray()
        async for piece in response.content.iter_any():
            content += piece
            if len(content) >= _EXPLANATION:
                break
        response.close()
        return self.options.explain(replace(refusal, content=bytes(content[:_EXPLANATION])))

    def _private(self, address: URL) -> Mapping[str, str]:
        if str(address.origin()) not in self._trusted:
            return {}
        return {name: value.get_secret_value() for name, value in self.options.headers.items()}


async def _loaded(content: bytes) -> Any:
    """Return the value that JSON stands for; what is large is read in a thread, where it delays nobody."""
    return await asyncio.to_thread(json.loads, content) if len(content) > _LARGE else json.loads(content)


async def _read(response: aiohttp.ClientResponse, limit: int, url: str, *, is_cut: bool, larger: str) -> bytes:
    """Return the unpacked content, piece by piece, so that never much more than the limit is held."""
    too_large = SourceBadReply(f"{shown(url)} is larger than the limit of {limit / 1e6:,.4g} MB", mend=larger)
    if not is_cut and (response.content_length or 0) > limit:
        response.close()
        raise too_large
    content = bytearray()
    async for piece in response.content.iter_chunked(_PIECE):
        content += piece
        if len(content) > limit:
            response.close()
            if not is_cut:
                raise too_large
            break
    return bytes(content[:limit])
