"""What was asked while nobody listened is read back: the newest of a channel, and its threads."""

from datetime import UTC, datetime, timedelta

import pytest

from bots.discord.reading import MISSED
from ragcore.types import ConversationKey
from tests.bots.discord.scene import CHANNEL, GUILD, MENTION, THREAD, peopled, serving
from tests.fakes.inbox import Kept
from tests.servers.discord import DiscordServer

OLD = 14
"""A thread in which nobody has written for long."""


def in_channel() -> ConversationKey:
    return ConversationKey(platform="discord", workspace=str(GUILD), channel=str(CHANNEL), thread="reply 1")


def in_thread() -> ConversationKey:
    return ConversationKey(platform="discord", workspace=str(GUILD), channel=str(CHANNEL), thread=f"thread {THREAD}")


async def missed(server: DiscordServer, *conversations: ConversationKey) -> list[str]:
    async with serving(server, Kept()) as platform:
        found = await platform.missed(conversations, datetime.now(UTC) - timedelta(minutes=15))
    return [one.text for one in found]


@pytest.mark.parametrize("talk", [60, 120])
async def test_the_newest_of_a_busy_channel_are_read_not_the_oldest(talk: int) -> None:
    async with peopled() as server:
        await server.say(CHANNEL, f"{MENTION} too old?", age=3_600, told=False)
        await server.say(CHANNEL, f"{MENTION} first?", age=600, told=False)
        for number in range(talk - 1):
            await server.say(CHANNEL, f"word {number}", age=300, told=False)
        await server.say(CHANNEL, f"{MENTION} last?", age=10, told=False)
        assert await missed(server, in_channel()) == ["first?", "last?"]


async def test_a_channel_in_which_more_was_written_is_read_as_far_as_it_is_bounded() -> None:
    async with peopled() as server:
        await server.say(CHANNEL, f"{MENTION} first?", age=600, told=False)
        for number in range(MISSED - 1):
            await server.say(CHANNEL, f"word {number}", age=300, told=False)
        await server.say(CHANNEL, f"{MENTION} last?", age=10, told=False)
        assert await missed(server, in_channel()) == ["last?"]
        assert server.count("GET /channels/{}/messages") == MISSED / 100


async def test_threads_of_the_channel_are_read_for_mentions() -> None:
    async with peopled() as server:
        server.thread(OLD, parent=CHANNEL)
        await server.say(OLD, f"{MENTION} too old?", age=3_600, told=False)
        await server.say(THREAD, f"{MENTION} in a thread?", age=20, told=False)
        await server.say(THREAD, "that is for others", age=10, told=False)
        assert await missed(server, in_channel()) == ["in a thread?"]
        assert server.count("GET /channels/{}/messages") == 2, "a thread in which nobody wrote is not read"


async def test_the_channel_of_a_thread_with_a_turn_is_read_for_mentions() -> None:
    async with peopled() as server:
        await server.say(CHANNEL, f"{MENTION} outside?", age=20, told=False)
        await server.say(CHANNEL, "just talk", age=20, told=False)
        await server.say(THREAD, "and without a name?", age=10, told=False)
        assert sorted(await missed(server, in_thread())) == ["and without a name?", "outside?"]
