"""Whoever opens a chat is greeted once, however often Telegram tells of it, and whatever becomes of the process."""

import pathlib

import pytest

from bots.words.sentences import word
from tests.bots.telegram.scene import ASKER
from tests.bots.telegram.test_turns import QUESTION, is_whole, running, texts
from tests.fakes.waiting import until
from tests.servers.faults import Fault
from tests.servers.telegram import telegram_server, words_of

OPENED = ["/start", "/start from-a-link", "/start@citebot_bot"]


@pytest.mark.parametrize("opened", OPENED)
async def test_delivered_twice_and_after_a_crash_it_greets_once(tmp_path: pathlib.Path, opened: str) -> None:
    async with telegram_server() as server:
        async with running(server, tmp_path, pause=0.01) as bot:
            said = server.say(ASKER, opened)
            server.push({"message": said})
            await until(lambda: texts(server, ASKER))
            await bot.idle()
        server.push(
            {"message": said}
        )  # as it comes again to whoever follows a process that was gone before the next poll
        async with running(server, tmp_path, pause=0.01) as bot:
            server.say(ASKER, QUESTION)
            await until(lambda: is_whole(texts(server, ASKER)[-1]))
            await bot.idle()
        greeting, answer = texts(server, ASKER)
        assert (greeting, is_whole(answer)) == (word("greeting"), True)


async def test_it_greets_in_the_language_of_the_client_with_questions_to_begin_with(tmp_path: pathlib.Path) -> None:
    async with telegram_server() as server, running(server, tmp_path, pause=0.01) as bot:
        server.say(ASKER, "/start wo-ist-was", language="zh")
        await until(lambda: texts(server, ASKER))
        (greeting,) = server.answers(ASKER)
        assert words_of(greeting) == word("greeting", "zh")
        prompts = [button for row in greeting["reply_markup"]["inline_keyboard"] for button in row]
        assert [button["text"] for button in prompts] == [word("help_prompt", "zh"), word("sources_prompt", "zh")]
        server.press(greeting, prompts[0]["callback_data"])
        await until(lambda: len(texts(server, ASKER)) == 2)
        await bot.idle()
        assert bot.model.questions == [], "what was pressed is a command, and it is served once"


async def test_a_greeting_that_is_kept_waiting_is_sent_then_and_keeps_nobody_waiting(tmp_path: pathlib.Path) -> None:
    async with telegram_server() as server, running(server, tmp_path, pause=0.01):
        server.faults.add("sendMessage", Fault(status=429, wait=1))
        server.say(ASKER, "/start")
        await until(lambda: server.count("sendMessage"))
        server.say(43, QUESTION, user=43)
        await until(lambda: any(map(is_whole, texts(server, 43))))
        await until(lambda: texts(server, ASKER))
        assert texts(server, ASKER) == [word("greeting")]
