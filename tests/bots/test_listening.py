"""A port that can't be listened at is told with the setting that names it, wherever it is needed."""

import asyncio
import socket
from collections.abc import Iterator

import pytest
from aiohttp import web
from slack_bolt.async_app import AsyncApp

from bots.app.health import serve_health
from bots.listening import listen
from bots.platform import Inbox
from bots.settings import MonitoringSettings
from bots.slack.listening import Listen, serve_http
from bots.telegram import TelegramPlatform, Webhook
from ragcore.errors import ConfigError
from tests.fakes.inbox import Kept
from tests.servers.telegram import telegram_server


@pytest.fixture
def taken() -> Iterator[int]:
    """Return a port at which somebody else listens."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        yield int(other.getsockname()[1])


def words(key: str, port: int) -> str:
    told = f"{key}: 127.0.0.1:{port} can't be listened at: Address already in use"
    return f"^{told.replace('[', chr(92) + '[')}; end what listens there, or set another$"


async def test_a_taken_port_under_monitoring(taken: int) -> None:
    with pytest.raises(ConfigError, match=words("[monitoring] port", taken)):
        async with serve_health(MonitoringSettings(port=taken), []):
            pass


async def test_a_taken_port_for_telegrams_webhook(taken: int) -> None:
    webhook = Webhook(url="https://bot.example.org/telegram", port=taken)
    inbox: Inbox = Kept()
    async with telegram_server() as server:
        platform = TelegramPlatform(token=server.token, api_url=server.url, webhook=webhook)
        with pytest.raises(ConfigError, match=words("[telegram] webhook_port", taken)):
            await asyncio.wait_for(platform.serve(inbox), 10)
        assert not server.count("setWebhook")


async def test_a_taken_port_for_slacks_signed_requests(taken: int) -> None:
    async def connected() -> None:
        raise AssertionError("nothing can come")

    app = AsyncApp(token="xoxb-1", signing_secret="a")
    with pytest.raises(ConfigError, match=words("[slack] http_port", taken)):
        await serve_http(app, Listen(port=taken), connected)


async def test_a_host_that_is_not_ours() -> None:
    runner = web.AppRunner(web.Application())
    await runner.setup()
    try:
        with pytest.raises(
            ConfigError, match=r"^\[slack\] http_port: no\.such\.host\.invalid:80 can't be listened at: "
        ):
            await listen(runner, "no.such.host.invalid", 80, key="[slack] http_port")
    finally:
        await runner.cleanup()
