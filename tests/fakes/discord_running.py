"""A Discord bot in a process of its own, to be killed: the real flow and the real library, a scripted model."""

import functools
import json
import pathlib
from dataclasses import dataclass

from bots.discord import DiscordPlatform
from bots.turn.claims import Claims
from bots.turn.feedback import Feedback
from bots.turn.turns import Turns
from ragcore.stores.database import Database
from tests.bots.turn.flows import OPTIONS, Model, answering
from tests.fakes.forking import fork_for_each_line


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """One life of a bot over the database at ``where``, on the server at ``url``."""

    url: str
    token: str
    where: str


async def live(life: Life) -> int:
    """Answer until killed."""
    database = await Database.open(pathlib.Path(life.where))
    platform = DiscordPlatform(token=life.token, api_url=life.url)
    turns = Turns(
        platform,
        backend=Model(functools.partial(answering, pause=0.4)),
        claims=Claims(database),
        feedback=Feedback(database),
        options=OPTIONS,
        alone=True,
    )
    async with turns:
        await platform.serve(turns)
    return 0


def main() -> None:
    """Fork a bot for each line."""
    import aiosqlite  # noqa: F401
    import sqlalchemy.ext.asyncio  # noqa: F401

    fork_for_each_line(lambda line: live(Life(**json.loads(line))))


if __name__ == "__main__":
    main()
