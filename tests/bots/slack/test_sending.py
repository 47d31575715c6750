"""Answers stand where they belong; limits are kept, errors told apart, and what was sent is found again."""

import itertools
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from bots.platform import Asker, Call, Incoming, Reach, Sent
from bots.slack.limits import slack_limits
from ragcore.errors import (
    MessageGone,
    PlatformAuthError,
    PlatformRateLimited,
    PlatformRefused,
    PlatformUnreachable,
)
from ragcore.types import ConversationKey
from tests.bots.scene import view
from tests.bots.slack.scene import CHANNEL, DIRECT, NAME, Scene
from tests.servers.faults import Fault
from tests.servers.slack import Rates


async def test_answers_show_no_previews_and_stand_in_the_thread(scene: Scene) -> None:
    scene.server.say(CHANNEL, f"{NAME} how many?")
    (incoming,) = await scene.inbox.wait()
    (part,) = scene.platform.render(view("See [here](https://x.example)."))
    await scene.platform.send(incoming, part, begun=None, key="k", number=0)
    (message,) = scene.server.answers(CHANNEL, incoming.message)
    assert message["unfurl"] == (False, False)


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (Fault(status=429, wait=7), PlatformRateLimited),
        (Fault(status=500), PlatformUnreachable),
        (Fault(status=0), PlatformUnreachable),
        (Fault(status=200, error="internal_error"), PlatformUnreachable),
        (Fault(status=200, error="channel_not_found"), MessageGone),
        (Fault(status=200, error="msg_too_long"), PlatformRefused),
        (Fault(status=200, error="token_revoked"), PlatformAuthError),
        (Fault(status=200, error="missing_scope"), PlatformAuthError),
    ],
)
async def test_errors_are_told_apart(scene: Scene, fault: Fault, error: type[Exception]) -> None:
    scene.server.say(DIRECT, "How many?")
    (incoming,) = await scene.inbox.wait()
    scene.server.faults.add("chat.postMessage", fault)
    (part,) = scene.platform.render(view("Five."))
    with pytest.raises(error) as caught:
        await scene.platform.send(incoming, part, begun=None, key="k", number=0)
    if isinstance(caught.value, PlatformRateLimited):
        assert 7 <= caught.value.retry_after <= 8
    assert scene.server.bot_token not in str(caught.value)
    assert scene.server.count("chat.postMessage") == 1, "the turn decides whether it is sent again"


async def test_an_answer_that_was_taken_and_lost_is_found(scene: Scene) -> None:
    scene.server.say(CHANNEL, f"{NAME} how many?")
    (incoming,) = await scene.inbox.wait()
    scene.server.faults.add("chat.postMessage", Fault(status=0, done=True))
    (part,) = scene.platform.render(view("Five."))
    with pytest.raises(PlatformUnreachable):
        await scene.platform.send(incoming, part, begun=None, key="k", number=0)
    found = await scene.platform.find(incoming, "k")
    assert found is not None
    assert found.id == scene.server.answers(CHANNEL)[0]["ts"]
    assert await scene.platform.find(incoming, "another") is None


async def test_an_admin_is_told_in_private(scene: Scene) -> None:
    scene.server.person("U99")
    await scene.platform.tell("slack:T0001/@U99", "a *fault*")
    (message,) = scene.server.answers("D99")
    assert scene.server.plain(message) == "a *fault*"


def test_limits_are_within_what_slack_takes() -> None:
    asked = Incoming(
        keys=("k",),
        conversation=ConversationKey(platform="slack", workspace="T1", channel="C1", thread="1.0"),
        message="1.0",
        asker=Asker(id="U1"),
        text="?",
        reach=Reach.MENTION,
        sent_at=datetime.now(UTC),
    )
    rates = Rates()
    most = {
        "status": rates.status,
        "start": rates.start,
        "stop": rates.start,
        "append": rates.append,
        "update": rates.change,
    }
    stream = Sent(channel="C1", id="1.1", extra={"stream": "1"})
    for call, begun in itertools.product(Call, (None, stream, replace(stream, ended=True))):
        for limit in slack_limits(asked, call, begun):
            name, _, bucket = limit.bucket.partition(" ")
            if bucket == "C1":
                assert (limit.calls, limit.seconds) == rates.channel
            else:
                assert limit.calls <= most.get(name, rates.posts)
    buckets = {limit.bucket for call in Call for limit in slack_limits(asked, call, stream)}
    assert {"append T1", "stop T1", "update T1"} <= buckets, "Slack counts by method and workspace"
