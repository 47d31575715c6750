"""kill -9 at every call of a turn, before and after it takes effect: the next life leaves one whole answer.

But for the window that Telegram leaves: it can't tell whether it took a message, so that one is sent again.
"""

import asyncio
import os
import pathlib
import signal
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from aiohttp import web

from tests.bots.telegram.scene import ASKER, GROUP
from tests.bots.telegram.test_turns import ask, is_whole, texts
from tests.fakes.bot import Life
from tests.fakes.forking import Workers, workers
from tests.fakes.waiting import until
from tests.servers.telegram import TelegramServer, telegram_server

CALLS = [
    (ASKER, "sendChatAction"),
    (ASKER, "sendMessageDraft"),
    (ASKER, "sendMessage"),
    (GROUP, "sendMessage"),
    (GROUP, "editMessageText"),
]
QUICK = {(ASKER, "sendMessage", "after"), (GROUP, "editMessageText", "before")}
CASES = [
    pytest.param(chat, method, when, marks=() if (chat, method, when) in QUICK else pytest.mark.soak)
    for chat, method in CALLS
    for when in ("before", "after")
]


@pytest.fixture(scope="module")
def forked() -> Iterator[Workers]:
    with workers("tests.fakes.bot", "telegram") as running:
        yield running


@dataclass(slots=True)
class Killer:
    """Kills a process at its first call of a method, before or after the call takes effect; before, it never does."""

    when: str
    method: str
    pid: int = 0

    def __call__(self, when: str, method: str) -> None:
        if self.pid and (when, method) == (self.when, self.method):
            os.kill(self.pid, signal.SIGKILL)
            self.pid = 0
            if when == "before":
                raise web.HTTPServiceUnavailable


@pytest.mark.parametrize(("chat", "method", "when"), CASES)
async def test_killed_at_a_call(forked: Workers, tmp_path: pathlib.Path, chat: int, method: str, when: str) -> None:
    async with telegram_server() as server:
        life = Life(environment=server.environment, folder=str(tmp_path), pause=0.5)
        killer = server.watch = Killer(when=when, method=method)
        killer.pid = pid = await begun(forked, server, life)
        ask(server, chat)
        await until(lambda: not killer.pid)
        await forked.kill(pid)
        # What was taken and not recorded is sent again: it is the second that is waited for.
        in_doubt = int((method, when) == ("sendMessage", "after"))
        assert len(texts(server, chat)) >= in_doubt
        pid = await begun(forked, server, life)
        await until(lambda: any(is_whole(text) for text in texts(server, chat)[in_doubt:]))
        await asyncio.sleep(0.2)
        await forked.kill(pid)
        whole = [is_whole(text) for text in texts(server, chat)]
        assert len(whole) == 1 + in_doubt
        assert whole[-1]


async def begun(forked: Workers, server: TelegramServer, life: Life) -> int:
    """Start a bot, and return its process id once it polls."""
    count = server.count("getUpdates")
    pid = await asyncio.to_thread(forked.start, life)
    await until(lambda: server.count("getUpdates") > count)
    return pid
