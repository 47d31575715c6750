"""What happens to messages in Slack is handed on as it is told, for sources that are read from there."""

import asyncio
import pathlib
from collections.abc import Mapping
from typing import Any

import pytest

from bots.app import open_operations
from bots.app.following import Following
from bots.requests import Sync
from tests.bots.handbook import told
from tests.bots.made_source import MadeOptions, made_settings, made_type
from tests.bots.slack.scene import CHANNEL, NAME, Scene
from tests.fakes.waiting import until


async def test_messages_of_every_kind_are_handed_on(scene: Scene) -> None:
    said = scene.server.say(CHANNEL, f"{NAME} how many days?")
    joined = scene.server.say(CHANNEL, "<@U2> has joined the channel", subtype="channel_join")
    scene.server.edit(CHANNEL, said, f"{NAME} how many hours?")
    scene.server.delete(CHANNEL, said)
    await until(lambda: len(scene.inbox.seen) == 4)
    assert {event["type"] for event in scene.inbox.seen} == {"message"}
    assert {event["team"] for event in scene.inbox.seen} == {scene.server.team}
    assert {event["channel"] for event in scene.inbox.seen} == {CHANNEL}
    by_kind = {event.get("subtype"): event for event in scene.inbox.seen}
    assert by_kind.keys() == {None, "channel_join", "message_changed", "message_deleted"}
    assert by_kind[None]["ts"] == said["ts"]
    assert by_kind["channel_join"]["ts"] == joined["ts"]
    assert by_kind["message_changed"]["message"]["text"] == f"{NAME} how many hours?"
    assert by_kind["message_deleted"]["deleted_ts"] == said["ts"]


async def test_they_are_handed_on_where_the_claim_fails(scene: Scene) -> None:
    scene.inbox.failing = 1
    scene.server.say(CHANNEL, f"{NAME} how many days?")
    await until(lambda: scene.inbox.seen)


def thread_of(options: MadeOptions, event: Mapping[str, Any]) -> list[str]:
    message = event.get("message") or event.get("previous_message") or event
    return [f"{event['channel']}/{message.get('thread_ts') or message['ts']}"]


async def test_what_is_said_stands_in_the_index_within_seconds(
    scene: Scene, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the event to the document, with a made source in place of the one that reads Slack."""
    memory = made_type(monkeypatch, "slack", thread_of).source("talk", first="Valve a is open.")
    settings = made_settings(tmp_path, "talk", type_name="slack")
    async with open_operations(settings, mending=False) as operations:
        await told(operations, Sync())
        following = Following(settings, ["slack"], operations.refresh, join=0.05)
        take = following.of("slack")
        assert take is not None
        monkeypatch.setattr(scene.inbox, "saw", take)
        registry = operations._parts.library.registry
        async with following.going_on(), asyncio.timeout(30):
            said = scene.server.say(CHANNEL, "Valve b is open.")
            memory.put(f"{CHANNEL}/{said['ts']}", "Valve b is open.")
            while len(await registry.document_ids("talk")) != 2:  # noqa: ASYNC110 (a database tells no event)
                await asyncio.sleep(0.02)
            memory.drop(f"{CHANNEL}/{said['ts']}")
            scene.server.delete(CHANNEL, said)
            while await registry.document_ids("talk") != ["talk:first"]:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
