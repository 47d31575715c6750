"""The values of a claim: whose turn a message is, how far it came, and how it ended."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from bots.platform import Incoming, Sent


class State(StrEnum):
    """Where a claim stands."""

    RUNNING = "running"
    DONE = "done"
    MERGED = "merged"
    """Another claim answers it, together with its own message."""


class Outcome(StrEnum):
    """How a turn ended."""

    ANSWERED = "answered"
    """With an answer that rests on documents, or that needs none."""
    SERVED = "served"
    """A command other than ``ask`` was done."""
    RESET = "reset"
    """What was said before it in its conversation is forgotten, for as long as that goes on."""
    UNSUPPORTED = "unsupported"
    """The model answered, and no document supports it."""
    ABSTAINED = "abstained"
    """Nothing relevant was found, or only something near, which was quoted as such."""
    NO_DOCUMENTS = "no_documents"
    NOT_ALLOWED = "not_allowed"
    FAILED = "failed"
    """No model, over quota, too long, or a fault: a plain reason was sent."""
    UNSENT = "unsent"
    """The platform did not take the answer, nor a reason."""
    LATE = "late"
    """Older than what is still answered when the bot came back."""
    LIMITED = "limited"
    """Over the asker's or the channel's rate; told with the wait."""
    STOPPED = "stopped"
    """The asker pressed Stop."""
    WITHDRAWN = "withdrawn"
    """The asker deleted the question."""
    IGNORED = "ignored"
    """Not for the bot; of what it said nothing is kept."""


UNANSWERED = frozenset(
    {
        Outcome.UNSUPPORTED,
        Outcome.ABSTAINED,
        Outcome.NO_DOCUMENTS,
        Outcome.NOT_ALLOWED,
        Outcome.FAILED,
        Outcome.UNSENT,
        Outcome.LATE,
    }
)
"""The outcomes of questions that ``citebot feedback`` lists as left unanswered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Send:
    """One part of an answer, ``number`` from 0.

    ``sent`` is the message that is known to stand under this number, if any. Without ``done`` the part was about to be
    sent, or to be changed, under ``key``, and nobody knows whether the platform took it.
    """

    number: int
    key: str
    done: bool
    sent: Sent | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A message that was claimed, as it stood when it was read.

    ``reference`` is 8 hex digits. ``also`` are the messages merged into it, in the order in which they came: the turn
    answers them all. ``attempts`` counts the processes that took it up, from 1; above that, ``begun`` and ``sends``
    tell what the earlier ones left on the platform. ``replaces`` names the turn whose question was edited: this one
    answers again what that one did.
    """

    reference: str
    incoming: Incoming
    created_at: datetime
    state: State = State.RUNNING
    outcome: Outcome | None = None
    attempts: int = 1
    begun: Sent | None = None
    sends: tuple[Send, ...] = ()
    also: tuple[Incoming, ...] = ()
    replaces: str = ""


def messages_of(line: Sequence[Claim]) -> dict[str, Incoming]:
    """Return the messages that the last of these claims answers in place of the others, each as it was last edited.

    One whose words are gone was deleted or forgotten, and is left out, unless there is no other.
    """
    messages: dict[str, Incoming] = {}
    for one in (message for claim in line for message in (claim.incoming, *claim.also)):
        before = messages.get(one.message)
        if before is None or is_news(one, before):
            messages[one.message] = one
    return {name: one for name, one in messages.items() if has_words(one)} or messages


def question_of(line: Sequence[Claim]) -> str:
    """Return what the last of these claims asks, a line a message; empty where no words of it are left."""
    return "\n".join(text for one in messages_of(line).values() if (text := one.text.strip()))


def has_words(incoming: Incoming) -> bool:
    """Return whether anything is left of what was said."""
    return bool(incoming.text.strip() or incoming.attachments)


def is_news(incoming: Incoming, before: Incoming) -> bool:
    """Return whether an edit is later than what we have, and says something else."""
    if before.edited_at is not None and incoming.edited_at is not None and incoming.edited_at <= before.edited_at:
        return False
    return (incoming.text, incoming.command) != (before.text, before.command)
