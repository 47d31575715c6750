"""Slack passes what every platform has to."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest

from bots.platform import Incoming, Reach, Sent
from bots.slack import SlackPlatform
from tests.bots.platform_conformance import PlatformConformance
from tests.bots.slack.test_slack import serving
from tests.fakes.inbox import Kept
from tests.servers.faults import Fault
from tests.servers.slack import Rates, SlackServer, slack_server

CHANNEL = "C1"


@dataclass(kw_only=True)
class SlackBench:
    """Implements ``Bench``."""

    server: SlackServer
    platform: SlackPlatform
    inbox: Kept

    async def ask(self, text: str, reach: Reach = Reach.MENTION) -> Incoming:
        count = len(self.inbox.received)
        if reach is Reach.DIRECT:
            self.server.say("D1", text)
        else:
            self.server.say(CHANNEL, f"<@{self.server.user}> {text}")
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
    @pytest.fixture
    async def bench(self) -> AsyncIterator[SlackBench]:
        inbox = Kept()
        async with slack_server(rates=Rates(channel=(100, 1.0))) as server, serving(server, inbox) as platform:
            yield SlackBench(server=server, platform=platform, inbox=inbox)
            limited = [error for _, error in server.refused if error == "ratelimited"]
            assert limited == [], "no send was refused by a limit of the server's own"
