"""Faults of single documents: a source fails for some for ever, and for all of them when it is down."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from connectors.base import Failure
from ragcore.errors import SourceAuthError, SourceBadReply, SourceError, SourceRateLimited, SourceUnreachable

_IN_A_ROW = 5
"""Documents that may fail one after the other before it is asked whether the source answers at all."""
_MOST = 100
"""Documents that may fail one after the other though it does: then what it keeps them in is out of order."""


@dataclass(slots=True, kw_only=True)
class Mishaps:
    """Tells a fault of a document from one of its source. ``probe`` asks something small; it raises what is wrong."""

    probe: Callable[[], Awaitable[object]]
    _row: int = 0

    def passed(self) -> None:
        """Take note that a document could be read."""
        self._row = 0

    async def failure(
        self, identity: str, error: SourceError, version: str = "", *, readers: frozenset[str] | None = None
    ) -> Failure:
        """Return a fault as that of one document, with its readers where they are known; raises it when it isn't."""
        self._row += 1
        if isinstance(error, SourceAuthError | SourceRateLimited | SourceUnreachable) or self._row > _MOST:
            raise error
        if self._row % (_IN_A_ROW + 1) == 0:
            await self.probe()
        # What came in a form that can't be used comes so again; a fault of the server may pass.
        version = version if isinstance(error, SourceBadReply) else ""
        mend = error.mend or "try again later"
        return Failure(id=identity, reason=error.reason, mend=mend, version=version, readers=readers)
