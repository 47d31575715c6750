"""A connected bot."""

from collections.abc import AsyncIterator

import pytest
from aiogram.client.session.aiohttp import AiohttpSession

from tests.bots.telegram.scene import FAST, GROUP, Scene, serving
from tests.fakes.inbox import Kept
from tests.servers.telegram import telegram_server


@pytest.fixture
async def scene() -> AsyncIterator[Scene]:
    inbox = Kept()
    async with telegram_server(rates=FAST) as server:
        server.chat(GROUP)
        async with serving(server, inbox) as platform:
            yield Scene(server=server, platform=platform, inbox=inbox)


@pytest.fixture(autouse=True)
def plain_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no closed session wait, as aiogram does, a quarter of a second for connections over TLS: there are none."""

    async def close(session: AiohttpSession) -> None:
        if session._session is not None:
            await session._session.close()

    monkeypatch.setattr(AiohttpSession, "close", close)
