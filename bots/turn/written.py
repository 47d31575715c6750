"""What a turn has to say in the end."""

from dataclasses import dataclass

from bots.platform import Button
from bots.rendering.tree import Document
from bots.turn.claims.claim import Outcome
from ragcore.types import Answer, Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What is to stand on the platform, and how the turn ended by it."""

    document: Document
    outcome: Outcome
    answer: Answer | None = None
    buttons: tuple[Button, ...] = ()
    prompts: tuple[str, ...] = ()
    usage: Usage = Usage()
    """What was spent where no answer tells it."""
