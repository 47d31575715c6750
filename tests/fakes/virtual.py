"""A loop whose time stands still while anything is to be done, and jumps to the next timer when nothing is.

Threads count as something to be done: those of the executor, and those of SQLite's connections.
"""

import asyncio
import selectors
import threading
import time
from collections.abc import Callable, Coroutine
from queue import SimpleQueue
from typing import Any, TypeVar

import aiosqlite.core

T = TypeVar("T")

_REAL_WAIT = 0.02
_STUCK = 30.0
_ENDING = 10.0
_ROUNDS = 500_000
"""How often the loop may turn at one moment with nothing coming from outside: more is a task that waits for no time."""


class VirtualLoop(asyncio.SelectorEventLoop):
    """Seconds pass only when every task waits for them."""

    def __init__(self) -> None:
        self._moment = 1_000.0
        self._rounds = 0
        self._threads = 0
        self._queues: set[_Watched] = set()
        selector = selectors.DefaultSelector()
        self._real_select = selector.select
        selector.select = self._select  # type: ignore[method-assign, assignment]
        super().__init__(selector)

    def time(self) -> float:
        """Return the loop's own seconds."""
        return self._moment

    def skip(self, seconds: float) -> None:
        """Let seconds pass at once; what waited for them runs afterwards."""
        self._moment += seconds

    def run_in_executor(self, executor: Any, func: Callable[..., T], *args: Any) -> "asyncio.Future[T]":
        """Run in a thread, for whose end time waits."""
        future = super().run_in_executor(executor, func, *args)
        self.watch(future)
        return future

    def watch(self, future: "asyncio.Future[Any]", queue: "_Watched | None" = None) -> None:
        """Let time stand until a thread has done this."""
        self._threads += 1
        future.add_done_callback(self._unwatch)
        if queue is not None:
            self._queues.add(queue)

    def close(self) -> None:
        """Close once no thread has anything more to tell: whoever waited may have been cancelled."""
        end = time.monotonic() + _ENDING
        while any(queue.is_busy for queue in self._queues) and time.monotonic() < end:
            time.sleep(0.001)
        super().close()

    def _unwatch(self, _: "asyncio.Future[Any]") -> None:
        self._threads -= 1

    def _select(self, timeout: float | None = None) -> Any:
        if timeout is not None and timeout <= 0:
            events = self._real_select(0)
            self._rounds = 0 if events else self._rounds + 1
            if self._rounds > _ROUNDS:
                self._rounds = 0
                raise AssertionError("a task turns and turns without letting time pass")
            return events
        self._rounds = 0
        if self._threads:
            return self._real_select(_REAL_WAIT)
        if timeout is None:
            events = self._real_select(_STUCK)
            assert events, "nothing will ever happen again"
            return events
        events = self._real_select(0)
        if not events:
            self._moment += timeout
        return events


class _Watched(SimpleQueue):  # type: ignore[type-arg]
    """What a connection's thread is to do."""

    def __init__(self) -> None:
        self._put = self._taken = 0
        self._worker: threading.Thread | None = None
        """It comes back for more once it has told of what it took, or has ended."""

    @property
    def is_busy(self) -> bool:
        """Return whether its thread may still tell the loop of something."""
        idle = self._taken > self._put
        return not idle and (self._worker is None or self._worker.is_alive())

    def put_nowait(self, item: Any) -> None:
        loop = item[0].get_loop() if item[0] is not None else None
        self._put += 1
        if isinstance(loop, VirtualLoop):
            loop.watch(item[0], self)
        super().put_nowait(item)

    def get(self, *args: Any, **kwargs: Any) -> Any:
        self._worker = threading.current_thread()
        self._taken += 1
        return super().get(*args, **kwargs)


def freeze(seconds: float) -> None:
    """Let so many seconds pass in which nothing runs, as in a process that is halted."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, VirtualLoop)
    loop.skip(seconds)


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run until done, in virtual time."""
    before = aiosqlite.core.SimpleQueue
    aiosqlite.core.SimpleQueue = _Watched  # type: ignore[misc, assignment]
    try:
        with asyncio.Runner(loop_factory=VirtualLoop) as runner:
            return runner.run(work)
    finally:
        aiosqlite.core.SimpleQueue = before  # type: ignore[misc]
