"""Whose words a message has: what nobody typed goes to no search engine, and what others typed is not the asker's."""

from collections.abc import Iterable
from enum import StrEnum


class Words(StrEnum):
    """Whose words a message has."""

    OWN = "own"
    ANOTHERS = "another's"
    """Somebody else typed them: the message was passed on, or has their question researched."""
    OFFERED = "offered"
    """Nobody typed them: they stood on a button."""


def of_all(each: Iterable[Words]) -> Words:
    """Return whose words several messages have together: the asker's own only where each has these."""
    found = set(each)
    return next((one for one in (Words.OFFERED, Words.ANOTHERS) if one in found), Words.OWN)
