"""A question in words that stand alone: for owners, who did not hear what was said before it, and as a title. Pure."""

from collections.abc import Sequence

from bots.rendering.clean import clean_line
from bots.rendering.sources import shortened
from bots.turn.people.values import LONGEST_TITLE
from ragcore.citations.markers import strip
from ragcore.errors import ModelBadOutput
from ragcore.json_replies import value_of
from ragcore.refine.followups import stands_alone
from ragcore.refine.refining import TASK
from ragcore.refine.replies import cleaned
from ragcore.trace import Trace
from ragcore.types import Message

LEAST_BEFORE = 80
"""Characters that the question before has room for at least, however long the one that leans on it is."""


def told_alone(question: str, said: Sequence[tuple[str, str]], wording: str = "") -> str:
    """Return a question as somebody understands it who did not hear what was said before.

    As it is, where it stands alone; else in the wording that was searched, or below the questions that it leans on, a
    line each, which have room in a title together with it.

    Args:
        question: As it was asked.
        said: The questions before it and their answers, oldest first.
        wording: What it was put in for the search; empty: nothing is known of that.
    """
    before = [one for one in said if one[0] != question]
    if stands_alone(question, _messages(before)):
        return question
    return wording or "\n".join((*_leant_on(question, before), question))


def _leant_on(question: str, said: Sequence[tuple[str, str]]) -> list[str]:
    """Return the last question that stands alone, and of those that lean on it as many of the last as have room."""
    leaning: list[str] = []
    for number in range(len(said) - 1, -1, -1):
        asked = said[number][0]
        if stands_alone(asked, _messages(said[:number])):
            room = max(LEAST_BEFORE, LONGEST_TITLE - len(question) - 1)
            first = shortened(clean_line(asked), room)
            return [first, *_last_of(leaning, room - len(first))]
        leaning.insert(0, clean_line(asked))
    return []


def _last_of(lines: Sequence[str], room: int) -> list[str]:
    kept: list[str] = []
    for line in reversed(lines):
        room -= len(line) + 1
        if room < 0:
            break
        kept.insert(0, line)
    return kept


def _messages(said: Sequence[tuple[str, str]]) -> list[Message]:
    pairs = ((Message(role="user", text=asked), Message(role="assistant", text=strip(told))) for asked, told in said)
    return [message for pair in pairs for message in pair]


def worded_in(trace: Trace) -> str:
    """Return the words that stand alone by which a question was searched; empty where it had none of its own.

    Of what a model wrote, as far as it was believed: what was searched for.
    """
    searched = {search.text for search in trace.searches}
    for call in trace.calls:
        wording = _wording_of(call.reply) if call.task == TASK else ""
        if wording in searched and wording != trace.question:
            return wording
    return ""


def _wording_of(reply: str) -> str:
    try:
        said = value_of(reply, waited_for=True)
    except ModelBadOutput:
        return cleaned(reply.strip())
    return cleaned(said.get("question")) if isinstance(said, dict) else ""
