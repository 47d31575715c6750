"""A connected bot."""

from collections.abc import AsyncIterator

import pytest

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
