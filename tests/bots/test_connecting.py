"""A platform kept connected: what fails is told and tried again, with waits a thousand times as short."""

import asyncio
import pathlib
from typing import Any

import pytest

from bots.app import connecting
from bots.app.connecting import Connection, LinkState, PlatformTurns
from bots.platform import Inbox, Platform
from bots.turn.claims import Claims
from bots.turn.feedback import Feedback
from ragcore.errors import ConfigError, PlatformAuthError, PlatformUnreachable
from ragcore.stores.database import Database
from tests.bots.turn.flows import OPTIONS, Model
from tests.fakes.platform import FakePlatform, Server
from tests.fakes.waiting import until


class Failing(FakePlatform):
    """Serves as a script says: an error is raised, a number is how long it stays connected."""

    def __init__(self, script: list[Exception | float]) -> None:
        super().__init__(Server())
        self.script = script
        self.tries: list[float] = []

    async def serve(self, inbox: Inbox) -> None:
        self.tries.append(asyncio.get_running_loop().time())
        step = self.script.pop(0) if self.script else 10**6
        if isinstance(step, Exception):
            raise step
        await inbox.connected()
        await asyncio.sleep(step)


async def keep(
    folder: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
    script: list[Exception | float],
    seconds: float | None = None,
) -> tuple[Connection, Failing, list[tuple[str, str]]]:
    """Let a connection run for so long, or until it stays connected, and return what came of it."""
    for name in ("_SHORTEST", "_LONGEST", "_REFUSED_SHORTEST", "_REFUSED_LONGEST"):
        monkeypatch.setattr(connecting, name, getattr(connecting, name) / 1000)
    told: list[tuple[str, str]] = []
    platform = Failing(script)
    database = await Database.open(folder / "claims.sqlite")

    async def make() -> tuple[Platform[Any], PlatformTurns]:
        turns = PlatformTurns(
            platform, backend=Model(), claims=Claims(database), feedback=Feedback(database), options=OPTIONS, alone=True
        )
        return platform, turns

    async def tell(name: str, words: str) -> None:
        told.append((name, words))

    connection = Connection("discord", make, tell=tell)
    keeping = asyncio.create_task(connection.keep())
    if seconds is None:
        await until(lambda: not script and connection.connected.is_set())
    else:
        await asyncio.sleep(seconds)
    state = connection.state
    keeping.cancel()
    await asyncio.gather(keeping, return_exceptions=True)
    await connection.finish(0.0)
    await database.close()
    connection.state = state
    return connection, platform, told


def waits_in(caplog: pytest.LogCaptureFixture) -> list[float]:
    """Return the seconds to the next try, as they were told each time."""
    found = (record.args for record in caplog.records)
    return [float(str(args[2])) for args in found if isinstance(args, tuple) and len(args) == 3]


async def test_a_refusal_is_told_once_and_tried_again_with_more_patience(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    refused = PlatformAuthError("the token was refused")
    connection, platform, told = await keep(tmp_path, monkeypatch, [refused, refused, refused])
    assert told == [("discord", "discord doesn't work: the token was refused")]
    assert waits_in(caplog) == pytest.approx([0.03, 0.06, 0.12])
    assert len(platform.tries) == 4
    assert connection.state is LinkState.CONNECTED


async def test_a_short_outage_is_told_to_nobody(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    away = PlatformUnreachable("no connection")
    connection, platform, told = await keep(tmp_path, monkeypatch, [away, 0.01, away], 0.3)
    assert not told
    assert len(platform.tries) == 4
    assert connection.state is LinkState.CONNECTED


async def test_a_long_outage_is_told_and_waits_grow(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    away = PlatformUnreachable("no connection")
    connection, _, told = await keep(tmp_path, monkeypatch, [away] * 9, 0.6)
    assert told == [("discord", "discord doesn't work: no connection")]
    assert waits_in(caplog) == pytest.approx([0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.06, 0.06, 0.06])
    assert connection.state is LinkState.CONNECTED


async def test_whoever_was_connected_for_long_begins_with_the_shortest_wait(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(connecting, "_STEADY", 0.4)
    away = PlatformUnreachable("no connection")
    await keep(tmp_path, monkeypatch, [away, away, away, 0.5, away, 0.0, away])
    assert waits_in(caplog) == pytest.approx([0.001, 0.002, 0.004, 0.001, 0.002, 0.004, 0.008])


async def test_an_outage_of_a_day_is_tried_to_its_end(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connecting, "_SHORTEST", 0.0)
    away = PlatformUnreachable("no connection")
    connection, platform, _ = await keep(tmp_path, monkeypatch, [away] * 1_440)
    assert len(platform.tries) == 1_441
    assert connection.state is LinkState.CONNECTED


async def test_what_nobody_foresaw_is_told_without_its_words(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    connection, platform, _ = await keep(tmp_path, monkeypatch, [ValueError("https://x/bot123:SECRET/")], 0.2)
    assert len(platform.tries) == 2
    assert connection.state is LinkState.CONNECTED
    told = [record.getMessage() for record in caplog.records]
    assert not [line for line in told if "SECRET" in line]


async def test_what_the_settings_are_to_blame_for_is_told_in_their_words(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = ConfigError("[telegram] webhook_port: 127.0.0.1:8081 can't be listened at")
    connection, _, _ = await keep(tmp_path, monkeypatch, [taken] * 1000, 0.05)
    assert connection.fault == str(taken)
