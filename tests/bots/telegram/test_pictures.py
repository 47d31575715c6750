"""Pictures of cited passages, below these in the chat where the button was pressed."""

import logging

import pytest

from bots.pictures import Picture
from bots.platform import Button
from tests.bots.scene import answered, view
from tests.bots.telegram.scene import ASKER, GROUP, Scene
from tests.fakes.pictures import picture, png
from tests.fakes.waiting import until
from tests.servers.faults import Fault
from tests.servers.telegram.rules import Json

PRESS = "cb:quotes:0123abcd:"


async def pressed(scene: Scene, *pictures: Picture, chat: int = GROUP) -> Json:
    """Press the button of an answer whose passages stand in these pictures; return the passages."""
    scene.inbox.pictured = pictures
    scene.inbox.quoted["0123abcd"] = view("> The ferry carries bicycles.")
    scene.server.say(chat, "@citebot_bot who carries bicycles?")
    await answered(scene, Button.QUOTES)
    scene.server.press(scene.server.answers(chat)[-1], PRESS)
    await until(lambda: scene.server.callback_answers and scene.inbox.pictured_for)
    return next(one for one in scene.server.answers(chat) if "carries bicycles" in one.get("text", ""))


def bare(text: str) -> str:
    """Return the text without the marks that keep a client from making tags and commands of it."""
    return text.replace("\u2060", "")


@pytest.mark.parametrize("chat", [GROUP, ASKER])
async def test_pictures_follow_the_passages(scene: Scene, chat: int) -> None:
    scene.server.faults.add("sendPhoto", Fault(status=429, wait=1))
    passages = await pressed(scene, picture(1), picture(3, label="Trains"), chat=chat)
    await until(lambda: len([one for one in scene.server.answers(chat) if "photo" in one]) == 2)
    first, second = (one for one in scene.server.answers(chat) if "photo" in one)
    assert (bare(first["caption"]), second["caption"]) == ("[1] Ferries & <Boats>, page 2", "[3] Trains")
    assert first["reply_to_message"]["message_id"] == passages["message_id"]
    kept = [scene.server.files[one["photo"][0]["file_id"]] for one in (first, second)]
    assert kept == [one.png for one in scene.inbox.pictured]
    assert scene.inbox.pictured_for == scene.inbox.shown_to, "for those who read the passages"
    assert all(params["disable_notification"] for _, name, params in scene.server.calls if name == "sendPhoto")


async def test_what_is_no_photo_goes_as_a_file(scene: Scene) -> None:
    wide = png(2_100, 100)
    await pressed(scene, picture(content=wide))
    await until(lambda: any("document" in one for one in scene.server.answers(GROUP)))
    (message,) = [one for one in scene.server.answers(GROUP) if "document" in one]
    assert scene.server.files[message["document"]["file_id"]] == wide
    assert bare(message["caption"]) == "[1] Ferries & <Boats>, page 2"


async def test_passages_stay_when_telegram_takes_no_picture(scene: Scene, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="bots")
    scene.server.faults.add("sendPhoto", Fault(status=400, error="Bad Request: not enough rights to send photos"))
    await pressed(scene, picture(1), picture(2))
    await until(lambda: "without pictures" in caplog.text)
    assert [one.get("text", "") for one in scene.server.answers(GROUP)][1:] == ["The ferry carries bicycles."]
    assert "text" not in scene.server.callback_answers[-1], "nobody is told"
    assert scene.server.count("sendPhoto") == 1


async def test_a_press_on_passages_that_are_gone_asks_for_no_picture(scene: Scene) -> None:
    scene.server.say(GROUP, "@citebot_bot who carries bicycles?")
    await answered(scene, Button.QUOTES)
    scene.server.press(scene.server.answers(GROUP)[-1], PRESS)
    await until(lambda: scene.server.callback_answers)
    assert scene.server.callback_answers[-1]["text"]
    assert scene.inbox.pictured_for == []
