"""Sockets, signed requests and redelivered events: what Slack sends is taken once, and what is forged never."""

import asyncio
import gc
import logging

import aiohttp
import pytest

from bots.platform import Button, Incoming
from bots.slack import SlackPlatform
from bots.slack.calling import discreet
from ragcore.errors import (
    PlatformAuthError,
    PlatformUnreachable,
)
from tests.bots.scene import view
from tests.bots.slack.scene import ASKER, CHANNEL, DIRECT, Scene, serving
from tests.fakes.inbox import Kept
from tests.fakes.waiting import until
from tests.servers.faults import Fault
from tests.servers.slack import slack_server


async def test_an_event_is_acknowledged_only_when_it_is_claimed(scene: Scene) -> None:
    scene.inbox.failing, scene.server.ack_seconds = 2, 0.2
    scene.server.say(DIRECT, "How many?")
    assert [incoming.text for incoming in await scene.inbox.wait()] == ["How many?"]
    await until(lambda: scene.server.acknowledged)
    assert [attempt for _, attempt in scene.server.acknowledged] == [2]


async def test_a_fault_of_ours_is_not_met_again_when_slack_delivers_again(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, faults = scene.inbox.receive, [KeyError("ts")]
    scene.server.ack_seconds = 0.2

    async def broken(incoming: Incoming) -> bool:
        if faults:
            raise faults.pop()
        return await real(incoming)

    monkeypatch.setattr(scene.inbox, "receive", broken)
    scene.server.say(DIRECT, "How many?")
    (incoming,) = await scene.inbox.wait()
    assert (incoming.text, faults) == ("How many?", [])


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
