"""What turns did, counted: for the metrics page and for whoever measures."""

from collections import Counter
from dataclasses import dataclass, field

BOUNDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 40.0, 80.0, 160.0)
"""Upper bounds of the time histograms, in seconds."""


@dataclass(slots=True)
class Histogram:
    """Times in seconds: how many lay at or below each bound, how many there were, and their sum."""

    below: list[int] = field(default_factory=lambda: [0] * len(BOUNDS))
    count: int = 0
    total: float = 0.0

    def add(self, seconds: float) -> None:
        """Count one time."""
        self.count += 1
        self.total += seconds
        for at, bound in enumerate(BOUNDS):
            if seconds <= bound:
                self.below[at] += 1


@dataclass(slots=True)
class Meter:
    """The counts of one platform since the start.

    ``outcomes`` by outcome, ``sends`` by call (``bots.platform.Call``), ``refused`` by the kind of error, ``tokens``
    by ``prompt`` and ``completion``. The times run from the event.
    """

    outcomes: Counter[str] = field(default_factory=Counter)
    claims: Counter[str] = field(default_factory=Counter)
    sends: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    tokens: Counter[str] = field(default_factory=Counter)
    first_sign: Histogram = field(default_factory=Histogram)
    first_words: Histogram = field(default_factory=Histogram)
    end: Histogram = field(default_factory=Histogram)
