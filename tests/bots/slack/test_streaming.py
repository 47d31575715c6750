"""An answer grows in a stream, and where there is none by edits; one whole message stands in the end."""

import asyncio
from dataclasses import replace

import pytest

from bots.platform import Button, Sent
from ragcore.errors import (
    StreamEnded,
)
from tests.bots.scene import partial, view
from tests.bots.slack.scene import ASKER, CHANNEL, DIRECT, NAME, Scene, serving
from tests.fakes.inbox import Kept
from tests.fakes.waiting import until
from tests.servers.faults import Fault
from tests.servers.slack import slack_server


async def test_empty_words_take_away_the_status_and_the_stop_button(scene: Scene) -> None:
    scene.server.say(CHANNEL, f"{NAME} how many?")
    (incoming,) = await scene.inbox.wait()
    await scene.platform.status(incoming, "Searching …")
    assert scene.server.sessions[CHANNEL, incoming.message] == "processing"
    await scene.platform.status(incoming, "")
    assert scene.server.statuses[-1] == (CHANNEL, incoming.message, "")
    assert scene.server.sessions[CHANNEL, incoming.message] == "active"


async def test_a_stream_grows_and_the_answer_takes_its_place(scene: Scene) -> None:
    scene.server.say(CHANNEL, f"{NAME} how many?")
    (incoming,) = await scene.inbox.wait()
    await scene.platform.status(incoming, "Searching …")
    assert scene.server.statuses[-1] == (CHANNEL, incoming.message, "Searching …")
    assert scene.server.sessions[CHANNEL, incoming.message] == "processing"
    sent = None
    for text in ("Five da", "Five **days** a", "Five **days** a year, or"):
        sent = await scene.platform.show(incoming, scene.platform.render_partial(partial(text)), begun=sent, key="k")
    (message,) = scene.server.answers(CHANNEL, incoming.message)
    assert message["text"] == "Five **days** a year,"
    assert message["blocks"] == [], "Slack's own Stop button is there"
    (part,) = scene.platform.render(view("Six **days**.", Button.FEEDBACK))
    assert sent is not None
    final = await scene.platform.send(incoming, part, begun=sent, key="k", number=0)
    (message,) = scene.server.answers(CHANNEL, incoming.message)
    assert (final.id, scene.server.plain(message)) == (message["ts"], "Six **days**.")
    assert "streaming" not in message
    assert scene.server.sessions[CHANNEL, incoming.message] == "active"
    again = await scene.platform.find(incoming, "k")
    assert again == Sent(channel=CHANNEL, id=message["ts"])
    await scene.platform.withdraw(incoming, final)
    await scene.platform.withdraw(incoming, final)
    assert scene.server.answers(CHANNEL) == []
    assert scene.server.refused == [("chat.delete", "message_not_found")]


