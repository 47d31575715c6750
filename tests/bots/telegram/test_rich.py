"""Answers with a table, on a server that has rich messages, on one that has not, and on those that make trouble."""

import asyncio
import pathlib

import pytest

import bots.telegram.rich
from bots.platform import Button
from bots.telegram import TelegramPlatform
from ragcore.errors import PlatformRefused
from tests.bots.scene import connected, view
from tests.bots.telegram.scene import ASKER, FAST, GROUP, serving
from tests.bots.telegram.test_turns import FAILED, LIMITED, LOST, NOT_REACHED, ask, is_whole, running, texts
from tests.fakes.inbox import Kept
from tests.fakes.waiting import until
from tests.servers.faults import Fault
from tests.servers.telegram import Json, TelegramServer, telegram_server

TABLE = "\n\n| Kind | Days |\n| --- | --- |\n| leave | 25 |\n\nThat is all."
LONG = "".join(f"\n\nParagraph {number} says that word{number} stands in its place. " * 8 for number in range(12))

NO_FORM = Fault(status=400, error="Bad Request: can't parse rich message")
NO_METHOD = Fault(status=404, error="Not Found: method not found")
GONE = Fault(status=400, error="Bad Request: message to edit not found")
IN_GROUP = pytest.param(GROUP, marks=pytest.mark.soak)
"""Where a group differs from a private chat in what grows alone, which other tests show."""

FAULTS = [
    *((ASKER, "sendRichMessage", fault) for fault in (LOST, NOT_REACHED, FAILED, LIMITED, NO_FORM, NO_METHOD)),
    *((GROUP, "editMessageText", fault) for fault in (LOST, NOT_REACHED, FAILED, LIMITED, NO_FORM, GONE)),
]


def cells(message: Json) -> list[list[str]]:
    """Return the words in the table of a rich message."""
    (table,) = [block for block in message["rich_message"]["blocks"] if block["type"] == "table"]
    return [[cell["text"] for cell in row] for row in table["cells"]]


def keys(message: Json) -> list[str]:
    return [b["callback_data"] for row in message["reply_markup"]["inline_keyboard"] for b in row]


@pytest.mark.parametrize("chat", [ASKER, GROUP])
async def test_a_table_grows_and_ends_as_one_rich_message(tmp_path: pathlib.Path, chat: int) -> None:
    async with telegram_server(has_rich=True) as server, running(server, tmp_path, 0.4, TABLE) as bot:
        ask(server, chat)
        await until(lambda: server.draft(chat) or texts(server, chat))
        await until(lambda: texts(server, chat) and is_whole(texts(server, chat)[0]))
        await bot.idle()
        (message,) = server.answers(chat)
        assert cells(message) == [["Kind", "Days"], ["leave", "25"]]
        assert server.draft(chat) is None
        assert server.count("sendRichMessage") == 1 + (chat == ASKER), "one to ask whether there are any"
        assert any(data.startswith("cb:up:") for data in keys(message))


@pytest.mark.parametrize("chat", [ASKER, IN_GROUP])
async def test_a_long_answer_is_one_rich_message_or_many_others(tmp_path: pathlib.Path, chat: int) -> None:
    for has_rich in (True, False):
        folder = tmp_path / str(has_rich)
        folder.mkdir()
        async with telegram_server(has_rich=has_rich) as server, running(server, folder, 0.01, LONG) as bot:
            ask(server, chat)
            await until(lambda: any("word11 " in text for text in texts(server, chat)))
            await bot.idle()
            assert [word for word in " ".join(texts(server, chat)).split() if word.startswith("word")] == [
                f"word{number}" for number in range(12) for _ in range(8)
            ]
            assert (len(server.answers(chat)) == 1) is has_rich


