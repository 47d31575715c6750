"""``citebot run``: every platform that has a token, the scheduler, the local socket, and what watches them."""

import asyncio
import contextlib
import logging
import signal
from collections.abc import AsyncGenerator, Sequence
from typing import Any

from bots.app import open_operations
from bots.app.connecting import Connection, PlatformTurns
from bots.app.following import Following
from bots.app.health import serve_health
from bots.app.operations import Operations
from bots.app.platforms import check_halves, open_platform, with_token
from bots.app.scheduling import scheduling
from bots.doctor import check_readers
from bots.platform import Platform
from bots.service import serve
from bots.settings import Settings
from bots.turn.claims import Claims
from bots.turn.feedback import Feedback
from bots.turn.options import turn_options
from bots.turn.people.ledger import Ledger
from ragcore.errors import PlatformError
from ragcore.stores.lock import hold
from ragcore.stores.research_steps import ResearchSteps

log = logging.getLogger(__name__)

FINISHING = 13.0
"""Seconds that running turns have to come to their end when the process is told to stop; what isn't done then is handed
over. With what is closed afterwards it stays within 20 s."""
_LEAVING = 3.0
"""Seconds for whatever else is under way: connections, a mending."""
_CONNECTING = 8.0
"""Seconds that the platforms have to connect before anything else begins: mending, reading sources, loading models."""
_TELL_WITHIN = 120.0
"""Seconds that the news of one platform waits for another to carry it: after that it may be news no more."""


class Runner:
    """Everything that runs in one process."""

    def __init__(self, settings: Settings, operations: Operations) -> None:
        """Compose; nothing is connected yet."""
        self._settings = settings
        self._operations = operations
        self._database = operations.database
        self._lease = settings.turns.lease
        self._claims = Claims(self._database, days=settings.answer.history_days, lease=self._lease)
        self._feedback = Feedback(self._database)
        self._people = Ledger(self._database)
        self._telling: set[asyncio.Task[None]] = set()
        self._following = Following(settings, with_token(settings), operations.refresh)
        self.connections = tuple(self._connection(name) for name in with_token(settings))

    def _connection(self, name: str) -> Connection:
        async def make() -> tuple[Platform[Any], PlatformTurns]:
            platform = await asyncio.to_thread(open_platform, name, self._settings)
            turns = PlatformTurns(
                platform,
                backend=self._operations,
                claims=self._claims,
                feedback=self._feedback,
                options=turn_options(self._settings),
                alone=self._database.is_sqlite,
                lease=self._lease,
                tell_elsewhere=self._tell_soon,
                people=self._people,
            )
            turns.watch = self._following.of(name)
            return platform, turns

        return Connection(name, make, tell=self._tell_soon, language=self._settings.answer.language or "en")

    async def _tell_all(self, words: str) -> None:
        """Tell every admin, however long a platform is away: what only they can mend stays as it is till then."""
        self._tell("", words, within=None)

    async def _tell_soon(self, failed: str, words: str) -> None:
        """Tell every admin whom another platform reaches."""
        self._tell(failed, words, within=_TELL_WITHIN)

    def _tell(self, failed: str, words: str, *, within: float | None) -> None:
        for connection in self.connections:
            if connection.name != failed:
                task = asyncio.create_task(self._tell_by(connection, words, within=within))
                self._telling.add(task)
                task.add_done_callback(self._telling.discard)

    async def _tell_by(self, connection: Connection, words: str, *, within: float | None) -> None:
        admins = [one for one in self._settings.admins if one.startswith(f"{connection.name}:")]
        if not admins:
            return
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(within):
                await connection.connected.wait()
        if connection.platform is None or not connection.connected.is_set():
            return
        for admin in admins:
            try:
                await connection.platform.tell(admin, words)
            except PlatformError as error:
                log.warning("%s could not be told: %s", admin, error)

    async def run(self, stop: asyncio.Event) -> None:
        """Run until told to stop, then finish or hand over what is under way."""
        keeping = [asyncio.create_task(connection.keep()) for connection in self.connections]
        working = asyncio.create_task(self._work())
        stopping = asyncio.create_task(stop.wait())
        try:
            await asyncio.wait({working, stopping}, return_when=asyncio.FIRST_COMPLETED)
            if not stop.is_set():
                await working  # which never ends well by itself
            log.info("stopping: finishing what is under way")
            finishing = (connection.finish(FINISHING) for connection in self.connections)
            await asyncio.gather(_end([working], FINISHING), *finishing)
        finally:
            await _end([*keeping, working, stopping, *self._telling], _LEAVING)

    async def _work(self) -> None:
        """Mend, load the models and read sources, once the platforms are connected: beside that they would delay it."""
        tried = [asyncio.create_task(connection.tried.wait()) for connection in self.connections]
        try:
            if tried:
                await asyncio.wait(tried, timeout=_CONNECTING)
        finally:
            await _end(tried, 0.0)
        await self._operations.start(patience=0.0)
        await self._operations.warm()
        steps = ResearchSteps(self._database)
        sweeps = (self._claims.sweep, self._feedback.sweep, steps.expire, self._people.sweep)
        async with (
            scheduling(self._settings, self._database, self._operations, sweeps, self._tell_all),
            self._following.going_on(),
            self._operations.enriching.going_on(),
        ):
            await asyncio.Event().wait()


async def run(settings: Settings) -> int:
    """Run until SIGTERM or SIGINT; a second one ends at once.

    Raises:
        BusyError: another process holds the data directory.
        CitebotError: the data can't be opened.
    """
    async with (
        hold(settings.data_dir, command="run"),
        _told_to_stop() as stop,
        open_operations(settings, mending=False, leaving=_LEAVING) as operations,
        serve(operations, settings.data_dir),
    ):
        runner = Runner(settings, operations)
        _tell_of_settings(settings)
        async with serve_health(settings.monitoring, runner.connections):
            await runner.run(stop)
    log.info("stopped")
    return 0


def _tell_of_settings(settings: Settings) -> None:
    """Name in the log what somebody may have forgotten."""
    if not with_token(settings):
        log.warning(
            "no platform has a token, so only the scheduler runs; set SLACK_BOT_TOKEN, DISCORD_TOKEN or "
            "TELEGRAM_BOT_TOKEN (docs/slack.md, docs/discord.md, docs/telegram.md)"
        )
    for check in (*check_halves(settings), *check_readers(settings, with_token(settings))):
        if check.state != "ok":
            log.warning("%s: %s; %s", check.name, check.found, check.mend)


@contextlib.asynccontextmanager
async def _told_to_stop() -> AsyncGenerator[asyncio.Event]:
    """Give the event that a signal sets; a second signal is left to do what it does by itself."""
    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    signals = (signal.SIGTERM, signal.SIGINT)

    def told() -> None:
        stop.set()
        for one in signals:
            loop.remove_signal_handler(one)

    for one in signals:
        loop.add_signal_handler(one, told)
    try:
        yield stop
    finally:
        for one in signals:
            loop.remove_signal_handler(one)


async def _end(tasks: Sequence[asyncio.Task[Any]], seconds: float) -> None:
    """Cancel tasks and wait for their end, or for so long."""
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks, timeout=seconds or None)
