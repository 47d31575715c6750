"""The bot of a test, connected to a local Slack."""

import contextlib
from collections.abc import AsyncIterator

from bots.slack import Listen, SlackPlatform
from tests.bots.scene import Scene as CommonScene
from tests.bots.scene import connected
from tests.fakes.inbox import Kept
from tests.fakes.ports import free_port
from tests.servers.slack import SlackServer

CHANNEL, DIRECT, ASKER = "C1", "D1", "U1"
NAME = "<@U0BOT>"

Scene = CommonScene[SlackServer, SlackPlatform]


@contextlib.asynccontextmanager
async def serving(server: SlackServer, inbox: Kept, *, http: bool = False) -> AsyncIterator[SlackPlatform]:
    """Connect a bot to a local Slack: by Socket Mode, or by signed HTTP requests."""
    listen = None
    if http:
        listen = Listen(port=free_port())
        server.request_url = f"http://127.0.0.1:{listen.port}/slack/events"
    platform = SlackPlatform(
        bot_token=server.bot_token,
        app_token="" if http else server.app_token,
        signing_secret=server.signing_secret if http else "",
        api_url=f"{server.url}/api/",
        listen=listen,
        channels=[f"slack:{server.team}/{CHANNEL}", "slack:T0002/C9"],
    )
    async with connected(platform, inbox):
        yield platform
