"""Telegram hears that an update was taken only when its claim is committed: by the next poll, or by the webhook's answer."""

import asyncio
import pathlib
import sqlite3
from typing import Any

import pytest

from bots.platform import Incoming
from bots.telegram import TelegramPlatform, Webhook
from bots.turn.claims import Claims
from bots.turn.claims.claim import Claim
from tests.bots.telegram.test_turns import OPTIONS, running
from tests.fakes.bot import answering_on
from tests.fakes.ports import free_port
from tests.fakes.waiting import until
from tests.servers.telegram import telegram_server


@pytest.fixture(autouse=True)
def slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a claim take longer than all that could overtake it."""
    at_once = Claims.claim

    async def claim(self: Claims, incoming: Incoming, **more: Any) -> Claim | None:
        await asyncio.sleep(0.3)
        return await at_once(self, incoming, **more)

    monkeypatch.setattr(Claims, "claim", claim)


def committed(folder: pathlib.Path) -> int:
    """Return how many claims another connection to the database sees."""
    with sqlite3.connect(folder / "claims.sqlite") as connection:
        (count,) = connection.execute("SELECT count(*) FROM claims").fetchone()
    return int(count)


async def test_the_offset_moves_on_only_over_what_is_claimed(tmp_path: pathlib.Path) -> None:
    seen: list[tuple[int, int]] = []
    async with telegram_server() as server, running(server, tmp_path, 0.05) as bot:

        def look(when: str, method: str) -> None:
            if (when, method) == ("before", "getUpdates"):
                seen.append((server.calls[-1][2].get("offset", 0), committed(tmp_path)))

        server.watch = look
        first = server.next_update() + 1
        for user in (41, 42, 43):
            server.say(user, "how many?", user=user)
        await until(lambda: seen and seen[-1][0] == first + 3)
        await bot.idle()
    assert all(claims >= offset - first for offset, claims in seen), seen
    assert seen[-1] == (first + 3, 3)


async def test_a_webhook_is_answered_only_when_it_is_claimed(tmp_path: pathlib.Path) -> None:
    port = free_port()
    webhook = Webhook(url=f"http://127.0.0.1:{port}/telegram", port=port)
    async with telegram_server() as server:
        platform = TelegramPlatform(token=server.token, api_url=server.url, webhook=webhook)
        async with answering_on(platform, tmp_path, options=OPTIONS) as bot:
            server.say(42, "how many?")
            await until(lambda: server.webhook_answers)
            assert (server.webhook_answers, committed(tmp_path)) == ([200], 1)
            await bot.idle()
