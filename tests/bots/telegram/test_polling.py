"""What becomes of polling that fails: a little is borne, what lasts ends it with the reason."""

import asyncio
import contextlib
import functools
from collections.abc import AsyncIterator

import aiohttp
import pytest

import bots.telegram
from bots.telegram import TelegramPlatform
from bots.telegram.polling import Watch
from ragcore.errors import PlatformAuthError, PlatformUnreachable
from tests.bots.telegram.scene import ASKER
from tests.fakes.inbox import Kept
from tests.fakes.waiting import until
from tests.servers.faults import Fault
from tests.servers.telegram import TelegramServer, telegram_server


@pytest.fixture
async def server() -> AsyncIterator[TelegramServer]:
    async with telegram_server() as made:
        yield made


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bots.telegram, "Watch", functools.partial(Watch, lost=0.5))


@contextlib.asynccontextmanager
async def serving(server: TelegramServer, inbox: Kept) -> AsyncIterator[tuple[TelegramPlatform, asyncio.Task[None]]]:
    platform = TelegramPlatform(token=server.token, api_url=server.url)
    task = asyncio.create_task(platform.serve(inbox))
    try:
        before = server.count("getUpdates")
        await until(lambda: server.count("getUpdates") > before)
        yield platform, task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_a_token_that_is_revoked_is_told_at_once(server: TelegramServer) -> None:
    inbox = Kept()
    async with serving(server, inbox) as (_, task):
        server.faults.add("getUpdates", Fault(status=401))
        server.say(ASKER, "the last one")
        await inbox.wait()
        with pytest.raises(PlatformAuthError, match="TELEGRAM_BOT_TOKEN"):
            async with asyncio.timeout(10):
                await task


async def test_a_server_that_stays_away_is_told_and_what_is_short_is_borne(server: TelegramServer) -> None:
    inbox = Kept()
    async with serving(server, inbox) as (_, task):
        server.faults.add("getUpdates", Fault(status=500))
        server.say(ASKER, "one")
        await inbox.wait()
        server.say(ASKER, "after a short fault")
        await inbox.wait(2)
        server.faults.add("getUpdates", Fault(status=500), times=9)
        server.say(ASKER, "three")
        with pytest.raises(PlatformUnreachable):
            async with asyncio.timeout(10):
                await task
    server.faults.clear()
    async with serving(server, inbox):
        server.say(ASKER, "and again")
        assert [one.text for one in await inbox.wait(4)][-1] == "and again"


async def test_another_process_that_polls_is_told_and_nothing_is_lost(server: TelegramServer) -> None:
    async def poll() -> None:
        async with aiohttp.ClientSession() as session:
            while True:
                address = f"{server.url}/bot{server.token}/getUpdates"
                async with session.post(address, data={"timeout": "5", "offset": "1"}) as answer:
                    await answer.read()

    inbox = Kept()
    async with serving(server, inbox) as (_, task):
        other = asyncio.create_task(poll())
        with pytest.raises(PlatformUnreachable, match="another process"):
            async with asyncio.timeout(20):
                await task
        other.cancel()
        await asyncio.gather(other, return_exceptions=True)
    server.say(ASKER, "How many?")
    async with serving(server, inbox):
        assert [one.text for one in await inbox.wait()] == ["How many?"]
