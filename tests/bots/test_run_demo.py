"""`citebot run` with the demo's own settings, and tokens beside them: three bots answer, cite and show the passage."""

import pathlib
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import pytest

from tests.bots.rendering.readers import discord as discord_reader
from tests.bots.rendering.readers import slack_blocks
from tests.bots.rendering.readers.shown import Shown
from tests.fakes.running import ROOT, prepare, running
from tests.fakes.waiting import until
from tests.servers.discord import DiscordServer, discord_server
from tests.servers.slack import SlackServer, slack_server
from tests.servers.slack.blocks import buttons_of
from tests.servers.telegram import TelegramServer, telegram_server

DEMO = (ROOT / "examples" / "citebot.toml").read_text(encoding="utf-8")
ASKER, DIRECT = 42, "D1"
QUESTION = "How many unused leave days can I carry over, and until when?"
CARRIED, TAKEN = "Up to five unused days may be carried into the next year", "They must be taken by 31 March"
LABEL = "Leave policy (Leeds office), Carrying leave over"
JOINER = "\u200b"
PAGE = "https://wiki.example/handbook/leave.md#carrying-leave-over"


class Bot(ABC):
    """One of the three, as somebody sees it in a direct message."""

    @abstractmethod
    async def ask(self) -> None:
        """Write the question."""

    @abstractmethod
    def answers(self) -> list[Any]:
        """Return what the bot has said."""

    @abstractmethod
    def buttons(self, message: Any) -> list[str]:
        """Return the values of a message's buttons."""

    @abstractmethod
    async def press(self, message: Any, value: str) -> None:
        """Press a button."""

    @abstractmethod
    def quotes(self) -> list[Shown]:
        """Return what pressing has shown."""

    @abstractmethod
    def read(self, message: Any) -> Shown:
        """Return what a reader sees of a message."""

    async def show_quotes(self) -> tuple[Shown, Shown]:
        """Press "Show quotes" under the one answer; return what is read of the answer, and what is shown then."""
        (answer,) = self.answers()
        (value,) = (one for one in self.buttons(answer) if one.startswith("cb:quotes:"))
        await self.press(answer, value)
        await until(lambda: any(LABEL in one.plain for one in self.quotes()))  # Discord shows at first that it comes
        (shown,) = self.quotes()
        return self.read(answer), shown


@dataclass(slots=True)
class Telegram(Bot):
    server: TelegramServer

    async def ask(self) -> None:
        self.server.say(ASKER, QUESTION)

    def answers(self) -> list[Any]:
        return self.server.answers(ASKER)

    def buttons(self, message: Any) -> list[str]:
        return [button["callback_data"] for row in message["reply_markup"]["inline_keyboard"] for button in row]

    async def press(self, message: Any, value: str) -> None:
        self.server.press(message, value)

    def quotes(self) -> list[Shown]:
        return [self.read(one) for one in self.answers()[1:]]

    def read(self, message: Any) -> Shown:
        links = [("", entity["url"]) for entity in message["entities"] if entity["type"] == "text_link"]
        return Shown(plain=message["text"], links=links)


@dataclass(slots=True)
class Slack(Bot):
    server: SlackServer

    async def ask(self) -> None:
        self.server.say(DIRECT, QUESTION)

    def answers(self) -> list[Any]:
        return self.server.answers(DIRECT)

    def buttons(self, message: Any) -> list[str]:
        return [part["value"] for _, part in buttons_of(message["blocks"])]

    async def press(self, message: Any, value: str) -> None:
        self.server.press(message, value, channel=DIRECT)

    def quotes(self) -> list[Shown]:
        return [self.read(view) for view in self.server.views.values()]

    def read(self, message: Any) -> Shown:
        return slack_blocks.read_blocks(message["blocks"])


@dataclass(slots=True)
class Discord(Bot):
    server: DiscordServer
    pressed: Any = None

    async def ask(self) -> None:
        await self.server.say(self.server.direct(ASKER), QUESTION)

    def answers(self) -> list[Any]:
        return self.server.answers(self.server.direct(ASKER).id)

    def buttons(self, message: Any) -> list[str]:
        return [button["custom_id"] for row in message["components"] for button in row["components"]]

    async def press(self, message: Any, value: str) -> None:
        self.pressed = await self.server.press(message, value)

    def quotes(self) -> list[Shown]:
        return [self.read(one) for one in self.server.interactions.of(self.pressed).messages.values()]

    def read(self, message: Any) -> Shown:
        return discord_reader.read(message["content"])


@pytest.mark.soak
@pytest.mark.parametrize(
    ("more", "links"),
    [
        pytest.param("", set(), id="as it is"),
        pytest.param('base_url = "https://wiki.example/{path}"\n', {PAGE}, id="with base_url"),
    ],
)
async def test_the_demo_answers_with_its_passages_on_all_three(
    tmp_path: pathlib.Path, more: str, links: set[str]
) -> None:
    folder = prepare(tmp_path / "demo", DEMO + more)
    async with telegram_server() as telegram, slack_server() as slack, discord_server() as discord:
        tokens = {**telegram.environment, **slack.environment, **discord.environment}
        async with running(folder, **tokens) as citebot:
            await until(lambda: citebot.log().count(": connected") == 3, 60.0)
            for bot in (bots := (Telegram(telegram), Slack(slack), Discord(discord))):
                await bot.ask()
            await until(lambda: citebot.log().count(": answered") == 3)
            for bot in bots:
                answer, quotes = await bot.show_quotes()
                assert answer.plain.startswith(f"{CARRIED} [1]. {TAKEN}")
                assert f"[1] {LABEL}" in answer.plain
                assert quotes.plain.startswith(f"[1] {LABEL}")
                assert f"{CARRIED}. {TAKEN}" in quotes.plain.replace(JOINER, ""), (
                    "the words that support both sentences"
                )
                assert {url for _, url in answer.links} == {url for _, url in quotes.links} == links
            assert await citebot.end() == 0
