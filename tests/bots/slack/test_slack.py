"""The real slack-bolt against a local Slack: what people do becomes Incoming, and what is sent stands there."""

import asyncio
import contextlib
import gc
import itertools
import logging
import socket
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import aiohttp
import pytest

from bots.platform import Asker, Attachment, Button, Call, Incoming, Reach, Sent, View
from bots.rendering.parse import parse_markdown, parse_partial
from bots.slack import Listen, SlackPlatform
from bots.slack.calling import discreet
from bots.slack.limits import slack_limits
from ragcore.errors import (
    MessageGone,
    PlatformAuthError,
    PlatformRateLimited,
    PlatformRefused,
    PlatformUnreachable,
    StoreError,
    StreamEnded,
)
from ragcore.types import ConversationKey
from tests.fakes.inbox import Kept
from tests.fakes.waiting import until
from tests.servers.faults import Fault
from tests.servers.slack import Rates, Shown, SlackServer, slack_server

CHANNEL, DIRECT, ASKER = "C1", "D1", "U1"
NAME = "<@U0BOT>"


@dataclass(kw_only=True)
class Scene:
    server: SlackServer
    platform: SlackPlatform
    inbox: Kept


@contextlib.asynccontextmanager
async def serving(server: SlackServer, inbox: Kept, *, http: bool = False) -> AsyncIterator[SlackPlatform]:
    listen = None
    if http:
        with socket.socket() as held:
            held.bind(("127.0.0.1", 0))
            listen = Listen(port=held.getsockname()[1])
        server.request_url = f"http://127.0.0.1:{listen.port}/slack/events"
    platform = SlackPlatform(
        bot_token=server.bot_token,
        app_token="" if http else server.app_token,
        signing_secret=server.signing_secret if http else "",
        api_url=f"{server.url}/api/",
        listen=listen,
        channels=[f"slack:{server.team}/{CHANNEL}", "slack:T0002/C9"],
    )
    running = asyncio.create_task(platform.serve(inbox))
    connected = asyncio.create_task(platform.connected.wait())
    await asyncio.wait({running, connected}, return_when=asyncio.FIRST_COMPLETED)
    try:
        if running.done():
            await running
        yield platform
    finally:
        running.cancel()
        connected.cancel()
        await asyncio.gather(running, return_exceptions=True)


@pytest.fixture
async def scene() -> AsyncIterator[Scene]:
    inbox = Kept()
    async with slack_server() as server:
        server.channel(CHANNEL).members.add(ASKER)
        server.person(ASKER)
        async with serving(server, inbox) as platform:
            yield Scene(server=server, platform=platform, inbox=inbox)
        assert server.unacknowledged == []


def view(text: str, *buttons: Button, reference: str = "0123abcd") -> View:
    return View(document=parse_markdown(text), reference=reference, buttons=buttons)


def partial(text: str) -> View:
    return View(document=parse_partial(text), reference="0123abcd", buttons=(Button.STOP,))


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
    assert set(first.keys).isdisjoint(second.keys)


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


async def test_an_event_is_acknowledged_only_when_it_is_claimed(scene: Scene) -> None:
    scene.inbox.failing, scene.server.ack_seconds = 2, 0.2
    scene.server.say(DIRECT, "How many?")
    assert [incoming.text for incoming in await scene.inbox.wait()] == ["How many?"]
    await until(lambda: scene.server.acknowledged)
    assert [attempt for _, attempt in scene.server.acknowledged] == [2]


async def test_a_redelivered_event_is_one_question(scene: Scene) -> None:
    event = {
        "type": "message",
        "channel": DIRECT,
        "channel_type": "im",
        "user": ASKER,
        "text": "How?",
        "ts": "17.000001",
    }
    for _ in range(2):
        scene.server.emit(event, event_id="Ev1")
    await until(lambda: len(scene.server.acknowledged) == 2)
    assert len(scene.inbox.received) == 1
    async with serving(scene.server, scene.inbox):
        scene.server.drop_sockets(reason="refresh_requested")
        for _ in range(8):  # some of them by the sockets of another process
            scene.server.emit(event, event_id="Ev1")
        await until(lambda: len(scene.server.acknowledged) == 10)
    assert len(scene.inbox.received) == 1
    assert scene.inbox.again, "the claim holds it where no process remembers"


async def test_sockets_come_again_by_themselves(scene: Scene) -> None:
    opened = scene.server.count("apps.connections.open")
    scene.server.drop_sockets(reason="refresh_requested")
    await until(lambda: scene.server.count("apps.connections.open") >= opened + 2)
    scene.server.say(DIRECT, "How many?")
    await scene.inbox.wait()


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


