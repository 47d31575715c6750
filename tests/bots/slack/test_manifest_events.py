"""What the manifest subscribes to is what the bot hears, and the other way round."""

import ast
import inspect
import json

import pytest

from bots.platform import View
from bots.rendering.parse import parse_markdown
from bots.slack import listening
from bots.slack.manifest import EVENTS, manifest
from tests.bots.slack.scene import ASKER, CHANNEL, DIRECT, NAME, Scene
from tests.fakes.waiting import until

OLDER = {"assistant_thread_started"}
"""Heard in apps that still have the older assistant view, which no new app can have."""
KINDS = {"channels": ("C5", "channel"), "groups": ("C6", "group"), "im": (DIRECT, "im"), "mpim": ("G5", "mpim")}
SCOPES = {
    "app_mention": "app_mentions:read",
    "message.channels": "channels:history",
    "message.groups": "groups:history",
    "message.im": "im:history",
    "message.mpim": "mpim:history",
}
"""What Slack lets nobody subscribe to these without."""


def heard() -> set[str]:
    """Return the names of the events that the code listens for."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(inspect.getsource(listening))):
        match node:
            case ast.Call(func=ast.Attribute(attr="event"), args=[ast.Constant(value=str(name))]):
                names.add(name)
            case ast.Compare(ops=[ast.NotIn()], comparators=[ast.Tuple(elts=elements)]):
                names |= {one.value for one in elements if isinstance(one, ast.Constant)}
    return names


def test_what_is_heard_is_subscribed_to() -> None:
    subscribed = {event.partition(".")[0] for event in EVENTS}
    assert {"message", "app_mention", "app_home_opened", "agent_session_stopped"} <= heard()
    assert heard() - OLDER == subscribed


def test_what_is_subscribed_to_is_allowed() -> None:
    made = json.loads(manifest())
    assert tuple(made["settings"]["event_subscriptions"]["bot_events"]) == EVENTS
    granted = set(made["oauth_config"]["scopes"]["bot"])
    assert {SCOPES[event] for event in EVENTS if event in SCOPES} <= granted
    assert "assistant:write" in granted, "for an agent view"


@pytest.mark.parametrize("event", EVENTS)
async def test_each_event_reaches_the_inbox(scene: Scene, event: str) -> None:
    server, inbox = scene.server, scene.inbox
    inbox.greeting = View(document=parse_markdown("Ask me."), reference="", prompts=("How many?",))
    said = {"user": ASKER, "text": f"{NAME} how many?", "ts": server.ts(), "team": server.team}
    name, _, kind = event.partition(".")
    match name:
        case "message":
            channel, told = KINDS[kind]
            server.channel(channel)
            server.emit({**said, "type": "message", "channel": channel, "channel_type": told})
            assert [one.conversation.channel for one in await inbox.wait()] == [channel]
        case "app_mention":
            server.emit({**said, "type": "app_mention", "channel": CHANNEL})
            assert [one.text for one in await inbox.wait()] == ["how many?"]
        case "app_home_opened":
            server.open_messages(ASKER)
            await until(lambda: server.prompts)
        case "agent_session_stopped":
            stopped = {"channel": CHANNEL, "thread_ts": "1.1", "user": ASKER, "streaming_message_ts": []}
            server.emit({**stopped, "type": name, "event_ts": server.ts()})
            await until(lambda: inbox.stopped)
        case _:
            pytest.fail(f"nobody knows what {event} is to do")
