"""``backup`` and ``restore``."""

import sys
from datetime import datetime
from pathlib import Path

import typer

from bots.cli.output import results
from bots.cli.reach import reach, read_settings
from bots.counting import counted
from bots.rendering.clean import clean_line
from bots.requests import BackedUp, Backup
from bots.service import WAIT, socket_in
from ragcore.errors import BusyError
from ragcore.library import DATABASE
from ragcore.library.backup import restore
from ragcore.stores.lock import hold, holder


async def run_backup(config: Path | None, file: Path) -> int:
    """Write a backup, by the process that holds the data when there is one; ``file`` is absolute."""
    settings = read_settings(config)
    request = Backup(path=str(file))
    async with reach(settings, command="backup") as gateway:
        async for event in gateway.run(request):
            if isinstance(event, BackedUp):
                size = f"{event.size / 1_000_000:.1f} MB"
                held = f"{counted(event.documents, 'document')} in {counted(event.chunks, 'chunk')}"
                _say(f"Wrote {clean_line(event.path)} ({size}): {held}.")
    return 0


async def run_restore(config: Path | None, file: Path) -> int:
    """Put a backup in the place of what the data directory holds, asking first on a terminal."""
    settings = read_settings(config)
    data_dir = settings.data_dir
    if socket_in(data_dir) is not None:
        raise BusyError(f"{holder(data_dir)} is working in {data_dir}; stop it, then restore")
    if (data_dir / DATABASE).exists() and sys.stdin.isatty():
        question = f"{data_dir} holds data already, and the backup takes its place. Go on?"
        if not typer.confirm(question, default=False, err=True):
            return 1
    async with hold(data_dir, command="restore", wait=WAIT):
        manifest = await restore(file, data_dir)
    held = f"{counted(manifest.documents, 'document')} in {counted(manifest.chunks, 'chunk')}"
    taken = datetime.fromisoformat(manifest.taken_at).astimezone()
    _say(f"Restored {held}, as of {taken:%Y-%m-%d %H:%M}.")
    _say("The indexes are filled from them again when the next command starts.")
    return 0


def _say(line: str) -> None:
    results().print(line, soft_wrap=True)
