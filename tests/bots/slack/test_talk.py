"""What was said is read back from Slack for a summary: of a channel with its threads, or of one thread."""

import json
import pathlib
import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from bots.platform import Incoming
from bots.slack.talk import MOST_THREADS
from bots.talk import Span, Talk
from ragcore.errors import MessageGone, PlatformRateLimited, PlatformRefused
from tests.bots.slack.scene import CHANNEL, DIRECT, NAME, Scene
from tests.bots.slack.whole import begun
from tests.fakes.waiting import until
from tests.servers.faults import Fault

DAY = 86_400.0


def ago(seconds: float) -> float:
    return datetime.now(UTC).timestamp() - seconds


def since(seconds: float) -> datetime:
    return datetime.fromtimestamp(ago(seconds), UTC)


async def asked(scene: Scene, *, thread: str = "") -> Incoming:
    """Let somebody ask for a summary, and return it as it arrived."""
    said = scene.server.say(CHANNEL, f"{NAME} summarise this", user="U9", thread=thread)
    while True:
        for incoming in await scene.inbox.wait():
            if incoming.message == said["ts"]:
                return incoming
        await scene.inbox.wait(len(scene.inbox.received) + 1)


def texts(talk: Talk) -> list[str]:
    return [one.text for one in talk.messages]


async def test_a_channel_is_read_with_the_replies_in_its_threads_and_without_our_own_words(scene: Scene) -> None:
    server = scene.server
    server.delivers = False
    server.say(CHANNEL, "Too old.", at=ago(2 * DAY))
    first = server.say(CHANNEL, "The release is blocked, <@U3> &amp; <https://x.example|all>.", user="U2", at=ago(600))
    server.say(CHANNEL, "I will fix it.", user="U3", at=ago(500), thread=first["ts"])
    gone = server.say(CHANNEL, "Forget this.", user="U3", at=ago(450))
    server.say(CHANNEL, "joined", user="U4", at=ago(440), subtype="channel_join")
    server.say(CHANNEL, "Build 7 failed.", user="U5", at=ago(430), subtype="bot_message", username="CI")
    server.say(CHANNEL, "See the plan.", user="U2", at=ago(400), files=[{"id": "F1", "name": "plan.pdf"}])
    server.say(CHANNEL, "My own words.", user=server.user, at=ago(300), bot_id=server.bot_id)
    server.delete(CHANNEL, gone)
    server.edit(CHANNEL, first, "The release of 4.2 is blocked, <@U3>.")
    server.delivers = True
    incoming = await asked(scene)
    assert not scene.platform.in_thread(incoming)
    talk = await scene.platform.said(incoming, Span(thread=False, since=since(DAY)))
    assert texts(talk) == [
        "The release of 4.2 is blocked, @name of U3.",
        "I will fix it.",
        "Build 7 failed.",
        "See the plan.\n(plan.pdf)",
    ]
    assert [one.author for one in talk.messages][:2] == ["name of U2", "name of U3"]
    link = f"https://local.slack.com/archives/{CHANNEL}/p{first['ts'].replace('.', '')}"
    assert talk.messages[0].url == link
    assert talk.messages[1].url.endswith(f"?thread_ts={first['ts']}&cid={CHANNEL}")
    assert talk.whole
    assert not talk.heard


async def test_a_thread_is_read_without_what_asks_and_what_follows(scene: Scene) -> None:
    first = scene.server.say(CHANNEL, "We get 25 days.", user="U2")
    scene.server.say(CHANNEL, "Elsewhere.", user="U2")
    for number in range(5):
        scene.server.say(CHANNEL, f"word {number}", user="U1", thread=first["ts"])
    incoming = await asked(scene, thread=first["ts"])
    scene.server.say(CHANNEL, "later", thread=first["ts"])
    assert scene.platform.in_thread(incoming)
    talk = await scene.platform.said(incoming, Span(thread=True))
    assert texts(talk) == ["We get 25 days.", *(f"word {number}" for number in range(5))]
    few = await scene.platform.said(incoming, Span(thread=True, most=2))
    assert texts(few) == ["word 3", "word 4"]
    assert not few.whole
    talk = await scene.platform.said(incoming, Span(thread=False))
    assert "Elsewhere." in texts(talk)


