"""Telegram passes what every platform has to, in groups and in private chats."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest

from bots.platform import Incoming, Reach, Sent
from bots.telegram import TelegramPlatform
from tests.bots.platform_conformance import PlatformConformance
from tests.bots.telegram.scene import ASKER, FAST, GROUP, serving
from tests.fakes.inbox import Kept
from tests.servers.faults import Fault
from tests.servers.telegram import TelegramServer, telegram_server


@dataclass(kw_only=True)
class TelegramBench:
    """Implements ``Bench``; ``chat`` is where people ask."""

    server: TelegramServer
    platform: TelegramPlatform
    inbox: Kept
    chat: int

    async def ask(self, text: str, reach: Reach = Reach.MENTION) -> Incoming:
        count = len(self.inbox.received)
        name = f"@{self.server.bot['username']} "
        self.server.say(self.chat, text if self.chat > 0 else name + text)
        return (await self.inbox.wait(count + 1))[-1]

    async def attach(self, text: str, name: str, media_type: str, content: bytes) -> Incoming | None:
        count = len(self.inbox.received)
        self.server.files["f1"] = content
        file = {"file_id": "f1", "file_unique_id": "u", "file_size": len(content)}
        name_of_bot = f"@{self.server.bot['username']}"
        said: dict[str, object] = {"caption": text}
        if self.chat < 0:
            mention = {"type": "mention", "offset": 0, "length": len(name_of_bot)}
            said = {"caption": f"{name_of_bot} {text}", "caption_entities": [mention]}
        if media_type == "image/jpeg":
            said["photo"] = [{**file, "width": 1, "height": 1}]
        else:
            said["document"] = {**file, "file_name": name, "mime_type": media_type}
        self.server.say(self.chat, "", **said)
        return (await self.inbox.wait(count + 1))[-1]

    async def standing(self, incoming: Incoming) -> list[str]:
        return [message["text"] for message in self.server.answers(int(incoming.conversation.channel))]

    def limit_next(self, seconds: float) -> None:
        self.server.faults.add("sendMessage", Fault(status=429, wait=seconds))

    def end_stream(self, sent: Sent) -> bool:
        return False

    async def remove(self, sent: Sent) -> None:
        del self.server.chat(int(sent.channel)).messages[int(sent.id)]


class TestTelegram(PlatformConformance):
    @pytest.fixture(params=[GROUP, ASKER], ids=["group", "private"])
    async def bench(self, request: pytest.FixtureRequest) -> AsyncIterator[TelegramBench]:
        inbox = Kept()
        async with telegram_server(rates=FAST) as server:
            server.chat(request.param)
            async with serving(server, inbox) as platform:
                yield TelegramBench(server=server, platform=platform, inbox=inbox, chat=request.param)
