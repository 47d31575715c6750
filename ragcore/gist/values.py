"""What is summarised, and within which limits."""

from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One message of a chat; ``url`` is its permalink, "" where it has none.

    ``sent_at`` has the time zone in which its readers are told of it.
    """

    id: str
    author: str
    text: str = field(repr=False)
    sent_at: datetime
    url: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much one summary may take.

    ``messages`` and ``characters`` are read at most, the newest; of one message no more than ``longest``. The model is
    called at most ``calls`` times, the last one for the whole, within ``seconds`` together. Without a model ``quoted``
    messages are quoted.
    """

    messages: int = 500
    characters: int = 200_000
    longest: int = 4_000
    calls: int = 7
    seconds: float = 120.0
    quoted: int = 6