async def test_answers_show_no_previews_and_stand_in_the_thread(scene: Scene) -> None:
    scene.server.say(CHANNEL, f"{NAME} how many?")
    (incoming,) = await scene.inbox.wait()
    (part,) = scene.platform.render(view("See [here](https://x.example)."))
    await scene.platform.send(incoming, part, begun=None, key="k", number=0)
    (message,) = scene.server.answers(CHANNEL, incoming.message)
    assert message["unfurl"] == (False, False)


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
    assert [scene.server.plain({"blocks": shown.blocks}) for shown in scene.server.shown] == ["Five days."]
    assert scene.server.answers(CHANNEL) == []


@pytest.mark.parametrize(
    ("text", "command", "left"),
    [
        ("search leave", "search", "leave"),
        ("Sources", "sources", ""),
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


async def test_an_expired_address_is_answered_for_all_that(scene: Scene) -> None:
    url = scene.server.command(CHANNEL, "/ask", "how many days?")
    (incoming,) = await scene.inbox.wait()
    await until(lambda: scene.server.shown)
    scene.server.expire(url)
    (part,) = scene.platform.render(view("Five days."))
    await scene.platform.send(incoming, part, begun=None, key="k", number=0)
    assert scene.server.plain({"blocks": scene.server.shown[-1].blocks}) == "Five days."
    assert scene.server.shown[-1].user == ASKER


async def answered(scene: Scene, *buttons: Button) -> dict[str, object]:
    scene.server.say(CHANNEL, f"{NAME} how many?")
    (incoming,) = await scene.inbox.wait()
    (part,) = scene.platform.render(view("Five.", *buttons))
    await scene.platform.send(incoming, part, begun=None, key="k", number=0)
    (message,) = scene.server.answers(CHANNEL)
    return message


async def test_votes(scene: Scene) -> None:
    message = await answered(scene, Button.FEEDBACK)
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
    message = await answered(scene, Button.FEEDBACK, Button.QUOTES, Button.DELETE)
    scene.server.press(message, "cb:quotes:0123abcd:", channel=CHANNEL)
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


async def test_quotes_that_take_long_are_shown_in_an_open_modal(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    message = await answered(scene, Button.QUOTES)
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


async def shared(scene: Scene) -> Shown:
    scene.server.command(CHANNEL, "/ask", "how many days?")
    (incoming,) = await scene.inbox.wait()
    await until(lambda: scene.server.shown)
    (part,) = scene.platform.render(view("Five days.", Button.SHARE))
    await scene.platform.send(incoming, part, begun=None, key="k", number=0)
    return scene.server.shown[0]


async def test_what_one_saw_is_shared_with_the_channel(scene: Scene) -> None:
    shown = await shared(scene)
    scene.inbox.quoted["0123abcd"] = view("Five days.", Button.FEEDBACK)
    scene.server.press(shown, "cb:share:0123abcd:")
    await until(lambda: scene.server.answers(CHANNEL) and not scene.server.shown)
    (message,) = scene.server.answers(CHANNEL)
    assert message["unfurl"] == (False, False)
    assert scene.server.plain(message) == "Five days."


async def test_what_the_channel_may_not_read_is_not_shared(scene: Scene) -> None:
    shown = await shared(scene)
    scene.server.press(shown, "cb:share:0123abcd:")
    await until(lambda: len(scene.server.shown) == 2)
    assert scene.server.answers(CHANNEL) == []


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


async def test_what_slack_does_not_confirm_is_not_so(scene: Scene) -> None:
    scene.server.say(DIRECT, "How many?")
    (incoming,) = await scene.inbox.wait()
    scene.server.faults.add("users.info", Fault(status=500))
    scene.server.faults.add("conversations.members", Fault(status=500))
    assert await scene.platform.readers(incoming) == incoming.seen_by
    assert "slack:T0001" in await scene.platform.readers(incoming), "a failure is not remembered"


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


async def test_an_admin_is_told_in_private(scene: Scene) -> None:
    scene.server.person("U99")
    await scene.platform.tell("slack:T0001/@U99", "a *fault*")
    (message,) = scene.server.answers("D99")
    assert scene.server.plain(message) == "a *fault*"


async def test_who_pressed_is_told_what_fails(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    message = await answered(scene, Button.QUOTES)

    async def quotes(reference: str, readers: frozenset[str]) -> View:
        raise StoreError("the index is away")

    monkeypatch.setattr(scene.inbox, "quotes", quotes)
    scene.server.press(message, "cb:quotes:0123abcd:", channel=CHANNEL)
    await until(lambda: scene.server.shown)
    assert "0123abcd" in scene.server.plain({"blocks": scene.server.shown[0].blocks})


async def test_slack_that_stays_away_is_told(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("bots.slack.listening._LOST_SECONDS", 0.5)
    monkeypatch.setenv("SLACK_BOT_TOKEN", "xoxb-local")
    platform = SlackPlatform(bot_token="xoxb-local", app_token="xapp-local", api_url=f"{scene.server.url}/api/")
    serving = asyncio.create_task(platform.serve(Kept()))
    await asyncio.wait_for(platform.connected.wait(), 10.0)
    scene.server.faults.add("apps.connections.open", Fault(status=500), times=20)
    scene.server.drop_sockets()
    with pytest.raises(PlatformUnreachable):
        await asyncio.wait_for(serving, 10.0)
    assert not platform.connected.is_set()
    assert "`client`" not in caplog.text
    assert "`authorize`" not in caplog.text
    scene.server.faults.clear()


async def test_a_platform_is_made_outside_of_any_loop(scene: Scene) -> None:
    made = await asyncio.to_thread(
        lambda: SlackPlatform(bot_token="xoxb-local", app_token="xapp-local", api_url=f"{scene.server.url}/api/")
    )
    serving = asyncio.create_task(made.serve(Kept()))
    await asyncio.wait_for(made.connected.wait(), 10.0)
    serving.cancel()
    await asyncio.gather(serving, return_exceptions=True)


def test_the_sdks_log_tells_no_ticket() -> None:
    text = "Failed to connect (error: 403, url='wss://x.example/link/?ticket=a-secret&app_id=12')"
    record = logging.LogRecord("sdk", logging.ERROR, "", 0, text, None, None)
    assert discreet(record)
    assert record.getMessage() == "Failed to connect (error: 403, url='wss://x.example/link/?ticket=…&app_id=…')"


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
    most = {"start": rates.start, "stop": rates.start, "append": rates.append, "update": rates.change}
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


async def test_refused_tokens_say_what_to_mend() -> None:
    async with slack_server() as server:
        api = f"{server.url}/api/"
        with pytest.raises(PlatformAuthError, match="SLACK_BOT_TOKEN"):
            await SlackPlatform(bot_token="xoxb-wrong", app_token="xapp-local", api_url=api).serve(Kept())
        with pytest.raises(PlatformAuthError, match="SLACK_APP_TOKEN"):
            await SlackPlatform(bot_token="xoxb-local", app_token="xapp-wrong", api_url=api).serve(Kept())
    with pytest.raises(PlatformAuthError, match="SLACK_SIGNING_SECRET"):
        SlackPlatform(bot_token="xoxb-local")


async def test_signed_requests_are_taken_and_forged_ones_not() -> None:
    inbox = Kept(failing=1)
    async with slack_server() as server, serving(server, inbox, http=True) as platform:
        server.say(DIRECT, "How many?")
        (incoming,) = await inbox.wait()
        await until(lambda: server.acknowledged)
        assert [attempt for _, attempt in server.acknowledged] == [1]
        server.command(CHANNEL, "/ask", "how many?")
        await until(lambda: server.shown)
        (part,) = platform.render(view("Five.", Button.FEEDBACK))
        await platform.send(incoming, part, begun=None, key="k", number=0)
        server.press(server.answers(DIRECT)[0], "cb:up:0123abcd:", channel=DIRECT)
        await until(lambda: inbox.votes)
        body = '{"type": "event_callback", "event_id": "E", "event": {"type": "message", "channel": "D1", "ts": "1.0"}}'
        forged = [
            server.signed(body) | {"X-Slack-Signature": "v0=00"},
            server.signed(body, at=1.0),
            server.signed(body.replace("D1", "D2")),
            {},
        ]
        async with aiohttp.ClientSession() as session:
            for headers in forged:
                told = headers | {"Content-Type": "application/json"}
                async with session.post(server.request_url, data=body, headers=told) as answer:
                    assert answer.status == 401
            challenge = '{"type": "url_verification", "challenge": "abc"}'
            told = server.signed(challenge) | {"Content-Type": "application/json"}
            async with session.post(server.request_url, data=challenge, headers=told) as answer:
                assert "abc" in await answer.text()
    assert len(inbox.received) == 2


async def test_it_can_be_stopped_at_any_moment() -> None:
    async with slack_server() as server:
        for step in range(30):
            platform = SlackPlatform(bot_token="xoxb-local", app_token="xapp-local", api_url=f"{server.url}/api/")
            running = asyncio.create_task(platform.serve(Kept()))
            for _ in range(step):
                await asyncio.sleep(0)
            await asyncio.sleep(step / 2_000)
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running
        await asyncio.sleep(0.05)
        left = {str(task.get_coro()).split()[2] for task in asyncio.all_tasks() - {asyncio.current_task()}}
        assert left <= {"RequestHandler.start"}, "only the server's own connections"
        gc.collect()  # what was left open would warn now
