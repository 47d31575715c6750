"""The words that a search engine is sent for a question: what its asker typed, now and before. Pure.

A question that leans on what was said ("And in Hamburg?") finds nothing by its own words. With it go words of earlier
questions that the same person typed in the same conversation, by the rule by which a follow-up is searched for without
a model: never those of somebody else, of an answer, of a file or of a model.
"""

from collections.abc import Iterator, Sequence

from ragcore.refine.followups import carried, stands_alone
from ragcore.types import Message, Question
from ragcore.web.pages import searchable


def outgoing(question: Question) -> str:
    """Return what an engine is asked: the question as it was typed, and what it leans on where its asker typed that."""
    own = own_words(question)
    typed = [
        message
        for message in question.history
        if message.role == "user"
        and message.typed_by
        and message.typed_by == question.typed_by
        # Asked once more, it leans on what it leant on.
        and message.text.strip().casefold() != own.casefold()
    ]
    if not own or not typed or stands_alone(own, question.history):
        return own
    return _with(own, typed)


def own_words(question: Question) -> str:
    """Return what the asker typed, without what stands beside it: a search may be given both in one."""
    text = question.text
    if question.beside:
        text = text.removesuffix(f"\n{question.beside}")
    return text.strip()


def _with(own: str, typed: Sequence[Message]) -> str:
    """Return a question with the earlier ones that it leans on, or names of them; each whole, as far as it fits in."""
    query = own
    for more in _further(own, typed):
        longer = f"{query} {' '.join(more.split())}"
        # An engine takes so much, and of more its middle is left out.
        if more.casefold() not in query.casefold() and searchable(longer) == " ".join(longer.split()):
            query = longer
    return query


def _further(own: str, typed: Sequence[Message]) -> Iterator[str]:
    found = carried(own, typed)
    yield found.before
    yield from found.names
