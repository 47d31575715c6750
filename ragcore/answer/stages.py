"""The time that each stage of an answer took."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from ragcore.trace import step


class Stages:
    """A stopwatch of named stages; a stage that runs twice is added up."""

    def __init__(self) -> None:
        self._started = time.perf_counter()
        self._times: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time what runs inside."""
        started = time.perf_counter()
        try:
            with step(name):
                yield
        finally:
            self._times[name] = self._times.get(name, 0.0) + (time.perf_counter() - started) * 1000

    def first(self, name: str) -> None:
        """Remember the time since the start, once: the first visible word."""
        self._times.setdefault(name, (time.perf_counter() - self._started) * 1000)

    def milliseconds(self) -> dict[str, float]:
        """Return the stages' times in milliseconds, and the total."""
        total = (time.perf_counter() - self._started) * 1000
        return {name: round(value, 1) for name, value in {**self._times, "total": total}.items()}
