"""A question that is researched by the button under its answer: for whoever presses it, before whoever sees it."""

import pytest

from bots.platform import Button
from bots.rendering.telegram import render_telegram
from tests.bots.scene import answered, view
from tests.bots.telegram.scene import ASKER, GROUP, Scene


@pytest.mark.parametrize(("chat", "by"), [(ASKER, ASKER), (GROUP, 77)])
async def test_a_question_is_researched_for_whoever_presses(chat: int, by: int, scene: Scene) -> None:
    scene.server.say(chat, "@citebot_bot how many?")
    await answered(scene, Button.FEEDBACK, Button.DELETE, Button.RESEARCH)
    answer = scene.server.answers(chat)[-1]
    (button,) = answer["reply_markup"]["inline_keyboard"][1]
    assert button["text"] == "Research it"
    for _ in range(2):
        scene.server.press(answer, button["callback_data"], user=by)
    incoming = (await scene.inbox.wait(2))[-1]
    assert (incoming.text, incoming.command, incoming.goes_on) == ("", "research", "0123abcd")
    assert (incoming.private, incoming.asker.id) == (chat == ASKER, str(by))
    assert incoming.seen_by == {"*", f"telegram:@{ASKER}" if chat == ASKER else f"telegram:{GROUP}"}


def test_its_button_stands_in_a_row_of_its_own() -> None:
    (message,) = render_telegram(view("Perhaps.", Button.FEEDBACK, Button.RESEARCH))
    assert [[one.text for one in row] for row in message.keyboard] == [["👍", "👎"], ["Research it"]]
