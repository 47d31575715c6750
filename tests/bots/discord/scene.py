"""The bot of a test, connected to a local Discord."""

import contextlib
from collections.abc import AsyncIterator

from bots.discord import DiscordPlatform, MessageContent
from tests.bots.scene import Scene as CommonScene
from tests.bots.scene import connected
from tests.fakes.inbox import Kept
from tests.servers.discord import DiscordServer, Rates, discord_server
from tests.servers.discord.world import Json

GUILD, CHANNEL, THREAD, ASKER = 7 << 22, 11, 12, 42
MENTION = "<@100>"
FAST = Rates(create=(100, 1.0), edit=(100, 1.0), everything=(1000, 1.0))


class Scene(CommonScene[DiscordServer, DiscordPlatform]):
    async def ask(self, text: str = f"{MENTION} how many days?", *, channel: int = CHANNEL) -> Json:
        """Let somebody ask in a channel, and wait until the bot has heard it."""
        count = len(self.inbox.received)
        said = await self.server.say(channel, text)
        await self.inbox.wait(count + 1)
        return said


@contextlib.asynccontextmanager
async def serving(
    server: DiscordServer, inbox: Kept, *, message_content: MessageContent = "auto", token: str = ""
) -> AsyncIterator[DiscordPlatform]:
    platform = DiscordPlatform(
        token=token or server.token,
        api_url=server.url,
        message_content=message_content,
        places=[f"discord:{GUILD}", f"discord:{GUILD}/{CHANNEL}", f"discord:{GUILD}/13", "discord:@1", "slack:T1"],
    )
    async with connected(platform, inbox):
        yield platform


@contextlib.asynccontextmanager
async def peopled(rates: Rates = FAST) -> AsyncIterator[DiscordServer]:
    """Serve a Discord with one server, two channels (13 is hidden) and a thread."""
    async with discord_server(rates=rates) as server:
        server.channel(CHANNEL, guild=GUILD)
        server.channel(13, guild=GUILD, hidden=True, allowed=(8,))
        server.thread(THREAD, parent=CHANNEL)
        yield server
