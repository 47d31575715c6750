"""What people say in Slack becomes Incoming, by the real slack-bolt on a local Slack."""

import pytest

from bots.platform import Attachment, Reach, View
from bots.rendering.parse import parse_markdown
from ragcore.errors import (
    PlatformRefused,
)
from ragcore.types import ConversationKey
from tests.bots.scene import partial, view
from tests.bots.slack.scene import ASKER, CHANNEL, DIRECT, NAME, Scene
from tests.fakes.waiting import until


async def test_a_direct_message_becomes_a_question(scene: Scene) -> None:
    said = scene.server.say(DIRECT, "How many &lt;days&gt; at <https://x.example/a|x.example/a>?")
    (incoming,) = await scene.inbox.wait()
    assert incoming.text == "How many <days> at x.example/a?"
    assert (incoming.reach, incoming.private) == (Reach.DIRECT, True)
    assert f"message:{DIRECT}/{said['ts']}" in incoming.keys
    assert any(key.startswith("event:Ev") for key in incoming.keys)
    assert incoming.conversation == ConversationKey(
        platform="slack", workspace="T0001", channel=DIRECT, thread=said["ts"]
    )
    assert incoming.seen_by == {"*", f"slack:T0001/@{ASKER}"}


async def test_a_mention_comes_twice_and_is_one_question(scene: Scene) -> None:
    said = scene.server.say(CHANNEL, f"{NAME}, how many days does <@U2|ann> have?")
    (incoming,) = await scene.inbox.wait()
    await until(lambda: len(scene.server.acknowledged) == 2)
    assert len(scene.inbox.received) == 1
    assert incoming.text == "how many days does @ann have?"
    assert incoming.reach is Reach.MENTION
    assert incoming.conversation.thread == said["ts"]
    assert incoming.seen_by == {"*", "slack:T0001", f"slack:T0001/{CHANNEL}"}


async def test_what_is_said_in_threads_and_channels(scene: Scene) -> None:
    first = scene.server.say(CHANNEL, "Is anybody there?")
    scene.server.say(CHANNEL, "I am.", user="U2", thread=first["ts"])
    one, two = await scene.inbox.wait(2)
    assert {one.reach, two.reach} == {Reach.CHANNEL, Reach.THREAD}
    assert one.conversation == two.conversation


async def test_outsiders_in_a_shared_channel(scene: Scene) -> None:
    scene.server.channel("C7").shared = True
    scene.server.person("U9", team_id="T0009")
    scene.server.say("C7", f"{NAME} how many?", user="U9", user_team="T0009", team="T0009")
    (incoming,) = await scene.inbox.wait()
    assert incoming.asker.workspace == "T0009"
    assert incoming.seen_by == {"*", "slack:T0001/C7"}
    sent = await scene.platform.show(
        incoming, scene.platform.render_partial(partial("Five days, or")), begun=None, key="k"
    )
    assert "stream" in sent.extra, "the stream is for the asker's own workspace"


async def test_what_nobody_wrote_never_reaches_the_inbox(scene: Scene) -> None:
    scene.server.say(CHANNEL, f"{NAME} join", subtype="channel_join")
    scene.server.say(CHANNEL, f"{NAME} I am a bot", bot_id="B9")
    scene.server.say(DIRECT, "  ")
    scene.server.say(DIRECT, "last")
    assert [incoming.text for incoming in await scene.inbox.wait()] == ["last"]
    (part,) = scene.platform.render(view("Five."))
    await scene.platform.send(scene.inbox.received[0], part, begun=None, key="k", number=0)
    await until(lambda: len(scene.server.acknowledged) >= 6)
    assert len(scene.inbox.received) == 1, "its own words come back to it"


async def test_edits_and_previews(scene: Scene) -> None:
    said = scene.server.say(DIRECT, "How many dais?")
    await scene.inbox.wait()
    said["attachments"] = [{"title": "a preview"}]
    scene.server.edit(DIRECT, said, "How many dais?")
    scene.server.edit(DIRECT, said, "How many days?")
    first, second = await scene.inbox.wait(2)
    assert (second.text, second.message) == ("How many days?", first.message)
    assert second.edited_at is not None
    assert first.keys[0] == second.keys[0]


async def test_deletions(scene: Scene) -> None:
    said = scene.server.say(CHANNEL, f"{NAME} how many?")
    (incoming,) = await scene.inbox.wait()
    scene.server.delete(CHANNEL, said)
    await until(lambda: scene.inbox.withdrawn)
    assert scene.inbox.withdrawn == [(incoming.conversation, said["ts"])]
    other = scene.server.say(CHANNEL, f"{NAME} how many then?")
    scene.server.say(CHANNEL, "yes, how many?", thread=other["ts"])
    scene.server.delete(CHANNEL, other)
    await until(lambda: len(scene.inbox.withdrawn) == 2)
    assert scene.inbox.withdrawn[1] == (
        ConversationKey(platform="slack", workspace="T0001", channel=CHANNEL, thread=other["ts"]),
        other["ts"],
    )


async def test_opening_the_messages_suggests_questions(scene: Scene) -> None:
    scene.inbox.greeting = View(
        document=parse_markdown("Hello."), reference="", prompts=("What is new?", "a", "b", "c", "d")
    )
    channel = scene.server.open_messages(ASKER)
    await until(lambda: scene.server.prompts)
    (prompts,) = scene.server.prompts
    assert prompts["channel_id"] == channel
    assert "thread_ts" not in prompts, "with it the agent view shows none"
    assert prompts["prompts"][0] == {"title": "What is new?", "message": "What is new?"}


async def test_a_file_beside_a_question(scene: Scene) -> None:
    scene.server.files["F1"] = b"some text"
    file = {"id": "F1", "name": "a.txt", "mimetype": "text/plain", "size": 9}
    scene.server.say(DIRECT, "What is in it?", files=[file], subtype="file_share")
    (incoming,) = await scene.inbox.wait()
    assert incoming.attachments == (Attachment(id="F1", name="a.txt", media_type="text/plain", size=9),)
    assert await scene.platform.fetch(incoming, incoming.attachments[0], limit=100) == b"some text"
    with pytest.raises(PlatformRefused):
        await scene.platform.fetch(incoming, incoming.attachments[0], limit=3)


async def test_the_token_is_shown_to_slack_alone(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    scene.server.files["F1"] = b"some text"
    scene.server.say(DIRECT, "What?", files=[{"id": "F1", "name": "a.txt"}])
    (incoming,) = await scene.inbox.wait()
    api = scene.server.url
    scene.server.url = api.replace("127.0.0.1", "localhost")
    with pytest.raises(PlatformRefused, match="not kept by Slack"):
        await scene.platform.fetch(incoming, incoming.attachments[0], limit=100)
