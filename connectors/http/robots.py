"""What hosts ask of crawlers in their ``robots.txt`` (RFC 9309)."""

import asyncio
from dataclasses import dataclass, field

from protego import Protego
from yarl import URL

from connectors.http.client import HttpClient
from ragcore.errors import SourceAuthError, SourceBadReply, SourceGone

_LARGEST = 2_000_000  # bytes; what comes behind is passed by (RFC 9309, section 2.5)
_LONGEST_DELAY = 60.0


@dataclass(slots=True)
class Robots:
    """The wishes of each host, asked for once in a run. A host without a file, or that refuses it, wishes nothing.

    One that fails (5xx, no connection) may not be crawled now: the error of asking is raised.
    """

    client: HttpClient
    agent: str
    is_kept: bool = True
    _hosts: dict[str, "asyncio.Task[Protego | None]"] = field(init=False, default_factory=dict)

    async def allows(self, url: str) -> bool:
        """Tell whether an address may be asked for; the host's delay is kept from then on."""
        if not self.is_kept:
            return True
        origin = str(URL(url, encoded=True).origin())
        if origin not in self._hosts:
            self._hosts[origin] = asyncio.create_task(self._read(origin))
        wishes = await asyncio.shield(self._hosts[origin])
        return wishes is None or bool(wishes.can_fetch(url, self.agent))

    async def aclose(self) -> None:
        """End what is still being asked."""
        for task in self._hosts.values():
            task.cancel()
        await asyncio.gather(*self._hosts.values(), return_exceptions=True)

    async def _read(self, origin: str) -> Protego | None:
        try:
            reply = await self.client.get(f"{origin}/robots.txt", limit=_LARGEST, is_cut=True)
        except (SourceGone, SourceAuthError, SourceBadReply):
            return None  # RFC 9309, section 2.3.1.3: unavailable means that all is allowed
        wishes = Protego.parse(reply.content.decode("utf-8", "replace").removeprefix("\ufeff"))
        delay = wishes.crawl_delay(self.agent)
        if delay:
            self.client.slow_down(origin, min(float(delay), _LONGEST_DELAY))
        return wishes
