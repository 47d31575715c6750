"""What is asked by a long message: a bounded piece of it, by which is searched. Pure."""

from dataclasses import replace

from ragcore.refine.apart import asking
from ragcore.terms import Kind, is_stop_word, terms
from ragcore.types import Question

LONGEST = 2_000
"""Characters of a question that is searched for as it stands: a longer one has something pasted in it."""
PIECE = 300
"""Characters of each end of a long message, and of each sentence in it that asks, which are searched for."""
TELLING = 3
"""Terms from which a question in a message says by itself what it is about."""


def in_brief(question: Question) -> Question:
    """Return a question that is searched by a piece of it where it is long; one that has other words stays as it is."""
    if len(question.text) <= LONGEST or question.wordings:
        return question
    return replace(question, wordings=(searched_of(question.text),))


def searched_of(text: str) -> str:
    """Return what a message is searched by: itself, or of a long one what it asks, or its two ends.

    Where what it asks says too little by itself ("what does this mean?") the ends stand beside it.
    """
    if len(text) <= LONGEST:
        return text
    found = asking(f"{text[:LONGEST]}\n{text[-LONGEST:]}")
    asked = " ".join(one[-PIECE:] for one in found.asked) if found else ""
    told = {term.text for term in terms(asked) if term.kind is not Kind.CHARACTER and not is_stop_word(term)}
    if len(told) >= TELLING:
        return asked
    return "\n".join(filter(None, (asked, text[:PIECE].strip(), text[-PIECE:].strip())))
