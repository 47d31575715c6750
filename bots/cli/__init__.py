"""The command ``citebot``. What a command needs is imported when it runs, so that its help starts at once."""

from bots.cli.commands import main

__all__ = ["main"]
