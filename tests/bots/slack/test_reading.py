"""What is read from Slack: who may read, the thread before a question, and what was missed."""

import asyncio
from datetime import UTC, datetime, timedelta

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
