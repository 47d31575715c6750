"""What a local server is told to do wrong, shared by all of them."""

import collections
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What happens to one call: an error instead of the answer, or the answer lost after the call was done.

    ``status`` is the HTTP status (0: the connection is closed); with ``done`` the call takes effect first. ``wait`` is
    what a 429 tells to wait, ``delay`` how long the answer takes.
    """

    status: int = 500
    done: bool = False
    wait: float = 0.0
    delay: float = 0.0
    error: str = ""


class Faults:
    """Faults by method, each used up by one call."""

    def __init__(self) -> None:
        self._waiting: dict[str, collections.deque[Fault]] = collections.defaultdict(collections.deque)

    def add(self, method: str, fault: Fault, times: int = 1) -> None:
        """Let the next calls of the method ("*": of any) go wrong."""
        self._waiting[method].extend([fault] * times)

    def take(self, method: str) -> Fault | None:
        """Return the fault of this call, None when it goes well."""
        for name in (method, "*"):
            if self._waiting[name]:
                return self._waiting[name].popleft()
        return None

    def clear(self) -> None:
        """Let everything go well again."""
        self._waiting.clear()


class Window:
    """Counts calls within the last so many seconds."""

    def __init__(self, calls: int, seconds: float) -> None:
        self.calls = calls
        self.seconds = seconds
        self._times: collections.deque[float] = collections.deque()

    def take(self, now: float) -> float:
        """Count a call and return 0, or return how long it has to wait."""
        while self._times and self._times[0] <= now - self.seconds:
            self._times.popleft()
        if len(self._times) >= self.calls:
            return self._times[0] + self.seconds - now
        self._times.append(now)
        return 0.0
