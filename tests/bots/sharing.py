"""A bot over real documents: what one person alone was answered, to be shared with a channel."""

import contextlib
import os
import pathlib
from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime
from typing import Any

from bots.app import open_operations
from bots.requests import Sync
from bots.settings import load_settings
from bots.turn.options import TurnOptions
from bots.turn.turns import Turns
from tests.bots.scene import connected
from tests.bots.turn.flows import turning

LINKED = "https://wiki.example/forms/carry-over"
CHANGED = datetime(2026, 3, 14, tzinfo=UTC)
QUESTION, SECRET = "How many unused leave days may be carried over?", "When does the merger with Brightwater close?"
_LEAVE = f"# Leave policy\n\n## Carry-over\n\nUp to five unused leave days may be carried over, by the form at {LINKED} alone.\n"
_MERGER = "# Merger\n\nThe merger with Brightwater closes on 4 May.\n"
_NOTHING: Mapping[str, bytes] = {}
_SETTINGS = """
[knowledge_bases.handbook]
readers = ["{everybody}"]
[knowledge_bases.secret]
readers = ["{asker}"]
[[sources]]
name = "handbook"
type = "files"
path = "handbook"
base_url = "https://wiki.example/{{path}}"
[[sources]]
name = "secret"
type = "files"
path = "secret"
"""


@contextlib.asynccontextmanager
async def over_documents(
    platform: Any, folder: pathlib.Path, *, everybody: str, asker: str, more: Mapping[str, bytes] = _NOTHING
) -> AsyncIterator[Turns[Any]]:
    """Answer on a platform from a handbook that ``everybody`` reads, and from what the ``asker`` alone may read.

    Args:
        platform: Where people ask.
        folder: Where all of it stands.
        everybody: The readers of the folder ``handbook``.
        asker: The readers of the folder ``secret``.
        more: Further files, by their paths below ``folder``.
    """
    for name, content in {"handbook/leave.md": _LEAVE.encode(), "secret/merger.md": _MERGER.encode(), **more}.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(content)
        os.utime(folder / name, (CHANGED.timestamp(), CHANGED.timestamp()))
    (folder / "citebot.toml").write_text(_SETTINGS.format(everybody=everybody, asker=asker))
    options = TurnOptions(readers_of={"handbook": (everybody,), "secret": (asker,)}, merge_within=0.0)
    async with open_operations(load_settings(folder / "citebot.toml")) as operations:
        async for _ in operations.run(Sync()):
            pass
        async with turning(platform, operations, options, folder) as turns, connected(platform, turns):
            yield turns
