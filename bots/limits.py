"""What a platform is about to be asked, and how often it may be."""

from dataclasses import dataclass
from enum import StrEnum


class Call(StrEnum):
    """What is about to be asked of a platform, as far as its limits tell one call from another."""

    STATUS = "status"
    BEGIN = "begin"
    """``show`` without anything begun."""
    CHANGE = "change"
    """``show`` over what was begun."""
    END = "end"
    """``send`` over what was begun, or over a message that stands."""
    SEND = "send"
    """``send`` as a message of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """At most so many calls within any so many seconds, counted by ``bucket`` as the platform counts them.

    ``kept`` of the calls are left to final messages: what only shows progress goes without them. ``shared``: it counts
    other calls too, beside a limit that is more this call's own; a wait that the platform asks for means that one.
    """

    bucket: str
    calls: int
    seconds: float
    kept: int = 0
    shared: bool = False
