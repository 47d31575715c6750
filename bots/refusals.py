"""The calls that a platform refused because there were too many: HTTP 429, whoever made them, and made them again."""

from types import SimpleNamespace

import aiohttp

TOO_MANY = 429


class Refusals:
    """Counts such refusals of one platform since the start, those included that its library waits for by itself."""

    def __init__(self) -> None:
        """Begin at none."""
        self.count = 0

    def add(self) -> None:
        """Count one."""
        self.count += 1

    def trace(self) -> aiohttp.TraceConfig:
        """Return what lets a session of aiohttp count them."""
        trace = aiohttp.TraceConfig()
        trace.on_request_end.append(self._ended)
        return trace

    async def _ended(self, _: aiohttp.ClientSession, __: SimpleNamespace, told: aiohttp.TraceRequestEndParams) -> None:
        if told.response.status == TOO_MANY:
            self.add()
