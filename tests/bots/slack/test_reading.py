"""What is read from Slack: who may read, the thread before a question, and what was missed."""

import asyncio
import time
from datetime import UTC, datetime, timedelta

import pytest

from bots.platform import Reach
from tests.bots.slack.scene import ASKER, CHANNEL, DIRECT, NAME, Scene
from tests.servers.faults import Fault


async def test_who_reads_in_private(scene: Scene) -> None:
    server = scene.server
    server.channel(CHANNEL).members |= {"U2", "U3", "U4"}
    server.person("U2", is_restricted=True)
    server.person("U3", is_email_confirmed=False)
    server.person("U4", team_id="T0009", is_stranger=True)
    inside = f"slack:T0001/{CHANNEL}"
    expected = {
        ASKER: {"slack:T0001", "email:u1@example.org", inside},
        "U2": {"email:u2@example.org", inside},
        "U3": {"slack:T0001", inside},
        "U4": {inside},
        "U5": {"slack:T0001", "email:u5@example.org"},
    }
    for user in expected:
        server.say(f"D{user[1:]}", "How many?", user=user)
    received = await scene.inbox.wait(len(expected))
    for incoming in received:
        more = await scene.platform.readers(incoming) - incoming.seen_by
        assert more == expected[incoming.asker.id], incoming.asker.id
    calls = server.count("users.info"), server.count("conversations.members")
    assert calls == (len(expected), 1)
    await scene.platform.readers(received[0])
    assert (server.count("users.info"), server.count("conversations.members")) == calls, "remembered for five minutes"


async def test_a_crowd_is_looked_up_without_a_refusal(scene: Scene) -> None:
    people = [f"U{number}" for number in range(100, 400)]
    for user in people:
        scene.server.say(f"D{user[1:]}", "How many?", user=user)
    received = await scene.inbox.wait(len(people))
    readers = await asyncio.gather(*map(scene.platform.readers, received))
    assert all(
        {"slack:T0001", f"email:{one.asker.id.lower()}@example.org"} <= found
        for one, found in zip(received, readers, strict=True)
    )
    assert scene.server.refused == []
    assert scene.server.count("users.info") == scene.server.rates.append
    assert scene.server.count("users.list") == 2


async def test_what_slack_does_not_confirm_is_not_so(scene: Scene) -> None:
    scene.server.say(DIRECT, "How many?")
    (incoming,) = await scene.inbox.wait()
    scene.server.faults.add("users.info", Fault(status=500))
    scene.server.faults.add("conversations.members", Fault(status=500))
    assert await scene.platform.readers(incoming) == incoming.seen_by
    assert "slack:T0001" in await scene.platform.readers(incoming), "a failure is not remembered"


async def test_a_thread_is_read_before_a_mention_in_its_middle(scene: Scene) -> None:
    first = scene.server.say(CHANNEL, "We get 25 days, says <@U3>.", user="U2")
    for number in range(5):
        scene.server.say(CHANNEL, f"word {number}", user="U1", thread=first["ts"])
    scene.server.say(CHANNEL, f"{NAME} is that right?", thread=first["ts"])
    received = await scene.inbox.wait(7)
    incoming = next(one for one in received if one.reach is Reach.MENTION)
    whole = await scene.platform.thread(incoming, limit=10)
    assert [message.text for message in whole] == ["We get 25 days, says @U3.", *(f"word {n}" for n in range(5))]
    assert whole[0].author == "name of U2"
    assert [message.text for message in await scene.platform.thread(incoming, limit=2)] == ["word 3", "word 4"]


async def test_what_was_asked_while_nobody_listened(scene: Scene) -> None:
    scene.server.say(CHANNEL, f"{NAME} how many?")
    (known,) = await scene.inbox.wait()
    since = datetime.now(UTC) - timedelta(minutes=15)
    scene.server.delivers = False
    asked = scene.server.say(CHANNEL, f"{NAME} and now?")
    scene.server.say(CHANNEL, "go on", thread=known.message)
    scene.server.say(CHANNEL, "just talk")
    missed = await scene.platform.missed((known.conversation,), since)
    assert [one.text for one in missed] == ["how many?", "and now?", "go on"]
    assert f"message:{CHANNEL}/{asked['ts']}" in missed[1].keys
    later = await scene.platform.missed((known.conversation,), datetime.now(UTC) + timedelta(minutes=1))
    assert later == ()


async def test_a_mention_is_found_in_a_thread_where_the_bot_was_not(scene: Scene) -> None:
    server = scene.server
    server.say(CHANNEL, f"{NAME} how many?")
    (known,) = await scene.inbox.wait()
    old = server.say(CHANNEL, "We get 25 days.", at=time.time() - 3_600)
    quiet = server.say(CHANNEL, "Lunch?", at=time.time() - 3_000)
    server.say(CHANNEL, "Yes", thread=quiet["ts"], at=time.time() - 2_900)
    since = datetime.now(UTC) - timedelta(minutes=15)
    server.delivers = False
    server.say(CHANNEL, f"{NAME} is that right?", thread=old["ts"])
    server.say(CHANNEL, "I wonder, too", thread=old["ts"])
    fresh = server.say(CHANNEL, "Another thing")
    server.say(CHANNEL, f"{NAME} and that?", thread=fresh["ts"])
    missed = await scene.platform.missed((known.conversation,), since)
    assert [one.text for one in missed] == ["how many?", "is that right?", "and that?"]
    assert missed[1].conversation.thread == old["ts"]
    read = {params["ts"] for _, method, params in server.calls if method == "conversations.replies"}
    assert read == {known.message, old["ts"], fresh["ts"]}, "a thread in which nobody wrote is not read"


async def test_more_threads_than_a_minute_can_read_are_left_the_newest_first(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bots.slack.reading.MOST_THREADS", 3)
    scene.server.say(CHANNEL, f"{NAME} how many?")
    (known,) = await scene.inbox.wait()
    scene.server.delivers = False
    for number in range(5):
        first = scene.server.say(CHANNEL, f"thing {number}")
        scene.server.say(CHANNEL, f"{NAME} and {number}?", thread=first["ts"])
    missed = await scene.platform.missed((known.conversation,), datetime.now(UTC) - timedelta(minutes=15))
    assert [one.text for one in missed] == ["how many?", "and 2?", "and 3?", "and 4?"]
