"""What a pressed button says: one short string that every platform carries and gives back."""

import re
from dataclasses import dataclass
from enum import StrEnum

_WRITTEN = re.compile(r"cb:([a-z]+):([0-9a-f]{0,32}):(.*)", re.DOTALL)


class Act(StrEnum):
    """What the reader wants."""

    UP = "up"
    DOWN = "down"
    REASON = "why"
    """``value`` is one of ``captions.REASONS``."""
    QUOTES = "quotes"
    STOP = "stop"
    SHARE = "share"
    DELETE = "delete"
    PAGE = "page"
    """Show another page in place of this one; ``value`` is its number, from 0."""
    ASK = "ask"
    """Ask the question that stands on the button; ``value`` is its place among the prompts, from 0."""
    PERSON = "person"
    """Take the question to a person."""
    KEEP = "keep"
    """Let a person's reply be a document; ``reference`` names the reply."""
    DROP = "drop"
    """Let it be none any longer."""
    RESEARCH = "research"
    """Research the question of the turn, for whoever presses it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """A press; ``reference`` names the turn (hex digits), ``value`` says more where the act needs it."""

    act: Act
    reference: str
    value: str = ""

    def __str__(self) -> str:
        """Return the string that the button carries: at most 64 bytes (Telegram) when the value is short."""
        return f"cb:{self.act}:{self.reference}:{self.value}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Press:
    """One button: what it shows, and what it says when pressed. Beside an emoji the caption may be left out."""

    caption: str
    action: Action
    emoji: str = ""


def read_action(text: str) -> Action | None:
    """Return what a button's string says, None when it is not one of ours."""
    found = _WRITTEN.fullmatch(text)
    if found is None or found[1] not in set(Act):
        return None
    return Action(act=Act(found[1]), reference=found[2], value=found[3])
