"""``citebot run`` is connected at once, whatever else is due."""

import pathlib
import shutil
import sqlite3
import time
from collections.abc import AsyncIterator

import pytest

from tests.fakes.openai_server import OpenAIServer, Reply, Request
from tests.fakes.running import Running, command, environment, running
from tests.fakes.settings import read_by_all
from tests.fakes.waiting import until
from tests.servers.discord import discord_server
from tests.servers.slack import slack_server
from tests.servers.telegram import telegram_server

SETTINGS = """
data_dir = ".citebot"
[embedding]
provider = "openai"
base_url = "{url}"
model = "vectors"
batch_size = 500
""" + read_by_all("handbook", path="documents", more='schedule = "1h"')
QUESTION = "How many unused leave days may be carried over?"
WITHIN = 10.0
"""Seconds to be connected, on a machine that has nothing else to do."""
LITTLE_LONGER = 3.0
"""How many times as long as with nothing due it may take on a busy machine, whose load differs from start to start."""
SECTIONS, NEW = 2_000, 300


def write(documents: pathlib.Path) -> None:
    """Write one document of many sections: its indexes take seconds to be built anew."""
    documents.mkdir()
    leave = "# Leave\n\nUp to five unused leave days may be carried over until 31 March.\n\n"
    words = (" ".join(f"word{number + n}" for n in range(40)) for number in range(SECTIONS))
    sections = "".join(f"# Section {number}\n\n{text}\n\n" for number, text in enumerate(words))
    (documents / "handbook.md").write_text(leave + sections, encoding="utf-8")


def damage(folder: pathlib.Path) -> None:
    """Lose both indexes, and let the source have been run long ago; there is much to read since."""
    for name in ("chroma", "keywords"):
        shutil.rmtree(folder / ".citebot" / name)
    with sqlite3.connect(folder / ".citebot" / "citebot.sqlite") as connection:
        connection.execute("UPDATE sources SET last_run_at = '2026-01-01 00:00:00.000000'")
    connection.close()
    for number in range(NEW):
        (folder / "documents" / f"new{number}.md").write_text(f"# Note {number}\n\nNote {number} is new.\n")


@pytest.fixture
async def model() -> AsyncIterator[OpenAIServer]:
    def reply(request: Request) -> Reply:
        return Reply(first_delay=2.0 if "is new" in str(request.body["input"]) else 0.0)

    async with OpenAIServer(default=reply) as server:
        yield server


async def connected(citebot: Running, began: float) -> float:
    """Wait until all three platforms are; return how long after ``began`` that was."""
    await until(lambda: citebot.log().count(": connected") == 3 or citebot.process.returncode is not None, 60.0)
    assert citebot.process.returncode is None, citebot.log()
    return time.monotonic() - began


@pytest.mark.soak
async def test_it_is_connected_whatever_is_due(tmp_path: pathlib.Path, model: OpenAIServer) -> None:
    """It is connected and answers before its run is over, and soon: the bound is for a quiet machine."""
    write(tmp_path / "documents")
    (tmp_path / "citebot.toml").write_text(SETTINGS.format(url=model.base_url), encoding="utf-8")
    status, _, told = await command(tmp_path, environment(), "sync")
    assert status == 0, told
    async with slack_server() as slack, discord_server() as discord, telegram_server() as telegram:
        env = {**slack.environment, **discord.environment, **telegram.environment}
        began = time.monotonic()
        async with running(tmp_path, anew=True, **env) as citebot:
            idle = await connected(citebot, began)
            assert await citebot.end() == 0
        damage(tmp_path)
        (tmp_path / "run.log").write_text("")
        began = time.monotonic()
        async with running(tmp_path, anew=True, **env) as citebot:
            assert await connected(citebot, began) < max(WITHIN, LITTLE_LONGER * idle)
            asked = time.monotonic()
            telegram.say(42, QUESTION)
            await until(lambda: telegram.answers(42))
            assert time.monotonic() - asked < max(WITHIN, LITTLE_LONGER * idle)
            await until(lambda: any("is new" in str(request.body.get("input")) for request in model.requests))
            assert await citebot.end() == 0, "in the middle of a run"
        assert slack.opened == 4, "two sockets each time"
    assert " ERROR " not in citebot.log()
    assert "its run is broken off" in citebot.log()
