"""Bursts of questions against a server that counts as Telegram documents it: nothing is refused, and nothing is lost."""

import asyncio
import pathlib
from collections import Counter

import pytest

from bots.telegram import TelegramPlatform
from tests.bots.telegram.test_turns import running
from tests.bots.turn.flows import words_for
from tests.fakes.bot import Bot
from tests.fakes.virtual import run
from tests.servers.telegram import Json, Rates, TelegramServer, telegram_server, words_of
from tests.soak import scaled

GROUPS = {-1001: 26, -1002: 9, -1003: 1}
"""How many ask in each of the groups at once: in one of them more than it takes messages in a minute."""


def burst(server: TelegramServer, private: int) -> dict[int, tuple[int, str]]:
    """Let many ask at once, everywhere; return the chat and the words of each message that asks."""
    asked: dict[int, tuple[int, str]] = {}
    for chat, count in [*GROUPS.items(), *((100 + number, 2) for number in range(private))]:
        for number in range(count):
            question = f"how many in case {number} of {abs(chat)}?"
            name = f"@{server.bot['username']} " if chat < 0 else ""
            said = server.say(chat, name + question, user=5_000 + number if chat < 0 else chat)
            asked[said["message_id"]] = (chat, question)
    return asked


def answers_to(server: TelegramServer, chat: int, question: str) -> list[Json]:
    return [one for one in server.answers(chat) if words_for(question)[:40] in words_of(one)]


def is_whole(message: Json, question: str) -> bool:
    return words_of(message).startswith(words_for(question)) and "[1]" in words_of(message)


@pytest.mark.parametrize(
    "tail", ["", "\n\n| Kind | Days |\n| --- | --- |\n| leave | 25 |\n\nThat is all."], ids=["words", "table"]
)
def test_a_burst_in_groups_and_private_chats_meets_no_limit(tmp_path: pathlib.Path, tail: str) -> None:
    async def ask_all() -> None:
        async with telegram_server(has_rich=bool(tail)) as server:
            server.clock = asyncio.get_running_loop().time
            async with running(server, tmp_path, tail=tail) as bot:
                await check(server, bot)

    async def check(server: TelegramServer, bot: Bot[TelegramPlatform]) -> None:
        assert server.rates == Rates(chat=(5, 5.0), group=(20, 60.0), everything=(30, 1.0))
        asked = burst(server, private=scaled(25))
        while bot.turns.meter.outcomes.total() < len(asked):  # noqa: ASYNC110 (virtual time)
            await asyncio.sleep(1.0)
        assert [told for told in server.refused if "Too Many" in told[1]] == []
        assert Counter(bot.turns.meter.refused) == Counter()
        for message, (chat, question) in asked.items():
            (answer,) = answers_to(server, chat, question)
            assert is_whole(answer, question)
            if chat < 0:
                assert answer["reply_to_message"]["message_id"] == message
        assert sum(len(server.answers(chat)) for chat in server.chats) == len(asked)

    run(ask_all())
