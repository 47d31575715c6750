"""Who sees what on Slack: strangers, guests, shared channels, and whoever presses a button; not confirmed means no."""

from datetime import UTC, datetime, timedelta

import pytest

from bots.platform import Button, View
from bots.rendering.parse import parse_markdown
from bots.whose import Words
from tests.bots.scene import view
from tests.bots.slack.scene import ASKER, CHANNEL, NAME, Scene, serving
from tests.fakes.inbox import Kept
from tests.fakes.waiting import until
from tests.servers.faults import Fault
from tests.servers.slack import slack_server

INSIDE = {"*", "slack:T0001", f"slack:T0001/{CHANNEL}"}
OUTSIDE = {"*", "slack:T0001/C7"}


async def said_in(scene: Scene, channel: str, *buttons: Button, prompts: tuple[str, ...] = ()) -> dict[str, object]:
    """Return an answer that stands in a channel."""
    scene.server.say(channel, f"{NAME} how many?")
    incoming = (await scene.inbox.wait())[-1]
    (part,) = scene.platform.render(
        View(document=parse_markdown("Five."), reference="0123abcd", buttons=buttons, prompts=prompts)
    )
    await scene.platform.send(incoming, part, begun=None, key="k", number=0)
    return scene.server.answers(channel)[-1]


@pytest.mark.parametrize(
    ("person", "more"),
    [
        ({}, {"slack:T0001", "email:u7@example.org"}),
        ({"is_ultra_restricted": True}, {"email:u7@example.org"}),
        ({"deleted": True}, set()),
        ({"is_bot": True}, set()),
        ({"is_stranger": True}, set()),
        ({"team_id": "T0009"}, set()),
        ({"team_id": "T0009", "enterprise_user": {"teams": ["T0001"]}}, {"slack:T0001", "email:u7@example.org"}),
    ],
)
async def test_whom_slack_confirms_as_one_of_the_workspace(
    person: dict[str, object], more: set[str], scene: Scene
) -> None:
    scene.server.person("U7", **person)
    scene.server.say("D7", "How many?", user="U7")
    (incoming,) = await scene.inbox.wait()
    assert await scene.platform.readers(incoming) - incoming.seen_by == more


async def test_a_channel_of_which_slack_tells_nothing_counts_as_seen_by_outsiders(scene: Scene) -> None:
    await said_in(scene, CHANNEL)
    (known,) = scene.inbox.received
    assert known.seen_by == INSIDE
    scene.server.faults.add("conversations.info", Fault(status=500))
    since = datetime.now(UTC) - timedelta(minutes=15)
    (missed,) = await scene.platform.missed((known.conversation,), since)
    assert missed.seen_by == INSIDE - {"slack:T0001"}
    (missed,) = await scene.platform.missed((known.conversation,), since)
    assert missed.seen_by == INSIDE, "a failure is not remembered"


@pytest.mark.parametrize(("channel", "audience"), [(CHANNEL, INSIDE), ("C7", OUTSIDE)])
async def test_an_answer_is_shared_with_all_who_see_the_channel(channel: str, audience: set[str], scene: Scene) -> None:
    scene.server.channel("C7").shared = True
    scene.server.command(channel, "/ask", "how many days?")
    (incoming,) = await scene.inbox.wait()
    await until(lambda: scene.server.shown)
    (part,) = scene.platform.render(view("Five days.", Button.SHARE))
    await scene.platform.send(incoming, part, begun=None, key="k", number=0)
    scene.server.press(scene.server.answers_alone()[0], "cb:share:0123abcd:")
    await until(lambda: scene.inbox.shown_to)
    assert scene.inbox.shown_to == [audience]


async def test_passages_are_shown_to_whoever_presses_as_they_may_read(scene: Scene) -> None:
    scene.server.channel("C7").shared = True
    scene.server.person("U9", team_id="T0009", is_stranger=True)
    message = await said_in(scene, "C7", Button.QUOTES)
    for user in (ASKER, "U9"):
        count = len(scene.inbox.shown_to)
        scene.server.press(message, "cb:quotes:0123abcd:", channel="C7", user=user)
        await until(lambda count=count: len(scene.inbox.shown_to) > count)  # type: ignore[misc]
    asker, stranger = scene.inbox.shown_to
    ours = {f"slack:T0001/@{ASKER}", "slack:T0001", "email:u1@example.org", f"slack:T0001/{CHANNEL}"}
    assert OUTSIDE < asker <= OUTSIDE | ours
    assert "slack:T0001" in asker
    assert stranger == OUTSIDE | {"slack:T0009/@U9"}


@pytest.mark.parametrize(("channel", "audience"), [(CHANNEL, INSIDE), ("C7", OUTSIDE)])
async def test_a_pressed_question_is_answered_to_all_who_see_the_channel(
    channel: str, audience: set[str], scene: Scene
) -> None:
    scene.server.channel("C7").shared = True
    message = await said_in(scene, channel, prompts=("What is new?",))
    scene.server.press(message, "cb:ask:0123abcd:0", channel=channel)
    asked = (await scene.inbox.wait(2))[-1]
    assert (asked.text, asked.private, asked.seen_by) == ("What is new?", False, audience)
    assert asked.words is Words.OFFERED


async def test_a_question_is_researched_for_whoever_presses_before_all_who_see_the_channel(scene: Scene) -> None:
    message = await said_in(scene, CHANNEL, Button.FEEDBACK, Button.DELETE, Button.RESEARCH)
    scene.server.press(message, "cb:research:0123abcd:", channel=CHANNEL, user="U9")
    asked = (await scene.inbox.wait(2))[-1]
    assert (asked.text, asked.command, asked.goes_on, asked.asker.id) == ("", "research", "0123abcd", "U9")
    assert (asked.private, asked.seen_by) == (False, INSIDE)


async def test_a_command_of_somebody_of_another_workspace_is_theirs(scene: Scene) -> None:
    scene.server.command("C7", "/ask", "how many days?", user="U9", team="T0009")
    (incoming,) = await scene.inbox.wait()
    assert incoming.seen_by == {"*", "slack:T0009/@U9"}


@pytest.mark.parametrize(("organisation", "audience"), [("E1", {"*", "slack:T0001/C8"}), ("", None)])
async def test_in_an_organisation_a_channel_of_several_workspaces_is_that_of_none(
    organisation: str, audience: set[str] | None
) -> None:
    inbox = Kept()
    async with slack_server() as server:
        server.organisation = organisation
        server.channel("C8").org_shared = True
        async with serving(server, inbox) as platform:
            server.say("C8", f"{NAME} how many?")
            server.say(CHANNEL, f"{NAME} how many?")
            received = await inbox.wait(2)
            seen = {incoming.conversation.channel: incoming.seen_by for incoming in received}
            assert seen == {
                CHANNEL: INSIDE,
                "C8": audience or {*OUTSIDE - {"slack:T0001/C7"}, "slack:T0001", "slack:T0001/C8"},
            }
            assert bool(server.count("conversations.info")) == bool(organisation), "a workspace by itself isn't asked"
            (read, *_) = await platform.missed((received[0].conversation,), datetime.now(UTC) - timedelta(minutes=15))
            assert ("slack:T0001" in read.seen_by) == (read.conversation.channel == CHANNEL)
