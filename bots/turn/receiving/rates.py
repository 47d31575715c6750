"""How often one person, and one channel, is answered: sliding windows in memory."""

import math
from collections import deque

from bots.turn.options import Rate

_SWEEP = 1_024


class Rates:
    """Counts by key; what nobody asked for a window's length is forgotten."""

    def __init__(self, rate: Rate) -> None:
        """Count nothing yet."""
        self._rate = rate
        self._asked: dict[str, deque[float]] = {}
        self._until_sweep = _SWEEP

    def take(self, key: str, now: float) -> int:
        """Count a question and return 0, or return the whole seconds to wait until the next one counts, two at least.

        Args:
            key: Who asked, or where.
            now: The loop's time, in seconds.
        """
        asked = self._asked.setdefault(key, deque())
        while asked and asked[0] <= now - self._rate.seconds:
            asked.popleft()
        self._until_sweep -= 1
        if self._until_sweep <= 0:
            self._sweep(now)
        if len(asked) >= self._rate.questions:
            return max(2, math.ceil(asked[0] + self._rate.seconds - now))
        self._asked.setdefault(key, asked).append(now)
        return 0

    def _sweep(self, now: float) -> None:
        self._until_sweep = _SWEEP
        for key in [key for key, asked in self._asked.items() if not asked or asked[-1] <= now - self._rate.seconds]:
            del self._asked[key]
