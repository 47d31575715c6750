"""A bot in a process of its own that is killed at one of its calls; it leaves what the next life has to mend."""

import asyncio
import os
import pathlib
import signal
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import pytest
from aiohttp import web

from tests.bots.turn.flows import CLAIMS
from tests.fakes.bot import Life
from tests.fakes.forking import Workers, workers
from tests.fakes.waiting import until

ANY = ""


@dataclass(slots=True, kw_only=True)
class Killer:
    """Kills a process at its so manieth call of a method, before the call takes effect or after it.

    It is the ``watch`` of a local server, and sleeps until it has a ``pid``, which is 0 again once it has killed.
    """

    when: str
    method: str = ANY
    count: int = 1
    pid: int = 0

    def __call__(self, when: str, method: str) -> None:
        if not self.pid or when != self.when or self.method not in (ANY, method):
            return
        self.count -= 1
        if self.count == 0:
            os.kill(self.pid, signal.SIGKILL)
            self.pid = 0
            if when == "before":  # then it never takes effect, though nobody is left who hears of it
                raise web.HTTPServiceUnavailable


def forking(platform: str) -> Any:
    """Return the fixture of the process that forks bots on the platform of this name."""

    @pytest.fixture(scope="module")
    def forked() -> Iterator[Workers]:
        with workers("tests.fakes.bot", platform) as running:
            yield running

    return forked


async def started(forked: Workers, life: Life, heard: Callable[[], int], times: int = 1) -> int:
    """Start a bot, and return its process id once its server has heard of it so many times more."""
    before = heard()
    pid = await asyncio.to_thread(forked.start, life)
    await until(lambda: heard() >= before + times)
    return pid


def has_ended(life: Life) -> bool:
    """Return whether there was a turn and the outcome of each is recorded: nothing more is sent then."""
    where = f"{(pathlib.Path(life.folder) / CLAIMS).as_uri()}?mode=ro"
    with closing(sqlite3.connect(where, uri=True)) as claims:
        outcomes = [outcome for (outcome,) in claims.execute("select outcome from claims")]
    return bool(outcomes) and all(outcomes)
