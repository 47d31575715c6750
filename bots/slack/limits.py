"""The rates that Slack documents, as the turn's pacer counts them. Pure.

They count by method and workspace, so that all conversations of a workspace share them; messages also by channel.
Slack says "about" and "more than" of each: these are the least that it promises.
"""

from dataclasses import replace

from bots.platform import Call, Incoming, Limit, Sent

MINUTE = 60.0
_TIER_2, _TIER_3, _TIER_4 = 20, 50, 100
STATUS, SESSION_STATUS = "assistant.threads.setStatus", "agents.sessions.setStatus"
_METHODS = {
    SESSION_STATUS: _TIER_3,
    STATUS: 600,
    "assistant.threads.setSuggestedPrompts": _TIER_4,
    "chat.delete": _TIER_3,
    "chat.postEphemeral": _TIER_4,
    "conversations.history": _TIER_3,
    "conversations.info": _TIER_3,
    "conversations.members": _TIER_4,
    "conversations.open": _TIER_3,
    "conversations.replies": _TIER_3,
    "files.completeUploadExternal": _TIER_4,
    "files.delete": _TIER_3,
    "files.getUploadURLExternal": _TIER_4,
    "files.info": _TIER_4,
    "users.info": _TIER_4,
    "users.list": _TIER_2,
    "views.open": _TIER_4,
    "views.update": _TIER_4,
}
"""Calls a minute of what isn't part of showing a reply: the turn knows nothing of these."""
AT_ONCE = frozenset({SESSION_STATUS, STATUS, "users.info", "views.open"})
"""What is not called again after a wait: what it was for is past then, or got in another way."""


def method_limits(method: str) -> tuple[Limit, ...]:
    """Return what a call counts against that the turn doesn't pace; nothing for those that it does."""
    calls = _METHODS.get(method)
    return (Limit(bucket=method, calls=calls, seconds=MINUTE),) if calls else ()


def slack_limits(incoming: Incoming, call: Call, begun: Sent | None) -> tuple[Limit, ...]:
    """Return what one call counts against."""
    if incoming.token:
        return ()  # five answers to one address, which no pace changes
    team, channel = incoming.conversation.workspace, incoming.conversation.channel
    streams = begun is not None and "stream" in begun.extra and not begun.ended
    posts = (
        Limit(bucket=f"post {channel}", calls=5, seconds=5.0, kept=2),
        Limit(bucket=f"post {team}", calls=240, seconds=MINUTE, kept=60, shared=True),
    )
    update = Limit(bucket=f"update {team}", calls=50, seconds=MINUTE, kept=30)
    match call:
        case Call.STATUS:
            return (Limit(bucket=f"status {team}", calls=600, seconds=MINUTE),)
        case Call.BEGIN:
            # A wait that Slack asks for here is that of chat.startStream: a whole message goes by another method.
            start = Limit(bucket=f"start {team}", calls=20, seconds=MINUTE)
            return (start, *(replace(limit, shared=True) for limit in posts))
        case Call.CHANGE:
            return (Limit(bucket=f"append {team}", calls=100, seconds=MINUTE),) if streams else (update,)
        case Call.END:
            return (Limit(bucket=f"stop {team}", calls=20, seconds=MINUTE), update) if streams else (update,)
        case Call.SEND:
            return posts