async def test_one_whole_answer_whatever_goes_wrong(tmp_path: pathlib.Path) -> None:
    async def answer(number: int, chat: int, method: str, fault: Fault) -> list[Json]:
        folder = tmp_path / str(number)
        folder.mkdir()
        async with telegram_server(has_rich=True) as server, running(server, folder, 0.05, TABLE) as bot:
            server.faults.add(method, fault)
            ask(server, chat)
            await until(lambda: any(is_whole(text) for text in texts(server, chat)))
            await bot.idle()
            assert server.faults.take(method) is None, "the fault came to pass"
            assert all(is_whole(text) for text in texts(server, chat)[-1:])
            return server.answers(chat)

    told = await asyncio.gather(*(answer(number, *one) for number, one in enumerate(FAULTS)))
    for messages, (chat, method, fault) in zip(told, FAULTS, strict=True):
        # Telegram can't tell whether it took a message: then it is sent again. One that is gone stays on this server.
        doubtful = fault is GONE or (fault is LOST and method != "editMessageText")
        assert len(messages) == 1 + doubtful, (chat, method, fault)
        assert ("rich_message" in messages[-1]) is (fault not in (NO_FORM, NO_METHOD)), (chat, method, fault)
        assert any(data.startswith("cb:up:") for data in keys(messages[-1])), "as plain text it had no buttons"


@pytest.mark.parametrize("tail", [TABLE, LONG], ids=["table", "long"])
@pytest.mark.parametrize("chat", [ASKER, IN_GROUP])
async def test_what_is_refused_as_a_rich_message_goes_out_as_html_once(
    tmp_path: pathlib.Path, chat: int, tail: str
) -> None:
    async with telegram_server(has_rich=True) as server, running(server, tmp_path, 0.01, tail) as bot:
        server.faults.add("sendRichMessage" if chat == ASKER else "editMessageText", NO_FORM)
        ask(server, chat)
        await until(lambda: any("[1]" in text for text in texts(server, chat)))
        await bot.idle()
        messages = server.answers(chat)
        assert not any("rich_message" in message for message in messages)
        assert len(messages) == 1 or tail is LONG
        whole = " ".join(texts(server, chat))
        assert whole.count("has five days.") == 3
        assert all(whole.count(f"word{number} ") == 8 * (tail is LONG) for number in range(12))
        assert any(data.startswith("cb:up:") for data in keys(messages[-1])), "as plain text it had no buttons"


async def test_a_server_that_lost_the_method_is_not_asked_for_each_answer(tmp_path: pathlib.Path) -> None:
    async with telegram_server(has_rich=True) as server, running(server, tmp_path, 0.05, TABLE) as bot:
        server.has_rich = False
        for number in (1, 2):
            ask(server, ASKER)
            await until(lambda: len(texts(server, ASKER)) == number)  # noqa: B023
            await bot.idle()
        assert [is_whole(text) for text in texts(server, ASKER)] == [True, True]
        assert server.count("sendRichMessage") == 2, "once at the start, once in vain"


async def test_what_the_library_cannot_read_of_a_sent_message_is_sent_once(tmp_path: pathlib.Path) -> None:
    async with telegram_server(has_rich=True) as server, running(server, tmp_path, 0.05, TABLE) as bot:
        server.is_newer = True
        for chat in (ASKER, GROUP):
            ask(server, chat)
            await until(lambda: any(is_whole(text) for text in texts(server, chat)))  # noqa: B023
        await bot.idle()
        assert bot.turns.meter.refused == {}
        assert len(server.answers(ASKER)) == len(server.answers(GROUP)) == 1


@pytest.mark.parametrize(
    "fault",
    [
        Fault(status=429, wait=1),
        Fault(status=500),
        Fault(status=502, error="Bad Gateway"),
        Fault(status=0),
        Fault(status=403, error="Forbidden"),
        Fault(status=401),
    ],
)
async def test_what_tells_nothing_is_asked_for_again_until_it_is_known(
    monkeypatch: pytest.MonkeyPatch, fault: Fault
) -> None:
    monkeypatch.setattr(bots.telegram.rich, "WAITS", (0.05,))
    async with telegram_server(rates=FAST, has_rich=True) as server:
        server.faults.add("sendRichMessage", fault, times=2)
        async with serving(server, Kept()) as platform:
            await until(lambda: platform.render(view(TABLE))[0].rich is not None)
            assert server.count("sendRichMessage") == 3


async def test_until_it_is_known_nothing_is_sent_as_a_rich_message() -> None:
    async with telegram_server(rates=FAST, has_rich=True) as server:
        server.faults.add("sendRichMessage", FAILED)
        async with serving(server, Kept()) as platform:
            assert platform.render(view(TABLE))[0].rich is None


