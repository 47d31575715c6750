"""The manifest has what the adapter needs."""

import json
import pathlib
import re

from bots.slack.manifest import EVENTS, SCOPES, manifest

SOURCES = pathlib.Path(__file__).resolve().parents[3] / "bots" / "slack"


def test_it_keeps_slacks_limits() -> None:
    made = json.loads(manifest())
    assert len(made["display_information"]["name"]) <= 35
    assert len(made["display_information"]["description"]) <= 140
    view = made["features"]["agent_view"]
    assert len(view["agent_description"]) <= 300
    assert 1 <= len(view["suggested_prompts"]) <= 4
    for command in made["features"]["slash_commands"]:
        assert re.fullmatch(r"/[a-z0-9_-]{1,31}", command["command"])
        assert command["command"] not in ("/search", "/status", "/help")
        assert "url" not in command
    assert made["settings"]["socket_mode_enabled"]
    assert made["features"]["app_home"]["messages_tab_enabled"]


def test_http_has_its_address_everywhere() -> None:
    made = json.loads(manifest(name="Docs", ask="/docs", request_url="https://x.example/slack/events"))
    assert manifest(request_url="https://x.example/slack/events").count("https://x.example/slack/events") == 4
    assert not made["settings"]["socket_mode_enabled"]
    assert made["features"]["bot_user"]["display_name"] == "Docs"
    assert made["features"]["slash_commands"][0]["command"] == "/docs"


def test_every_method_that_is_called_has_its_scope() -> None:
    needed = {
        "agents_sessions_setStatus": "chat:write",
        "apps_connections_open": "",  # the app-level token's
        "assistant_threads_setStatus": "chat:write",
        "assistant_threads_setSuggestedPrompts": "assistant:write",
        "auth_test": "",
        "chat_appendStream": "chat:write",
        "chat_delete": "chat:write",
        "chat_postEphemeral": "chat:write",
        "chat_postMessage": "chat:write",
        "chat_startStream": "chat:write",
        "chat_stopStream": "chat:write",
        "chat_update": "chat:write",
        "conversations_history": "channels:history groups:history im:history mpim:history",
        "conversations_info": "channels:read groups:read im:read mpim:read",
        "conversations_members": "channels:read groups:read",
        "conversations_open": "im:write",
        "conversations_replies": "channels:history groups:history im:history mpim:history",
        "files_completeUploadExternal": "files:write",
        "files_delete": "files:write",
        "files_getUploadURLExternal": "files:write",
        "files_info": "files:read",
        "users_info": "users:read users:read.email",
        "users_list": "users:read users:read.email",
        "views_open": "",
        "views_update": "",
    }
    source = "\n".join(path.read_text(encoding="utf-8") for path in SOURCES.glob("*.py"))
    called = set(re.findall(r"(?:calls|self)\.client\.([a-z]+_\w+)", source)) - {"base_url"}
    assert called == set(needed)
    granted = {scope for name in called for scope in needed[name].split()}
    assert granted | {"app_mentions:read", "commands"} == set(SCOPES)
    assert {"app_mention", "message.im", "app_home_opened", "agent_session_stopped"} <= set(EVENTS)
