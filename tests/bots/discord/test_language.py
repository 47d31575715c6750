"""The adapter's own sentences are in the asker's language, or in the one that the settings ask for."""

import pytest

from bots.platform import Button
from bots.words.captions import caption
from bots.words.sentences import word
from tests.bots.discord.scene import CHANNEL, Scene
from tests.bots.scene import REFERENCE, view
from tests.fakes.waiting import until
from tests.servers.discord.world import Json


def shown(scene: Scene, interaction: Json) -> list[str]:
    return [one["content"] for one in scene.server.interactions.of(interaction).messages.values()]


@pytest.mark.parametrize(
    ("text", "locale", "fixed", "language"),
    [
        ("how many days?", "en-US", "", "en"),
        ("how many days?", "de", "", "de"),
        ("年假可以结转多少天？", "en-US", "", "zh"),
        ("how many days?", "de", "zh", "zh"),
    ],
)
async def test_the_first_sign_of_a_command(scene: Scene, text: str, locale: str, fixed: str, language: str) -> None:
    scene.inbox.fixed = fixed
    interaction = await scene.server.command(CHANNEL, "ask", question=text, locale=locale)
    await until(lambda: scene.server.interactions.of(interaction).answered)
    assert [one["content"] for one in scene.server.answers(CHANNEL)] == [word("searching", language)]


@pytest.mark.parametrize(("fixed", "language"), [("", "de"), ("zh", "zh")])
async def test_what_a_press_shows_and_the_reference_of_what_failed(scene: Scene, fixed: str, language: str) -> None:
    scene.inbox.fixed = fixed
    await scene.ask()
    (part,) = scene.platform.render(view("Five.", Button.FEEDBACK))
    await scene.platform.send(scene.inbox.received[0], part, begun=None, key="k1", number=0)
    answer = scene.server.answers(CHANNEL)[-1]
    why = await scene.server.press(answer, f"cb:down:{REFERENCE}:", locale="de")
    await until(lambda: shown(scene, why))
    assert shown(scene, why) == [caption("why", language)]
    scene.inbox.vote_fails = True
    told = await scene.server.press(answer, f"cb:up:{REFERENCE}:", locale="de")
    await until(lambda: shown(scene, told))
    assert shown(scene, told) == [f"{word('went_wrong', language)} {word('reference', language, reference=REFERENCE)}"]
