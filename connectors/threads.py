"""Blocking calls in threads that nobody has to wait for: a server that hangs holds neither its source nor the exit."""

import asyncio
import math
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from types import TracebackType
from typing import Generic, TypeVar

T = TypeVar("T")

_LOOK = 1.0  # seconds between looks at whether a call still gets on


@dataclass(slots=True)
class Pulse:
    """When a call last got on. A download beats it with each piece, and ends where nobody waits for it any more."""

    at: float = field(default_factory=time.monotonic)
    is_left: bool = False
    """Whether the call was given up."""

    def beat(self) -> None:
        """Tell that the call got on."""
        self.at = time.monotonic()


async def in_thread(function: Callable[[], T]) -> T:
    """Return what a blocking function returns, or raise what it raises, from such a thread; it may be given up."""
    return await Threads(most=1).call(function, patience=math.inf)


class Threads:
    """Runs blocking calls, a few at a time, each in a daemon thread of its own.

    The pools of asyncio and concurrent.futures are joined when the process ends: a server that never answers would keep
    it from ending. Here a call that is cancelled, or gets nowhere, is left behind; its client's own limits end it.
    """

    def __init__(self, *, most: int) -> None:
        """Allow ``most`` calls at a time."""
        self._turns = asyncio.Semaphore(most)

    async def call(self, function: Callable[[], T], *, patience: float, pulse: Pulse | None = None) -> T:
        """Return what a function returns, or raise what it raises.

        Args:
            function: What blocks.
            patience: Seconds after which TimeoutError is raised if the call hasn't got on.
            pulse: Beaten whenever it gets on; without one it has ``patience`` for all of it.
        """
        async with self._turns:
            beating = pulse or Pulse()
            beating.beat()
            call = _Call(function)
            threading.Thread(target=call.run, name="citebot-source", daemon=True).start()
            waiting = asyncio.wrap_future(call.future)
            try:
                while not (await asyncio.wait({waiting}, timeout=min(_LOOK, patience)))[0]:
                    if time.monotonic() - beating.at > patience:
                        raise TimeoutError
                return waiting.result()
            finally:
                waiting.cancel()
                beating.is_left = True


class _Call(Generic[T]):
    """One call; what it raises is handed to who awaits it."""

    def __init__(self, function: Callable[[], T]) -> None:
        self.future: Future[T] = Future()
        self._function: Callable[[], T] | None = function

    def run(self) -> None:
        """Make the call, in its thread."""
        with self:
            function, self._function = self._function, None
            if function is not None:
                self._settle(function())

    def _settle(self, result: T) -> None:
        if self.future.set_running_or_notify_cancel():
            self.future.set_result(result)

    def __enter__(self) -> "_Call[T]":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if error is not None and self.future.set_running_or_notify_cancel():
            self.future.set_exception(error)
        return True
