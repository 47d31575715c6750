"""Votes, quotes in modals, and suggested questions: what people press."""

import asyncio

import pytest

from bots.platform import Button, Reach, View
from bots.rendering.parse import parse_markdown
from ragcore.errors import (
    StoreError,
)
from tests.bots.scene import answered, view
from tests.bots.slack.scene import ASKER, CHANNEL, DIRECT, NAME, Scene
from tests.fakes.waiting import until
from tests.servers.faults import Fault


async def asked_and_answered(scene: Scene, *buttons: Button) -> dict[str, object]:
    scene.server.say(CHANNEL, f"{NAME} how many?")
    await answered(scene, *buttons)
    (message,) = scene.server.answers(CHANNEL)
    return message


async def test_votes(scene: Scene) -> None:
    message = await asked_and_answered(scene, Button.FEEDBACK)
    scene.server.press(message, "cb:up:0123abcd:", channel=CHANNEL)
    scene.server.press(message, "cb:down:0123abcd:", channel=CHANNEL)
    await until(lambda: scene.server.shown)
    (asked,) = scene.server.shown
    assert asked.thread == message["thread_ts"]
    scene.server.press(asked, "cb:why:0123abcd:wrong")
    await until(lambda: not scene.server.shown)
    assert sorted((vote.side, vote.reason) for vote in scene.inbox.votes) == [
        ("down", ""),
        ("down", "wrong"),
        ("up", ""),
    ]
    assert {vote.voter for vote in scene.inbox.votes} == {f"slack:T0001/@{ASKER}"}


async def test_quotes_and_delete(scene: Scene) -> None:
    message = await asked_and_answered(scene, Button.FEEDBACK, Button.QUOTES, Button.DELETE)
    scene.server.press(message, "cb:quotes:0123abcd:", channel=CHANNEL, user="U2")
    await until(lambda: scene.server.views)
    (gone,) = scene.server.views.values()
    assert "no longer" in scene.server.plain({"blocks": gone["blocks"]})
    scene.inbox.quoted["0123abcd"] = view("> Five days.")
    scene.server.press(message, "cb:quotes:0123abcd:", channel=CHANNEL)
    await until(lambda: len(scene.server.views) == 2)
    assert "Five days." in scene.server.plain({"blocks": list(scene.server.views.values())[1]["blocks"]})
    scene.server.press(message, "cb:delete:0123abcd:", channel=CHANNEL)
    await until(lambda: scene.inbox.withdrawn)
    assert scene.inbox.withdrawn == [("0123abcd", ASKER)]


@pytest.mark.parametrize("act", ["down", "quotes", "delete"])
async def test_two_quick_presses_do_what_one_does(scene: Scene, act: str) -> None:
    message = await asked_and_answered(scene, Button.FEEDBACK, Button.QUOTES, Button.DELETE)
    scene.inbox.quoted["0123abcd"] = view("> Five days.")
    for _ in range(2):
        scene.server.press(message, f"cb:{act}:0123abcd:", channel=CHANNEL)
    await until(lambda: len(scene.server.acknowledged) == 3)
    await until(lambda: scene.inbox.votes or scene.inbox.shown_to or scene.inbox.withdrawn)
    await until(lambda: act == "delete" or scene.server.shown or scene.server.views)
    scene.server.press(message, "cb:up:0123abcd:", channel=CHANNEL)
    await until(lambda: scene.inbox.votes and scene.inbox.votes[-1].side == "up")
    assert len([*scene.inbox.votes[:-1], *scene.inbox.shown_to, *scene.inbox.withdrawn]) == 1
    assert len([*scene.server.shown, *scene.server.views]) == (act != "delete")


async def test_quotes_that_take_long_are_shown_in_an_open_modal(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    message = await asked_and_answered(scene, Button.QUOTES)
    found, told = asyncio.Event(), set[str]()

    async def quotes(reference: str, readers: frozenset[str]) -> View:
        told.update(readers)
        await found.wait()
        return view("> Five days")

    monkeypatch.setattr(scene.inbox, "quotes", quotes)
    monkeypatch.setattr("bots.slack.pressing.TRIGGER_SECONDS", 0.05)
    scene.server.press(message, "cb:quotes:0123abcd:", channel=CHANNEL)
    await until(lambda: scene.server.views)
    (name,) = scene.server.views
    found.set()
    await until(lambda: "Five days" in scene.server.plain({"blocks": scene.server.views[name]["blocks"]}))
    assert told == {"*", f"slack:T0001/@{ASKER}", "slack:T0001", f"slack:T0001/{CHANNEL}", "email:u1@example.org"}


async def test_quotes_that_no_modal_waits_for_are_looked_for_no_longer(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bots.slack.pressing.TRIGGER_SECONDS", 0.05)
    ended: list[str] = []

    async def slowly(reference: str, readers: frozenset[str]) -> None:
        try:
            await asyncio.sleep(3_600)
        finally:
            ended.append(reference)

    monkeypatch.setattr(scene.inbox, "quotes", slowly)
    message = await asked_and_answered(scene, Button.QUOTES)
    scene.server.faults.add("views.open", Fault(status=200, error="expired_trigger_id"))
    scene.server.press(message, "cb:quotes:0123abcd:", channel=CHANNEL)
    await until(lambda: scene.server.shown)  # who pressed is told
    await until(lambda: ended == ["0123abcd"])


async def test_a_suggested_question_is_asked_by_its_button(scene: Scene) -> None:
    scene.server.say(DIRECT, "help")
    (incoming,) = await scene.inbox.wait()
    (part,) = scene.platform.render(
        View(document=parse_markdown("Hello."), reference="0123abcd", prompts=("What is new?",))
    )
    await scene.platform.send(incoming, part, begun=None, key="k", number=0)
    (message,) = scene.server.answers(DIRECT)
    scene.server.press(message, "cb:ask:0123abcd:0", channel=DIRECT)
    _, asked = await scene.inbox.wait(2)
    assert (asked.text, asked.reach, asked.conversation) == ("What is new?", Reach.DIRECT, incoming.conversation)


async def test_who_pressed_is_told_what_fails(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    message = await asked_and_answered(scene, Button.QUOTES)

    async def quotes(reference: str, readers: frozenset[str]) -> View:
        raise StoreError("the index is away")

    monkeypatch.setattr(scene.inbox, "quotes", quotes)
    scene.server.press(message, "cb:quotes:0123abcd:", channel=CHANNEL)
    await until(lambda: scene.server.shown)
    assert "0123abcd" in scene.server.plain({"blocks": scene.server.shown[0].blocks})
