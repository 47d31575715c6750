"""Slash commands are answered by their response URL, for one person, and shared with all."""

import pytest

from bots.platform import Button, Reach
from tests.bots.scene import view
from tests.bots.slack.scene import ASKER, CHANNEL, Scene
from tests.fakes.waiting import until
from tests.servers.slack import Shown


async def test_a_command_is_answered_where_it_was_typed(scene: Scene) -> None:
    scene.server.command(CHANNEL, "/ask", "how many days?")
    (incoming,) = await scene.inbox.wait()
    assert (incoming.command, incoming.text, incoming.reach, incoming.private) == (
        "ask", "how many days?", Reach.COMMAND, True,
    )  # fmt: skip
    assert incoming.token not in repr(incoming)
    await until(lambda: scene.server.shown)
    assert "…" in scene.server.shown[0].text
    assert scene.platform.manner(incoming).streaming == "none"
    (part,) = scene.platform.render(view("Five days.", Button.SHARE))
    await scene.platform.send(incoming, part, begun=None, key="k", number=0)
    (answer,) = scene.server.answers_alone()
    assert scene.server.plain({"blocks": answer.blocks}) == "Five days."
    assert scene.server.answers(CHANNEL) == []


@pytest.mark.parametrize(
    ("text", "command", "left"),
    [
        ("search leave", "search", "leave"),
        ("Sources", "sources", ""),
        ("sync wiki notes", "sync", "wiki notes"),
        ("why", "why", ""),
        ("Research who knows?", "research", "who knows?"),
        ("research", "help", ""),
        ("summarise", "summarise", ""),
        ("Summarize since Monday", "summarise", "since Monday"),
        ("", "help", ""),
        ("how many days?", "ask", "how many days?"),
    ],
)
async def test_the_command_for_all_else(scene: Scene, text: str, command: str, left: str) -> None:
    scene.server.command(CHANNEL, "/citebot", text)
    (incoming,) = await scene.inbox.wait()
    assert (incoming.command, incoming.text) == (command, left)


async def test_a_command_that_cannot_be_claimed_is_told_so(scene: Scene) -> None:
    scene.inbox.failing = 1
    scene.server.command(CHANNEL, "/ask", "how many days?")
    await until(lambda: scene.server.shown)
    assert "cannot be searched" in scene.server.shown[0].text


async def test_a_command_that_is_delivered_twice_has_one_sign(scene: Scene) -> None:
    for _ in range(2):
        scene.server.command(CHANNEL, "/ask", "how many days?", trigger="1.2.3")
    await until(lambda: len(scene.server.acknowledged) == 2)
    assert (len(scene.inbox.received), len(scene.inbox.again)) == (1, 1)
    assert len(scene.server.shown) == 1


async def test_an_expired_address_is_answered_for_all_that(scene: Scene) -> None:
    url = scene.server.command(CHANNEL, "/ask", "how many days?")
    (incoming,) = await scene.inbox.wait()
    await until(lambda: scene.server.shown)
    scene.server.expire(url)
    (part,) = scene.platform.render(view("Five days."))
    await scene.platform.send(incoming, part, begun=None, key="k", number=0)
    assert scene.server.plain({"blocks": scene.server.shown[-1].blocks}) == "Five days."
    assert scene.server.shown[-1].user == ASKER


async def shared(scene: Scene) -> Shown:
    scene.server.command(CHANNEL, "/ask", "how many days?")
    (incoming,) = await scene.inbox.wait()
    await until(lambda: scene.server.shown)
    (part,) = scene.platform.render(view("Five days.", Button.SHARE))
    await scene.platform.send(incoming, part, begun=None, key="k", number=0)
    return scene.server.answers_alone()[0]


async def test_what_one_saw_is_shared_with_the_channel(scene: Scene) -> None:
    shown = await shared(scene)
    scene.inbox.quoted["0123abcd"] = view("Five days.", Button.FEEDBACK)
    scene.server.press(shown, "cb:share:0123abcd:")
    await until(lambda: scene.server.answers(CHANNEL) and not scene.server.answers_alone())
    (message,) = scene.server.answers(CHANNEL)
    assert message["unfurl"] == (False, False)
    assert scene.server.plain(message) == "Five days."


async def test_what_the_channel_may_not_read_is_not_shared(scene: Scene) -> None:
    shown = await shared(scene)
    scene.server.press(shown, "cb:share:0123abcd:")
    await until(lambda: len(scene.server.answers_alone()) == 2)
    assert scene.server.answers(CHANNEL) == []


@pytest.mark.parametrize(("channel", "shares"), [(CHANNEL, True), ("D1", False)])
async def test_only_where_others_are_is_there_something_to_share(scene: Scene, channel: str, *, shares: bool) -> None:
    scene.server.command(channel, "/ask", "how many days?")
    (incoming,) = await scene.inbox.wait()
    assert scene.platform.manner(incoming).shares is shares