async def test_a_server_without_them_is_asked_once_and_gets_html(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bots.telegram.rich, "WAITS", (0.01,))
    async with telegram_server(rates=FAST) as server, serving(server, Kept()) as platform:
        await asyncio.sleep(0.2)
        (part,) = platform.render(view(TABLE))
        assert part.rich is None
        assert "<pre>" in part.html
        assert server.count("sendRichMessage") == 1


async def test_the_buttons_of_a_rich_answer_and_a_reply_to_it() -> None:
    inbox = Kept()
    async with telegram_server(rates=FAST, has_rich=True) as server, serving(server, inbox) as platform:
        ask(server, GROUP)
        (incoming,) = await inbox.wait()
        (part,) = platform.render(view(TABLE, Button.FEEDBACK, Button.QUOTES, Button.DELETE))
        sent = await platform.send(incoming, part, begun=None, key="k", number=0)
        (answer,) = server.answers(GROUP)
        before = keys(answer)
        await pressed(server, answer, "cb:down:0123abcd:")
        assert len(keys(answer)) > len(before), "it asks why"
        await pressed(server, answer, "cb:why:0123abcd:wrong")
        assert keys(answer) == before
        assert [vote.reason for vote in inbox.votes] == ["", "wrong"]
        inbox.quoted["0123abcd"] = view("> Five days.")
        await pressed(server, answer, "cb:quotes:0123abcd:")
        assert server.answers(GROUP)[-1]["reply_to_message"]["message_id"] == answer["message_id"]
        await pressed(server, answer, "cb:delete:0123abcd:")
        assert inbox.withdrawn == [("0123abcd", str(ASKER))]
        server.say(GROUP, "and then?", reply_to_message=answer)
        assert (await inbox.wait(2))[-1].goes_on == "0123abcd"
        assert await platform.send(incoming, part, begun=sent, key="k", number=0) == sent, "it says so already"
        await platform.withdraw(incoming, sent)
        assert [one["message_id"] for one in server.answers(GROUP)] != [answer["message_id"]]


async def pressed(server: TelegramServer, message: Json, data: str) -> None:
    """Press and wait until the client's spinner has stopped."""
    count = len(server.callback_answers)
    server.press(message, data)
    await until(lambda: len(server.callback_answers) > count)


@pytest.mark.parametrize("chat", [ASKER, IN_GROUP])
async def test_an_edited_question_is_answered_in_the_same_rich_message(tmp_path: pathlib.Path, chat: int) -> None:
    async with telegram_server(has_rich=True) as server, running(server, tmp_path, 0.05, TABLE) as bot:
        ask(server, chat)
        await until(lambda: texts(server, chat) and is_whole(texts(server, chat)[0]))
        await bot.idle()
        (question,) = [one for one in server.chat(chat).messages.values() if not one["from"]["is_bot"]]
        server.edit(question, question["text"].replace("many", "much"))
        await until(lambda: "how much?" in texts(server, chat)[0])
        await bot.idle()
        (message,) = server.answers(chat)
        assert cells(message)[1] == ["leave", "25"]


async def test_stop_in_the_middle_of_what_would_be_a_rich_message(tmp_path: pathlib.Path) -> None:
    async with telegram_server(has_rich=True) as server, running(server, tmp_path, 1.2, TABLE) as bot:
        ask(server, ASKER)
        await until(lambda: (draft := server.draft(ASKER)) is not None and "answer" in draft.text)
        (number,) = server.chat(ASKER).drafts
        server.press_stop(ASKER, number)
        await until(lambda: texts(server, ASKER))
        await bot.idle()
        (text,) = texts(server, ASKER)
        assert "answer" in text
        assert not is_whole(text)


async def test_a_refused_form_is_told_as_such() -> None:
    inbox = Kept()
    async with telegram_server(rates=FAST, has_rich=True) as server:
        platform = TelegramPlatform(token=server.token, api_url=server.url)
        async with connected(platform, inbox):
            ask(server, ASKER)
            (incoming,) = await inbox.wait()
            (part,) = platform.render(view(TABLE))
            server.faults.add("sendRichMessage", NO_FORM)
            with pytest.raises(PlatformRefused):
                await platform.send(incoming, part, begun=None, key="k", number=0)
            assert platform.render(view(TABLE))[0].rich is not None, "one answer that is refused says nothing of others"
