"""Source type ``discord``: what was said on servers of Discord."""

from connectors.base import SourceType
from connectors.discord.connector import DiscordConnector
from connectors.discord.options import DiscordOptions
from connectors.discord.touched import touched

DISCORD = SourceType(options=DiscordOptions, create=DiscordConnector, touched=touched)

__all__ = ["DISCORD", "DiscordConnector", "DiscordOptions"]
