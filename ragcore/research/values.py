"""The values of a research: what it may take, what it plans, finds and judges, and the steps in which it is told."""

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from ragcore.errors import ConfigError
from ragcore.types import ScoredChunk, Status, Usage

LimitName = Literal["rounds", "searches", "tokens", "seconds", "money"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """What a model costs for a million tokens, in the currency in which ``Limits.money`` is told."""

    prompt: float
    completion: float

    def of(self, prompt_tokens: int, completion_tokens: int) -> float:
        """Return what so many tokens cost."""
        return (prompt_tokens * self.prompt + completion_tokens * self.completion) / 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """All that one research may take, the writing of its answer with it.

    ``searches`` counts sub-questions that are searched for, each in the documents and, where there is one, the web.
    ``tokens`` are those of prompts and replies together, as the endpoint counts them; what a call may take at most is
    counted with our tokenizer before it is made. ``seconds`` is the time to the last word. ``money`` counts only where
    a ``price`` is known. ``side_by_side`` searches run at once.

    Raises:
        ConfigError: A value is out of its range.
    """

    rounds: int = 3
    searches: int = 12
    tokens: int = 150_000
    seconds: float = 180.0
    money: float = math.inf
    price: Price | None = None
    side_by_side: int = 4

    def __post_init__(self) -> None:
        """Refuse what cannot work."""
        for name in ("rounds", "searches", "side_by_side"):
            if getattr(self, name) < 1:
                raise ConfigError(f"research.{name} is {getattr(self, name)}, and must be at least 1")
        for name in ("tokens", "seconds", "money"):
            value = getattr(self, name)
            if math.isnan(value) or value < 0:
                raise ConfigError(f"research.{name} is {value}, and must be at least 0")


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The sub-questions of a question; ``cut`` are those that were named beside, and are not looked at.

    ``analysis`` is what a model that chooses its tools made of the task.
    """

    questions: tuple[str, ...]
    cut: tuple[str, ...] = ()
    analysis: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What was found for a sub-question: sentences, each with its ``[ID:n]``, which is ``chunks[n]``.

    Every sentence is verified against a chunk that it cites. ``chunks`` are all that was read, best first, also where
    the text is empty. ``direct``: the sentences are quoted, and plainly answer the sub-question.
    """

    question: str
    text: str = ""
    direct: bool = False
    chunks: tuple[ScoredChunk, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A sentence that stands so in a finding or a chunk, without its markers, and the chunk that bears it out."""

    text: str
    chunk_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Contradiction:
    """Two sentences that cannot both be true."""

    one: Claim
    other: Claim


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What is to be done after a round: ``missing`` is what is asked next, ``cut`` as in a plan.

    ``again`` is what is missing and was asked before, so that nothing new can be asked.

    ``told``: whether the reader is told what is missing where it can't be searched for any more. Without a model what
    is asked next are guesses, and nothing is known to be missing.
    """

    enough: bool
    missing: tuple[str, ...] = ()
    contradictions: tuple[Contradiction, ...] = ()
    cut: tuple[str, ...] = ()
    told: bool = True
    again: tuple[str, ...] = ()


class StepKind(StrEnum):
    """What a step does."""

    PLAN = "plan"
    SEARCH = "research"
    JUDGE = "judge"


class Outcome(StrEnum):
    """How a step ended."""

    BEGUN = "begun"
    DONE = "done"
    NOTHING = "nothing"
    """It was searched, and nothing relevant was found."""
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What was done, with its result or the reason of its failure, in words that whoever asked may read.

    ``round`` counts from 1, ``number`` from 0 within the steps of a kind in a round. ``reason`` also tells, of a step
    that is done, why it was done without the model. ``wordings`` are, of a search, those of its question, as
    ``ragcore.types.Question`` has them.
    """

    kind: StepKind
    round: int
    number: int = 0
    asked: str = ""
    outcome: Outcome = Outcome.DONE
    reason: str = ""
    plan: Plan | None = None
    finding: Finding | None = None
    verdict: Verdict | None = None
    usage: Usage = Usage()
    wordings: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """Return what tells this step from the others of its research."""
        return f"{self.kind}:{self.round}:{self.number}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress(Status):
    """A step that has begun or ended, for whoever waits: ``stage`` is the step's kind, ``detail`` what is asked.

    Told again with the same stage, round and number, it is the same step. ``found`` counts the passages that were read;
    of a plan, the sub-questions. ``reason`` says why it failed, or was done without the model where there is one.
    """

    round: int
    number: int = 0
    outcome: Outcome
    found: int = 0
    reason: str = ""
