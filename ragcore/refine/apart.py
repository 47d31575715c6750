"""What a message asks, apart from what it tells before and after: people write how they came to a question. Pure.

"We travel to the fair next month and the agency wants an answer today. How many unused leave days can I carry over?"
The first sentence is no part of what is looked for, and its words weigh against every chunk that has none of them. What
is told may still be needed ("We have a TW-200. How often is it calibrated?"), so the whole is searched for besides, and
where the question leans on the rest, names in there go along with it as those of earlier messages do.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ragcore.citations.sentences import split_sentences
from ragcore.extractive.words import LIGHTEST, question_words
from ragcore.refine.followups import followup, stands_alone
from ragcore.refine.leaning import LEANING
from ragcore.types import Message, Question

MOST_SENTENCES = 3
"""Sentences that ask, the last ones: a message asks one thing, and then perhaps more of it."""
_MARK = re.compile(r"[?？؟\u037e՞]\W*\Z")
_ASKING = frozenset[str]().union(*(one.asking for one in LEANING.values()))
_FIRST_WORD = re.compile(r"\W*([^\W\d_]+)")
_CHINESE = re.compile(r"什么|怎么|怎样|如何|多少|多久|哪|谁|是否|能否|吗\W*\Z|呢\W*\Z|几[天年月个次种点]")
_IDENTIFIER = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """The sentences of a message that ask, and all the others."""

    asked: tuple[str, ...]
    rest: str


def with_asking(question: Question) -> Question:
    """Return a question to be searched for by what each of its wordings asks, before the wording itself.

    A message that tells nothing besides, or asks nothing, stays as it is; so does one whose question leans on the rest,
    unless by a name, which then goes along. Of a long message a piece is its wording (``ragcore.refine.long``).
    """
    wordings = tuple(one for wording in question.searched for one in (*_apart(wording, question.history), wording))
    return question if wordings == question.searched else replace(question, wordings=wordings)


def _apart(message: str, history: Sequence[Message]) -> tuple[str, ...]:
    """Return what a message asks; nothing where that is all of it, or can't be told without the rest."""
    if (taken := asking(message)) is None:
        return ()
    asked = " ".join(taken.asked)
    said = (*history, Message(role="user", text=taken.rest))
    if stands_alone(asked, said):
        return (asked,)
    leaning = followup(asked, said)
    return (" ".join((asked, *leaning.names)),) if leaning and leaning.names else ()


def asking(message: str) -> Asking | None:
    """Return the sentences of a message that ask, and the others; None where there are none of either."""
    sentences = [message[one.body : one.body_end].strip() for one in split_sentences(message)]
    numbers = [number for number, one in enumerate(sentences) if _asks(one)][-MOST_SENTENCES:]
    rest = [one for number, one in enumerate(sentences) if number not in numbers]
    if not numbers or not any(map(_tells, rest)):
        return None
    return Asking(asked=tuple(sentences[number] for number in numbers), rest=" ".join(rest))


def _asks(sentence: str) -> bool:
    """Tell whether a sentence asks something that can be looked for."""
    first = _FIRST_WORD.match(sentence)
    opens = first is not None and first[1].lower() in _ASKING
    return (opens or bool(_MARK.search(sentence)) or bool(_CHINESE.search(sentence))) and _tells(sentence)


def _tells(sentence: str) -> bool:
    return any(word.weight >= LIGHTEST for word in question_words(sentence, identifier=_IDENTIFIER))
