"""A view as Discord takes it: content in Discord's Markdown, and rows of buttons. No I/O, no SDK."""

from bots.rendering.discord.markdown import DiscordMarkdown
from bots.rendering.discord.messages import (
    DiscordButton,
    DiscordMessage,
    discord_reasons,
    discord_rows,
    render_discord,
    render_discord_partial,
    render_discord_quotes,
)

__all__ = [
    "DiscordButton",
    "DiscordMarkdown",
    "DiscordMessage",
    "discord_reasons",
    "discord_rows",
    "render_discord",
    "render_discord_partial",
    "render_discord_quotes",
]
