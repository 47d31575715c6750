"""What a run remembers for the next one: how far each channel was read, and on which days something was said in it.

Of threads nothing needs remembering: what their listing tells of them stands in the versions of their documents. Only
those that hold nothing are kept here, so that they aren't read again and again.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any

from connectors.discord.moments import FIRST_DAY


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelState:
    """How far a channel was read: the newest message of it, how it stood then, and the days that hold something."""

    newest: int
    look: str
    days: frozenset[date] = frozenset()


@dataclass(slots=True, kw_only=True)
class State:
    """The whole cursor. ``basis`` is the fingerprint of the settings: those of another one remember nothing."""

    basis: str
    channels: dict[int, ChannelState] = field(default_factory=dict)
    empty: dict[int, str] = field(default_factory=dict)
    """Threads that hold nothing, with how they looked in the listing."""

    @classmethod
    def from_cursor(cls, cursor: str | None, basis: str) -> "State":
        """Return what a cursor holds; nothing when there is none, or it is another one's."""
        try:
            return _read(json.loads(cursor or "null"), basis)
        except (ValueError, TypeError, KeyError, AttributeError, OverflowError):
            return cls(basis=basis)

    def to_cursor(self) -> str:
        """Return it as text."""
        channels = {
            str(number): [str(one.newest), one.look, *_packed(one.days)]
            for number, one in sorted(self.channels.items())
        }
        empty = {str(number): look for number, look in sorted(self.empty.items())}
        return json.dumps({"basis": self.basis, "channels": channels, "empty": empty}, separators=(",", ":"))


def _read(value: Any, basis: str) -> State:
    if value["basis"] != basis:
        return State(basis=basis)
    channels = {
        int(number): ChannelState(newest=int(newest), look=str(look), days=frozenset(_unpacked(first, bits)))
        for number, (newest, look, first, bits) in value["channels"].items()
    }
    return State(
        basis=basis, channels=channels, empty={int(number): str(look) for number, look in value["empty"].items()}
    )


def _packed(days: Iterable[date]) -> tuple[int, str]:
    """Return days as the number of the first, and the others as bits counted from it, in hexadecimal."""
    numbers = [(day - FIRST_DAY).days for day in days]
    first = min(numbers, default=0)
    return first, f"{sum(1 << (number - first) for number in numbers):x}"


def _unpacked(first: int, bits: str) -> Iterator[date]:
    left, day = int(bits, 16), FIRST_DAY + timedelta(days=first)
    while left:
        if left & 1:
            yield day
        left >>= 1
        day += timedelta(days=1)
