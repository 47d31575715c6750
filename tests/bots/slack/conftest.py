"""A connected bot, to which every event comes."""

from collections.abc import AsyncIterator

import pytest

from tests.bots.slack.scene import ASKER, CHANNEL, Scene, serving
from tests.fakes.inbox import Kept
from tests.servers.slack import slack_server


@pytest.fixture
async def scene() -> AsyncIterator[Scene]:
    inbox = Kept()
    async with slack_server() as server:
        server.channel(CHANNEL).members.add(ASKER)
        server.person(ASKER)
        async with serving(server, inbox) as platform:
            yield Scene(server=server, platform=platform, inbox=inbox)
        assert server.unacknowledged == []
