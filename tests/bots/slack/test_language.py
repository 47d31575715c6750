"""The adapter's own sentences are in the asker's language, or in the one that the settings ask for."""

import pytest

from bots.platform import Button
from bots.words.captions import caption
from bots.words.sentences import word
from tests.bots.scene import answered
from tests.bots.slack.scene import CHANNEL, DIRECT, Scene
from tests.fakes.waiting import until


@pytest.mark.parametrize(
    ("text", "fixed", "language"),
    [("how many days?", "", "en"), ("年假可以结转多少天？", "", "zh"), ("how many days?", "de", "de")],
)
async def test_the_first_sign_of_a_command(scene: Scene, text: str, fixed: str, language: str) -> None:
    scene.inbox.fixed = fixed
    scene.server.command(CHANNEL, "/ask", text)
    await until(lambda: scene.server.shown)
    assert scene.server.shown[0].text == word("searching", language)


@pytest.mark.parametrize(("fixed", "language"), [("", "en"), ("de", "de")])
async def test_what_a_press_shows(scene: Scene, fixed: str, language: str) -> None:
    scene.inbox.fixed = fixed
    scene.server.say(DIRECT, "How many?")
    await answered(scene, Button.FEEDBACK, Button.QUOTES)
    (message,) = scene.server.answers(DIRECT)
    scene.server.press(message, "cb:down:0123abcd:", channel=DIRECT)
    await until(lambda: scene.server.shown)
    assert caption("why", language) in scene.server.shown[0].text
    scene.server.press(message, "cb:quotes:0123abcd:", channel=DIRECT)
    await until(lambda: scene.server.views)
    (gone,) = scene.server.views.values()
    assert word("quotes_gone", language) in scene.server.plain({"blocks": gone["blocks"]})
