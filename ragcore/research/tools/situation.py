"""What a prompt is told of a research whose model chooses its tools: the task, and what was done for it."""

import re
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from ragcore.context.cutting import cut_middle
from ragcore.refine.conversation import shown as shown_talk
from ragcore.refine.followups import stands_alone
from ragcore.research.asking import QUESTION_PART, Asker
from ragcore.research.queries import LONGEST, shown
from ragcore.research.values import Finding
from ragcore.types import Question

MOST_DOCUMENTS = 24
"""Documents that are named to the model: those that were found last."""
LIST_PART = 8
"""Of the window what was asked fills at most one part of so many, and so do the documents; the last ones are told."""
_FRAME = re.compile(
    r"<(?=\s*+/?+\s*+(?:question|analysis|conversation|asked|documents|found|lacking)\b)", re.IGNORECASE
)
"""What would look like the frame around what is shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """Where a research stands: ``asked`` are the lines of all calls, ``said`` is what a prompt is told was found.

    ``lacking`` are the questions that are open, where it was looked back.
    """

    question: Question
    analysis: str
    asked: Sequence[str]
    findings: Sequence[Finding] = ()
    said: str = ""
    lacking: Sequence[str] = ()


def state_of(at: Situation, asker: Asker) -> str:
    """Return what a prompt tells of it. Blocks."""
    calls = [f"- {one[:LONGEST]}" for one in at.asked if one != at.question.text]
    question = asker.short(at.question.text)
    inputs = {
        "conversation": _before(at.question, question, asker),
        "question": question,
        "analysis": at.analysis,
        "asked": _last(calls, asker),
        "documents": _last(documents_of(at.findings), asker),
        "findings": at.said,
        "lacking": "\n".join(f"- {one}" for one in at.lacking),
    }
    return asker.prompts.render("task_state", **{name: _FRAME.sub("‹", text) for name, text in inputs.items()})


def documents_of(findings: Sequence[Finding]) -> list[str]:
    """Return a line for each document that was found, the last ones last: its id and its title."""
    chunks = [scored.chunk for finding in reversed(findings) for scored in finding.chunks]
    titles = {chunk.document_id: chunk.title for chunk in reversed(chunks) if "\n" not in chunk.document_id}
    newest = [one for one in dict.fromkeys(chunk.document_id for chunk in chunks) if one in titles][:MOST_DOCUMENTS]
    return [f"- {one}  ({shown(titles[one])})" for one in reversed(newest)]


def _before(question: Question, shown_as: str, asker: Asker) -> str:
    """Return what was said before where a question leans on it, in the room that the question leaves of its own."""
    assert asker.model is not None
    room = asker.model.context_window // QUESTION_PART - asker.tokenizer.count(shown_as)
    if room <= 0 or stands_alone(question.text, question.history):
        return ""
    said = shown_talk(question.history)
    return said if asker.tokenizer.count(said) <= room else cut_middle(said, 0, room, asker.tokenizer)


def _last(lines: Sequence[str], asker: Asker) -> str:
    """Return the last lines, as many as there is room for."""
    assert asker.model is not None
    room, kept = asker.model.context_window // LIST_PART, deque[str]()
    for line in reversed(lines):
        room -= asker.tokenizer.count(line) + 1
        if room < 0:
            break
        kept.appendleft(line)
    return "\n".join(kept)
