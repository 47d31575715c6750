"""What every platform has to do, on Discord: by messages, and by slash commands."""

import pytest

from bots.platform import Incoming, Reach, Sent
from tests.bots.discord.scene import CHANNEL, MENTION, Scene
from tests.bots.platform_conformance import Bench, PlatformConformance
from tests.fakes.waiting import until
from tests.servers.discord import DiscordServer
from tests.servers.faults import Fault


class DiscordBench:
    """A bot in one channel."""

    def __init__(self, scene: Scene) -> None:
        self.platform = scene.platform
        self._scene = scene

    async def ask(self, text: str, reach: Reach = Reach.MENTION) -> Incoming:
        count = len(self._scene.inbox.received)
        await self._scene.server.say(CHANNEL, f"{MENTION} {text}")
        return (await self._scene.inbox.wait(count + 1))[-1]

    async def attach(self, text: str, name: str, media_type: str, content: bytes) -> Incoming | None:
        server = self._scene.server
        server.state.files[name] = content
        url = server.url.replace("/api/v10", f"/files/{name}")
        file = {
            "id": "1",
            "filename": name,
            "url": url,
            "proxy_url": url,
            "size": len(content),
            "content_type": media_type,
        }
        await server.say(CHANNEL, f"{MENTION} {text}", attachments=[file])
        return (await self._scene.inbox.wait())[-1]

    async def standing(self, incoming: Incoming) -> list[str]:
        return [one["content"] for one in self._scene.server.answers(CHANNEL)]

    def limit_next(self, seconds: float) -> None:
        self._scene.server.faults.add("POST /channels/{}/messages", Fault(status=429, wait=seconds))

    def end_stream(self, sent: Sent) -> bool:
        return False

    async def remove(self, sent: Sent) -> None:
        server: DiscordServer = self._scene.server
        channel = server.state.channels[int(sent.channel)]
        await server.delete(channel.messages[int(sent.id)])


class CommandBench(DiscordBench):
    """The same, asked by a slash command; its first sign is no answer yet."""

    async def ask(self, text: str, reach: Reach = Reach.MENTION) -> Incoming:
        count = len(self._scene.inbox.received)
        interaction = await self._scene.server.command(CHANNEL, "ask", question=text)
        await until(lambda: self._scene.server.interactions.of(interaction).answered)
        return (await self._scene.inbox.wait(count + 1))[-1]

    async def attach(self, text: str, name: str, media_type: str, content: bytes) -> Incoming | None:
        return None

    def limit_next(self, seconds: float) -> None:
        self._scene.server.faults.add("PATCH /webhooks/{}/{}/messages/{}", Fault(status=429, wait=seconds))


class TestMessages(PlatformConformance):
    @pytest.fixture
    def bench(self, scene: Scene) -> Bench:
        return DiscordBench(scene)


class TestCommands(PlatformConformance):
    @pytest.fixture
    def bench(self, scene: Scene) -> Bench:
        return CommandBench(scene)
