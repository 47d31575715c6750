"""The bot of a test, connected to a local Bot API server."""

import contextlib
from collections.abc import AsyncIterator

from bots.telegram import TelegramPlatform, Webhook
from tests.bots.scene import Scene as CommonScene
from tests.bots.scene import connected
from tests.fakes.inbox import Kept
from tests.servers.telegram import Rates, TelegramServer

GROUP = -1001
ASKER = 42
FAST = Rates(chat=(100, 1.0), group=(100, 1.0), everything=(1000, 1.0))

Scene = CommonScene[TelegramServer, TelegramPlatform]


@contextlib.asynccontextmanager
async def serving(
    server: TelegramServer, inbox: Kept, *, webhook: Webhook | None = None
) -> AsyncIterator[TelegramPlatform]:
    """Connect a bot to a local server: by polling, or by webhook."""
    platform = TelegramPlatform(token=server.token, api_url=server.url, webhook=webhook, chats=[str(GROUP)])
    async with connected(platform, inbox):
        yield platform
