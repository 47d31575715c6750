"""How readers judge answers, and what comes of asking a person about one."""

from dataclasses import dataclass
from typing import Literal

Side = Literal["up", "down"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Vote:
    """A reader's judgement of one answer; ``reason`` is one of the fixed reasons, empty at first."""

    reference: str
    voter: str
    side: Side
    reason: str = ""


AskedPerson = Literal["asked", "already", "limited", "refused"]
"""What becomes of a press on Ask a person.

``already``: an earlier press did it. ``limited``: its asker has asked people too often within a day. ``refused``: it
isn't theirs, nobody looks after what was searched, or the question is forgotten.
"""
