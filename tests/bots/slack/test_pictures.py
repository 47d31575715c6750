"""Pictures of cited passages, in the modal that shows these: for whoever pressed alone, gone when it is closed."""

import asyncio
import logging

import pytest

from bots.pictures import Picture
from bots.platform import Button
from bots.slack import modals
from tests.bots.scene import answered, view
from tests.bots.slack.scene import ASKER, CHANNEL, NAME, Scene
from tests.fakes.pictures import picture
from tests.fakes.waiting import until
from tests.servers.faults import Fault
from tests.servers.slack import Json

PRESS = "cb:quotes:0123abcd:"


async def pressed(scene: Scene, *pictures: Picture) -> None:
    """Let somebody press the button of an answer whose passages stand in these pictures."""
    scene.inbox.pictured = pictures
    scene.inbox.quoted["0123abcd"] = view("> The ferry carries bicycles.")
    scene.server.say(CHANNEL, f"{NAME} who carries bicycles?")
    await answered(scene, Button.QUOTES)
    (message,) = scene.server.answers(CHANNEL)
    scene.server.press(message, PRESS, channel=CHANNEL)


def images(scene: Scene) -> list[Json]:
    (modal,) = scene.server.views.values()
    return [block for block in modal["blocks"] if block["type"] == "image"]


async def test_pictures_follow_the_passages_in_the_modal(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(modals, "WAIT_SECONDS", 0.05)
    scene.server.upload_seconds = 0.1
    await pressed(scene, picture(1), picture(3, label="Trains"))
    await until(lambda: scene.server.views and images(scene))
    shown = images(scene)
    assert [one["title"]["text"] for one in shown] == ["[1] Ferries & <Boats>, page 2", "[3] Trains"]
    assert scene.inbox.pictured_for == scene.inbox.shown_to, "for those who read the passages"
    held = [scene.server.uploads[one["slack_file"]["id"]] for one in shown]
    assert [one.content for one in held] == [one.png for one in scene.inbox.pictured]
    assert ("views.update", "invalid_blocks") in scene.server.refused, "Slack had not looked at them yet"
    assert len(scene.server.answers(CHANNEL)) == 1
    (name,) = scene.server.views
    scene.server.close_view(name, user=ASKER)
    await until(lambda: not scene.server.uploads)


async def test_a_modal_that_is_closed_before_they_come_leaves_no_file(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, drawn = asyncio.Event(), asyncio.Event()

    async def pictures(reference: str, readers: frozenset[str]) -> tuple[Picture, ...]:
        asked.set()
        await drawn.wait()
        return (picture(),)

    monkeypatch.setattr(scene.inbox, "pictures", pictures)
    await pressed(scene)
    await asyncio.wait_for(asked.wait(), 30.0)
    (name,) = scene.server.views
    scene.server.close_view(name)
    drawn.set()
    await until(lambda: ("views.update", "not_found") in scene.server.refused)
    await until(lambda: not scene.server.uploads)
    assert scene.server.shown == [], "nobody is told"


@pytest.mark.parametrize("fault", ["missing scope", "upload", "never ready"])
async def test_passages_stay_when_slack_takes_no_picture(
    scene: Scene, fault: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(modals, "WAIT_SECONDS", 0.0)
    caplog.set_level(logging.INFO, logger="bots")
    match fault:
        case "missing scope":
            scene.server.scopes = ("chat:write", "users:read", "users:read.email", "channels:read")
        case "upload":
            scene.server.faults.add("upload", Fault(status=502))
        case _:
            scene.server.upload_seconds = 60.0
    await pressed(scene, picture())
    await until(lambda: "without pictures" in caplog.text)
    assert ("files:write" in caplog.text) == (fault == "missing scope")
    assert scene.server.refused.count(("views.update", "invalid_blocks")) == (
        modals.TRIES if fault == "never ready" else 0
    )
    if fault == "never ready":
        await until(lambda: not scene.server.uploads)
    (modal,) = scene.server.views.values()
    assert images(scene) == []
    assert "carries bicycles" in scene.server.plain({"blocks": modal["blocks"]})
    assert scene.server.shown == [], "nobody is told"


async def test_gone_passages_have_no_pictures(scene: Scene) -> None:
    scene.server.say(CHANNEL, f"{NAME} who carries bicycles?")
    await answered(scene, Button.QUOTES)
    (message,) = scene.server.answers(CHANNEL)
    scene.server.press(message, PRESS, channel=CHANNEL)
    await until(lambda: scene.server.views)
    assert "no longer" in scene.server.plain({"blocks": next(iter(scene.server.views.values()))["blocks"]})
    assert scene.inbox.pictured_for == []