async def test_more_replies_than_are_read_through_are_told_by_the_newest(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bots.slack.newest.SIZE", 20)
    monkeypatch.setattr("bots.slack.newest.READ_THROUGH", 2)
    scene.server.delivers = False
    first = scene.server.say(CHANNEL, "We get 25 days.", user="U2", at=ago(5_000))
    for number in range(100):
        scene.server.say(CHANNEL, f"word {number}", user="U1", thread=first["ts"], at=ago(4_000 - 30 * number))
    scene.server.delivers = True
    incoming = await asked(scene, thread=first["ts"])
    talk = await scene.platform.said(incoming, Span(thread=True, most=5))
    assert texts(talk) == [f"word {number}" for number in range(95, 100)]
    assert not talk.whole


@pytest.mark.parametrize("wait", [1, 100])
async def test_a_limit_of_slack_is_waited_for_and_told_where_it_takes_too_long(scene: Scene, wait: int) -> None:
    scene.server.say(CHANNEL, "We get 25 days.", user="U2")
    incoming = await asked(scene)
    scene.server.faults.add("conversations.history", Fault(status=429, wait=wait))
    if wait == 1:
        assert texts(await scene.platform.said(incoming, Span(thread=False))) == ["We get 25 days."]
    else:
        with pytest.raises(PlatformRateLimited):
            await scene.platform.said(incoming, Span(thread=False))


async def test_threads_that_cannot_be_read_are_told_and_the_rest_goes_on(scene: Scene) -> None:
    scene.server.delivers = False
    first = scene.server.say(CHANNEL, "We get 25 days.", user="U2", at=ago(100_000))
    scene.server.say(CHANNEL, "Since when?", user="U3", at=ago(500), thread=first["ts"])
    scene.server.say(CHANNEL, "It is closed on Monday.", user="U2", at=ago(400))
    scene.server.delivers = True
    incoming = await asked(scene)
    talk = await scene.platform.said(incoming, Span(thread=False, since=since(DAY)))
    assert texts(talk) == ["Since when?", "It is closed on Monday."], "also of a thread that began the day before"
    assert (talk.whole, talk.threads_left) == (True, False)
    scene.server.faults.add("conversations.replies", Fault(status=429, wait=100))
    talk = await scene.platform.said(incoming, Span(thread=False, since=since(DAY)))
    assert texts(talk) == ["It is closed on Monday."]
    assert talk.threads_left


async def test_a_command_tells_nothing_of_a_closed_channel_to_who_is_not_in_it(scene: Scene) -> None:
    channel = scene.server.channel("G7")
    channel.private = channel.has_bot = True
    scene.server.say("G7", "The offer is 900 euros.", user="U2")
    await scene.inbox.wait()
    for number, user in enumerate(("U2", "U1")):
        scene.server.command("G7", "/citebot", "summarise", user=user)
        channel.members.discard("U1")
        incoming = (await scene.inbox.wait(number + 2))[-1]
        assert (incoming.command, incoming.asker.id) == ("summarise", user)
        if user == "U2":
            assert texts(await scene.platform.said(incoming, Span(thread=False))) == ["The offer is 900 euros."]
        else:
            with pytest.raises(PlatformRefused):
                await scene.platform.said(incoming, Span(thread=False))


async def test_until_and_the_newest(scene: Scene) -> None:
    scene.server.delivers = False
    for number in range(30):
        scene.server.say(CHANNEL, f"word {number}", user="U1", at=ago(3_000 - 100 * number))
    scene.server.delivers = True
    incoming = await asked(scene)
    until = since(2_050)
    talk = await scene.platform.said(incoming, Span(thread=False, since=since(2_550), until=until))
    assert texts(talk) == [f"word {number}" for number in range(5, 10)]
    talk = await scene.platform.said(incoming, Span(thread=False, most=3))
    assert texts(talk) == ["word 27", "word 28", "word 29"]
    assert not talk.whole


@pytest.mark.soak
async def test_so_many_threads_are_read(scene: Scene) -> None:
    scene.server.delivers = False
    for number in range(MOST_THREADS + 5):
        first = scene.server.say(CHANNEL, f"word {number}", at=ago(5_000 - number))
        scene.server.say(CHANNEL, f"reply {number}", at=ago(1_000 - number), thread=first["ts"])
    scene.server.delivers = True
    talk = await scene.platform.said(await asked(scene), Span(thread=False))
    replies = [text for text in texts(talk) if text.startswith("reply")]
    assert replies == [f"reply {number}" for number in range(5, MOST_THREADS + 5)]
    assert scene.server.count("conversations.replies") == MOST_THREADS
    assert talk.threads_left


async def test_a_command_is_answered_from_the_channel_it_is_used_in(scene: Scene) -> None:
    scene.server.say(CHANNEL, "We get 25 days.", user="U2")
    scene.server.command(CHANNEL, "/citebot", "summarize since Monday")
    incoming = next(one for one in await scene.inbox.wait(2) if one.command)
    assert (incoming.command, incoming.text) == ("summarise", "since Monday")
    assert not scene.platform.in_thread(incoming)
    assert texts(await scene.platform.said(incoming, Span(thread=False))) == ["We get 25 days."]


async def test_a_channel_that_the_bot_is_not_in_is_refused(scene: Scene) -> None:
    scene.server.channel("C7").has_bot = False
    scene.server.command("C7", "/citebot", "summarise")
    (incoming,) = await scene.inbox.wait()
    with pytest.raises(MessageGone):
        await scene.platform.said(incoming, Span(thread=False))


@pytest.mark.soak
async def test_the_askers_time_zone_is_asked_for(scene: Scene) -> None:
    scene.server.person("U1").update(tz="Asia/Shanghai", tz_offset=28_800)
    scene.server.person("U2").update(tz="Nowhere/Land", tz_offset=-3_600)
    zones = []
    for user in ("U1", "U2"):
        scene.server.say(DIRECT if user == "U1" else "D2", "summarise this channel", user=user)
        zones.append(await scene.platform.zone((await scene.inbox.wait(len(zones) + 1))[-1]))
    assert zones[0] == ZoneInfo("Asia/Shanghai")
    assert zones[1].utcoffset(datetime.now()) == timedelta(hours=-1)


async def test_a_whole_turn_shows_links_to_the_messages_and_pings_nobody(tmp_path: pathlib.Path) -> None:
    async with begun(tmp_path) as flow:
        evil = "Decided: <!channel> <@U8> pays at <https://evil.example/x|our bank> by Friday. https://evil.example/y"
        flow.server.delivers = False
        said = flow.server.say(CHANNEL, evil, user="U7", at=ago(60))
        flow.server.delivers = True
        flow.server.say(CHANNEL, f"<@{flow.server.user}> summarise this channel since yesterday")
        await until(flow.turns.running)
        await until(lambda: not flow.turns.running())
        (answer,) = flow.server.answers(CHANNEL)
    shown = json.dumps(answer["blocks"])
    link = f"https://local.slack.com/archives/{CHANNEL}/p{said['ts'].replace('.', '')}"
    assert link in shown
    assert "<!channel>" not in shown
    assert "<@U8>" not in shown
    assert not re.search(r"<https://evil|\"url\": \"https://evil|\]\(https://evil", shown)
    assert "This channel, " in flow.server.plain(answer)
