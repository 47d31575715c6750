"""Slack passes what every platform has to, in channels and in direct messages."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest

from bots.platform import Incoming, Reach, Sent
from bots.slack import SlackPlatform
from tests.bots.platform_conformance import PlatformConformance
from tests.bots.slack.scene import serving
from tests.fakes.inbox import Kept
from tests.servers.faults import Fault
from tests.servers.slack import Rates, SlackServer, slack_server


@dataclass(kw_only=True)
class SlackBench:
    """Implements ``Bench``; ``channel`` is where people ask."""

    server: SlackServer
    platform: SlackPlatform
    inbox: Kept
    channel: str

    async def ask(self, text: str, reach: Reach = Reach.MENTION) -> Incoming:
        count = len(self.inbox.received)
        self.server.say(self.channel, text if self.channel[0] == "D" else f"<@{self.server.user}> {text}")
        return (await self.inbox.wait(count + 1))[-1]

    async def attach(self, text: str, name: str, media_type: str, content: bytes) -> Incoming | None:
        count = len(self.inbox.received)
        self.server.files["F1"] = content
        file = {"id": "F1", "name": name, "mimetype": media_type, "size": len(content)}
        text = text if self.channel[0] == "D" else f"<@{self.server.user}> {text}"
        self.server.say(self.channel, text, files=[file], subtype="file_share")
        return (await self.inbox.wait(count + 1))[-1]

    async def standing(self, incoming: Incoming) -> list[str]:
        here = incoming.conversation
        return [self.server.plain(message) for message in self.server.answers(here.channel, here.thread)]

    def limit_next(self, seconds: float) -> None:
        self.server.faults.add("chat.postMessage", Fault(status=429, wait=seconds))

    def end_stream(self, sent: Sent) -> bool:
        del self.server.channel(sent.channel).messages[sent.id]["streaming"]
        return True

    async def remove(self, sent: Sent) -> None:
        del self.server.channel(sent.channel).messages[sent.id]


class TestSlack(PlatformConformance):
    @pytest.fixture(params=["C1", "D1"], ids=["channel", "direct"])
    async def bench(self, request: pytest.FixtureRequest) -> AsyncIterator[SlackBench]:
        inbox = Kept()
        async with slack_server(rates=Rates(channel=(100, 1.0))) as server, serving(server, inbox) as platform:
            yield SlackBench(server=server, platform=platform, inbox=inbox, channel=request.param)
            limited = [error for _, error in server.refused if error == "ratelimited"]
            assert limited == [], "no send was refused by a limit of the server's own"
