"""A question behind another one, on each platform: its own sign, a reason in time, and one message in the end."""

import asyncio
import contextlib
import pathlib
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import pytest

from bots.discord import DiscordPlatform
from bots.requests import Ask, Event
from bots.slack import SlackPlatform
from bots.telegram import TelegramPlatform
from bots.turn.options import TurnOptions
from bots.words.sentences import word
from ragcore.types import Delta
from tests.bots.discord.scene import MENTION, THREAD, peopled
from tests.bots.telegram.scene import ASKER, FAST, GROUP
from tests.bots.turn.flows import answer_to, words_for
from tests.fakes.bot import Bot, answering_on
from tests.fakes.waiting import until
from tests.servers.slack import slack_server
from tests.servers.telegram import telegram_server, words_of

OPTIONS = TurnOptions(readers_of={"handbook": ("*", "slack:T0001")}, merge_within=0.0, patience=5.0)
REASON = word("waits")
FIRST_MAY_END = asyncio.Event()


@pytest.fixture(autouse=True)
def _held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"{__name__}.FIRST_MAY_END", asyncio.Event())


async def at_length(request: Ask) -> AsyncIterator[Event]:
    """Answer each question within a second, but for the end of the first one's answer."""
    text = words_for(request.question)
    await asyncio.sleep(0.2)
    *pieces, last = text.split(" ")
    for piece in pieces:
        yield Delta(text=f"{piece} ")
        await asyncio.sleep(1.0 / len(pieces))
    if "First" in request.question:
        await FIRST_MAY_END.wait()
    yield Delta(text=last)
    yield answer_to(request.question, text)


@dataclass(kw_only=True)
class Place:
    """A conversation on a platform: how to ask there, what the bot has said, and whether its signs were seen."""

    ask: Callable[[str], Awaitable[object]]
    said: Callable[[], list[str]]
    signed: Callable[[], object]
    bot: Bot[Any]


@contextlib.asynccontextmanager
async def on_slack(folder: pathlib.Path) -> AsyncIterator[Place]:
    async with slack_server() as server:
        server.channel("C1").members.add("U1")
        server.person("U1")
        platform = SlackPlatform(bot_token=server.bot_token, app_token=server.app_token, api_url=f"{server.url}/api/")
        async with answering_on(platform, folder, script=at_length, options=OPTIONS) as bot:
            first = server.say("C1", "Who has time?", user="U2")

            async def ask(text: str) -> None:
                server.say("C1", f"<@{server.user}> {text}", thread=first["ts"])

            def said() -> list[str]:
                return [server.plain(one) for one in server.answers("C1", first["ts"])]

            def signed() -> bool:
                return word("waiting") in [status for *_, status in server.statuses]

            yield Place(ask=ask, said=said, signed=signed, bot=bot)
            assert server.refused == []
            assert set(server.sessions.values()) <= {"active"}, "nothing is under way any more"


@contextlib.asynccontextmanager
async def on_discord(folder: pathlib.Path) -> AsyncIterator[Place]:
    async with peopled() as server:
        platform = DiscordPlatform(token=server.token, api_url=server.url)
        async with answering_on(platform, folder, script=at_length, options=OPTIONS) as bot:

            async def ask(text: str) -> None:
                await server.say(THREAD, f"{MENTION} {text}")

            def said() -> list[str]:
                return [one["content"] for one in server.answers(THREAD)]

            yield Place(ask=ask, said=said, signed=lambda: len(server.state.typing) > 1, bot=bot)


def on_telegram(chat: int) -> Callable[[pathlib.Path], contextlib.AbstractAsyncContextManager[Place]]:
    @contextlib.asynccontextmanager
    async def talk(folder: pathlib.Path) -> AsyncIterator[Place]:
        async with telegram_server(rates=FAST) as server:
            platform = TelegramPlatform(token=server.token, api_url=server.url, chats=[str(GROUP)])
            async with answering_on(platform, folder, script=at_length, options=OPTIONS) as bot:

                async def ask(text: str) -> None:
                    if chat > 0 or not server.answers(chat):
                        server.say(chat, text if chat > 0 else f"@{server.bot['username']} {text}", user=ASKER)
                    else:
                        server.say(chat, text, user=ASKER, reply_to_message=server.answers(chat)[0])

                def said() -> list[str]:
                    return [words_of(one) for one in server.answers(chat)]

                yield Place(ask=ask, said=said, signed=lambda: server.count("sendChatAction") > 1, bot=bot)

    return talk


PLACES = {
    "slack": on_slack,
    "discord": on_discord,
    "telegram, alone": on_telegram(ASKER),
    "telegram, group": on_telegram(GROUP),
}


@pytest.mark.parametrize(
    "name", [name if name == "discord" else pytest.param(name, marks=pytest.mark.soak) for name in PLACES]
)
async def test_whoever_waits_is_told_so_and_answered_in_that_message(tmp_path: pathlib.Path, name: str) -> None:
    async with PLACES[name](tmp_path) as place:
        await place.ask("First question?")
        await until(lambda: place.said() or (place.bot.turns.running() and name == "telegram, alone"))
        await place.ask("Second question?")
        await until(lambda: place.bot.turns.running() == 2)
        await until(place.signed)
        await until(lambda: any(REASON in text for text in place.said()))
        FIRST_MAY_END.set()
        await place.bot.idle()
        first, second = sorted(place.said(), key=lambda text: "First" not in text)
        assert first.count("has five days.") == 3
        assert second.count("has five days.") == 3
        assert "Second" in second
        assert REASON not in second
