"""The adapter's own sentences are in the asker's language, or in the one that the settings ask for."""

import pytest

from bots.platform import Button
from bots.words.captions import REASONS, caption
from bots.words.sentences import word
from tests.bots.scene import REFERENCE, answered
from tests.bots.telegram.scene import ASKER, Scene
from tests.fakes.waiting import until


async def told(scene: Scene, message: dict[str, object], data: str) -> str:
    """Press a button, and return what the client shows of it."""
    count = len(scene.server.callback_answers)
    scene.server.press(message, data)
    await until(lambda: len(scene.server.callback_answers) > count)
    return str(scene.server.callback_answers[-1].get("text", ""))


@pytest.mark.parametrize(("fixed", "language"), [("", "en"), ("zh", "zh")])
async def test_what_a_press_shows_and_the_reference_of_what_failed(scene: Scene, fixed: str, language: str) -> None:
    scene.inbox.fixed = fixed
    scene.server.say(ASKER, "How many?")
    await answered(scene, Button.FEEDBACK, Button.QUOTES)
    (answer,) = scene.server.answers(ASKER)
    assert await told(scene, answer, f"cb:quotes:{REFERENCE}:") == word("quotes_gone", language)
    await told(scene, answer, f"cb:down:{REFERENCE}:")
    labels = {button["text"] for row in answer["reply_markup"]["inline_keyboard"] for button in row}
    assert {caption(reason, language) for reason in REASONS} <= labels
    scene.inbox.vote_fails = True
    excuse = await told(scene, answer, f"cb:up:{REFERENCE}:")
    assert excuse == f"{word('went_wrong', language)} {word('reference', language, reference=REFERENCE)}"
    assert len(excuse) <= 200, "what Telegram takes"
