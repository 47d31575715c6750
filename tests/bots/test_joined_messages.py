"""Two messages sent one after the other, on each platform's real library: one answer to both, at the first."""

import asyncio
import functools
import operator
import pathlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from bots.discord import DiscordPlatform
from bots.requests import Ask, Event
from bots.slack import SlackPlatform
from bots.telegram import TelegramPlatform
from bots.turn.options import TurnOptions
from tests.bots.discord.scene import CHANNEL, MENTION, peopled
from tests.bots.telegram.scene import GROUP
from tests.bots.turn.flows import answering
from tests.fakes.bot import Bot, answering_on
from tests.fakes.waiting import until
from tests.servers.slack import slack_server
from tests.servers.telegram import telegram_server

OPTIONS = TurnOptions(readers_of={"handbook": ("*",)})
WORDS = ("how many days?", "and for part-timers?", "or weeks?")


@dataclass(frozen=True, kw_only=True)
class Place:
    """Somewhere to talk: what is said there, changed, taken back, and what the bot has answered, with to what."""

    say: Callable[[str], Awaitable[Any]]
    edit: Callable[[Any, str], Awaitable[None]]
    delete: Callable[[Any], Awaitable[None]] | None = None
    """Telegram tells no bot."""
    answers: Callable[[], list[tuple[str, str]]]
    name_of: Callable[[Any], str]
    bot: Bot[Any]

    async def whole(self, *questions: str) -> str:
        """Wait for the one answer, check that it answers all of this, and return to which message."""
        asked = "\n".join(questions)
        await until(lambda: asked in self.bot.model.questions)
        await self.bot.idle()
        ((to, text),) = self.answers()
        assert text.count("has five days.") == 3
        for one in questions:
            assert text.replace("\\", "").count(one) >= 3
        return to


Opened = Callable[[pathlib.Path], Any]


async def slowly(request: Ask) -> AsyncIterator[Event]:
    """Say nothing for so long that the second message comes in time, then answer at once."""
    await asyncio.sleep(0.8)
    async for event in answering(request, pause=0.02):
        yield event


@asynccontextmanager
async def slack(folder: pathlib.Path, channel: str) -> AsyncIterator[Place]:
    async with slack_server() as server:
        server.channel(channel)
        platform = SlackPlatform(
            bot_token=server.bot_token, app_token=server.app_token, api_url=f"{server.url}/api/", channels=()
        )
        name = "" if channel.startswith("D") else f"<@{server.user}> "

        async def say(text: str) -> Any:
            return server.say(channel, name + text)

        async def edit(message: Any, text: str) -> None:
            server.edit(channel, message, name + text)

        async def delete(message: Any) -> None:
            server.delete(channel, message)

        def answers() -> list[tuple[str, str]]:
            return [(one["thread_ts"], server.plain(one)) for one in server.answers(channel)]

        async with answering_on(platform, folder, script=slowly, options=OPTIONS) as bot:
            yield Place(say=say, edit=edit, delete=delete, answers=answers, name_of=operator.itemgetter("ts"), bot=bot)


@asynccontextmanager
async def discord(folder: pathlib.Path) -> AsyncIterator[Place]:
    async with peopled() as server:
        platform = DiscordPlatform(token=server.token, api_url=server.url)

        async def say(text: str) -> Any:
            return await server.say(CHANNEL, f"{MENTION} {text}")

        async def edit(message: Any, text: str) -> None:
            await server.edit(message, f"{MENTION} {text}")

        def answers() -> list[tuple[str, str]]:
            said = server.answers(CHANNEL)
            return [(one["message_reference"]["message_id"], one["content"]) for one in said]

        async with answering_on(platform, folder, script=slowly, options=OPTIONS) as bot:
            yield Place(
                say=say, edit=edit, delete=server.delete, answers=answers, name_of=operator.itemgetter("id"), bot=bot
            )


@asynccontextmanager
async def telegram(folder: pathlib.Path) -> AsyncIterator[Place]:
    async with telegram_server() as server:
        platform = TelegramPlatform(token=server.token, api_url=server.url, chats=[str(GROUP)])

        async def say(text: str) -> Any:
            return server.say(GROUP, f"@{server.bot['username']} {text}")

        async def edit(message: Any, text: str) -> None:
            server.edit(message, f"@{server.bot['username']} {text}")

        def answers() -> list[tuple[str, str]]:
            said = server.answers(GROUP)
            return [(str(one["reply_to_message"]["message_id"]), one["text"]) for one in said]

        async with answering_on(platform, folder, script=slowly, options=OPTIONS) as bot:
            yield Place(say=say, edit=edit, answers=answers, name_of=lambda one: str(one["message_id"]), bot=bot)


PLACES: dict[str, Opened] = {
    "slack direct": functools.partial(slack, channel="D1"),
    "slack channel": functools.partial(slack, channel="C1"),
    "discord server": discord,
    "telegram group": telegram,
}


@pytest.mark.parametrize(
    "opened",
    [
        pytest.param(opened, id=name, marks=() if name == "slack channel" else pytest.mark.soak)
        for name, opened in PLACES.items()
    ],
)
async def test_two_messages_are_answered_as_one(opened: Opened, tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path) as place:
        first = await place.say(WORDS[0])
        await until(place.bot.turns.running)
        second = await place.say(WORDS[1])
        assert await place.whole(*WORDS[:2]) == place.name_of(first)
        assert place.bot.turns.meter.claims["new"] == 2
        # The second one is changed: both are answered again, in the one message.
        await place.edit(second, WORDS[2])
        assert await place.whole(WORDS[0], WORDS[2]) == place.name_of(first)
        if place.delete is not None:
            # The first one is deleted: the second is answered where it stands itself.
            await place.delete(first)
            assert await place.whole(WORDS[2]) == place.name_of(second)
            await place.delete(second)
            await until(lambda: not place.answers())


async def test_a_reply_in_the_thread_of_the_second_is_answered_there(tmp_path: pathlib.Path) -> None:
    async with slack_server() as server:
        server.channel("D1")
        platform = SlackPlatform(
            bot_token=server.bot_token, app_token=server.app_token, api_url=f"{server.url}/api/", channels=()
        )
        async with answering_on(platform, tmp_path, script=slowly, options=OPTIONS) as bot:
            first = server.say("D1", WORDS[0])
            await until(bot.turns.running)
            second = server.say("D1", WORDS[1])
            await until(lambda: server.answers("D1", first["ts"]))
            await bot.idle()
            server.say("D1", WORDS[2], thread=second["ts"])
            await until(lambda: server.answers("D1", second["ts"]))
            await bot.idle()
            (answer,) = server.answers("D1", second["ts"])
            assert WORDS[2] in server.plain(answer)
            conversations = [request.conversation for request in bot.model.asked if isinstance(request, Ask)]
            assert {one.thread for one in conversations} == {first["ts"]}, "they share a history"