async def test_streams_whose_end_nobody_tells_are_forgotten(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bots.slack.MOST_STREAMS", 1)
    for _ in range(2):
        scene.server.say(CHANNEL, f"{NAME} how many?")
    first, second = await scene.inbox.wait(2)
    part, more = (scene.platform.render_partial(partial(text)) for text in ("Five da", "Five days a"))
    begun = [await scene.platform.show(one, part, begun=None, key="k") for one in (first, second)]
    await scene.platform.show(second, more, begun=begun[1], key="k")
    with pytest.raises(StreamEnded):
        await scene.platform.show(first, more, begun=begun[0], key="k")
    ended = replace(begun[0], ended=True)
    assert await scene.platform.show(first, more, begun=ended, key="k") == ended, "it goes on by edits"


async def test_an_app_that_is_no_agent_has_a_stop_button_of_ours() -> None:
    inbox = Kept()
    async with slack_server(agent=False) as server, serving(server, inbox) as platform:
        server.say(DIRECT, "How many?")
        (incoming,) = await inbox.wait()
        await platform.status(incoming, "Searching …")
        sent = await platform.show(incoming, platform.render_partial(partial("Five days, or")), begun=None, key="k")
        (message,) = server.answers(DIRECT)
        assert message["text"] == "Five days,"
        server.press(message, "cb:stop:0123abcd:", channel=DIRECT)
        await until(lambda: inbox.stopped)
        assert inbox.stopped == [("0123abcd", ASKER)]
        (part,) = platform.render(view("Stopped."))
        await platform.send(incoming, part, begun=sent, key="k", number=0)
        (message,) = server.answers(DIRECT)
        assert [block["type"] for block in message["blocks"]] == ["markdown"]
        assert server.count("agents.sessions.setStatus") == 1, "asked once, and never again"


async def test_an_app_that_does_not_hear_of_slacks_stop_has_one_of_ours(
    scene: Scene, caplog: pytest.LogCaptureFixture
) -> None:
    scene.server.subscribed = False
    scene.server.say(DIRECT, "How many?")
    (incoming,) = await scene.inbox.wait()
    await scene.platform.status(incoming, "Searching …")
    assert "agent_session_stopped" in caplog.text
    sent = await scene.platform.show(incoming, scene.platform.render_partial(partial("Five")), begun=None, key="k")
    (message,) = scene.server.answers(DIRECT)
    assert [block["type"] for block in message["blocks"]] == ["actions"]
    (part,) = scene.platform.render(view("Five."))
    await scene.platform.send(incoming, part, begun=sent, key="k", number=0)
    assert set(scene.server.sessions.values()) == {"active"}


async def test_slacks_own_stop(scene: Scene) -> None:
    scene.server.say(CHANNEL, f"{NAME} how many?")
    (incoming,) = await scene.inbox.wait()
    await scene.platform.status(incoming, "Searching …")
    sent = await scene.platform.show(
        incoming, scene.platform.render_partial(partial("Five days, or")), begun=None, key="k"
    )
    scene.server.press_stop(CHANNEL, incoming.message)
    await until(lambda: scene.inbox.stopped)
    assert scene.inbox.stopped == [(incoming.conversation, ASKER)]
    with pytest.raises(StreamEnded):
        await scene.platform.show(
            incoming, scene.platform.render_partial(partial("Five days, or six, or")), begun=sent, key="k"
        )
    (part,) = scene.platform.render(view("Five days. Stopped."))
    await scene.platform.send(incoming, part, begun=sent, key="k", number=0)
    assert [scene.server.plain(m) for m in scene.server.answers(CHANNEL)] == ["Five days. Stopped."]
    assert scene.server.sessions[CHANNEL, incoming.message] == "active"


async def test_a_stream_dies_of_age_and_goes_on_as_a_message(scene: Scene) -> None:
    scene.server.say(CHANNEL, f"{NAME} how many?")
    (incoming,) = await scene.inbox.wait()
    sent = await scene.platform.show(
        incoming, scene.platform.render_partial(partial("Five days, or")), begun=None, key="k"
    )
    scene.server.stream_seconds = 0.0
    more = scene.platform.render_partial(partial("Five days, or six, or"))
    with pytest.raises(StreamEnded):
        await scene.platform.show(incoming, more, begun=sent, key="k")
    ended = Sent(channel=sent.channel, id=sent.id, ended=True, extra=sent.extra)
    assert await scene.platform.show(incoming, more, begun=ended, key="k") == ended
    (message,) = scene.server.answers(CHANNEL)
    assert scene.server.plain(message) == "Five days, or six, or"


async def test_a_stream_that_another_process_began_is_found_and_ended(scene: Scene) -> None:
    scene.server.say(CHANNEL, f"{NAME} how many?")
    (incoming,) = await scene.inbox.wait()
    sent = await scene.platform.show(
        incoming, scene.platform.render_partial(partial("Five days, or")), begun=None, key="k"
    )
    async with serving(scene.server, Kept()) as other:
        found = await other.find(incoming, "k")
        assert found is not None
        assert found == sent
        with pytest.raises(StreamEnded):
            await other.show(incoming, other.render_partial(partial("Five days, or six, or")), begun=found, key="k")
        ended = Sent(channel=found.channel, id=found.id, ended=True, extra=found.extra)
        (part,) = other.render(view("Six days."))
        await other.send(incoming, part, begun=ended, key="k", number=0)
    assert [scene.server.plain(m) for m in scene.server.answers(CHANNEL)] == ["Six days."]


async def test_where_no_stream_is_taken_the_reply_grows_by_edits(scene: Scene) -> None:
    scene.server.faults.add("chat.startStream", Fault(status=200, error="channel_type_not_supported"))
    scene.server.say(CHANNEL, f"{NAME} how many?")
    (incoming,) = await scene.inbox.wait()
    sent = None
    for text in ("Five da", "Five days, or"):
        sent = await scene.platform.show(incoming, scene.platform.render_partial(partial(text)), begun=sent, key="k")
    (message,) = scene.server.answers(CHANNEL)
    assert scene.server.plain(message) == "Five days, or"
    assert await scene.platform.find(incoming, "k") == sent


async def test_sessions_leave_room_for_their_ends(scene: Scene) -> None:
    for number in range(60):
        scene.server.say(f"D{number}", "How many?", user=f"U{number}")
    received = await scene.inbox.wait(60)
    await asyncio.gather(*(scene.platform.status(one, "Searching…") for one in received))
    begun = list(scene.server.sessions.values()).count("processing")
    assert 0 < begun < scene.server.rates.change / 2
    for one in received:
        await scene.platform.send(one, scene.platform.render(view("Done."))[0], begun=None, key="k", number=0)
    assert set(scene.server.sessions.values()) == {"active"}
    assert scene.server.refused == []
