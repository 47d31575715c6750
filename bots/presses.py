"""Two quick presses on one button do what one does: who presses again while nothing has come yet wants it only once."""

import asyncio
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager

from bots.rendering.actions import Act

QUICK = 1.0
"""Seconds after a press was served in which the same one is taken for a part of it."""
REMEMBERED = 2_000
ALWAYS = frozenset({Act.SHARE, Act.PAGE})
"""What is marked in the database, where other processes find it too, and what shows the same however often."""


class Presses:
    """The last press of each person on each message, in memory, the latest ones; for one event loop."""

    def __init__(self) -> None:
        """Remember none yet."""
        self._last: OrderedDict[tuple[str, str], _Press] = OrderedDict()

    @contextmanager
    def one(self, person: str, message: str, button: str) -> Iterator[bool]:
        """Give whether a press is to be served, and serve it within: not while the same one is, nor just after.

        One on another button of the message in between makes it a new one, and so does a press that failed.
        """
        place, last = (person, message), self._last.get((person, message))
        if last is not None and last.button == button and last.is_quick():
            yield False
            return
        mine = self._last[place] = _Press(button)
        self._last.move_to_end(place)
        while len(self._last) > REMEMBERED:
            self._last.popitem(last=False)
        try:
            yield True
        except BaseException:
            if self._last.get(place) is mine:
                del self._last[place]
            raise
        mine.served_at = asyncio.get_running_loop().time()


class _Press:
    __slots__ = ("button", "served_at")

    def __init__(self, button: str) -> None:
        self.button = button
        self.served_at: float | None = None

    def is_quick(self) -> bool:
        """Return whether it is being served, or was just now."""
        return self.served_at is None or asyncio.get_running_loop().time() - self.served_at < QUICK
