"""What happens in a group while an answer grows there: it is stopped by its button, or its question is edited."""

import pathlib

from bots.turn.claims.claim import Outcome
from tests.bots.telegram.scene import ASKER, GROUP
from tests.bots.telegram.test_turns import ask, is_whole, running, texts
from tests.fakes.waiting import until
from tests.servers.telegram import Json, TelegramServer, telegram_server

OTHER = 43


def button(server: TelegramServer, act: str) -> tuple[Json, str]:
    """Return the one answer of the group, and what its button says for this act; empty where there is none."""
    (answer,) = server.answers(GROUP)
    rows = answer.get("reply_markup", {}).get("inline_keyboard", [])
    return answer, next((b["callback_data"] for row in rows for b in row if f":{act}:" in b["callback_data"]), "")


async def test_stop_in_the_middle_of_an_answer_in_a_group(tmp_path: pathlib.Path) -> None:
    async with telegram_server() as server, running(server, tmp_path, 2.0) as bot:
        ask(server, GROUP)
        await until(lambda: texts(server, GROUP))
        answer, stop = button(server, "stop")
        server.press(answer, stop, user=OTHER)
        await until(lambda: server.callback_answers)
        assert bot.turns.running(), "only who asked may stop it"
        server.press(answer, stop, user=ASKER)
        await bot.idle(10.0)
        (text,) = texts(server, GROUP)
        assert text.startswith("The")
        assert "Stopped." in text
        assert not is_whole(text)
        assert "[1]" not in text, "what was not verified is not cited"
        assert not button(server, "stop")[1]
        assert bot.turns.meter.outcomes == {Outcome.STOPPED: 1}


async def test_a_question_edited_in_the_middle_of_its_answer_in_a_group(tmp_path: pathlib.Path) -> None:
    async with telegram_server() as server, running(server, tmp_path, 1.0) as bot:
        ask(server, GROUP)
        await until(lambda: texts(server, GROUP))
        (question,) = [one for one in server.chat(GROUP).messages.values() if not one["from"]["is_bot"]]
        (begun,) = server.answers(GROUP)
        server.edit(question, question["text"].replace("many", "much"))
        await until(lambda: is_whole(texts(server, GROUP)[0]))
        await bot.idle()
        (answer,) = server.answers(GROUP)
        assert answer["message_id"] == begun["message_id"]
        assert "how much?" in answer["text"]
        assert "how many?" not in answer["text"]
        assert answer["reply_to_message"]["message_id"] == question["message_id"]
