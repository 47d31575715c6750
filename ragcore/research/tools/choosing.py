"""A model that chooses its tools: it takes the task apart, calls, looks back after each round, and calls again."""

import asyncio
import re
from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from ragcore.errors import ModelBadOutput
from ragcore.research.asking import NOT_USABLE, Asker, Reply
from ragcore.research.directing import Planner
from ragcore.research.findings import Noting
from ragcore.research.gathered import Gathered
from ragcore.research.judging import FINDINGS_SHARE, MOST_MISSING, verdict_of
from ragcore.research.planning import MOST_QUESTIONS
from ragcore.research.queries import LONGEST, shown
from ragcore.research.tools.calls import Tool, calls_of, told
from ragcore.research.tools.memory import Memory, in_prompt
from ragcore.research.values import Finding, Plan, Step, StepKind, Verdict
from ragcore.types import Question, Usage

MOST_ANALYSIS = 2_000
"""Characters of what the model makes of the task that are read."""
MOST_DOCUMENTS = 24
"""Documents that are named to the model: those that were found last."""
LIST_PART = 8
"""Of the window what was asked fills at most one part of so many, and so do the documents; the last ones are told."""
_FRAME = re.compile(r"<(?=\s*/?\s*(?:question|analysis|asked|documents|found|lacking)\b)", re.IGNORECASE)
"""What would look like the frame around what is shown."""


class ToolUser:
    """Directs a research by calls of tools. Where the model's replies are of no use, it is planned and judged."""

    def __init__(self, asker: Asker, noting: Noting, tools: Sequence[Tool]) -> None:
        """Offer these tools; the web only for the first calls, made before a document was read."""
        self._asker = asker
        self._memory = Memory(asker, noting)
        self._tools = tuple(tools)
        self._planner = Planner(asker)

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
        state = await asyncio.to_thread(self._state, question, analysis, [own], (), "", ())
        chosen = await self._next(state, MOST_QUESTIONS, tools)
        usage = analysed.usage + chosen.usage
        try:
            made = await asyncio.to_thread(calls_of, chosen.text or "", MOST_QUESTIONS, tools, [own])
        except ModelBadOutput:
            return _with(await self._planner.plan(question), usage)
        plan = Plan(questions=(own, *made.questions), cut=made.cut, analysis=analysis)
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
        state = await asyncio.to_thread(self._state, question, analysis, asked, findings, said, ())
        looked = await self._asker.ask("reflect", state, most=MOST_MISSING, today=_today())
        usage = remembered.usage + looked.usage
        try:
            verdict = await asyncio.to_thread(verdict_of, looked.text or "", findings, asked)
        except ModelBadOutput:
            return _with(await self._planner.judge(round_, question, gathered), usage)
        reason = ""
        if not verdict.enough:
            state = await asyncio.to_thread(self._state, question, analysis, asked, findings, said, verdict.missing)
            chosen = await self._next(state, MOST_MISSING, tools)
            usage += chosen.usage
            try:
                made = await asyncio.to_thread(calls_of, chosen.text or "", MOST_MISSING, tools, asked)
                verdict = Verdict(
                    enough=False, missing=made.questions, contradictions=verdict.contradictions, cut=made.cut
                )
            except ModelBadOutput:  # what is lacking is searched for in its own words
                reason = chosen.reason or NOT_USABLE
        return Step(kind=StepKind.JUDGE, round=round_, reason=reason, verdict=verdict, usage=usage)

    async def _next(self, state: str, most: int, tools: Sequence[Tool]) -> Reply:
        return await self._asker.ask("next_step", state, most=most, tools=told(tools), today=_today())

    def _state(
        self,
        question: Question,
        analysis: str,
        asked: Sequence[str],
        findings: Sequence[Finding],
        said: str,
        lacking: Sequence[str],
    ) -> str:
        """Return what a prompt tells of the task and of what was done. Blocks."""
        assert self._asker.model is not None
        calls = [f"- {one[:LONGEST]}" for one in asked if one != question.text]
        inputs = {
            "question": self._asker.short(question.text),
            "analysis": analysis,
            "asked": self._last(calls),
            "documents": self._last(_documents(findings)),
            "findings": said,
            "lacking": "\n".join(f"- {one}" for one in lacking),
        }
        prompts = self._asker.prompts
        return prompts.render("task_state", **{name: _FRAME.sub("‹", text) for name, text in inputs.items()})

    def _last(self, lines: Sequence[str]) -> str:
        """Return the last lines, as many as there is room for."""
        assert self._asker.model is not None
        room, kept = self._asker.model.context_window // LIST_PART, deque[str]()
        for line in reversed(lines):
            room -= self._asker.tokenizer.count(line) + 1
            if room < 0:
                break
            kept.appendleft(line)
        return "\n".join(kept)


def _documents(findings: Sequence[Finding]) -> list[str]:
    """Return a line for each document that was found, the last ones last: its id and its title."""
    chunks = [scored.chunk for finding in reversed(findings) for scored in finding.chunks]
    titles = {chunk.document_id: chunk.title for chunk in reversed(chunks) if "\n" not in chunk.document_id}
    newest = [one for one in dict.fromkeys(chunk.document_id for chunk in chunks) if one in titles][:MOST_DOCUMENTS]
    return [f"- {one}  ({shown(titles[one])})" for one in reversed(newest)]


def _with(step: Step, usage: Usage) -> Step:
    """Return a step that took more."""
    return replace(step, usage=step.usage + usage)


def _today() -> str:
    return datetime.now(UTC).date().isoformat()
