"""The rates that Slack documents, as the turn's pacer counts them. Pure.

They count by method and workspace, so that all conversations of a workspace share them; messages also by channel.
Slack says "about" and "more than" of each: these are the least that it promises.
"""

from bots.platform import Call, Incoming, Limit, Sent

MINUTE = 60.0


def slack_limits(incoming: Incoming, call: Call, begun: Sent | None) -> tuple[Limit, ...]:
    """Return what one call counts against."""
    if incoming.token:
        return ()  # five answers to one address, which no pace changes
    team, channel = incoming.conversation.workspace, incoming.conversation.channel
    streams = begun is not None and "stream" in begun.extra and not begun.ended
    posts = (
        Limit(bucket=f"post {channel}", calls=5, seconds=5.0, kept=2),
        Limit(bucket=f"post {team}", calls=240, seconds=MINUTE, kept=60),
    )
    update = Limit(bucket=f"update {team}", calls=50, seconds=MINUTE, kept=30)
    match call:
        case Call.STATUS:
            return (Limit(bucket=f"status {team}", calls=300, seconds=MINUTE),)
        case Call.BEGIN:
            return (Limit(bucket=f"start {team}", calls=20, seconds=MINUTE), *posts)
        case Call.CHANGE:
            return (Limit(bucket=f"append {team}", calls=100, seconds=MINUTE),) if streams else (update,)
        case Call.END:
            return (Limit(bucket=f"stop {team}", calls=20, seconds=MINUTE), update) if streams else (update,)
        case Call.SEND:
            return posts
