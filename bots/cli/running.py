"""``run``."""

import contextlib
import importlib
import threading
from pathlib import Path

from bots.cli.output import start_logging
from bots.cli.reach import read_settings
from bots.settings import Settings


async def run_platforms(config: Path | None, *, debug: bool) -> int:
    """Serve every platform that has a token, and run the sources when they are due, until told to stop."""
    settings = read_settings(config)
    start_logging(debug=debug, log_format=settings.monitoring.log_format, serving=True)
    _load_sdks(settings)
    from bots.app.running import run

    return await run(settings)


def _load_sdks(settings: Settings) -> None:
    """Begin to import what takes longest while the rest is imported and the data are opened."""
    tokens = {
        "aiogram": settings.telegram.bot_token,
        "discord": settings.discord.token,
        "slack_bolt": settings.slack.bot_token,
    }
    for sdk, token in tokens.items():
        if token:
            # Never cut short, also when this process leaves at once: an interpreter that ends in an import may abort.
            threading.Thread(target=_load, args=(sdk,), name=f"citebot-{sdk}").start()


def _load(sdk: str) -> None:
    # A failure stays in here: whoever makes the platform meets it again.
    with contextlib.suppress(ImportError):
        importlib.import_module(sdk)
