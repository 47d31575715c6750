"""The command ``citebot``. What a command needs is imported when it runs, so that its help starts at once."""

try:
    from bots.cli.commands import main
except KeyboardInterrupt:  # Ctrl-C while the first packages are imported
    raise SystemExit(130) from None

__all__ = ["main"]
