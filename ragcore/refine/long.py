"""What is asked by a long message: a bounded piece of it, by which is searched. Pure."""

import re
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
# Longer than this no word is, but what is written without spaces may be.
_CUT_AT_END = re.compile(r"(?<=\s)\S{1,40}\Z")
_CUT_AT_BEGINNING = re.compile(r"\A\S{1,40}(?=\s)")


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
    found = asking(f"{_beginning(text, LONGEST)}\n{_end(text, LONGEST)}")
    asked = " ".join(_end(one, PIECE) for one in found.asked) if found else ""
    told = {term.text for term in terms(asked) if term.kind is not Kind.CHARACTER and not is_stop_word(term)}
    if len(told) >= TELLING:
        return asked
    return "\n".join(filter(None, (asked, _beginning(text, PIECE), _end(text, PIECE))))


def _beginning(text: str, most: int) -> str:
    """Return the first characters of a text, no word of it cut: half a word would be searched for as one."""
    return text[:most].strip() if len(text) <= most else _CUT_AT_END.sub("", text[: most + 1]).strip()[:most]


def _end(text: str, most: int) -> str:
    """Return the last characters of a text, no word of it cut."""
    return text[-most:].strip() if len(text) <= most else _CUT_AT_BEGINNING.sub("", text[-most - 1 :]).strip()[-most:]
