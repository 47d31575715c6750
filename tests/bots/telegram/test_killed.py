"""kill -9 at every call of a turn, before and after it takes effect: the next life leaves one whole answer.

But for the window that Telegram leaves: it can't tell whether it took a message, so that one is sent again.
"""

import pathlib
from dataclasses import replace

import pytest

from tests.bots.telegram.scene import ASKER, GROUP
from tests.bots.telegram.test_rich import TABLE
from tests.bots.telegram.test_turns import ask, is_whole, texts
from tests.fakes.bot import Life
from tests.fakes.forking import Workers
from tests.fakes.killing import Killer, forking, has_ended, started
from tests.fakes.waiting import until
from tests.servers.telegram import TelegramServer, telegram_server

CALLS = [
    (ASKER, "sendChatAction", ""),
    (ASKER, "sendMessageDraft", ""),
    (ASKER, "sendMessage", ""),
    (GROUP, "sendMessage", ""),
    (GROUP, "editMessageText", ""),
    (ASKER, "sendRichMessage", TABLE),
    (GROUP, "editMessageText", TABLE),
]
QUICK = {(ASKER, "sendMessage", "", "after"), (GROUP, "editMessageText", TABLE, "before")}
CASES = [
    pytest.param(
        chat,
        method,
        tail,
        when,
        marks=() if (chat, method, tail, when) in QUICK else pytest.mark.soak,
        id=f"{'group' if chat < 0 else 'private'}-{method}-{'table' if tail else 'words'}-{when}",
    )
    for chat, method, tail in CALLS
    for when in ("before", "after")
]

forked = forking("telegram")


@pytest.mark.soak
@pytest.mark.parametrize(("chat", "method", "tail", "when"), CASES)
async def test_killed_at_a_call(
    forked: Workers, tmp_path: pathlib.Path, chat: int, method: str, tail: str, when: str
) -> None:
    async with telegram_server(has_rich=bool(tail)) as server:
        life = Life(environment=server.environment, folder=str(tmp_path), pause=0.5, tail=tail)
        killer = server.watch = Killer(when=when, method=method)
        pid = await begun(forked, server, life)
        ask(server, chat)
        killer.pid = pid  # not at what it asks of the server at its start
        await until(lambda: not killer.pid)
        await forked.kill(pid)
        # What was taken and not recorded is sent again.
        in_doubt = int(method in {"sendMessage", "sendRichMessage"} and when == "after")
        assert len(texts(server, chat)) >= in_doubt
        pid = await begun(forked, server, replace(life, pause=0.1))
        await until(lambda: has_ended(life))
        await forked.kill(pid)
        whole = [is_whole(text) for text in texts(server, chat)]
        assert len(whole) == 1 + in_doubt
        assert whole[-1]
        assert ("rich_message" in server.answers(chat)[-1]) is bool(tail)


async def begun(forked: Workers, server: TelegramServer, life: Life) -> int:
    """Start a bot, and return its process id once it polls."""
    return await started(forked, life, lambda: server.count("getUpdates"))
