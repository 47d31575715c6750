"""A mention in the middle of a topic or a chain of replies reads what the bot received of it, and nothing else."""

import pathlib
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from bots.requests import Ask
from bots.telegram import TelegramPlatform
from bots.turn.options import ChannelRule, TurnOptions
from tests.bots.telegram.scene import FAST, GROUP
from tests.bots.telegram.test_turns import OPTIONS, running
from tests.fakes.bot import Bot
from tests.fakes.waiting import until
from tests.servers.telegram import Json, TelegramServer, telegram_server

OTHER = -1002
NAME = "@citebot_bot"


@asynccontextmanager
async def group_server(*, privacy: bool = False) -> AsyncIterator[TelegramServer]:
    """Serve a forum and another group, in which the bot reads everything unless ``privacy`` is on."""
    async with telegram_server(rates=FAST) as server:
        server.bot["can_read_all_group_messages"] = not privacy
        for chat in (GROUP, OTHER):
            server.chat(chat).is_forum = chat == GROUP
        yield server


@asynccontextmanager
async def quick(
    server: TelegramServer, folder: pathlib.Path, options: TurnOptions = OPTIONS
) -> AsyncIterator[Bot[TelegramPlatform]]:
    async with running(server, folder, 0.01, options=options) as bot:
        yield bot


def in_topic(server: TelegramServer, topic: int, text: str, user: int = 7) -> Json:
    """Let somebody write in a topic; as the real server does it, what is no reply points to the topic's beginning."""
    root = {
        "message_id": topic,
        "date": 1,
        "chat": server.chat(GROUP).as_json(),
        "from": {"id": 7, "is_bot": False, "first_name": "User 7"},
        "forum_topic_created": {"name": "Leave", "icon_color": 1},
    }
    return server.say(GROUP, text, user=user, message_thread_id=topic, is_topic_message=True, reply_to_message=root)


async def asked(bot: Bot[TelegramPlatform], count: int) -> list[tuple[str, list[tuple[str, str]]]]:
    """Wait for so many questions, and return each with what was said before it, and by whom."""
    await until(lambda: len(bot.model.questions) == count)
    await bot.idle()
    requests = [one for one in bot.model.asked if isinstance(one, Ask)]
    return [(one.question, [(said.author, said.text) for said in one.thread]) for one in requests]


async def test_a_mention_in_a_topic_reads_the_topic_and_no_other(tmp_path: pathlib.Path) -> None:
    async with group_server() as server, quick(server, tmp_path) as bot:
        in_topic(server, 900, "We get 25 days.", user=7)
        in_topic(server, 901, "Lunch at noon.")
        server.say(GROUP, "Said in no topic.", user=8)
        server.say(OTHER, "Said in another group.", user=8)
        in_topic(server, 900, "No, 30.", user=8)
        in_topic(server, 900, f"{NAME} who is right?", user=9)
        ((question, said),) = await asked(bot, 1)
        assert question == "who is right?"
        assert said == [("User 7", "We get 25 days."), ("User 8", "No, 30.")]
        in_topic(server, 900, f"{NAME} and next year?", user=9)
        _, (_, said) = await asked(bot, 2)
        assert said == [], "what was read with the first question isn't read again"


async def test_what_was_heard_survives_a_restart(tmp_path: pathlib.Path) -> None:
    async with group_server() as server:
        async with quick(server, tmp_path):
            in_topic(server, 900, "We get 25 days.")
            await until(lambda: len(kept(tmp_path)) == 1)
        in_topic(server, 900, "Said while nobody listened.")
        async with quick(server, tmp_path) as bot:
            in_topic(server, 900, f"{NAME} is that right?")
            ((_, said),) = await asked(bot, 1)
            assert [text for _, text in said] == ["We get 25 days.", "Said while nobody listened."]


