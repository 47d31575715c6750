"""A loop whose time stands still while anything is to be done, and jumps to the next timer when nothing is.

Threads count as something to be done: those of the executor, and those of SQLite's connections.
"""

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from queue import SimpleQueue
from typing import Any, TypeVar

import aiosqlite.core

T = TypeVar("T")

_REAL_WAIT = 0.02
_STUCK = 30.0


class VirtualLoop(asyncio.SelectorEventLoop):
    """Seconds pass only when every task waits for them."""

    def __init__(self) -> None:
        self._moment = 1_000.0
        self._threads = 0
        selector = selectors.DefaultSelector()
        self._real_select = selector.select
        selector.select = self._select  # type: ignore[method-assign, assignment]
        super().__init__(selector)

    def time(self) -> float:
        """Return the loop's own seconds."""
        return self._moment

    def run_in_executor(self, executor: Any, func: Callable[..., T], *args: Any) -> "asyncio.Future[T]":
        """Run in a thread, for whose end time waits."""
        future = super().run_in_executor(executor, func, *args)
        self.watch(future)
        return future

    def watch(self, future: "asyncio.Future[Any]") -> None:
        """Let time stand until a thread has done this."""
        self._threads += 1
        future.add_done_callback(self._unwatch)

    def _unwatch(self, _: "asyncio.Future[Any]") -> None:
        self._threads -= 1

    def _select(self, timeout: float | None = None) -> Any:
        if timeout is not None and timeout <= 0:
            return self._real_select(0)
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

    def put_nowait(self, item: Any) -> None:
        loop = item[0].get_loop() if item[0] is not None else None
        if isinstance(loop, VirtualLoop):
            loop.watch(item[0])
        super().put_nowait(item)


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run until done, in virtual time."""
    before = aiosqlite.core.SimpleQueue
    aiosqlite.core.SimpleQueue = _Watched  # type: ignore[misc, assignment]
    try:
        with asyncio.Runner(loop_factory=VirtualLoop) as runner:
            return runner.run(work)
    finally:
        aiosqlite.core.SimpleQueue = before  # type: ignore[misc]
