"""Whole turns on a local Bot API server: whatever goes wrong on the way, one complete answer stands in the end."""

import asyncio
import functools
import pathlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from bots.telegram import TelegramPlatform
from bots.turn.options import TurnOptions
from tests.bots.telegram.scene import ASKER, GROUP
from tests.bots.turn.flows import answering
from tests.fakes.bot import Bot, answering_on
from tests.fakes.waiting import until
from tests.servers.faults import Fault
from tests.servers.telegram import TelegramServer, telegram_server, words_of

QUESTION = "how many?"
OPTIONS = TurnOptions(readers_of={"handbook": ("*",)}, merge_within=0.0)

LOST = Fault(status=0, done=True)
NOT_REACHED = Fault(status=0)
FAILED = Fault(status=500)
LIMITED = Fault(status=429, wait=1)
GONE = Fault(status=400, error="Bad Request: message to edit not found")

FAULTS = [
    (ASKER, "sendChatAction", FAILED),
    (ASKER, "sendMessageDraft", LOST),
    (ASKER, "sendMessageDraft", FAILED),
    (ASKER, "sendMessageDraft", LIMITED),
    (ASKER, "sendMessage", LOST),
    (ASKER, "sendMessage", NOT_REACHED),
    (ASKER, "sendMessage", FAILED),
    (ASKER, "sendMessage", LIMITED),
    (GROUP, "sendMessage", LOST),
    (GROUP, "sendMessage", FAILED),
    (GROUP, "sendMessage", LIMITED),
    (GROUP, "editMessageText", LOST),
    (GROUP, "editMessageText", NOT_REACHED),
    (GROUP, "editMessageText", FAILED),
    (GROUP, "editMessageText", LIMITED),
    (GROUP, "editMessageText", GONE),
]


def ask(server: TelegramServer, chat: int) -> None:
    """Ask in a chat as its members have to."""
    server.say(chat, QUESTION if chat > 0 else f"@{server.bot['username']} {QUESTION}", user=ASKER)


def is_whole(text: str) -> bool:
    return text.count("has five days.") == 3 and "[1]" in text


def texts(server: TelegramServer, chat: int) -> list[str]:
    return [words_of(one) for one in server.answers(chat)]


@asynccontextmanager
async def running(
    server: TelegramServer, folder: pathlib.Path, pause: float = 0.4, tail: str = "", options: TurnOptions = OPTIONS
) -> AsyncIterator[Bot[TelegramPlatform]]:
    platform = TelegramPlatform(token=server.token, api_url=server.url, chats=[str(GROUP)])
    script = functools.partial(answering, pause=pause, tail=tail)
    async with answering_on(platform, folder, script=script, options=options) as bot:
        yield bot


async def test_one_answer_whatever_goes_wrong(tmp_path: pathlib.Path) -> None:
    async def answer(number: int, chat: int, method: str, fault: Fault) -> tuple[str, int, list[bool]]:
        folder = tmp_path / str(number)
        folder.mkdir()
        async with telegram_server() as server, running(server, folder, 0.8) as bot:
            server.faults.add(method, fault)
            ask(server, chat)
            await until(lambda: any(is_whole(text) for text in texts(server, chat)))
            await bot.idle()
            assert server.faults.take(method) is None, "the fault came to pass"
            return f"{method} in {chat}: {fault}", number, [is_whole(text) for text in texts(server, chat)]

    # Side by side, for each takes as long as its model.
    told = await asyncio.gather(*(answer(number, *one) for number, one in enumerate(FAULTS)))
    for name, number, whole in told:
        _, method, fault = FAULTS[number]
        # Telegram can't tell whether it took a message: then it is sent again. One that is gone stays on this server.
        doubtful = (method, fault) == ("sendMessage", LOST) or fault is GONE
        assert whole == [True] or (doubtful and whole[-1] and len(whole) == 2), name


@pytest.mark.parametrize("chat", [ASKER, pytest.param(GROUP, marks=pytest.mark.soak)])
async def test_a_process_that_stops_in_mid_answer_is_followed_by_one_that_ends_it(
    tmp_path: pathlib.Path, chat: int
) -> None:
    async with telegram_server() as server:
        async with running(server, tmp_path, pause=1.0):
            ask(server, chat)
            await until(lambda: server.draft(chat) or texts(server, chat))
        assert not any(is_whole(text) for text in texts(server, chat))
        async with running(server, tmp_path) as bot:
            await until(lambda: any(is_whole(text) for text in texts(server, chat)))
            await bot.idle()
            assert bot.turns.meter.claims["resumed"] == 1
        assert [is_whole(text) for text in texts(server, chat)] == [True]
