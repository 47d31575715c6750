"""A button that is pressed twice, or that Telegram keeps waiting: nobody else waits, and it is served once."""

import pytest

from bots.platform import Button
from bots.rendering.telegram import render_telegram_quotes
from tests.bots.scene import answered, view
from tests.bots.telegram.scene import ASKER, GROUP, Scene
from tests.fakes.threads import Threads
from tests.fakes.waiting import until
from tests.servers.faults import Fault


async def test_a_press_that_hangs_keeps_no_question_waiting(scene: Scene) -> None:
    scene.server.say(ASKER, "How many?")
    await answered(scene, Button.FEEDBACK)
    (answer,) = scene.server.answers(ASKER)
    (up,) = [b["callback_data"] for row in answer["reply_markup"]["inline_keyboard"] for b in row if b["text"] == "👍"]
    scene.server.faults.add("editMessageReplyMarkup", Fault(status=200, delay=6.0))
    scene.server.press(answer, up)
    await until(lambda: scene.inbox.votes)
    scene.server.say(43, "And me?", user=43)
    await scene.inbox.wait(2, seconds=3.0)


async def test_what_telegram_asks_to_wait_for_is_done_then(scene: Scene) -> None:
    wait = Fault(status=429, wait=1)
    scene.server.say(GROUP, "@citebot_bot how many?")
    await answered(scene, Button.FEEDBACK, Button.QUOTES)
    answer = scene.server.answers(GROUP)[-1]
    scene.server.faults.add("sendMessage", wait)
    scene.server.faults.add("editMessageReplyMarkup", wait)
    scene.inbox.quoted["0123abcd"] = view("> Five days.")
    scene.server.press(answer, "cb:quotes:0123abcd:")
    scene.server.press(answer, "cb:down:0123abcd:")
    await until(lambda: "Five days." in scene.server.answers(GROUP)[-1]["text"])
    await until(lambda: len(answer["reply_markup"]["inline_keyboard"]) > 1)
    await until(lambda: len(scene.server.callback_answers) == 2)
    assert sorted(told.get("text", "") for told in scene.server.callback_answers) == ["", "👎"]


async def test_long_quotes_are_written_in_a_thread(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    threads = Threads()
    watched = threads.watched("quotes", render_telegram_quotes)
    monkeypatch.setattr("bots.telegram.pressing.render_telegram_quotes", watched)
    scene.server.say(GROUP, "@citebot_bot how many?")
    await answered(scene, Button.QUOTES)
    scene.inbox.quoted["0123abcd"] = view("> Five days. " * 200)
    scene.server.press(scene.server.answers(GROUP)[-1], "cb:quotes:0123abcd:")
    await until(lambda: "Five days." in scene.server.answers(GROUP)[-1]["text"])
    assert threads.in_loop == {"quotes": {False}}


async def test_two_quick_presses_do_what_one_does(scene: Scene) -> None:
    scene.server.say(ASKER, "How many?")
    await answered(scene, Button.FEEDBACK, Button.QUOTES, prompts=("What is new?",))
    (answer,) = scene.server.answers(ASKER)
    scene.inbox.quoted["0123abcd"] = view("> Five days.")
    for button in ("cb:quotes:0123abcd:", "cb:quotes:0123abcd:", "cb:ask:0123abcd:0", "cb:ask:0123abcd:0"):
        scene.server.press(answer, button)
    await until(lambda: len(scene.server.callback_answers) == 4)
    assert [one.text for one in scene.inbox.received] == ["How many?", "What is new?"]
    assert len(scene.server.answers(ASKER)) == 2
