"""A model that chooses its tools: it takes the task apart, calls, looks back after each round, and calls again."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from ragcore.errors import ModelBadOutput
from ragcore.research.asking import NOT_USABLE, Asker
from ragcore.research.directing import Planner
from ragcore.research.findings import Noting
from ragcore.research.gathered import Gathered
from ragcore.research.judging import FINDINGS_SHARE, MOST_MISSING, verdict_of
from ragcore.research.planning import MOST_QUESTIONS
from ragcore.research.tools.calls import Tool, calls_of, told
from ragcore.research.tools.memory import Memory, in_prompt
from ragcore.research.tools.situation import Situation, state_of
from ragcore.research.tools.talk import Chosen, Talk
from ragcore.research.values import Plan, Step, StepKind
from ragcore.trace import degraded
from ragcore.types import Question, Usage

MOST_ANALYSIS = 2_000
"""Characters of what the model makes of the task that are read."""


class ToolUser:
    """Directs a research by calls of tools. Where the model's replies are of no use, it is planned and judged."""

    def __init__(self, asker: Asker, noting: Noting, tools: Sequence[Tool], *, in_words: bool = True) -> None:
        """Compose.

        Args:
            asker: Asks the model; where its endpoint may be offered tools, it calls in the endpoint's own form.
            noting: Makes findings shorter.
            tools: Are offered; the web only for the first calls, made before a document was read.
            in_words: Where the endpoint takes no tools, calls are asked for as JSON in the reply.
        """
        self._asker = asker
        self._memory = Memory(asker, noting)
        self._tools = tuple(tools)
        self._planner = Planner(asker)
        self._talk = Talk(asker) if asker.calling is not None else None
        self._in_words = in_words

    async def plan(self, question: Question) -> Step:
        """Return the step of planning: what the task is, and the first calls."""
        own = question.text
        tools = [tool for tool in self._tools if tool is not Tool.WEB or not question.history]
        analysed = await self._asker.ask(
            "analyze_task", own, history=question.history, tools=told(tools), today=_today()
        )
        analysis = (analysed.text or "")[:MOST_ANALYSIS].strip()
        if not analysis:
            return _with(await self._planner.plan(question), analysed.usage)
        at = Situation(question=question, analysis=analysis, asked=[own])
        chosen = await self._next(at, MOST_QUESTIONS, tools)
        usage = analysed.usage + chosen.usage
        if chosen.plan is None:
            return _with(await self._planner.plan(question), usage)
        plan = Plan(questions=(own, *chosen.plan.questions), cut=chosen.plan.cut, analysis=analysis)
        return Step(kind=StepKind.PLAN, round=1, plan=plan, usage=usage)

    async def judge(self, round_: int, question: Question, gathered: Gathered) -> Step:
        """Return the step of looking back at a round, with the next calls."""
        findings, asked, analysis = gathered.findings, gathered.asked, gathered.plan.analysis
        if self._asker.model is None or not analysis:
            return await self._planner.judge(round_, question, gathered)
        tools = [tool for tool in self._tools if tool is not Tool.WEB]
        window = await asyncio.to_thread(lambda model: model.context_window, self._asker.model)
        budget = int(window * FINDINGS_SHARE)
        remembered = await self._memory.fitted(question.text, findings, budget)
        said = await asyncio.to_thread(in_prompt, remembered, findings, budget, self._asker)
        at = Situation(question=question, analysis=analysis, asked=asked, findings=findings, said=said)
        state = await asyncio.to_thread(state_of, at, self._asker)
        looked = await self._asker.ask("reflect", state, most=MOST_MISSING, today=_today())
        usage = remembered.usage + looked.usage
        try:
            verdict = await asyncio.to_thread(verdict_of, looked.text or "", findings, asked)
        except ModelBadOutput:
            return _with(await self._planner.judge(round_, question, gathered), usage)
        reason = ""
        if not verdict.enough:
            chosen = await self._next(replace(at, lacking=verdict.missing), MOST_MISSING, tools)
            usage += chosen.usage
            if (made := chosen.plan) is not None:
                verdict = replace(verdict, missing=made.questions, cut=made.cut)
            else:  # what is lacking is searched for in its own words
                reason = chosen.reason or NOT_USABLE
        return Step(kind=StepKind.JUDGE, round=round_, reason=reason, verdict=verdict, usage=usage)

    async def _next(self, at: Situation, most: int, tools: Sequence[Tool]) -> Chosen:
        """Let the model choose what is called next: in the endpoint's own form, or as JSON in its reply."""
        usage, calling = Usage(), self._asker.calling
        if self._talk is not None and calling is not None and (calling.takes_tools or not self._in_words):
            chosen = await self._talk.next(at, most, tools)
            if not (chosen.without_tools and self._in_words):
                return chosen
            degraded("tools were asked for in words: the endpoint took none")
            usage = chosen.usage
        state = await asyncio.to_thread(state_of, at, self._asker)
        reply = await self._asker.ask("next_step", state, most=most, tools=told(tools), today=_today())
        usage += reply.usage
        try:
            plan = await asyncio.to_thread(calls_of, reply.text or "", most, tools, at.asked)
        except ModelBadOutput:
            return Chosen(reason=reply.reason, usage=usage)
        return Chosen(plan=plan, usage=usage)


def _with(step: Step, usage: Usage) -> Step:
    """Return a step that took more."""
    return replace(step, usage=step.usage + usage)


def _today() -> str:
    return datetime.now(UTC).date().isoformat()
