"""Where the benchmark of turns asks: conversations by number on a local Slack, Discord or Telegram, and what stands there.

The servers keep to the documented limits, and note when each call came.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from tests.servers.discord import DiscordServer, discord_server
from tests.servers.slack import SlackServer, slack_server
from tests.servers.telegram import TelegramServer, telegram_server


@dataclass(frozen=True, slots=True)
class Shown:
    """What a conversation was shown, and when: a sign that its question is being worked on, or words of the answer."""

    at: float
    number: int
    words: bool


class Place(Protocol):
    """One platform. ``pause``: seconds between two rounds of 20 questions that keep them below its limits."""

    pause: float
    tokens: dict[str, str]

    async def say(self, number: int, text: str) -> None:
        """Let the person of a conversation ask."""

    def answers(self, number: int) -> Sequence[Any]:
        """Return what the bot has said in a conversation, oldest first."""

    def shown(self, since: float) -> Iterator[Shown]:
        """Yield what was shown since a moment of the monotonic clock."""

    def limited(self) -> Counter[str]:
        """Return how often a limit refused which call."""


class Telegram:
    """A private chat each."""

    pause = 1.0

    def __init__(self, server: TelegramServer, numbers: Sequence[int]) -> None:
        self._server = server
        self.tokens = server.environment

    async def say(self, number: int, text: str) -> None:
        self._server.say(number, text, user=number)

    def answers(self, number: int) -> Sequence[Any]:
        return self._server.answers(number)

    def shown(self, since: float) -> Iterator[Shown]:
        for at, method, given in _since(self._server.calls, since):
            if method in ("sendChatAction", "sendMessageDraft", "sendMessage"):
                yield Shown(at, int(given["chat_id"]), bool(given.get("text")))

    def limited(self) -> Counter[str]:
        return Counter(name for name, told in self._server.refused if told.startswith("Too Many Requests"))


class Slack:
    """One workspace: every other conversation is a direct message, the rest are threads in 50 channels.

    20 replies a minute may begin to stream, so that a round takes a minute.
    """

    pause = 61.0
    channels = 50

    def __init__(self, server: SlackServer, numbers: Sequence[int]) -> None:
        self._server = server
        self._threads: dict[int, list[str]] = defaultdict(list)
        self._numbers: dict[tuple[str, str], int] = {}
        self.tokens = server.environment

    def _channel(self, number: int) -> str:
        return f"C{number // 2 % self.channels}" if number % 2 else f"D{number}"

    async def say(self, number: int, text: str) -> None:
        channel = self._channel(number)
        mention = f"<@{self._server.user}> " if channel.startswith("C") else ""
        asked = self._server.say(channel, mention + text, user=f"U{number}")
        self._threads[number].append(asked["ts"])
        self._numbers[channel, asked["ts"]] = number

    def answers(self, number: int) -> Sequence[Any]:
        said = self._server.answers(self._channel(number))
        return [one for one in said if one.get("thread_ts") in self._threads[number]]

    def shown(self, since: float) -> Iterator[Shown]:
        methods = {"assistant.threads.setStatus": False, "chat.startStream": True, "chat.postMessage": True}
        for at, method, given in _since(self._server.calls, since):
            if method in methods:
                where = given.get("channel") or given.get("channel_id"), given["thread_ts"]
                yield Shown(at, self._numbers[where], methods[method])

    def limited(self) -> Counter[str]:
        return Counter(method for method, error in self._server.refused if error == "ratelimited")


class Discord:
    """A channel each, in servers of 100."""

    pause = 1.0

    def __init__(self, server: DiscordServer, numbers: Sequence[int]) -> None:
        self._server = server
        self.tokens = server.environment
        for number in numbers:
            server.channel(_CHANNELS + number, guild=_GUILDS + number // 100)

    async def say(self, number: int, text: str) -> None:
        bot = self._server.state.bot["id"]
        await self._server.say(_CHANNELS + number, f"<@{bot}> {text}", user=_PEOPLE + number)

    def answers(self, number: int) -> Sequence[Any]:
        return self._server.answers(_CHANNELS + number)

    def shown(self, since: float) -> Iterator[Shown]:
        for at, channel in self._server.state.typing:
            if at >= since:
                yield Shown(at, channel - _CHANNELS, False)
        for at, method, given in _since(self._server.state.calls, since):
            if method == "POST /channels/{}/messages" and given.get("message_reference"):
                yield Shown(at, int(given["message_reference"]["channel_id"]) - _CHANNELS, True)

    def limited(self) -> Counter[str]:
        return Counter(name for name, code in self._server.state.refused if code == 429)


_GUILDS, _CHANNELS, _PEOPLE = 1_000, 1_000_000, 2_000_000

PLACES: dict[str, tuple[Callable[[], AbstractAsyncContextManager[Any]], Callable[[Any, Sequence[int]], Place]]] = {
    "slack": (slack_server, Slack),
    "discord": (discord_server, Discord),
    "telegram": (telegram_server, Telegram),
}


def _since(calls: Sequence[tuple[float, str, Any]], since: float) -> Iterator[tuple[float, str, Any]]:
    """Yield the calls since then, the newest first."""
    for call in reversed(calls):
        if call[0] < since:
            return
        yield call
