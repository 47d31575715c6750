"""What a platform confirmed is asked once, and nobody who waits for it is broken off with the connection."""

import asyncio

import pytest

from bots.remembered import Remembered
from ragcore.errors import PlatformUnreachable


async def never(_: str) -> str:
    await asyncio.Event().wait()
    return ""


async def test_who_waits_when_the_connection_ends_is_told_and_not_cancelled() -> None:
    remembered = Remembered(never)
    waiting = asyncio.create_task(remembered.get("U1"))
    await asyncio.sleep(0)
    remembered.close()
    with pytest.raises(PlatformUnreachable):
        await waiting


async def test_who_is_cancelled_is_cancelled() -> None:
    remembered = Remembered(never)
    waiting = asyncio.create_task(remembered.get("U1"))
    await asyncio.sleep(0)
    remembered.close()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
