"""A bot on a local server: the real flow and the real library, a scripted model; here, or in a process to be killed."""

import asyncio
import functools
import importlib
import json
import os
import pathlib
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from bots.app.platforms import open_platform
from bots.settings import load_settings
from bots.turn.options import TurnOptions
from bots.turn.turns import Turns
from tests.bots.scene import connected
from tests.bots.turn.flows import OPTIONS, Model, Script, answering, turning
from tests.fakes.forking import fork_for_each_line
from tests.fakes.waiting import until

PlatformT = TypeVar("PlatformT", bound=Any)


@dataclass(slots=True, kw_only=True)
class Bot(Generic[PlatformT]):
    """All parts of one bot."""

    platform: PlatformT
    turns: Turns[Any]
    model: Model
    serving: asyncio.Task[None]

    async def idle(self, seconds: float = 30.0) -> None:
        """Wait until no turn is under way."""
        await until(lambda: not self.turns.running(), seconds)


@asynccontextmanager
async def answering_on(
    platform: PlatformT,
    folder: pathlib.Path,
    *,
    script: Script = answering,
    options: TurnOptions = OPTIONS,
    alone: bool = True,
) -> AsyncIterator[Bot[PlatformT]]:
    """Answer on a platform as a process does, connected, until left; its database stands in the folder."""
    model = Model(script)
    async with turning(platform, model, options, folder, alone=alone) as turns, connected(platform, turns) as serving:
        yield Bot(platform=platform, turns=turns, model=model, serving=serving)


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """One life of a bot that finds its server by its environment; its model is as slow as ``pause``, and ends so."""

    environment: dict[str, str]
    folder: str
    pause: float
    tail: str = ""


async def live(name: str, life: Life) -> int:
    """Answer on the platform of this name until killed."""
    os.environ.update(life.environment)
    platform = open_platform(name, load_settings())
    script = functools.partial(answering, pause=life.pause, tail=life.tail)
    async with answering_on(platform, pathlib.Path(life.folder), script=script) as bot:
        await bot.serving
    return 0


def main(name: str) -> None:
    """Fork a bot for each line, on the platform of this name."""
    for heavy in (f"bots.{name}", "aiosqlite", "sqlalchemy.ext.asyncio"):
        importlib.import_module(heavy)
    fork_for_each_line(lambda line: live(name, Life(**json.loads(line))))


if __name__ == "__main__":
    main(sys.argv[1])
