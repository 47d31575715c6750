"""What the rounds of a research came to."""

from dataclasses import dataclass, field

from ragcore.errors import CitebotError
from ragcore.phrases import Phrase
from ragcore.research.values import Contradiction, Finding, Plan, Step


@dataclass(slots=True, kw_only=True)
class Gathered:
    """What the rounds came to. ``missing`` is what was to be searched for still, ``cut`` what was not looked at.

    ``failed`` counts the searches that failed, of which ``error`` is the first. ``plan`` is what it began with.
    ``so_far`` has, by their keys, the searches that have found something while more is made of it: where the time is
    over then, what was read stays. ``wordings`` are those of the question itself, as ``ragcore.types.Question`` has
    them. ``lacking``: it was judged not to be enough, and nothing new could be asked.
    """

    plan: Plan = field(default_factory=lambda: Plan(questions=()))
    findings: list[Finding] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    missing: tuple[str, ...] = ()
    contradictions: dict[frozenset[str], Contradiction] = field(default_factory=dict)
    notes: dict[Phrase, None] = field(default_factory=dict)
    cut: list[str] = field(default_factory=list)
    failed: int = 0
    error: CitebotError | None = None
    so_far: dict[str, Step] = field(default_factory=dict)
    wordings: tuple[str, ...] = ()
    lacking: bool = False
