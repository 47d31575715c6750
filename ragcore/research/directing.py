"""Who tells what a research does next: one that plans and judges, or a model that chooses its tools."""

from typing import Protocol

from ragcore.research.asking import Asker
from ragcore.research.gathered import Gathered
from ragcore.research.judging import judge
from ragcore.research.planning import plan
from ragcore.research.values import Step
from ragcore.types import Question


class Director(Protocol):
    """Tells what is searched for."""

    async def plan(self, question: Question) -> Step:
        """Return the step of planning; its plan holds the question itself first."""
        ...

    async def judge(self, round_: int, question: Question, gathered: Gathered) -> Step:
        """Return the step of judging a round; its verdict asks for nothing that was asked before."""
        ...


class Planner:
    """Plans sub-questions, and judges what was found for them."""

    def __init__(self, asker: Asker) -> None:
        """Ask the model through this, if there is one."""
        self._asker = asker

    async def plan(self, question: Question) -> Step:
        """Return the step of planning."""
        return await plan(question, self._asker)

    async def judge(self, round_: int, question: Question, gathered: Gathered) -> Step:
        """Return the step of judging a round."""
        return await judge(round_, question.asked, gathered.findings, gathered.asked, self._asker)
