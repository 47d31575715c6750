"""A Slack bot in a process of its own, to be killed: the real flow and the real library, a scripted model."""

import functools
import json
import pathlib
from dataclasses import dataclass

from bots.slack import SlackPlatform
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
    bot_token: str
    app_token: str
    where: str


async def live(life: Life) -> int:
    """Answer until killed."""
    database = await Database.open(pathlib.Path(life.where))
    platform = SlackPlatform(bot_token=life.bot_token, app_token=life.app_token, api_url=f"{life.url}/api/")
    turns = Turns(
        platform,
        backend=Model(functools.partial(answering, pause=0.9)),
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
