"""The composition root: settings become parts, parts become operations; here alone bots and connectors meet."""

import contextlib
from collections.abc import AsyncGenerator

from bots.app.operations import PATIENCE, Operations
from bots.app.parts import open_parts
from bots.settings import Settings

__all__ = ["Operations", "open_operations"]


@contextlib.asynccontextmanager
async def open_operations(
    settings: Settings,
    *,
    mending: bool = True,
    warming: bool = False,
    patience: float = PATIENCE,
    leaving: float | None = None,
) -> AsyncGenerator[Operations]:
    """Open everything that the settings name; hold the data directory's lock meanwhile.

    With ``mending`` damaged indexes are built anew at once; the doctor wants to see them first. With ``warming`` what
    the first question needs is loaded in the background. The start waits ``patience`` seconds for the mending, and the
    end ``leaving`` (None: until it is done).
    """
    async with open_parts(settings) as parts:
        operations = Operations(settings, parts)
        try:
            if mending:
                await operations.start(patience)
            if warming:
                await operations.warm()
            yield operations
        finally:
            await operations.close(leaving)