async def test_a_chain_of_replies_is_one_conversation_and_is_read(tmp_path: pathlib.Path) -> None:
    async with group_server() as server, quick(server, tmp_path) as bot:
        first = server.say(OTHER, "We get 25 days.", user=7)
        server.say(OTHER, "Lunch at noon.", user=8)
        second = server.say(OTHER, "No, 30.", user=8, reply_to_message=first)
        server.say(OTHER, f"{NAME} who is right?", user=9, reply_to_message=second)
        ((_, said),) = await asked(bot, 1)
        assert said == [("User 7", "We get 25 days."), ("User 8", "No, 30.")]
        third = server.say(OTHER, "I doubt it.", user=7, reply_to_message=second)
        server.say(OTHER, f"{NAME} is he right to doubt it?", user=9, reply_to_message=third)
        _, (_, said) = await asked(bot, 2)
        assert said == [("User 7", "I doubt it.")]
        one, two = (request.conversation for request in bot.model.asked if isinstance(request, Ask))
        assert one == two
        server.say(OTHER, f"{NAME} and what of lunch?", user=9)
        *_, (_, said) = await asked(bot, 3)
        assert said == [], "what replies to nothing begins a conversation of its own"


async def test_an_edit_changes_what_is_read(tmp_path: pathlib.Path) -> None:
    async with group_server() as server, quick(server, tmp_path) as bot:
        said = in_topic(server, 900, "We get 52 days.")
        server.edit(said, "We get 25 days.")
        in_topic(server, 900, f"{NAME} is that right?")
        ((_, read),) = await asked(bot, 1)
        assert [text for _, text in read] == ["We get 25 days."]


async def test_after_a_reset_nothing_said_before_is_read(tmp_path: pathlib.Path) -> None:
    async with group_server() as server, quick(server, tmp_path) as bot:
        in_topic(server, 900, "We get 25 days.")
        in_topic(server, 900, f"{NAME} reset")
        await until(lambda: server.answers(GROUP))
        await bot.idle()
        in_topic(server, 900, f"{NAME} is that right?")
        assert [said for _, said in await asked(bot, 1)] == [[]]


async def test_in_privacy_mode_what_is_replied_to_is_read(tmp_path: pathlib.Path) -> None:
    async with group_server(privacy=True) as server, quick(server, tmp_path) as bot:
        first = server.say(OTHER, "We get 25 days.", user=7)
        second = server.say(OTHER, "No, 30.", user=8, reply_to_message=first)
        server.say(OTHER, f"{NAME} who is right?", user=9, reply_to_message=second)
        ((_, said),) = await asked(bot, 1)
        assert said == [("User 8", "No, 30.")]


async def test_what_is_replied_to_goes_with_the_question(tmp_path: pathlib.Path) -> None:
    async with group_server(privacy=True) as server, quick(server, tmp_path) as bot:
        first = server.say(OTHER, "It is thirty.", user=8)
        server.say(OTHER, f"{NAME} who is right?", user=9, reply_to_message=first)
        await asked(bot, 1)
        assert "It is thirty." in written(tmp_path)
        ((reference, _),) = bot.model.turns.items()
        await bot.turns.withdraw(reference, "9")
        assert [said for said in ("It is thirty.", "User 8", "who is right?") if said in written(tmp_path)] == []


@pytest.mark.parametrize(
    "options",
    [
        replace(OPTIONS, channels={f"telegram:{GROUP}": ChannelRule(respond="off")}),
        replace(OPTIONS, readers_of={"handbook": ("telegram:@42",)}),
        replace(OPTIONS, channels={f"telegram:{GROUP}": ChannelRule(knowledge_bases=())}),
    ],
    ids=["silenced", "unreadable", "narrowed"],
)
async def test_where_nothing_is_answered_nothing_is_kept(tmp_path: pathlib.Path, options: TurnOptions) -> None:
    async with group_server() as server, quick(server, tmp_path, options):
        in_topic(server, 900, "We get 25 days.")
        server.say(OTHER, "Said in another group.")
        server.say(42, "Said in private.")
        await until(lambda: server.answers(42))
        assert not [text for channel, text in kept(tmp_path) if channel in (str(GROUP), "42")]


def written(folder: pathlib.Path) -> str:
    """Return all that is written down of questions."""
    with sqlite3.connect(folder / "claims.sqlite") as connection:
        return "".join(incoming for (incoming,) in connection.execute("SELECT incoming FROM claims"))


def kept(folder: pathlib.Path) -> list[tuple[str, str]]:
    """Return the channels and words of what is kept."""
    with sqlite3.connect(folder / "claims.sqlite") as connection:
        return list(connection.execute("SELECT channel, text FROM heard ORDER BY id"))
