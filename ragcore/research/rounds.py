"""The rounds of a research: plan, search side by side, note what was found, judge; until it is enough, or a limit."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from itertools import count
from typing import Protocol

from ragcore.errors import StoreError
from ragcore.research.asking import NO_MODEL, OUT_OF_TIME
from ragcore.research.branches import Branches
from ragcore.research.contradicting import contradictions_in
from ragcore.research.directing import Director
from ragcore.research.gathered import Gathered
from ragcore.research.meter import Meter
from ragcore.research.parts import parts_of
from ragcore.research.planning import MOST_QUESTIONS
from ragcore.research.queries import distinct, planned, same
from ragcore.research.side_by_side import as_they_come
from ragcore.research.tools.calls import shown_call
from ragcore.research.values import Outcome, Plan, Progress, Step, StepKind
from ragcore.types import Question

log = logging.getLogger(__name__)

PLAN_SHARE = 0.3
"""Of the time for searching so much may pass before the first search."""


class Keeping(Protocol):
    """Keeps the steps that are done, for a research that is gone on with after a crash."""

    @property
    def known(self) -> Mapping[str, Step]:
        """Return the steps that were done before, by their keys."""
        ...

    async def keep(self, step: Step, elapsed: float) -> None:
        """Keep a step, done so many seconds after the start."""
        ...


class Rounds:
    """The rounds of one research."""

    def __init__(self, *, director: Director, branches: Branches, meter: Meter, keeping: Keeping) -> None:
        """Compose: ``director`` tells what is searched for, ``branches`` do it."""
        self._director = director
        self._branches = branches
        self._meter = meter
        self._keeping = keeping
        # Whether a search was made now: what was judged before a crash knew nothing of what it found.
        self._anew = False

    async def run(self, question: Question) -> AsyncGenerator[Progress | Gathered]:
        """Yield each step as it begins and ends, and then what was gathered.

        Raises:
            StoreError: The documents could not be searched, and no other search found anything.
            ConfigError: A template of the operator's cannot be used.
        """
        gathered = Gathered()
        try:
            async with aclosing(self._rounds(question, gathered)) as steps:
                async for progress in steps:
                    yield progress
        finally:
            await self._branches.close()
        if gathered.error is not None and not any(finding.chunks for finding in gathered.findings):
            raise gathered.error
        for one in await asyncio.to_thread(contradictions_in, gathered.findings):
            gathered.contradictions.setdefault(frozenset((one.one.chunk_id, one.other.chunk_id)), one)
        yield gathered

    async def _rounds(self, question: Question, gathered: Gathered) -> AsyncGenerator[Progress]:
        """Plan, and go round after round; ``gathered`` gets what they come to."""
        pending: list[str] = []
        if self._before(Step(kind=StepKind.SEARCH, round=1, asked=question.text)) is None:
            self._branches.begin(question)
        async with aclosing(self._planned(question, gathered, pending)) as planning:
            async for progress in planning:
                yield progress
        for number in count(1):
            batch = [asked for asked in pending if self._meter.search()]
            gathered.missing = distinct((*gathered.missing, *pending[len(batch) :]))
            async with aclosing(self._searched(question, number, batch, gathered)) as searching:
                async for progress in searching:
                    yield progress
            # What was judged before a crash takes no time now.
            late = self._meter.late and self._before(Step(kind=StepKind.JUDGE, round=number)) is None
            if late:
                self._meter.stop("seconds")
            if not batch or late:
                break
            following: list[str] = []
            async with aclosing(self._judged(question, number, gathered, following)) as judging:
                async for progress in judging:
                    yield progress
            pending = following
            if not pending:
                break

    async def _planned(self, question: Question, gathered: Gathered, pending: list[str]) -> AsyncGenerator[Progress]:
        """Plan; ``pending`` gets what is searched for first."""
        begun = Step(kind=StepKind.PLAN, round=1, outcome=Outcome.BEGUN)
        yield _told(begun)
        step = self._known(begun)
        if step is None:
            share = (self._meter.end_of_rounds - asyncio.get_running_loop().time()) * PLAN_SHARE
            step = await self._in_time(partial(self._director.plan, question), share)
            if step is None:
                own = question.text
                parts = planned(parts_of(own, question.history), MOST_QUESTIONS, [own])
                made = Plan(questions=(own, *parts.questions), cut=parts.cut)
                step = replace(begun, outcome=Outcome.DONE, reason=OUT_OF_TIME, plan=made)
            await self._keep(step)
        assert step.plan is not None
        gathered.plan = step.plan
        pending += step.plan.questions
        gathered.cut += step.plan.cut
        yield _told(step)

    async def _searched(
        self, question: Question, round_: int, batch: Sequence[str], gathered: Gathered
    ) -> AsyncGenerator[Progress]:
        """Search for all of a batch side by side."""
        steps = [
            Step(kind=StepKind.SEARCH, round=round_, number=number, asked=asked, outcome=Outcome.BEGUN)
            for number, asked in enumerate(batch)
        ]
        for step in steps:
            yield _told(step)
        ended = {number: known for number, step in enumerate(steps) if (known := self._known(step))}
        for known in ended.values():
            yield _told(known)
        left, late = [number for number in range(len(steps)) if number not in ended], list[Step]()
        self._branches.expect(question, [steps[number].asked for number in left])
        works = [partial(self._branch, question, steps[number], gathered) for number in left]
        limits = self._meter.limits
        running = as_they_come(works, at_once=limits.side_by_side, until=self._meter.end_of_rounds)
        async with aclosing(running) as results:
            async for at, result in results:
                number = left[at]
                if result is None:
                    self._meter.stop("seconds")
                    result = await self._branches.late(steps[number], gathered)  # noqa: PLW2901
                    late += [result] if result else []
                if result is not None and result.outcome is not Outcome.FAILED:
                    self._anew = True
                ended[number] = result or replace(steps[number], outcome=Outcome.FAILED, reason=OUT_OF_TIME)
                yield _told(ended[number])
        for step in late:
            await self._keep(step)
        # In the order in which they were asked, not in that of their ends: what is made of them is the same each time.
        for step in (ended[number] for number in sorted(ended)):
            gathered.asked.append(step.asked)
            if step.asked == question.text:
                gathered.wordings = step.wordings
            if step.finding is not None:
                gathered.findings.append(step.finding)
            if step.outcome is Outcome.FAILED:
                gathered.failed += 1
                if step.reason == OUT_OF_TIME:
                    gathered.missing = (*gathered.missing, step.asked)

    async def _judged(
        self, question: Question, round_: int, gathered: Gathered, following: list[str]
    ) -> AsyncGenerator[Progress]:
        """Judge a round; ``following`` gets what is searched for in the next one, nothing where it is the last."""
        begun = Step(kind=StepKind.JUDGE, round=round_, outcome=Outcome.BEGUN)
        yield _told(begun)
        step = self._known(begun)
        if step is None:
            own = replace(question, wordings=gathered.wordings)
            work = partial(self._director.judge, round_, own, gathered)
            left = self._meter.end_of_rounds - asyncio.get_running_loop().time()
            step = await self._in_time(work, left)
            if step is None:
                self._meter.stop("seconds")
                yield _told(replace(begun, outcome=Outcome.FAILED, reason=OUT_OF_TIME))
                return
            await self._keep(step)
        yield _told(step)
        verdict = step.verdict
        assert verdict is not None
        for contradiction in verdict.contradictions:
            key = frozenset((contradiction.one.chunk_id, contradiction.other.chunk_id))
            gathered.contradictions.setdefault(key, contradiction)
        gathered.cut += verdict.cut
        if verdict.enough:
            return
        if verdict.told and not verdict.missing:
            gathered.lacking = True
            again = [one for one in verdict.again if not same(one, question.text)]
            gathered.missing = distinct((*gathered.missing, *again))
        if round_ >= self._meter.limits.rounds:
            if verdict.told and verdict.missing:
                self._meter.stop("rounds")
                gathered.missing = distinct((*gathered.missing, *verdict.missing))
            return
        room = self._meter.limits.searches - self._meter.searches
        # A guess that there is no room for is nothing that anybody misses.
        following += verdict.missing if verdict.told else verdict.missing[:room]

    async def _branch(self, question: Question, begun: Step, gathered: Gathered) -> Step:
        step = await self._branches.step(question, begun, gathered)
        if step.outcome is not Outcome.FAILED:
            await self._keep(step)
        return step

    def _known(self, begun: Step) -> Step | None:
        """Return a step that was done before a crash, with what it took counted again."""
        known = self._before(begun)
        if known is not None:
            self._meter.count(known.usage)
        return known

    def _before(self, begun: Step) -> Step | None:
        known = None if self._anew else self._keeping.known.get(begun.key)
        return known if known is not None and known.asked == begun.asked else None

    async def _keep(self, step: Step) -> None:
        """Keep a step; where that fails, it is done again after a crash, and nobody waits for it now."""
        try:
            await self._keeping.keep(step, self._meter.elapsed)
        except StoreError as error:
            log.warning("a step of a research was not kept: %s", error)

    async def _in_time(self, work: Callable[[], Awaitable[Step]], seconds: float) -> Step | None:
        """Return what the work comes to, None where it would come too late."""
        until = asyncio.get_running_loop().time() + seconds
        async with aclosing(as_they_come([work], at_once=1, until=until)) as results:
            async for _, step in results:
                return step
        return None


def _told(step: Step) -> Progress:
    found = len(step.finding.chunks) if step.finding else len(step.plan.questions) if step.plan else 0
    return Progress(
        stage=step.kind,
        detail=shown_call(step.asked),
        round=step.round,
        number=step.number,
        outcome=step.outcome,
        found=found,
        reason="" if step.reason == NO_MODEL else step.reason,
    )
