"""Short write transactions on a SQLite file, done in a thread of their own; those that wait go to it together.

Each statement of an asynchronous connection goes to a thread and back, and under load each of these ways takes as long
as everything else that is ready to run. A whole transaction takes one, and a hundred that came meanwhile take one too.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine

T = TypeVar("T")

TOGETHER = 100
"""Most transactions that go to the thread at once: whoever writes otherwise waits no longer than for these."""


@dataclass(frozen=True, slots=True)
class _Waiting:
    work: Callable[[Connection], Any]
    done: "asyncio.Future[Any]"


class Writer:
    """The write transactions of one engine, in the order in which they were asked for; for one event loop."""

    def __init__(self, engine: Engine, lock: asyncio.Lock) -> None:
        """Write with ``engine`` while holding ``lock``, which whoever else writes holds as well."""
        self._engine = engine
        self._lock = lock
        self._waiting: list[_Waiting] = []
        self._writing: asyncio.Task[None] | None = None
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="database-writer")

    async def run(self, work: Callable[[Connection], T]) -> T:
        """Run ``work`` in a transaction of its own; whatever it raises rolls that back and leaves.

        Cancelled while it waits, it is not begun; cancelled later, it is done all the same.
        """
        done: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._waiting.append(_Waiting(work, done))
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write_all())
        return await done

    async def close(self) -> None:
        """Let what is under way come to its end, and end the thread."""
        if self._writing is not None:
            await asyncio.wait({self._writing})
        await asyncio.to_thread(self._thread.shutdown)

    async def _write_all(self) -> None:
        loop = asyncio.get_running_loop()
        while self._waiting:
            async with self._lock:
                batch = [one for one in self._waiting[:TOGETHER] if not one.done.done()]
                del self._waiting[:TOGETHER]
                under_way = []
                for one in batch:
                    written = loop.run_in_executor(self._thread, _write, self._engine, one.work)
                    written.add_done_callback(_hand_to(one.done))
                    under_way.append(written)
                if under_way:
                    await asyncio.wait(under_way)


def _write(engine: Engine, work: Callable[[Connection], T]) -> T:
    with engine.connect().execution_options(citebot_write=True) as connection, connection.begin():
        return work(connection)


def _hand_to(done: "asyncio.Future[Any]") -> Callable[["asyncio.Future[Any]"], None]:
    def hand(written: "asyncio.Future[Any]") -> None:
        error = written.exception()
        if done.done():
            return
        if error is None:
            done.set_result(written.result())
        else:
            done.set_exception(error)

    return hand
