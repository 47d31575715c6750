"""Which documents an event of Slack concerns. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from connectors.slack.ids import day_id, parsed, thread_id
from connectors.slack.messages import is_from_app, is_said
from connectors.slack.options import SlackOptions

_SHOWN = ("text", "files", "subtype", "user", "username", "attachments", "blocks")
"""What of a message stands in a document; previews and replies change the rest."""


def touched(options: SlackOptions, event: Mapping[str, Any]) -> Sequence[str]:
    """Return the native ids of the documents that an event concerns, to be fetched.

    Args:
        options: The source's settings. A channel that they name by its name, which no event tells, isn't left out here.
        event: The event, or the envelope that it came in. Only events of messages name documents: after another event
            (a channel's new name, its archiving, a member) the next run sees what follows from it.
    """
    if event.get("type") == "event_callback":
        event = event.get("event") or {}
    if event.get("type") != "message" or event.get("channel_type") in {"im", "mpim"}:
        return ()
    channel = str(event.get("channel") or "")
    if options.takes(channel) is False:
        return ()
    return [
        native
        for message in _messages(options, event)
        for native in _documents(channel, message)
        if parsed(native) is not None
    ]


def _messages(options: SlackOptions, event: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the message that an event tells of, if it may stand in a document or have stood there."""
    subtype = event.get("subtype")
    before: Mapping[str, Any] = event.get("previous_message") or {}
    if subtype == "message_deleted":
        return [{**before, "ts": event.get("deleted_ts") or before.get("ts")}]
    if subtype == "message_changed":
        said: Mapping[str, Any] = event.get("message") or {}
        if before and all(said.get(name) == before.get(name) for name in _SHOWN):
            return []
        return [said] if options.bots or not is_from_app(said) else []
    return [event] if is_said(event, bots=options.bots) else []


def _documents(channel: str, message: Mapping[str, Any]) -> list[str]:
    ts = str(message.get("ts") or "")
    first = str(message.get("thread_ts") or "")
    try:
        # A first reply takes its message out of the day's document, a last one that is deleted puts it back.
        return [thread_id(channel, first), day_id(channel, first)] if first else [day_id(channel, ts)]
    except (ValueError, OverflowError, OSError):
        return []  # a time stamp that is none
