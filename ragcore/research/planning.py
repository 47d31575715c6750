"""From a question to what is searched first: by a model, or from the question's own parts."""

import asyncio
from datetime import UTC, datetime

from ragcore.errors import ModelBadOutput
from ragcore.research.asking import NOT_USABLE, Asker
from ragcore.research.parts import parts_of
from ragcore.research.queries import plan_of, planned
from ragcore.research.values import Outcome, Plan, Step, StepKind
from ragcore.types import Question

MOST_QUESTIONS = 6
"""Sub-questions of one plan, beside the question itself: RAGFlow's decomposition asks one to three a level."""


async def plan(question: Question, asker: Asker) -> Step:
    """Return the step of planning; its plan holds the question itself first.

    The question's own words are searched too, whatever a model makes of them: they are what was asked.
    """
    own = question.text
    reply = await asker.ask(
        "research_plan",
        own,
        history=question.history,
        most=MOST_QUESTIONS,
        today=datetime.now(UTC).date().isoformat(),
    )
    reason, made = reply.reason, None
    if reply.text is not None:
        try:
            made = await asyncio.to_thread(plan_of, reply.text, MOST_QUESTIONS, [own])
        except ModelBadOutput:
            reason = NOT_USABLE
    if made is None:
        made = planned(parts_of(own, question.history), MOST_QUESTIONS, [own])
    return Step(
        kind=StepKind.PLAN,
        round=1,
        outcome=Outcome.DONE,
        reason=reason,
        plan=Plan(questions=(own, *made.questions), cut=made.cut),
        usage=reply.usage,
    )
