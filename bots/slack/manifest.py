"""The app manifest: what an app in Slack needs to be this bot. As JSON, which Slack takes as well as YAML."""

import json
from typing import Any

from bots.words.commands import description

AGENT_DESCRIPTION = "Answers questions from your organisation's own documents, with links to the passages."
SCOPES = (
    "app_mentions:read",
    "assistant:write",
    "channels:history",
    "channels:read",
    "chat:write",
    "commands",
    "files:read",
    "files:write",
    "groups:history",
    "groups:read",
    "im:history",
    "im:read",
    "im:write",
    "mpim:history",
    "mpim:read",
    "users:read",
    "users:read.email",
)
"""Reading channels: threads without a mention, edits and deletions, and who is in a channel. Writing direct messages:
faults are told to admins. Addresses: knowledge bases that are readable by e-mail address. Writing files: pictures of
passages."""
PICTURES = "files:write"
"""The scope that only these need (``turns.pictures``)."""
EVENTS = (
    "agent_session_stopped",
    "app_home_opened",
    "app_mention",
    "message.channels",
    "message.groups",
    "message.im",
    "message.mpim",
)


def manifest(*, name: str = "Citebot", ask: str = "/ask", more: str = "/citebot", request_url: str = "") -> str:
    """Return the manifest as JSON.

    Args:
        name: What the bot is called.
        ask: The command that takes a question. Slack refuses the whole list when one name is its own.
        more: The command for all else.
        request_url: Where Slack reaches the bot by HTTP; empty for Socket Mode.
    """
    url = {"url": request_url} if request_url else {}
    address = {"request_url": request_url} if request_url else {}
    commands: list[dict[str, Any]] = [
        {"command": ask, "description": description("ask"), "usage_hint": "how many days off do I have?"},
        {
            "command": more,
            "description": description("help"),
            "usage_hint": "research question | summarise today | search words | sources | sync | why | reset | help",
        },
    ]
    document = {
        "display_information": {"name": name, "description": description("ask"), "background_color": "#2f4f4f"},
        "features": {
            "agent_view": {
                "agent_description": AGENT_DESCRIPTION,
                "suggested_prompts": [
                    {"title": description("help"), "message": "help"},
                    {"title": description("sources"), "message": "sources"},
                ],
            },
            "app_home": {
                "home_tab_enabled": False,
                "messages_tab_enabled": True,
                "messages_tab_read_only_enabled": False,
            },
            "bot_user": {"display_name": name, "always_online": True},
            "slash_commands": [{**command, "should_escape": False, **url} for command in commands],
        },
        "oauth_config": {"scopes": {"bot": list(SCOPES)}},
        "settings": {
            "event_subscriptions": {**address, "bot_events": list(EVENTS)},
            "interactivity": {"is_enabled": True, **address},
            "org_deploy_enabled": False,
            "socket_mode_enabled": not request_url,
            "token_rotation_enabled": False,
        },
    }
    return json.dumps(document, indent=2, ensure_ascii=False)
