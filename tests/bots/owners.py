"""A bot over real documents that somebody looks after: what these do not answer goes to them."""

import contextlib
import pathlib
from collections.abc import AsyncIterator
from typing import Any

from bots.app import open_operations
from bots.requests import Sync
from bots.settings import load_settings
from bots.turn.claims import Claims
from bots.turn.feedback import Feedback
from bots.turn.options import turn_options
from bots.turn.people.ledger import Ledger
from bots.turn.turns import Turns
from tests.bots.scene import connected

QUESTION = "Where can bicycles be parked overnight?"
REPLY = "Bicycles can be parked overnight in the cellar of the north wing."
AGAIN = "Where can I park my bicycle overnight?"
_LEAVE = "# Leave policy\n\n## Carry-over\n\nUp to five unused leave days may be carried over.\n"
_SETTINGS = """
[knowledge_bases.handbook]
readers = ["{readers}"]
owners = ["{owners}"]
[[sources]]
name = "handbook"
type = "files"
path = "handbook"
"""


@contextlib.asynccontextmanager
async def looked_after(platform: Any, folder: pathlib.Path, *, readers: str, owners: str) -> AsyncIterator[Turns[Any]]:
    """Answer on a platform from a handbook that ``readers`` read, and that those in the channel ``owners`` look after."""
    (folder / "handbook").mkdir()
    (folder / "handbook" / "leave.md").write_text(_LEAVE)
    (folder / "citebot.toml").write_text(_SETTINGS.format(readers=readers, owners=owners))
    settings = load_settings(folder / "citebot.toml")
    async with open_operations(settings) as operations:
        async for _ in operations.run(Sync()):
            pass
        database = operations.database
        async with (
            Turns(
                platform,
                backend=operations,
                claims=Claims(database),
                feedback=Feedback(database),
                options=turn_options(settings),
                alone=True,
                people=Ledger(database),
            ) as turns,
            connected(platform, turns),
        ):
            yield turns


def value_of(held: list[str], act: str) -> str:
    """Return what the button of an act says, of those that are held; empty when there is none."""
    return next((one for one in held if one.startswith(f"cb:{act}:")), "")
