"""The conversation that a question leans on, as a model is shown it. Pure."""

from collections.abc import Sequence

from ragcore.citations.markers import strip
from ragcore.refine.followups import recent
from ragcore.types import Message

HEAD = 400
"""Characters of a message that are shown from its beginning, ..."""
TAIL = 200
"""... and so many from its end: an answer says first what it is about, and last what is left open."""


def shown(history: Sequence[Message]) -> str:
    """Return what was said before, a line a message, oldest first: as far back as ``followups`` looks."""
    return "\n".join(_line(message) for message in recent(history))


def _line(message: Message) -> str:
    who = message.role + (f" ({message.sent_at.date().isoformat()})" if message.sent_at else "")
    text = " ".join(strip(message.text[: 8 * HEAD]).split())
    if len(text) > HEAD + TAIL:
        text = f"{text[:HEAD]} … {text[-TAIL:]}"
    return f"{who}: {text}"
