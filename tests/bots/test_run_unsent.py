"""Two platforms in one process: what one of them can't send, it can't tell of either, so the other one does."""

import asyncio
import contextlib
import pathlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from bots.app import running
from bots.app.operations import Operations
from bots.app.running import Runner
from bots.platform import Incoming, Platform
from bots.requests import Event, Request
from bots.settings import Settings, load_settings
from bots.turn.claims import Claims
from bots.turn.claims.claim import Outcome
from ragcore.errors import PlatformRefused
from ragcore.stores.database import Database
from ragcore.types import ConversationKey
from tests.bots.turn.flows import Model, final
from tests.fakes.platform import FakePlatform, Server, asked
from tests.fakes.settings import HANDBOOK
from tests.fakes.waiting import until

ADMINS = ("slack:T1/@U9", "discord:@9", "telegram:@7")
SETTINGS = f"""
admins = {list(ADMINS)}
[slack]
bot_token = "xoxb-1"
[discord]
token = "x"
[telegram]
bot_token = "1:x"
{HANDBOOK}"""


@dataclass
class Answering:
    """As much of the operations as a turn asks."""

    database: Database
    model: Model = field(default_factory=Model)

    def run(self, request: Request) -> AsyncIterator[Event]:
        return self.model.run(request)

    async def refresh(self, source: str, ids: Sequence[str]) -> None:
        raise AssertionError("no source follows what happens")


class Mute(FakePlatform):
    """Takes no word from us, not even to an admin."""

    async def tell(self, person: str, words: str) -> None:
        raise PlatformRefused("not_allowed")


@contextlib.asynccontextmanager
async def three(
    settings: Settings, folder: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[tuple[Runner, dict[str, FakePlatform], Database]]:
    """Run three platforms, of which Slack takes nothing that is sent."""
    broken = Server(fault=lambda name, _: "" if name == "status" else "refused")
    platforms: dict[str, FakePlatform] = {
        "slack": Mute(broken, name="slack"),
        "discord": FakePlatform(Server(), name="discord"),
        "telegram": FakePlatform(Server(), name="telegram"),
    }

    def open_platform(name: str, _: Settings) -> Platform[Any]:
        return platforms[name]

    monkeypatch.setattr(running, "open_platform", open_platform)
    database = await Database.open(folder / "citebot.sqlite")
    runner = Runner(settings, cast("Operations", Answering(database)))
    keeping = [asyncio.create_task(connection.keep()) for connection in runner.connections]
    try:
        for connection in runner.connections:
            await connection.connected.wait()
        yield runner, platforms, database
    finally:
        for task in keeping:
            task.cancel()
        await asyncio.gather(*keeping, return_exceptions=True)
        for connection in runner.connections:
            await connection.finish(0.0)
        await database.close()


def busy(runner: Runner) -> bool:
    """Return whether any turn is under way."""
    return any(connection.turns is not None and connection.turns.running() for connection in runner.connections)


def question(platform: str) -> Incoming:
    where = ConversationKey(platform=platform, workspace="T1", channel="C1")
    return asked("How many days?", conversation=where, seen_by=frozenset({"*"}))


async def test_what_a_platform_does_not_take_is_told_to_the_admins_of_the_others(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "handbook").mkdir()
    (tmp_path / "citebot.toml").write_text(SETTINGS, "utf-8")
    settings = load_settings(tmp_path / "citebot.toml")
    async with three(settings, tmp_path, monkeypatch) as (runner, platforms, database):
        for connection in runner.connections:
            assert connection.turns
            assert await connection.turns.receive(question(connection.name))
        others = [platforms["discord"].server, platforms["telegram"].server]
        await until(lambda: all(server.told for server in others) and not busy(runner))
        (claim,) = await Claims(database).by_message(question("slack").conversation, "q1")
        assert claim.outcome is Outcome.UNSENT
        for server, admin in zip(others, ADMINS[1:], strict=True):
            ((told, words),) = server.told
            assert told == admin
            assert claim.reference in words
            assert "slack" in words
            assert [one.text for one in server.standing("q1")] == [final("How many days?")]


async def test_what_only_an_admin_can_mend_is_told_however_long_their_platform_was_away(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "_TELL_WITHIN", 0.05)
    (tmp_path / "handbook").mkdir()
    (tmp_path / "citebot.toml").write_text(SETTINGS, "utf-8")
    settings = load_settings(tmp_path / "citebot.toml")
    async with three(settings, tmp_path, monkeypatch) as (runner, platforms, _):
        away = next(connection for connection in runner.connections if connection.name == "discord")
        told, elsewhere = platforms["discord"].server.told, platforms["telegram"].server.told
        away.connected.clear()
        await runner._tell_soon("slack", "slack is down")
        await runner._tell_all("the wiki refuses its token")
        await until(lambda: len(elsewhere) == 2)
        await asyncio.sleep(0.2)
        assert not told
        away.connected.set()
        await until(lambda: told)
        await asyncio.sleep(0.05)
        assert told == [(ADMINS[1], "the wiki refuses its token")]
