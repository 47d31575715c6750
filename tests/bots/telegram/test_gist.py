"""A summary on Telegram, which lets bots read nothing back: of what was heard in the very place, and told to be so."""

import pathlib

import pytest

from bots.requests import Summarise
from bots.telegram import TelegramPlatform
from bots.words.gist import gist_word
from tests.bots.telegram.scene import ASKER, GROUP
from tests.bots.telegram.test_heard import NAME, OTHER, group_server, in_topic, quick
from tests.bots.telegram.test_turns import texts
from tests.fakes.bot import Bot
from tests.fakes.waiting import until

SAID = "The release of 4.2 is blocked by AUTH-117."


async def given(bot: Bot[TelegramPlatform], count: int = 1) -> list[tuple[str, str]]:
    """Wait for so many summaries, and return the messages that the last one is of, each with its link."""
    await until(lambda: sum(isinstance(one, Summarise) for one in bot.model.asked) == count)
    await bot.idle()
    *_, request = (one for one in bot.model.asked if isinstance(one, Summarise))
    return [(one.text, one.url) for one in request.messages]


async def test_a_group_is_summarised_from_what_was_heard_in_it(tmp_path: pathlib.Path) -> None:
    async with group_server() as server, quick(server, tmp_path) as bot:
        said = server.say(OTHER, SAID, user=7)
        changed = server.say(OTHER, "I will fix it by Monday.", user=8)
        server.say(GROUP, "Said elsewhere.", user=8)
        server.edit(changed, "I will fix AUTH-117 by Tuesday.")
        server.say(OTHER, "/summarise@citebot_bot since yesterday", user=ASKER)
        messages = await given(bot)
        assert messages == [
            (SAID, f"https://t.me/c/2/{said['message_id']}"),
            ("I will fix AUTH-117 by Tuesday.", f"https://t.me/c/2/{changed['message_id']}"),
        ]
        (told,) = texts(server, OTHER)
        assert "User 7: The release of 4.2 is blocked by AUTH-117" in told
        assert gist_word("heard") in told
        assert gist_word("hidden") not in told


@pytest.mark.soak
async def test_a_topic_is_a_thread_and_its_group_can_be_meant(tmp_path: pathlib.Path) -> None:
    async with group_server() as server, quick(server, tmp_path) as bot:
        said = in_topic(server, 5, SAID)
        in_topic(server, 6, "Another topic.")
        in_topic(server, 5, f"{NAME} summarise this thread", user=ASKER)
        assert await given(bot) == [(SAID, f"https://t.me/c/1/5/{said['message_id']}")]
        in_topic(server, 5, f"{NAME} summarise this group", user=ASKER)
        assert [text for text, _ in await given(bot, 2)] == [SAID, "Another topic."]


@pytest.mark.soak
async def test_in_privacy_mode_it_is_told_that_words_are_hidden(tmp_path: pathlib.Path) -> None:
    async with group_server(privacy=True) as server, quick(server, tmp_path) as bot:
        server.say(OTHER, SAID, user=7)
        server.say(OTHER, "/summarise@citebot_bot", user=ASKER)
        await until(lambda: bool(texts(server, OTHER)))
        await bot.idle()
        (told,) = texts(server, OTHER)
        assert gist_word("hidden") in told
        assert not any(isinstance(one, Summarise) for one in bot.model.asked)


@pytest.mark.soak
async def test_a_private_chat_keeps_nothing_to_summarise(tmp_path: pathlib.Path) -> None:
    async with group_server() as server, quick(server, tmp_path) as bot:
        server.say(ASKER, "Remember the milk.", user=ASKER)
        await until(lambda: len(texts(server, ASKER)) == 1)
        await bot.idle()
        server.say(ASKER, "/summarise", user=ASKER)
        await until(lambda: len(texts(server, ASKER)) == 2)
        assert gist_word("heard") in texts(server, ASKER)[-1]
        assert not any(isinstance(one, Summarise) for one in bot.model.asked)


async def test_what_was_said_before_somebody_joined_is_left_out_unless_the_group_shows_its_past(
    tmp_path: pathlib.Path,
) -> None:
    async with group_server() as server, quick(server, tmp_path) as bot:
        old = server.say(OTHER, SAID, user=7)
        server.join(OTHER, 9)
        new = server.say(OTHER, "I will fix AUTH-117 by Tuesday.", user=8)
        server.say(OTHER, "/summarise@citebot_bot", user=9)
        assert [text for text, _ in await given(bot)] == [new["text"]]
        assert gist_word("joined") in texts(server, OTHER)[-1]
        server.chat(OTHER).facts["has_visible_history"] = True
        server.say(OTHER, "/summarise@citebot_bot", user=9)
        assert [text for text, _ in await given(bot, 2)] == [old["text"], new["text"]]
