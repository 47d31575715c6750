"""A small handbook with settings, and the operations over it."""

import contextlib
import pathlib
import subprocess
from collections.abc import AsyncGenerator

from bots.app import Operations, open_operations
from bots.requests import (
    Ask,
    Event,
    Request,
)
from bots.settings import Settings, load_settings
from ragcore.types import Answer
from tests.fakes.running import start_command

SETTINGS = """
[knowledge_bases.handbook]
readers = ["slack:T1"]
[knowledge_bases.secret]
[[sources]]
name = "handbook"
type = "files"
path = "handbook"
[[sources]]
name = "secret"
type = "files"
path = "secret"
"""

LEAVE = """# Leave policy

## Carry-over

Up to five unused leave days may be carried into the next year. They lapse on 31 March.

## Sick leave

Report sickness to your manager before 10 am.
"""


@contextlib.asynccontextmanager
async def opened(
    home: pathlib.Path, *, mending: bool = True, warming: bool = False
) -> AsyncGenerator[tuple[Operations, Settings]]:
    """Open the operations over a folder with settings."""
    settings = load_settings(home / "citebot.toml")
    async with open_operations(settings, mending=mending, warming=warming) as operations:
        yield operations, settings


async def told(operations: Operations, request: Request) -> list[Event]:
    """Return all events of a request."""
    return [event async for event in operations.run(request)]


async def answered(operations: Operations, request: Ask) -> Answer:
    """Return the answer to a question."""
    last = (await told(operations, request))[-1]
    assert isinstance(last, Answer)
    return last


def done(home: pathlib.Path, *args: str, given: str = "") -> tuple[int, str, str]:
    """Run a command to its end; return its status, its output and its remarks."""
    process = start_command(home, *args, stdin=subprocess.PIPE)
    out, err = process.communicate(given, timeout=100)
    return process.returncode, out, err
