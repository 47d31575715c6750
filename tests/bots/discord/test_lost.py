"""A gateway that stays away is told, and what was asked before it went is not lost."""

import asyncio

import pytest

from bots.discord import DiscordPlatform, listening
from ragcore.errors import PlatformUnreachable
from tests.bots.discord.scene import CHANNEL, MENTION, peopled
from tests.fakes.inbox import Kept
from tests.fakes.waiting import until
from tests.servers.discord import discord_server


async def test_a_gateway_that_stays_away_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listening, "LOST_SECONDS", 1.0)
    monkeypatch.setattr(listening, "_LOOK_SECONDS", 0.05)
    inbox = Kept()
    async with peopled() as server:
        platform = DiscordPlatform(token=server.token, api_url=server.url)
        task = asyncio.create_task(platform.serve(inbox))
        await platform.connected.wait()
        await server.gateway.close_all(4000)
        await until(lambda: server.gateway.resumed)
        await server.say(CHANNEL, f"{MENTION} a short loss is borne")
        await inbox.wait()
        assert not task.done()
    with pytest.raises(PlatformUnreachable, match="Discord"):
        async with asyncio.timeout(10):
            await task
    assert not platform.connected.is_set()
    port = int(server.url.partition("1:")[2].partition("/")[0])
    async with discord_server(port=port) as again:
        again.channel(CHANNEL, guild=7)
        task = asyncio.create_task(platform.serve(inbox))
        await platform.connected.wait()
        await again.say(CHANNEL, f"{MENTION} and again")
        assert [one.text for one in await inbox.wait(2)][-1] == "and again"
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
