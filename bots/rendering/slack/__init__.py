"""A view as Slack takes it: blocks, their fallback text, and the Markdown of a stream. No I/O, no SDK."""

from bots.rendering.slack.messages import (
    SlackMessage,
    SlackModal,
    render_slack,
    render_slack_partial,
    render_slack_quotes,
    slack_reasons,
    with_pictures,
)
from bots.rendering.slack.stream import slack_stream_text

__all__ = [
    "SlackMessage",
    "SlackModal",
    "render_slack",
    "render_slack_partial",
    "render_slack_quotes",
    "slack_reasons",
    "slack_stream_text",
    "with_pictures",
]
