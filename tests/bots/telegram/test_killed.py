"""kill -9 at every call of a turn, before and after it takes effect: the next life leaves one whole answer.

But for the window that Telegram leaves: it can't tell whether it took a message, so that one is sent again.
"""

import pathlib
from dataclasses import replace

import pytest

from tests.bots.telegram.scene import ASKER, GROUP
from tests.bots.telegram.test_turns import ask, is_whole, texts
from tests.fakes.bot import Life
from tests.fakes.forking import Workers
from tests.fakes.killing import Killer, forking, has_ended, started
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

forked = forking("telegram")


@pytest.mark.parametrize(("chat", "method", "when"), CASES)
async def test_killed_at_a_call(forked: Workers, tmp_path: pathlib.Path, chat: int, method: str, when: str) -> None:
    async with telegram_server() as server:
        life = Life(environment=server.environment, folder=str(tmp_path), pause=0.5)
        killer = server.watch = Killer(when=when, method=method)
        killer.pid = pid = await begun(forked, server, life)
        ask(server, chat)
        await until(lambda: not killer.pid)
        await forked.kill(pid)
        # What was taken and not recorded is sent again.
        in_doubt = int((method, when) == ("sendMessage", "after"))
        assert len(texts(server, chat)) >= in_doubt
        pid = await begun(forked, server, replace(life, pause=0.1))
        await until(lambda: has_ended(life))
        await forked.kill(pid)
        whole = [is_whole(text) for text in texts(server, chat)]
        assert len(whole) == 1 + in_doubt
        assert whole[-1]


async def begun(forked: Workers, server: TelegramServer, life: Life) -> int:
    """Start a bot, and return its process id once it polls."""
    return await started(forked, life, lambda: server.count("getUpdates"))
