"""What an answer on Telegram leaves around it: no ping in a group, and a button by which its asker takes it back."""

import pathlib

import pytest

from bots.turn.claims.claim import Outcome
from tests.bots.telegram.scene import ASKER, GROUP
from tests.bots.telegram.test_rich import LONG, TABLE
from tests.bots.telegram.test_turns import ask, is_whole, running, texts
from tests.fakes.waiting import until
from tests.servers.telegram import TelegramServer, telegram_server

OTHER = 43


def pings(server: TelegramServer, chat: int) -> list[bool]:
    """Return of each message that was sent to a chat whether it came with a sound."""
    sent = [said for _, method, said in server.calls if method in ("sendMessage", "sendRichMessage")]
    return [not said.get("disable_notification") for said in sent if str(said.get("chat_id")) == str(chat)]


@pytest.mark.parametrize(("tail", "has_rich"), [("", False), (TABLE, True), (LONG, False)])
async def test_in_a_group_nobody_is_pinged_and_in_private_once(
    tmp_path: pathlib.Path, tail: str, *, has_rich: bool
) -> None:
    async with telegram_server(has_rich=has_rich) as server, running(server, tmp_path, 0.01, tail) as bot:
        for chat in (GROUP, ASKER):
            ask(server, chat)
            await until(lambda: any("[1]" in text for text in texts(server, chat)))  # noqa: B023
            await bot.idle()
    parts = len(server.answers(GROUP))
    assert (parts > 1) is (tail is LONG)
    assert pings(server, GROUP) == [False] * parts
    assert pings(server, ASKER) == [True] + [False] * (len(server.answers(ASKER)) - 1)


@pytest.mark.parametrize("chat", [GROUP, ASKER])
async def test_its_asker_alone_takes_an_answer_back(tmp_path: pathlib.Path, chat: int) -> None:
    """Telegram tells no bot that a question was deleted."""
    async with telegram_server() as server, running(server, tmp_path, 0.01) as bot:
        ask(server, chat)
        await until(lambda: any(map(is_whole, texts(server, chat))))
        await bot.idle()
        (answer,) = server.answers(chat)
        buttons = {b["text"]: b["callback_data"] for row in answer["reply_markup"]["inline_keyboard"] for b in row}
        if chat == GROUP:
            server.press(answer, buttons["🗑"], user=OTHER)
            await until(lambda: server.callback_answers)
            assert len(texts(server, chat)) == 1
        ((reference, _),) = bot.model.turns.items()
        server.press(answer, buttons["🗑"], user=ASKER)
        await until(lambda: not texts(server, chat))
        claim = await bot.turns._claims.by_reference(reference)
        assert claim is not None
        assert (claim.outcome, claim.incoming.text, bot.model.turns) == (Outcome.WITHDRAWN, "", {})
