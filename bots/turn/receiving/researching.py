"""What is to be researched: a message that says so, or the question under whose answer a button was pressed."""

from collections.abc import Iterable
from dataclasses import replace

from bots.platform import Incoming
from bots.turn.claims import Claims
from bots.turn.claims.claim import Claim, Outcome, State, messages_of
from bots.turn.commands import research_of
from bots.turn.options import TurnOptions, place
from bots.whose import Words, of_all
from ragcore.types import Answer, Support

PRESSES = 20
"""Most researches of one question that one person gets by its button, each after the one before came to nothing."""
_STANDS = frozenset({Outcome.ANSWERED, Outcome.UNSUPPORTED, Outcome.ABSTAINED})


def offers_research(messages: Iterable[Incoming], answer: Answer, options: TurnOptions) -> bool:
    """Return whether a question whose answer is uncertain may be researched, and was not."""
    uncertain = answer.support not in (Support.CITED, Support.EXEMPT)
    return uncertain and options.researches and not any(map(is_research, messages))


def is_research(incoming: Incoming) -> bool:
    """Return whether a message asks for a research."""
    return incoming.command == "research"


def worded(incoming: Incoming) -> Incoming:
    """Return a message that asks for a research in words (``research: …``) as one that does it by a command."""
    question = research_of(incoming, incoming.text)
    return replace(incoming, command="research", text=question) if question else incoming


async def researched(incoming: Incoming, claims: Claims) -> Incoming | None:
    """Return what is asked; a press on the button of an earlier answer (``goes_on``) has no words, so it gets them.

    None where there is nothing to do: the same person has it researched already, the question is gone, or it isn't one
    that the presser may know.
    """
    if not is_research(incoming) or incoming.text or incoming.attachments or not incoming.goes_on:
        return incoming
    earlier = await claims.by_reference(incoming.goes_on)
    if earlier is None or not _may_know(incoming, earlier):
        return None
    key = await _free_key(incoming, earlier.reference, claims)
    messages = messages_of(await claims.line_of(earlier))
    question = "\n".join(text for one in messages.values() if (text := one.text.strip()))
    files = tuple(file for one in messages.values() for file in one.attachments)
    if key is None or not (question or files):
        return None
    words = of_all(one.words for one in messages.values())
    if words is Words.OWN and earlier.incoming.asker.id != incoming.asker.id:
        words = Words.ANOTHERS
    bases = earlier.incoming.knowledge_bases
    return replace(incoming, keys=(key,), text=question, attachments=files, knowledge_bases=bases, words=words)


def _may_know(incoming: Incoming, earlier: Claim) -> bool:
    """Return whether whoever presses, and whoever sees the reply, could see the question."""
    before = earlier.incoming
    if place(before.conversation) != place(incoming.conversation):
        return False
    return not before.private or (incoming.private and before.asker.id == incoming.asker.id)


async def _free_key(incoming: Incoming, reference: str, claims: Claims) -> str | None:
    """Return the key of this person's next research of that question; None while one goes on, or stands."""
    for number in range(PRESSES):
        key = f"research:{reference}/{incoming.asker.id}/{number}"
        before = await claims.by_key(incoming.conversation, key)
        if before is None:
            return key
        if before.state is not State.DONE or before.outcome in _STANDS:
            return None
    return None
